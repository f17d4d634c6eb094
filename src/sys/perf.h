/*
 * The kernel entry for perf events: thin, -errno, no policy.
 */
#ifndef SYS_PERF_H
#define SYS_PERF_H

#include "base/abi.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

/* perf_event_open(2), always close-on-exec: a descriptor or -errno. Where the kernel knows less of the attr than
 * is set it answers -E2BIG and writes its own size to attr->size. */
int sys_perf_open(struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd, unsigned flags);

/* ioctl(2) with a plain number (enable, disable, refresh, set output …). */
int sys_perf_control(int fd, unsigned request, uintptr_t argument);

/* ioctl(2) with a pointer (period, id, filter …). */
int sys_perf_control_at(int fd, unsigned request, void *argument);

/* read(2) of counters: bytes read (0: pinned and in error) or -errno; EINTR is retried. */
int sys_perf_read(int fd, uint64_t *words, size_t n_words);

/* The same in the fewest instructions, for the call around which others are counted: bytes read, or -1 for whatever
 * reason; sys_perf_read() then tells. */
static inline ssize_t sys_perf_read_once(int fd, uint64_t *words, size_t bytes)
{
    return read(fd, words, bytes);
}

/* Maps the metadata page and, behind it, a ring of `ring_bytes` (0: the page alone; else a power of two of
 * pages). 0 and *ret, or -errno. */
int sys_perf_map(int fd, size_t ring_bytes, int writable, struct perf_page **ret);
void sys_perf_unmap(struct perf_page *page, size_t ring_bytes);

/* Maps the AUX area of an event whose page says where it lies: 0 and *ret, or -errno. */
int sys_perf_map_aux(int fd, size_t bytes, uint64_t offset, int writable, void **ret);
void sys_perf_unmap_aux(void *data, size_t bytes);

size_t sys_page_size(void);

/* A word that a fork wipes: holds 1 in the process that made it, 0 in its forked children. NULL: no memory, or a
 * kernel before 4.14, where fork can't be seen this way. */
uint32_t *sys_fork_word(void);
void sys_fork_word_free(uint32_t *word);

#endif

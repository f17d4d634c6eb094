#include "sys/perf.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

/* What ioctl(2) is declared to take: glibc's unsigned long, musl's int. */
#ifdef __GLIBC__
typedef unsigned long ioctl_request;
#else
typedef int ioctl_request;
#endif

int sys_perf_open(struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd, unsigned flags)
{
    long fd =
        syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, (unsigned long)(flags | OPEN_FD_CLOEXEC));
    return fd < 0 ? -errno : (int)fd;
}

int sys_perf_control(int fd, unsigned request, uintptr_t argument)
{
    return ioctl(fd, (ioctl_request)request, argument) < 0 ? -errno : 0;
}

int sys_perf_control_at(int fd, unsigned request, void *argument)
{
    return ioctl(fd, (ioctl_request)request, argument) < 0 ? -errno : 0;
}

int sys_perf_read(int fd, uint64_t *words, size_t n_words)
{
    for (;;) {
        ssize_t n = read(fd, words, n_words * sizeof *words);
        if (n >= 0)
            return (int)n;
        if (errno != EINTR)
            return -errno;
    }
}

size_t sys_page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

int sys_perf_map(int fd, size_t ring_bytes, int writable, struct perf_page **ret)
{
    void *at = mmap(NULL, sys_page_size() + ring_bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ,
                    MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return -errno;
    *ret = at;
    return 0;
}

void sys_perf_unmap(struct perf_page *page, size_t ring_bytes)
{
    if (page)
        munmap(page, sys_page_size() + ring_bytes);
}

int sys_perf_map_aux(int fd, size_t bytes, uint64_t offset, int writable, void **ret)
{
    void *at =
        mmap(NULL, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, (off_t)offset);
    if (at == MAP_FAILED)
        return -errno;
    *ret = at;
    return 0;
}

void sys_perf_unmap_aux(void *data, size_t bytes)
{
    if (data)
        munmap(data, bytes);
}

uint32_t *sys_fork_word(void)
{
    size_t page = sys_page_size();
    void *at = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED)
        return NULL;
    if (madvise(at, page, MADV_WIPEONFORK) < 0) {
        munmap(at, page);
        return NULL;
    }
    *(uint32_t *)at = 1;
    return at;
}

void sys_fork_word_free(uint32_t *word)
{
    if (word)
        munmap(word, sys_page_size());
}

/*
 * reckon/image.h: finds the module and the offset of an address, as of the last record fed.
 *
 * An image knows processes, their threads, names and mappings. Feed it the records of a stream in order. It
 * takes MMAP, MMAP2, COMM, FORK and EXIT; NAMESPACES and CGROUP; and KSYMBOL for code that the kernel makes
 * at run time, such as BPF programs and trampolines. It ignores all others, TEXT_POKE too: code that changes
 * keeps its name.
 *
 * Each answer is as of the last record fed:
 *   - A mapping replaces what it overlaps.
 *   - A forked process has its parent's mappings until either of them changes its own.
 *   - An exec forgets the mappings.
 *   - A process that ended is remembered until its pid is used again, since its last samples may come late.
 *
 *     rk_image_open(&image, NULL);
 *     … for each record r:  rk_image_feed(image, r);
 *     … for a sample s:     rk_image_find(image, s.pid, &s.ip, 1, &place);
 */
#ifndef RECKON_IMAGE_H
#define RECKON_IMAGE_H

#include <reckon/error.h>
#include <reckon/module.h>
#include <reckon/record.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rk_image;

RK_API int rk_image_open(struct rk_image **ret, struct rk_error *e);
RK_API struct rk_image *rk_image_free(struct rk_image *image);

/* 1 used, 0 nothing to do with this record, -errno. */
RK_API int rk_image_feed(struct rk_image *image, const struct rk_record *record);

/* Reads a running process from /proc below `root` (NULL: "/"): its executable mappings, threads, names and
 * namespaces. They replace what the image knew of it. 0; -ESRCH: no such process; -EACCES: another user's;
 * -errno. */
RK_API int rk_image_feed_process(struct rk_image *image, const char *root, int32_t pid);

/* Adds a build-id that is not part of a mapping's record, as from a recording's table of them. Every module
 * of this path gets it, unless its own record has one. "[kernel…" is the kernel. Returns 0 or -errno. */
RK_API int rk_image_feed_build_id(struct rk_image *image, const char *path, const unsigned char *id,
                                  uint32_t bytes);

#define RK_NO_MODULE 0xffffffffu

/* Why an address has no module. */
enum rk_place_status {
    RK_PLACE_FOUND,
    RK_PLACE_NO_PROCESS, /* nothing is known of this process: no record named it */
    RK_PLACE_NO_MAPPING, /* no mapping covers the address */
    RK_PLACE_ANONYMOUS,  /* mapped, but from no file: JIT code, perhaps; `module` is given */
};

/* Where an address lies. Frozen. */
struct rk_place {
    uint32_t module; /* index for rk_image_module_get(), or RK_NO_MODULE */
    uint32_t status; /* enum rk_place_status */
    uint64_t offset; /* in the file; for the kernel, its modules and code without a file the address itself */
};

/* Looks n addresses up in `pid`'s space; kernel addresses in the kernel's. 0, or -errno. Hot. */
RK_API int rk_image_find(const struct rk_image *image, int32_t pid, const uint64_t *addresses, size_t n,
                         struct rk_place *ret);

RK_API size_t rk_image_module_count(const struct rk_image *image);
RK_API int rk_image_module_get(const struct rk_image *image, uint32_t module, struct rk_module *ret);

/* Returns the thread's name as of now; "" where it is unknown. The kernel calls thread 0 of process 0, an
 * idle CPU, "swapper". The name lives as long as the image. */
RK_API const char *rk_image_comm(const struct rk_image *image, int32_t pid, int32_t tid);

/* What is known of a process: 0, or -ESRCH: nothing. */
struct rk_process {
    uint32_t size;
    int32_t pid, parent; /* parent 0: unknown */
    uint32_t known;      /* 1: its mappings are known, though there may be none */
    uint32_t ended;      /* 1: it has exited */
    uint32_t mappings;
    uint64_t mount_namespace, pid_namespace; /* inodes, as ls -l /proc/PID/ns shows them; 0: unknown */
};
RK_API int rk_image_process(const struct rk_image *image, int32_t pid, struct rk_process *ret);

/* The path of the cgroup with that id (rk_sample.cgroup); "" where it is not known. Lives as long as the
 * image. */
RK_API const char *rk_image_cgroup(const struct rk_image *image, uint64_t id);

#ifdef __cplusplus
}
#endif
#endif

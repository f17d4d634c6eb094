/*
 * The image's insides: processes by pid, threads' names, the kernel's modules by address.
 */
#ifndef IMAGE_PROCESS_H
#define IMAGE_PROCESS_H

#include "image/modules.h"
#include "image/space.h"

#include <reckon/image.h>

#include <stdatomic.h>
#include <stdbool.h>

/* Samples of a process may come after its end, by its other threads: its mappings stay until so many others have ended. */
#define IMAGE_ENDED 1024u

struct process {
    struct space *space;
    uint64_t mounts, pids; /* its namespaces of them, by inode; 0: unknown */
    int32_t pid, parent;   /* parent 0: unknown */
    bool known;            /* its mappings were told, or it came of one whose were */
    bool ended;
};

struct rk_image {
    atomic_uint *users; /* the caller, unwinders, answers; apart, since those see the image as const */
    struct modules modules;
    VECTOR(struct process) processes; /* a process stays until its pid is used again: samples may come late */
    struct table by_pid;
    struct table comms;   /* pid, tid → number of the name in modules.texts */
    struct table cgroups; /* id → number of the path in modules.texts */
    int32_t *ended;       /* the last IMAGE_ENDED processes that ended, in a ring; NULL: none yet */
    uint32_t ended_n;     /* how many ended so far */
    /* Modules, and code made at run time; all else from kernel_from on is the kernel's. */
    struct space *kernel;
    bool wide;            /* a mapping of the kernel's was in the upper half */
    uint64_t kernel_from; /* KERNEL_HALF, or where the kernel of a 32-bit machine begins */
};

/* The kernel's half, sign-extended from at most 57 bits; what lies between is nobody's. */
#define KERNEL_HALF UINT64_C(0xff00000000000000)

static inline bool is_kernel_address(uint64_t address)
{
    return address >= KERNEL_HALF;
}

/* One more user: rk_image_free() takes one away. */
static inline struct rk_image *image_share(const struct rk_image *image)
{
    atomic_fetch_add_explicit(image->users, 1, memory_order_relaxed);
    return (struct rk_image *)(uintptr_t)image;
}

/* rk_image_feed_process(), below a root's descriptor. */
int image_feed_process(struct rk_image *image, int root, int32_t pid);

/* The process, or NULL. */
struct process *image_find_process(const struct rk_image *image, int32_t pid);

/* The process, a new one if need be; NULL: out of memory. Valid until the next call. */
struct process *image_process(struct rk_image *image, int32_t pid);

/* A mapping into an address space, of a process with that mount namespace. 1 done, 0 not one that matters here, -errno. */
int image_map(struct rk_image *image, struct space **space, const struct rk_mapping *mapping,
              uint64_t mounts);

int image_set_comm(struct rk_image *image, int32_t pid, int32_t tid, const char *name);

/* Puts the executable mappings in the text of /proc/PID/maps, which is written to, into an address space. Returns 0 or
 * -errno. */
int maps_parse(struct rk_image *image, int32_t pid, uint64_t mounts, char *text, struct space **space);

#endif

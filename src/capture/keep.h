/*
 * Files of modules, opened when they are hit first and kept open: at the end of a recording the program may be deleted or
 * built anew, its process and the container that it ran in may be gone.
 *
 * A file of a container has no path here. It is opened through its process, or, where that has ended before its first
 * sample came, below the root of another process of its mount namespace, which is kept as well.
 *
 * Both are bounded: KEEP_FILES, and at most a quarter of the descriptors that this process may have; KEEP_ROOTS.
 */
#ifndef CAPTURE_KEEP_H
#define CAPTURE_KEEP_H

#include "base/vector.h"

#include <reckon/module.h>

#define KEEP_FILES 1024u
#define KEEP_ROOTS 64u

struct keep {
    VECTOR(struct kept_file {
        uint32_t module;
        int fd;
    })
    files; /* by module, rising but for late ones */
    VECTOR(struct kept_root {
        uint64_t mounts; /* the namespace */
        int fd;
    })
    roots;
    uint64_t own_mounts; /* this process's; 0: not asked yet */
    uint32_t limit;      /* of files; 0: not asked yet */
};

/* Opens the file of a module, if it is one and can be had. 0 or -ENOMEM. */
int keep_file(struct keep *keep, int root, uint32_t number, const struct rk_module *module);

/* A process has begun a program: the root of its mount namespace is kept, if that is another one than ours. 0 or -ENOMEM. */
int keep_process(struct keep *keep, int root, int32_t pid);

/* The descriptor of a module's file, or -1. It stays the keep's. */
int keep_find(const struct keep *keep, uint32_t number);

void keep_close(struct keep *keep);

#endif

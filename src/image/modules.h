/*
 * The modules that mappings lie in, each once: told apart by path, device and inode, and build-id; by the mount
 * namespace where a record has no inode. Number 0 is the kernel. What a path means (a file, the vDSO, code without a file …) is decided here.
 */
#ifndef IMAGE_MODULES_H
#define IMAGE_MODULES_H

#include "base/intern.h"
#include "base/table.h"
#include "base/vector.h"

#include <reckon/module.h>
#include <reckon/record.h>

#include <stdbool.h>

struct image_module {
    struct rk_module module; /* its texts are interned */
    uint64_t device;         /* without an inode: the mount namespace; KERNEL_CODE: the address */
    int32_t owner;           /* of code without a file: the process */
    uint32_t path;           /* number */
    uint32_t recorded_id;    /* 1: the build-id came with the mapping, and tells modules apart */
    uint32_t next;           /* of the same hash: index + 1, 0: none */
};

struct modules {
    struct intern texts; /* paths, names, and the threads' names */
    VECTOR(struct image_module) items;
    struct table table; /* hash → index of the newest */
    /* Build-ids that came apart from mappings. */
    VECTOR(struct told_id {
        uint32_t bytes;
        unsigned char id[20];
    })
    told;
    struct table told_of; /* path's number → index in told */
};

#define MODULE_KERNEL 0u

/* Makes the kernel. 0 or -ENOMEM. */
int modules_init(struct modules *modules);
void modules_free(struct modules *modules);

/* The module of a process's mapping, or of one of the kernel's (pid -1), a new one if need be: its number, or
 * -errno; -ENOENT for one that is nobody's here (a guest's). `mounts` is the process's mount namespace; 0: unknown. */
int64_t modules_add(struct modules *modules, const struct rk_mapping *mapping, uint64_t mounts);

/* The module of code that the kernel made: its number, or -errno. */
int64_t modules_add_code(struct modules *modules, const struct rk_ksymbol *symbol);

/* Whether that path is the kernel's own in mappings with pid -1. */
bool modules_is_kernel(const char *path);

/* rk_image_feed_build_id(). */
int modules_tell(struct modules *modules, const char *path, const unsigned char *id, uint32_t bytes);

#endif

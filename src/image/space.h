/*
 * An address space: mappings sorted by address, none overlapping, in runs that a process and its forks share until one of
 * them changes them:
 *
 *     space   { first, run } …           a space is copied when it is changed and has other users: 16 bytes for each run
 *     run     { start, end, module } …   so is a run; it has up to SPACE_RUN mappings, and never none
 *
 * Most children exec at once, and never need a copy. A change costs one run, however many mappings there are.
 */
#ifndef IMAGE_SPACE_H
#define IMAGE_SPACE_H

#include <stdint.h>

#define SPACE_RUN 128u

struct mapping {
    uint64_t start, end;
    uint64_t offset; /* what rk_place.offset is at `start` */
    uint32_t module;
    uint32_t reserved;
};

struct space {
    uint32_t users;
    uint32_t mapping_n;
    uint32_t n, room;
    struct space_part {
        uint64_t first; /* where its first mapping starts */
        struct space_run *run;
    } parts[];
};

struct space_run {
    uint32_t users;
    uint32_t n, room;
    struct mapping items[];
};

/* One more user; NULL, the empty space, is taken, as everywhere here. */
struct space *space_share(struct space *space);
struct space *space_drop(struct space *space);

/* Puts a mapping (start < end) in; what it covers of older ones goes, split if need be. *space may be replaced. 0, or
 * -ENOMEM and nothing has changed but the memory that it takes. */
int space_insert(struct space **space, const struct mapping *mapping);

/* Takes out what lies in [start, end), start < end, splitting if need be. As above. */
int space_remove(struct space **space, uint64_t start, uint64_t end);

/* The mapping that covers the address, or NULL. */
const struct mapping *space_find(const struct space *space, uint64_t address);

#endif

/*
 * An address space: mappings sorted by address, none overlapping. Shared between a process and its forks until one
 * of them changes it: most children exec at once, and never need a copy.
 */
#ifndef IMAGE_SPACE_H
#define IMAGE_SPACE_H

#include <stdint.h>

struct mapping {
    uint64_t start, end;
    uint64_t offset; /* what rk_place.offset is at `start` */
    uint32_t module;
    uint32_t reserved;
};

struct space {
    uint32_t users;
    uint32_t n, room;
    struct mapping items[];
};

/* One more user; NULL, the empty space, is taken, as everywhere here. */
struct space *space_share(struct space *space);
struct space *space_drop(struct space *space);

/* Puts a mapping (start < end) in; what it covers of older ones goes, split if need be. *space may be replaced. 0, or
 * -ENOMEM and nothing has changed. */
int space_insert(struct space **space, const struct mapping *mapping);

/* Takes out what lies in [start, end), start < end, splitting if need be. As above. */
int space_remove(struct space **space, uint64_t start, uint64_t end);

/* The mapping that covers the address, or NULL. */
const struct mapping *space_find(const struct space *space, uint64_t address);

#endif

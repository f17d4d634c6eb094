/*
 * Address → unit, and offset → unit. The first by .debug_aranges where the file has that; it may lack units, and ranges of
 * those that it has, so that all are looked at when an address is asked for that no unit claims: their own ranges, or
 * else their line program.
 */
#ifndef DWARF_UNITS_H
#define DWARF_UNITS_H

#include "base/vector.h"
#include "dwarf/unit.h"

struct unit_range {
    uint64_t low, high;
    uint64_t unit; /* offset in .debug_info */
};

struct units {
    VECTOR(struct unit_range) ranges; /* sorted by low */
    VECTOR(uint64_t) offsets;         /* of all units, rising; empty until they are asked for */
    bool all;                         /* what units say themselves has been looked at */
    pthread_mutex_t lock;             /* of the offsets */
};

/* Reads .debug_aranges. 0 or -ENOMEM. */
int units_open(struct dwarf *dwarf);
void units_close(struct units *units);

/* Looks at what all units say themselves. 0 or -ENOMEM. Once; not while others read. */
int units_complete(struct dwarf *dwarf);

/* The unit whose code the address is, and up to where that holds; UINT64_MAX: none is known. */
uint64_t units_find(const struct units *units, uint64_t address, uint64_t *ret_end);

/* The unit in which an offset of .debug_info lies. 0; -ENOENT, -ENOMEM. Threads may ask at once. */
int units_of_offset(struct dwarf *dwarf, uint64_t offset, struct unit *ret);

#endif

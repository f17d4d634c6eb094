/*
 * The stretches of code that DW_AT_ranges lists: .debug_ranges up to version 4, .debug_rnglists from 5 on.
 *
 *     struct ranges r;
 *     if (ranges_open(&r, unit, value, false))
 *         while (ranges_next(&r, &low, &high)) …
 */
#ifndef DWARF_RANGES_H
#define DWARF_RANGES_H

#include "dwarf/unit.h"

struct ranges {
    const struct unit *unit;
    struct view *view;
    uint64_t at, base;
};

/* `listed`: the value is a number in the unit's list of lists. False: there is nothing at that place. */
bool ranges_open(struct ranges *ranges, const struct unit *unit, uint64_t value, bool listed);

/* The next one with low < high; false at the end, or where the list is damaged. */
bool ranges_next(struct ranges *ranges, uint64_t *ret_low, uint64_t *ret_high);

#endif

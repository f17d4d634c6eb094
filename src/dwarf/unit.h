/*
 * A unit of .debug_info: its header, and what its first DIE says of it.
 */
#ifndef DWARF_UNIT_H
#define DWARF_UNIT_H

#include "dwarf/view.h"

struct dwarf;

struct unit {
    struct dwarf *file;
    uint64_t offset, end; /* in .debug_info; the header is at `offset` */
    uint64_t die;         /* the first DIE */
    uint64_t abbrevs;     /* in .debug_abbrev */
    uint8_t version, type, address_bytes, offset_bytes;
    bool deep;  /* code may lie below types: not C, not C++ */
    bool loose; /* what is inlined may lie outside of what it is inlined into: Go, up to 1.12 at least */

    bool has_code;      /* low_pc or ranges are given */
    bool has_ranges;    /* `ranges` is, else low … high are the code */
    bool has_lines;     /* `statements` is */
    bool ranges_listed; /* `ranges` is a number in the unit's list of lists (rnglistx) */
    uint64_t low, high; /* low: also the base of the ranges */
    uint64_t ranges;
    uint64_t statements; /* in .debug_line */
    uint64_t str_offsets_base, addr_base, rnglists_base, ranges_base;
    uint64_t str_offsets_start, rnglists_start; /* of a .dwp: where the unit's part of the section begins */
    /* of the skeleton's file for a split unit */
    uint64_t code_low, code_high; /* where code lies at all */
    struct view *addresses;       /* .debug_addr */
    struct view *old_ranges;      /* .debug_ranges, before version 5 */

    uint64_t split_id;     /* 0: not split, or not by an id */
    const char *split;     /* path of the .dwo; NULL: not split */
    const char *directory; /* where it was compiled; NULL: unknown */
    const char *name;      /* its source; NULL: unknown */
};

/* Reads the unit at an offset: its header alone, or the first DIE too. 0, -EBADMSG; then *ret_end, where it is not 0,
 * is where the next one begins in spite of that. */
int unit_read_header(struct dwarf *file, uint64_t offset, struct unit *ret, uint64_t *ret_end);
int unit_read(struct dwarf *file, uint64_t offset, struct unit *ret, uint64_t *ret_end);

/* The root DIE of a unit whose header was read. `skeleton`: for a split unit, whose addresses it shares. */
int unit_read_root(struct unit *unit, const struct unit *skeleton);

#endif

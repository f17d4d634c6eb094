/*
 * A .dwp: the .dwo files of a whole program in one. Each section is theirs, one behind the other; .debug_cu_index says by
 * a unit's id where its part of each begins. Version 2 of GNU's and that of DWARF 5:
 *
 *     version, columns, units, slots │ ids, a slot each │ row of each slot, from 1 on; 0: free │
 *     columns' sections │ units × columns: offsets │ units × columns: lengths
 */
#ifndef DWARF_PACKAGE_H
#define DWARF_PACKAGE_H

#include "base/table.h"
#include "base/vector.h"
#include "dwarf/view.h"

/* Where a unit's parts begin. */
struct package_unit {
    uint64_t id;
    uint64_t info, abbrev, str_offsets, rnglists;
};

struct package {
    VECTOR(struct package_unit) units; /* by `info`, rising */
    struct table by_id;                /* id → index */
};

/* Reads .debug_cu_index; an empty one is no package. 0; -ENOMEM; -EBADMSG: damaged. */
int package_open(struct package *package, struct view *index);
void package_close(struct package *package);

/* By id, or by an offset of .debug_info that is the unit's; NULL: there is none. */
const struct package_unit *package_find(const struct package *package, uint64_t id);
const struct package_unit *package_at(const struct package *package, uint64_t info);

#endif

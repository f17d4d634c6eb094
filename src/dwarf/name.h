/*
 * A DIE's name: its linkage name, or that of what it is an instance of (abstract_origin) or a definition of
 * (specification), wherever that is; else the plain name.
 */
#ifndef DWARF_NAME_H
#define DWARF_NAME_H

#include "base/intern.h"
#include "base/table.h"
#include "dwarf/walk.h"

/* Units of other DIEs that names lead to. */
struct foreign {
    struct unit unit;
    struct abbrevs abbrevs;
};

struct names {
    struct intern *texts;
    struct table known;       /* DIE's offset in the unit's file → number of its name */
    const struct dwarf *file; /* whose offsets these are */
    struct foreign foreign[4];
    unsigned next; /* to be replaced */
};

#define NAME_NONE (UINT32_MAX - 1)

/* The number of the name in `texts`; NAME_NONE: it has none; -ENOMEM. `walk` has the unit's bytes. */
int64_t die_name(struct names *names, const struct walk *walk, const struct unit *unit, uint64_t die);
void names_free(struct names *names);

#endif

/*
 * A function's name and where it is declared: what its DIE says, or the one that it is an instance of (abstract_origin) or a
 * definition of (specification), wherever that is. The name is its linkage name, else the plain one.
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

#define NAME_NONE UINT32_MAX
#define FILE_NONE UINT32_MAX

struct about {
    uint32_t name; /* number in `texts`; NAME_NONE */
    uint32_t file,
        line; /* file: in the unit's line table; FILE_NONE: unknown, or another unit says it; line 0: unknown */
};

struct names {
    struct intern *texts;
    struct table known; /* DIE's offset in the unit's file → index in abouts */
    VECTOR(struct about) abouts;
    const struct dwarf *file; /* whose offsets these are */
    struct foreign foreign[4];
    unsigned next;  /* to be replaced */
    uint32_t steps; /* DIEs that were stepped over to find parents */
};

/* Returns 0 or -ENOMEM. `walk` has the unit's bytes. */
int die_about(struct names *names, const struct walk *walk, const struct unit *unit, uint64_t die,
              struct about *ret);
void names_free(struct names *names);

#endif

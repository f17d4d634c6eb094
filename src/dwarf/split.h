/*
 * The unit that a skeleton stands for: in the program's .dwp, else in the .dwo that it names: as it was compiled, else
 * below the program's own directory, else beside the program; which one it is its id tells.
 *
 * A .dwo is one unit's as compilers write it, and many units' where a program was optimised as a whole when it was linked.
 * So the last one stays open, its units known by their ids: who is given all the skeletons of one file one after the other
 * (split_key() tells them apart) reads it once, however many these are.
 */
#ifndef DWARF_SPLIT_H
#define DWARF_SPLIT_H

#include "base/table.h"
#include "base/vector.h"
#include "dwarf/unit.h"

struct splits {
    char *path;         /* of the .dwo that was asked for last; NULL: none was */
    struct dwarf *file; /* NULL: it is not there */
    struct table by_id; /* id → index of its offset */
    VECTOR(uint64_t) offsets;
};

/* The same for all skeletons of one .dwo; 0: the unit at that offset is none. */
uint64_t split_key(struct dwarf *dwarf, uint64_t offset);

/* Whether the .dwo that is open is another one than the skeleton's, and goes when that is asked for. */
bool splits_changes(const struct splits *splits, const struct unit *skeleton);

/* The unit itself; where it is not to be had *ret stays. 0, or -ENOMEM, -EMFILE, -ENFILE. */
int splits_find(struct splits *splits, struct dwarf *dwarf, const struct unit *skeleton, struct unit *ret);

void splits_free(struct splits *splits);

#endif

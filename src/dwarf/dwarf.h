/*
 * The debug information of one file: which function, inlined ones included, and which line an address belongs to.
 *
 *     dwarf_open(root, elf, path, &dwarf);
 *     dwarf_resolve(dwarf, addresses, n, threads, &lines);        sorted addresses, as the file has them
 *
 * The questions drive the reading. Addresses are sorted and dealt out to the units whose code they are; of a unit only
 * the functions that contain a question are looked into, and its line program is run once, noting the rows that
 * answer one. Nothing of a unit is kept: what a batch costs is reading each unit that is asked about once, and what it
 * holds is its answers. Units are independent, so that threads share them out.
 *
 *     view      bytes of a section            abbrev    how to step over a DIE
 *     form      an attribute's value          ranges    lists of stretches of code
 *     unit      a unit's header               units     address → unit
 *     walk      question → innermost DIE      line      question → file, line, column
 *     name      DIE → name                    resolve   all of it, for many
 */
#ifndef DWARF_DWARF_H
#define DWARF_DWARF_H

#include "dwarf/units.h"
#include "dwarf/view.h"

struct dwarf {
    struct elf *elf;
    pthread_mutex_t lock; /* of the views */
    struct view info, abbrev, line, str, line_str, ranges, rnglists, addr, str_offsets, aranges;
    struct dwarf *alt; /* what dwz moved out of it; NULL: nothing, or not found */
    struct units units;
    uint64_t code_low,
        code_high;    /* executable sections lie between: what claims to lie elsewhere was discarded */
    bool split;       /* a .dwo or .dwp */
    int root;         /* the caller's */
    const char *path; /* of the file, for what lies beside it; the caller's */
};

/* Opens the debug information in this file; `path` and `root` say where it lies. The elf belongs to the dwarf from here
 * on, also on failure. 0; -ENOENT: there is none; -EOPNOTSUPP: compressed, and the library for that is missing; -errno. */
int dwarf_open(int root, const char *path, struct elf *elf, struct dwarf **ret);

/* A .dwo file's. */
int dwarf_open_split(int root, const char *path, struct dwarf **ret);

struct dwarf *dwarf_close(struct dwarf *dwarf);

#endif

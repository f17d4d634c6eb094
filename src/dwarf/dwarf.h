/*
 * The debug information of one file: which function, inlined ones included, and which line an address belongs to.
 *
 *     dwarf_open(root, &where, elf, &dwarf);
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
 *     name      DIE → name                    package   a .dwp's parts
 *     split     skeleton → its unit           resolve   all of it, for many
 */
#ifndef DWARF_DWARF_H
#define DWARF_DWARF_H

#include "dwarf/package.h"
#include "dwarf/units.h"
#include "dwarf/view.h"

struct dwarf {
    struct elf *elf;
    pthread_mutex_t lock; /* of the views */
    struct view info, abbrev, line, str, line_str, ranges, rnglists, addr, str_offsets, aranges;
    struct dwarf *alt; /* what dwz moved out of it; NULL: nothing, or not found */
    struct units units;
    uint64_t code_low,
        code_high; /* executable sections lie between: what claims to lie elsewhere was discarded */
    int root;      /* the caller's */
    _Atomic int64_t
        abbrevs_left; /* bytes of abbreviations that this batch may yet read beyond what its units' sizes
                                     let expect */

    bool split;             /* a .dwo or .dwp */
    struct package package; /* of a .dwp */
    char *program;          /* whose it is; NULL: unknown */
    struct dwarf *dwp;      /* NULL: not asked for, or none there */
    bool dwp_asked;
};

/* Where debug information lies, for what lies beside it. */
struct dwarf_place {
    const char *program; /* whose it is: its .dwp is beside that, and a .dwo that was moved with it */
    const char *file;    /* the file itself: what dwz moved out of it is told from there; NULL: unknown */
    struct depot *depot; /* asked last for that; NULL: not at all */
};

/* Opens the debug information in this file, paths below the root's descriptor. The elf belongs to the dwarf from here
 * on, also on failure, and so do what it reads and holds to that's budget. 0; -ENOENT: there is none; -EOPNOTSUPP:
 * compressed, and the library for that is missing; -EDQUOT; -errno. */
int dwarf_open(int root, const struct dwarf_place *place, struct elf *elf, struct dwarf **ret);

/* A .dwo or .dwp file's. */
int dwarf_open_split(int root, const char *path, struct budget *budget, struct dwarf **ret);

/* The program's .dwp, opened when first asked for; *ret is NULL where it has none. 0, or -ENOMEM, -EMFILE, -ENFILE. */
int dwarf_package(struct dwarf *dwarf, struct dwarf **ret);

/* At the beginning of a batch: what it may spend on damage is whole again. */
void dwarf_refill(struct dwarf *dwarf);

/* Bytes of memory that it holds, its parts in other files included; not while somebody reads. */
uint64_t dwarf_held(struct dwarf *dwarf);

struct dwarf *dwarf_close(struct dwarf *dwarf);

#endif

/*
 * Abbreviations, compiled: what a DIE's bytes hold becomes a short program that steps over them, reading only what a
 * walk in search of code wants. Neighbours of fixed size are stepped over at once, so that most DIEs take one step.
 *
 *     DW_TAG_variable: name strp, decl_file data1, decl_line data1, type ref4   →   SKIP 10
 *     DW_TAG_subprogram: name strp, …, low_pc addr, high_pc data8, sibling ref4 →   SKIP 11, READ low, READ high, …
 *
 * A table belongs to a unit: sizes depend on its header, and what is skipped on its language.
 */
#ifndef DWARF_ABBREV_H
#define DWARF_ABBREV_H

#include "base/cursor.h"
#include "base/vector.h"
#include "dwarf/unit.h"

/* One attribute as the table has it. */
struct spec {
    uint64_t attribute, form;
    int64_t implicit;
};

/* The next of a list; false at its end, or `bad`. */
static inline bool spec_next(struct cursor *specs, struct spec *ret)
{
    ret->attribute = cursor_uleb(specs);
    ret->form = cursor_uleb(specs);
    ret->implicit = ret->form == 0x21 ? cursor_sleb(specs) : 0; /* FORM_IMPLICIT_CONST */
    return !specs->bad && (ret->attribute || ret->form);
}

/* One abbreviation's tag and list, found by reading the unit's table. 0, -ENOENT, -EBADMSG. */
int abbrev_find(const struct unit *unit, uint64_t code, uint64_t *ret_tag, struct cursor *ret_specs);

/* What a walk does with a DIE. */
enum abbrev_class {
    ABBREV_SKIP,     /* nothing below it is code */
    ABBREV_SCOPE,    /* something below it may be */
    ABBREV_FUNCTION, /* code */
    ABBREV_INLINED,
    ABBREV_BLOCK,
};

enum abbrev_slot {
    SLOT_SIBLING,
    SLOT_LOW,
    SLOT_HIGH,
    SLOT_RANGES,
    SLOT_FILE,
    SLOT_LINE,
    SLOT_COLUMN,
    SLOT_N
};

enum abbrev_step {
    STEP_END,
    STEP_SKIP, /* n bytes */
    STEP_LEB,
    STEP_TEXT,
    STEP_FORM, /* any other one of `form` */
    STEP_READ, /* `form` into `slot` */
};

struct step {
    uint8_t kind, slot;
    uint16_t form;
    uint32_t n;
    int64_t implicit;
};

struct abbrev {
    uint64_t code;
    uint32_t tag;
    uint8_t class, children;
    uint32_t first;      /* step */
    struct cursor specs; /* the list itself, for those who want other attributes */
};

struct abbrevs {
    VECTOR(struct abbrev) items; /* by code where `dense`: code - 1 is the index; else sorted by it */
    VECTOR(struct step) steps;
    bool dense;
    /* whose they are */
    uint64_t table;
    struct dwarf *file;
    uint8_t version, address_bytes, offset_bytes, deep;
};

/* Compiles the unit's table, unless these are it already. 0, -ENOMEM, -EBADMSG. */
int abbrevs_load(struct abbrevs *abbrevs, const struct unit *unit);
void abbrevs_free(struct abbrevs *abbrevs);

const struct abbrev *abbrevs_search_(const struct abbrevs *abbrevs, uint64_t code);
static inline const struct abbrev *abbrevs_get(const struct abbrevs *abbrevs, uint64_t code)
{
    if (__builtin_expect(abbrevs->dense, 1))
        return code - 1 < abbrevs->items.n ? &abbrevs->items.items[code - 1] : NULL;
    return abbrevs_search_(abbrevs, code);
}

#endif

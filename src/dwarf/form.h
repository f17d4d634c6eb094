/*
 * An attribute's value, of whatever form, and what it means in its unit.
 */
#ifndef DWARF_FORM_H
#define DWARF_FORM_H

#include "base/cursor.h"
#include "dwarf/unit.h"

struct value {
    uint64_t n;       /* number, offset, index, address, or a block's length */
    const char *text; /* of FORM_STRING */
    uint32_t form;    /* 0: there is none */
};

/* Reads it and goes behind it. False: an unknown form, or the bytes end. `implicit` is what the abbreviation says. */
bool form_read(struct cursor *c, const struct unit *unit, uint64_t form, int64_t implicit, struct value *ret);

/* Its size where that does not depend on the bytes, else -1; -2: an unknown form. */
int form_bytes(const struct unit *unit, uint64_t form);

/* Whether it is one of the plain numbers: a high_pc of such a form counts from low_pc. */
bool form_is_number(uint32_t form);

/* Each gives what the value stands for: NULL or false where it stands for nothing that is there. */
const char *value_text(const struct unit *unit, const struct value *value);
bool value_address(const struct unit *unit, const struct value *value, uint64_t *ret);

/* The n-th of the unit's addresses (.debug_addr). */
bool indexed_address(const struct unit *unit, uint64_t n, uint64_t *ret);

/* A DIE elsewhere: in which file, and at which offset of its .debug_info. */
struct reference {
    struct dwarf *file; /* NULL: nowhere */
    uint64_t offset;
};
struct reference value_reference(const struct unit *unit, const struct value *value);

#endif

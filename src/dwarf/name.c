#include "dwarf/name.h"

#include "dwarf/constants.h"
#include "dwarf/dwarf.h"
#include "dwarf/form.h"

#include <errno.h>

enum { HOPS_MAX = 16, WINDOW = 256 };

/* What a DIE says of its name. */
struct said {
    struct value name, linkage, origin;
};

/* From n bytes at the DIE. False: they end, or make no sense. */
static bool read_die(const struct unit *unit, const struct abbrevs *abbrevs, const unsigned char *bytes,
                     size_t n, struct said *ret)
{
    struct cursor c = cursor_of(bytes, n);
    const struct abbrev *abbrev = abbrevs_get(abbrevs, cursor_uleb(&c));
    struct said said = {0};

    if (!abbrev || c.bad)
        return false;
    struct cursor specs = abbrev->specs;
    for (struct spec spec; spec_next(&specs, &spec);) {
        struct value value;
        if (!form_read(&c, unit, spec.form, spec.implicit, &value))
            return false;
        switch (spec.attribute) {
        case AT_NAME:
            said.name = value;
            break;
        case AT_LINKAGE_NAME:
        case AT_MIPS_LINKAGE_NAME:
            said.linkage = value;
            break;
        case AT_ABSTRACT_ORIGIN:
        case AT_SPECIFICATION:
            said.origin = value;
            break;
        default:
            break;
        }
    }
    *ret = said;
    return true;
}

/* The unit that an offset lies in, with its abbreviations: kept, the last few. NULL: none, or out of memory. */
static struct foreign *find_foreign(struct names *names, const struct reference *at, int *ret_rc)
{
    for (unsigned i = 0; i < 4; i++) {
        struct foreign *f = &names->foreign[i];
        if (f->unit.file == at->file && at->offset >= f->unit.die && at->offset < f->unit.end)
            return f;
    }
    struct foreign *f = &names->foreign[names->next++ % 4];
    f->unit.file = NULL;
    struct unit unit;
    int rc = units_of_offset(at->file, at->offset, &unit);
    if (rc == 0)
        rc = abbrevs_load(&f->abbrevs, &unit);
    if (rc < 0 || at->offset < unit.die) {
        *ret_rc = rc == -ENOMEM ? rc : -ENOENT;
        return NULL;
    }
    f->unit = unit;
    return f;
}

static bool read_foreign(struct foreign *f, uint64_t offset, struct said *ret)
{
    uint64_t whole = f->unit.end - offset;

    for (uint64_t n = whole < WINDOW ? whole : WINDOW;; n = n * 8 < whole ? n * 8 : whole) {
        const unsigned char *bytes = view_get(&f->unit.file->info, offset, n);
        if (!bytes)
            return false;
        if (read_die(&f->unit, &f->abbrevs, bytes, (size_t)n, ret))
            return true;
        if (n == whole)
            return false;
    }
}

/* Follows from DIE to DIE. NULL: no name. */
static const char *find_name(struct names *names, const struct walk *walk, const struct unit *unit,
                             uint64_t die, int *ret_rc)
{
    struct reference at = {unit->file, die};
    const char *plain = NULL;

    for (unsigned hop = 0; hop < HOPS_MAX && at.file; hop++) {
        const struct unit *in = unit;
        struct said said;
        bool ok;
        if (at.file == unit->file && at.offset >= unit->die && at.offset < unit->end) {
            ok = read_die(unit, &walk->abbrevs, walk->bytes + (at.offset - unit->die),
                          (size_t)(unit->end - at.offset), &said);
        } else {
            struct foreign *f = find_foreign(names, &at, ret_rc);
            ok = f && read_foreign(f, at.offset, &said);
            in = f ? &f->unit : unit;
        }
        if (!ok)
            break;
        const char *linkage = said.linkage.form ? value_text(in, &said.linkage) : NULL;
        if (linkage && *linkage)
            return linkage;
        if (!plain && said.name.form)
            plain = value_text(in, &said.name);
        if (!said.origin.form)
            break;
        at = value_reference(in, &said.origin);
    }
    return plain && *plain ? plain : NULL;
}

int64_t die_name(struct names *names, const struct walk *walk, const struct unit *unit, uint64_t die)
{
    int rc = 0;

    if (names->file != unit->file) {
        table_free(&names->known);
        names->file = unit->file;
    }
    uint32_t known = table_get(&names->known, die);
    if (known != TABLE_NONE)
        return known;
    const char *text = find_name(names, walk, unit, die, &rc);
    if (rc == -ENOMEM)
        return rc;
    int64_t number = text ? intern_add(names->texts, text, strlen(text)) : NAME_NONE;
    if (number < 0 || table_put(&names->known, die, (uint32_t)number) < 0)
        return -ENOMEM;
    return number;
}

void names_free(struct names *names)
{
    table_free(&names->known);
    for (unsigned i = 0; i < 4; i++)
        abbrevs_free(&names->foreign[i].abbrevs);
}

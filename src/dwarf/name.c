#include "dwarf/name.h"

#include "base/unset.h"
#include "dwarf/constants.h"
#include "dwarf/dwarf.h"
#include "dwarf/form.h"

#include <errno.h>

enum { HOPS_MAX = 16, WINDOW = 256, PARENTS_MAX = 64, STEPS_MAX = 1 << 22 };

/* What a DIE says. */
struct said {
    struct value name, linkage, origin, file, line;
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
    for (UNSET struct spec spec; spec_next(&specs, &spec);) {
        UNSET struct value value;
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
        case AT_DECLARED_FILE:
            said.file = value;
            break;
        case AT_DECLARED_LINE:
            said.line = value;
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

/* The DIE that `die` lies in, of the unit whose bytes `walk` has: 0 at its top, or if the search has become too long. What
 * tells its sibling is stepped over. */
static uint64_t find_parent(struct names *names, const struct walk *walk, const struct unit *unit,
                            uint64_t die)
{
    uint64_t parents[PARENTS_MAX];
    unsigned depth = 0;
    struct cursor c = cursor_of(walk->bytes, (size_t)(unit->end - unit->die));

    for (; names->steps < STEPS_MAX; names->steps++) {
        uint64_t at = unit->die + (uint64_t)(c.at - walk->bytes), code = cursor_uleb(&c), next = 0;
        if (c.bad || at > die)
            return 0;
        if (at == die)
            return depth ? parents[depth - 1] : 0;
        if (code == 0 && depth-- == 0)
            return 0;
        if (code == 0)
            continue;
        const struct abbrev *abbrev = abbrevs_get(&walk->abbrevs, code);
        struct cursor specs = abbrev ? abbrev->specs : (struct cursor){0};
        for (struct spec spec; abbrev && spec_next(&specs, &spec);) {
            struct value value;
            if (!form_read(&c, unit, spec.form, spec.implicit, &value))
                return 0;
            if (spec.attribute == AT_SIBLING)
                next = value_reference(unit, &value).offset;
        }
        if (!abbrev || (abbrev->children && depth == PARENTS_MAX))
            return 0;
        if (abbrev->children && next > at && next <= die && next < unit->end)
            c.at = walk->bytes + (next - unit->die);
        else if (abbrev->children)
            parents[depth++] = at;
    }
    return 0;
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

/* What is known after some DIEs; the first one that says a thing is right. */
struct gathered {
    const char *linkage, *plain;
    struct about about;
};

static uint32_t number_of(const struct value *value)
{
    return value->n < UINT32_MAX ? (uint32_t)value->n : 0;
}

static void take(struct gathered *gathered, const struct unit *in, bool own, const struct said *said)
{
    if (!gathered->linkage && said->linkage.form)
        gathered->linkage = value_text(in, &said->linkage);
    if (!gathered->plain && said->name.form)
        gathered->plain = value_text(in, &said->name);
    if (!gathered->about.line && said->line.form)
        gathered->about.line = number_of(&said->line);
    if (own && gathered->about.file == FILE_NONE &&
        said->file.form) /* another unit's numbers mean other files */
        gathered->about.file = number_of(&said->file);
}

static bool complete(const struct gathered *gathered)
{
    return gathered->linkage && *gathered->linkage && gathered->about.line &&
           gathered->about.file != FILE_NONE;
}

/* A lambda's function is made by the compiler; its class is where it was written. */
static void take_place(struct names *names, const struct walk *walk, const struct unit *unit, uint64_t die,
                       struct gathered *gathered)
{
    uint64_t parent = find_parent(names, walk, unit, die);
    struct said said;

    if (!parent || !read_die(unit, &walk->abbrevs, walk->bytes + (parent - unit->die),
                             (size_t)(unit->end - parent), &said))
        return;
    said.name.form = said.linkage.form = 0;
    take(gathered, unit, true, &said);
}

/* Follows from DIE to DIE. */
static struct gathered find_about(struct names *names, const struct walk *walk, const struct unit *unit,
                                  uint64_t die, int *ret_rc)
{
    struct reference at = {unit->file, die};
    struct gathered gathered = {.about = {.name = NAME_NONE, .file = FILE_NONE}};

    for (unsigned hop = 0; hop < HOPS_MAX && at.file && !complete(&gathered); hop++) {
        const struct unit *in = unit;
        UNSET struct said said;
        bool ok, own = at.file == unit->file && at.offset >= unit->die && at.offset < unit->end;
        if (own) {
            ok = read_die(unit, &walk->abbrevs, walk->bytes + (at.offset - unit->die),
                          (size_t)(unit->end - at.offset), &said);
        } else {
            struct foreign *f = find_foreign(names, &at, ret_rc);
            ok = f && read_foreign(f, at.offset, &said);
            in = f ? &f->unit : unit;
        }
        if (!ok)
            break;
        take(&gathered, in, own, &said);
        if (!said.origin.form) {
            if (own && gathered.plain && !gathered.linkage && !gathered.about.line)
                take_place(names, walk, unit, at.offset, &gathered);
            break;
        }
        at = value_reference(in, &said.origin);
    }
    return gathered;
}

int die_about(struct names *names, const struct walk *walk, const struct unit *unit, uint64_t die,
              struct about *ret)
{
    int rc = 0;

    if (names->file != unit->file) {
        table_free(&names->known);
        names->abouts.n = 0;
        names->file = unit->file;
    }
    uint32_t index = table_get(&names->known, die);
    if (index != TABLE_NONE) {
        *ret = names->abouts.items[index];
        return 0;
    }
    struct gathered gathered = find_about(names, walk, unit, die, &rc);
    if (rc == -ENOMEM)
        return rc;
    const char *text = gathered.linkage && *gathered.linkage ? gathered.linkage : gathered.plain;
    int64_t number = text && *text ? intern_add(names->texts, text, strlen(text)) : NAME_NONE;
    struct about *about = number < 0 ? NULL : vector_push(&names->abouts);
    if (!about || table_put(&names->known, die, (uint32_t)(names->abouts.n - 1)) < 0)
        return -ENOMEM;
    *about = gathered.about;
    about->name = (uint32_t)number;
    *ret = *about;
    return 0;
}

void names_free(struct names *names)
{
    table_free(&names->known);
    vector_free(&names->abouts);
    for (unsigned i = 0; i < 4; i++)
        abbrevs_free(&names->foreign[i].abbrevs);
}

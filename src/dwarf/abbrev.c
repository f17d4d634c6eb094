#include "dwarf/abbrev.h"

#include "dwarf/constants.h"
#include "dwarf/dwarf.h"
#include "dwarf/form.h"

#include <errno.h>

enum { WINDOW = 8192, ABBREVS_MAX = 1 << 20, SPECS_MAX = 4096, FREE_BYTES = 4096, FREE_TIMES = 16 };

/*
 * A table has no length: it is read in a window that grows until the end is in it, or until it is longer than it may be.
 * Tables of an honest file lie side by side; where they overlap, each of many small units has a long one, and reading
 * them all takes for ever. So a unit reads for nothing as much as its own size lets expect, which is enough for what
 * compilers write, and the rest (dwz gives small units a table in common) from what the file has left for that.
 */
struct window {
    struct view *view;
    uint64_t table, left; /* in the section */
    uint64_t free, most;
    bool last, cut; /* it does not grow any more; because of `most` */
    struct cursor c;
    const unsigned char *begin;
};

static struct window window_of(const struct unit *unit)
{
    struct view *view = &unit->file->abbrev;
    int64_t spare = atomic_load_explicit(&unit->file->abbrevs_left, memory_order_relaxed);
    struct window w = {
        .view = view,
        .table = unit->abbrevs,
        .left = unit->abbrevs < view->n ? view->n - unit->abbrevs : 0,
        .free = FREE_BYTES + FREE_TIMES * (unit->end - unit->offset),
    };

    w.most = w.free + (spare > 0 ? (uint64_t)spare : 0);
    return w;
}

static void window_grow(struct window *w, uint64_t n)
{
    w->last = n >= w->left || n >= w->most;
    w->cut = w->last && w->most < w->left;
    n = n < w->left ? n : w->left;
    n = n < w->most ? n : w->most;
    w->begin = n ? view_get(w->view, w->table, n) : NULL;
    w->c = cursor_of(w->begin, w->begin ? (size_t)n : 0);
}

/* What was read beyond what is free is paid for. */
static void window_pay(const struct window *w, const struct unit *unit)
{
    uint64_t used = w->begin ? (uint64_t)(w->c.at - w->begin) : 0;

    if (used > w->free)
        atomic_fetch_sub_explicit(&unit->file->abbrevs_left, (int64_t)(used - w->free), memory_order_relaxed);
}

/* In the window: 1; 0: it is not there; -EBADMSG: the window ends before. */
static int find_in(struct cursor *window, uint64_t code, uint64_t *ret_tag, struct cursor *ret_specs)
{
    struct cursor c = *window;
    int rc = 0;

    for (uint64_t own; rc == 0 && !c.bad && (own = cursor_uleb(&c));) {
        struct spec spec;
        uint64_t tag = cursor_uleb(&c);
        cursor_u8(&c);
        struct cursor specs = c;
        while (spec_next(&c, &spec))
            ;
        if (own == code && !c.bad) {
            *ret_tag = tag;
            *ret_specs = specs;
            rc = 1;
        }
    }
    *window = c;
    return c.bad ? -EBADMSG : rc;
}

int abbrev_find(const struct unit *unit, uint64_t code, uint64_t *ret_tag, struct cursor *ret_specs)
{
    struct window w = window_of(unit);
    int rc = -EBADMSG;

    for (uint64_t n = 512; rc == -EBADMSG && !w.last; n *= 8) {
        window_grow(&w, n);
        rc = find_in(&w.c, code, ret_tag, ret_specs);
    }
    window_pay(&w, unit);
    return rc == 1 ? 0 : rc == 0 ? -ENOENT : rc;
}

static bool is_block(uint64_t tag)
{
    return tag == TAG_LEXICAL_BLOCK || tag == TAG_TRY_BLOCK || tag == TAG_CATCH_BLOCK ||
           tag == TAG_WITH_STATEMENT;
}

static bool is_type(uint64_t tag)
{
    return tag == TAG_STRUCTURE_TYPE || tag == TAG_CLASS_TYPE || tag == TAG_UNION_TYPE ||
           tag == TAG_INTERFACE_TYPE || tag == TAG_ENUMERATION_TYPE || tag == TAG_VARIANT_PART ||
           tag == TAG_VARIANT;
}

/* A function without code is a declaration, or what inlined ones refer to: only names are to be had there. */
static uint8_t class_of(const struct abbrevs *abbrevs, uint64_t tag, bool has_code)
{
    if (tag == TAG_SUBPROGRAM)
        return has_code ? ABBREV_FUNCTION : abbrevs->deep ? ABBREV_SCOPE : ABBREV_SKIP;
    if (tag == TAG_INLINED_SUBROUTINE)
        return has_code ? ABBREV_INLINED : ABBREV_SKIP;
    if (is_block(tag))
        return has_code ? ABBREV_BLOCK : ABBREV_SCOPE;
    if (tag == TAG_NAMESPACE || tag == TAG_MODULE || (abbrevs->deep && is_type(tag)))
        return ABBREV_SCOPE;
    return ABBREV_SKIP;
}

static uint8_t slot_of(uint64_t attribute)
{
    switch (attribute) {
    case AT_SIBLING:
        return SLOT_SIBLING;
    case AT_LOW_PC:
        return SLOT_LOW;
    case AT_HIGH_PC:
        return SLOT_HIGH;
    case AT_RANGES:
        return SLOT_RANGES;
    case AT_CALL_FILE:
        return SLOT_FILE;
    case AT_CALL_LINE:
        return SLOT_LINE;
    case AT_CALL_COLUMN:
        return SLOT_COLUMN;
    default:
        return SLOT_N;
    }
}

/* Whether a walk wants this attribute of a DIE of that class. */
static bool is_wanted(const struct abbrev *abbrev, uint8_t slot)
{
    if (slot == SLOT_N)
        return false;
    return slot == SLOT_SIBLING ? abbrev->children : abbrev->class >= ABBREV_FUNCTION;
}

/* `taken`: the slots that were read already. One that comes again is passed over: of no bytes each, thousands of them would
 * make every DIE a long one. */
static int add_step(struct abbrevs *abbrevs, const struct unit *unit, const struct abbrev *abbrev,
                    const struct spec *spec, unsigned *taken)
{
    uint8_t slot = slot_of(spec->attribute);
    int fixed = form_bytes(unit, spec->form);
    struct step *last = abbrevs->steps.n > abbrev->first ? &abbrevs->steps.items[abbrevs->steps.n - 1] : NULL;

    bool wanted = is_wanted(abbrev, slot) && fixed != -2 && !(*taken >> slot & 1);
    *taken |= wanted ? 1u << slot : 0;
    if (!wanted && fixed >= 0) {
        if (last && last->kind == STEP_SKIP) {
            last->n += (uint32_t)fixed;
            return 0;
        }
        if (fixed == 0)
            return 0;
    }
    struct step *step = vector_push(&abbrevs->steps);
    if (!step)
        return -ENOMEM;
    *step = (struct step){.slot = slot,
                          .form = spec->form < UINT16_MAX ? (uint16_t)spec->form : UINT16_MAX,
                          .implicit = spec->implicit};
    if (wanted) {
        step->kind = STEP_READ;
    } else if (fixed >= 0) {
        step->kind = STEP_SKIP;
        step->n = (uint32_t)fixed;
    } else {
        bool other = fixed == -2 || spec->form == FORM_BLOCK || spec->form == FORM_BLOCK1 ||
                     spec->form == FORM_BLOCK2 || spec->form == FORM_BLOCK4 || spec->form == FORM_EXPRLOC ||
                     spec->form == FORM_INDIRECT;
        step->kind = spec->form == FORM_STRING ? STEP_TEXT : other ? STEP_FORM : STEP_LEB;
    }
    return 0;
}

static int compile(struct abbrevs *abbrevs, const struct unit *unit, struct cursor *c, uint64_t code)
{
    struct abbrev *abbrev = vector_push(&abbrevs->items);
    struct spec spec;
    bool has_code = false;
    unsigned taken = 0, n = 0;

    if (!abbrev)
        return -ENOMEM;
    abbrev->code = code;
    uint64_t tag = cursor_uleb(c);
    abbrev->tag = (uint32_t)tag;
    abbrev->children = cursor_u8(c) != 0;
    abbrev->first = (uint32_t)abbrevs->steps.n;
    struct cursor specs = abbrev->specs = *c;
    while (spec_next(&specs, &spec))
        has_code = has_code || spec.attribute == AT_LOW_PC || spec.attribute == AT_RANGES;
    abbrev->class = class_of(abbrevs, tag, has_code);
    while (spec_next(c, &spec)) {
        int rc = ++n > SPECS_MAX ? -EBADMSG : add_step(abbrevs, unit, abbrev, &spec, &taken);
        if (rc < 0)
            return rc;
    }
    struct step *end = vector_push(&abbrevs->steps); /* zeroed: STEP_END */
    return end ? 0 : -ENOMEM;
}

static int by_code(const void *a, const void *b)
{
    uint64_t x = ((const struct abbrev *)a)->code, y = ((const struct abbrev *)b)->code;

    return (x > y) - (x < y);
}

/* 1: the window was too small. */
static int compile_window(struct abbrevs *abbrevs, const struct unit *unit, struct window *w)
{
    abbrevs->items.n = abbrevs->steps.n = 0;
    abbrevs->dense = true;
    for (uint64_t code; (code = cursor_uleb(&w->c));) {
        abbrevs->dense = abbrevs->dense && code == abbrevs->items.n + 1;
        if (abbrevs->items.n == ABBREVS_MAX)
            return -EBADMSG;
        int rc = compile(abbrevs, unit, &w->c, code);
        if (w->c.bad)
            break;
        if (rc < 0)
            return rc;
    }
    if (w->c.bad && !w->last)
        return 1;
    if (w->c.bad && abbrevs->items.n) /* cut off: what came before it stands */
        abbrevs->items.n--;
    if (!abbrevs->dense)
        qsort(abbrevs->items.items, abbrevs->items.n, sizeof *abbrevs->items.items, by_code);
    return 0;
}

int abbrevs_load(struct abbrevs *abbrevs, const struct unit *unit)
{
    if (abbrevs->file == unit->file && abbrevs->table == unit->abbrevs && abbrevs->version == unit->version &&
        abbrevs->address_bytes == unit->address_bytes && abbrevs->offset_bytes == unit->offset_bytes &&
        abbrevs->deep == unit->deep)
        return 0;
    abbrevs->file = NULL;
    abbrevs->table = unit->abbrevs;
    abbrevs->version = unit->version;
    abbrevs->address_bytes = unit->address_bytes;
    abbrevs->offset_bytes = unit->offset_bytes;
    abbrevs->deep = unit->deep;
    struct window w = window_of(unit);
    int rc = 1;
    for (uint64_t n = WINDOW; rc == 1; n *= 4) {
        window_grow(&w, n);
        rc = compile_window(abbrevs, unit, &w);
    }
    window_pay(&w, unit);
    if (rc == 0 && !(w.c.bad && w.cut)) /* a larger unit may read more of the same table */
        abbrevs->file = unit->file;
    return rc;
}

void abbrevs_free(struct abbrevs *abbrevs)
{
    vector_free(&abbrevs->items);
    vector_free(&abbrevs->steps);
    *abbrevs = (struct abbrevs){0};
}

const struct abbrev *abbrevs_search_(const struct abbrevs *abbrevs, uint64_t code)
{
    struct abbrev wanted = {.code = code};

    return abbrevs->items.n ? bsearch(&wanted, abbrevs->items.items, abbrevs->items.n, sizeof wanted, by_code)
                            : NULL;
}

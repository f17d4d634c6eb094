#include "dwarf/walk.h"

#include "base/unset.h"
#include "dwarf/dwarf.h"
#include "dwarf/form.h"
#include "dwarf/ranges.h"

#include <errno.h>

enum { DEPTH_MAX = 1 << 16, NODES_MAX = 1 << 26 };

struct die {
    struct value slots[SLOT_N];
};

/* Steps over a DIE's attributes, reading those that are wanted. */
static inline bool step_over(struct cursor *c, const struct unit *unit, const struct step *step,
                             struct die *die)
{
    for (;; step++)
        switch (step->kind) {
        case STEP_END:
            return !c->bad;
        case STEP_SKIP:
            cursor_bytes(c, step->n);
            break;
        case STEP_LEB:
            cursor_uleb(c);
            break;
        case STEP_TEXT:
            cursor_text(c);
            break;
        case STEP_READ:
            if (!form_read(c, unit, step->form, step->implicit, &die->slots[step->slot]))
                return false;
            break;
        default: {
            UNSET struct value value;
            if (!form_read(c, unit, step->form, step->implicit, &value))
                return false;
        }
        }
}

/* Behind the children of a DIE, by its sibling if it tells one, else by stepping over them all. */
static bool skip_children(const struct walk *walk, const struct unit *unit, struct cursor *c,
                          const struct value *sibling)
{
    const unsigned char *begin = c->end - (unit->end - unit->die);
    UNSET struct die die;

    for (unsigned depth = 1;;) {
        if (sibling->form) {
            struct reference to = value_reference(unit, sibling);
            if (to.file != unit->file || to.offset < unit->die || to.offset >= unit->end ||
                begin + (to.offset - unit->die) <= c->at)
                return false;
            c->at = begin + (to.offset - unit->die);
            depth--;
        }
        for (;;) {
            if (depth == 0)
                return true;
            uint64_t code = cursor_uleb(c);
            if (c->bad)
                return false;
            if (code == 0) {
                depth--;
                continue;
            }
            const struct abbrev *abbrev = abbrevs_get(&walk->abbrevs, code);
            die.slots[SLOT_SIBLING].form = 0;
            if (!abbrev || !step_over(c, unit, &walk->abbrevs.steps.items[abbrev->first], &die))
                return false;
            if (abbrev->children) {
                depth++;
                sibling = &die.slots[SLOT_SIBLING];
                break;
            }
        }
    }
}

static uint32_t first_from(const struct question *questions, uint32_t from, uint32_t to, uint64_t address)
{
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (questions[middle].address < address)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Marks what lies in low … high, and widens the level's questions to it. */
static void mark(struct question *questions, const struct level *outer, uint64_t low, uint64_t high,
                 uint32_t node, struct level *inner)
{
    uint32_t i = first_from(questions, outer->first, outer->last, low), first = i;

    for (; i < outer->last && questions[i].address < high; i++)
        if (node != NODE_NONE)
            questions[i].node = node;
    if (i > first) {
        inner->first = first < inner->first ? first : inner->first;
        inner->last = i > inner->last ? i : inner->last;
    }
}

/* The level inside a DIE with code; first ≥ last: no question lies in it. */
static struct level enter(struct walk *walk, const struct unit *unit, const struct die *die,
                          struct question *questions, const struct level *outer, uint32_t node)
{
    struct level inner = {node != NODE_NONE ? node : outer->node, outer->function, UINT32_MAX, 0};
    const struct value *low_value = &die->slots[SLOT_LOW], *high_value = &die->slots[SLOT_HIGH],
                       *list = &die->slots[SLOT_RANGES];
    uint64_t low, high;

    if (list->form) {
        struct ranges ranges;
        bool more = ranges_open(&ranges, unit, list->n, list->form == 0x23); /* FORM_RNGLISTX */
        while (more && (more = ranges_next(&ranges, &low, &high)) && walk->ranges_left-- > 0)
            if (low >= unit->code_low && low < unit->code_high)
                mark(questions, outer, low, high, node, &inner);
    } else if (value_address(unit, low_value, &low) && high_value->form) {
        high = low + high_value->n;
        if ((form_is_number(high_value->form) || value_address(unit, high_value, &high)) &&
            low >= unit->code_low && low < unit->code_high)
            mark(questions, outer, low, high, node, &inner);
    }
    return inner;
}

static uint32_t number_of(const struct value *value)
{
    return value->form && value->n <= UINT32_MAX ? (uint32_t)value->n : 0;
}

/* Into a DIE's children. Deeper than any compiler goes is damage. */
static int descend(struct walk *walk, const struct level *inner)
{
    if (walk->levels.n >= DEPTH_MAX)
        return -EBADMSG;
    struct level *level = vector_push(&walk->levels);
    if (!level)
        return -ENOMEM;
    *level = *inner;
    return 0;
}

/* An inlined function's: itself, if its parent is no inlined one. */
static uint32_t top_of(const struct walk *walk, uint32_t node, uint32_t parent)
{
    const struct node *outer = parent == NODE_NONE ? NULL : &walk->nodes.items[parent];

    return outer && outer->parent != NODE_NONE ? outer->top : node;
}

/* Whose questions may lie in a DIE: its parent's; in a loose unit its function's. */
static inline struct level outer_of(const struct walk *walk, const struct unit *unit, bool function)
{
    const struct level *levels = walk->levels.items, *parent = &levels[walk->levels.n - 1];

    if (function) /* where it will be */
        return (struct level){levels[0].node, (uint32_t)walk->levels.n, levels[0].first, levels[0].last};
    if (!unit->loose)
        return *parent;
    const struct level *whole = &levels[parent->function];
    return (struct level){parent->node, whole->function, whole->first, whole->last};
}

/* A DIE with code: into it, or past it. */
static int visit(struct walk *walk, const struct unit *unit, struct cursor *c, const struct abbrev *abbrev,
                 const struct die *die, uint64_t offset, struct question *questions)
{
    bool function = abbrev->class == ABBREV_FUNCTION;
    struct level outer = outer_of(walk, unit, function);
    uint32_t node = abbrev->class == ABBREV_BLOCK ? NODE_NONE : (uint32_t)walk->nodes.n;
    struct level inner = enter(walk, unit, die, questions, &outer, node);

    if (inner.first >= inner.last && function && walk->thorough)
        inner = (struct level){NODE_NONE, outer.function, 0, 0};
    else if (inner.first >= inner.last && !function && unit->loose && outer.first < outer.last)
        inner = (struct level){inner.node, outer.function, outer.first, outer.last};
    else if (inner.first >= inner.last)
        return abbrev->children && !skip_children(walk, unit, c, &die->slots[SLOT_SIBLING]) ? -EBADMSG : 0;
    if (node != NODE_NONE && inner.last) {
        struct node *made = walk->nodes.n < NODES_MAX ? vector_push(&walk->nodes) : NULL;
        if (!made)
            return walk->nodes.n < NODES_MAX ? -ENOMEM : -EBADMSG;
        uint32_t parent = abbrev->class == ABBREV_INLINED ? outer.node : NODE_NONE;
        *made = (struct node){
            .die = offset,
            .parent = parent,
            .top = top_of(walk, node, parent),
            .file = number_of(&die->slots[SLOT_FILE]),
            .line = number_of(&die->slots[SLOT_LINE]),
            .column = number_of(&die->slots[SLOT_COLUMN]),
        };
    }
    return abbrev->children ? descend(walk, &inner) : 0;
}

static int walk_children(struct walk *walk, const struct unit *unit, struct cursor *c,
                         struct question *questions)
{
    const unsigned char *begin = c->end - (unit->end - unit->die);

    while (walk->levels.n) {
        uint64_t offset = unit->die + (uint64_t)(c->at - begin), code = cursor_uleb(c);
        if (c->bad) /* the last zeros may be left out */
            return c->at == c->end ? 0 : -EBADMSG;
        if (code == 0) {
            walk->levels.n--;
            continue;
        }
        const struct abbrev *abbrev = abbrevs_get(&walk->abbrevs, code);
        UNSET struct die die;
        if (!abbrev)
            return -EBADMSG;
        for (unsigned i = 0; i < SLOT_N; i++)
            die.slots[i].form = 0;
        if (!step_over(c, unit, &walk->abbrevs.steps.items[abbrev->first], &die))
            return -EBADMSG;
        int rc = 0;
        if (abbrev->class >= ABBREV_FUNCTION) {
            rc = visit(walk, unit, c, abbrev, &die, offset, questions);
        } else if (abbrev->children && abbrev->class == ABBREV_SKIP) {
            rc = skip_children(walk, unit, c, &die.slots[SLOT_SIBLING]) ? 0 : -EBADMSG;
        } else if (abbrev->children) {
            struct level outer = walk->levels.items[walk->levels.n - 1];
            rc = descend(walk, &outer);
        }
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int walk_once(struct walk *walk, const struct unit *unit, struct question *questions, size_t n)
{
    UNSET struct die die; /* the root's is read by nobody */

    int rc = abbrevs_load(&walk->abbrevs, unit);
    if (rc == 0)
        rc = budget_step(unit->file->info.budget, unit->end - unit->die);
    if (rc < 0)
        return rc;
    struct cursor c = cursor_of(walk->bytes, (size_t)(unit->end - unit->die));
    const struct abbrev *root = abbrevs_get(&walk->abbrevs, cursor_uleb(&c));
    if (!root || !step_over(&c, unit, &walk->abbrevs.steps.items[root->first], &die))
        return -EBADMSG;
    if (!root->children)
        return 0;
    walk->levels.n = 0;
    walk->ranges_left = 4096 + 8 * (int64_t)(unit->end - unit->die);
    struct level *level = vector_push(&walk->levels);
    if (!level)
        return -ENOMEM;
    *level = (struct level){NODE_NONE, 0, 0, (uint32_t)n};
    return walk_children(walk, unit, &c, questions);
}

/* Methods of a local class lie in the function that has it, outside of its code: what the quick walk leaves without a
 * function is searched for everywhere. */
int walk_unit(struct walk *walk, const struct unit *unit, struct question *questions, size_t n)
{
    uint64_t bytes = unit->end - unit->die;
    size_t found = 0;

    walk->nodes.n = 0;
    int rc = bytes ? view_copy(&unit->file->info, unit->die, bytes, &walk->scratch, &walk->bytes) : -EBADMSG;
    if (rc < 0)
        return rc;
    walk->thorough = false;
    rc = walk_once(walk, unit, questions, n);
    while (rc == 0 && found < n && questions[found].node != NODE_NONE)
        found++;
    if (rc == 0 && found < n) {
        struct unit deep = *unit;
        deep.deep = walk->thorough = true;
        rc = walk_once(walk, &deep, questions, n);
    }
    return rc;
}

void walk_free(struct walk *walk)
{
    abbrevs_free(&walk->abbrevs);
    free(walk->scratch.bytes);
    vector_free(&walk->nodes);
    vector_free(&walk->levels);
}

#include "region/tree.h"

#include <errno.h>

/* A new node with counts of zero: its number, or -ENOMEM. */
static int64_t add_node(struct tree *tree, uint32_t parent, uint32_t region, uint32_t depth)
{
    size_t more = 2 * (size_t)tree->n_events;

    if (vector_reserve(&tree->counts, more) < 0)
        return -ENOMEM;
    struct tree_node *node = vector_push(&tree->nodes);
    if (!node)
        return -ENOMEM;
    *node = (struct tree_node){.parent = parent, .region = region, .depth = depth};
    if (more)
        memset(&tree->counts.items[tree->counts.n], 0, more * sizeof *tree->counts.items);
    tree->counts.n += more;
    return (int64_t)tree->nodes.n - 1;
}

int tree_init(struct tree *tree, uint32_t n_events)
{
    *tree = (struct tree){.n_events = n_events};
    return add_node(tree, 0, UINT32_MAX, 0) < 0 ? -ENOMEM : 0;
}

void tree_free(struct tree *tree)
{
    vector_free(&tree->nodes);
    vector_free(&tree->counts);
    vector_free(&tree->frames);
    vector_free(&tree->values);
    table_free(&tree->children);
}

static uint64_t child_key(uint32_t parent, uint32_t region)
{
    return (uint64_t)parent << 32 | region;
}

/* The node of `region` begun at `parent`: its number, or -ENOMEM. */
static int64_t find_child(struct tree *tree, uint32_t parent, uint32_t region)
{
    uint32_t found = table_get(&tree->children, child_key(parent, region));

    if (found != TABLE_NONE)
        return found;
    int64_t node = parent;
    while (node != 0 && tree->nodes.items[node].region != region)
        node = tree->nodes.items[node].parent;
    bool fresh = node == 0;
    if (fresh)
        node = add_node(tree, parent, region, tree->nodes.items[parent].depth + 1);
    if (node >= 0 && table_put(&tree->children, child_key(parent, region), (uint32_t)node) < 0) {
        if (fresh) {
            tree->nodes.n--;
            tree->counts.n -= 2 * (size_t)tree->n_events;
        }
        return -ENOMEM;
    }
    return node;
}

static uint32_t current(const struct tree *tree)
{
    return tree->frames.n ? tree->frames.items[tree->frames.n - 1] : 0;
}

static int miss(struct tree *tree)
{
    tree->missed++;
    tree->dropped++;
    return -ENOMEM;
}

int tree_begin(struct tree *tree, uint32_t region, struct rk_value **ret_values)
{
    size_t n = tree->n_events;

    if (tree->missed)
        return miss(tree);
    int64_t node = find_child(tree, current(tree), region);
    if (node < 0 || vector_reserve(&tree->values, 2 * n) < 0 || vector_reserve(&tree->frames, 1) < 0)
        return miss(tree);
    tree->frames.items[tree->frames.n++] = (uint32_t)node;
    struct rk_value *start = tree->values.items + tree->values.n, *inside = start + n;
    tree->values.n += 2 * n;
    for (size_t i = 0; i < n; i++)
        start[i] = inside[i] =
            (struct rk_value){0}; /* `start` too: its thread may be cancelled while it is read */
    tree->nodes.items[node].calls++;
    tree->nodes.items[node].open++;
    *ret_values = start;
    return 0;
}

static inline void add(struct rk_value *to, const struct rk_value *v)
{
    to->value += v->value;
    to->enabled += v->enabled;
    to->running += v->running;
}

static inline struct rk_value less(const struct rk_value *a, const struct rk_value *b)
{
    return (struct rk_value){a->value - b->value, a->enabled - b->enabled, a->running - b->running};
}

/* Ends the innermost frame. */
static void pop(struct tree *tree, const struct rk_value *now)
{
    size_t n = tree->n_events, at = --tree->frames.n;
    uint32_t number = tree->frames.items[at];
    struct tree_node *node = &tree->nodes.items[number];
    struct rk_value *inclusive = &tree->counts.items[2 * (size_t)number * n], *self = inclusive + n;
    const struct rk_value *start = &tree->values.items[2 * at * n], *inside = start + n;
    struct rk_value *around = at ? &tree->values.items[2 * (at - 1) * n + n] : NULL;
    struct rk_value *there = tree->counts.items;
    bool outermost = --node->open == 0;

    for (size_t i = 0; i < n; i++) {
        if (!now[i].enabled && !start[i].enabled) { /* the thread does not have it */
            there[n + i].value++;
            continue;
        }
        if (!now[i].enabled || !start[i].enabled || now[i].enabled < start[i].enabled ||
            now[i].running < start[i].running) {
            tree->unread++;
            continue;
        }
        there[i].value++;
        struct rk_value all = less(&now[i], &start[i]), own = less(&all, &inside[i]);
        if (outermost)
            add(&inclusive[i], &all);
        add(&self[i], &own);
        if (around)
            add(&around[i], &all);
    }
    tree->values.n = 2 * at * n;
}

int tree_end(struct tree *tree, uint32_t region, const struct rk_value *now)
{
    if (tree->missed) {
        tree->missed--;
        return 0;
    }
    size_t at = tree->frames.n;
    while (at > 0 && tree->nodes.items[tree->frames.items[at - 1]].region != region)
        at--;
    if (at == 0) {
        tree->unmatched++;
        return -EINVAL;
    }
    while (tree->frames.n > at) {
        tree->nodes.items[current(tree)].unended++;
        pop(tree, now);
    }
    pop(tree, now);
    return 0;
}

void tree_end_all(struct tree *tree, const struct rk_value *now)
{
    tree->missed = 0;
    while (tree->frames.n > 0) {
        tree->nodes.items[current(tree)].unended++;
        pop(tree, now);
    }
}

int tree_add(struct tree *to, const struct tree *from)
{
    uint32_t *same = calloc(from->nodes.n, sizeof *same); /* of each node of `from`, the one in `to` */

    if (!same)
        return -ENOMEM;
    for (size_t k = 0; k < 2 * (size_t)to->n_events; k++)
        add(&to->counts.items[k], &from->counts.items[k]);
    for (size_t i = 1; i < from->nodes.n; i++) {
        const struct tree_node *node = &from->nodes.items[i];
        int64_t at = find_child(to, same[node->parent], node->region);
        if (at < 0) {
            free(same);
            return -ENOMEM;
        }
        same[i] = (uint32_t)at;
        to->nodes.items[at].calls += node->calls;
        to->nodes.items[at].unended += node->unended;
        struct rk_value *sum = &to->counts.items[2 * (size_t)at * to->n_events];
        for (size_t k = 0; k < 2 * (size_t)to->n_events; k++)
            add(&sum[k], &tree_counts(from, (uint32_t)i)[k]);
    }
    free(same);
    to->dropped += from->dropped;
    to->unmatched += from->unmatched;
    to->unread += from->unread;
    return 0;
}

int tree_copy(const struct tree *from, struct tree *ret)
{
    struct tree copy;

    if (tree_init(&copy, from->n_events) < 0 || tree_add(&copy, from) < 0 ||
        vector_reserve(&copy.frames, from->frames.n) < 0 ||
        vector_reserve(&copy.values, from->values.n) < 0) {
        tree_free(&copy);
        return -ENOMEM;
    }
    /* Nodes are added in their order, so that they have the same numbers. */
    for (size_t i = 0; i < from->nodes.n; i++)
        copy.nodes.items[i].open = from->nodes.items[i].open;
    if (from->frames.n)
        memcpy(copy.frames.items, from->frames.items, from->frames.n * sizeof *from->frames.items);
    if (from->values.n)
        memcpy(copy.values.items, from->values.items, from->values.n * sizeof *from->values.items);
    copy.frames.n = from->frames.n;
    copy.values.n = from->values.n;
    copy.missed = from->missed;
    *ret = copy;
    return 0;
}

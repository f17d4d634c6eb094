/*
 * A profile's frames are lines of functions; a flame graph's boxes are functions. So lines of one function become one, and
 * nodes that then have the same path become one node; these are numbered in preorder, the heaviest children first.
 */
#include "base/cleanup.h"
#include "base/table.h"
#include "export/page.h"

#include <errno.h>
#include <stdlib.h>

#define NONE UINT32_MAX

void page_tree_free(struct page_tree *tree)
{
    free(tree->function_of);
    free(tree->frames);
    free(tree->first);
    free(tree->self);
    free(tree->place);
    free(tree->up);
    free(tree->function);
    *tree = (struct page_tree){0};
}

/* Functions in the order of their first frames; frame_function names the first one of each. */
static int number_functions(const struct rk_profile_columns *c, struct page_tree *t)
{
    t->function_of = malloc((c->frame_n + 1) * sizeof *t->function_of);
    t->first = calloc(c->frame_n + 2, sizeof *t->first);
    t->frames = malloc((c->frame_n + 1) * sizeof *t->frames);
    t->self = calloc(c->frame_n + 1, sizeof *t->self);
    if (!t->function_of || !t->first || !t->frames || !t->self)
        return -ENOMEM;
    for (size_t i = 0; i < c->sample_n; i++)
        if (c->sample_node[i] != RK_NO_NODE)
            t->self[c->node_frame[c->sample_node[i]]] += c->sample_count[i];
    for (size_t f = 0; f < c->frame_n; f++)
        t->function_of[f] =
            c->frame_function[f] == f ? (uint32_t)t->function_n++ : t->function_of[c->frame_function[f]];
    return 0;
}

struct order {
    uint64_t self;
    uint32_t function, frame;
};

static int by_function(const void *left, const void *right)
{
    const struct order *a = left, *b = right;

    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    if (a->self != b->self)
        return a->self > b->self ? -1 : 1;
    return (a->frame > b->frame) - (a->frame < b->frame);
}

static int sort_frames(const struct rk_profile_columns *c, struct page_tree *t)
{
    _cleanup_free_ struct order *order = calloc(c->frame_n + 1, sizeof *order);

    if (!order)
        return -ENOMEM;
    for (size_t f = 0; f < c->frame_n; f++)
        order[f] = (struct order){t->self[f], t->function_of[f], (uint32_t)f};
    qsort(order, c->frame_n, sizeof *order, by_function);
    for (size_t i = 0; i < c->frame_n; i++) {
        t->frames[i] = order[i].frame;
        t->first[order[i].function + 1] = (uint32_t)i + 1;
    }
    return 0;
}

/* Nodes of functions, before they have their places: those of the profile that have one path, as one. */
struct nodes {
    size_t n;
    uint32_t *of;                         /* by node of the profile */
    uint32_t *parent, *function, *sorted; /* by node here */
    uint64_t *total;
};

static void nodes_free(struct nodes *nodes)
{
    free(nodes->of);
    free(nodes->parent);
    free(nodes->function);
    free(nodes->sorted);
    free(nodes->total);
}

static int make_nodes(const struct rk_profile_columns *c, const struct page_tree *t, struct nodes *m)
{
    struct table table = {0};
    size_t room = c->node_n + 1;
    int rc = 0;

    m->of = calloc(room, sizeof *m->of);
    m->parent = malloc(room * sizeof *m->parent);
    m->function = malloc(room * sizeof *m->function);
    m->sorted = malloc(room * sizeof *m->sorted);
    m->total = calloc(room, sizeof *m->total);
    if (!m->of || !m->parent || !m->function || !m->sorted || !m->total)
        return -ENOMEM;
    for (size_t i = 0; i < c->node_n && rc == 0; i++) {
        uint32_t parent = c->node_parent[i] == RK_NO_NODE ? NONE : m->of[c->node_parent[i]];
        uint32_t function = t->function_of[c->node_frame[i]];
        uint64_t key = (uint64_t)parent << 32 | function;
        m->of[i] = table_get(&table, key);
        if (m->of[i] != TABLE_NONE)
            continue;
        m->of[i] = (uint32_t)m->n;
        m->parent[m->n] = parent;
        m->function[m->n] = function;
        rc = table_put(&table, key, (uint32_t)m->n++);
    }
    table_free(&table);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < c->sample_n; i++)
        if (c->sample_node[i] != RK_NO_NODE)
            m->total[m->of[c->sample_node[i]]] += c->sample_count[i];
    for (size_t i = m->n; i-- > 0;)
        if (m->parent[i] != NONE)
            m->total[m->parent[i]] += m->total[i];
    return 0;
}

struct child {
    uint64_t total;
    uint32_t parent, node;
};

/* By parent, the heaviest last: the walk takes them from a stack. */
static int by_parent(const void *left, const void *right)
{
    const struct child *a = left, *b = right;

    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    if (a->total != b->total)
        return a->total < b->total ? -1 : 1;
    return (a->node < b->node) - (a->node > b->node);
}

/* Children of each node lie together in `children`; first[p + 1] is where p's begin, first[0] where the outermost do. */
static int sort_children(const struct nodes *m, struct child *children, uint32_t *first)
{
    for (size_t i = 0; i < m->n; i++) /* an outermost node's parent is NONE, which sorts first as 0 */
        children[i] = (struct child){m->total[i], m->parent[i] + 1, (uint32_t)i};
    qsort(children, m->n, sizeof *children, by_parent);
    for (size_t i = 0, p = 0; p <= m->n + 1; p++) {
        while (i < m->n && children[i].parent < p)
            i++;
        first[p] = (uint32_t)i;
    }
    return 0;
}

/* Preorder, without recursion: a stack holds what is still to come. */
static int walk(const struct nodes *m, struct page_tree *t, uint32_t *place)
{
    _cleanup_free_ struct child *children = calloc(m->n + 1, sizeof *children);
    _cleanup_free_ uint32_t *first = calloc(m->n + 2, sizeof *first);
    _cleanup_free_ uint32_t *depth = calloc(m->n + 1, sizeof *depth);
    uint32_t *stack = m->sorted;
    size_t waiting = 0;
    uint32_t before = 0; /* depth of the node before, counted from 1 */

    if (!children || !first || !depth)
        return -ENOMEM;
    sort_children(m, children, first);
    for (uint32_t i = first[0]; i < first[1]; i++)
        stack[waiting++] = children[i].node;
    while (waiting > 0) {
        uint32_t node = stack[--waiting];
        depth[node] = m->parent[node] == NONE ? 1 : depth[m->parent[node]] + 1;
        place[node] = (uint32_t)t->node_n;
        t->up[t->node_n] = before + 1 - depth[node];
        t->function[t->node_n++] = m->function[node];
        before = depth[node];
        for (uint32_t i = first[node + 1]; i < first[node + 2]; i++)
            stack[waiting++] = children[i].node;
    }
    return 0;
}

static int place_nodes(const struct rk_profile_columns *c, struct page_tree *t, struct nodes *m)
{
    int rc = make_nodes(c, t, m);

    if (rc < 0)
        return rc;
    _cleanup_free_ uint32_t *place = calloc(m->n + 1, sizeof *place);
    t->up = malloc((m->n + 1) * sizeof *t->up);
    t->function = malloc((m->n + 1) * sizeof *t->function);
    t->place = malloc((c->node_n + 1) * sizeof *t->place);
    if (!place || !t->up || !t->function || !t->place)
        return -ENOMEM;
    rc = walk(m, t, place);
    for (size_t i = 0; i < c->node_n && rc == 0; i++)
        t->place[i] = place[m->of[i]];
    return rc;
}

int page_tree_make(const struct rk_profile_columns *c, struct page_tree *ret)
{
    struct page_tree t = {0};
    struct nodes m = {0};
    int rc = number_functions(c, &t);

    if (rc == 0)
        rc = sort_frames(c, &t);
    if (rc == 0)
        rc = place_nodes(c, &t, &m);
    nodes_free(&m);
    if (rc < 0)
        page_tree_free(&t);
    else
        *ret = t;
    return rc;
}

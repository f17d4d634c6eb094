/*
 * Stacks as a tree: a node's share of all, its function; those that it calls below it, heaviest first. A function that
 * calls but one of those that are shown stands at the same depth as that one, so that long chains stay narrow.
 */
#include "report.h"

#include "command.h"
#include "print.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MOST 60 /* columns of indentation */

struct tree {
    struct rk_profile_columns c;
    uint64_t *weight;       /* by node, with all inside of it */
    uint32_t *first, *next; /* by node: those inside of it, heaviest first */
    uint32_t top;           /* the first of the outermost */
    uint64_t all, limit;
};

struct child {
    uint32_t parent, node;
    uint64_t weight;
};

static int compare(const void *left, const void *right)
{
    const struct child *a = left, *b = right;

    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

static bool build(struct tree *t)
{
    size_t n = t->c.node_n;
    struct child *children = calloc(n + 1, sizeof *children);

    t->weight = calloc(n + 1, sizeof *t->weight);
    t->first = malloc((n + 1) * sizeof *t->first);
    t->next = malloc((n + 1) * sizeof *t->next);
    if (!children || !t->weight || !t->first || !t->next) {
        free(children);
        return false;
    }
    memset(t->first, 0xff, (n + 1) * sizeof *t->first);
    memset(t->next, 0xff, (n + 1) * sizeof *t->next);
    for (size_t i = 0; i < t->c.sample_n; i++)
        t->weight[t->c.sample_node[i]] += t->c.sample_weight[i];
    for (size_t i = n; i-- > 0;)
        if (t->c.node_parent[i] != RK_NO_NODE)
            t->weight[t->c.node_parent[i]] += t->weight[i];
    for (size_t i = 0; i < n; i++)
        children[i] = (struct child){t->c.node_parent[i], (uint32_t)i, t->weight[i]};
    qsort(children, n, sizeof *children, compare);
    t->top = RK_NO_NODE;
    for (size_t i = n; i-- > 0;) {
        uint32_t *list = children[i].parent == RK_NO_NODE ? &t->top : &t->first[children[i].parent];
        t->next[children[i].node] = *list;
        *list = children[i].node;
    }
    free(children);
    return true;
}

/* The next of these that is heavy enough to be shown. */
static uint32_t heavy(const struct tree *t, uint32_t node)
{
    while (node != RK_NO_NODE && (t->weight[node] < t->limit || t->weight[node] == 0))
        node = t->next[node];
    return node;
}

static void print_node(const struct tree *t, uint32_t node, size_t depth, const struct report *how)
{
    const struct rk_profile_columns *c = &t->c;
    struct colours colours = print_colours(stdout);
    uint32_t frame = c->node_frame[node];
    size_t indent = depth < DEPTH_MOST ? depth : DEPTH_MOST;
    size_t room = how->width == SIZE_MAX ? SIZE_MAX : how->width > indent + 16 ? how->width - indent - 8 : 8;
    char name[1024], module[256];
    size_t columns = print_columns(report_name(c->text[c->frame_symbol[frame]], room, name, sizeof name));

    printf("%6.2f  %*s%s%s%s", t->all ? 100.0 * (double)t->weight[node] / (double)t->all : 0, (int)indent, "",
           colours.strong, name, colours.plain);
    if (c->frame_module[frame] && (room == SIZE_MAX || columns + 8 < room))
        printf("%s, %s%s", colours.faint,
               report_name(c->text[c->frame_module[frame]], room == SIZE_MAX ? SIZE_MAX : room - columns - 2,
                           module, sizeof module),
               colours.plain);
    putchar('\n');
}

/* Down and right through the tree; `depth` by node, which only grows where there is a choice. */
static bool print_tree(const struct tree *t, const struct report *how, uint64_t *ret_hidden)
{
    uint16_t *depth = calloc(t->c.node_n + 1, sizeof *depth);
    uint64_t shown = 0;

    if (!depth)
        return false;
    for (uint32_t at = heavy(t, t->top); at != RK_NO_NODE;) {
        if (!how->lines || shown < how->lines)
            print_node(t, at, depth[at], how);
        shown++;
        uint32_t inner = heavy(t, t->first[at]);
        if (inner != RK_NO_NODE) {
            bool choice = heavy(t, t->next[inner]) != RK_NO_NODE;
            for (uint32_t i = t->first[at]; i != RK_NO_NODE; i = t->next[i])
                depth[i] = (uint16_t)(depth[at] + (choice && depth[at] < UINT16_MAX - 2 ? 2 : 0));
            at = inner;
            continue;
        }
        uint32_t next = heavy(t, t->next[at]);
        while (next == RK_NO_NODE && t->c.node_parent[at] != RK_NO_NODE) {
            at = t->c.node_parent[at];
            next = heavy(t, t->next[at]);
        }
        at = next;
    }
    free(depth);
    *ret_hidden = how->lines && shown > how->lines ? shown - how->lines : 0;
    return true;
}

int report_tree(const struct rk_profile *profile, const struct report *how)
{
    struct rk_profile_filter filter = {.size = sizeof filter,
                                       .flags = RK_SELECT_NO_TIMES |
                                                (how->per == RK_PER_LINE ? 0 : RK_SELECT_NO_LINES) |
                                                (how->reverse ? RK_SELECT_REVERSE : 0)};
    struct rk_profile_summary s = {.size = sizeof s};
    struct rk_error e = {.size = sizeof e};
    struct rk_profile *flat = NULL;
    struct tree t = {.c.size = sizeof t.c};
    uint64_t hidden = 0;

    if (rk_profile_select(profile, &filter, &flat, &e) < 0)
        return print_error("report", &e);
    rk_profile_columns(flat, &t.c);
    rk_profile_summary(flat, &s);
    t.all = s.weight;
    t.limit = (uint64_t)(how->percent_limit / 100 * (double)s.weight);
    printf("\n");
    bool good = build(&t) && print_tree(&t, how, &hidden);
    if (!good)
        fprintf(stderr, "reckon report: out of memory\n");
    if (hidden)
        printf("        … %ju more: --lines 0\n", (uintmax_t)hidden);
    free(t.weight);
    free(t.first);
    free(t.next);
    rk_profile_free(flat);
    return good ? 0 : STATUS_FAILED;
}

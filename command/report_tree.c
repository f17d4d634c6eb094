/*
 * Stacks as a tree: a node's share of all, its own time, its function; those that it calls below it, heaviest first. Where a
 * function calls several of those that are shown, lines branch off to them. A function that is the only one called by the
 * row above stands right below it, without a branch, so that long chains stay narrow:
 *
 *     100.00  main
 *      58.62  ├─parse
 *      58.62  │ read_all
 *      31.03  │ ├─next_token
 *      27.59  │ └─hash
 *      41.38  └─sort
 */
#include "report.h"

#include "command.h"
#include "print.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MOST 30 /* branches that are drawn, of two columns each */

struct tree {
    struct rk_profile_columns c;
    uint64_t *weight;       /* by node, with all inside of it */
    uint32_t *first, *next; /* by node: those inside of it, heaviest first */
    uint32_t top;           /* the first of the outermost */
    uint64_t all, limit;
    const char *unit; /* of weights */
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

/* How deep a node's branch is: 0 has none. A node that is alone below its parent has that one's. */
struct place {
    uint16_t depth;
    bool alone;
};

/* Which lines go on below, by depth. */
struct lines {
    bool more[DEPTH_MOST + 1];
};

static size_t print_lines(struct lines *lines, struct place place, bool is_last)
{
    size_t depth = place.depth < DEPTH_MOST ? place.depth : DEPTH_MOST;

    for (size_t i = 1; i < depth; i++)
        fputs(lines->more[i] ? print_symbol("│ ", "| ") : "  ", stdout);
    if (depth && place.alone)
        fputs(lines->more[depth] ? print_symbol("│ ", "| ") : "  ", stdout);
    else if (depth)
        fputs(is_last ? print_symbol("└─", "`-") : print_symbol("├─", "|-"), stdout);
    if (!place.alone)
        lines->more[depth] = !is_last;
    return 2 * depth;
}

static void print_node(const struct tree *t, uint32_t node, struct place place, struct lines *lines,
                       const struct report *how)
{
    const struct rk_profile_columns *c = &t->c;
    struct colours colours = print_colours(stdout);
    uint32_t frame = c->node_frame[node];
    char name[1024], rest[600], text[64];
    bool is_last = heavy(t, t->next[node]) == RK_NO_NODE;

    printf("%6.2f", t->all ? 100.0 * (double)t->weight[node] / (double)t->all : 0);
    print_amount(t->weight[node], t->unit, text, sizeof text);
    if (how->width >= 60)
        printf("%*s%s", print_columns(text) < 11 ? (int)(11 - print_columns(text)) : 1, "", text);
    printf("  %s", colours.faint);
    size_t used = print_lines(lines, place, is_last) + (how->width >= 60 ? 19 : 8);
    report_row_name(c->text[c->frame_symbol[frame]], c->text[c->frame_module[frame]], false,
                    how->width == SIZE_MAX  ? SIZE_MAX
                    : how->width > used + 8 ? how->width - used
                                            : 8,
                    name, sizeof name, rest, sizeof rest);
    printf("%s%s%s%s%s%s%s\n", colours.plain, colours.strong, name, colours.plain, colours.faint, rest,
           colours.plain);
}

/* Down and right through the tree. */
static bool print_tree(const struct tree *t, const struct report *how, uint64_t *ret_hidden)
{
    struct place *places = calloc(t->c.node_n + 1, sizeof *places);
    struct lines lines = {{false}};
    uint64_t shown = 0;

    if (!places)
        return false;
    uint32_t top = heavy(t, t->top);
    bool several = top != RK_NO_NODE && heavy(t, t->next[top]) != RK_NO_NODE;
    for (uint32_t i = top; i != RK_NO_NODE; i = t->next[i])
        places[i] = (struct place){several, !several};
    for (uint32_t at = top; at != RK_NO_NODE;) {
        if (!how->lines || shown < how->lines)
            print_node(t, at, places[at], &lines, how);
        shown++;
        uint32_t inner = heavy(t, t->first[at]);
        if (inner != RK_NO_NODE) {
            bool choice = heavy(t, t->next[inner]) != RK_NO_NODE;
            uint16_t depth = (uint16_t)(places[at].depth + (choice && places[at].depth < UINT16_MAX));
            for (uint32_t i = t->first[at]; i != RK_NO_NODE; i = t->next[i])
                places[i] = (struct place){depth, !choice};
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
    free(places);
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
    t.unit = s.unit;
    t.limit = (uint64_t)(how->percent_limit / 100 * (double)s.weight);
    struct colours c = print_colours(stdout);
    if (t.c.node_n)
        printf("\n%s total%s  %s%s\n", c.faint,
               how->width < 60             ? ""
               : strcmp(s.unit, "ns") == 0 ? "       time"
                                           : "     weight",
               how->reverse ? "function, module; below it, what calls it: several on branches"
                            : "function, module; below it, what it calls: several on branches",
               c.plain);
    bool good = build(&t) && print_tree(&t, how, &hidden);
    if (!good)
        fprintf(stderr, "reckon report: out of memory\n");
    if (hidden)
        printf("%s      %s %ju more: %s --lines 0%s\n", c.faint, print_ellipsis(), (uintmax_t)hidden,
               how->again, c.plain);
    free(t.weight);
    free(t.first);
    free(t.next);
    rk_profile_free(flat);
    return good ? 0 : STATUS_FAILED;
}

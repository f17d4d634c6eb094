/*
 * The tree of functions, and what each function has of its own and with all it calls.
 */
#include "base/cleanup.h"
#include "profile/finish.h"

#include <errno.h>

int finish_fold(struct finish *f)
{
    const struct rk_profile_builder *b = f->builder;
    struct rk_profile *p = f->profile;
    _cleanup_free_ uint32_t *node_of = zeroed(b->nodes.items.n, sizeof *node_of);
    struct pairs merged = {0};
    int rc = 0;

    if (!node_of)
        return -ENOMEM;
    for (size_t i = 0; i < b->nodes.items.n; i++) {
        struct pair node = b->nodes.items.items[i];
        uint32_t outer = node.a == PAIRS_NONE ? PAIRS_NONE : node_of[node.a];
        const struct frame_functions *functions = &f->functions_of[node.b];
        for (uint32_t k = 0; k < functions->n; k++) {
            int64_t folded = pairs_add(&f->tree, outer, f->inlines.items[functions->first + k]);
            if (folded < 0)
                return (int)folded;
            outer = (uint32_t)folded;
        }
        node_of[i] = outer;
    }
    for (size_t i = 0; i < b->samples.items.n && rc >= 0; i++) {
        struct pair sample = b->samples.items.items[i];
        int64_t number = pairs_add(&merged, node_of[sample.a], sample.b);
        if (number >= 0 && (size_t)number == p->stacks.n && !vector_push(&p->stacks))
            number = -ENOMEM;
        if (number < 0) {
            rc = (int)number;
            break;
        }
        struct stack *stack = &p->stacks.items[number];
        stack->first = node_of[sample.a];
        stack->owner = sample.b;
        stack->weight += b->amounts.items[i].weight;
        stack->samples += b->amounts.items[i].samples;
    }
    pairs_free(&merged);
    return rc;
}

/* Enters every node once, outer before inner, and leaves it after all below it. */
static int walk(struct finish *f)
{
    const struct pair *nodes = f->tree.items.items;
    size_t n = f->tree.items.n;
    _cleanup_free_ uint32_t *inner = zeroed(n, sizeof *inner), *next = zeroed(n, sizeof *next);
    _cleanup_free_ uint32_t *active = zeroed(f->profile->functions.n, sizeof *active);
    uint32_t first = PAIRS_NONE;

    if (!inner || !next || !active)
        return -ENOMEM;
    memset(inner, 0xff, n * sizeof *inner);
    for (size_t i = n; i-- > 0;) { /* the outer one of a node has a lower number: sums are ready when used */
        uint32_t outer = nodes[i].a, *list = outer == PAIRS_NONE ? &first : &inner[outer];
        next[i] = *list;
        *list = (uint32_t)i;
        if (outer != PAIRS_NONE) {
            f->amounts[outer].weight += f->amounts[i].weight;
            f->amounts[outer].samples += f->amounts[i].samples;
        }
    }
    for (uint32_t at = first; at != PAIRS_NONE;) {
        struct function *function = &f->profile->functions.items[nodes[at].b];
        if (active[nodes[at].b]++ == 0) {
            function->total += f->amounts[at].weight;
            function->total_samples += f->amounts[at].samples;
        }
        if (inner[at] != PAIRS_NONE) {
            at = inner[at];
            continue;
        }
        active[nodes[at].b]--;
        while (next[at] == PAIRS_NONE && nodes[at].a != PAIRS_NONE) {
            at = nodes[at].a;
            active[nodes[at].b]--;
        }
        at = next[at];
    }
    return 0;
}

int finish_total(struct finish *f)
{
    struct rk_profile *p = f->profile;

    f->amounts = zeroed(f->tree.items.n, sizeof *f->amounts);
    if (!f->amounts)
        return -ENOMEM;
    for (size_t i = 0; i < p->stacks.n; i++) {
        const struct stack *stack = &p->stacks.items[i];
        struct function *function = &p->functions.items[f->tree.items.items[stack->first].b];
        function->self += stack->weight;
        function->self_samples += stack->samples;
        f->amounts[stack->first].weight += stack->weight;
        f->amounts[stack->first].samples += stack->samples;
        if (function->miss)
            p->summary.unnamed += stack->samples;
    }
    return walk(f);
}

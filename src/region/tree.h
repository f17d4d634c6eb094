/*
 * What one thread's regions counted: a tree of paths, and the stack of what is open.
 *
 *     nodes      0 is the root, which is no region; a node's parent comes before it
 *     counts     2 × n_events for each node: inclusive, then self. Of the root: in how many activations that have
 *                ended the event was there (its inclusive values), and in how many it was not (self)
 *     children   (node, region) → node. Where the region is open around that node already (recursion), the outer
 *                node: the tree is never deeper than there are regions.
 *     frames     the open regions, innermost last …
 *     values     … and 2 × n_events for each: the counters at its beginning, and what was counted in regions
 *                begun inside it
 *
 * Values are raw triples: their differences add up, and are scaled when they are shown.
 */
#ifndef REGION_TREE_H
#define REGION_TREE_H

#include "base/table.h"
#include "base/vector.h"

#include <reckon/set.h>
#include <stdbool.h>

struct tree_node {
    uint32_t parent, region, depth;
    uint32_t open; /* activations in the stack */
    /* How often it began, and how many of these did not end by themselves: at a jump, or the thread's or process's
     * end. */
    uint64_t calls, unended;
};

struct tree {
    uint32_t n_events;
    VECTOR(struct tree_node) nodes;
    VECTOR(struct rk_value) counts;
    struct table children;
    VECTOR(uint32_t) frames;
    VECTOR(struct rk_value) values;
    uint64_t missed;    /* begun while there was no memory: these ends are still to come */
    uint64_t dropped;   /* … and so many in all */
    uint64_t unmatched; /* ends of what was not open */
    uint64_t unread;    /* values lost since a counter could not be read at a beginning or an end */
};

/* An empty tree: 0 or -ENOMEM. */
int tree_init(struct tree *tree, uint32_t n_events);
void tree_free(struct tree *tree);

/* Begins `region`; the counters are to be written to *ret_values (n_events of them), as late as can be. One whose enabled
 * time is 0 was not read. 0, or -ENOMEM: not counted, though its end is expected. */
int tree_begin(struct tree *tree, uint32_t region, struct rk_value **ret_values);

/* Ends the innermost open `region` and what is open inside it, with the counters at `now`: 0, or -EINVAL. */
int tree_end(struct tree *tree, uint32_t region, const struct rk_value *now);

/* Ends all that is open, as not ended by itself. */
void tree_end_all(struct tree *tree, const struct rk_value *now);

/* Adds another tree's nodes and counts, not its stack: 0, or -ENOMEM with part of it added. */
int tree_add(struct tree *to, const struct tree *from);

/* A copy, its stack included: 0, or -ENOMEM and nothing in *ret. */
int tree_copy(const struct tree *from, struct tree *ret);

/* Whether any activation has a count of the event. */
static inline bool tree_has(const struct tree *tree, uint32_t event)
{
    return tree->counts.items[event].value > 0;
}

/* The counts of a node: n_events inclusive ones, behind which are the self ones. */
static inline const struct rk_value *tree_counts(const struct tree *tree, uint32_t node)
{
    return &tree->counts.items[2 * (size_t)node * tree->n_events];
}

#endif

/*
 * From what the builder collected to a profile, in this order:
 *
 *     name        frames → functions, module by module; a frame in inlined code is several, one inside the other
 *     fold        the tree of frames → the tree of functions, which is far smaller: two addresses in one
 *                 function are one path; samples follow
 *     total       self by leaf; totals by one walk through the tree, a function counted where it is
 *                 entered first
 *     sort        functions hottest first, and everything that points to them
 *     lay out     the paths, one array for each leaf of the tree; inner nodes are its beginnings
 */
#ifndef PROFILE_FINISH_H
#define PROFILE_FINISH_H

#include "profile/builder.h"
#include "profile/profile.h"

#include <reckon/symbol.h>

struct finish {
    const struct rk_profile_builder *builder;
    struct rk_profile *profile;
    struct rk_symbolizer *symbolizer;
    struct pairs names;     /* (symbol's text or ~miss, path's text) */
    struct pairs lines;     /* (file's text, line) */
    struct pairs functions; /* (name, line or PAIRS_NONE) → function */
    struct frame_functions {
        size_t first;
        uint32_t n;
    } * functions_of;         /* by frame: of `inlines`, one at least */
    VECTOR(uint32_t) inlines; /* functions, outermost first */
    struct pairs tree;        /* (outer node, function) */
    struct amount *amounts;   /* by node of tree: its own, then with all below it */
};

/* The steps in their own files. Each 0 or -errno; what it made so far is freed with the struct. */
int finish_name(struct finish *f);  /* needs symbolizer; makes functions, functions_of */
int finish_fold(struct finish *f);  /* needs functions_of; makes tree, and stacks with the node in `first` */
int finish_total(struct finish *f); /* needs tree; fills the functions' self and total */

/* calloc() of n items, never of none, so that NULL means what it says. */
static inline void *zeroed(size_t n, size_t size)
{
    return calloc(n ? n : 1, size);
}

#endif

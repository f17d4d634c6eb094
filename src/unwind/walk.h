/*
 * A walk up one stack: from inside, what sample.c begins and walk.c does.
 */
#ifndef UNWIND_WALK_H
#define UNWIND_WALK_H

#include "unwind/unwinder.h"

struct walk {
    struct rk_unwinder *unwinder;
    const struct rk_image *image;
    const struct space *space;
    struct stack stack;
    struct frame frame;
    bool full;
    uint32_t guessed;
    uint32_t end; /* enum rk_unwind_end */
    /* the mapping of the last address */
    uint64_t start, bytes; /* bytes 0: none */
    uint64_t offset;       /* in its module, at start */
    uint64_t key;          /* of the cache, at start; 0: too large for it */
    uint32_t module;
    struct tables *tables; /* NULL: not asked for yet */
};

/* All frames from w->frame on: their number or -errno; *ret_trouble says why it is not whole. With w->stack.reads every
 * word that is read is noted there. Hot. */
int walk_up(struct walk *w, const struct machine *machine, uint64_t *pcs, size_t max, int *ret_trouble);

/* Leaves the frame that runs, if by a rule that memo.h takes: whether it was, and by which. */
bool walk_leaf(struct walk *w, const struct machine *machine, struct rule *ret);

#endif

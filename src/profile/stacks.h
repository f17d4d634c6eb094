/*
 * Stacks, each once: sequence of 32-bit words (frames, outermost first) → a small number, and back. All are one prefix tree
 * whose nodes are runs, as long as the stacks through them are the same:
 *
 *     main a b c        run 0: main a        words:  main a | b c | d
 *     main a d          run 1: b c, in 0             run 0    1     2
 *                       run 2: d, in 0
 *
 * A stack that leaves a run, or ends, in its middle splits it: the outer part is a new run, the inner part keeps the
 * number, since stacks end there. So a stack's number holds for good, a word is stored once and never moves, and that of
 * an outer frame lies before those inside of it. Deep stacks take 4 bytes a frame, and what finds them goes with the number of
 * stacks, not of frames. A zeroed struct is empty.
 */
#ifndef PROFILE_STACKS_H
#define PROFILE_STACKS_H

#include "base/vector.h"

#include <stdint.h>

#define STACKS_NONE UINT32_MAX

struct stacks_words { /* a VECTOR */
    uint32_t *items;
    size_t n, room;
};

struct stacks_run {
    uint32_t outer;    /* run, STACKS_NONE: none */
    uint32_t word;     /* words[first], here too so that looking for it reads one line of the cache */
    uint32_t first, n; /* of words; one at least */
};

struct stacks_slot {
    uint32_t run, tag; /* number + 1, 0: free; the hash's other half, so that few runs are read in vain */
};

struct stacks {
    struct stacks_words words;
    VECTOR(struct stacks_run) runs; /* a stack is the run that it ends in */
    struct stacks_slot *slots;      /* by (outer, first word) */
    size_t room;
    uint32_t deepest; /* words of the longest stack */
};

/* The number of the stack of n words, one at least; -ENOMEM, or -EOVERFLOW beyond 2^32 - 1 words in all. */
int64_t stacks_add(struct stacks *stacks, const uint32_t *words, size_t n);

/* Appends a stack's words, outermost first: 0 or -ENOMEM. */
int stacks_path(const struct stacks *stacks, uint32_t stack, struct stacks_words *to);

/* The last word of a stack: its index in words. */
static inline uint32_t stacks_end(const struct stacks *stacks, uint32_t stack)
{
    return stacks->runs.items[stack].first + stacks->runs.items[stack].n - 1;
}

/* No more is added: what finds them goes, they stay. */
void stacks_settle(struct stacks *stacks);

void stacks_free(struct stacks *stacks);

#endif

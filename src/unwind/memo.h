/*
 * Stacks that were unwound before, whole, so that the like of them need not be again: a reader of rings asks where the
 * kernel put the sample, and copies no stack.
 *
 *     leaves   process, address that runs           → how that frame is left (rule.h)
 *     stacks   process, its caller's pc and sp      → the words that unwinding used from there on, its fp if that, frames
 *
 * What unwinding gives depends on the caller's three registers, the words that it reads and what is mapped. So where the
 * first are equal and each of the words has the value that it had, the frames are the same. What is mapped is followed by
 * who unwinds, in the order of time, behind the reader: from when the reader has seen a mapping, a fork or an exec until
 * the other has come to it nothing is answered, and then nothing of before is known.
 *
 * Only what is plain gets in: a first frame left by "sp or fp plus so much", all others by tables up to the outermost, of
 * up to MEMO_FRAMES, none of them guessed; and only when the same stack comes the second time.
 *
 * Two threads may use it: the reader finds, who unwinds keeps.
 */
#ifndef UNWIND_MEMO_H
#define UNWIND_MEMO_H

#include "unwind/rule.h"

#define MEMO_FRAMES 64u
#define MEMO_READS 128u

/* The words that an unwinding reads, in their order. A frame pointer that is read and never used says nothing: code that
 * has no use for one keeps data in its register. */
struct memo_reads {
    uint32_t n;
    uint32_t fp;    /* the read that the frame pointer is from, + 1; 0: it is the caller's own */
    bool fp_needed; /* … which was used */
    bool failed;    /* more than there is room for, or one that is not in the stack */
    bool needed[MEMO_READS];
    uint64_t address[MEMO_READS], value[MEMO_READS];
};

/* The last word read became the frame pointer; what the frame pointer is was used. */
static inline void memo_fp_read(struct memo_reads *reads)
{
    if (reads->n && !reads->failed)
        reads->needed[reads->n - 1] = false;
    reads->fp = reads->n;
}

static inline void memo_fp_used(struct memo_reads *reads)
{
    if (reads->fp)
        reads->needed[reads->fp - 1] = true;
    else
        reads->fp_needed = true;
}

/* Where the second frame of a stack is. */
struct memo_caller {
    int32_t pid;
    uint64_t pc, sp, fp;
};

struct memo;

/* NULL: out of memory. */
struct memo *memo_open(const struct machine *machine);
struct memo *memo_close(struct memo *memo);

/* The frames of the sample's stack, as rk_unwinder_sample() would give them: how many, 0: not known. Hot. */
size_t memo_find(struct memo *memo, const struct rk_sample *sample, uint64_t *pcs, size_t max);

/* What is mapped is going to change; it has changed. As many of the one as of the other. */
void memo_change_seen(struct memo *memo);
void memo_change_done(struct memo *memo);

/* Keeps how the sample's first frame, at `pc`, is left. Whether the rest of its stack should be kept too. */
bool memo_keep_leaf(struct memo *memo, uint64_t pc, struct rule rule, const struct memo_caller *caller,
                    const struct stack *stack);
/* Keeps the rest: frames from the caller on. */
void memo_keep_stack(struct memo *memo, const struct memo_caller *caller, const struct memo_reads *reads,
                     const uint64_t *pcs, size_t n);

/* Whether such a rule is plain enough. */
static inline bool memo_takes(struct rule rule)
{
    return (rule.kind == RULE_SP || rule.kind == RULE_FP) && !(rule.flags & ~RULE_FP_SAVED);
}

#endif

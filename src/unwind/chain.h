/*
 * A sample's whole call chain where its user part is not yet frames but registers and stack bytes.
 *
 *     kernel's words as they are | CONTEXT_USER | where it was | each caller, as it is to be looked up
 *
 * The user part is unwound. Where that ends too soon (the dump was cut, a module has neither table nor frame pointer) and
 * the kernel followed frame pointers too, what it found above the last frame that both agree on is appended. Addresses of
 * the user part are then all of one kind: ready to be looked up, never return addresses.
 */
#ifndef UNWIND_CHAIN_H
#define UNWIND_CHAIN_H

#include <reckon/unwind.h>

#include <stdbool.h>

struct memo;

/* How the stacks of a recording ended; what has no user stack (a kernel thread) is not counted. */
struct chain_tally {
    uint64_t whole, cut, broken;
    uint64_t joined; /* of these: longer by what the kernel found along frame pointers */
};

/* Whether there is something to unwind. */
static inline bool chain_has_stack(uint64_t present)
{
    const uint64_t both = RK_SAMPLE_REGS_USER | RK_SAMPLE_STACK_USER;

    return (present & both) == both;
}

/* The words of the chain, at most `max`, and one more in *tally. -errno as rk_unwinder_sample(). `misc` is the record's.
 * Hot. */
int chain_unwind(struct rk_unwinder *unwinder, const struct rk_image *image, const struct rk_sample *sample,
                 uint16_t misc, uint64_t *ret, size_t max, struct chain_tally *tally);

/* The same of a stack that was unwound before (memo.h), by any thread: how many words, 0: it was not. Hot. */
size_t chain_recall(struct memo *memo, const struct rk_sample *sample, uint64_t *ret, size_t max);

/* From now on stacks are kept, for chain_recall(). -ENOMEM: they are not. The memo is closed after the unwinder. */
int chain_remember(struct rk_unwinder *unwinder, struct memo **ret);

/* Where the stack of the last chain_unwind() ended: nothing above is a frame of that thread. 0: not known. */
uint64_t chain_top(const struct rk_unwinder *unwinder);

/* The kernel's number of the register that stacks are dumped from. */
uint32_t chain_stack_register(const struct rk_unwinder *unwinder);

#endif

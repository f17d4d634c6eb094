/*
 * The unwinder's insides: tables by the image's module numbers, the rules' cache.
 */
#ifndef UNWIND_UNWINDER_H
#define UNWIND_UNWINDER_H

#include "base/vector.h"
#include "unwind/memo.h"
#include "unwind/tables.h"

struct rk_unwinder {
    const struct machine *machine;
    struct rk_image *image; /* the first one seen: shared, only read */
    int root;
    struct budget budget; /* of all modules */
    struct rule_cache cache;
    VECTOR(struct tables *) modules; /* by number; NULL: not met yet */
    struct memo *memo;               /* NULL, or what keeps stacks; not ours */
    uint64_t top; /* where the last stack ended, if a table says that its outermost frame is that; else 0 */
};

/* A module's tables, read if it is new. 0 or -errno. */
int unwinder_tables(struct rk_unwinder *unwinder, const struct rk_image *image, uint32_t module,
                    struct tables **ret);

/* The rule for an offset in a module's file, by its tables. 0 or -errno. */
int unwinder_rule(struct rk_unwinder *unwinder, struct tables *tables, uint64_t offset, struct rule *ret);

/* Leaves a frame by its tables' row: as frame_leave(), or -errno. */
int unwinder_run(struct rk_unwinder *unwinder, struct tables *tables, uint64_t offset, uint64_t lookup,
                 struct frame *frame, const struct stack *stack, bool *ret_outermost);

#endif

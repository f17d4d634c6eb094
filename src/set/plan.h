/*
 * What opening will take, before anything is opened: slots, rings, descriptors.
 */
#ifndef SET_PLAN_H
#define SET_PLAN_H

#include "set/private.h"
#include "target/target.h"

struct plan {
    const struct rk_events *events; /* the caller's */
    struct set_slot *slots;         /* the plan's; free with plan_free() */
    uint32_t n_slots, n_rings, n_events, n_cgroups;
    uint64_t descriptors;
    uint32_t ring_bytes;
    uint32_t ring_wanted; /* … and what it would be without a limit on locked memory */
    int32_t mark;         /* births_mark() before the target's threads were listed */
    bool sampling, inherit, each_cpu;
    bool on_cpus;        /* … since the target is split by CPU … */
    const int32_t *cpus; /* … each of these; the target's or the host's */
    size_t n_cpus;
};

/* The slots of one more thread, as those of the others are, appended: 0 or -ENOMEM. */
int plan_add_thread(struct plan *plan, int32_t tid);

int plan_make(struct rk_host *host, const struct rk_events *events, const struct rk_target *target,
              const struct rk_set_options *options, struct plan *ret, struct rk_error *e);
void plan_free(struct plan *plan);

/*
 * Sees to it that `more` descriptors can be opened beside what is open now, raising the soft limit towards the
 * hard one as far as needed. `full`: the kernel has refused one, all that the limit allows are open (and what is open
 * can't be counted, since that takes one). 0; or -EMFILE, and *ret_needed and *ret_allowed say how many altogether.
 */
int plan_descriptors(bool full, uint64_t more, uint64_t *ret_needed, uint64_t *ret_allowed);

#endif

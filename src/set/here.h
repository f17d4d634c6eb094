/*
 * For how long a thread was on a CPU: sets whose threads are split by CPU (rk_target_on_cpus()).
 */
#ifndef SET_HERE_H
#define SET_HERE_H

#include "set/plan.h"

/* Before anything is opened: which CPUs, and room for a clock per slot of the plan. Returns 0 or -ENOMEM. */
int here_begin(struct rk_set *set, const struct plan *plan);

/* Room for the clocks of so many slots. Returns 0 or -ENOMEM. */
int here_room(struct rk_set *set, size_t slots);

/* Opens the slot's clock. Returns 0 or -errno. */
int here_open(struct rk_set *set, uint32_t slot);

/* Hot. Makes `enabled` of what the slot's events counted the time for which their thread was on the CPU. */
void here_read(struct rk_set *set, uint32_t slot, struct rk_value *ret);

#endif

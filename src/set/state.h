/*
 * What it means that an event did not run (enum rk_state).
 */
#ifndef SET_STATE_H
#define SET_STATE_H

#include "set/private.h"

/* The state of one event of a slot whose values were just read, and of which this event's did not run. */
uint32_t state_unrun(struct rk_set *set, uint32_t slot, uint32_t event, const struct rk_value *values);

/* The states of a slot's events. */
static inline void state_slot(struct rk_set *set, uint32_t slot, const struct rk_value *values, uint32_t *ret)
{
    for (uint32_t i = 0; i < set->n_events; i++)
        ret[i] = values[i].running ? RK_STATE_COUNTED : state_unrun(set, slot, i, values);
}

/* The state of a sum: of what is in it, the first of counted, starved, idle, disabled, absent. */
uint32_t state_join(uint32_t a, uint32_t b);

/* Joins a slot's states into a sum's. */
static inline void state_add(const struct rk_set *set, const uint32_t *slot, uint32_t *sum)
{
    for (uint32_t i = 0; i < set->n_events; i++)
        sum[i] = state_join(sum[i], slot[i]);
}

/* All slots are in the sums: what of them alone can be known. */
void state_sums(const struct rk_set *set, const struct rk_value *sums, uint32_t *states);

/* The state of a sum with a slot that could not be read. */
static inline uint32_t state_fault(uint32_t before, int32_t fault)
{
    return fault == SET_FAULT_EMPTY && before != RK_STATE_ABSENT ? RK_STATE_STARVED : RK_STATE_ABSENT;
}

#endif

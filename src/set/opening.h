/*
 * Opening a set's descriptors: the loop over slots, groups and events.
 */
#ifndef SET_OPENING_H
#define SET_OPENING_H

#include "set/plan.h"

/* Opens everything that the plan says into the set, whose events are copied and whose options are set; then what the
 * target got meanwhile, which is added to the plan, unless it stands still. On failure what was opened stays in the set,
 * for rk_set_free(). 0 or -errno with *e. */
int opening_run(struct rk_set *set, struct plan *plan, const struct rk_target *target, bool frozen,
                struct rk_error *e);

/* Opens the events of one slot, whose descriptors are closed, as those of the others were: 0, or -errno and none is
 * open. */
int opening_slot(struct rk_set *set, uint32_t slot);

/* Room for so many slots: 0 or -ENOMEM. */
int opening_room(struct rk_set *set, size_t slots);

/* Closes every descriptor of the set. */
void opening_undo(struct rk_set *set);

#endif

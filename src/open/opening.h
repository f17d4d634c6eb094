/*
 * Opening a set's descriptors: the loop over slots, groups and events.
 */
#ifndef OPEN_OPENING_H
#define OPEN_OPENING_H

#include "open/plan.h"

/* Opens everything that the plan says into the set, whose events are copied and whose options are set. On failure
 * what was opened stays in the set, for rk_set_close(). 0 or -errno with *e. */
int opening_run(struct rk_set *set, const struct plan *plan, enum target_kind kind, struct rk_error *e);

/* Closes every descriptor of the set. */
void opening_undo(struct rk_set *set);

#endif

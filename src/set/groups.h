/*
 * Which events are opened together.
 */
#ifndef SET_GROUPS_H
#define SET_GROUPS_H

#include "set/policy.h"
#include "set/private.h"

/* Groups of the events that are present; each event's leader. */
void groups_arrange(struct rk_set *set);

/* What an event is in its group, for the policy. */
struct policy_place groups_place(const struct rk_set *set, const struct set_group *group, uint32_t event,
                                 bool sampling);

/* All is open: what the hot calls would else have to find out each time. */
void groups_finish(struct rk_set *set);

#endif

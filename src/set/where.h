/*
 * On which CPUs a group can be opened.
 *
 * A hybrid's core PMUs have CPUs of their own (`cpus` in sysfs); an uncore PMU has one or a few, by which all of it is read
 * (`cpumask`): on the others it would be refused, or counted again. A group is open where each of its members can be;
 * a slot of any CPU, -1, has all.
 */
#ifndef SET_WHERE_H
#define SET_WHERE_H

#include "set/plan.h"
#include "set/private.h"

/* Whether the event is of one kind of core of a hybrid CPU. */
bool where_is_bound(struct rk_host *host, const struct rk_event *event);

bool where_is_group(const struct rk_set *set, const struct set_group *group, int32_t cpu);

/* Side-band records come from one event of each slot: of the first group that is open everywhere, else of those (a
 * hybrid's kinds of cores) that no earlier one covers. Whether it is this group. */
bool where_carries(const struct rk_set *set, const struct set_group *group);

/* None of the plan's CPUs is one that the event's PMU has: 0, or -ENODEV with *e. */
int where_refuse(struct rk_host *host, const struct rk_event *event, const struct plan *plan,
                 struct rk_error *e);

#endif

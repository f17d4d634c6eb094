#include "set/where.h"

#include "base/error.h"
#include "host/list.h"
#include "host/pmu.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool is_on(struct rk_host *host, const struct rk_event *event, int32_t cpu)
{
    const int32_t *cpus;
    size_t n;
    int rc;
    struct host_pmu *pmu = cpu >= 0 && *event->pmu ? host_pmu_find(host, event->pmu, &rc) : NULL;

    if (!pmu || host_pmu_cpus(host, pmu, &cpus, &n) < 0)
        return true; /* the kernel will say */
    for (size_t i = 0; i < n; i++)
        if (cpus[i] == cpu)
            return true;
    return false;
}

bool where_is_bound(struct rk_host *host, const struct rk_event *event)
{
    struct host_pmu *const *cores;
    int n = *event->pmu ? host_cores(host, &cores) : 0;

    for (int i = 0; n > 1 && i < n; i++)
        if (strcmp(cores[i]->name, event->pmu) == 0)
            return true;
    return false;
}

bool where_is_group(const struct rk_set *set, const struct set_group *group, int32_t cpu)
{
    for (uint32_t m = 0; m < group->n; m++)
        if (!is_on(set->host, &set->events[set->members[group->first + m]].event, cpu))
            return false;
    return true;
}

/* The CPUs that a group is bound to, by the first of its members that is: false, it is open everywhere. */
static bool is_bound(const struct rk_set *set, const struct set_group *group, const int32_t **ret,
                     size_t *ret_n)
{
    for (uint32_t m = 0; m < group->n; m++) {
        const char *name = set->events[set->members[group->first + m]].event.pmu;
        int rc;
        struct host_pmu *pmu = *name ? host_pmu_find(set->host, name, &rc) : NULL;
        if (pmu && host_pmu_cpus(set->host, pmu, ret, ret_n) == 0)
            return true;
    }
    return false;
}

static bool covers(const struct rk_set *set, const struct set_group *group, const int32_t *cpus, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!where_is_group(set, group, cpus[i]))
            return false;
    return true;
}

bool where_carries(const struct rk_set *set, const struct set_group *group)
{
    const int32_t *cpus, *others;
    size_t n, n_others;
    bool bound = is_bound(set, group, &cpus, &n);

    for (const struct set_group *at = set->groups; at < set->groups + set->n_groups; at++)
        if (at != group && !is_bound(set, at, &others, &n_others) && (bound || at < group))
            return false;
    for (const struct set_group *at = set->groups; bound && at < group; at++)
        if (covers(set, at, cpus, n))
            return false;
    return true;
}

/* It is on none of the plan's CPUs. */
static int refuse(struct rk_host *host, const struct rk_event *event, struct rk_error *e)
{
    char list[64], remedy[sizeof e->remedy];
    const int32_t *cpus = NULL;
    size_t n = 0;
    int rc = -ENOENT;

    struct host_pmu *pmu = host_pmu_find(host, event->pmu, &rc);
    if (!pmu || host_pmu_cpus(host, pmu, &cpus, &n) < 0)
        return 0;
    cpu_list_print(cpus, n, list, sizeof list);
    snprintf(remedy, sizeof remedy, "measure CPU %s, or all of them", list);
    fail(e, -ENODEV, RK_STAGE_OPEN, RK_CAUSE_NO_CPU, remedy, "%s: the PMU %s is counted on CPU %s alone",
         event->name, event->pmu, list);
    fail_event(e, event->name);
    return -ENODEV;
}

int where_refuse(struct rk_host *host, const struct rk_event *event, const struct plan *plan,
                 struct rk_error *e)
{
    for (uint32_t i = 0; i < plan->n_slots; i++)
        if (is_on(host, event, plan->slots[i].cpu))
            return 0;
    return refuse(host, event, e);
}

/*
 * Figures beside counts.
 *
 * Each is a quotient of two counts (set/ratio.h), or of a count and a time. What stands below the line is looked for
 * among the set's events: of the same group where there is one, since only those ran at the same time. What was not
 * counted, or is zero below the line, gives no figure.
 */
#include "base/abi.h"
#include "base/error.h"
#include "set/ratio.h"

#include <errno.h>
#include <math.h>
#include <reckon/metric.h>
#include <stdbool.h>

#define NS_PER_S 1e9

struct counts {
    const struct rk_set *set;
    const struct rk_value *values;
    size_t n;
    double wall_ns;
    struct rk_event of; /* the event that the figure stands beside */
    const struct rk_value *raw;
    double value; /* … scaled */
};

static int give(struct rk_metric *ret, double above, double below, struct ratio ratio)
{
    if (!(below > 0) || isnan(above))
        return 0;
    struct rk_metric metric = {.value = above / below * ratio.times, .name = ratio.name, .unit = ratio.unit};
    int rc = result_give(ret, &metric, sizeof metric);
    return rc < 0 ? rc : 1;
}

/* Over another event of the set: one of the same group, else the first. */
static int quotient(const struct counts *c, struct rk_metric *ret)
{
    const struct ratio *ratio = NULL;
    double below = NAN;

    for (size_t i = 0; i < c->n; i++) {
        struct rk_event event = {.size = sizeof event};
        const struct ratio *this = rk_set_event_get(c->set, i, &event) == 0 ? ratio_of(&c->of, &event) : NULL;
        double value = this ? rk_value_scale(&c->values[i], NULL, NULL) : NAN;
        if (isnan(value) || (ratio && event.group != c->of.group))
            continue;
        ratio = this;
        below = value;
        if (event.group == c->of.group)
            break;
    }
    return ratio ? give(ret, c->value, below, *ratio) : 0;
}

/* The count of a software event, or NaN. */
static double software_count(const struct counts *c, uint64_t config)
{
    for (size_t i = 0; i < c->n; i++) {
        struct rk_event event = {.size = sizeof event};
        double value = rk_value_scale(&c->values[i], NULL, NULL);
        if (rk_set_event_get(c->set, i, &event) == 0 && event.type == PERF_SOFTWARE &&
            event.config == config && !isnan(value))
            return value;
    }
    return NAN;
}

/* CPU time: of the task, or of the CPU where that was counted. */
static double cpu_ns(const struct counts *c)
{
    double ns = software_count(c, SW_TASK_CLOCK);

    return isnan(ns) ? software_count(c, SW_CPU_CLOCK) : ns;
}

/* The clocks run in every mode: cycles of user space over them are less than the frequency. They run on every kind of
 * core, too: the time on one kind is how long its counter ran. */
static int frequency(const struct counts *c, struct rk_metric *ret)
{
    bool user_only = (c->of.flags & (RK_EVENT_USER | RK_EVENT_KERNEL)) == RK_EVENT_USER;
    const struct ratio ghz = {1, "ghz", user_only ? "GHz, user cycles only" : "GHz"};
    double ns = cpu_ns(c);

    if (isnan(ns) || ratio_core(&c->of) == 0)
        return give(ret, c->value, ns, ghz);
    return give(ret, (double)c->raw->value, (double)c->raw->running, ghz);
}

static int software(const struct counts *c, struct rk_metric *ret)
{
    switch (c->of.config) {
    case SW_CPU_CLOCK:
    case SW_TASK_CLOCK:
        return give(ret, c->value, c->wall_ns, (struct ratio){1, "cpus", "CPUs utilised"});
    case SW_PAGE_FAULTS:
    case SW_PAGE_FAULTS_MIN:
    case SW_PAGE_FAULTS_MAJ:
    case SW_ALIGNMENT_FAULTS:
    case SW_EMULATION_FAULTS:
    case SW_CONTEXT_SWITCHES:
    case SW_CPU_MIGRATIONS:
    case SW_CGROUP_SWITCHES: {
        double task = software_count(c, SW_TASK_CLOCK);
        if (task > 0)
            return give(ret, c->value, task,
                        (struct ratio){NS_PER_S, "per_second", "per second of task-clock"});
        return give(ret, c->value, c->wall_ns,
                    (struct ratio){NS_PER_S, "per_second", "per second of wall time"});
    }
    default:
        return 0;
    }
}

int rk_metric_derive(const struct rk_set *set, const struct rk_value *values, size_t n, uint64_t wall_ns,
                     size_t event, struct rk_metric *ret)
{
    if (!set || !values || !ret)
        return -EINVAL;
    struct counts c = {
        .set = set, .values = values, .n = n, .wall_ns = (double)wall_ns, .of = {.size = sizeof c.of}};
    int rc = event < n ? rk_set_event_get(set, event, &c.of) : -ERANGE;

    if (rc < 0)
        return rc;
    c.raw = &values[event];
    c.value = rk_value_scale(c.raw, NULL, NULL);
    if (c.of.type == PERF_SOFTWARE)
        return software(&c, ret);
    if (c.of.type == PERF_HARDWARE && (uint32_t)c.of.config == HW_CYCLES)
        return frequency(&c, ret);
    return quotient(&c, ret);
}

/*
 * Figures beside counts.
 *
 * Each is a quotient of two counts, or of a count and a time. The denominator is looked for among the set's events:
 * the same event numbers, counted in the same modes (user, kernel), of the same group where there is one, since only
 * those ran at the same time. What was not counted, or is zero below the line, gives no figure.
 */
#include "base/abi.h"
#include "base/error.h"

#include <errno.h>
#include <math.h>
#include <reckon/metric.h>
#include <stdbool.h>

#define MODES (RK_EVENT_USER | RK_EVENT_KERNEL | RK_EVENT_HYPERVISOR | RK_EVENT_GUEST | RK_EVENT_HOST)
#define NS_PER_S 1e9

struct counts {
    const struct rk_set *set;
    const struct rk_value *values;
    size_t n;
    double wall_ns;
    struct rk_event of; /* the event that the figure stands beside */
    double value;
};

/* The part of config that names the event: hybrid CPUs have the PMU's type above it. */
static uint64_t number(const struct rk_event *event)
{
    return event->type == PERF_HARDWARE || event->type == PERF_HW_CACHE ? event->config & UINT32_MAX
                                                                        : event->config;
}

/* The scaled count of another event, or NaN. */
static double other(const struct counts *c, uint32_t type, uint64_t config, bool same_modes)
{
    double found = NAN;

    for (size_t i = 0; i < c->n; i++) {
        struct rk_event event = {.size = sizeof event};
        if (rk_set_event_get(c->set, i, &event) < 0 || event.type != type || number(&event) != config ||
            (same_modes && (event.flags & MODES) != (c->of.flags & MODES)))
            continue;
        double value = rk_value_scale(&c->values[i], NULL, NULL);
        if (isnan(value))
            continue;
        if (event.group == c->of.group)
            return value;
        if (isnan(found))
            found = value;
    }
    return found;
}

static int give(struct rk_metric *ret, double above, double below, double times, const char *name,
                const char *unit)
{
    if (!(below > 0) || isnan(above))
        return 0;
    struct rk_metric metric = {.value = above / below * times, .name = name, .unit = unit};
    int rc = result_give(ret, &metric, sizeof metric);
    return rc < 0 ? rc : 1;
}

/* CPU time: of the task, or of the CPU where that was counted. */
static double cpu_ns(const struct counts *c)
{
    double ns = other(c, PERF_SOFTWARE, SW_TASK_CLOCK, false);

    return isnan(ns) ? other(c, PERF_SOFTWARE, SW_CPU_CLOCK, false) : ns;
}

static int hardware(const struct counts *c, struct rk_metric *ret)
{
    bool user_only = (c->of.flags & (RK_EVENT_USER | RK_EVENT_KERNEL)) == RK_EVENT_USER;

    switch (number(&c->of)) {
    case HW_INSTRUCTIONS:
        return give(ret, c->value, other(c, PERF_HARDWARE, HW_CYCLES, true), 1, "ipc",
                    "instructions per cycle");
    case HW_CYCLES:
        /* The clocks run in every mode: cycles of user space over them are less than the frequency. */
        return give(ret, c->value, cpu_ns(c), 1, "ghz", user_only ? "GHz, user cycles only" : "GHz");
    case HW_BRANCH_MISSES:
        return give(ret, c->value, other(c, PERF_HARDWARE, HW_BRANCHES, true), 100, "miss_percent",
                    "% of all branches");
    case HW_CACHE_MISSES:
        return give(ret, c->value, other(c, PERF_HARDWARE, HW_CACHE_REFERENCES, true), 100, "miss_percent",
                    "% of all cache references");
    default:
        return 0;
    }
}

/* config is cache | operation << 8 | result << 16; result 0 is access, 1 is miss. */
static int cache(const struct counts *c, struct rk_metric *ret)
{
    static const char *const units[][3] = {
        {"% of all L1-dcache loads", "% of all L1-dcache stores", "% of all L1-dcache prefetches"},
        {"% of all L1-icache loads", "% of all L1-icache stores", "% of all L1-icache prefetches"},
        {"% of all LLC loads", "% of all LLC stores", "% of all LLC prefetches"},
        {"% of all dTLB loads", "% of all dTLB stores", "% of all dTLB prefetches"},
        {"% of all iTLB loads", "% of all iTLB stores", "% of all iTLB prefetches"},
        {"% of all branch loads", "% of all branch stores", "% of all branch prefetches"},
        {"% of all node loads", "% of all node stores", "% of all node prefetches"},
    };
    uint64_t config = number(&c->of), level = config & 0xff, operation = config >> 8 & 0xff;

    if (config >> 16 != 1 || level >= sizeof units / sizeof *units || operation > 2)
        return 0;
    return give(ret, c->value, other(c, PERF_HW_CACHE, config & 0xffff, true), 100, "miss_percent",
                units[level][operation]);
}

static int software(const struct counts *c, struct rk_metric *ret)
{
    switch (number(&c->of)) {
    case SW_CPU_CLOCK:
    case SW_TASK_CLOCK:
        return give(ret, c->value, c->wall_ns, 1, "cpus", "CPUs utilised");
    case SW_PAGE_FAULTS:
    case SW_PAGE_FAULTS_MIN:
    case SW_PAGE_FAULTS_MAJ:
    case SW_ALIGNMENT_FAULTS:
    case SW_EMULATION_FAULTS:
    case SW_CONTEXT_SWITCHES:
    case SW_CPU_MIGRATIONS:
    case SW_CGROUP_SWITCHES: {
        double task = other(c, PERF_SOFTWARE, SW_TASK_CLOCK, false);
        if (task > 0)
            return give(ret, c->value, task, NS_PER_S, "per_second", "per second of task-clock");
        return give(ret, c->value, c->wall_ns, NS_PER_S, "per_second", "per second of wall time");
    }
    default:
        return 0;
    }
}

int rk_metric_derive(const struct rk_set *set, const struct rk_value *values, size_t n, uint64_t wall_ns,
                     size_t event, struct rk_metric *ret)
{
    if (!set || !values)
        return -EINVAL;
    struct counts c = {
        .set = set, .values = values, .n = n, .wall_ns = (double)wall_ns, .of = {.size = sizeof c.of}};
    int rc = event < n ? rk_set_event_get(set, event, &c.of) : -ERANGE;

    if (rc < 0)
        return rc;
    c.value = rk_value_scale(&values[event], NULL, NULL);
    switch (c.of.type) {
    case PERF_HARDWARE:
        return hardware(&c, ret);
    case PERF_HW_CACHE:
        return cache(&c, ret);
    case PERF_SOFTWARE:
        return software(&c, ret);
    default:
        return 0;
    }
}

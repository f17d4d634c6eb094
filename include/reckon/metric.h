/*
 * reckon/metric.h: figures derived from counts.
 *
 *     struct rk_metric m = {.size = sizeof m};
 *     if (rk_metric_derive(set, values, n, wall_ns, i, &m) == 1)
 *         printf("%.2f %s\n", m.value, m.unit);        // 1.73 instructions per cycle
 */
#ifndef RECKON_METRIC_H
#define RECKON_METRIC_H

#include <reckon/set.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rk_metric {
    uint32_t size; /* set by the caller */
    uint32_t reserved;
    double value;
    const char *name; /* stable word for JSON: "ipc", "ghz", "cpus", "miss_percent", "per_second" */
    const char *unit; /* for people: "instructions per cycle", "GHz", "CPUs utilised" … static */
};

/*
 * The figure that people want beside the event-th count, made from the others: instructions get IPC,
 * cycles GHz, task-clock the CPUs utilised, misses their rate, faults their number a second.
 * 1 and *ret; 0: none can be made of what was counted. Operands that were not counted give none.
 */
RK_API int rk_metric_derive(const struct rk_set *set, const struct rk_value *values, size_t n,
                            uint64_t wall_ns, size_t event, struct rk_metric *ret);

#ifdef __cplusplus
}
#endif
#endif

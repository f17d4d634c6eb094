/*
 * reckon/metric.h: figures derived from counts.
 *
 *     struct rk_metric m = RK_INIT(m);
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
    uint32_t size; /* RK_INIT sets it */
    uint32_t reserved;
    double value;
    /* A stable word for programs: "ipc", "ghz", "cpus", "miss_percent", "stalled_percent", "per_second". */
    const char *name;
    /* For people: "instructions per cycle", "GHz", "CPUs utilised" … Both strings are static. */
    const char *unit;
};

/*
 * Derives the figure that stands beside one event's count: instructions per cycle, the frequency of cycles,
 * the CPUs that task-clock kept busy, the rate of misses, faults a second. The other operand is another count
 * of the set, or `wall_ns`, the time that the counts span. `values` are the n counts of rk_set_total(), or
 * differences of two.
 *
 * Both operands are of one PMU. A hybrid CPU's kinds of cores have a figure each: instructions of the
 * efficient cores are divided by their own cycles. Their frequency is by the time that the counter ran, since
 * a clock of the set runs on every kind of core.
 *
 * Returns 1 and *ret; 0: no figure can be derived from what was counted; or -errno.
 */
RK_API int rk_metric_derive(const struct rk_set *set, const struct rk_value *values, size_t n,
                            uint64_t wall_ns, size_t event, struct rk_metric *ret);

#ifdef __cplusplus
}
#endif
#endif

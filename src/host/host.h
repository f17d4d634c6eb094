/*
 * The host from inside: one struct whose parts are filled at their first question.
 *
 *     root     directory descriptor; every path is below it, so that tests use a fake tree
 *     limits   one answer per enum rk_limit (the process's own rlimits are asked anew each time)
 *     facts    one answer per enum rk_fact
 *     cpus     online CPU numbers, ascending
 *     pmus     the names below /sys/bus/event_source/devices, sorted; a PMU's type and whether it is a
 *              core PMU are read when that PMU is asked for: a server has hundreds
 */
#ifndef HOST_HOST_H
#define HOST_HOST_H

#include "base/vector.h"

#include <errno.h>
#include <reckon/host.h>
#include <stdbool.h>

#define HOST_LIMITS (RK_LIMIT_MEMLOCK + 1)
#define HOST_FACTS (RK_FACT_KERNEL_SYMBOLS + 1)

/* An answer that may be missing: asked tells that `rc` holds; rc 0: `value` does too. */
struct host_answer {
    bool asked;
    int rc;
    int64_t value;
};

struct host_pmu {
    char *name;
    struct host_answer type;
    struct host_answer core; /* 1 or 0 */
};

struct rk_host {
    int root;
    struct host_answer limits[HOST_LIMITS];
    struct host_answer facts[HOST_FACTS];
    struct host_answer cpus_read, pmus_read; /* rc only */
    struct {
        int32_t *items;
        size_t n;
    } cpus;
    VECTOR(struct host_pmu) pmus;
    bool kernel_read;
    char kernel[96];
};

/* The PMU of that name, or NULL with the reason in *ret_rc (-ENOENT: no such PMU, or no sysfs). */
struct host_pmu *host_pmu_find(struct rk_host *host, const char *name, int *ret_rc);

/* perf_event_attr.type of the PMU: 0 or -errno. */
int host_pmu_type(struct rk_host *host, struct host_pmu *pmu, uint32_t *ret);

/* 1 where the PMU counts what a core does, 0, or -errno. */
int host_pmu_core(struct rk_host *host, struct host_pmu *pmu);

/* An error that says nothing of the machine, and so is not kept as its answer. */
static inline bool host_transient(int rc)
{
    return rc == -ENOMEM || rc == -EMFILE || rc == -ENFILE;
}

void host_pmus_free(struct rk_host *host);

#endif

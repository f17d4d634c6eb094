/*
 * The host from inside: one struct whose parts are filled at their first question.
 *
 *     root     directory descriptor; every path is below it, so that tests use a fake tree
 *     limits   one answer per enum rk_limit (the process's own rlimits are asked anew each time)
 *     facts    one answer per enum rk_fact
 *     cpus     online CPU numbers, ascending
 *     possible, places    the CPUs that there can be; where one is, is read when it is asked for
 *     features one answer per enum rk_feature
 *     mounts   where tracefs and the cgroups are; /proc/self/mountinfo is read when that is not the usual place
 *     pmus     the names below /sys/bus/event_source/devices, sorted; what a PMU has (host/pmu.h) is read
 *              when that PMU is asked for: a server has hundreds
 *     cores    those of them that are core PMUs: more than one on hybrid CPUs
 *     memos    answers that cost a file each, for the rooms above (host/memo.h)
 *     fork     whether this is still the process that it was, for the sets that are opened here
 */
#ifndef HOST_HOST_H
#define HOST_HOST_H

#include "base/vector.h"
#include "host/memo.h"
#include "host/pmu.h"

#include "sys/fork.h"

#include <errno.h>
#include <reckon/host.h>
#include <stdbool.h>

#define HOST_LIMITS (RK_LIMIT_LAST_CAP + 1)
#define HOST_FACTS (RK_FACT_USER_NAMESPACE + 1)
#define HOST_FEATURES (RK_FEATURE_PMU_TYPE + 1)
#define HOST_MOUNTS (RK_MOUNT_CGROUP1 + 1)

struct host_cpu {
    bool read;
    int32_t node; /* of all, once the nodes were read */
    struct rk_cpu face;
};

struct rk_host {
    uint32_t others; /* handles that keep it beside its opener: host_keep() */
    int root;
    struct host_answer limits[HOST_LIMITS];
    struct host_answer facts[HOST_FACTS];
    struct host_answer cpus_read, pmus_read; /* rc only */
    struct {
        int32_t *items;
        size_t n;
    } cpus;
    VECTOR(struct host_pmu) pmus;
    int pmus_rc;                   /* why rk_host_pmu_count() returned 0, for rk_host_pmu_get(…, 0, …) */
    struct host_answer cores_read; /* rc only */
    VECTOR(struct host_pmu *) cores;
    struct host_answer features[HOST_FEATURES];   /* rc only */
    struct host_answer possible_read, nodes_read; /* rc only */
    struct {
        int32_t *items;
        size_t n;
    } possible;
    struct host_cpu *places;                /* one for each of `possible`, read when asked for */
    struct host_answer mounts[HOST_MOUNTS]; /* rc only */
    char *mount_paths[HOST_MOUNTS];
    bool kernel_read;
    char kernel[96];
    struct host_memos memos;
    struct sys_fork *fork; /* host_fork() */
};

/* An error that says nothing of the machine, and so is not kept as its answer. */
static inline bool host_transient(int rc)
{
    return rc == -ENOMEM || rc == -EMFILE || rc == -ENFILE;
}

void host_pmus_free(struct rk_host *host);

/* One more hold of the host's word that a fork wipes, made at the first call, and anew in a forked child: 0 and *ret, NULL
 * where there can be none; or -ENOMEM. */
int host_fork(struct rk_host *host, struct sys_fork **ret);

/* The CPUs that are online at this moment, ascending, for the caller to free: rk_host_cpus() keeps its first answer. */
int host_cpus_now(const struct rk_host *host, int32_t **ret, size_t *ret_n);

/* Whether root could mount a file system here: CAP_SYS_ADMIN is in the bounding set, and no user namespace is around
 * it. 1, 0, or -errno. */
int host_may_mount(struct rk_host *host);

/* Begins a remedy that needs root: where to run it, since root of a user namespace has no rights outside. "" where root
 * of this place will do. */
const char *host_outside(struct rk_host *host);

/* What to do where rk_host_mount() or a file of tracefs said rc, and the paranoid level that is wanted besides: as
 * snprintf(3). */
int host_tracefs_remedy(struct rk_host *host, int rc, int level, char *buffer, size_t size);

struct perf_attr;

/* The first feature that an attr asks for and this kernel lacks, or -1. */
int host_feature_lacking(struct rk_host *host, const struct perf_attr *attr);

/* RK_LIMIT_ATTR_SIZE. */
int host_attr_size(struct rk_host *host, int64_t *ret);

/* For a handle that uses the host as long as it lives: gives the host back, which rk_host_free() then frees once more.
 * Takes NULL. Handles are freed in any order, also by other threads (finalizers). */
struct rk_host *host_keep(struct rk_host *host);

/* How many PMUs there are, or -errno: rk_host_pmu_count() with the reason. */
int host_pmus(struct rk_host *host);

#endif

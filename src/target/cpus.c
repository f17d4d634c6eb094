/*
 * CPUs as a target: the numbers of a list, all of them online now; or all that are online whenever it is asked. The
 * same list splits a target of threads by CPU.
 */
#include "base/error.h"
#include "base/text.h"
#include "host/host.h"
#include "host/list.h"
#include "sys/limit.h"
#include "target/target.h"

#include <errno.h>

static int bad_list(int rc, const char *list, size_t position, struct rk_error *e)
{
    char shown[80];

    if (rc == -ENOMEM)
        return fail_memory(e, RK_STAGE_TARGET);
    text_show(shown, sizeof shown, list, strlen(list));
    if (rc == -ERANGE)
        fail(e, rc, RK_STAGE_TARGET, RK_CAUSE_NO_CPU, NULL, "%s: byte %zu: no machine has so many CPUs",
             shown, position);
    else
        fail(e, rc, RK_STAGE_TARGET, RK_CAUSE_SYNTAX, "write numbers and ranges, as in 0-3,8",
             "%s: byte %zu: not a list of CPUs", *list ? shown : "\"\"", position);
    fail_position(e, (uint32_t)position);
    return rc;
}

static int all_online(const int32_t *cpus, size_t n, const int32_t *online, size_t n_online,
                      struct rk_error *e)
{
    for (size_t i = 0, k = 0; i < n; i++) {
        while (k < n_online && online[k] < cpus[i]) /* both ascend */
            k++;
        if (k < n_online && online[k] == cpus[i])
            continue;
        char shown[128];
        fail(e, -ENODEV, RK_STAGE_TARGET, RK_CAUSE_NO_CPU, NULL,
             "CPU %d is not online or does not exist; online: %s", cpus[i],
             cpu_list_print(online, n_online, shown, sizeof shown));
        fail_slot(e, -1, cpus[i]);
        return -ENODEV;
    }
    return 0;
}

int target_cpus_take(struct rk_target *target, struct rk_host *host, const char *list, struct rk_error *e)
{
    const int32_t *online;
    size_t n_online, position = 0;
    int rc = rk_host_cpus(host, &online, &n_online);

    if (rc < 0)
        return fail(e, rc, RK_STAGE_TARGET, rc == -EMFILE ? RK_CAUSE_DESCRIPTORS : RK_CAUSE_NO_FILE,
                    rc == -EMFILE ? sys_limit_more_descriptors() : NULL,
                    "cannot read from /sys or /proc which CPUs are online: %s", strerror(-rc));
    target->host = host_keep(host);
    if (!list)
        return 0;
    rc = cpu_list_parse(list, &target->cpus, &target->n_cpus, &position);
    return rc < 0 ? bad_list(rc, list, position, e)
                  : all_online(target->cpus, target->n_cpus, online, n_online, e);
}

int rk_target_cpus(struct rk_host *host, const char *list, struct rk_target **ret, struct rk_error *e)
{
    if (!host || !ret)
        return fail_argument(e, RK_STAGE_TARGET, "rk_target_cpus: %s is NULL", host ? "ret" : "host");
    struct rk_target *target = target_new(TARGET_CPUS, -1);
    if (!target)
        return fail_memory(e, RK_STAGE_TARGET);
    int rc = target_cpus_take(target, host, list, e);
    if (rc < 0) {
        rk_target_free(target);
        return rc;
    }
    *ret = target;
    return 0;
}

int rk_target_on_cpus(struct rk_target *target, struct rk_host *host, const char *list, struct rk_error *e)
{
    struct rk_target taken = {0};

    if (!target || !host)
        return fail_null(e, RK_STAGE_TARGET, "rk_target_on_cpus", target ? "host" : "target");
    if (target_by_cpu(target->kind))
        return fail_argument(e, RK_STAGE_TARGET,
                             "rk_target_on_cpus: CPUs and cgroups have a list of their own");
    int rc = target_cpus_take(&taken, host, list, e);
    rk_host_free(taken.host);
    if (rc < 0) {
        free(taken.cpus);
        return rc;
    }
    free(target->cpus);
    target->cpus = taken.cpus;
    target->n_cpus = taken.n_cpus;
    target->on_cpus = true;
    return 0;
}

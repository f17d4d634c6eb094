/*
 * Whether an event can be opened: by opening it on this thread, or on the CPU that its PMU wants, as reckon would.
 *
 * A refusal for want of rights is tried again without the kernel, which is the step down that rk_set_open() takes, but
 * for what happens in the kernel alone; what then opens can be counted. Where the second try fails for the same reason,
 * or because the PMU can't leave the kernel out (EINVAL), the first refusal is the one to explain.
 */
#include "base/abi.h"
#include "list/list.h"
#include "set/policy.h"
#include "sys/file.h"
#include "sys/perf.h"

#include <errno.h>
#include <reckon/explain.h>

static int open_once(const struct gather *g, const struct rk_list_entry *entry,
                     const struct trial_place *place, bool kernel)
{
    const struct rk_event event = {
        .size = sizeof event,
        .type = entry->type,
        .config = entry->config,
        .config1 = entry->config1,
        .config2 = entry->config2,
        .config3 = entry->config3,
        .config4 = entry->config4,
        .bp_type = place->bp_type,
        .name = entry->name,
        .unit = "",
        .pmu = "",
        .probe = "",
        .filter = "",
    };
    const struct policy_trial trial = {
        .host = g->host, .event = &event, .kernel = kernel, .period = place->period};
    struct perf_attr attr;

    policy_trial(&trial, &attr);
    int fd = sys_perf_open(&attr, place->cpu < 0 ? 0 : -1, place->cpu, -1, 0);
    if (fd < 0)
        return place->also && fd == -place->also ? 0 : fd;
    sys_close(fd);
    return 0;
}

static void blame(struct gather *g, struct rk_list_entry *entry, const struct trial_place *place, int code,
                  bool kernel)
{
    static const char prefix[] = "perf_event_open: ";
    struct rk_attempt attempt = {
        .size = sizeof attempt,
        .stage = RK_STAGE_OPEN,
        .code = code,
        .pid = place->cpu < 0 ? 0 : -1,
        .cpu = place->cpu,
        .type = entry->type,
        .flags = kernel ? RK_ATTEMPT_KERNEL : 0,
        .config = entry->config,
    };

    rk_explain(g->host, &attempt, &g->why);
    entry->able = RK_ABLE_NO;
    entry->cause = g->why.cause;
    /* Without a name it begins so: the reason is then the same for all that share it. */
    entry->what =
        g->why.what + (strncmp(g->why.what, prefix, sizeof prefix - 1) == 0 ? sizeof prefix - 1 : 0);
    entry->remedy = g->why.remedy;
}

void trial_run(struct gather *g, struct rk_list_entry *entry, const struct trial_place *place)
{
    if (g->options.flags & RK_LIST_UNTRIED) {
        entry->able = RK_ABLE_UNTRIED;
        entry->what = "not tried, as was asked";
        return;
    }
    int rc = open_once(g, entry, place, true), code = rc;
    if ((rc == -EACCES || rc == -EPERM) && !policy_is_kernels(entry->type, entry->config)) {
        rc = open_once(g, entry, place, false);
        if (rc == 0 || (rc != -EACCES && rc != -EPERM && rc != -EINVAL))
            code = rc;
    }
    entry->able = RK_ABLE_YES;
    entry->what = entry->remedy = "";
    if (code < 0)
        blame(g, entry, place, code, code != rc || policy_is_kernels(entry->type, entry->config));
}

void trial_copy(struct rk_list_entry *entry, const struct rk_list_entry *from)
{
    entry->able = from->able;
    entry->cause = from->cause;
    entry->what = from->what;
    entry->remedy = from->remedy;
}

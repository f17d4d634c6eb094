/*
 * Steps down from what was asked, by the kernel's answer:
 *   EACCES, EPERM        kernel counting forbidden (paranoid ≥ 2, no capability) → user space only, noted.
 *                        Not for what happens in the kernel alone (context switches, tracepoints): with the
 *                        kernel excluded those read 0, which would be a lie.
 *   EINVAL               frequency above the limit → the limit, noted; FORMAT_LOST → without; an inherited
 *                        group's FORMAT_GROUP (before 4.13) → single reads; a weak group → singles, noted
 *   EINVAL               deferred call chains (before 6.19) → whole ones, noted
 *   ENOSYS               registers and stacks of the user (a machine whose kernel can't) → the call chain, noted
 *   EINVAL, EOPNOTSUPP   arm64's user access bit → without; :P → less precise
 */
#include "set/policy.h"
#include "set/private.h"

#include "set/explain.h"
#include "set/ratio.h"

#include <errno.h>
#include <reckon/record.h>
#include <stdio.h>

#define STACKS (RK_SAMPLE_REGS_USER | RK_SAMPLE_STACK_USER)
#define MODES (RK_EVENT_USER | RK_EVENT_KERNEL | RK_EVENT_HYPERVISOR)

static enum policy_step to_user_only(struct policy *policy, struct rk_set *set, struct rk_event *event,
                                     int *ret_rc)
{
    uint32_t modes = event->flags & MODES;
    int64_t level;

    if (policy->options->flags & RK_SET_EXACT || target_by_cpu(policy->kind) ||
        policy_is_kernels(event->type, event->config) || !policy_excludes(policy->host, event) ||
        (modes && (modes & (RK_EVENT_USER | RK_EVENT_KERNEL)) != (RK_EVENT_USER | RK_EVENT_KERNEL)))
        return STEP_NONE;
    if (rk_host_limit(policy->host, RK_LIMIT_PARANOID, &level) < 0 || level < 2 ||
        rk_host_fact(policy->host, RK_FACT_CAP_PERFMON) == 1)
        return STEP_NONE;
    event->flags = (event->flags & ~MODES) | RK_EVENT_USER;
    if (!policy->user_only) {
        struct rk_error error = {.size = sizeof error};
        const struct rk_attempt attempt = {.stage = RK_STAGE_OPEN,
                                           .code = -EACCES,
                                           .cpu = -1,
                                           .type = PERF_SOFTWARE,
                                           .flags = RK_ATTEMPT_KERNEL};
        explain(policy->host, &attempt, &error);
        policy->user_only = true;
        *ret_rc = set_note_add(set, UINT32_MAX, RK_CAUSE_PARANOID, false, error.remedy,
                               "%s user space only: kernel.perf_event_paranoid is %d",
                               policy->sampling ? "samples" : "counts", (int)level);
    }
    return STEP_RETRY;
}

static enum policy_step to_lower_rate(struct policy *policy, struct rk_set *set, const struct perf_attr *attr,
                                      int *ret_rc)
{
    int64_t limit;
    char remedy[96];

    if (policy->options->flags & RK_SET_EXACT || !(attr->flags & ATTR_FREQ) ||
        rk_host_limit(policy->host, RK_LIMIT_SAMPLE_RATE, &limit) < 0 || limit < 1 ||
        attr->sample_period <= (uint64_t)limit)
        return STEP_NONE;
    policy->frequency_at_most = (uint64_t)limit;
    snprintf(remedy, sizeof remedy, "sudo sysctl -w kernel.perf_event_max_sample_rate=%ju",
             (uintmax_t)attr->sample_period);
    *ret_rc = set_note_add(set, UINT32_MAX, RK_CAUSE_RATE, false, remedy,
                           "samples %jd times a second: that is kernel.perf_event_max_sample_rate",
                           (intmax_t)limit);
    return STEP_RETRY;
}

static enum policy_step to_chains(struct policy *policy, struct rk_set *set, int *ret_rc)
{
    if (policy->options->flags & RK_SET_EXACT || policy->no_stacks || !policy->sampling ||
        !(policy->options->sample & STACKS))
        return STEP_NONE;
    policy->no_stacks = true;
    *ret_rc = set_note_add(
        set, UINT32_MAX, RK_CAUSE_UNSUPPORTED, false, "build what is measured with -fno-omit-frame-pointer",
        "takes call chains along frame pointers only: this kernel can't dump a thread's stack");
    return STEP_RETRY;
}

static enum policy_step to_whole_chains(struct policy *policy, struct rk_set *set,
                                        const struct perf_attr *attr, int *ret_rc)
{
    if (policy->options->flags & RK_SET_EXACT || !(attr->flags & ATTR_DEFER_CALLCHAIN) ||
        rk_host_feature(policy->host, RK_FEATURE_DEFER_CALLCHAIN) != 0)
        return STEP_NONE;
    policy->no_deferred = true;
    *ret_rc =
        set_note_add(set, UINT32_MAX, RK_CAUSE_KERNEL_OLD, false, "leave RK_SET_DEFER_CHAINS out",
                     "takes whole call chains at each sample: this kernel defers none (Linux 6.19 does)");
    return STEP_RETRY;
}

/* Of a group: those whose quotients are wanted get the same `part`. How many parts there are. */
static uint32_t part_by_ratios(struct rk_set *set, uint32_t leader)
{
    uint32_t parts = 0;
    bool moved = true;

    for (uint32_t i = 0; i < set->n_events; i++)
        set->events[i].part = set->events[i].leader == leader ? i : set->events[i].part;
    while (moved) {
        moved = false;
        for (uint32_t i = 0; i < set->n_events; i++)
            for (uint32_t k = 0; k < set->n_events; k++) {
                struct set_event *a = &set->events[i], *b = &set->events[k];
                if (a->absent || b->absent || a->leader != leader || b->leader != leader ||
                    a->part == b->part || !ratio_of(&a->event, &b->event))
                    continue;
                a->part = b->part = a->part < b->part ? a->part : b->part;
                moved = true;
            }
    }
    for (uint32_t i = 0; i < set->n_events; i++)
        parts += !set->events[i].absent && set->events[i].leader == leader && set->events[i].part == i;
    return parts;
}

/* The group that the event is in does not fit: into smaller ones. */
static enum policy_step split(struct rk_set *set, uint32_t event, int *ret_rc)
{
    uint32_t leader = set->events[event].leader, members = 0;

    for (uint32_t i = 0; i < set->n_events; i++)
        members += !set->events[i].absent && set->events[i].leader == leader;
    uint32_t parts = set->events[event].split ? members : part_by_ratios(set, leader);
    bool ratios = parts > 1 && parts < members;
    for (uint32_t i = 0; i < set->n_events; i++)
        if (set->events[i].leader == leader)
            set->events[i].split = ratios ? SPLIT_RATIOS : SPLIT_SINGLE;
    *ret_rc =
        set_note_add(set, leader, RK_CAUSE_UNSUPPORTED, false, NULL,
                     "%s: its group does not fit on the PMU, so that %s", set->events[leader].event.name,
                     ratios ? "its events are counted singly, those of a ratio together"
                            : "its events are counted singly");
    return STEP_RESTART;
}

static enum policy_step unknown_feature(struct policy *policy, struct rk_set *set, uint32_t index,
                                        const struct policy_place *place, int code, int *ret_rc)
{
    struct set_event *event = &set->events[index];
    const struct perf_attr *attr = &event->attr;

    if (code == -EINVAL && (attr->read_format & FORMAT_LOST) && !policy->lost_taken) {
        policy->no_lost = true;
        return STEP_RETRY;
    }
    if (policy_asks_user_access(policy, event)) {
        event->no_user_access = true;
        return STEP_RETRY;
    }
    if ((event->event.flags & RK_EVENT_PRECISE_MAX) && event->event.precise > 0) {
        event->event.precise--;
        return STEP_RETRY;
    }
    if (code == -EINVAL && place->leads && policy->inherit && (attr->read_format & FORMAT_GROUP)) {
        policy->no_together = true;
        return STEP_RETRY;
    }
    if (code == -EINVAL && !place->leads && (event->event.flags & RK_EVENT_WEAK))
        return split(set, index, ret_rc);
    return STEP_NONE;
}

enum policy_step policy_step(struct policy *policy, struct rk_set *set, uint32_t event,
                             const struct policy_place *place, int code, int *ret_rc)
{
    struct set_event *at = &set->events[event];
    enum policy_step step = STEP_NONE;

    switch (code) {
    case -EACCES:
    case -EPERM:
        return to_user_only(policy, set, &at->event, ret_rc);
    case -EINVAL:
        step = to_lower_rate(policy, set, &at->attr, ret_rc);
        if (step == STEP_NONE)
            step = to_whole_chains(policy, set, &at->attr, ret_rc);
        return step != STEP_NONE ? step : unknown_feature(policy, set, event, place, code, ret_rc);
    case -ENOSYS:
        return to_chains(policy, set, ret_rc);
    case -EOPNOTSUPP:
        return unknown_feature(policy, set, event, place, code, ret_rc);
    default:
        return STEP_NONE;
    }
}

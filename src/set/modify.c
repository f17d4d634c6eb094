/*
 * A breakpoint that moves: MODIFY_ATTRIBUTES, which the kernel has for breakpoints alone. It compares all of the attr
 * but address, length, kind and `disabled` with what the event was opened with, and goes on with what the last says.
 */
#include "base/abi.h"
#include "base/error.h"
#include "set/private.h"
#include "sys/perf.h"

#include <errno.h>

static struct perf_attr moved(const struct rk_set *set, uint32_t event, const struct rk_event *to)
{
    struct perf_attr attr = set->events[event].attr;
    bool leads = set->events[event].leader == event;

    attr.bp_type = to->bp_type;
    attr.config1 = to->config1;
    attr.config2 = to->config2;
    attr.flags &= ~ATTR_DISABLED; /* siblings are always on: their leader holds them */
    if (leads && !set->enabled)
        attr.flags |= ATTR_DISABLED;
    return attr;
}

int rk_set_modify(struct rk_set *set, size_t event, const struct rk_event *to, struct rk_error *e)
{
    if (!set || !to)
        return fail_null(e, RK_STAGE_CONTROL, "rk_set_modify", set ? "to" : "set");
    uint32_t at = (uint32_t)event;
    if (event >= set->n_events || set->events[at].absent)
        return fail_argument(e, RK_STAGE_CONTROL, "rk_set_modify: there is no event %zu", event);
    if (is_forked(set))
        return set_fail(set, RK_STAGE_CONTROL, UINT32_MAX, at, -ESTALE, 0, e);
    if (set->events[at].event.type != PERF_BREAKPOINT || to->type != PERF_BREAKPOINT)
        return fail_argument(e, RK_STAGE_CONTROL, "%s: only a breakpoint can become another",
                             set->events[at].event.name);
    struct perf_attr attr = moved(set, at, to);
    for (uint32_t slot = 0; slot < set->n_slots; slot++) {
        int fd = fd_of(set, slot, at);
        int rc = fd < 0 ? 0 : sys_perf_control_at(fd, IOC_MODIFY_ATTRIBUTES, &attr);
        if (rc < 0)
            return set_fail(set, RK_STAGE_CONTROL, slot, at, rc, 0, e);
    }
    struct set_event *changed = &set->events[at];
    changed->event.bp_type = to->bp_type;
    changed->event.config1 = to->config1;
    changed->event.config2 = to->config2;
    changed->attr.bp_type = attr.bp_type;
    changed->attr.config1 = attr.config1;
    changed->attr.config2 = attr.config2;
    return 0;
}

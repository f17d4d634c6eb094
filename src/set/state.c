/*
 * Why an event did not run, from what is there after a read: its two times, what the read returned, whether the set was
 * ever enabled.
 *
 *     nothing to read                    absent
 *     a read of no byte                  starved: pinned, and in error
 *     enabled > 0                        it waited for the PMU and got none: starved. Or it waited in vain, since its
 *                                        target was elsewhere: on CPUs of the other kind of core, or on another CPU than
 *                                        the slot's
 *     enabled == 0, set was enabled      idle: the kernel enables a task's events while the task runs
 *     enabled == 0, set never enabled    disabled
 */
#include "set/state.h"

#include "set/follow.h"
#include "sys/perf.h"

static const uint8_t rank[] = {
    [RK_STATE_ABSENT] = 0,  [RK_STATE_DISABLED] = 1, [RK_STATE_IDLE] = 2,
    [RK_STATE_STARVED] = 3, [RK_STATE_COUNTED] = 4,
};

const char *rk_state_name(uint32_t state)
{
    static const char *const names[] = {
        [RK_STATE_ABSENT] = "absent", [RK_STATE_DISABLED] = "disabled", [RK_STATE_STARVED] = "starved",
        [RK_STATE_IDLE] = "idle",     [RK_STATE_COUNTED] = "counted",
    };

    return state < sizeof names / sizeof *names ? names[state] : "unknown";
}

/* The target was on the other kind of core all the time: an event there was never without its counter. */
static bool is_elsewhere(const struct rk_set *set, uint32_t event, const struct rk_value *values)
{
    const struct set_event *at = &set->events[event];

    for (uint32_t i = 0; at->bound && i < set->n_events; i++)
        if (set->events[i].bound && strcmp(set->events[i].event.pmu, at->event.pmu) != 0 &&
            values[i].running && values[i].running >= values[event].enabled)
            return true;
    return false;
}

/* A page does not say that a pinned event is in error; read(2) does. */
static bool is_in_error(struct rk_set *set, uint32_t slot, uint32_t event)
{
    uint32_t leader = set->events[event].leader;

    return set->pages && set->pages[event] && set->events[leader].attr.flags & ATTR_PINNED &&
           sys_perf_read(fd_of(set, slot, leader), set->words, 3 + 3 * (size_t)set->n_events) == 0;
}

uint32_t state_unrun(struct rk_set *set, uint32_t slot, uint32_t event, const struct rk_value *values)
{
    int32_t fault = set->faults[(size_t)slot * set->n_events + event];

    if (set->events[event].absent || (set->parts && follow_absent(set, slot)) || fd_of(set, slot, event) < 0)
        return RK_STATE_ABSENT;
    if (fault)
        return state_fault(RK_STATE_COUNTED, fault);
    if (is_in_error(set, slot, event))
        return RK_STATE_STARVED;
    if (values[event].enabled == 0)
        return set->was_enabled ? RK_STATE_IDLE : RK_STATE_DISABLED;
    return (set->slots[slot].pid >= 0 && set->slots[slot].cpu >= 0 && !set->on_cpus) ||
                   is_elsewhere(set, event, values)
               ? RK_STATE_IDLE
               : RK_STATE_STARVED;
}

uint32_t state_join(uint32_t a, uint32_t b)
{
    return rank[a] > rank[b] ? a : b;
}

void state_sums(const struct rk_set *set, const struct rk_value *sums, uint32_t *states)
{
    for (uint32_t i = 0; i < set->n_events; i++)
        if (states[i] == RK_STATE_IDLE && sums[i].enabled && !is_elsewhere(set, i, sums))
            states[i] = RK_STATE_STARVED; /* it ran on none of the CPUs that it was opened on */
}

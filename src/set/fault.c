/*
 * Why an event was not counted: asked afterwards, when there is time.
 */
#include "base/error.h"
#include "set/follow.h"
#include "set/state.h"

#include <errno.h>

static int explain_absent(const struct rk_set *set, uint32_t event, struct rk_error *ret)
{
    for (size_t i = 0; i < set->notes.n; i++) {
        const struct set_note *note = &set->notes.items[i];
        if (note->event == event && note->absent)
            fail(ret, set->events[event].code, RK_STAGE_OPEN, note->cause, note->remedy, "%s", note->what);
    }
    fail_event(ret, set->events[event].event.name);
    return 0;
}

/* Waited for a counter in vain. */
static int explain_starved(const struct rk_set *set, uint32_t event, struct rk_error *ret)
{
    const struct set_event *at = &set->events[event];

    fail(ret, -ENOSPC, RK_STAGE_READ, RK_CAUSE_STARVED,
         set->events[at->leader].attr.flags & ATTR_PINNED
             ? "count fewer events at a time, or not pinned, so that they take turns"
             : "count fewer events at a time; a group that is too large never runs: split it",
         "%s: was enabled and never got a counter of the PMU", at->event.name);
    return 0;
}

static int explain_disabled(const struct rk_set *set, uint32_t event, struct rk_error *ret)
{
    fail(ret, -ENODATA, RK_STAGE_READ, RK_CAUSE_ARGUMENT, "rk_set_enable()", "%s: was not enabled",
         set->events[event].event.name);
    return 0;
}

/* Not opened on this slot: its PMU is on other CPUs, or the slot's CPU is gone. */
static int explain_elsewhere(struct rk_set *set, uint32_t slot, uint32_t event, struct rk_error *ret)
{
    const char *name = set->events[event].event.name;
    int32_t cpu = set->slots[slot].cpu;

    if (set->parts && follow_absent(set, slot))
        fail(ret, -ENODEV, RK_STAGE_READ, RK_CAUSE_NO_CPU, NULL, "%s: CPU %d is offline", name, cpu);
    else
        fail(ret, -ENODEV, RK_STAGE_READ, RK_CAUSE_NO_CPU, NULL,
             "%s: is not counted on CPU %d: its PMU, or one of its group's, is on other CPUs", name, cpu);
    return 0;
}

/* The state of the event in these slots, as of now. */
static uint32_t state_in(struct rk_set *set, uint32_t first, uint32_t last, uint32_t event)
{
    uint32_t state = RK_STATE_ABSENT;

    if (last - first == set->n_slots)
        return rk_set_total(set, set->sums, set->sum_states, set->n_events) == 0 ? set->sum_states[event]
                                                                                 : state;
    for (uint32_t slot = first; slot < last; slot++)
        if (rk_set_read(set, slot, set->row, set->states, set->n_events) == 0)
            state = state_join(state, set->states[event]);
    return state;
}

/* The first slot of these whose last read failed; `last`: none. */
static uint32_t faulty_slot(const struct rk_set *set, uint32_t first, uint32_t last, uint32_t event)
{
    while (first < last && !set->faults[(size_t)first * set->n_events + event])
        first++;
    return first;
}

static int explain_state(struct rk_set *set, uint32_t first, uint32_t last, uint32_t event,
                         struct rk_error *ret)
{
    uint32_t faulty = faulty_slot(set, first, last, event);

    if (faulty == last) {
        switch (state_in(set, first, last, event)) {
        case RK_STATE_STARVED:
            faulty = faulty_slot(set, first, last, event);
            if (faulty == last)
                return explain_starved(set, event, ret);
            break;
        case RK_STATE_DISABLED:
            return explain_disabled(set, event, ret);
        case RK_STATE_ABSENT:
            faulty = faulty_slot(set, first, last, event);
            if (faulty == last)
                return explain_elsewhere(set, first, event, ret);
            break;
        default:
            return -ENOENT;
        }
    }
    int fault = set->faults[(size_t)faulty * set->n_events + event];
    set_fail(set, RK_STAGE_READ, faulty, event, fault < 0 ? fault : 0, 0, ret);
    return 0;
}

int rk_set_explain(const struct rk_set *asked, size_t slot, size_t event, struct rk_error *ret)
{
    struct rk_set *set =
        (struct rk_set *)(uintptr_t)asked; /* its scratch is written, nothing that it is asked for */

    if (!set || !ret)
        return -EINVAL;
    if (event >= set->n_events || (slot != SIZE_MAX && slot >= set->n_slots))
        return -ERANGE;
    uint32_t at = (uint32_t)event, first = slot == SIZE_MAX ? 0 : (uint32_t)slot,
             last = slot == SIZE_MAX ? set->n_slots : first + 1;
    if (is_forked(set)) {
        set_fail(set, RK_STAGE_READ, UINT32_MAX, at, -ESTALE, 0, ret);
        return 0;
    }
    if (set->events[at].absent)
        return explain_absent(set, at, ret);
    int rc = explain_state(set, first, last, at, ret);
    if (rc == 0) {
        fail_event(ret, set->events[at].event.name);
        if (last - first == 1)
            fail_slot(ret, set->slots[first].pid, set->slots[first].cpu);
    }
    return rc;
}

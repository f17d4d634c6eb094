/*
 * Why an event was not counted: asked afterwards, when there is time.
 */
#include "base/error.h"
#include "set/private.h"
#include "sys/perf.h"

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

/* Enabled and never run, or never enabled: both formats have the two times at the same places. */
static int explain_idle(const struct rk_set *set, uint32_t first, uint32_t last, uint32_t event,
                        struct rk_error *ret)
{
    uint64_t enabled = 0, running = 0;
    const struct set_event *at = &set->events[event];

    for (uint32_t slot = first; slot < last; slot++)
        if (sys_perf_read(fd_of(set, slot, event), set->words, 3 + 3 * (size_t)set->n_events) > 0) {
            enabled += set->words[1];
            running += set->words[2];
        }
    if (running)
        return -ENOENT;
    if (enabled)
        fail(ret, -ENOSPC, RK_STAGE_READ, RK_CAUSE_STARVED,
             "count fewer events at a time; a group that is too large never runs: split it",
             "%s: was enabled and never got a counter of the PMU", at->event.name);
    else
        fail(ret, -ENODATA, RK_STAGE_READ, RK_CAUSE_ARGUMENT, "rk_set_enable(), and let the target run",
             "%s: was not enabled while its target ran", at->event.name);
    fail_event(ret, at->event.name);
    if (last - first == 1)
        fail_slot(ret, set->slots[first].pid, set->slots[first].cpu);
    return 0;
}

/* Not opened on this slot: its PMU is on other CPUs. */
static int explain_elsewhere(const struct rk_set *set, uint32_t slot, uint32_t event, struct rk_error *ret)
{
    const struct rk_event *at = &set->events[event].event;

    fail(ret, -ENODEV, RK_STAGE_READ, RK_CAUSE_NO_CPU, NULL,
         "%s: is not counted on CPU %d: its PMU, or one of its group's, is on other CPUs", at->name,
         set->slots[slot].cpu);
    fail_event(ret, at->name);
    fail_slot(ret, set->slots[slot].pid, set->slots[slot].cpu);
    return 0;
}

int rk_set_explain(const struct rk_set *set, size_t slot, size_t event, struct rk_error *ret)
{
    if (!set || !ret)
        return -EINVAL;
    if (event >= set->n_events || (slot != SIZE_MAX && slot >= set->n_slots))
        return -ERANGE;
    uint32_t at = (uint32_t)event;
    if (is_forked(set)) {
        set_fail(set, RK_STAGE_READ, UINT32_MAX, at, -ESTALE, 0, ret);
        return 0;
    }
    if (set->events[at].absent)
        return explain_absent(set, at, ret);
    uint32_t first = slot == SIZE_MAX ? 0 : (uint32_t)slot,
             last = slot == SIZE_MAX ? set->n_slots : first + 1;
    for (uint32_t i = first; i < last; i++) {
        int fault = set->faults[(size_t)i * set->n_events + at];
        if (fault) {
            set_fail(set, RK_STAGE_READ, i, at, fault < 0 ? fault : 0, 0, ret);
            return 0;
        }
    }
    if (slot != SIZE_MAX && fd_of(set, first, at) < 0)
        return explain_elsewhere(set, first, at, ret);
    return explain_idle(set, first, last, at, ret);
}

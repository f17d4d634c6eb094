/*
 * An event of a thread on one CPU is enabled whenever the thread runs, wherever; that is the kernel's way of saying it.
 * What scaling wants to know is for how long the event could have counted: while the thread was on this CPU. So each slot
 * has a clock, an event that needs no counter of the PMU and runs whenever the thread is here.
 *
 * All are read one after the other, and time passes in between: here, if the thread is here, else elsewhere. Of the clock and
 * of every event that never waited for a counter,
 *
 *     running             is the time here         it stands still while the thread is elsewhere
 *     enabled - running   is the time elsewhere    it stands still while the thread is here
 *
 * and of one that did wait the first is less, the second more. So with the greatest of the first and the least of the
 * second, the lesser of (greatest) and (enabled - least) is an event's time here, whichever the thread's place was during
 * the reads. What is still in the way when it moved just then is less than the kernel's shortest turn at the PMU.
 */
#include "set/here.h"

#include "set/policy.h"
#include "sys/perf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TURN_NS UINT64_C(1000000) /* perf_event_mux_interval_ms is 1 at least */

int here_room(struct rk_set *set, size_t slots)
{
    int *clocks = realloc(set->clocks, slots * sizeof *clocks);

    if (!clocks)
        return -ENOMEM;
    set->clocks = clocks;
    for (size_t slot = set->n_slots; slot < slots; slot++)
        clocks[slot] = -1;
    return 0;
}

int here_begin(struct rk_set *set, const struct plan *plan)
{
    size_t n = plan->n_cpus;

    set->on_cpus = true;
    set->cpus = malloc(n * sizeof *set->cpus);
    if (!set->cpus || here_room(set, plan->n_slots) < 0)
        return -ENOMEM;
    memcpy(set->cpus, plan->cpus, n * sizeof *set->cpus);
    set->n_cpus = (uint32_t)n;
    return 0;
}

int here_open(struct rk_set *set, uint32_t slot)
{
    const struct set_slot *at = &set->slots[slot];
    struct perf_attr attr;

    if (set->clocks[slot] >= 0) /* the groups of the first slot are arranged anew */
        return 0;
    policy_clock(&set->options, set->whom.kind, set->inherit, &attr);
    int fd = sys_perf_open(&attr, at->pid, at->cpu, -1, 0);
    if (fd < 0)
        return fd;
    set->clocks[slot] = fd;
    return 0;
}

void here_read(struct rk_set *set, uint32_t slot, struct rk_value *ret)
{
    uint64_t w[3] = {0}, here = 0, elsewhere = UINT64_MAX;

    if (sys_perf_read(set->clocks[slot], w, 3) >= (int)sizeof w) {
        here = w[2];
        elsewhere = w[1] - w[2];
    }
    for (uint32_t i = 0; i < set->n_events; i++)
        if (ret[i].enabled) {
            uint64_t away = ret[i].enabled - ret[i].running;
            here = ret[i].running > here ? ret[i].running : here;
            elsewhere = away < elsewhere ? away : elsewhere;
        }
    for (uint32_t i = 0; i < set->n_events; i++) {
        struct rk_value *v = &ret[i];
        uint64_t time = v->enabled > elsewhere ? v->enabled - elsewhere : 0;
        time = time < here ? time : here;
        v->enabled = v->running && time < v->running + TURN_NS ? v->running : v->enabled ? time : 0;
    }
}

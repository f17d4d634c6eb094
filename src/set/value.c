/*
 * A count by name. One text may have become several events: of the PMUs of a hybrid CPU, or of a pattern.
 *
 * A task runs on one kind of core at a time. Each PMU's event is enabled all the time that the task runs, and counts
 * while it is on this PMU's cores: what they counted and ran is added, and scaled once by the time that the task ran,
 *
 *     Σ value × enabled / Σ running.
 *
 * Events that count side by side (on CPUs of their own, or of one pattern) are each scaled by their own times. The sum
 * is given as one value, whose running time is such that scaling it gives the sum:
 *
 *     Σ (value × enabled / running)  =  Σ value × E / R.
 *
 * E is the sum of the enabled times where the CPUs are not the same, as it is of one event on all of them.
 */
#include "set/private.h"

#include <errno.h>
#include <string.h>

struct sum {
    struct rk_value raw; /* enabled: the greatest of those on the same CPUs; of others added */
    double scaled;
    uint32_t n;
    bool in_turn; /* only one of them counts at a time */
};

static bool is_called(const struct set_event *event, int kind, const char *name)
{
    const char *is = event->names[kind];

    if (is && kind == SET_NAME_CANONICAL)
        return strncmp(is, name, event->canonical_n) == 0 && !name[event->canonical_n];
    return is && strcmp(is, name) == 0;
}

/* The first event of that name; by what, in *ret_kind. */
static uint32_t find(const struct rk_set *set, const char *name, int *ret_kind)
{
    for (int kind = 0; kind < SET_NAMES; kind++)
        for (uint32_t i = 0; i < set->n_events; i++)
            if (is_called(&set->events[i], kind, name)) {
                *ret_kind = kind;
                return i;
            }
    return UINT32_MAX;
}

/* Whether some slot has both events. */
static bool are_together(const struct rk_set *set, uint32_t a, uint32_t b)
{
    if (!set->partial)
        return true;
    for (uint32_t slot = 0; slot < set->n_slots; slot++)
        if (fd_of(set, slot, a) >= 0 && fd_of(set, slot, b) >= 0)
            return true;
    return false;
}

static void add(const struct rk_set *set, uint32_t first, uint32_t event, struct sum *sum)
{
    const struct rk_value *v = &set->sums[event];
    double scaled = rk_value_scale(v, NULL, NULL);

    sum->raw.value += v->value;
    sum->raw.running += v->running;
    if (sum->n && !sum->in_turn && !are_together(set, first, event))
        sum->raw.enabled += v->enabled;
    else if (v->enabled > sum->raw.enabled)
        sum->raw.enabled = v->enabled;
    if (v->running)
        sum->scaled += scaled;
    sum->n++;
}

/* Σ value × E / R is the sum of what was scaled apart. */
static uint64_t running_for(const struct sum *sum)
{
    double running = sum->scaled > 0 ? (double)sum->raw.value / sum->scaled * (double)sum->raw.enabled
                                     : (double)sum->raw.enabled;

    return running < 1                          ? 1
           : running < (double)sum->raw.enabled ? (uint64_t)(running + 0.5)
                                                : sum->raw.enabled;
}

int rk_set_value(struct rk_set *set, const char *event, struct rk_value *ret)
{
    int kind = 0;

    if (!set || !event || !ret)
        return -EINVAL;
    uint32_t first = find(set, event, &kind);
    if (first == UINT32_MAX)
        return -ENOENT;
    int rc = rk_set_total(set, set->sums, set->sum_states, set->n_events);
    if (rc < 0)
        return rc;
    struct sum sum = {.in_turn = set->events[first].bound && !target_by_cpu(set->whom.kind)};
    bool starved = false;
    for (uint32_t i = first; i < set->n_events; i++) {
        if (set->events[i].number != set->events[first].number || !is_called(&set->events[i], kind, event))
            continue;
        if (set->sum_states[i] < RK_STATE_STARVED)
            return -ENODATA;
        starved |= set->sum_states[i] == RK_STATE_STARVED;
        add(set, first, i, &sum);
    }
    /* In turn, the one that did not run may have had no turn. */
    if (starved && (!sum.in_turn || sum.raw.running == 0))
        return -ENODATA;
    if (sum.n > 1 && !sum.in_turn && sum.raw.enabled)
        sum.raw.running = running_for(&sum);
    *ret = sum.raw;
    return 0;
}

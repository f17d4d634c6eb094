/*
 * What was kept and what was not.
 *
 *     kept      counted as samples go out
 *     lost      live: what the kernel counted per event (FORMAT_LOST, Linux 6.0), to the last one; before that,
 *               and in files of others, what LOST records say, which comes late and counts side-band records too
 *     skipped   count ÷ period − kept − lost, where the period is fixed: samples that should have been taken
 *
 * A file with a ledger tells at its end what the recorder knew.
 */
#include "base/error.h"
#include "set/set.h"
#include "stream/live.h"

#include <errno.h>

uint64_t stream_fixed_period(const struct perf_attr *attr)
{
    uint64_t period = attr->sample_period;
    bool clock =
        attr->type == PERF_SOFTWARE && (attr->config == SW_CPU_CLOCK || attr->config == SW_TASK_CLOCK);

    if (attr->flags & ATTR_FREQ)
        period = clock && period ? UINT64_C(1000000000) / period : 0;
    return clock && period && period < 10000 ? 10000 : period;
}

/* How many samples the event's counts call for, slot by slot. 0, or -errno. */
static int samples_due(const struct stream_live *live, uint32_t event, uint64_t period, uint64_t *ret)
{
    struct rk_set *set = live->set;
    uint64_t due = 0;

    for (uint32_t slot = 0; slot < set_n_slots(set); slot++) {
        int r = rk_set_read(set, slot, live->values, NULL, set_n_events(set));
        if (r < 0)
            return r;
        due += live->values[event].value / period;
    }
    *ret = due;
    return 0;
}

/* What the kernel knows of an event's losses beyond its records: adds to *loss. */
static void live_loss(const struct rk_stream *st, uint32_t event, struct rk_loss *loss)
{
    struct rk_set *set = st->live->set;
    const struct stream_event *at = &st->events.items[event];
    uint64_t lost, due = 0, period = stream_fixed_period(&at->attr);

    int r = set_absent(set, event) || live_forked(st->live) ? -ENOENT : set_lost(set, event, &lost);
    if (r == 0)
        loss->lost += lost;
    else if (r == -EOPNOTSUPP)
        loss->lost += at->tally.lost_records;
    else
        return;
    loss->present |= RK_LOSS_LOST;
    /* While samples are on their way the sum would not close. */
    if (!st->drained || period == 0 || at->rate_changed || set_options(set)->flags & RK_SET_OVERWRITE ||
        samples_due(st->live, event, period, &due) < 0)
        return;
    /* A tracepoint may add more than 1 for what is one sample (sched_stat_runtime: nanoseconds), told as its period. */
    if (due > loss->kept + loss->lost && at->attr.type == PERF_TRACEPOINT &&
        (at->attr.sample_type & RK_SAMPLE_PERIOD))
        return;
    loss->present |= RK_LOSS_SKIPPED;
    loss->skipped = due > loss->kept + loss->lost ? due - loss->kept - loss->lost : 0;
}

static void tally_add(struct rk_loss *loss, const struct stream_tally *tally)
{
    loss->kept += tally->kept;
    loss->throttled += tally->throttled;
    loss->records_lost += tally->lost_records;
    loss->lost += tally->dropped;
}

static void event_loss(const struct rk_stream *st, uint32_t event, struct rk_loss *loss)
{
    const struct stream_tally *tally = &st->events.items[event].tally;
    const struct ledger_event *told = file_ledger(st, event);

    tally_add(loss, tally);
    if (st->live) {
        loss->lost += tally->lost_samples;
        live_loss(st, event, loss);
    } else if (told) {
        loss->present = told->loss.present;
        loss->lost = told->loss.lost;
        loss->skipped = told->loss.skipped;
        loss->throttled = told->loss.throttled;
        loss->records_lost = told->loss.records_lost;
    } else {
        /* perf ends its files with LOST_SAMPLES of what FORMAT_LOST said: the better source where it is there. */
        loss->present = RK_LOSS_LOST;
        loss->lost += tally->lost_samples ? tally->lost_samples : tally->lost_records;
    }
}

int rk_stream_loss(const struct rk_stream *st, uint32_t event, struct rk_loss *ret)
{
    struct rk_loss all = {.size = sizeof all, .present = RK_LOSS_LOST | RK_LOSS_SKIPPED};

    if (!st)
        return -EINVAL;
    if (event != RK_NO_EVENT && event >= st->events.n)
        return -ERANGE;
    for (uint32_t i = 0; i < st->events.n; i++) {
        struct rk_loss one = {.size = sizeof one};
        if (event != RK_NO_EVENT && event != i)
            continue;
        event_loss(st, i, &one);
        all.kept += one.kept;
        all.lost += one.lost;
        all.skipped += one.skipped;
        all.throttled += one.throttled;
        all.records_lost += one.records_lost;
        /* A sum is known where each part is; an event that takes no samples skips none. */
        if (st->events.items[i].attr.sample_period || event == i)
            all.present &= one.present;
    }
    if (event == RK_NO_EVENT) {
        tally_add(&all, &st->others);
        if (!st->live && !file_ledger(st, 0))
            all.lost += st->others.lost_samples ? st->others.lost_samples : st->others.lost_records;
    }
    if (!(all.present & RK_LOSS_LOST))
        all.lost = 0;
    if (!(all.present & RK_LOSS_SKIPPED))
        all.skipped = 0;
    return result_give(ret, &all, sizeof all);
}

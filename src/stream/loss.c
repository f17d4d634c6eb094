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
#include "stream/stream.h"

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

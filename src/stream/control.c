/*
 * Steering a live stream while it runs: its output, its periods, its flight recorder.
 */
#include "base/error.h"
#include "stream/live.h"
#include "sys/perf.h"

#include <errno.h>

/* 0, or why the stream can't be steered. */
static int check(struct rk_stream *st)
{
    if (!st || !st->live)
        return -EINVAL;
    if (live_forked(st->live))
        return stream_fail(st, (struct stream_fault){.code = -ESTALE, .where = STREAM_FAULT_FORKED});
    return 0;
}

static int output(struct rk_stream *st, uintptr_t paused)
{
    int r = check(st);

    for (uint32_t i = 0; r == 0 && i < st->live->n; i++)
        r = sys_perf_control(set_ring(st->live->set, i)->fd, IOC_PAUSE_OUTPUT, paused);
    return r;
}

int rk_stream_pause(struct rk_stream *st)
{
    return output(st, 1);
}

int rk_stream_resume(struct rk_stream *st)
{
    return output(st, 0);
}

/* On every descriptor of an event; a thread that has ended is no failure, as long as one is there. */
static int each_descriptor(struct rk_stream *st, uint32_t event, int (*what)(int fd, uint64_t value),
                           uint64_t value)
{
    int r = check(st), done = 0;

    if (r < 0)
        return r;
    const struct rk_set *set = st->live->set;
    if (event >= set_n_events(set))
        return -ERANGE;
    for (uint32_t slot = 0; slot < set_n_slots(set); slot++) {
        int fd = set_fd(set, slot, event);
        if (fd < 0)
            continue;
        int k = what(fd, value);
        if (k == 0)
            done++;
        else if (r == 0)
            r = k;
    }
    return done ? 0 : r < 0 ? r : -ENOENT;
}

static int set_period(int fd, uint64_t period)
{
    return sys_perf_control_at(fd, IOC_PERIOD, &period); /* takes a pointer */
}

int rk_stream_period(struct rk_stream *st, uint32_t event, uint64_t period)
{
    if (period == 0)
        return -EINVAL;
    int r = each_descriptor(st, event, set_period, period);
    if (r == 0) {
        struct stream_event *at = &st->events.items[event];
        at->rate_changed = true;
        at->attr.sample_period = period;
        at->period = stream_own_period(&at->attr);
    }
    return r;
}

static int refresh(int fd, uint64_t samples)
{
    return sys_perf_control(fd, IOC_REFRESH, (uintptr_t)samples);
}

int rk_stream_refresh(struct rk_stream *st, uint32_t event, uint32_t samples)
{
    return samples == 0 || samples > INT32_MAX ? -EINVAL : each_descriptor(st, event, refresh, samples);
}

int rk_stream_world(struct rk_stream *st)
{
    int r = check(st);

    if (r == 0 && (set_options(st->live->set)->records & RK_RECORDS_PROFILE) != RK_RECORDS_PROFILE)
        r = -EINVAL;
    if (r < 0)
        return r;
    live_world_drop(st); /* this one is newer */
    r = live_world(st, WORLD_KERNEL | WORLD_TASKS);
    if (r < 0) {
        live_world_drop(st);
        stream_fail(st, (struct stream_fault){.code = r, .where = STREAM_FAULT_WORLD});
    }
    return r;
}

int rk_stream_snapshot(struct rk_stream *st)
{
    int r = check(st);

    if (r == 0 && !st->live->overwrite)
        r = -EINVAL;
    return r < 0 ? r : live_snapshot(st);
}

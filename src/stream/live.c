/*
 * The rings of a set, as a source.
 *
 * One ring per CPU (or one for a thread on any CPU). A single ring is handed on as it is: views into the ring, in
 * the kernel's order. Several are passed one after the other, copied to the queue and given back at once, so that
 * holding records back for order does not fill the rings.
 *
 * With a feeder the rings are emptied by that, one or many, and what it brings goes to the queue.
 *
 * Rings that are written backward hold the latest only and are read when a snapshot is asked for, with their output
 * paused meanwhile; their records come newest first, and the queue puts them right.
 *
 * Waiting: an epoll descriptor over one event of each ring. The kernel marks a ring's waiters when enough has been
 * written, and a poll takes the mark, so each wake-up is told once. An event whose thread has ended polls as ended
 * for ever; it is replaced by another thread's event of the same ring, and when none is left, the ring has ended.
 */
#include "stream/live.h"

#include "sys/perf.h"
#include "sys/ready.h"

#include <errno.h>

int live_fd(const struct stream_live *live)
{
    return live->feeder ? live->feeder->fd : live->epoll;
}

bool live_forked(const struct stream_live *live)
{
    return set_forked(live->set);
}

bool live_ended(const struct stream_live *live)
{
    return __atomic_load_n(&live->ended, __ATOMIC_RELAXED) == live->n;
}

void live_release(struct stream_live *live)
{
    if (!live->feeder && !live->overwrite)
        for (uint32_t i = 0; i < live->n; i++)
            ring_release(live->rings[i].ring);
}

int live_watch(struct stream_live *live, uint32_t index)
{
    struct live_ring *ring = &live->rings[index];
    const struct rk_set *set = live->set;

    for (; ring->slot < set_n_slots(set); ring->slot++) {
        if (set_slot_cpu(set, ring->slot) != set_ring(set, index)->cpu)
            continue;
        for (uint32_t event = 0; event < set_n_events(set); event++) {
            int fd = set_fd(set, ring->slot, event);
            if (fd < 0)
                continue;
            ring->fd = fd;
            return sys_epoll_add(live->epoll, fd, index);
        }
    }
    __atomic_add_fetch(&live->ended, 1,
                       __ATOMIC_RELAXED); /* a reader's thread may be the one that finds it */
    return 0;
}

int live_look(struct stream_live *live, int timeout_ms)
{
    struct sys_ready ready[SYS_READY_MAX];

    int n = sys_epoll_wait(live->epoll, ready, SYS_READY_MAX, timeout_ms);
    for (int i = 0; i < n; i++) {
        if (!ready[i].ended || ready[i].tag >= live->n)
            continue;
        struct live_ring *ring = &live->rings[ready[i].tag];
        if (sys_epoll_remove(live->epoll, ring->fd) < 0)
            continue;
        ring->slot++;
        live_watch(live, (uint32_t)ready[i].tag);
    }
    return n;
}

static int ring_failed(const struct rk_stream *st, uint32_t index, int code)
{
    return stream_fail(st, (struct stream_fault){.code = code,
                                                 .where = STREAM_FAULT_RING,
                                                 .ring = index,
                                                 .offset = ring_offset(st->live->rings[index].ring)});
}

/* Nothing is due: there is time for the rest. */
static void live_idle(struct stream_live *live)
{
    live_look(live, 0);
    live_world_done(live);
}

static int live_straight(struct rk_stream *st, struct rk_record *ret)
{
    struct ring *ring = st->live->rings[0].ring;
    const struct perf_header *header;

    int r = ring_next(ring, &header);
    if (r == 1)
        stream_identify(st, header, ring_offset(ring) - header->size, ret);
    else if (r < 0)
        ring_failed(st, 0, r);
    else
        live_idle(st->live);
    return r;
}

static int live_views(struct rk_stream *st, const struct perf_header **ret, size_t max)
{
    if (live_forked(st->live))
        return stream_fail(st, (struct stream_fault){.code = -ESTALE, .where = STREAM_FAULT_FORKED});
    int n = ring_views(st->live->rings[0].ring, ret, max);
    if (n < 0)
        ring_failed(st, 0, n);
    else if (n == 0)
        live_idle(st->live);
    return n;
}

size_t live_run(struct rk_stream *st, size_t least, size_t max, const struct perf_header **ret)
{
    return live_forked(st->live) ? 0 : ring_run(st->live->rings[0].ring, RK_RECORD_SAMPLE, least, max, ret);
}

uint64_t live_position(const struct stream_live *live)
{
    return ring_offset(live->rings[0].ring);
}

void live_unread(struct stream_live *live, uint64_t bytes)
{
    ring_unread(live->rings[0].ring, bytes);
}

/* What waits in one ring goes to the queue, up to as much as the ring holds: a busy writer must not keep the pass
 * from its other rings. `single`: the only ring, whose records keep the kernel's order. */
static inline __attribute__((always_inline)) int pass_ring(struct rk_stream *st, uint32_t index, bool single)
{
    struct live_ring *at = &st->live->rings[index];
    uint64_t until = ring_offset(at->ring) + at->ring->size;
    const struct perf_header *header;
    struct rk_record record;
    int r;

    while ((r = ring_next(at->ring, &header)) == 1) {
        stream_identify(st, header, ring_offset(at->ring) - header->size, &record);
        r = stream_push(st, &record, single ? st->live->keys++ : stream_key(&record, &at->last));
        if (r < 0 || ring_offset(at->ring) >= until)
            break;
    }
    if (r == -EBADMSG)
        ring_failed(st, index, r);
    ring_release(at->ring);
    return r < 0 ? r : 0;
}

/* One pass over the rings ourselves. */
static int pass_all(struct rk_stream *st)
{
    int error = 0, r;

    for (uint32_t i = 0; i < st->live->n; i++)
        if ((r = pass_ring(st, i, false)) < 0)
            error = r;
    return error;
}

int live_collect(struct rk_stream *st)
{
    struct stream_live *live = st->live;
    bool round;

    if (live->overwrite || order_full(&st->order))
        return 0;
    if (live->feeder)
        return live->feeder->take(live->feeder->context, st, &round); /* a later round lets it go */
    if (live->n > 1)
        return pass_all(st);
    if (st->pending)
        return 0; /* a view into the ring */
    live->held = true;
    return pass_ring(st, 0, true);
}

/* What was held of the only ring is out. */
static int live_held(struct rk_stream *st)
{
    st->live->held = false;
    if (!st->pending)
        order_free(&st->order);
    live_ways(st);
    return 1;
}

static int live_refill(struct rk_stream *st)
{
    struct stream_live *live = st->live;
    bool round = true;
    int r = 0;

    live_world_done(live);
    if (live->overwrite) { /* what snapshots brought has gone out */
        live_look(live, 0);
        return 0;
    }
    if (live->feeder)
        r = live->feeder->take(live->feeder->context, st, &round);
    if (r == 0 &&
        (!live->feeder || st->drained)) { /* drained: the feeder has ended, perhaps before a full queue */
        live_look(live, 0);
        r = pass_all(st);
        round = true;
    }
    if (r < 0)
        return r;
    if (st->drained)
        r = order_drain(&st->order);
    else if (order_full(&st->order))
        r = order_half(&st->order);
    else if (round)
        r = order_round(&st->order);
    if (r < 0)
        return stream_fail(st, (struct stream_fault){.code = r, .where = STREAM_FAULT_QUEUE});
    return st->order.ready > st->order.at;
}

void live_ways(struct rk_stream *st)
{
    struct stream_live *live = st->live;
    bool single = live->n == 1 && !live->overwrite && !live->feeder, straight = single && !live->held;

    st->straight = straight ? live_straight : NULL;
    st->views = straight ? live_views : NULL;
    st->refill = straight ? NULL : single ? live_held : live_refill;
    st->ring = straight && !st->deferred && stream_alike(st) ? live->rings[0].ring : NULL;
    st->fork_word = set_fork_word(live->set);
    live_world_first(st);
}

void live_feed(struct rk_stream *st, const struct live_feeder *feeder)
{
    st->live->feeder = feeder;
    live_ways(st);
}

bool live_unwound(const struct rk_stream *st, const struct rk_record *record)
{
    return st->live && st->live->feeder && !st->deferred && record != &st->record && order_marked(record);
}

void live_drain(struct stream_live *live)
{
    if (live->feeder)
        live->feeder->stop(live->feeder->context);
}

/* What a ring that is written backward holds, newest first, to the queue. */
static int snapshot_ring(struct rk_stream *st, uint32_t index)
{
    struct live_ring *at = &st->live->rings[index];
    const struct perf_header *header;
    struct rk_record record;
    uint64_t last = 0;
    int r = 0;

    backward_begin(&at->backward);
    while (r == 0 && backward_next(&at->backward, &header) == 1) {
        stream_identify(st, header, at->backward.at - header->size, &record);
        r = stream_push(st, &record, stream_key(&record, &last));
    }
    return r;
}

int live_snapshot(struct rk_stream *st)
{
    struct stream_live *live = st->live;
    int error = 0, r;

    for (uint32_t i = 0; i < live->n; i++)
        if ((r = sys_perf_control(set_ring(live->set, i)->fd, IOC_PAUSE_OUTPUT, 1)) < 0)
            error = r;
    for (uint32_t i = 0; i < live->n && error == 0; i++)
        error = snapshot_ring(st, i);
    for (uint32_t i = 0; i < live->n; i++)
        sys_perf_control(set_ring(live->set, i)->fd, IOC_PAUSE_OUTPUT, 0);
    if (error < 0)
        return error;
    return order_drain(&st->order);
}

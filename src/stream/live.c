/*
 * The rings of a set, as a source.
 *
 * One ring per CPU (or one for a thread on any CPU). A single ring is handed on as it is: views into the ring, in
 * the kernel's order. Several are passed one after the other, copied to the queue and given back at once, so that
 * holding records back for order does not fill the rings.
 *
 * With a thread (pump.h) the rings are emptied by it, one or many, and what it brings goes to the queue.
 *
 * Rings that are written backward hold the latest only and are read when a snapshot is asked for, with their output
 * paused meanwhile; their records come newest first, and the queue puts them right.
 *
 * Waiting: an epoll descriptor over one event of each ring. The kernel marks a ring's waiters when enough has been
 * written, and a poll takes the mark, so each wake-up is told once. An event whose thread has ended polls as ended
 * for ever; it is replaced by another thread's event of the same ring, and when none is left, the ring has ended.
 */
#include "stream/live.h"
#include "base/error.h"
#include "count/read.h"
#include "open/set.h"
#include "ring/backward.h"
#include "stream/stream.h"
#include "sys/file.h"
#include "sys/perf.h"
#include "sys/ready.h"

#include <errno.h>
#include <stdio.h>

static void unmap_all(struct stream_live *live)
{
    for (uint32_t i = 0; i < live->n; i++)
        live->rings[i].ring = ring_unmap(live->rings[i].ring);
}

struct stream_live *live_close(struct stream_live *live)
{
    if (!live)
        return NULL;
    live->set->streamed = false;
    if (!live_forked(live))
        pump_stop(live->pump); /* a forked child has no such thread */
    pump_free(live->pump);
    free(live->pumped);
    if (live_forked(live)) {
        /* The kernel did not copy the mappings to this process: something else may lie there. */
        for (uint32_t i = 0; i < live->n; i++)
            if (live->rings[i].ring)
                live->rings[i].ring->mapped = 0;
    }
    unmap_all(live);
    if (live->epoll >= 0)
        sys_close(live->epoll);
    free(live->values);
    free(live);
    return NULL;
}

int live_fd(const struct stream_live *live)
{
    return live->pump ? live->pump->ready_event : live->epoll;
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
    if (!live->pump && !live->overwrite)
        for (uint32_t i = 0; i < live->n; i++)
            ring_release(live->rings[i].ring);
}

/* --- Opening --- */

static int map_all(struct stream_live *live, size_t bytes, uint32_t *ret_failed)
{
    for (uint32_t i = 0; i < live->n; i++) {
        int r = (live->overwrite ? ring_map_backward : ring_map)(live->set->rings[i].fd, bytes,
                                                                 &live->rings[i].ring);
        if (r < 0) {
            *ret_failed = i;
            unmap_all(live);
            return r;
        }
    }
    return 0;
}

/* Smaller than meant is told, once, with the limit that would do. */
static int note_smaller(struct stream_live *live, size_t bytes)
{
    struct rk_set *set = live->set;
    const int32_t *cpus;
    size_t n_cpus = 0;
    char remedy[96];

    if (rk_host_cpus(set->host, &cpus, &n_cpus) < 0 || n_cpus == 0)
        n_cpus = 1;
    uint64_t all = (uint64_t)(set->ring_wanted + sys_page_size()) * live->n, kib = UINT64_C(1024) * n_cpus;
    snprintf(remedy, sizeof remedy, "sudo sysctl -w kernel.perf_event_mlock_kb=%ju",
             (uintmax_t)((all + kib - 1) / kib));
    return set_note_add(set, UINT32_MAX, RK_CAUSE_MLOCK, false, remedy,
                        "rings have %zu KiB each, not %u: the limit on locked memory (perf_event_mlock_kb, "
                        "RLIMIT_MEMLOCK) allows no more",
                        bytes >> 10, set->ring_wanted >> 10);
}

/* Rings of the size that was asked for; where the mlock limit is in the way and the size was not the caller's
 * choice, of half as much, and so on; all the same size. */
static int map_rings(struct stream_live *live, struct rk_error *e)
{
    struct rk_set *set = live->set;
    size_t bytes = set->ring_bytes, page = sys_page_size();
    uint32_t failed = 0;
    int r;

    while ((r = map_all(live, bytes, &failed)) == -EPERM && !set->ring_bytes_fixed && bytes > page)
        bytes /= 2;
    if (r < 0)
        return set_fail(set, RK_STAGE_MAP, set->rings[failed].slot, set->rings[failed].event, r,
                        (uint64_t)(bytes + page) * live->n, e);
    if (bytes != set->ring_wanted && note_smaller(live, bytes) < 0)
        return fail_memory(e, RK_STAGE_MAP);
    set->ring_bytes = (uint32_t)bytes;
    for (uint32_t i = 0; i < live->n; i++) {
        uint32_t slot, event;
        r = set_ring_redirect(set, i, &slot, &event);
        if (r < 0)
            return set_fail(set, RK_STAGE_CONTROL, slot, event, r, 0, e);
    }
    return 0;
}

static int add_events(struct rk_stream *st, struct rk_set *set, struct rk_error *e)
{
    for (uint32_t i = 0; i < set->n_events; i++) {
        const struct set_event *event = &set->events[i];
        int r = stream_event_add(st, &event->attr, event->event.name);
        if (r == -ENOMEM)
            return fail_memory(e, RK_STAGE_STREAM);
        if (r < 0)
            return fail(e, r, RK_STAGE_STREAM, RK_CAUSE_ARGUMENT, NULL,
                        "%s: its sample fields can't be together", event->event.name);
        for (uint32_t slot = 0; slot < set->n_slots; slot++)
            if (set_fd(set, slot, i) >= 0 && stream_id_add(st, set_id(set, slot, i), i) < 0)
                return fail_memory(e, RK_STAGE_STREAM);
    }
    return 0;
}

/* Waits for the next event of the ring that has one, from slot `ring->slot` on. */
static int watch(struct stream_live *live, uint32_t index)
{
    struct live_ring *ring = &live->rings[index];
    const struct rk_set *set = live->set;

    for (; ring->slot < set->n_slots; ring->slot++) {
        if (set->slots[ring->slot].cpu != set->rings[index].cpu)
            continue;
        for (uint32_t event = 0; event < set->n_events; event++) {
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

static int live_straight(struct rk_stream *st, struct rk_record *ret);
static int live_views(struct rk_stream *st, const struct perf_header **ret, size_t max);
static int live_refill(struct rk_stream *st);

int rk_stream_live(struct rk_set *set, struct rk_stream **ret, struct rk_error *e)
{
    if (!set || !ret)
        return fail_null(e, RK_STAGE_STREAM, "rk_stream_live", set ? "ret" : "set");
    if (set_forked(set))
        return fail(e, -ESTALE, RK_STAGE_STREAM, RK_CAUSE_FORKED, "open a set in the child itself",
                    "this set belongs to the process that forked this one");
    if (!set->sampling || set->n_rings == 0)
        return fail_argument(e, RK_STAGE_STREAM,
                             "the set only counts: give rk_set_options a period or a frequency");
    if (set->streamed)
        return fail(e, -EBUSY, RK_STAGE_STREAM, RK_CAUSE_ARGUMENT, "close that one, or open another set",
                    "the set has a stream or a capture already: its rings have one reader");

    struct rk_stream *st = stream_new();
    if (!st)
        return fail_memory(e, RK_STAGE_STREAM);
    struct stream_live *live = st->live = calloc(1, sizeof *live + set->n_rings * sizeof live->rings[0]);
    if (!live || !(live->values = calloc(set->n_events, sizeof *live->values))) {
        st->live = NULL;
        free(live);
        rk_stream_close(st);
        return fail_memory(e, RK_STAGE_STREAM);
    }
    live->set = set;
    set->streamed = true;
    live->n = set->n_rings;
    live->overwrite = set->options.overwrite;
    live->epoll = sys_epoll_open();
    int r = live->epoll;
    if (r < 0)
        fail(e, r, RK_STAGE_STREAM, r == -EMFILE || r == -ENFILE ? RK_CAUSE_DESCRIPTORS : RK_CAUSE_UNKNOWN,
             NULL, "epoll_create1: %s", strerror(-r));
    if (r >= 0)
        r = add_events(st, set, e);
    if (r >= 0)
        r = map_rings(live, e);
    for (uint32_t i = 0; i < live->n && r >= 0; i++)
        if ((r = watch(live, i)) < 0)
            fail(e, r, RK_STAGE_STREAM, r == -ENOMEM ? RK_CAUSE_MEMORY : RK_CAUSE_UNKNOWN, NULL,
                 "epoll_ctl: %s", strerror(-r));
    if (r < 0) {
        rk_stream_close(st);
        return r;
    }
    for (uint32_t i = 0; i < live->n && live->overwrite; i++)
        backward_init(&live->rings[i].backward, live->rings[i].ring);
    if (live->n == 1 && !live->overwrite) {
        st->straight = live_straight;
        st->views = live_views;
        st->fork_word = set->fork_word;
        if (!st->deferred && stream_alike(st))
            st->ring = live->rings[0].ring;
    } else {
        st->refill = live_refill;
        /* A pass brings at most all rings, and two of them may wait. */
        st->order.limit = (size_t)set->ring_bytes * live->n * 4;
        if (st->order.limit < ORDER_LIMIT)
            st->order.limit = ORDER_LIMIT;
    }
    *ret = st;
    return 0;
}

/* --- Reading --- */

/* Takes the wake-ups, and moves from events whose thread has ended to others. Not vital: what fails here is
 * tried again at the next pass. */
static int look_for_ends(struct stream_live *live, int timeout_ms)
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
        watch(live, (uint32_t)ready[i].tag);
    }
    return n;
}

static int pump_wait(void *context, int timeout_ms)
{
    return look_for_ends(context, timeout_ms);
}

/* The layout of all events' samples, or NULL: they differ, or carry no stacks. */
static const struct layout *stacks_of_all(const struct rk_stream *st)
{
    const struct layout *first = &st->events.items[0].layout;

    for (size_t i = 0; i < st->events.n; i++) {
        const struct layout *l = &st->events.items[i].layout;
        if (!(l->sample_type & RK_SAMPLE_STACK_USER) || l->sample_type != first->sample_type ||
            l->read_format != first->read_format || l->branch_sample_type != first->branch_sample_type ||
            l->regs_user != first->regs_user || l->regs_intr != first->regs_intr)
            return NULL;
    }
    return first;
}

int live_pump(struct rk_stream *st, size_t limit, const struct pump_stacks *wanted)
{
    struct stream_live *live = st->live;
    struct pump_stacks stacks = wanted ? *wanted : (struct pump_stacks){0};

    stacks.layout = wanted ? stacks_of_all(st) : NULL;
    if (st->deferred)
        stacks.answer = NULL; /* what completes a chain looks at the sample as the kernel wrote it */

    live->pumped = calloc(live->n, sizeof *live->pumped);
    if (!live->pumped)
        return -ENOMEM;
    for (uint32_t i = 0; i < live->n; i++)
        live->pumped[i] = live->rings[i].ring;
    int r =
        pump_start(&live->pump, live->pumped, live->n, live->set->ring_bytes, limit, stacks, pump_wait, live);
    if (r < 0)
        return r;
    st->ring = NULL;
    st->straight = NULL;
    st->views = NULL;
    st->refill = live_refill;
    return 0;
}

void live_top(const struct rk_stream *st, int32_t tid, uint64_t top)
{
    if (st->live && st->live->pump)
        pump_top(st->live->pump, tid, top);
}

void live_exec(const struct rk_stream *st, int32_t tid)
{
    if (st->live && st->live->pump)
        pump_exec(st->live->pump, tid);
}

uint64_t live_pump_full(const struct rk_stream *st)
{
    return st->live && st->live->pump ? pump_full(st->live->pump) : 0;
}

static int ring_failed(const struct rk_stream *st, uint32_t index, int code)
{
    return stream_fail(st, (struct stream_fault){.code = code,
                                                 .where = STREAM_FAULT_RING,
                                                 .ring = index,
                                                 .offset = ring_offset(st->live->rings[index].ring)});
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
        look_for_ends(st->live, 0);
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
        look_for_ends(st->live, 0);
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
 * from its other rings. */
static int pass_ring(struct rk_stream *st, uint32_t index)
{
    struct live_ring *at = &st->live->rings[index];
    uint64_t until = ring_offset(at->ring) + at->ring->size;
    const struct perf_header *header;
    struct rk_record record;
    int r;

    while ((r = ring_next(at->ring, &header)) == 1) {
        stream_identify(st, header, ring_offset(at->ring) - header->size, &record);
        r = stream_push(st, &record, stream_key(&record, &at->last));
        if (r < 0 || ring_offset(at->ring) >= until)
            break;
    }
    if (r == -EBADMSG)
        ring_failed(st, index, r);
    ring_release(at->ring);
    return r < 0 ? r : 0;
}

/* A part of a block: whole records of one ring. */
static int take_part(struct rk_stream *st, const struct pump_part *part, unsigned char *bytes)
{
    struct live_ring *at = &st->live->rings[part->ring];
    struct rk_record record;

    for (uint64_t done = 0; done < part->n;) {
        struct perf_header *header = (void *)(bytes + done);
        uint64_t left = part->n - done;

        if (left < sizeof *header || header->size < sizeof *header || header->size % 8 || header->size > left)
            return stream_fail(st, (struct stream_fault){.code = -EBADMSG,
                                                         .where = STREAM_FAULT_RING,
                                                         .ring = (uint32_t)part->ring,
                                                         .offset = part->offset + done});
        stream_identify(st, header, part->offset + done, &record);
        header->misc &= (uint16_t)~PUMP_ANSWERED; /* record.misc has it still */
        int r = stream_push(st, &record, stream_key(&record, &at->last));
        if (r < 0)
            return r;
        done += header->size;
    }
    return 0;
}

/* A block of the reader's; its round, if it ends one. */
static int take_block(struct rk_stream *st, struct pump_block *block)
{
    int error = 0;

    for (size_t at = 0; at < block->used;) {
        struct pump_part part;
        memcpy(&part, block->bytes + at, sizeof part);
        int r = take_part(st, &part, block->bytes + at + sizeof part);
        error = r < 0 ? r : error;
        at += sizeof part + part.n;
        if (block->error && at >= block->used)
            error = stream_fail(st, (struct stream_fault){.code = block->error,
                                                          .where = STREAM_FAULT_RING,
                                                          .ring = (uint32_t)part.ring,
                                                          .offset = part.offset + part.n});
    }
    return error;
}

/* All that the reader has brought. Blocks go back as soon as they are copied. A round's end that is followed by other
 * blocks is not told apart: what it would let go, the last one does. */
static int take_blocks(struct rk_stream *st, bool *ret_round)
{
    struct stream_live *live = st->live;
    uint64_t passes;
    struct pump_block *block = pump_take(live->pump, &passes), *next;
    bool any = block != NULL, round = false;
    int error = 0;

    for (; block; block = next) {
        int r = take_block(st, block);
        error = r < 0 ? r : error;
        round = block->round;
        next = block->next;
        pump_give(live->pump, block);
    }
    /* The blocks behind the last round's end belong to a pass that goes on. */
    *ret_round = round || (!any && passes > live->passes);
    live->passes = passes;
    return error;
}

/* One pass over the rings ourselves. */
static int pass_all(struct rk_stream *st)
{
    int error = 0, r;

    for (uint32_t i = 0; i < st->live->n; i++)
        if ((r = pass_ring(st, i)) < 0)
            error = r;
    return error;
}

static int live_refill(struct rk_stream *st)
{
    struct stream_live *live = st->live;
    bool round = true;
    int r = 0;

    if (live->overwrite) { /* what snapshots brought has gone out */
        look_for_ends(live, 0);
        return 0;
    }
    if (live->pump)
        r = take_blocks(st, &round);
    if (r == 0 &&
        (!live->pump || st->drained)) { /* drained: the reader has ended, perhaps before a full queue */
        look_for_ends(live, 0);
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

void live_drain(struct stream_live *live)
{
    pump_stop(live->pump);
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
        if ((r = sys_perf_control(live->set->rings[i].fd, IOC_PAUSE_OUTPUT, 1)) < 0)
            error = r;
    for (uint32_t i = 0; i < live->n && error == 0; i++)
        error = snapshot_ring(st, i);
    for (uint32_t i = 0; i < live->n; i++)
        sys_perf_control(live->set->rings[i].fd, IOC_PAUSE_OUTPUT, 0);
    if (error < 0)
        return error;
    return order_drain(&st->order);
}

/* --- Loss --- */

/* How many samples the event's counts call for, slot by slot. 0, or -errno. */
static int samples_due(const struct stream_live *live, uint32_t event, uint64_t period, uint64_t *ret)
{
    struct rk_set *set = live->set;
    uint64_t due = 0;

    for (uint32_t slot = 0; slot < set->n_slots; slot++) {
        int r = rk_set_read(set, slot, live->values, set->n_events);
        if (r < 0)
            return r;
        due += live->values[event].value / period;
    }
    *ret = due;
    return 0;
}

void live_loss(const struct rk_stream *st, uint32_t event, struct rk_loss *loss)
{
    struct rk_set *set = st->live->set;
    const struct stream_event *at = &st->events.items[event];
    uint64_t lost, due = 0, period = stream_fixed_period(&at->attr);

    int r = set->events[event].absent || live_forked(st->live) ? -ENOENT : count_lost(set, event, &lost);
    if (r == 0)
        loss->lost += lost;
    else if (r == -EOPNOTSUPP)
        loss->lost += at->tally.lost_records;
    else
        return;
    loss->present |= RK_LOSS_LOST;
    /* While samples are on their way the sum would not close. */
    if (!st->drained || period == 0 || at->rate_changed || set->options.overwrite ||
        samples_due(st->live, event, period, &due) < 0)
        return;
    /* A tracepoint may add more than 1 for what is one sample (sched_stat_runtime: nanoseconds), told as its period. */
    if (due > loss->kept + loss->lost && at->attr.type == PERF_TRACEPOINT &&
        (at->attr.sample_type & RK_SAMPLE_PERIOD))
        return;
    loss->present |= RK_LOSS_SKIPPED;
    loss->skipped = due > loss->kept + loss->lost ? due - loss->kept - loss->lost : 0;
}

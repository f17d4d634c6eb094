#include "stream/stream.h"

#include "base/error.h"

#include <errno.h>

struct rk_stream *stream_new(void)
{
    struct rk_stream *st = calloc(1, sizeof *st);

    if (!st || !(st->fault = calloc(1, sizeof *st->fault))) {
        free(st);
        return NULL;
    }
    st->any = st->id_event = RK_NO_EVENT;
    st->plain = true;
    return st;
}

struct rk_stream *rk_stream_free(struct rk_stream *st)
{
    if (!st)
        return NULL;
    live_close(st->live);
    file_close(st->file);
    for (size_t i = 0; i < st->events.n; i++)
        vector_free(&st->events.items[i].ids);
    vector_free(&st->events);
    table_free(&st->ids);
    order_free(&st->order);
    members_free(st->members);
    deferred_free(st->deferred);
    formats_free(st->formats);
    free(st->fault);
    free(st);
    return NULL;
}

uint64_t stream_own_period(const struct perf_attr *attr)
{
    return attr->flags & ATTR_FREQ ? 0 : attr->sample_period;
}

int stream_event_add(struct rk_stream *st, const struct perf_attr *attr, const char *name)
{
    struct layout layout;
    int r = layout_init(&layout, attr);
    if (r < 0)
        return r;

    if ((attr->flags & ATTR_DEFER_CALLCHAIN) && !st->deferred && !(st->deferred = deferred_new()))
        return -ENOMEM;
    struct stream_event *event = vector_push(&st->events);
    if (!event)
        return -ENOMEM;
    event->layout = layout;
    event->attr = *attr;
    event->name = name;
    event->period = stream_own_period(attr);
    st->plain &= layout.plain_bytes != 0;
    if (attr->sample_type) {
        if (st->any == RK_NO_EVENT)
            st->any = (uint32_t)(event - st->events.items);
        else
            st->mixed |= !layout_same_id(&st->events.items[st->any].layout, &layout);
    }
    return 0;
}

int stream_id_add(struct rk_stream *st, uint64_t id, uint32_t event)
{
    uint64_t *to = vector_push(&st->events.items[event].ids);

    if (!to)
        return -ENOMEM;
    *to = id;
    return table_put(&st->ids, id, event);
}

bool stream_alike(const struct rk_stream *st)
{
    const struct stream_event *events = st->events.items;

    if (st->any != 0 || st->mixed || (st->events.n > 1 && !events[0].layout.sample.id))
        return false;
    for (size_t i = 1; i < st->events.n; i++)
        if (events[i].attr.sample_type != events[0].attr.sample_type)
            return false;
    return true;
}

/* The bit goes where there is no build-id. Of a live event it is known; files may have got theirs later (perf inject). */
static void look_at_build_id(const struct rk_stream *st, uint32_t event, struct rk_record *record)
{
    bool asked =
        event >= st->events.n || (st->events.items[event].attr.flags & ATTR_BUILD_ID); /* unknown: believed */

    if (asked ? !mapping_has_build_id(record, 1)
              : st->live != NULL || !mapping_has_build_id(record, BUILD_ID_USUAL))
        record->misc &= (uint16_t)~RK_MISC_BUILD_ID;
}

void stream_identify_slowly(const struct rk_stream *st, const struct perf_header *header, uint64_t offset,
                            struct rk_record *ret)
{
    const struct stream_event *events = st->events.items;
    const struct layout *layout = NULL;
    uint32_t event = RK_NO_EVENT;
    uint64_t id;

    if (st->any != RK_NO_EVENT && header->type < RECORD_TYPE_USER) {
        if (st->events.n == 1)
            event = 0;
        else if (!st->mixed && layout_id(&events[st->any].layout, header, &id) == 0)
            event = table_get(&st->ids, id); /* TABLE_NONE is RK_NO_EVENT */
        layout = &events[event == RK_NO_EVENT ? st->any : event].layout;
    }
    if (layout_record(layout, header, ret) < 0)
        event = STREAM_DAMAGED;
    else if (ret->type == RK_RECORD_MMAP2 && (ret->misc & RK_MISC_BUILD_ID))
        look_at_build_id(st, event, ret);
    ret->event = event;
    ret->offset = offset;
}
_Static_assert(TABLE_NONE == RK_NO_EVENT, "an unknown id is no event");

int stream_push_unwound(struct rk_stream *st, const struct rk_record *record, uint64_t time, bool unwound)
{
    int r = order_push_marked(&st->order, record, time, unwound);

    if (r == 0)
        return 0;
    if (record->type == RK_RECORD_SAMPLE)
        (record->event < st->events.n ? &st->events.items[record->event].tally : &st->others)->dropped++;
    return stream_fail(st, (struct stream_fault){.code = r, .where = STREAM_FAULT_QUEUE});
}

/* What goes out is counted here, once, whatever the source. */
static int hand_out_other(struct rk_stream *st, const struct rk_record *record, const struct rk_record **ret)
{
    uint32_t event = record->event;
    struct rk_lost lost = {.size = sizeof lost};

    if (event == STREAM_DAMAGED)
        return stream_fail(st, (struct stream_fault){.code = -EBADMSG,
                                                     .where = STREAM_FAULT_RECORD,
                                                     .type = record->type,
                                                     .offset = record->offset,
                                                     .bytes = record->bytes});
    switch (record->type) {
    case RK_RECORD_SAMPLE:
        st->others.kept++;
        break;
    case RK_RECORD_LOST:
    case RK_RECORD_LOST_SAMPLES:
        if (rk_record_lost(record, &lost) < 0)
            break;
        /* A LOST record is written by whichever event comes next, and names it. */
        if (record->type == RK_RECORD_LOST && st->events.n > 1)
            event = table_get(&st->ids, lost.id);
        struct stream_tally *tally = event < st->events.n ? &st->events.items[event].tally : &st->others;
        if (record->type == RK_RECORD_LOST)
            tally->lost_records += lost.count;
        else
            tally->lost_samples += lost.count;
        break;
    case RK_RECORD_THROTTLE:
        (event < st->events.n ? &st->events.items[event].tally : &st->others)->throttled++;
        break;
    default:
        break;
    }
    *ret = record;
    return 1;
}

static inline int hand_out(struct rk_stream *st, const struct rk_record *record, const struct rk_record **ret)
{
    if (__builtin_expect(record->type != RK_RECORD_SAMPLE || record->event >= st->events.n, 0))
        return hand_out_other(st, record, ret);
    st->events.items[record->event].tally.kept++;
    *ret = record;
    return 1;
}

int stream_view(struct rk_stream *st, const struct perf_header *view, uint64_t behind,
                const struct rk_record **ret)
{
    stream_identify(st, view, live_position(st->live) - behind - view->size, &st->record);
    return hand_out(st, &st->record, ret);
}

/* The next in the order of time. */
static inline int next_in_order(struct rk_stream *st, const struct rk_record **ret)
{
    if (st->broken)
        return 0;
    for (;;) {
        if (st->straight) {
            *ret = &st->record;
            return st->straight(st, &st->record);
        }
        *ret = order_next(&st->order);
        if (*ret)
            return 1;
        int r = st->refill(st); /* which may find that it can go straight from here on */
        if (r <= 0)
            return r;
    }
}

/* The same, with samples that wait for the rest of their chain held back. */
static int next_whole(struct rk_stream *st, const struct rk_record **ret)
{
    for (;;) {
        const struct rk_record *record = deferred_next(st->deferred);
        int r = 1;

        if (record) {
            *ret = record;
            return 1;
        }
        r = next_in_order(st, &record);
        if (r == 0 && (!st->live || st->drained)) {
            deferred_end(st->deferred);
            *ret = deferred_next(st->deferred);
            return *ret != NULL;
        }
        if (r <= 0)
            return r;
        const struct layout *layout =
            record->event < st->events.n ? &st->events.items[record->event].layout : NULL;
        r = deferred_take(st->deferred, layout, record);
        if (r < 0)
            return stream_fail(st, (struct stream_fault){.code = r, .where = STREAM_FAULT_QUEUE});
        if (r == 0) {
            *ret = record;
            return 1;
        }
    }
}

/* Whatever the source. */
static __attribute__((noinline)) int next_slowly(struct rk_stream *st, const struct rk_record **ret)
{
    const struct rk_record *record = NULL;

    if (st->live && live_forked(st->live))
        return stream_fail(st, (struct stream_fault){.code = -ESTALE, .where = STREAM_FAULT_FORKED});
    const struct rk_record *member = members_next(st->members);
    if (member)
        return hand_out(st, member, ret);
    for (int taken = 0; taken == 0;) {
        int r = st->deferred ? next_whole(st, &record) : next_in_order(st, &record);
        if (r != 1)
            return r;
        taken = members_take(st, record, &record);
        if (taken < 0)
            return stream_fail(st, (struct stream_fault){.code = taken, .where = STREAM_FAULT_QUEUE});
    }
    return hand_out(st, record, ret);
}

/* The next sample is of another event than the one before it. */
static __attribute__((noinline)) int next_of_other(struct rk_stream *st, const struct rk_record **ret)
{
    uint32_t event = table_get(&st->ids, st->record.id);

    if (event == RK_NO_EVENT)
        return next_slowly(st, ret);
    st->id = st->record.id;
    st->id_event = event;
    return rk_stream_next(st, ret);
}

/* A sample in a single ring, which is what a loop over a thread's samples sees, takes the short way: nothing is called. */
int rk_stream_next(struct rk_stream *st, const struct rk_record **ret)
{
    struct ring *ring = st->ring;
    struct rk_record *record = &st->record;
    const void *data;
    uint64_t header;
    uint32_t event = 0;

    if (__builtin_expect(!ring || *st->fork_word == 0 || !(data = ring_peek(ring, &header)) ||
                             !layout_head(&st->events.items[0].layout, data, header, record),
                         0))
        return next_slowly(st, ret);
    if (st->events.n > 1) {
        if (__builtin_expect(record->id != st->id || st->id_event == RK_NO_EVENT, 0))
            return next_of_other(st, ret);
        event = st->id_event;
    }
    record->event = event;
    record->offset = ring_offset(ring);
    ring_pass(ring, header >> 48);
    st->events.items[event].tally.kept++;
    *ret = record;
    return 1;
}

int rk_stream_release(struct rk_stream *st)
{
    if (st->live) {
        if (live_forked(st->live))
            return stream_fail(st, (struct stream_fault){.code = -ESTALE, .where = STREAM_FAULT_FORKED});
        live_release(st->live);
    }
    order_release(&st->order);
    return 0;
}

int rk_stream_drain(struct rk_stream *st)
{
    if (!st || !st->live)
        return -EINVAL;
    if (live_forked(st->live))
        return stream_fail(st, (struct stream_fault){.code = -ESTALE, .where = STREAM_FAULT_FORKED});
    live_drain(st->live);
    st->drained = true;
    return 0;
}

int rk_stream_fd(const struct rk_stream *st)
{
    return st && st->live ? live_fd(st->live) : -EINVAL;
}

/* Any sample, and what is none. */
static __attribute__((noinline)) int sample_slowly(const struct rk_stream *st, const struct rk_record *record,
                                                   struct rk_sample *ret)
{
    if (record->type != RK_RECORD_SAMPLE)
        return -EINVAL;
    const struct stream_event *event = record->event < st->events.n ? &st->events.items[record->event] : NULL;
    int r = event ? layout_sample(&event->layout, record, ret) : -EBADMSG;
    if (r == 0 && !event->layout.sample.period && ret->size >= __builtin_offsetof(struct rk_sample, pid))
        ret->period = event->period;
    if (r == 0)
        members_sample(st->members, record, ret);
    if (r == -EBADMSG)
        stream_fail(st, (struct stream_fault){.code = r,
                                              .where = STREAM_FAULT_SAMPLE,
                                              .type = record->type,
                                              .event = record->event,
                                              .offset = record->offset,
                                              .bytes = record->bytes});
    return r;
}

int rk_stream_sample(const struct rk_stream *st, const struct rk_record *record, struct rk_sample *ret)
{
    if (__builtin_expect(st->plain && record->type == RK_RECORD_SAMPLE && record->event < st->events.n, 1)) {
        const struct stream_event *event = &st->events.items[record->event];
        if (__builtin_expect(layout_plain(&event->layout, record, event->period, ret), 1))
            return 0;
    }
    return sample_slowly(st, record, ret);
}

int rk_stream_read(const struct rk_stream *st, const struct rk_record *record, struct rk_sample *ret)
{
    if (!st || !record || !ret || record->type != RK_RECORD_READ)
        return -EINVAL;
    int r = record->event < st->events.n ? layout_read(&st->events.items[record->event].layout, record, ret)
                                         : -EBADMSG;
    if (r == -EBADMSG)
        stream_fail(st, (struct stream_fault){.code = r,
                                              .where = STREAM_FAULT_RECORD,
                                              .type = record->type,
                                              .event = record->event,
                                              .offset = record->offset,
                                              .bytes = record->bytes});
    return r;
}

size_t rk_stream_event_count(const struct rk_stream *st)
{
    return st ? st->events.n : 0;
}

/* As capture/frames.h writes it: nobody else says how large a stack is that is not sampled. */
static bool stream_unwound(const struct perf_attr *a)
{
    return a->sample_stack_user && a->sample_type & RK_SAMPLE_CALLCHAIN &&
           !(a->sample_type & RK_SAMPLE_STACK_USER);
}

int rk_stream_event_get(const struct rk_stream *st, size_t index, struct rk_stream_event *ret)
{
    if (!st)
        return -EINVAL;
    if (index >= st->events.n)
        return -ERANGE;

    const struct stream_event *event = &st->events.items[index];
    const struct perf_attr *a = &event->attr;
    struct rk_stream_event mine = {.size = sizeof mine,
                                   .type = a->type,
                                   .config = a->config,
                                   .sample = a->sample_type,
                                   .read_format = a->read_format,
                                   .name = st->file ? file_event_name(st, index) : event->name,
                                   .unwound = stream_unwound(a),
                                   .call_stack = (a->sample_type & RK_SAMPLE_BRANCH_STACK) &&
                                                 (a->branch_sample_type & BRANCH_CALL_STACK),
                                   .attr = a,
                                   .attr_bytes = sizeof *a,
                                   .ids = event->ids.items,
                                   .ids_n = event->ids.n};
    if (a->flags & ATTR_FREQ)
        mine.frequency = a->sample_period;
    else
        mine.period = a->sample_period;
    return result_give(ret, &mine, sizeof mine);
}

int rk_stream_info(const struct rk_stream *st, struct rk_stream_info *ret)
{
    struct rk_stream_info mine = {.size = sizeof mine,
                                  .host = "",
                                  .kernel = "",
                                  .architecture = "",
                                  .command = "",
                                  .tool = "",
                                  .trace = ""};

    if (!st)
        return -EINVAL;
    mine.ordered = st->order.sorted;
    if (st->file)
        file_info(st, &mine);
    return result_give(ret, &mine, sizeof mine);
}

#include "stream/stream.h"

#include "base/error.h"

#include <errno.h>
#include <inttypes.h>

struct rk_stream *stream_new(void)
{
    struct rk_stream *st = calloc(1, sizeof *st);

    if (!st || !(st->fault = calloc(1, sizeof *st->fault))) {
        free(st);
        return NULL;
    }
    st->any = RK_NO_EVENT;
    return st;
}

struct rk_stream *rk_stream_close(struct rk_stream *st)
{
    if (!st)
        return NULL;
    live_close(st->live);
    file_close(st->file);
    vector_free(&st->events);
    table_free(&st->ids);
    order_free(&st->order);
    deferred_free(st->deferred);
    formats_free(st->formats);
    free(st->fault);
    free(st);
    return NULL;
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
    return table_put(&st->ids, id, event);
}

int stream_fail(const struct rk_stream *st, struct stream_fault fault)
{
    *st->fault = fault;
    return fault.code;
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

int stream_push(struct rk_stream *st, const struct rk_record *record, uint64_t time)
{
    int r = order_push(&st->order, record, time);

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

int rk_stream_next(struct rk_stream *st, const struct rk_record **ret)
{
    const struct rk_record *record = NULL;

    if (st->live && live_forked(st->live))
        return stream_fail(st, (struct stream_fault){.code = -ESTALE, .where = STREAM_FAULT_FORKED});
    int r = st->deferred ? next_whole(st, &record) : next_in_order(st, &record);
    return r == 1 ? hand_out(st, record, ret) : r;
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

/* A sample that does not say its period has its event's, where that is fixed. */
static void fixed_period(const struct perf_attr *attr, struct rk_sample *ret)
{
    if (!(attr->flags & ATTR_FREQ) && ret->size >= __builtin_offsetof(struct rk_sample, pid))
        ret->period = attr->sample_period;
}

int rk_stream_sample(const struct rk_stream *st, const struct rk_record *record, struct rk_sample *ret)
{
    if (record->type != RK_RECORD_SAMPLE)
        return -EINVAL;
    int r = record->event < st->events.n ? layout_sample(&st->events.items[record->event].layout, record, ret)
                                         : -EBADMSG;
    if (r == 0 && !(st->events.items[record->event].layout.sample_type & RK_SAMPLE_PERIOD))
        fixed_period(&st->events.items[record->event].attr, ret);
    if (r == -EBADMSG)
        stream_fail(st, (struct stream_fault){.code = r,
                                              .where = STREAM_FAULT_SAMPLE,
                                              .type = record->type,
                                              .event = record->event,
                                              .offset = record->offset,
                                              .bytes = record->bytes});
    return r;
}

int rk_stream_read(const struct rk_stream *st, const struct rk_record *record, struct rk_sample *ret)
{
    if (record->type != RK_RECORD_READ)
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

int rk_stream_explain(const struct rk_stream *st, struct rk_error *ret)
{
    if (!st || !ret)
        return -EINVAL;
    const struct stream_fault *f = st->fault;
    if (f->code == 0)
        return -ENOENT;
    switch (f->where) {
    case STREAM_FAULT_RING:
        fail(ret, f->code, RK_STAGE_STREAM, RK_CAUSE_UNKNOWN, NULL,
             "ring %" PRIu32 ": after %" PRIu64
             " bytes a record's size makes no sense; what waited in the ring was given up",
             f->ring, f->offset);
        break;
    case STREAM_FAULT_RECORD:
        fail(ret, f->code, RK_STAGE_STREAM, RK_CAUSE_BAD_FILE, NULL,
             "the %s record at byte %" PRIu64 ", of %" PRIu64 " bytes, is too short for its event",
             rk_record_name(f->type), f->offset, f->bytes);
        break;
    case STREAM_FAULT_SAMPLE:
        fail(ret, f->code, RK_STAGE_STREAM, RK_CAUSE_BAD_FILE, NULL,
             f->event < st->events.n
                 ? "the sample at byte %" PRIu64 ", of %" PRIu64 " bytes, does not hold what its event says"
                 : "the sample at byte %" PRIu64 ", of %" PRIu64 " bytes, is of no event of this recording",
             f->offset, f->bytes);
        break;
    case STREAM_FAULT_QUEUE:
        fail(ret, f->code, RK_STAGE_STREAM, RK_CAUSE_MEMORY, NULL, "out of memory for records that wait");
        break;
    case STREAM_FAULT_FILE:
        return file_explain(st->file, ret);
    case STREAM_FAULT_FORKED:
        fail(ret, f->code, RK_STAGE_STREAM, RK_CAUSE_FORKED, "open a set and a stream in the child itself",
             "this stream belongs to the process that forked this one");
        break;
    }
    return 0;
}

size_t rk_stream_events(const struct rk_stream *st)
{
    return st ? st->events.n : 0;
}

/* As capture/frames.h writes it: nobody else says how large a stack is that is not sampled. */
static bool stream_unwound(const struct perf_attr *a)
{
    return a->sample_stack_user && a->sample_type & RK_SAMPLE_CALLCHAIN &&
           !(a->sample_type & RK_SAMPLE_STACK_USER);
}

int rk_stream_event(const struct rk_stream *st, size_t index, struct rk_stream_event *ret)
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
                                   .name = event->name,
                                   .unwound = stream_unwound(a),
                                   .call_stack = (a->sample_type & RK_SAMPLE_BRANCH_STACK) &&
                                                 (a->branch_sample_type & BRANCH_CALL_STACK)};
    if (a->flags & ATTR_FREQ)
        mine.frequency = a->sample_period;
    else
        mine.period = a->sample_period;
    return result_give(ret, &mine, sizeof mine);
}

int rk_stream_info(const struct rk_stream *st, struct rk_stream_info *ret)
{
    struct rk_stream_info mine = {
        .size = sizeof mine, .host = "", .kernel = "", .architecture = "", .command = "", .tool = ""};

    if (!st)
        return -EINVAL;
    mine.ordered = st->order.sorted;
    if (st->file)
        file_info(st, &mine);
    return result_give(ret, &mine, sizeof mine);
}

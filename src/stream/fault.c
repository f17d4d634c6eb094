/*
 * What failed last. Hot calls give -errno alone and note here what it was about; rk_stream_explain() puts it into words.
 */
#include "base/error.h"
#include "stream/live.h"

#include <errno.h>
#include <inttypes.h>

int stream_fail(const struct rk_stream *st, struct stream_fault fault)
{
    *st->fault = fault;
    return fault.code;
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
             rk_record_type_name(f->type), f->offset, f->bytes);
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
    case STREAM_FAULT_WORLD:
        live_world_explain(f->code, ret);
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

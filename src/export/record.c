#include "export/record.h"

#include "base/error.h"
#include "export/formats.h"
#include "record/layout.h"

#include <errno.h>

const char *record_mode(uint32_t misc)
{
    static const char *const names[] = {NULL, "kernel", "user", "hypervisor", "guest-kernel", "guest-user"};
    uint32_t mode = misc & RK_MISC_MODE;

    return mode < sizeof names / sizeof *names ? names[mode] : NULL;
}

const char *record_marker(uint64_t entry)
{
    switch (entry) {
    case RK_CHAIN_KERNEL:
        return "kernel";
    case RK_CHAIN_USER:
        return "user";
    case RK_CHAIN_USER_DEFERRED:
        return "user-deferred";
    case RK_CHAIN_HYPERVISOR:
        return "hypervisor";
    case RK_CHAIN_GUEST:
        return "guest";
    case RK_CHAIN_GUEST_KERNEL:
        return "guest-kernel";
    case RK_CHAIN_GUEST_USER:
        return "guest-user";
    default:
        return entry >= RK_CHAIN_MAX ? "unknown" : NULL;
    }
}

bool record_chain(const uint64_t *chain, uint64_t n, uint64_t *at, struct chain_part *ret)
{
    if (*at >= n)
        return false;
    const char *mode = record_marker(chain[*at]);
    bool deferred = chain[*at] == RK_CHAIN_USER_DEFERRED;
    uint64_t begin = *at + (mode ? 1 : 0);
    uint64_t cookie = deferred && begin < n ? chain[begin++] : 0, end = begin;

    while (end < n && !record_marker(chain[end]))
        end++;
    *ret = (struct chain_part){mode ? mode : "unknown", chain + begin, end - begin, cookie, deferred};
    *at = end;
    return true;
}

static void ids(struct record *r, int32_t pid, int32_t tid)
{
    r->has_ids = true;
    r->pid = pid;
    r->tid = tid;
}

static int decode_read(const struct rk_stream *stream, const struct rk_record *from, struct record *r)
{
    struct rk_stream_event event = {.size = sizeof event};

    if (from->event == RK_NO_EVENT || rk_stream_event(stream, from->event, &event) < 0)
        return -ENOENT;
    struct layout layout = {.read_format = event.read_format};
    int rc = layout_read(&layout, from, &r->sample);
    if (rc == 0)
        ids(r, r->sample.pid, r->sample.tid);
    return rc;
}

static int decode_fields(const struct rk_record *from, struct record *r)
{
    int has_ids = 0, n = fields_decode(from, r->fields, &has_ids);

    if (n < 0)
        return n;
    r->field_n = n;
    if (has_ids)
        ids(r, (int32_t)(uint32_t)fields_word(from->data, 1), (int32_t)(fields_word(from->data, 1) >> 32));
    return 0;
}

/* The body, by type: sets kind and what goes with it. 0, -EBADMSG, or -ENOENT: not known. */
static int decode_body(const struct rk_stream *stream, const struct rk_record *from, struct record *r)
{
    int rc;

    switch (from->type) {
    case RK_RECORD_SAMPLE:
        r->kind = RECORD_SAMPLE;
        return rk_stream_sample(stream, from, &r->sample);
    case RK_RECORD_READ:
        r->kind = RECORD_READ;
        return decode_read(stream, from, r);
    case RK_RECORD_MMAP:
    case RK_RECORD_MMAP2:
        r->kind = RECORD_MAPPING;
        if ((rc = rk_record_mapping(from, &r->mapping)) == 0)
            ids(r, r->mapping.pid, r->mapping.tid);
        return rc;
    case RK_RECORD_FORK:
    case RK_RECORD_EXIT:
        r->kind = RECORD_TASK;
        if ((rc = rk_record_task(from, &r->task)) == 0) {
            ids(r, r->task.pid, r->task.tid);
            r->time = r->has_time ? r->time : r->task.time;
            r->has_time = true;
        }
        return rc;
    case RK_RECORD_COMM:
        r->kind = RECORD_COMM;
        if ((rc = rk_record_comm(from, &r->comm)) == 0)
            ids(r, r->comm.pid, r->comm.tid);
        return rc;
    case RK_RECORD_LOST:
    case RK_RECORD_LOST_SAMPLES:
        r->kind = RECORD_LOST;
        return rk_record_lost(from, &r->lost);
    default:
        r->kind = RECORD_FIELDS;
        return decode_fields(from, r);
    }
}

void record_decode(const struct rk_stream *stream, const struct rk_record *from, struct record *ret)
{
    struct rk_stream_event event = {.size = sizeof event};

    *ret = (struct record){
        .has_ids = from->present & RK_SAMPLE_TID,
        .has_time = from->present & RK_SAMPLE_TIME,
        .has_cpu = from->present & RK_SAMPLE_CPU,
        .pid = from->pid,
        .tid = from->tid,
        .cpu = from->cpu,
        .time = from->time,
        .sample.size = sizeof ret->sample,
        .mapping.size = sizeof ret->mapping,
        .task.size = sizeof ret->task,
        .comm.size = sizeof ret->comm,
        .lost.size = sizeof ret->lost,
    };
    int rc = decode_body(stream, from, ret);
    if (rc < 0)
        ret->kind = rc == -ENOENT ? RECORD_UNKNOWN : RECORD_DAMAGED;
    if (from->event != RK_NO_EVENT && rk_stream_event(stream, from->event, &event) == 0)
        ret->event = event.name;
}

int rk_record_export(const struct rk_stream *stream, const struct rk_record *record, const char *format,
                     const struct rk_sink *sink, struct rk_error *e)
{
    static const char *const names[] = {"text", "json", NULL};
    static void (*const writers[])(const struct rk_stream *, const struct rk_record *,
                                   struct output *) = {export_record_text, export_record_json};
    int which = export_format("records", names, format, sink, e);
    if (which < 0)
        return which;
    if (!stream || !record)
        return fail_null(e, RK_STAGE_EXPORT, "rk_record_export", stream ? "record" : "stream");

    struct output out = output_to(sink);
    writers[which](stream, record, &out);
    return export_end(&out, e);
}

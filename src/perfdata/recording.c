/*
 * Records of the caller's own as a perf.data file: writer.h under a name, with records that are looked at before they
 * are written, and encoded where they come as structs. While each is at least as late as those before it, the file is
 * in order, and says so at its end.
 */
#include "base/error.h"
#include "base/table.h"
#include "perfdata/place.h"
#include "perfdata/writer.h"
#include "record/encode.h"
#include "sys/file.h"
#include "sys/name.h"

#include <reckon/recording.h>

#include <unistd.h>

#define LEVEL_MAX 22u

struct recording_event {
    struct layout layout;
    uint64_t id; /* its first; 0: it has none */
};

/* What the records so far say of time. */
struct recording_times {
    uint64_t first, last; /* of samples; first 0: none has one */
    uint64_t newest;
    bool disordered;
};

struct rk_recording {
    struct perfdata_writer *writer;
    struct place place; /* fd -1: the caller's descriptor */
    struct recording_event *events;
    size_t events_n;
    struct table ids;
    struct recording_times times;
    bool finished;
    int error;
    _Alignas(8) unsigned char buffer[RECORD_BYTES_MAX];
};

struct rk_recording *rk_recording_free(struct rk_recording *r)
{
    if (!r)
        return NULL;
    if (!r->finished && r->writer)
        perfdata_writer_flush(r->writer);
    perfdata_writer_close(r->writer);
    place_close(&r->place);
    table_free(&r->ids);
    free(r->events);
    free(r);
    return NULL;
}
CLEANUP_FUNCTION(rk_recording_free, struct rk_recording, rk_recording_free)

/* --- Opening --- */

/* One event, checked, and its attr as we have it. */
static int take_event(struct rk_recording *r, size_t i, const struct rk_recording_event *from,
                      struct perf_attr *attr, struct rk_error *e)
{
    struct recording_event *event = &r->events[i];

    if (!from->attr || !from->name || (from->ids_n && !from->ids))
        return fail_argument(e, RK_STAGE_CAPTURE, "event %zu: its %s is NULL", i,
                             !from->attr   ? "attr"
                             : !from->name ? "name"
                                           : "ids");
    int rc = attr_take(attr, from->attr, from->attr_bytes);
    if (rc < 0)
        return rc == -E2BIG
                   ? fail(e, rc, RK_STAGE_CAPTURE, RK_CAUSE_ARGUMENT, NULL,
                          "event %zu, %s: its attr has fields that this release does not know", i, from->name)
                   : fail_argument(e, RK_STAGE_CAPTURE, "event %zu, %s: an attr of %zu bytes", i, from->name,
                                   from->attr_bytes);
    if (layout_init(&event->layout, attr) < 0)
        return fail_argument(
            e, RK_STAGE_CAPTURE,
            "event %zu, %s: sample_type has WEIGHT and WEIGHT_STRUCT, which exclude one another", i,
            from->name);
    for (size_t k = 0; k < from->ids_n; k++) {
        if (table_get(&r->ids, from->ids[k]) != TABLE_NONE)
            return fail_argument(e, RK_STAGE_CAPTURE, "event %zu, %s: its id %#jx stands twice", i,
                                 from->name, (uintmax_t)from->ids[k]);
        if (table_put(&r->ids, from->ids[k], (uint32_t)i) < 0)
            return fail_memory(e, RK_STAGE_CAPTURE);
    }
    event->id = from->ids_n ? from->ids[0] : 0;
    return 0;
}

static int take_events(struct rk_recording *r, const struct rk_recording_event *events, size_t n,
                       struct perf_attr *attrs, struct perfdata_writer_event *to, struct rk_error *e)
{
    for (size_t i = 0; i < n; i++) {
        int rc = take_event(r, i, &events[i], &attrs[i], e);
        if (rc < 0)
            return rc;
        if (n > 1 && (!events[i].ids_n || !(attrs[i].sample_type & RK_SAMPLE_IDENTIFIER)))
            return fail_argument(
                e, RK_STAGE_CAPTURE, "event %zu, %s: %s, by which readers find the event of a record", i,
                events[i].name,
                events[i].ids_n ? "its sample_type lacks RK_SAMPLE_IDENTIFIER" : "it has no id");
        to[i] = (struct perfdata_writer_event){&attrs[i], events[i].ids, events[i].ids_n, events[i].name};
    }
    r->events_n = n;
    return 0;
}

static int write_front(struct perfdata_writer *w, const struct rk_recording_options *o)
{
    struct sys_name name;
    size_t n = 0;
    int rc;

    sys_name(&name);
    while (o->command && o->command[n])
        n++;
    if ((rc = perfdata_writer_text(w, FEATURE_HOSTNAME, o->host ? o->host : name.host)) < 0 ||
        (rc = perfdata_writer_text(w, FEATURE_OSRELEASE, o->kernel ? o->kernel : name.kernel)) < 0 ||
        (rc = perfdata_writer_text(w, FEATURE_ARCH, o->architecture ? o->architecture : name.machine)) < 0 ||
        (rc = perfdata_writer_text(w, FEATURE_VERSION, "reckon " RK_VERSION)) < 0)
        return rc;
    return n ? perfdata_writer_list(w, FEATURE_CMDLINE, o->command, n) : 0;
}

/* To `path`, or where that is NULL to `fd`. */
static int recording_open(const char *path, int fd, bool pipe, const struct rk_recording_event *events,
                          size_t n, const struct rk_recording_options *options, struct rk_recording **ret,
                          struct rk_error *e)
{
    struct rk_recording_options o;
    int rc = options_check(&o, sizeof o, options, "rk_recording_options", RK_STAGE_CAPTURE, e);

    if (rc < 0)
        return rc;
    if (n == 0 || n > UINT16_MAX)
        return fail_argument(e, RK_STAGE_CAPTURE, "a recording of %zu events", n);
    if (o.compression > LEVEL_MAX)
        return fail_argument(e, RK_STAGE_CAPTURE, "compression is more than %u", LEVEL_MAX);
    /* A packed file says at its beginning how, so that one that was killed can be read. */
    const struct perfdata_writer_options how = {pipe, o.compression != 0, (int)o.compression};
    _cleanup_free_ struct perf_attr *attrs = calloc(n, sizeof *attrs);
    _cleanup_free_ struct perfdata_writer_event *to = calloc(n, sizeof *to);
    _cleanup_(rk_recording_free_cleanup) struct rk_recording *r = calloc(1, sizeof *r);
    if (r) {
        r->place.fd = -1;
        r->events = calloc(n, sizeof *r->events);
    }
    if (!r || !attrs || !to || !r->events)
        return fail_memory(e, RK_STAGE_CAPTURE);
    if ((rc = take_events(r, events, n, attrs, to, e)) < 0 ||
        (path && (rc = place_make(&r->place, path, e)) < 0) ||
        (rc = perfdata_writer_start(path ? r->place.fd : fd, to, n, &how, &r->writer, e)) < 0)
        return rc;
    if (write_front(r->writer, &o) < 0)
        return fail_memory(e, RK_STAGE_CAPTURE);
    if (path && (rc = place_take(&r->place, e)) < 0)
        return rc;
    *ret = TAKE_PTR(r);
    return 0;
}

int rk_recording_open(const char *path, const struct rk_recording_event *events, size_t n,
                      const struct rk_recording_options *options, struct rk_recording **ret,
                      struct rk_error *e)
{
    if (!path || !events || !ret)
        return fail_null(e, RK_STAGE_CAPTURE, "rk_recording_open",
                         !path     ? "path"
                         : !events ? "events"
                                   : "ret");
    bool pipe = strcmp(path, "-") == 0;
    return recording_open(pipe ? NULL : path, STDOUT_FILENO, pipe, events, n, options, ret, e);
}

int rk_recording_open_fd(int fd, const struct rk_recording_event *events, size_t n,
                         const struct rk_recording_options *options, struct rk_recording **ret,
                         struct rk_error *e)
{
    struct sys_status status;

    if (!events || !ret)
        return fail_null(e, RK_STAGE_CAPTURE, "rk_recording_open_fd", events ? "ret" : "events");
    int rc = sys_file_status(fd, &status);
    if (rc < 0)
        return fail(e, rc, RK_STAGE_CAPTURE, RK_CAUSE_ARGUMENT, NULL, "descriptor %d: %s", fd, strerror(-rc));
    if (status.regular && status.size)
        return fail_argument(e, RK_STAGE_CAPTURE, "descriptor %d: a file that is not empty", fd);
    return recording_open(NULL, fd, !status.regular, events, n, options, ret, e);
}

/* --- Records --- */

/* Looks at one record and notes its time: 0, or why it must not get into the file. */
static int look(const struct rk_recording *r, const struct perf_header *header, struct recording_times *times)
{
    uint32_t event = r->events_n == 1 ? 0 : TABLE_NONE;
    struct rk_record record;
    uint64_t id;

    if (header->type == 0 || header->type >= RECORD_TYPE_USER)
        return -EINVAL;
    if (r->events_n > 1 && layout_id(&r->events[0].layout, header, &id) == 0)
        event = table_get(&r->ids, id);
    if (event == TABLE_NONE && header->type == RK_RECORD_SAMPLE)
        return -ENOENT;
    int rc = layout_record(&r->events[event == TABLE_NONE ? 0 : event].layout, header, &record);
    if (rc < 0)
        return rc;
    if (!(record.present & RK_SAMPLE_TIME) || record.time == 0 || record.time == UINT64_MAX)
        return 0;
    if (header->type == RK_RECORD_SAMPLE) {
        if (!times->first || record.time < times->first)
            times->first = record.time;
        if (record.time > times->last)
            times->last = record.time;
    }
    times->disordered |= record.time < times->newest;
    if (record.time > times->newest)
        times->newest = record.time;
    return 0;
}

int rk_recording_append(struct rk_recording *r, const void *records, size_t bytes)
{
    const unsigned char *at = records;

    if (!r || !records || (uintptr_t)records % 8)
        return -EINVAL;
    if (r->finished)
        return r->error < 0 ? r->error : -EINVAL;
    struct recording_times times = r->times;
    for (size_t done = 0; done < bytes;) {
        const struct perf_header *header = (const void *)(at + done);
        if (bytes - done < sizeof *header || header->size < sizeof *header || header->size % 8 ||
            header->size > bytes - done)
            return -EINVAL;
        int rc = look(r, header, &times);
        if (rc < 0)
            return rc;
        done += header->size;
    }
    int rc = perfdata_writer_append(r->writer, records, bytes);
    if (rc == 0)
        r->times = times;
    return rc;
}

/* A sample without an id has its event's. */
static int encode_own(const struct recording_event *event, const struct rk_record *record, const void *body,
                      void *buffer)
{
    const uint64_t ids = RK_SAMPLE_ID | RK_SAMPLE_IDENTIFIER;
    struct rk_record from = *record;
    struct rk_sample sample;

    if (!from.id)
        from.id = event->id;
    if (from.type != RK_RECORD_SAMPLE)
        return layout_encode(&event->layout, &from, body, buffer, RECORD_BYTES_MAX);
    int rc = options_take(&sample, sizeof sample, body);
    if (rc < 0)
        return rc;
    if (!(sample.present & ids))
        sample.id = event->id;
    sample.present |= ids;
    return encode_sample(&event->layout, from.misc, &sample, buffer, RECORD_BYTES_MAX);
}

int rk_recording_write(struct rk_recording *r, uint32_t event, const struct rk_record *record,
                       const void *body)
{
    if (!r || !record || !body)
        return -EINVAL;
    if (event >= r->events_n)
        return -ERANGE;
    int n = encode_own(&r->events[event], record, body, r->buffer);
    return n < 0 ? n : rk_recording_append(r, r->buffer, (size_t)n);
}

int rk_recording_round(struct rk_recording *r)
{
    if (!r || r->finished)
        return r && r->error < 0 ? r->error : -EINVAL;
    return perfdata_writer_round(r->writer);
}

int rk_recording_flush(struct rk_recording *r)
{
    if (!r || r->finished)
        return r && r->error < 0 ? r->error : -EINVAL;
    return perfdata_writer_flush(r->writer);
}

/* --- The end --- */

int rk_recording_build_id(struct rk_recording *r, uint32_t mode, const void *id, size_t bytes,
                          const char *path)
{
    if (!r || !id || !path || r->finished || (mode != RK_MODE_USER && mode != RK_MODE_KERNEL))
        return -EINVAL;
    return perfdata_writer_build_id(r->writer, -1, (uint16_t)mode, id, bytes, path);
}

static int recording_end(struct rk_recording *r, struct rk_error *e)
{
    struct perfdata_writer *w = r->writer;
    int rc = 0;

    if (r->times.first)
        rc = perfdata_writer_times(w, r->times.first, r->times.last);
    if (rc == 0 && !r->times.disordered)
        rc = perfdata_writer_ledger(w, "ordered", "1");
    if (rc == 0)
        rc = perfdata_writer_ledger(w, "clean", "1");
    return rc < 0 ? fail_memory(e, RK_STAGE_CAPTURE) : perfdata_writer_finish(w, e);
}

int rk_recording_finish(struct rk_recording *r, struct rk_error *e)
{
    if (!r)
        return 0;
    if (!r->finished) {
        r->error = recording_end(r, e);
        r->finished = true;
        return r->error;
    }
    return r->error < 0 ? fail(e, r->error, RK_STAGE_CAPTURE, RK_CAUSE_UNKNOWN, NULL,
                               "the recording could not be written: %s", strerror(-r->error))
                        : 0;
}

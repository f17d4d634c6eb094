/*
 * What stands before the data: header, ids, attrs; in a pipe records that say the same.
 */
#include "perfdata/writing.h"

#include "base/error.h"
#include "record/layout.h"
#include "sys/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ATTR_BYTES_OLD 128u /* all that perf 6.1 takes; config3 and later lie behind */

typedef perfdata_bytes bytes_t;

/* As many bytes as the longest attr needs: perf reads no attr that is longer than its own. */
static uint32_t attr_bytes(const struct perfdata_writer_event *events, size_t n)
{
    uint32_t bytes = ATTR_BYTES_OLD;

    for (size_t i = 0; i < n; i++) {
        if (events[i].attr->config4)
            bytes = sizeof(struct perf_attr);
        else if (events[i].attr->config3 && bytes < sizeof(struct perf_attr) - 8)
            bytes = sizeof(struct perf_attr) - 8;
    }
    return bytes;
}

static int put_attr(bytes_t *to, const struct perf_attr *attr, uint32_t bytes)
{
    struct perf_attr copy = *attr;

    copy.size = bytes; /* perf finds what follows by it */
    return bytes_put(to, &copy, bytes);
}

/* { u32 n, attr_size; { attr; u32 ids_n; text name; u64 ids[]; } [n]; } */
static int put_event_desc(struct perfdata_writer *w, const struct perfdata_writer_event *events, size_t n,
                          uint32_t bytes)
{
    bytes_t fresh = {0};
    int r = bytes_u32(&fresh, (uint32_t)n);

    if (r == 0)
        r = bytes_u32(&fresh, bytes);
    for (size_t i = 0; r == 0 && i < n; i++) {
        r = put_attr(&fresh, events[i].attr, bytes);
        if (r == 0)
            r = bytes_u32(&fresh, (uint32_t)events[i].ids_n);
        if (r == 0)
            r = bytes_text(&fresh, events[i].name);
        if (r == 0)
            r = bytes_put(&fresh, events[i].ids, events[i].ids_n * 8);
    }
    return writing_feature(w, FEATURE_EVENT_DESC, &fresh, r);
}

int writing_record(bytes_t *to, uint32_t type, const void *a, size_t a_n, const void *b, size_t b_n)
{
    size_t n = (sizeof(struct perf_header) + a_n + b_n + 7) & ~(size_t)7;
    struct perf_header header = {type, 0, (uint16_t)n};
    int r = n > RECORD_BYTES_MAX ? -EMSGSIZE : bytes_put(to, &header, sizeof header);

    if (r == 0)
        r = bytes_put(to, a, a_n);
    if (r == 0)
        r = bytes_put(to, b, b_n);
    return r == 0 ? bytes_put(to, NULL, n - sizeof header - a_n - b_n) : r;
}

int writing_compressed(struct perfdata_writer *w, bytes_t *to)
{
    uint32_t ratio = w->packed_out ? (uint32_t)(w->packed_in / w->packed_out) : 1;
    uint32_t words[] = {1, 1, (uint32_t)w->level, ratio,
                        (uint32_t)WRITING_BUFFER_BYTES}; /* version, zstd … */

    return bytes_put(to, words, sizeof words);
}

/* How records are packed, as a record: readers of a pipe, and of a file that was killed, have no other way to know. */
static int put_compressed_record(struct perfdata_writer *w, bytes_t *front)
{
    bytes_t feature = {0};
    uint64_t bit = FEATURE_COMPRESSED;
    int r = writing_compressed(w, &feature);

    if (r == 0)
        r = writing_record(front, PERFDATA_FEATURE, &bit, sizeof bit, feature.items, feature.n);
    vector_free(&feature);
    return r;
}

/* All that stands before the data, in one piece, and its first record where that is wanted. */
static int put_front(struct perfdata_writer *w, const struct perfdata_writer_event *events, size_t n,
                     uint32_t bytes, bytes_t *front)
{
    uint64_t ids_at = sizeof w->header;
    int r = bytes_put(front, NULL, sizeof w->header);

    for (size_t i = 0; r == 0 && i < n; i++)
        r = bytes_put(front, events[i].ids, events[i].ids_n * 8);
    w->header = (struct perfdata_header){
        .magic = PERFDATA_MAGIC,
        .size = sizeof w->header,
        .attr_size = bytes + sizeof(struct perfdata_section),
        .attrs = {front->n, n * (bytes + sizeof(struct perfdata_section))},
    };
    for (size_t i = 0; r == 0 && i < n; i++) {
        struct perfdata_section ids = {ids_at, events[i].ids_n * 8};

        ids_at += ids.size;
        r = put_attr(front, events[i].attr, bytes);
        if (r == 0)
            r = bytes_put(front, &ids, sizeof ids);
    }
    if (r < 0)
        return r;
    w->header.data.offset = front->n;
    if (w->begin)
        r = w->zstd ? put_compressed_record(w, front)
                    : writing_record(front, PERFDATA_FINISHED_ROUND, NULL, 0, NULL, 0);
    if (r < 0)
        return r;
    w->header.data.size = front->n - w->header.data.offset;
    memcpy(front->items, &w->header, sizeof w->header);
    return 0;
}

int writing_failed(int code, struct rk_error *e)
{
    if (code == -ENOMEM)
        return fail_memory(e, RK_STAGE_CAPTURE);
    if (code == -ENOSPC || code == -EDQUOT || code == -EFBIG)
        return fail(e, code, RK_STAGE_CAPTURE, RK_CAUSE_NO_SPACE,
                    "free some space, or write elsewhere with -o", "the recording cannot be written: %s",
                    strerror(-code));
    return fail(e, code, RK_STAGE_CAPTURE, RK_CAUSE_UNKNOWN, NULL, "the recording cannot be written: %s",
                strerror(-code));
}

/* What a pipe begins with: events, their names, and how records are packed. */
static int put_pipe_front(struct perfdata_writer *w, const struct perfdata_writer_event *events, size_t n,
                          uint32_t bytes, bytes_t *front)
{
    uint64_t head[2] = {PERFDATA_MAGIC, PERFDATA_PIPE_HEADER};
    int r = bytes_put(front, head, sizeof head);

    for (size_t i = 0; r == 0 && i < n; i++) {
        struct perf_attr attr = *events[i].attr;
        size_t most = (RECORD_BYTES_MAX - sizeof(struct perf_header) - bytes) / 8;

        attr.size = bytes;
        r = events[i].ids_n > most
                ? -EMSGSIZE
                : writing_record(front, PERFDATA_ATTR, &attr, bytes, events[i].ids, events[i].ids_n * 8);
    }
    for (size_t i = 0; r == 0 && i < n; i++) {
        uint64_t update[2] = {2, events[i].ids_n ? events[i].ids[0] : 0}; /* a name */

        if (events[i].ids_n)
            r = writing_record(front, PERFDATA_EVENT_UPDATE, update, sizeof update, events[i].name,
                               strlen(events[i].name) + 1);
    }
    if (r == 0 && w->zstd)
        r = put_compressed_record(w, front);
    return r;
}

static int start_packing(struct perfdata_writer *w, int level, struct rk_error *e)
{
    w->level = level;
    int r = zstd_open(level, &w->zstd);
    if (r == 0)
        w->packed = malloc(RECORD_BYTES_MAX);
    if (r == -ENOMEM || (r == 0 && !w->packed))
        return fail_memory(e, RK_STAGE_CAPTURE);
    return r == 0 ? 0
                  : fail(e, r, RK_STAGE_CAPTURE, RK_CAUSE_UNSUPPORTED,
                         "install libzstd.so.1 (Debian: libzstd1), or record without -z",
                         "zstd, which -z needs, is not installed here");
}

int perfdata_writer_start(int fd, const struct perfdata_writer_event *events, size_t n,
                          const struct perfdata_writer_options *options, struct perfdata_writer **ret,
                          struct rk_error *e)
{
    if (n == 0 || n > UINT16_MAX)
        return fail_argument(e, RK_STAGE_CAPTURE, "a recording of %zu events", n);
    struct perfdata_writer *w = calloc(1, sizeof *w);
    if (!w)
        return fail_memory(e, RK_STAGE_CAPTURE);
    uint32_t bytes = attr_bytes(events, n);
    bytes_t front = {0};
    int r;

    w->fd = fd;
    w->pipe = options->pipe;
    w->begin = options->begin;
    if (options->level > 0 && (r = start_packing(w, options->level, e)) < 0) {
        perfdata_writer_close(w);
        return r;
    }
    w->buffer = malloc(WRITING_BUFFER_BYTES);
    r = !w->buffer ? -ENOMEM
        : w->pipe  ? put_pipe_front(w, events, n, bytes, &front)
                   : put_front(w, events, n, bytes, &front);
    if (r == 0 && !w->pipe)
        r = put_event_desc(w, events, n, bytes);
    if (r == 0)
        r = w->pipe ? sys_write(fd, front.items, front.n) : sys_write_at(fd, front.items, front.n, 0);
    w->written = front.n;
    vector_free(&front);
    if (r < 0) {
        perfdata_writer_close(w);
        return writing_failed(r, e);
    }
    *ret = w;
    return 0;
}

int perfdata_writer_open(int fd, const struct perfdata_writer_event *events, size_t n,
                         struct perfdata_writer **ret, struct rk_error *e)
{
    return perfdata_writer_start(fd, events, n, &(struct perfdata_writer_options){0}, ret, e);
}

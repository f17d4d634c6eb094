/*
 * See writer.h and format.h. The file grows in this order, so that it can be read at every moment but while
 * an event's section is being written:
 *
 *     header (data.size 0) | ids | attrs | records, flush by flush: bytes first, then data.size …
 *     … | feature table | features | then the header once more, with the bits of the features
 *
 * A feature's bytes are collected in memory; they are few.
 */
#include "perfdata/writer.h"

#include "perfdata/bytes.h"
#include "perfdata/zstd.h"
#include "record/layout.h"

#include "base/error.h"
#include "base/vector.h"
#include "sys/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES (size_t)(256 << 10)
#define ATTR_BYTES_OLD 128u /* all that perf 6.1 takes; config3 and later lie behind */

typedef perfdata_bytes bytes_t;

struct feature {
    unsigned bit;
    bytes_t bytes;
};

struct perfdata_writer {
    int fd;
    int error; /* the first -errno, which comes again */
    struct perfdata_header header;
    uint64_t written; /* where in the file the next bytes go */
    size_t buffered;
    unsigned char *buffer;
    VECTOR(struct feature) features; /* by bit, ascending */

    bool pipe, begin;
    int level;
    struct zstd *zstd;     /* NULL: records are written as they are */
    unsigned char *packed; /* one COMPRESSED record */
    uint64_t packed_in, packed_out;
};

/* ---- bytes of features ---- */

/* The bytes of a feature, made if need be; NULL: out of memory. */
static bytes_t *feature_bytes(struct perfdata_writer *w, unsigned bit)
{
    size_t i = 0;

    while (i < w->features.n && w->features.items[i].bit < bit)
        i++;
    if (i < w->features.n && w->features.items[i].bit == bit)
        return &w->features.items[i].bytes;
    if (!vector_push(&w->features))
        return NULL;
    struct feature *at = &w->features.items[i];
    memmove(at + 1, at, (w->features.n - 1 - i) * sizeof *at);
    *at = (struct feature){.bit = bit};
    return &at->bytes;
}

/* Replaces a feature by `fresh`, which it takes, whatever comes. */
static int feature_set(struct perfdata_writer *w, unsigned bit, bytes_t *fresh, int r)
{
    bytes_t *at = r == 0 ? feature_bytes(w, bit) : NULL;

    if (!at) {
        vector_free(fresh);
        return r < 0 ? r : -ENOMEM;
    }
    vector_free(at);
    *at = *fresh;
    return 0;
}

int perfdata_writer_text(struct perfdata_writer *w, unsigned bit, const char *text)
{
    bytes_t fresh = {0};

    return bit < FEATURE_MAX ? feature_set(w, bit, &fresh, bytes_text(&fresh, text)) : -EINVAL;
}

int perfdata_writer_list(struct perfdata_writer *w, unsigned bit, const char *const *texts, size_t n)
{
    bytes_t fresh = {0};

    if (bit >= FEATURE_MAX || n > UINT32_MAX)
        return -EINVAL;
    int r = bytes_u32(&fresh, (uint32_t)n);
    for (size_t i = 0; r == 0 && i < n; i++)
        r = bytes_text(&fresh, texts[i]);
    return feature_set(w, bit, &fresh, r);
}

int perfdata_writer_feature(struct perfdata_writer *w, unsigned bit, perfdata_bytes *bytes)
{
    if (bit < FEATURE_MAX)
        return feature_set(w, bit, bytes, 0);
    vector_free(bytes);
    return -EINVAL;
}

int perfdata_writer_cpus(struct perfdata_writer *w, uint32_t available, uint32_t online)
{
    bytes_t fresh = {0};
    uint32_t both[] = {available, online};

    return feature_set(w, FEATURE_NRCPUS, &fresh, bytes_put(&fresh, both, sizeof both));
}

int perfdata_writer_times(struct perfdata_writer *w, uint64_t first, uint64_t last)
{
    bytes_t fresh = {0};
    uint64_t both[] = {first, last};

    return feature_set(w, FEATURE_SAMPLE_TIME, &fresh, bytes_put(&fresh, both, sizeof both));
}

int perfdata_writer_build_id(struct perfdata_writer *w, int32_t pid, uint16_t misc, const void *id,
                             size_t id_bytes, const char *path)
{
    struct {
        struct perf_header header;
        int32_t pid;
        unsigned char id[20], bytes, reserved[3];
    } record = {.pid = pid, .bytes = (unsigned char)id_bytes};
    size_t n = strlen(path), padded = (n + 1 + BYTES_TEXT_ALIGN - 1) / BYTES_TEXT_ALIGN * BYTES_TEXT_ALIGN;

    if (id_bytes == 0 || id_bytes > sizeof record.id || sizeof record + padded > UINT16_MAX)
        return -EINVAL;
    memcpy(record.id, id, id_bytes);
    record.header = (struct perf_header){PERFDATA_BUILD_ID, misc | PERFDATA_MISC_BUILD_ID_SIZE,
                                         (uint16_t)(sizeof record + padded)};
    bytes_t *to = feature_bytes(w, FEATURE_BUILD_ID);
    if (!to || vector_reserve(to, sizeof record + padded) < 0)
        return -ENOMEM;
    bytes_put(to, &record, sizeof record);
    bytes_put(to, path, n);
    return bytes_put(to, NULL, padded - n);
}

int perfdata_writer_ledger(struct perfdata_writer *w, const char *key, const char *value)
{
    static const char first[] = PERFDATA_LEDGER_1 "\n";
    size_t key_n = strlen(key), value_n = strlen(value);

    if (!key_n || strpbrk(key, " \n") || strchr(value, '\n'))
        return -EINVAL;
    bytes_t *to = feature_bytes(w, FEATURE_LEDGER);
    if (!to || vector_reserve(to, sizeof first + key_n + value_n + 2) < 0)
        return -ENOMEM;
    if (!to->n)
        bytes_put(to, first, sizeof first - 1);
    bytes_put(to, key, key_n);
    bytes_put(to, " ", 1);
    bytes_put(to, value, value_n);
    return bytes_put(to, "\n", 1);
}

/* ---- header and events ---- */

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
    return feature_set(w, FEATURE_EVENT_DESC, &fresh, r);
}

/* A record with two parts as its body, padded. */
static int put_record(bytes_t *to, uint32_t type, const void *a, size_t a_n, const void *b, size_t b_n)
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

static int put_compressed(struct perfdata_writer *w, bytes_t *to)
{
    uint32_t ratio = w->packed_out ? (uint32_t)(w->packed_in / w->packed_out) : 1;
    uint32_t words[] = {1, 1, (uint32_t)w->level, ratio, (uint32_t)BUFFER_BYTES}; /* version, zstd … */

    return bytes_put(to, words, sizeof words);
}

/* How records are packed, as a record: readers of a pipe, and of a file that was killed, have no other way to know. */
static int put_compressed_record(struct perfdata_writer *w, bytes_t *front)
{
    bytes_t feature = {0};
    uint64_t bit = FEATURE_COMPRESSED;
    int r = put_compressed(w, &feature);

    if (r == 0)
        r = put_record(front, PERFDATA_FEATURE, &bit, sizeof bit, feature.items, feature.n);
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
                    : put_record(front, PERFDATA_FINISHED_ROUND, NULL, 0, NULL, 0);
    if (r < 0)
        return r;
    w->header.data.size = front->n - w->header.data.offset;
    memcpy(front->items, &w->header, sizeof w->header);
    return 0;
}

static int write_failed(int code, struct rk_error *e)
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
                : put_record(front, PERFDATA_ATTR, &attr, bytes, events[i].ids, events[i].ids_n * 8);
    }
    for (size_t i = 0; r == 0 && i < n; i++) {
        uint64_t update[2] = {2, events[i].ids_n ? events[i].ids[0] : 0}; /* a name */

        if (events[i].ids_n)
            r = put_record(front, PERFDATA_EVENT_UPDATE, update, sizeof update, events[i].name,
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
                  : fail(e, -EOPNOTSUPP, RK_STAGE_CAPTURE, RK_CAUSE_UNSUPPORTED,
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
    w->buffer = malloc(BUFFER_BYTES);
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
        return write_failed(r, e);
    }
    *ret = w;
    return 0;
}

int perfdata_writer_open(int fd, const struct perfdata_writer_event *events, size_t n,
                         struct perfdata_writer **ret, struct rk_error *e)
{
    return perfdata_writer_start(fd, events, n, &(struct perfdata_writer_options){0}, ret, e);
}

struct perfdata_writer *perfdata_writer_close(struct perfdata_writer *w)
{
    if (w) {
        for (size_t i = 0; i < w->features.n; i++)
            vector_free(&w->features.items[i].bytes);
        vector_free(&w->features);
        zstd_close(w->zstd);
        free(w->packed);
        free(w->buffer);
        free(w);
    }
    return NULL;
}

/* ---- records ---- */

static int write_bytes(struct perfdata_writer *w, const void *bytes, size_t n)
{
    int r = w->pipe ? sys_write(w->fd, bytes, n) : sys_write_at(w->fd, bytes, n, w->written);

    if (r < 0)
        return w->error = r;
    w->written += n;
    return 0;
}

/* Whole records, packed into as many COMPRESSED ones as they need. No more than a buffer is packed at once: readers make
 * room for that much. */
static int write_packed(struct perfdata_writer *w, const unsigned char *bytes, size_t n)
{
    const size_t room = RECORD_BYTES_MAX - sizeof(struct perf_header);

    for (size_t done = 0; done < n;) {
        size_t part = n - done < BUFFER_BYTES ? n - done : BUFFER_BYTES, at = 0;
        int more = 1;

        while (more) {
            int packed = zstd_pack(w->zstd, bytes + done, part, &at, w->packed + sizeof(struct perf_header),
                                   room, &more);
            if (packed < 0)
                return w->error = packed;
            if (packed == 0)
                continue;
            struct perf_header header = {PERFDATA_COMPRESSED, 0, (uint16_t)(sizeof header + (size_t)packed)};
            memcpy(w->packed, &header, sizeof header);
            int r = write_bytes(w, w->packed, header.size);
            if (r < 0)
                return r;
            w->packed_out += header.size;
        }
        w->packed_in += part;
        done += part;
    }
    return 0;
}

/* The header tells of what is in the file: 0 or -errno. */
static int write_size(struct perfdata_writer *w)
{
    uint64_t size = w->written - w->header.data.offset;

    if (w->pipe || size == w->header.data.size)
        return 0;
    int r = sys_write_at(w->fd, &size, sizeof size, __builtin_offsetof(struct perfdata_header, data.size));
    if (r == 0)
        w->header.data.size = size;
    return r;
}

/* The disk is full: of these records, those that still find room are kept. They are tried block by block, since only
 * whole ones count and write(2) said no more than that not all of it went. */
static void salvage(struct perfdata_writer *w, const unsigned char *records, size_t n)
{
    const size_t block = 4096;
    size_t kept = 0, whole = 0;
    struct perf_header header;

    while (kept < n) {
        size_t part = n - kept < block ? n - kept : block;
        if (sys_write_at(w->fd, records + kept, part, w->written + kept) < 0)
            break;
        kept += part;
    }
    while (kept - whole >= sizeof header) {
        memcpy(&header, records + whole, sizeof header);
        if (header.size < sizeof header || header.size > kept - whole)
            break;
        whole += header.size;
    }
    w->written += whole;
}

static int write_records(struct perfdata_writer *w, const void *records, size_t n)
{
    int r = w->zstd ? write_packed(w, records, n) : write_bytes(w, records, n);

    if (r == -ENOSPC || r == -EDQUOT || r == -EFBIG) {
        if (!w->pipe && !w->zstd)
            salvage(w, records, n);
        write_size(w);
    }
    return r;
}

static int write_buffer(struct perfdata_writer *w)
{
    size_t n = w->buffered;

    w->buffered = 0;
    return n ? write_records(w, w->buffer, n) : 0;
}

int perfdata_writer_append(struct perfdata_writer *w, const void *records, size_t n)
{
    if (w->error)
        return w->error;
    if (n > BUFFER_BYTES - w->buffered) {
        int r = write_buffer(w);
        if (r < 0)
            return r;
        if (n >= BUFFER_BYTES / 4)
            return write_records(w, records, n);
    }
    memcpy(w->buffer + w->buffered, records, n);
    w->buffered += n;
    return 0;
}

int perfdata_writer_round(struct perfdata_writer *w)
{
    static const struct perf_header round = {PERFDATA_FINISHED_ROUND, 0, sizeof round};

    return perfdata_writer_append(w, &round, sizeof round);
}

int perfdata_writer_flush(struct perfdata_writer *w)
{
    if (w->error)
        return w->error;
    int r = write_buffer(w);
    if (r < 0)
        return r;
    r = write_size(w);
    return r < 0 ? w->error = r : 0;
}

/* In a pipe: { header; u32 n; }, and n bytes behind it, padded. */
int perfdata_writer_tracing(struct perfdata_writer *w, const void *bytes, size_t n)
{
    static const unsigned char padding[8] = {0};
    bytes_t fresh = {0};

    if (!w->pipe)
        return feature_set(w, FEATURE_TRACING_DATA, &fresh, bytes_put(&fresh, bytes, n));
    struct {
        struct perf_header header;
        uint32_t n;
    } record = {{PERFDATA_TRACING_DATA, 0, sizeof record}, (uint32_t)n};
    int r = write_bytes(w, &record, sizeof record);
    if (r == 0)
        r = write_bytes(w, bytes, n);
    return r < 0 ? r : write_bytes(w, padding, -n & 7);
}

uint64_t perfdata_writer_bytes(const struct perfdata_writer *w)
{
    return w->written + w->buffered;
}

/* ---- the end ---- */

/* The table, then what it points to; the header's bits are set, and written by the caller. */
static int write_features(struct perfdata_writer *w)
{
    bytes_t table = {0};
    uint64_t at = w->written + w->features.n * sizeof(struct perfdata_section);
    int r = 0;

    for (size_t i = 0; r == 0 && i < w->features.n; i++) {
        const struct feature *feature = &w->features.items[i];
        struct perfdata_section section = {at, feature->bytes.n};

        w->header.features[feature->bit / 64] |= UINT64_C(1) << feature->bit % 64;
        at += section.size;
        r = bytes_put(&table, &section, sizeof section);
    }
    if (r == 0)
        r = write_bytes(w, table.items, table.n);
    vector_free(&table);
    for (size_t i = 0; r == 0 && i < w->features.n; i++)
        r = write_bytes(w, w->features.items[i].bytes.items, w->features.items[i].bytes.n);
    return r;
}

/* In a pipe features are records; build-ids are records already. What is too long for one is left out. */
static int write_pipe_features(struct perfdata_writer *w)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < w->features.n; i++) {
        const struct feature *feature = &w->features.items[i];
        bytes_t record = {0};
        uint64_t bit = feature->bit;

        if (bit == FEATURE_LEDGER || bit == FEATURE_COMPRESSED)
            continue;
        if (bit == FEATURE_BUILD_ID) {
            r = write_bytes(w, feature->bytes.items, feature->bytes.n);
            continue;
        }
        r = put_record(&record, PERFDATA_FEATURE, &bit, sizeof bit, feature->bytes.items, feature->bytes.n);
        if (r == 0)
            r = write_bytes(w, record.items, record.n);
        else if (r == -EMSGSIZE)
            r = 0;
        vector_free(&record);
    }
    return r;
}

static int compressed_feature(struct perfdata_writer *w)
{
    bytes_t fresh = {0};

    return feature_set(w, FEATURE_COMPRESSED, &fresh, put_compressed(w, &fresh));
}

static int finish_pipe(struct perfdata_writer *w, struct rk_error *e)
{
    int r = w->error ? w->error : write_buffer(w);

    if (r == 0)
        r = write_pipe_features(w);
    if (r < 0)
        return write_failed(w->error = r, e);
    return 0;
}

int perfdata_writer_finish(struct perfdata_writer *w, struct rk_error *e)
{
    int r = w->error;

    if (w->pipe)
        return finish_pipe(w, e);

    /* A file whose data has no bytes is taken for one that was never finished. */
    if (r == 0 && perfdata_writer_bytes(w) == w->header.data.offset)
        r = perfdata_writer_round(w);
    if (r == 0)
        r = perfdata_writer_flush(w);
    if (r == 0 && w->zstd)
        r = compressed_feature(w);
    if (r == 0)
        r = write_features(w);
    if (r == 0)
        r = sys_write_at(w->fd, &w->header, sizeof w->header, 0);
    if (r < 0) {
        w->error = r;
        return write_failed(r, e);
    }
    return 0;
}

/*
 * See writer.h and format.h. The file grows in this order, so that it can be read at every moment but while
 * an event's section is being written:
 *
 *     header (data.size 0) | ids | attrs | records, flush by flush: bytes first, then data.size …
 *     … | feature table | our own features | features | then the header once more, with their bits
 *
 * A feature's bytes are collected in memory; they are few.
 */
#include "perfdata/writing.h"

#include "base/error.h"
#include "record/layout.h"
#include "sys/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef perfdata_bytes bytes_t;

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

int writing_bytes(struct perfdata_writer *w, const void *bytes, size_t n)
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
        size_t part = n - done < WRITING_BUFFER_BYTES ? n - done : WRITING_BUFFER_BYTES, at = 0;
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
            int r = writing_bytes(w, w->packed, header.size);
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
    int r = w->zstd ? write_packed(w, records, n) : writing_bytes(w, records, n);

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
    if (n > WRITING_BUFFER_BYTES - w->buffered) {
        int r = write_buffer(w);
        if (r < 0)
            return r;
        if (n >= WRITING_BUFFER_BYTES / 4)
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
    if (w->error || w->finished)
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
        return writing_feature(w, FEATURE_TRACING_DATA, &fresh, bytes_put(&fresh, bytes, n));
    struct {
        struct perf_header header;
        uint32_t n;
    } record = {{PERFDATA_TRACING_DATA, 0, sizeof record}, (uint32_t)n};
    int r = writing_bytes(w, &record, sizeof record);
    if (r == 0)
        r = writing_bytes(w, bytes, n);
    return r < 0 ? r : writing_bytes(w, padding, -n & 7);
}

uint64_t perfdata_writer_bytes(const struct perfdata_writer *w)
{
    return w->written + w->buffered;
}

/* ---- the end ---- */

/* Where a feature's bytes will stand; *at moves on behind them. */
static struct perfdata_section take_section(const struct writing_feature *feature, uint64_t *at)
{
    struct perfdata_section section = {*at, feature->bytes.n};

    *at += section.size;
    return section;
}

/* The table, and behind it that of our own, whose bytes come before the others': a copy that was cut lacks features then.
 */
static int put_tables(struct perfdata_writer *w, size_t own, bytes_t *to)
{
    const struct writing_feature *all = w->features.items;
    size_t n = w->features.n - own;
    uint64_t head[2] = {PERFDATA_OWN_MAGIC, own};
    uint64_t at = w->written + n * sizeof(struct perfdata_section) +
                  (own ? sizeof head + own * sizeof(struct perfdata_own) : 0);
    bytes_t table = {0};
    int r = own ? bytes_put(&table, head, sizeof head) : 0;

    for (size_t i = n; r == 0 && i < w->features.n; i++) {
        struct perfdata_own entry = {all[i].bit, take_section(&all[i], &at)};
        r = bytes_put(&table, &entry, sizeof entry);
    }
    for (size_t i = 0; r == 0 && i < n; i++) {
        struct perfdata_section section = take_section(&all[i], &at);
        w->header.features[all[i].bit / 64] |= UINT64_C(1) << all[i].bit % 64;
        r = bytes_put(to, &section, sizeof section);
    }
    if (r == 0)
        r = bytes_put(to, table.items, table.n);
    vector_free(&table);
    return r;
}

/* The tables, then what they point to; the header's bits are set, and written by the caller. */
static int write_features(struct perfdata_writer *w)
{
    bytes_t tables = {0};
    size_t n = w->features.n, own = 0;

    while (own < n && w->features.items[n - 1 - own].bit >= FEATURE_OWN)
        own++;
    int r = put_tables(w, own, &tables);
    if (r == 0)
        r = writing_bytes(w, tables.items, tables.n);
    vector_free(&tables);
    for (size_t i = 0; r == 0 && i < n; i++) {
        const bytes_t *bytes = &w->features.items[(n - own + i) % n].bytes;
        r = writing_bytes(w, bytes->items, bytes->n);
    }
    return r;
}

/* In a pipe features are records; build-ids are records already. What is too long for one is left out. */
static int write_pipe_features(struct perfdata_writer *w)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < w->features.n; i++) {
        const struct writing_feature *feature = &w->features.items[i];
        bytes_t record = {0};
        uint64_t bit = feature->bit;

        if (bit >= FEATURE_OWN || bit == FEATURE_COMPRESSED)
            continue;
        if (bit == FEATURE_BUILD_ID) {
            r = writing_bytes(w, feature->bytes.items, feature->bytes.n);
            continue;
        }
        r = writing_record(&record, PERFDATA_FEATURE, &bit, sizeof bit, feature->bytes.items,
                           feature->bytes.n);
        if (r == 0)
            r = writing_bytes(w, record.items, record.n);
        else if (r == -EMSGSIZE)
            r = 0;
        vector_free(&record);
    }
    return r;
}

static int compressed_feature(struct perfdata_writer *w)
{
    bytes_t fresh = {0};

    return writing_feature(w, FEATURE_COMPRESSED, &fresh, writing_compressed(w, &fresh));
}

/* The entry of names that may come later. */
static int names_feature(struct perfdata_writer *w)
{
    bytes_t none = {0};

    return writing_feature(w, FEATURE_NAMES, &none, 0);
}

static int finish_pipe(struct perfdata_writer *w, struct rk_error *e)
{
    int r = w->error ? w->error : write_buffer(w);

    if (r == 0)
        r = write_pipe_features(w);
    if (r < 0)
        return writing_failed(w->error = r, e);
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
        r = names_feature(w);
    if (r == 0)
        r = write_features(w);
    if (r == 0)
        r = sys_write_at(w->fd, &w->header, sizeof w->header, 0);
    if (r < 0) {
        w->error = r;
        return writing_failed(r, e);
    }
    w->finished = true; /* the header has the data's size: there is nothing to flush */
    return 0;
}

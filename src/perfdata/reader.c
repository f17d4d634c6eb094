/*
 * See reader.h. Records are read through a window, in which each is whole and, its size being a multiple of
 * 8, aligned. perf itself writes a record of 12 bytes (TRACING_DATA in a pipe): what stands askew behind it
 * is copied once more.
 *
 * Compressed records are taken apart where they stand (unpack.h): what is inside comes out as if it stood there, with
 * the offset of the record that holds it.
 */
#include "perfdata/reader.h"

#include "perfdata/reading.h"
#include "perfdata/section.h"
#include "perfdata/swap.h"

#include "base/cursor.h"
#include "base/error.h"
#include "record/swap.h"
#include "sys/file.h"
#include "sys/limit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRACING_PIECE 4096u

/* ---- records ---- */

static int reader_fail(struct perfdata_reader *r, int code)
{
    r->error = code;
    return code;
}

static int reader_end(struct perfdata_reader *r, bool cut)
{
    r->ended = true;
    r->cut |= cut || (r->unpack && unpack_rest(r->unpack));
    return 0;
}

static int reader_unsound(struct perfdata_reader *r, const char *what)
{
    if (r->lenient)
        return reader_end(r, true);
    fail(&r->why, -EBADMSG, RK_STAGE_STREAM, RK_CAUSE_BAD_FILE, NULL, "%s: %s at offset %" PRIu64, r->name,
         what, r->window.at);
    return reader_fail(r, -EBADMSG);
}

static int reader_io(struct perfdata_reader *r, int64_t code)
{
    reading_failed(r, (int)code, &r->why);
    return reader_fail(r, (int)code);
}

/* COMPRESSED: its body is the payload; COMPRESSED2: u64 data_size; char data[], padded   6.16 */
static int reader_unpack(struct perfdata_reader *r, const struct perf_header *record)
{
    struct cursor c = cursor_of(record + 1, record->size - sizeof *record);
    uint64_t n = record->type == PERFDATA_COMPRESSED2 ? cursor_u64(&c) : cursor_left(&c);
    const unsigned char *payload = cursor_bytes(&c, n);

    if (c.bad)
        return reader_unsound(r, "a compressed record shorter than it says");
    if (!r->unpack) {
        int k = unpack_open(&r->unpack);
        if (k == -EOPNOTSUPP) {
            fail(&r->why, k, RK_STAGE_STREAM, RK_CAUSE_UNSUPPORTED,
                 "install libzstd.so.1 (Debian: libzstd1), or record without -z",
                 "%s: compressed records (-z), and zstd is not installed here", r->name);
            return reader_fail(r, k);
        }
        if (k < 0)
            return reader_io(r, k);
    }
    r->unpack->swapped = r->window.swapped;
    unpack_feed(r->unpack, payload, (size_t)n);
    r->packed = true;
    r->packed_at = r->window.at - record->size;
    return 1;
}

/* The layout of a record that is still of the other byte order; NULL: not known. */
static const struct layout *layout_of(struct perfdata_reader *r, const struct perf_header *header)
{
    uint64_t id;

    while (r->layouts.n < r->contents.events.n) {
        struct layout *layout = vector_push(&r->layouts);
        if (!layout || layout_init(layout, &r->contents.events.items[r->layouts.n - 1]->attr) < 0)
            break;
    }
    if (r->layouts.n <= 1 || r->layouts.n < r->contents.events.n)
        return r->layouts.n == 1 ? r->layouts.items : NULL;
    uint32_t event =
        swap_id(&r->layouts.items[0], header, &id) == 0 ? table_get(&r->contents.by_id, id) : TABLE_NONE;
    return &r->layouts.items[event < r->layouts.n ? event : 0];
}

/* A record of the other byte order, in its place. */
static void turn(struct perfdata_reader *r, struct perf_header *record)
{
    swap_header(record);
    if (record->type >= RECORD_TYPE_USER)
        swap_tool_record(record);
    else
        swap_record(layout_of(r, record), record);
}

/* The next record from inside a compressed one: 1, 0: there is no more, or -errno. */
static int packed_read(struct perfdata_reader *r, const struct perf_header **ret)
{
    int k = unpack_next(r->unpack, ret);

    if (k < 0) {
        if (r->lenient)
            return reader_end(r, true);
        fail(&r->why, -EBADMSG, RK_STAGE_STREAM, RK_CAUSE_BAD_FILE, NULL,
             "%s: damaged inside the compressed record at offset %" PRIu64, r->name, r->packed_at);
        return reader_fail(r, -EBADMSG);
    }
    r->packed = k == 1;
    if (k == 1 && r->window.swapped)
        turn(r, (struct perf_header *)(uintptr_t)*ret);
    return k;
}

/* The next whole record, in place: 1, 0 or -errno. */
int reading_record(struct perfdata_reader *r, const struct perf_header **ret)
{
    struct perf_header header;

    if (r->skip) {
        int k = window_skip(&r->window, r->skip);
        if (k < 0)
            return reader_io(r, k);
        if (k == 0)
            return reader_end(r, true);
        r->skip = 0;
    }
    int64_t have = window_want(&r->window, sizeof header);
    if (have < 0)
        return reader_io(r, have);
    if (have < (int64_t)sizeof header)
        return reader_end(r, have > 0 || (!r->contents.info.pipe && r->window.at < r->window.end));
    memcpy(&header, window_bytes(&r->window), sizeof header);
    bool as_it_stands = r->window.swapped && r->window.at >= r->turned;
    if (as_it_stands)
        swap_header(&header);
    if (header.size < sizeof header)
        return reader_unsound(r, "a record whose size makes no sense");
    have = window_want(&r->window, header.size);
    if (have < 0)
        return reader_io(r, have);
    if (have < header.size)
        return reader_end(r, true);

    const unsigned char *record = window_bytes(&r->window);
    if (__builtin_expect((uintptr_t)record % 8 != 0, 0)) {
        memcpy(r->askew, record, header.size);
        record = r->askew;
    }
    if (as_it_stands) {
        turn(r, (struct perf_header *)(uintptr_t)record);
        r->turned = r->window.at + header.size;
    }
    window_move(&r->window, header.size);
    *ret = (const struct perf_header *)(const void *)record;
    return 1;
}

/* { header; attr; u64 ids[]; } */
static int take_attr(struct perfdata_reader *r, const struct perf_header *record)
{
    struct cursor c = cursor_of(record + 1, record->size - sizeof *record), peek = c;

    cursor_u32(&peek);
    uint32_t size = cursor_u32(&peek);
    size = size ? size : CONTENTS_ATTR_MIN;
    const unsigned char *attr = cursor_bytes(&c, size);
    if (!attr)
        return -EBADMSG;
    return contents_attr(&r->contents, attr, size, c.at, cursor_left(&c) / 8);
}

/* { header; u32 n; } and n bytes behind it, padded: what tracefs said. More than a file's may have is passed over. */
static int take_tracing(struct perfdata_reader *r, uint32_t n)
{
    _cleanup_free_ unsigned char *bytes = NULL;
    uint32_t done = 0;

    r->skip = n <= TRACING_BYTES_MAX ? -(uint64_t)n & 7 : ((uint64_t)n + 7) & ~UINT64_C(7);
    if (n == 0 || n > TRACING_BYTES_MAX)
        return 0;
    bytes = malloc(n);
    if (!bytes)
        return -ENOMEM;
    while (done < n) {
        size_t most = n - done < TRACING_PIECE ? n - done : TRACING_PIECE;
        int64_t have = window_want(&r->window, most);
        if (have < (int64_t)most)
            return have < 0 ? (int)have : reader_end(r, true);
        memcpy(bytes + done, window_bytes(&r->window), most);
        window_move(&r->window, (int64_t)most);
        done += (uint32_t)most;
    }
    return contents_feature(&r->contents, FEATURE_TRACING_DATA, bytes, n);
}

/* Records about events and features: 1 taken in, 0 none of these, -errno. */
int reading_take(struct perfdata_reader *r, const struct perf_header *record)
{
    struct cursor c = cursor_of(record + 1, record->size - sizeof *record);
    uint32_t n;
    int k = 0;

    if (record->type < RECORD_TYPE_USER)
        return 0;
    switch (record->type) {
    case PERFDATA_ATTR:
        k = take_attr(r, record);
        break;
    case PERFDATA_EVENT_TYPE:
        break;
    case PERFDATA_TRACING_DATA:
        n = cursor_u32(&c);
        /* simpleperf's data is inside of the record, perf's behind it. */
        if (n && n <= cursor_left(&c))
            k = contents_feature(&r->contents, FEATURE_TRACING_DATA, c.at, n);
        else if (r->packed) /* its bytes are not here */
            return reader_unsound(r, "tracing data inside a compressed record");
        else
            k = take_tracing(r, n);
        break;
    case PERFDATA_BUILD_ID:
        k = contents_build_id(&r->contents, record, record->size);
        break;
    case PERFDATA_EVENT_UPDATE:
        k = contents_update(&r->contents, c.at, cursor_left(&c));
        break;
    case PERFDATA_FEATURE: {
        uint64_t bit = cursor_u64(&c);
        if (!c.bad)
            k = contents_feature(&r->contents, bit < FEATURE_MAX ? (unsigned)bit : 0, c.at, cursor_left(&c));
        break;
    }
    case PERFDATA_AUXTRACE_INFO:
        r->contents.info.trace_kind = cursor_u32(&c);
        return 0;
    case PERFDATA_AUXTRACE:
        r->skip = cursor_u64(&c);
        if (__builtin_add_overflow(r->contents.info.trace_bytes, r->skip, &r->contents.info.trace_bytes))
            r->contents.info.trace_bytes = UINT64_MAX;
        return c.bad ? reader_unsound(r, "an AUXTRACE record without its length") : 0;
    case PERFDATA_COMPRESSED:
    case PERFDATA_COMPRESSED2:
        if (r->packed) /* one inside another */
            return reader_unsound(r, "a compressed record inside a compressed one");
        return reader_unpack(r, record);
    default:
        return 0;
    }
    if (k == -EBADMSG || c.bad)
        return reader_unsound(r, "a damaged record about events or features");
    return k < 0 ? reader_io(r, k) : 1;
}

/* The next file of a directory: 1, 0: there is none, -errno. */
static int next_part(struct perfdata_reader *r)
{
    if (r->parts.next >= r->parts.items.n)
        return 0;
    const struct part *part = &r->parts.items.items[r->parts.next];
    int fd = parts_open(&r->parts, r->parts.next);
    if (fd < 0)
        return reader_io(r, fd);
    r->parts.next++;
    r->unpack = unpack_close(r->unpack); /* each has a stream of its own */
    r->packed = r->ended = false;
    r->window.fd = fd;
    r->window.shift = r->window.at = r->turned = part->begin;
    r->window.end = part->begin + part->size;
    r->window.size = part->size;
    r->window.front = r->window.filled = 0;
    r->window.eof = false;
    return 1;
}

int perfdata_reader_next(struct perfdata_reader *r, const struct perf_header **ret, uint64_t *ret_offset)
{
    const struct perf_header *record;

    while (!r->error && (!r->ended || next_part(r) == 1)) {
        bool inside = r->packed;
        int k = inside ? packed_read(r, &record) : reading_record(r, &record);
        if (k == 0) /* what was packed is out, or a file at its end */
            continue;
        if (k < 0)
            return k;
        uint64_t offset = inside ? r->packed_at : r->window.at - record->size;
        k = reading_take(r, record);
        if (k < 0)
            return k;
        if (k == 0 && !r->ended) {
            *ret = record;
            *ret_offset = offset;
            return 1;
        }
    }
    return r->error;
}

/* ---- what it holds ---- */

size_t perfdata_reader_events(const struct perfdata_reader *r)
{
    return r->contents.events.n;
}

const struct perfdata_event *perfdata_reader_event(const struct perfdata_reader *r, size_t index)
{
    return index < r->contents.events.n ? r->contents.events.items[index] : NULL;
}

uint32_t perfdata_reader_find(const struct perfdata_reader *r, uint64_t id)
{
    return table_get(&r->contents.by_id, id);
}

void perfdata_reader_info(const struct perfdata_reader *r, struct perfdata_info *ret)
{
    *ret = r->contents.info;
}

size_t perfdata_reader_build_ids(const struct perfdata_reader *r, const struct perfdata_build_id **ret)
{
    *ret = r->contents.build_ids.items;
    return r->contents.build_ids.n;
}

const char *perfdata_reader_format(const struct perfdata_reader *r, uint64_t number, size_t *ret_n)
{
    return contents_format(&r->contents, number, ret_n);
}

const void *perfdata_reader_names(const struct perfdata_reader *r, size_t *ret_n)
{
    *ret_n = r->contents.names_n;
    return r->contents.names;
}

bool perfdata_reader_cut(const struct perfdata_reader *r)
{
    return r->cut;
}

uint64_t perfdata_reader_bytes(const struct perfdata_reader *r, uint64_t *ret_done)
{
    if (ret_done)
        *ret_done = r->window.at - r->begin;
    size_t n = r->parts.items.n;
    uint64_t end = n ? r->parts.items.items[n - 1].begin + r->parts.items.items[n - 1].size : r->window.end;
    return end == UINT64_MAX ? 0 : end - r->begin;
}

bool perfdata_reader_again(const struct perfdata_reader *r)
{
    return r->window.seekable && !r->window.swapped && !r->unpack && !r->contents.info.compressed;
}

int64_t perfdata_reader_read_at(struct perfdata_reader *r, void *buffer, size_t n, uint64_t offset)
{
    return parts_read_at(&r->parts, r->plain_fd >= 0 ? r->plain_fd : r->fd, r->size, buffer, n, offset);
}

int perfdata_reader_explain(const struct perfdata_reader *r, struct rk_error *ret)
{
    if (!r->error)
        return -ENOENT;
    error_give(ret, &r->why);
    return 0;
}

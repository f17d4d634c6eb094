/*
 * See reader.h. Records are read through a window, in which each is whole and, its size being a multiple of
 * 8, aligned. perf itself writes a record of 12 bytes (TRACING_DATA in a pipe): what stands askew behind it
 * is copied once more.
 *
 * Compressed records are taken apart where they stand (unpack.h): what is inside comes out as if it stood there, with
 * the offset of the record that holds it.
 */
#include "perfdata/reader.h"

#include "perfdata/contents.h"
#include "perfdata/section.h"
#include "perfdata/unpack.h"
#include "perfdata/window.h"

#include "base/cursor.h"
#include "base/error.h"
#include "record/layout.h"
#include "sys/file.h"
#include "sys/limit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct perfdata_reader {
    bool own_fd;
    bool cut;
    bool lenient; /* the header did not say where the data ends: what is unsound ends it */
    bool ended;
    int error; /* the first -errno of next(), which comes again */
    char name[128];
    uint64_t begin; /* of the data */
    uint64_t skip;  /* payload to pass over before the next record */
    struct window window;
    struct contents contents;
    struct unpack *unpack; /* NULL until a compressed record comes */
    bool packed;           /* records come from there, till it wants more */
    uint64_t packed_at;    /* the offset of what it was fed */
    struct rk_error why;
    _Alignas(8) unsigned char askew[64 << 10];
};

#define TRACING_PIECE 4096u

#define RECORD_ANEW "record anew: reckon record COMMAND"

static int bad_file(const struct perfdata_reader *r, const char *what, struct rk_error *e)
{
    return fail(e, -EBADMSG, RK_STAGE_STREAM, RK_CAUSE_BAD_FILE, RECORD_ANEW, "%s: %s", r->name, what);
}

static int bad_at(const struct perfdata_reader *r, const char *what, uint64_t offset, struct rk_error *e)
{
    return fail(e, -EBADMSG, RK_STAGE_STREAM, RK_CAUSE_BAD_FILE, RECORD_ANEW, "%s: %s at offset %" PRIu64,
                r->name, what, offset);
}

static int read_failed(const struct perfdata_reader *r, int code, struct rk_error *e)
{
    if (code == -ENOMEM)
        return fail_memory(e, RK_STAGE_STREAM);
    if (code == -EISDIR)
        return fail(e, code, RK_STAGE_STREAM, RK_CAUSE_BAD_FILE,
                    "give the file; perf record --threads makes directories, which are not read",
                    "%s: a directory, not a recording in one file", r->name);
    return fail(e, code, RK_STAGE_STREAM, RK_CAUSE_NO_FILE, NULL, "%s: cannot be read: %s", r->name,
                strerror(-code));
}

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
    read_failed(r, (int)code, &r->why);
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
    unpack_feed(r->unpack, payload, (size_t)n);
    r->packed = true;
    r->packed_at = r->window.at - record->size;
    return 1;
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
    return k;
}

/* The next whole record, in place: 1, 0 or -errno. */
static int record_read(struct perfdata_reader *r, const struct perf_header **ret)
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
static int record_take(struct perfdata_reader *r, const struct perf_header *record)
{
    struct cursor c = cursor_of(record + 1, record->size - sizeof *record);
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
        if (r->packed) /* its bytes are not here */
            return reader_unsound(r, "tracing data inside a compressed record");
        k = take_tracing(r, cursor_u32(&c));
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
    case PERFDATA_AUXTRACE:
        r->skip = cursor_u64(&c);
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

int perfdata_reader_next(struct perfdata_reader *r, const struct perf_header **ret, uint64_t *ret_offset)
{
    const struct perf_header *record;

    while (!r->error && !r->ended) {
        bool inside = r->packed;
        int k = inside ? packed_read(r, &record) : record_read(r, &record);
        if (inside && k == 0 && !r->ended)
            continue;
        if (k <= 0)
            return k;
        uint64_t offset = inside ? r->packed_at : r->window.at - record->size;
        k = record_take(r, record);
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

/* ---- opening ---- */

/* Reads up to the first record that next() will return. It stays in the window. */
static int open_pipe(struct perfdata_reader *r, struct rk_error *e)
{
    r->contents.info.pipe = true;
    r->begin = r->window.at = PERFDATA_PIPE_HEADER;
    r->window.end = UINT64_MAX;
    for (;;) {
        const struct perf_header *record = NULL;
        int k = record_read(r, &record);
        if (k < 0)
            return error_give(e, &r->why);
        if (!record) /* the end */
            break;
        uint16_t size = record->size;
        bool compressed = record->type == PERFDATA_COMPRESSED || record->type == PERFDATA_COMPRESSED2;
        k = compressed ? 0 : record_take(r, record);
        if (k < 0)
            return error_give(e, &r->why);
        if (k == 0) { /* once more, for next() */
            window_move(&r->window, -(int64_t)size);
            r->skip = 0;
            break;
        }
    }
    r->contents.info.finished = true;
    if (!r->contents.events.n)
        return bad_at(r, "no events before the records", r->window.at, e);
    return 0;
}

static int open_file(struct perfdata_reader *r, struct rk_error *e)
{
    struct perfdata_header header = {0};

    if (!r->window.seekable)
        return fail(e, -ESPIPE, RK_STAGE_STREAM, RK_CAUSE_BAD_FILE, "give the file's path",
                    "%s: a perf.data file through a pipe; only recordings made for one (-o -) can be read so",
                    r->name);
    int64_t n = sys_read_at(r->window.fd, &header, sizeof header, 0);
    if (n < 0)
        return read_failed(r, (int)n, e);
    /* Before 2012 the header had no features. */
    size_t old = __builtin_offsetof(struct perfdata_header, features);
    if (header.size != sizeof header && header.size != old)
        return bad_at(r, "a header of unknown size, told", __builtin_offsetof(struct perfdata_header, size),
                      e);
    if ((uint64_t)n < header.size)
        return bad_at(r, "cut inside its header", (uint64_t)n, e);
    if (header.size == old)
        memset(header.features, 0, sizeof header.features);
    struct section_fault fault;
    int k = section_attrs(&r->window, &header, &r->contents, &fault);
    if (k < 0)
        return k == -EBADMSG ? bad_at(r, fault.what, fault.offset, e) : read_failed(r, k, e);
    if (header.data.offset < header.size || header.data.offset > r->window.size)
        return bad_at(r, "data that is not in the file, told",
                      __builtin_offsetof(struct perfdata_header, data), e);
    r->begin = r->window.at = header.data.offset;
    if (header.data.size == 0 || header.data.size > r->window.size - header.data.offset) {
        r->cut = r->lenient = true;
        r->window.end = r->window.size;
        return 0;
    }
    r->window.end = header.data.offset + header.data.size;
    k = section_features(&r->window, &header, r->window.end, &r->contents, &r->contents.info.finished);
    if (k < 0)
        return read_failed(r, k, e);
    r->cut = !r->contents.info.finished;
    return 0;
}

static int open_any(struct perfdata_reader *r, struct rk_error *e)
{
    uint64_t head[2] = {0};
    int k = sys_file_size(r->window.fd, &r->window.size, &r->window.seekable);

    if (k < 0)
        return read_failed(r, k, e);
    int64_t n = r->window.seekable ? sys_read_at(r->window.fd, head, sizeof head, 0)
                                   : sys_read(r->window.fd, head, sizeof head);
    if (n < 0)
        return read_failed(r, (int)n, e);
    if (n == 0)
        return bad_file(r, "an empty file, not a recording", e);
    if (head[0] == PERFDATA_MAGIC_SWAPPED)
        return fail(e, -EOPNOTSUPP, RK_STAGE_STREAM, RK_CAUSE_UNSUPPORTED,
                    "read it on a machine of its own kind",
                    "%s: recorded on a machine of the other byte order", r->name);
    if (head[0] == PERFDATA_MAGIC_1)
        return fail(e, -EOPNOTSUPP, RK_STAGE_STREAM, RK_CAUSE_UNSUPPORTED, "record it anew",
                    "%s: of perf's first format, from before 2012", r->name);
    if (head[0] != PERFDATA_MAGIC)
        return fail(e, -EBADMSG, RK_STAGE_STREAM, RK_CAUSE_BAD_FILE,
                    "give a recording; one is made by: reckon record COMMAND",
                    "%s: not a perf.data recording", r->name);
    if (n < (int64_t)sizeof head)
        return bad_at(r, "cut inside its header", (uint64_t)n, e);
    return head[1] == PERFDATA_PIPE_HEADER ? open_pipe(r, e) : open_file(r, e);
}

static int reader_open(int fd, bool own_fd, const char *name, struct perfdata_reader **ret,
                       struct rk_error *e)
{
    struct perfdata_reader *r = malloc(sizeof *r);
    unsigned char *window = malloc(WINDOW_BYTES);

    if (!r || !window) {
        free(r);
        free(window);
        return fail_memory(e, RK_STAGE_STREAM);
    }
    /* All but the long buffer at its end. */
    memset(r, 0, __builtin_offsetof(struct perfdata_reader, askew));
    r->window.fd = fd;
    r->window.bytes = window;
    r->why.size = sizeof r->why;
    snprintf(r->name, sizeof r->name, "%s", name);
    contents_init(&r->contents);
    int k = open_any(r, e);
    if (k < 0) {
        perfdata_reader_close(r);
        return k;
    }
    r->own_fd = own_fd;
    *ret = r;
    return 0;
}

int perfdata_reader_open_fd(int fd, const char *name, struct perfdata_reader **ret, struct rk_error *e)
{
    return reader_open(fd, false, name, ret, e);
}

int perfdata_reader_open(const char *path, struct perfdata_reader **ret, struct rk_error *e)
{
    if (strcmp(path, "-") == 0)
        return reader_open(STDIN_FILENO, false, "standard input", ret, e);
    _cleanup_close_ int fd = sys_open(path, O_RDONLY, 0);
    if (fd < 0)
        return fail(e, fd, RK_STAGE_STREAM, fd == -EMFILE ? RK_CAUSE_DESCRIPTORS : RK_CAUSE_NO_FILE,
                    fd == -ENOENT   ? "make one with: reckon record COMMAND"
                    : fd == -EACCES ? "read it as its owner, who recorded it, or as root: sudo"
                    : fd == -EMFILE ? sys_limit_more_descriptors()
                                    : NULL,
                    "%s: %s", path, strerror(-fd));
    int k = reader_open(fd, true, path, ret, e);
    if (k == 0)
        TAKE_FD(fd);
    return k;
}

struct perfdata_reader *perfdata_reader_close(struct perfdata_reader *r)
{
    if (r) {
        if (r->own_fd)
            sys_close(r->window.fd);
        contents_free(&r->contents);
        unpack_close(r->unpack);
        free(r->window.bytes);
        free(r);
    }
    return NULL;
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
    return r->window.end == UINT64_MAX ? 0 : r->window.end - r->begin;
}

int perfdata_reader_fd(const struct perfdata_reader *r)
{
    return r->window.seekable && !r->unpack && !r->contents.info.compressed ? r->window.fd : -1;
}

int perfdata_reader_explain(const struct perfdata_reader *r, struct rk_error *ret)
{
    if (!r->error)
        return -ENOENT;
    error_give(ret, &r->why);
    return 0;
}

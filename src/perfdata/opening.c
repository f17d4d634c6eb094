/*
 * Opening a recording, whatever form it has:
 *
 *     a file or a pipe    "PERFILE2" and the header's size, 16 for a pipe
 *     before 2012         "PERFFILE", all else the same
 *     compressed          gzip or zstd around all of it: unpacked into memory first
 *     a directory         of perf record --threads: `data` has the header, data.0, data.1 … are records (parts.h)
 *     other byte order    each record is turned when it is read (swap.h)
 */
#include "perfdata/reading.h"
#include "perfdata/section.h"
#include "perfdata/swap.h"
#include "perfdata/unwrap.h"

#include "base/error.h"
#include "sys/file.h"
#include "sys/limit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The size of a header of before there were features. */
#define HEADER_OLD __builtin_offsetof(struct perfdata_header, features)

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

int reading_failed(const struct perfdata_reader *r, int code, struct rk_error *e)
{
    if (code == -ENOMEM)
        return fail_memory(e, RK_STAGE_STREAM);
    if (code == -EISDIR)
        return fail(e, code, RK_STAGE_STREAM, RK_CAUSE_BAD_FILE, "give a recording: reckon record makes one",
                    "%s: a directory, and not one of perf record --threads, which has a file `data`",
                    r->name);
    return fail(e, code, RK_STAGE_STREAM, RK_CAUSE_NO_FILE, NULL, "%s: cannot be read: %s", r->name,
                strerror(-code));
}

/* Reads up to the first record that next() will return. It stays in the window. */
static int open_pipe(struct perfdata_reader *r, struct rk_error *e)
{
    r->contents.info.pipe = true;
    r->begin = r->window.at = PERFDATA_PIPE_HEADER;
    r->window.end = UINT64_MAX;
    for (;;) {
        const struct perf_header *record = NULL;
        int k = reading_record(r, &record);
        if (k < 0)
            return error_give(e, &r->why);
        if (!record) /* the end */
            break;
        uint16_t size = record->size;
        bool compressed = record->type == PERFDATA_COMPRESSED || record->type == PERFDATA_COMPRESSED2;
        k = compressed ? 0 : reading_take(r, record);
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
        return reading_failed(r, (int)n, e);
    if (r->window.swapped)
        swap_file_header(&header);
    size_t old = HEADER_OLD;
    if (header.size != sizeof header && header.size != old)
        return bad_at(r, "a header of unknown size, given", __builtin_offsetof(struct perfdata_header, size),
                      e);
    if ((uint64_t)n < header.size)
        return bad_at(r, "cut inside its header", (uint64_t)n, e);
    if (header.size == old)
        memset(header.features, 0, sizeof header.features);
    struct section_fault fault;
    int k = section_attrs(&r->window, &header, &r->contents, &fault);
    if (k < 0)
        return k == -EBADMSG ? bad_at(r, fault.what, fault.offset, e) : reading_failed(r, k, e);
    if (header.data.offset < header.size || header.data.offset > r->window.size)
        return bad_at(r, "the data lies outside of the file: place given",
                      __builtin_offsetof(struct perfdata_header, data), e);
    r->begin = r->window.at = header.data.offset;
    bool none = header.data.size == 0 && !r->parts.items.n;
    if (none || header.data.size > r->window.size - header.data.offset) {
        r->cut = r->lenient = true;
        r->window.end = r->window.size;
        return 0;
    }
    r->window.end = header.data.offset + header.data.size;
    k = section_features(&r->window, &header, r->window.end, &r->contents, &r->contents.info.finished);
    if (k < 0)
        return reading_failed(r, k, e);
    r->cut = !r->contents.info.finished;
    return 0;
}

/* gzip or zstd around it: the reader goes on with what is inside. */
static int open_wrapped(struct perfdata_reader *r, const void *head, size_t n, size_t already,
                        struct rk_error *e)
{
    const char *kind = unwrap_kind(head, n);
    bool gzip = strcmp(kind, "gzip") == 0;
    int fd = unwrap(r->window.fd, head, n, already);

    if (fd == -EOPNOTSUPP)
        return fail(e, fd, RK_STAGE_STREAM, RK_CAUSE_UNSUPPORTED,
                    gzip ? "install libdeflate.so.0 (Debian: libdeflate0), or gunzip it first"
                         : "install libzstd.so.1 (Debian: libzstd1), or unzstd it first",
                    "%s: compressed by %s, whose library is not installed here", r->name, kind);
    if (fd == -EFBIG)
        return fail(e, fd, RK_STAGE_STREAM, RK_CAUSE_UNSUPPORTED,
                    gzip ? "gunzip it first" : "unzstd it first",
                    "%s: compressed by %s, and more than 1 GiB when unpacked", r->name, kind);
    if (fd == -EBADMSG)
        return fail(e, fd, RK_STAGE_STREAM, RK_CAUSE_BAD_FILE, RECORD_ANEW, "%s: damaged %s", r->name, kind);
    if (fd < 0)
        return reading_failed(r, fd, e);
    r->plain_fd = r->window.fd = fd;
    return 0;
}

/* The magic says the byte order; the one of before 2012 is a text, and the header's size has to. */
static bool is_swapped(const uint64_t head[2])
{
    uint64_t size = __builtin_bswap64(head[1]);

    return head[0] == PERFDATA_MAGIC_SWAPPED ||
           (head[0] == PERFDATA_MAGIC_1 &&
            (size == PERFDATA_PIPE_HEADER || size == HEADER_OLD || size == sizeof(struct perfdata_header)));
}

static int read_head(struct perfdata_reader *r, uint64_t head[2], int64_t *ret_n, struct rk_error *e)
{
    int k = sys_file_size(r->window.fd, &r->window.size, &r->window.seekable);

    if (k < 0)
        return reading_failed(r, k, e);
    r->size = r->window.size;
    *ret_n = r->window.seekable && r->plain_fd < 0 ? sys_read_at(r->window.fd, head, 16, 0)
             : r->plain_fd < 0                     ? sys_read(r->window.fd, head, 16)
                                                   : sys_read_at(r->plain_fd, head, 16, 0);
    return *ret_n < 0 ? reading_failed(r, (int)*ret_n, e) : 0;
}

static int open_any(struct perfdata_reader *r, struct rk_error *e)
{
    uint64_t head[2] = {0};
    int64_t n = 0;
    int k = read_head(r, head, &n, e);

    if (k == 0 && unwrap_kind(head, (size_t)n)) {
        size_t already = r->window.seekable ? 0 : (size_t)n;
        k = open_wrapped(r, head, (size_t)n, already, e);
        if (k == 0)
            k = read_head(r, head, &n, e);
    }
    if (k < 0)
        return k;
    if (n == 0)
        return bad_file(r, "an empty file, not a recording", e);
    if (head[0] != PERFDATA_MAGIC && head[0] != PERFDATA_MAGIC_1 && head[0] != PERFDATA_MAGIC_SWAPPED)
        return fail(e, -EBADMSG, RK_STAGE_STREAM, RK_CAUSE_BAD_FILE,
                    "give a recording; one is made by: reckon record COMMAND",
                    "%s: not a perf.data recording", r->name);
    if (n < (int64_t)sizeof head)
        return bad_at(r, "cut inside its header", (uint64_t)n, e);
    r->window.swapped = is_swapped(head);
    if (r->window.swapped)
        head[1] = __builtin_bswap64(head[1]);
    return head[1] == PERFDATA_PIPE_HEADER ? open_pipe(r, e) : open_file(r, e);
}

static int reader_open(int fd, bool own_fd, const char *name, struct parts *parts,
                       struct perfdata_reader **ret, struct rk_error *e)
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
    r->window.fd = r->fd = fd;
    r->plain_fd = -1;
    r->window.bytes = window;
    r->why.size = sizeof r->why;
    snprintf(r->name, sizeof r->name, "%s", name);
    contents_init(&r->contents);
    if (parts)
        r->parts = *parts;
    int k = open_any(r, e);
    if (k < 0) {
        r->parts = (struct parts){0}; /* the caller's still */
        perfdata_reader_close(r);
        return k;
    }
    r->own_fd = own_fd;
    *ret = r;
    return 0;
}

int perfdata_reader_open_fd(int fd, const char *name, struct perfdata_reader **ret, struct rk_error *e)
{
    return reader_open(fd, false, name, NULL, ret, e);
}

static int open_failed(int code, const char *path, struct rk_error *e)
{
    if (code == -ENOMEM)
        return fail_memory(e, RK_STAGE_STREAM);
    return fail(e, code, RK_STAGE_STREAM, code == -EMFILE ? RK_CAUSE_DESCRIPTORS : RK_CAUSE_NO_FILE,
                code == -ENOENT   ? "make one with: reckon record COMMAND"
                : code == -EACCES ? "read it as its owner, who recorded it, or as root: sudo"
                : code == -EMFILE ? sys_limit_more_descriptors()
                                  : NULL,
                "%s: %s", path, strerror(-code));
}

/* `dir`: a directory; it is taken. */
static int open_directory(int dir, const char *path, struct perfdata_reader **ret, struct rk_error *e)
{
    struct parts parts = {.dir = dir, .fd = -1};
    _cleanup_close_ int fd = sys_open_regular(dir, "data");
    uint64_t size = 0;
    bool regular;
    int k = fd < 0 ? fd : sys_file_size(fd, &size, &regular);

    if (k == 0)
        k = parts_find(&parts, dir, size);
    if (k == 0) {
        k = reader_open(fd, true, path, &parts, ret, e);
        if (k == 0) {
            TAKE_FD(fd);
            return 0;
        }
    } else if (k == -ENOENT) {
        struct perfdata_reader named = {0};
        snprintf(named.name, sizeof named.name, "%s", path);
        k = reading_failed(&named, -EISDIR, e);
    } else {
        k = open_failed(k, path, e);
    }
    parts_free(&parts);
    return k;
}

int perfdata_reader_open(const char *path, struct perfdata_reader **ret, struct rk_error *e)
{
    if (strcmp(path, "-") == 0)
        return reader_open(STDIN_FILENO, false, "standard input", NULL, ret, e);
    _cleanup_close_ int fd = sys_open(path, O_RDONLY, 0);
    if (fd < 0)
        return open_failed(fd, path, e);
    if (sys_is_directory(fd))
        return open_directory(TAKE_FD(fd), path, ret, e);
    int k = reader_open(fd, true, path, NULL, ret, e);
    if (k == 0)
        TAKE_FD(fd);
    return k;
}

struct perfdata_reader *perfdata_reader_close(struct perfdata_reader *r)
{
    if (r) {
        if (r->own_fd)
            sys_close(r->fd);
        sys_close_cleanup(&r->plain_fd);
        parts_free(&r->parts);
        vector_free(&r->layouts);
        contents_free(&r->contents);
        unpack_close(r->unpack);
        free(r->window.bytes);
        free(r);
    }
    return NULL;
}

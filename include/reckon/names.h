/*
 * reckon/names.h: stores names, lines and inlined functions with a recording, so that it can be read
 * anywhere, and after the programs that ran are gone or built anew.
 *
 *     struct rk_capture_options o = RK_INIT(o, .flags = RK_CAPTURE_NAMES);
 *     …
 *     rk_capture_finish(capture, NULL, &e);                  // the file is complete without names
 *     rk_names_capture(capture, NULL, &names, &e);
 *     rk_names_store("perf.data", names->data, names->bytes, &e);
 *     rk_names_free(names);
 *
 * To name 10,000 addresses of a large program takes up to a second and some hundred megabytes, once debug
 * information is read. `reckon record` therefore calls rk_names_capture() in a child process with limits, and
 * hands the bytes to its parent, which stores them. The library itself never forks.
 *
 * Readers need not do anything: profiles use what is stored. With a symbolizer of one's own,
 * rk_stream_names() and rk_symbolizer_names() do it. perf ignores what is stored.
 */
#ifndef RECKON_NAMES_H
#define RECKON_NAMES_H

#include <reckon/capture.h>
#include <reckon/error.h>
#include <reckon/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/* For rk_names_options.flags. */
enum {
    RK_NAMES_NO_LINES = 1, /* functions alone: no lines, and no inlined functions */
};

struct rk_names_options {
    uint32_t size;
    uint32_t flags;   /* RK_NAMES_… */
    uint32_t threads; /* share the reading of debug information; 0, 1: the caller alone */
    uint32_t reserved;

    /* What they may take at most. Lines are left out first, then the names of addresses that were hit last.
     * 0: for a capture a tenth of the recording, or 64 KiB where that is less than 1 MB; else 16 MiB. */
    uint64_t bytes;

    /* No module is begun after so much time of this process's CPU, counted from the call. 0: no limit. */
    uint64_t cpu_ns;

    const char *root; /* below it files and /proc are looked up; NULL: "/" */
};

struct rk_names {
    uint32_t size; /* set by the library */
    uint32_t reserved;
    size_t bytes;
    const void *data; /* for rk_names_store() */

    uint64_t addresses; /* distinct ones, by module and offset */
    uint64_t named;     /* of these: stored with a name */
    uint64_t lined;     /* … and a line */
    uint64_t left_out;  /* not stored, for want of room or time, or because there were too many */
    uint64_t unlined;   /* stored, but without a line that was known, for want of room */
};

/*
 * Names every address that the capture's present file has in samples, call chains and branches. The capture
 * was opened with RK_CAPTURE_NAMES; else -EINVAL. May be called in a forked child, which has the capture as
 * it was.
 */
RK_API int rk_names_capture(const struct rk_capture *capture, const struct rk_names_options *options,
                            struct rk_names **ret, struct rk_error *e);

/* Names every address that a stream has in samples and call chains, with the files that are here
 * now. It reads the stream to its end. Damaged records are skipped. */
RK_API int rk_names_stream(struct rk_stream *stream, const struct rk_names_options *options,
                           struct rk_names **ret, struct rk_error *e);

RK_API struct rk_names *rk_names_free(struct rk_names *names);

/*
 * Stores names in a recording of reckon's that is complete, in place of those that it has. The file is a
 * regular one, and readers find either no names or all of them, whenever the call ends.
 *
 * -ENOTSUP: a file that has no room for names: perf's, or of a reckon before them. -EBADMSG: the bytes are no
 * names, or the file is no recording or was cut.
 */
RK_API int rk_names_store(const char *path, const void *data, size_t bytes, struct rk_error *e);

/*
 * Writes a copy of a recording, reckon's or perf's, that has the names, lines and inlined functions of all
 * its addresses: those that it stores, and what the files here, perf's cache and debuginfod servers say of
 * the rest. options.bytes is 16 MiB by default. The copy is written as rk_sink_open_file() does; where that
 * fails it is removed. *ret has the counts and no data.
 *
 * -EINVAL: both paths are one file. -ENOTSUP: the recording is in a pipe's format, packed, a directory, of
 * another byte order, or of a reckon before there were names. -EBADMSG: it is damaged or was cut.
 */
RK_API int rk_names_archive(const char *path, const char *to, const struct rk_names_options *options,
                            struct rk_names **ret, struct rk_error *e);

#ifdef __cplusplus
}
#endif
#endif

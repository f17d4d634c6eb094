/*
 * reckon/capture.h: records a sampling set into a perf.data file that reckon and perf read.
 *
 *     struct rk_capture_options o = RK_INIT(o, .path = "perf.data");
 *     rk_capture_open(host, set, target, &o, &capture, &e);
 *     rk_target_start(target, &e);
 *     while (rk_capture_step(capture, 100) == 1)
 *         ;                                       // 0: the target has ended and all is written
 *     if (rk_capture_finish(capture, &stats, &e) < 0)
 *         fprintf(stderr, "%s\n", e.what);
 *     rk_capture_free(capture);
 *
 * The file: a new one with mode 0600. An existing file of that name is renamed to PATH.old. The capture
 * appends whole records and updates the header's size at least once a second. If the process is killed, the
 * file is readable up to the last update.
 *
 * RK_CAPTURE_UNWIND replaces the stack of each sample by its frames (reckon/unwind.h), in the order of time.
 * perf and reckon read such a chain like the kernel's. The addresses of its user part are ready to be looked
 * up: they are not return addresses. That is how perf looks up a chain that a file has.
 * Readers find it in rk_stream_event.unwound.
 *
 * Path "-" writes to standard output in perf's pipe mode. LOST_SAMPLES records then say what was lost, since
 * perf warns about reckon's ledger in a pipe.
 */
#ifndef RECKON_CAPTURE_H
#define RECKON_CAPTURE_H

#include <reckon/set.h>
#include <reckon/stream.h>
#include <reckon/target.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rk_capture;

/* rk_capture_options.flags */
#define RK_CAPTURE_THREAD 0x1u /* a thread empties the rings; without it rk_capture_step() does */
#define RK_CAPTURE_UNWIND 0x2u /* write frames instead of RK_SAMPLE_REGS_USER and RK_SAMPLE_STACK_USER */

/* note each address that is hit and keep its file open, for rk_names_capture(); not in pipe mode */
#define RK_CAPTURE_NAMES 0x4u

struct rk_capture_options {
    uint32_t size;
    /* RK_CAPTURE_… */
    uint32_t flags;
    /* NULL: "perf.data"; "-": standard output, in pipe mode. */
    const char *path;
    /* The command line to store, NULL-terminated; NULL: none. */
    const char *const *command;
    /* zstd's level, 1 … 22; 0: no compression. -EOPNOTSUPP: zstd is not installed. */
    uint32_t compression;
    /* With RK_CAPTURE_THREAD: how much may wait between the thread and the writer, 1 MiB at least;
     * 0: 64 MiB. */
    uint32_t queue_bytes;
    /* With RK_CAPTURE_UNWIND: those of rk_set_options.regs_user that samples keep; 0: none. */
    uint64_t unwind_regs;
};

struct rk_capture_stats {
    uint32_t size;
    uint32_t reserved;
    /* In the file. */
    uint64_t bytes;
    uint64_t records;
    /* Of all events. */
    struct rk_loss loss;
    /* With RK_CAPTURE_THREAD: how often the queue was full, so that records stayed in the rings. */
    uint64_t queue_full;
    /* Samples whose stack or chain is longer than the set asked for. */
    uint64_t truncated;
    /* After rk_capture_finish(): processes with code that /tmp/perf-PID.map names (JIT compilers). */
    uint64_t code_maps;
    /* With RK_CAPTURE_UNWIND: stacks that reached their thread's first function; that were longer than
     * rk_set_options.stack_user; that broke (enum rk_unwind_end). */
    uint64_t stacks_whole, stacks_cut, stacks_broken;
    /* Of the cut and broken ones: stacks that the kernel's chain along frame pointers made longer. */
    uint64_t stacks_joined;
};

/* Opens a capture. `target` may be NULL: then rk_capture_step() never returns 0. -EBUSY: the set has a stream
 * or a capture already. -EINVAL: an unknown flag; queue_bytes without RK_CAPTURE_THREAD; unwind_regs without
 * RK_CAPTURE_UNWIND. */
RK_API int rk_capture_open(struct rk_host *host, struct rk_set *set, struct rk_target *target,
                           const struct rk_capture_options *options, struct rk_capture **ret,
                           struct rk_error *e);

/* Waits up to timeout_ms for records and writes those that are due. Returns 1: call again; 0: the target has
 * ended and all of its records are written; -errno: writing failed, and the file is readable up to the last
 * flush. */
RK_API int rk_capture_step(struct rk_capture *capture, int timeout_ms);

/* Returns a descriptor that is readable when records wait, for a program with an event loop of its own. Call
 * rk_capture_step() with a timeout of 0 then, and at least every half second, so that records reach the
 * file. */
RK_API int rk_capture_fd(const struct rk_capture *capture);

/* Enables and disables the set. After each enable the file describes the processes that run then, so that
 * samples find their mappings. Return 0 or -errno. */
RK_API int rk_capture_enable(struct rk_capture *capture);
RK_API int rk_capture_disable(struct rk_capture *capture);

/* Writes and flushes all records that there are now. For a set opened with RK_SET_OVERWRITE this is the only
 * way to write out its rings. Returns 0 or -errno. */
RK_API int rk_capture_snapshot(struct rk_capture *capture);

/* Finishes the file, renames it to `path`, and goes on in a new file under the first name. Each file can be
 * read on its own; rk_capture_stats() counts over all of them. After a failure only rk_capture_finish() and
 * rk_capture_free() are useful. -EINVAL in pipe mode. */
RK_API int rk_capture_switch(struct rk_capture *capture, const char *path, struct rk_error *e);

/* Fills *ret with the figures so far, for a progress line. */
RK_API int rk_capture_stats(const struct rk_capture *capture, struct rk_capture_stats *ret);

/* Disables the set, writes the rest and the file's closing sections. *ret (may be NULL) is filled if the
 * recording is complete. Returns 0 or -errno, also when called again. NULL is a capture with nothing to
 * write: 0. */
RK_API int rk_capture_finish(struct rk_capture *capture, struct rk_capture_stats *ret, struct rk_error *e);

/* Frees a capture. Without rk_capture_finish() the file keeps what was flushed, and readers report it as
 * cut. */
RK_API struct rk_capture *rk_capture_free(struct rk_capture *capture);

#ifdef __cplusplus
}
#endif
#endif

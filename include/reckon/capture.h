/*
 * reckon/capture.h: a sampling set → a perf.data file that reckon and perf read.
 *
 *     rk_capture_open(host, set, target, &(struct rk_capture_options){.size = …, .path = "perf.data"}, &c, &e);
 *     rk_target_start(target, &e);
 *     while (rk_capture_step(c, 100) == 1)
 *         ;                                  // 0: the command has ended and all is written
 *     rk_capture_close(c, &stats, &e);
 *
 * With `unwind` stacks become frames while they are recorded, in the order of time. perf and reckon read such a chain as
 * any other. Its user part has addresses as they are to be looked up, not return addresses: that is how perf looks up what a
 * file has; rk_stream_event_get.unwound tells it.
 *
 * In pipe mode (path "-") the same goes to standard output in a row; the ledger of losses, which perf would warn of, is
 * left out there: LOST_SAMPLES records have what was lost.
 *
 * The file is made with mode 0600; one that was there is kept as PATH.old. Whole records are appended,
 * then the header's size is rewritten, at least once a second: what a kill leaves is readable to there.
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

struct rk_capture_options {
    uint32_t size;
    uint32_t threads; /* 0: all is done in rk_capture_step(); 1: a thread of its own empties the rings */
    const char *path; /* NULL: "perf.data"; "-": standard output, in pipe mode */
    const char *const *command; /* the command line to store, NULL-terminated; NULL: none */
    uint32_t compression;       /* zstd's level, 1 … 22; 0: none. -EOPNOTSUPP: zstd is not installed */
    uint32_t queue_mb;          /* with threads: what waits between reader and writer, in MiB; 0: 64 */
    uint32_t
        unwind; /* 1: samples with RK_SAMPLE_REGS_USER and _STACK_USER are written with their frames in place of these
                        (reckon/unwind.h), as if the kernel had found the chain; 0: all as it comes */
    uint32_t reserved;
    uint64_t unwind_regs; /* with `unwind`: of rk_set_options.regs_user, which samples keep; 0: none */
};

struct rk_capture_stats {
    uint32_t size;
    uint32_t reserved;
    uint64_t bytes; /* in the file */
    uint64_t records;
    struct rk_loss loss; /* of all events */
    uint64_t
        queue_full; /* with threads: how often the reader found its queue full and left records in the rings */
    uint64_t truncated; /* samples whose stack or chain is longer than what was asked for */
    uint64_t code_maps; /* after close: processes whose code, made at run time, /tmp/perf-PID.map names */
    /* With `unwind`: how many stacks reached their thread's first function, were cut by the dump's size
     * (rk_set_options.stack_user), or broke (enum rk_unwind_end); and how many of the latter two were then made longer by
     * the chain that the kernel found along frame pointers, where it was asked for one. */
    uint64_t stacks_whole, stacks_cut, stacks_broken, stacks_joined;
};

/* `target` may be NULL: then nobody starts or ends, and rk_capture_step() never returns 0. `host` and `set` must outlive
 * the capture. */
RK_API int rk_capture_open(struct rk_host *host, struct rk_set *set, struct rk_target *target,
                           const struct rk_capture_options *options, struct rk_capture **ret,
                           struct rk_error *e);

/* Waits up to timeout_ms for records and writes what is due. 1: go on; 0: the target has ended and all of
 * its records are written; -errno: writing failed (the file is readable up to the last flush). */
RK_API int rk_capture_step(struct rk_capture *capture, int timeout_ms);

/* Readable when records wait, as rk_stream_fd(): for a program with a loop of its own, which then calls step() with a
 * timeout of 0; at least every half second, so that what was recorded is flushed. */
RK_API int rk_capture_fd(const struct rk_capture *capture);

/* Enables and disables the set meanwhile. When it is enabled, what runs then is recorded, so that samples find their
 * mappings. Returns 0 or -errno. */
RK_API int rk_capture_enable(struct rk_capture *capture);
RK_API int rk_capture_disable(struct rk_capture *capture);

/* Writes all that there is now and flushes; of a set opened with `overwrite` what its rings hold, which without this
 * nothing does. 0 or -errno. */
RK_API int rk_capture_snapshot(struct rk_capture *capture);

/* Closes the file, which is called `path` from now on, and goes on in a new one that takes the first one's place. Each
 * is whole in itself; the counters of rk_capture_stats() are those of all. After a failure the capture can only be closed.
 * -EINVAL in pipe mode. */
RK_API int rk_capture_switch(struct rk_capture *capture, const char *path, struct rk_error *e);

/* Counters so far, for a progress line. */
RK_API int rk_capture_stats(const struct rk_capture *capture, struct rk_capture_stats *ret);

/* Disables the set, writes the rest and the closing sections, frees the capture whatever happens.
 * NULL is taken. *ret (may be NULL) is filled if the recording is usable. */
RK_API int rk_capture_close(struct rk_capture *capture, struct rk_capture_stats *ret, struct rk_error *e);

#ifdef __cplusplus
}
#endif
#endif

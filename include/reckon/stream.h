/*
 * reckon/stream.h: records in the order of time, live or from a file: one interface.
 *
 *     struct rk_stream *st;
 *     rk_stream_file("perf.data", &st, &e);             // or rk_stream_live(set, &st, &e)
 *     struct rk_sample s = RK_INIT(s);
 *     const struct rk_record *r;
 *     unsigned n = 0;
 *     int rc;
 *     while ((rc = rk_stream_next(st, &r)) == 1 || rc == -EBADMSG) {   // -EBADMSG: one damaged record
 *         if (rc == 1 && rk_stream_sample(st, r, &s) == 0)
 *             printf("%d %#jx\n", s.tid, (uintmax_t)s.ip);
 *         if (++n % 256 == 0)
 *             rk_stream_release(st);                                   // once per batch
 *     }
 *     rk_stream_release(st);
 *     if (rc < 0 && rk_stream_explain(st, &e) == 0)
 *         fprintf(stderr, "%s\n", e.what);
 *     rk_stream_free(st);
 *
 * rk_stream_next() never blocks. On a file, 0 is its end. On a live set, 0 means that nothing is due now:
 * wait on rk_stream_fd() with poll(2). Records are held back until no earlier one can still arrive from
 * another CPU, at most until the next round. After rk_stream_drain() all of them come.
 *
 * What runs already: if a set asks for RK_RECORDS_PROFILE (rk_set_options.records), its live stream begins
 * with the world as it is. The first records say where the kernel and its modules lie and, with
 * RK_RECORDS_CODE, which BPF programs are loaded. Then come the processes, threads and mappings of the
 * target; for CPUs and cgroups those of the whole machine. They are MMAP2, KSYMBOL and COMM records without a
 * time, each marked RK_PRESENT_SYNTHESISED. A profile or an image that is fed with all records of the stream
 * can thus name samples of a process that was started long ago.
 *   - They are made once the set is enabled, since the kernel reports no mapping before that: by
 *     rk_stream_live() if the set is enabled then, else by its first rk_set_enable(). That call takes about
 *     0.1 ms for each process. It empties the rings meanwhile, so call it in the thread that reads the
 *     stream; the last record of next() is no longer valid after it.
 *   - A mapping that is made meanwhile may be reported twice. None is lost.
 *   - A command that is sampled from its exec on has no past: only the kernel's part is made.
 *   - If the set is disabled and enabled again, the world is not made again: call rk_stream_world().
 *   - RK_SET_NO_WORLD turns them off.
 *
 * Which way is fast: a set with one ring (a thread, or one CPU) hands out views of it, one by one at about 90
 * million samples a second and core with the usual fields (59 instructions for next(), 52 for sample()).
 * rk_stream_columns() reads the same ring twice as fast, since it works column by column. bench/iterator
 * prints both on a machine. Call release() once per some hundred records, not once for each.
 *
 * Order: a set with one ring gives its records as the kernel wrote them. Several rings, and files that are
 * not in order, are ordered by rounds, in at most 64 MiB (or four times the rings). A file of any size
 * without round marks costs 16 bytes per record, twice while it is sorted.
 *
 * Leader sampling ({a,b}:S): the kernel samples a group's leader alone, with the counts of all. Read from a
 * file, each member that counted since the leader's sample before becomes a sample of its own, at the same
 * place, with the difference as its period; so does the leader. A live stream gives the leader's samples as
 * they are: see rk_sample_read().
 *
 * Samples whose user chain the kernel writes later (CALLCHAIN_DEFERRED) are held back for it, with all later
 * records, in at most 4 MiB. They come with the whole chain. If the thread ends first, or too much is held,
 * they come as they are.
 */
#ifndef RECKON_STREAM_H
#define RECKON_STREAM_H

#include <reckon/error.h>
#include <reckon/record.h>
#include <reckon/set.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rk_stream;

/* Reads the rings of a sampling set, which it keeps alive. A set has one stream or capture at a time: -EBUSY
 * if it has one already. */
RK_API int rk_stream_live(struct rk_set *set, struct rk_stream **ret, struct rk_error *e);

/* Reads a perf.data file of reckon's or perf's; "-" is standard input (pipe mode). A recording that was
 * killed is read as far as it got; rk_stream_info().cut then says so. */
RK_API int rk_stream_file(const char *path, struct rk_stream **ret, struct rk_error *e);

RK_API struct rk_stream *rk_stream_free(struct rk_stream *stream);

/* Readable when records wait in a ring (rk_set_options.wakeup_…), once for each wake-up, and when a measured
 * thread ends: then call next() until it returns 0. The records of what runs already don't make it readable.
 * -EINVAL for a file. The descriptor belongs to the stream. */
RK_API int rk_stream_fd(const struct rk_stream *stream);

/* Hot. Returns 1 and *ret, which is valid until the next call of next() or release(); 0 (see above); or
 * -errno. -EBADMSG is one damaged record: the next call goes on after it, or returns 0 if nothing after it
 * can be read; then rk_stream_info().cut is 1. rk_stream_explain() says where. */
RK_API int rk_stream_next(struct rk_stream *stream, const struct rk_record **ret);

/* Hot. Returns the space of all records so far to the kernel. Call it once per batch. */
RK_API int rk_stream_release(struct rk_stream *stream);

/* Live: no more will be produced (the set is disabled, the target has ended); next() returns the rest. */
RK_API int rk_stream_drain(struct rk_stream *stream);

/* --- Steering a live stream while it runs ---
 *
 * All return 0; -EINVAL for a file, or what the event has no use for; -ERANGE: no such event; -ESTALE in a
 * forked child; or the kernel's -errno. */

/* The kernel writes nothing to the rings until resume. Samples that fall due meanwhile count as lost. */
RK_API int rk_stream_pause(struct rk_stream *stream);
RK_API int rk_stream_resume(struct rk_stream *stream);

/* Gives one event another period, or another frequency if it has one, from its next sample on. How much the
 * event skipped is then unknown. */
RK_API int rk_stream_period(struct rk_stream *stream, uint32_t event, uint64_t period);

/* Lets a disabled event take so many more samples on each thread and CPU; then the kernel disables it again.
 * The kernel requires RK_SET_NO_INHERIT. */
RK_API int rk_stream_refresh(struct rk_stream *stream, uint32_t event, uint32_t samples);

/* Reads the rings of a set opened with RK_SET_OVERWRITE. next() then returns, in order, what no snapshot has
 * read before. It is the only way to read such rings. */
RK_API int rk_stream_snapshot(struct rk_stream *stream);

/* Makes the world as it is now (see above) the next records, before all that next() has not returned yet: for
 * a set that was disabled for a while, and for records that go to another file from here on. -EINVAL: the set
 * does not ask for RK_RECORDS_PROFILE. rk_stream_explain() describes other failures. */
RK_API int rk_stream_world(struct rk_stream *stream);

/* Hot. Decodes a SAMPLE record, as next() gave it. What stands before `raw` in *ret is always set; the fields
 * from there on only where an event of the stream has one of them. So one struct that RK_INIT made does for
 * all samples of a stream, and has 0 in each field that a sample lacks. -EINVAL: not a sample; -EBADMSG:
 * bytes that don't fit the event's layout. */
RK_API int rk_stream_sample(const struct rk_stream *stream, const struct rk_record *record,
                            struct rk_sample *ret);

/* The values of a READ record: read_…, pid and tid of *ret. Errors as above. */
RK_API int rk_stream_read(const struct rk_stream *stream, const struct rk_record *record,
                          struct rk_sample *ret);

/*
 * Many samples in one call, as columns: the fastest way, and the one for bindings. Each pointer is NULL or an
 * array of `max`; a field that a sample lacks is 0. Chains go into `chains`, one after the other: those of
 * row i are chains[chain_start[i] … chain_start[i + 1]), so that chain_start has max + 1 entries; markers are
 * among them. Without both arrays (one alone: -EINVAL) chains are left out.
 *
 * Returns how many rows were filled: fewer than `max` at a file's end, when nothing is due, or when the next
 * chain does not fit after one row at least (a longer one than chains_max is cut). That one is the first row
 * of the next call; calling next() in between skips it. Records that are not samples are skipped, or given to
 * `each` first; a damaged one counts in `damaged`. -errno as next(), with no row filled. All records are
 * released.
 */
struct rk_columns {
    uint32_t size;
    uint32_t reserved;
    uint64_t max;
    uint64_t *time, *ip, *addr, *period, *id, *weight, *phys_addr, *cgroup, *present;
    int32_t *pid, *tid;
    uint32_t *cpu, *event, *misc;
    uint64_t *chain_start, *chains;
    uint64_t chains_max;
    /* Set by the call. */
    uint64_t damaged;
    /* Called for each record that is not a sample; NULL: skip them. */
    void (*each)(void *context, const struct rk_record *record);
    void *context;
};
RK_API int64_t rk_stream_columns(struct rk_stream *stream, struct rk_columns *columns);

/* The fields of an event's tracepoint payload (RK_SAMPLE_RAW), for rk_field_value(): live from tracefs, of a
 * recording from its tracing data. Returns how many there are; 0: none, or unreadable. */
RK_API size_t rk_stream_field_count(struct rk_stream *stream, uint32_t event);
/* Gets one of them; its texts live as long as the stream. Returns -ERANGE beyond the last, and for an event
 * that is no tracepoint; -ENOENT if the fields are not described; -EACCES if tracefs may not be read. */
RK_API int rk_stream_field_get(struct rk_stream *stream, uint32_t event, size_t index, struct rk_field *ret);

/* Cold: what the last -errno of next(), release() or sample() was about. -ENOENT: none failed. */
RK_API int rk_stream_explain(const struct rk_stream *stream, struct rk_error *ret);

/* The events of the stream. */
RK_API size_t rk_stream_event_count(const struct rk_stream *stream);
struct rk_stream_event {
    uint32_t size;
    uint32_t type;
    uint64_t config, sample, read_format;
    uint64_t period;    /* a fixed one, else 0 */
    uint64_t frequency; /* samples a second aimed at, else 0 */
    const char *name;   /* lives as long as the stream */
    /* 1: the recorder unwound the user part of chains (RK_CAPTURE_UNWIND). Its addresses are ready to be
     * looked up; else all but the first are return addresses. */
    uint32_t unwound;
    /* 1: the branches of its samples are the callers (LBR), the latest first. */
    uint32_t call_stack;

    /* Its struct perf_event_attr and the ids that its records carry, as rk_recording_open() takes them:
     * valid until the next call of next(). */
    const void *attr;
    size_t attr_bytes;
    const uint64_t *ids;
    size_t ids_n;
};
RK_API int rk_stream_event_get(const struct rk_stream *stream, size_t index, struct rk_stream_event *ret);

/* What is known about a recording; strings are "" where nothing was stored. */
struct rk_stream_info {
    uint32_t size;
    uint32_t cut;     /* 1: the file was not closed properly or ends early; read as far as it goes */
    uint32_t cpus;    /* online when it was made; 0: unknown */
    uint32_t ordered; /* 1: records were sorted here, 0: they were in order */
    const char *host, *kernel, *architecture, *command, *tool;
    /* Stacks that the recorder unwound, as rk_capture_stats has them; all 0: none, or the file does not
     * tell. */
    uint64_t stacks_whole, stacks_cut, stacks_broken, stacks_joined;
    uint64_t recorded; /* 1: of a file or a pipe; 0: live */
    /* Bytes of a processor's trace (AUXTRACE) so far, which the library does not decode, and its kind:
     * "Intel PT", "CoreSight"; "": there is none. */
    uint64_t trace_bytes;
    const char *trace;
    uint64_t made; /* ns since 1970, when recording began; 0: the file does not say */
};
RK_API int rk_stream_info(const struct rk_stream *stream, struct rk_stream_info *ret);

/* Build-ids that a recording stores of the files that were hit, apart from those in its MMAP2 records. */
struct rk_stream_build_id {
    uint32_t size;
    uint32_t bytes;          /* 1 … 20 */
    const unsigned char *id; /* lives as long as the stream, as does path */
    const char *path;        /* "[kernel.kallsyms]" for the kernel */
};
RK_API size_t rk_stream_build_id_count(const struct rk_stream *stream);
RK_API int rk_stream_build_id_get(const struct rk_stream *stream, size_t index,
                                  struct rk_stream_build_id *ret);

/* The names that a recording stores of the addresses that were hit: bytes for rk_symbolizer_names(). They
 * live as long as the stream. Returns 0; -ENOENT: it stores none, or the stream is live. */
RK_API int rk_stream_names(const struct rk_stream *stream, const void **ret, size_t *ret_bytes);

/* What was kept and what was not, of one event (RK_NO_EVENT: of all), of the records seen so far; at a
 * recording's end it is the truth that the recorder wrote. */
#define RK_LOSS_LOST 1u    /* `lost` is known */
#define RK_LOSS_SKIPPED 2u /* `skipped` is known */
/* Frozen: other structs contain it. */
struct rk_loss {
    uint32_t size;
    uint32_t present;      /* RK_LOSS_… */
    uint64_t kept;         /* samples */
    uint64_t lost;         /* samples that found the ring or the queue full */
    uint64_t skipped;      /* samples that the kernel should have taken (count ÷ period) and did not */
    uint64_t throttled;    /* times the kernel paused the event */
    uint64_t records_lost; /* records of any kind that found the ring full, as LOST records say */
};
RK_API int rk_stream_loss(const struct rk_stream *stream, uint32_t event, struct rk_loss *ret);

#ifdef __cplusplus
}
#endif
#endif

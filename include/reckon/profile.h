/*
 * reckon/profile.h: samples → where the time goes.
 *
 * 1. The hottest functions of a recording:
 *
 *     rk_profile_file("perf.data", NULL, &p, NULL, &e);       // perf's or reckon's, folded stacks, pprof
 *     rk_profile_aggregate(p, RK_PER_FUNCTION, &a, &e);
 *     for (size_t i = 0; i < a->n; i++)                       // hottest first
 *         printf("%8ju %s\n", (uintmax_t)a->self[i], a->name[i]);
 *     rk_aggregate_free(a);
 *     rk_profile_free(p);
 *
 * 2. What a process does that runs already, for a second. The set samples it with RK_RECORDS_PROFILE:
 *
 *     struct rk_profile_options second = RK_INIT(second, .wait_ns = 1000000000);
 *     rk_stream_live(set, &st, &e);
 *     rk_set_enable(set);
 *     rk_profile_stream(st, &second, &p, NULL, &e);           // then as above
 *
 * 3. A new profile each second, in a loop of one's own:
 *
 *     rk_profile_builder_open(NULL, &b, &e);
 *     do {
 *         poll(&readable, 1, 100);                            // rk_stream_fd(st)
 *         while ((rc = rk_stream_next(st, &r)) == 1 || rc == -EBADMSG) {  // -EBADMSG: one damaged record
 *             if (rc == 1)
 *                 rk_profile_builder_feed(b, st, r);
 *             if (++n % 256 == 0)
 *                 rk_stream_release(st);                      // once per batch
 *         }
 *         rk_stream_release(st);
 *         if (a second has passed)
 *             rk_profile_builder_finish(b, st, &p, &e);       // what was fed since the last one
 *     } while (rc == 0);                                      // else rk_stream_explain() says why
 *
 * 4. Every stack with its weight, from the columns:
 *
 *     struct rk_profile_columns c = RK_INIT(c);
 *     rk_profile_columns(p, &c);
 *     for (size_t i = 0; i < c.sample_n; i++) {
 *         for (uint32_t at = c.sample_node[i]; at != RK_NO_NODE; at = c.node_parent[at])
 *             printf("%s < ", c.text[c.frame_symbol[c.node_frame[at]]]);
 *         printf("%ju\n", (uintmax_t)c.sample_weight[i]);
 *     }
 *
 * A profile is immutable. Threads may share it: calls that take it as const may run at the same time.
 */
#ifndef RECKON_PROFILE_H
#define RECKON_PROFILE_H

#include <reckon/error.h>
#include <reckon/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rk_profile_builder;
struct rk_profile;

/* How samples' times are kept: rk_profile_options.times. */
enum rk_times {
    /*
     * Times are exact as long as there are few, then in slices of a power of two of ns. A profile has at most
     * 262,144 rows more than twice as many as there are distinct (stack, thread, CPU, cgroup, event). It has
     * at least 32 slices, and so up to 64 rows for each of these.
     */
    RK_TIMES_BOUNDED,

    /* All samples of a stack, thread, CPU, cgroup and event are one row. */
    RK_TIMES_NONE,

    /* Each sample is a row with its own time. Memory grows with the number of samples. */
    RK_TIMES_EACH,
};

/* For rk_profile_options.flags. */
enum {
    /* Only samples of the stream's event number rk_profile_options.event. */
    RK_PROFILE_EVENT = 1,

    /* Inlined functions are no frames of their own. */
    RK_PROFILE_NO_INLINE = 2,

    /* Frames are functions, not lines of functions. */
    RK_PROFILE_NO_LINES = 4,

    /*
     * Return addresses are looked up as they are, as perf report does, not the byte before. A call that ends
     * a function then counts as one of the function after it.
     */
    RK_PROFILE_RAW = 8,
};

struct rk_profile_options {
    uint32_t size;
    uint32_t flags;   /* RK_PROFILE_… */
    uint32_t event;   /* with RK_PROFILE_EVENT */
    uint32_t times;   /* enum rk_times */
    uint32_t threads; /* share the reading of debug information; 0, 1: the caller alone */
    uint32_t reserved;
    const char *root; /* below it files and kallsyms are looked up; NULL: "/" */
    uint64_t wait_ns; /* rk_profile_stream(), live: how long it waits for records */

    /* Where the recorded machine's files, its kernel's vmlinux, a copy of its /proc/kallsyms are now, as
     * rk_symbolizer_options has them; NULL: not given. */
    const char *symfs, *vmlinux, *kallsyms;
};

/*
 * Reads a file: a perf.data of perf's or reckon's ("-": standard input), folded stacks ("a;b;c 12"), or
 * pprof, gzip or plain. Its first bytes say which. Damaged records are left out: *ret_damaged (may be NULL)
 * is their number, and *e says what is wrong with the first, though the call succeeds. A sample type of pprof
 * with negative values, as a difference has, is left out: *e says so too, with *ret_damaged 0. -errno if
 * nothing could be read; -EDOM if all types are left out.
 */
RK_API int rk_profile_file(const char *path, const struct rk_profile_options *options,
                           struct rk_profile **ret, uint64_t *ret_damaged, struct rk_error *e);

/*
 * Reads a stream: of a file to its end; of a live set what is due now, and with wait_ns what comes in that
 * time. A signal ends the waiting early. Damaged records as above; ret_damaged may be NULL. The stream goes
 * on afterwards, but a second profile of it knows no mapping that the first has read: feed a builder to have
 * several.
 */
RK_API int rk_profile_stream(struct rk_stream *stream, const struct rk_profile_options *options,
                             struct rk_profile **ret, uint64_t *ret_damaged, struct rk_error *e);
RK_API struct rk_profile *rk_profile_free(struct rk_profile *profile);

RK_API int rk_profile_builder_open(const struct rk_profile_options *options, struct rk_profile_builder **ret,
                                   struct rk_error *e);
RK_API struct rk_profile_builder *rk_profile_builder_free(struct rk_profile_builder *builder);

/*
 * Takes any record of the stream, in order. Returns 1 if a sample was added, 0 for any other record, -errno.
 * A record that is refused (-EBADMSG) may be left out.
 *
 * A sample weighs its period; without one, the event's fixed period, else 1. A sample of reckon record's
 * event "off-cpu" weighs the nanoseconds until its thread goes on, by the SWITCH records. Its stack ends with
 * the function that waits: the kernel's functions through which every wait goes (schedule, futex_wait …) are
 * left out. If the thread was preempted, the frame "(preempted)" comes last. Idle threads weigh nothing.
 *
 * Its stack is its call chain below the sampled address; without a chain, the address alone. A stack that was
 * stored as registers and bytes (perf record --call-graph dwarf) is unwound with the files that ran, if they
 * still exist.
 *
 * Memory grows with the number of distinct addresses, stacks and threads, not with the number of samples: see
 * enum rk_times. The stream holds up to 64 MiB besides, to put records in order (stream.h).
 */
RK_API int rk_profile_builder_feed(struct rk_profile_builder *builder, const struct rk_stream *stream,
                                   const struct rk_record *record);

/*
 * Names everything and makes a profile of what was fed since the builder was opened or finished last. The
 * builder keeps processes and mappings, and takes the next samples. On failure the samples are gone too.
 * `stream` (may be NULL) knows the loss, which is always that of the whole stream.
 */
RK_API int rk_profile_builder_finish(struct rk_profile_builder *builder, const struct rk_stream *stream,
                                     struct rk_profile **ret, struct rk_error *e);

struct rk_profile_summary {
    uint32_t size;
    uint32_t cut;        /* 1: the recording ended early */
    struct rk_loss loss; /* kept, lost, skipped, of all events here */
    uint64_t samples;
    uint64_t weight;                /* sum of periods: percentages are of this */
    uint64_t unnamed;               /* samples whose own address has no name */
    uint64_t threads;               /* distinct (source, pid, tid) */
    uint64_t first_time, last_time; /* ns; 0: samples have no times */

    /* The event's name. Of several events, whose weights are summed here, the first one's. */
    const char *event;

    /* The unit of `weight`: "ns"; "" for a number of events; "samples" (RK_SELECT_COUNTS); or pprof's. */
    const char *unit;

    uint32_t events; /* that have samples: see rk_profile_filter.event */
    uint32_t depth;  /* frames of the deepest stack */

    /* Times are multiples of it. 1: they are exact. 0: there are none. */
    uint64_t slice_ns;

    /*
     * User stacks that were unwound, here or by the recorder: they reached their thread's first function,
     * were cut by the dump's size, or broke. All 0: none were. If the recorder unwound them: of all events.
     */
    uint64_t stacks_whole, stacks_cut, stacks_broken;

    /* ns: from first to last sample; of merged profiles, the sum of theirs. 0: samples have no times. */
    uint64_t duration;

    /* When it was recorded: ns since 1970; of merged profiles, the first. 0: unknown. */
    uint64_t made;

    /* Bytes of a processor's trace, as rk_stream_info has it: none of it is in the samples. */
    uint64_t trace_bytes;
    const char *trace;
};
RK_API int rk_profile_summary(const struct rk_profile *profile, struct rk_profile_summary *ret);

/*
 * All of a profile, as columns: arrays that live as long as it, each as long as its group's _n. Bindings wrap
 * them without a copy.
 *
 *   text     every name once; texts elsewhere are indexes of it; 0 is "", unknown
 *   frame    a function, or a line of one: distinct (symbol, path, file, line, miss, flags)
 *   node     all stacks as one prefix tree: its outer node (RK_NO_NODE: it is the outermost) and its
 *            frame. An outer node has a lower index than its inner ones. A stack is its innermost node
 *   thread   distinct (source, pid, tid, name): a thread that renamed itself is two
 *   source   where samples come from: a machine, or a label of rk_profile_merge()
 *   event    what was sampled
 *   cgroup   0 is unknown
 *   sample   distinct (node, thread, event, cpu, cgroup, time), in the order of time: `count` samples
 *            that weigh `weight`
 */
#define RK_NO_NODE 0xffffffffu
#define RK_NO_CPU 0xffffffffu

#define RK_FRAME_INLINE 1u /* inlined into the frame of the outer node */
#define RK_FRAME_KERNEL 2u /* the kernel, or a module of it */

struct rk_profile_columns {
    uint32_t size;
    uint32_t reserved;

    size_t text_n;
    const char *const *text;

    size_t frame_n;
    const uint32_t *frame_symbol; /* text; where miss is set "[unknown]", or its place: "prog+0x1130" */
    const uint32_t *frame_module; /* text: last part of the path … */
    const uint32_t *frame_path;   /* … and all of it, as the process saw it */
    const uint32_t *frame_file;   /* text: its source; 0: unknown */
    const uint32_t *frame_line;   /* 0: unknown */
    const uint32_t *frame_miss;   /* enum rk_miss (reckon/symbol.h): why it has no name */
    const uint32_t *frame_flags;  /* RK_FRAME_… */

    /* The first frame of the same function: equal for all of its lines, inlined or not. */
    const uint32_t *frame_function;

    size_t node_n;
    const uint32_t *node_parent, *node_frame;

    size_t thread_n;
    const int32_t *thread_pid, *thread_tid;      /* -1: unknown */
    const uint32_t *thread_name, *thread_source; /* text, source */

    size_t source_n;
    const uint32_t *source_name; /* text */

    size_t event_n;
    const uint32_t *event_name, *event_unit;      /* texts; the unit of weights, as in the summary */
    const uint64_t *event_samples, *event_weight; /* sums of the samples here */
    const uint64_t *event_lost, *event_skipped;   /* as rk_loss has them; of the whole recording */
    const uint32_t *event_known;                  /* RK_LOSS_…: which of them are known */

    size_t cgroup_n;
    const uint64_t *cgroup_id;
    const uint32_t *cgroup_path; /* text */

    size_t sample_n;
    const uint32_t *sample_node, *sample_thread, *sample_event, *sample_cgroup;
    const uint32_t *sample_cpu;  /* RK_NO_CPU: unknown */
    const uint64_t *sample_time; /* ns, rounded down to a multiple of summary.slice_ns; 0: unknown */
    const uint64_t *sample_weight, *sample_count;
};
RK_API int rk_profile_columns(const struct rk_profile *profile, struct rk_profile_columns *ret);

/* Returns how many frames a node's stack has, and the outermost `max` of them, outermost first; -ERANGE. */
RK_API int64_t rk_profile_path(const struct rk_profile *profile, uint32_t node, uint32_t *ret, size_t max);

/* Samples without a name, by module and reason, most samples first. */
struct rk_unnamed {
    uint32_t size;
    uint32_t miss;
    const char *module;
    uint64_t samples; /* samples whose own address it is */
};
RK_API size_t rk_profile_unnamed_count(const struct rk_profile *profile);
RK_API int rk_profile_unnamed_get(const struct rk_profile *profile, size_t index, struct rk_unnamed *ret);

/*
 * Sums. `self` is what was sampled there, `total` includes all that it called: a function that recurs in a
 * stack counts once. An inlined function is a frame inside the one that it was inlined into, and has the
 * samples of its own code as `self`. From RK_PER_THREAD on the two are the same.
 */
enum rk_per {
    RK_PER_FUNCTION, /* (symbol, path); without a name (reason, path) */
    RK_PER_LINE,     /* … and the line */
    RK_PER_MODULE,   /* path */
    RK_PER_THREAD,   /* (source, pid, tid), under its last name */
    RK_PER_PROCESS,  /* (source, pid), under the last name of its first thread */
    RK_PER_NAME,     /* a thread's name */
    RK_PER_CGROUP,
    RK_PER_CPU,
    RK_PER_EVENT,
    RK_PER_SOURCE,
};

/* Rows, greatest self first, then greatest total, then by name. */
struct rk_aggregate {
    uint32_t size; /* set by the library */
    uint32_t per;
    size_t n;
    uint64_t weight, samples;     /* of the whole profile */
    const uint64_t *self, *total; /* weights */
    const uint64_t *self_samples, *total_samples;

    /* What the row is of: a frame (FUNCTION, LINE, MODULE: the first of it), a thread (THREAD, PROCESS,
     * NAME), a cgroup, a CPU, an event, a source. */
    const uint32_t *key;

    /* Symbol, module, thread's name and so on. Valid until the profile or this is freed. */
    const char *const *name;
};
RK_API int rk_profile_aggregate(const struct rk_profile *profile, uint32_t per, struct rk_aggregate **ret,
                                struct rk_error *e);
RK_API struct rk_aggregate *rk_aggregate_free(struct rk_aggregate *aggregate);

/*
 * A part of a profile, as a profile. Zero and NULL leave a thing as it is; what is given must all hold. Texts
 * match as POSIX extended regular expressions, anywhere in the name; a bad one is -EINVAL.
 */
#define RK_SELECT_NO_INLINE 1u /* without inlined frames */
#define RK_SELECT_NO_LINES 2u  /* lines of a function are one frame */
#define RK_SELECT_NO_TIMES 4u  /* rows of all times are one */
#define RK_SELECT_REVERSE 8u   /* stacks begin with the sampled function and end with the outermost */
#define RK_SELECT_COUNTS 16u   /* each sample weighs 1: weights are numbers of samples, unit "samples" */

struct rk_profile_filter {
    uint32_t size;
    uint32_t flags;                     /* RK_SELECT_… */
    uint64_t from, to;                  /* times in [from, to), of whole slices; to 0: no end */
    const char *event;                  /* its name, in full */
    const int32_t *processes, *threads; /* pids, tids */
    size_t process_n, thread_n;
    const uint32_t *cpus;
    size_t cpu_n;
    const char *name; /* of the thread */
    const char *cgroup, *source;
    const char *module, *symbol;           /* of a frame anywhere in the stack */
    const char *self_module, *self_symbol; /* of the sampled frame */

    /* Only what functions of that name do: stacks begin at the outermost of them. */
    const char *callees;

    /* Only how they are reached: stacks end at the innermost of them. */
    const char *callers;
};
RK_API int rk_profile_select(const struct rk_profile *profile, const struct rk_profile_filter *filter,
                             struct rk_profile **ret, struct rk_error *e);

/*
 * Several profiles as one: of runs, of machines. labels NULL: sources keep their names; else labels[i] is
 * what all of profiles[i] comes from. Times are in slices of the widest. Sums are the sums; the order of
 * merging makes no difference to what is in the result.
 */
RK_API int rk_profile_merge(const struct rk_profile *const *profiles, const char *const *labels, size_t n,
                            struct rk_profile **ret, struct rk_error *e);

/* How `before` is scaled before the two are compared. */
enum rk_normalise {
    RK_NORMALISE_WEIGHT, /* all of `after` ÷ all of `before`: shares are compared */
    RK_NORMALISE_NONE,   /* 1: both did the same work */
    RK_NORMALISE_TIME,   /* the summary's duration of the two: rates are compared */
};

/*
 * Rows that differ, greatest change of self first. Threads and processes are compared by name, modules by the
 * last part of their path, lines by function, last part of the file's path and number. Functions are matched
 * by name and module. Those left over are matched without what a compiler appends (.isra.0, [clone .part.1],
 * Rust's hash), then by name in any module, if the name is the only such one on either side.
 */
struct rk_profile_diff {
    uint32_t size; /* set by the library */
    uint32_t per;
    size_t n;
    double scale;                        /* `before` was multiplied with it */
    const double *change, *change_total; /* after − before × scale, of self and total */
    const uint64_t *before, *after;      /* self, as it was */
    const uint64_t *before_total, *after_total;
    const char *const *name, *const *module; /* module: NULL unless per FUNCTION, LINE */
    const char *const *file;                 /* NULL unless per LINE and known */
    const uint32_t *line;
    uint64_t before_weight, after_weight; /* all of each */

    /*
     * The standard error of `change`, from the numbers of samples, if these weigh about the same. A change of
     * less than twice as much may be chance.
     */
    const double *noise;
    const uint64_t *before_samples, *after_samples; /* self */

    /* Rows, with those that do not differ: in both, in one alone. */
    uint64_t matched, before_only, after_only;
};
/* One allocation, all of it its own. `per` is an enum rk_per; the two may be of different events. */
RK_API int rk_profile_diff(const struct rk_profile *before, const struct rk_profile *after, uint32_t per,
                           uint32_t normalise, struct rk_profile_diff **ret, struct rk_error *e);
RK_API struct rk_profile_diff *rk_profile_diff_free(struct rk_profile_diff *diff);

#ifdef __cplusplus
}
#endif
#endif

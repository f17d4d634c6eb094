/*
 * reckon/profile.h: samples → where the time goes.
 *
 *     rk_profile_builder_open(NULL, &b, &e);
 *     while (rk_stream_next(st, &r) == 1) { rk_profile_feed(b, st, r); rk_stream_release(st); }
 *     rk_profile_finish(b, st, &p, &e);                 // b is gone now
 *     for (size_t i = 0; i < rk_profile_functions(p); i++) {
 *         struct rk_function f = {.size = sizeof f};
 *         rk_profile_function(p, i, &f);                // hottest first
 *         printf("%8ju %s\n", (uintmax_t)f.self, f.symbol);
 *     }
 *     rk_profile_free(p);
 *
 * A finished profile is immutable and may be shared among threads.
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

struct rk_profile_options {
    uint32_t size;
    uint32_t event; /* with event_set: only this event of the stream */
    uint32_t event_set;
    uint32_t no_inline; /* 1: functions that were inlined are no frames of their own */
    const char *root;   /* where files and kallsyms are looked up; NULL: "/" */
    uint32_t by_line;   /* 1: a row of rk_profile_function() is a line of a function, not all of it */
    uint32_t threads;   /* that share the reading of debug information; 0, 1: the caller's alone */
};

RK_API int rk_profile_builder_open(const struct rk_profile_options *options, struct rk_profile_builder **ret,
                                   struct rk_error *e);
RK_API struct rk_profile_builder *rk_profile_builder_close(struct rk_profile_builder *builder);

/*
 * Takes any record of the stream, in order: 1 a sample was added, 0 it was something else, -errno; one
 * that is refused (-EBADMSG) may be left out.
 *
 * A sample weighs its period; without one, the event's fixed period, else 1. Its stack is its call chain
 * under the sampled address; where no chain was taken, the address alone. A stack that was stored as registers and bytes
 * (perf record --call-graph dwarf) is unwound, by the files that ran, if they are still there. Memory grows with what is
 * distinct (addresses, stacks, threads), not with the number of samples.
 */
RK_API int rk_profile_feed(struct rk_profile_builder *builder, const struct rk_stream *stream,
                           const struct rk_record *record);

/* Names everything and closes the builder, on failure too. `stream` (may be NULL) tells the loss. */
RK_API int rk_profile_finish(struct rk_profile_builder *builder, const struct rk_stream *stream,
                             struct rk_profile **ret, struct rk_error *e);
RK_API struct rk_profile *rk_profile_free(struct rk_profile *profile);

struct rk_profile_summary {
    uint32_t size;
    uint32_t cut;        /* the recording ended early */
    struct rk_loss loss; /* kept, lost, skipped */
    uint64_t samples;
    uint64_t weight;  /* sum of periods: what percentages are of */
    uint64_t unnamed; /* samples whose own address has no name */
    uint64_t threads; /* distinct (pid, tid) */
    uint64_t first_time, last_time;
    const char *event; /* name of the event, or of the first of several … */
    uint32_t events;   /* … which are summed here as if they were one: see rk_profile_options.event */
    uint32_t by_line;  /* as rk_profile_options.by_line said */
    /* User stacks that were unwound, here or by the recorder: those that reached their thread's first function, that
     * the dump's size cut, that broke. All 0: none were. By the recorder: of all events. */
    uint64_t stacks_whole, stacks_cut, stacks_broken;
};
RK_API int rk_profile_summary(const struct rk_profile *profile, struct rk_profile_summary *ret);

/* A function, hottest self first, or a line of one (rk_profile_options.by_line). `self` and `total` are sums of periods.
 * A function that recurs in a stack counts once in its total. One that was inlined is a frame inside of the one
 * that it was inlined into, and has the samples of its own code as `self`. */
struct rk_function {
    uint32_t size;
    uint32_t miss;      /* enum rk_miss (reckon/symbol.h): why `symbol` is an address */
    const char *symbol; /* name, or "[unknown]" where miss is set */
    const char *module; /* last part of the path … */
    const char *path;   /* … and all of it, as the process saw it; two files of one name are two rows */
    uint64_t self, total;
    uint64_t self_samples, total_samples;
    const char *file; /* by line: where it is; NULL: unknown, or not by line */
    uint32_t line;    /* 0: unknown, or not by line */
    uint32_t reserved;
};
RK_API size_t rk_profile_functions(const struct rk_profile *profile);
RK_API int rk_profile_function(const struct rk_profile *profile, size_t index, struct rk_function *ret);

/* What could not be named, by module and reason, most samples first. */
struct rk_unnamed {
    uint32_t size;
    uint32_t miss;
    const char *module;
    uint64_t samples; /* samples whose own address it is */
};
RK_API size_t rk_profile_unnamed_count(const struct rk_profile *profile);
RK_API int rk_profile_unnamed(const struct rk_profile *profile, size_t index, struct rk_unnamed *ret);

/* Stacks: distinct by functions, thread, thread's name and event, heaviest first; each a path from the
 * outermost function to the sampled one. */
struct rk_stack {
    uint32_t size;
    uint32_t frame_n;
    const uint32_t *frames; /* indexes of rk_profile_function(), outermost first */
    const char *comm;       /* thread's name */
    int32_t pid, tid;       /* -1 where samples don't tell */
    uint32_t event;         /* of the stream */
    uint32_t reserved;
    uint64_t weight, samples;
};
RK_API size_t rk_profile_stacks(const struct rk_profile *profile);
RK_API int rk_profile_stack(const struct rk_profile *profile, size_t index, struct rk_stack *ret);

#ifdef __cplusplus
}
#endif
#endif

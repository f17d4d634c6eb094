/*
 * reckon/export.h: results into files, one writer per format, all into a sink.
 *
 *     struct rk_sink out = {sizeof out, 0, rk_sink_write_fd, (void *)(intptr_t)STDOUT_FILENO};
 *     rk_profile_export(profile, "folded", &out, &e);
 */
#ifndef RECKON_EXPORT_H
#define RECKON_EXPORT_H

#include <reckon/metric.h>
#include <reckon/profile.h>
#include <reckon/sink.h>
#include <reckon/stream.h>
#include <reckon/target.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A profile. -EINVAL names the formats there are:
 *
 *   "folded"   a line a stack, as flamegraph.pl, inferno and speedscope read it: comm;outermost;…;sampled N,
 *              heaviest first. N is the number of samples. Threads of one name are one. What has no name is
 *              "[module]". ';' in a name becomes ':', a control character ' '.
 *   "csv"      symbol,module,self,self_percent,total,total_percent, hottest first, quoted by RFC 4180. self
 *              and total are sums of periods, percentages have four decimals.
 *   "json"     one object: version; summary {event, unit, events, samples, weight, threads, first_time,
 *              last_time, slice_ns, depth, kept, lost, skipped, throttled, records_lost, unnamed, stacks_whole, stacks_cut,
 *              stacks_broken, cut}; functions [{symbol, module, path, self, self_percent, self_samples, total,
 *              total_percent, total_samples, and where it has no name: miss}]; unnamed [{module, reason, samples}];
 *              events [{name, unit, samples, weight, lost, skipped}]; stacks [{comm, pid, tid, source, event, weight,
 *              samples, frames}], frames being indexes of functions, outermost first. What is not known (lost …) is
 *              null.
 *   "html"     a page for any browser, in one file that fetches nothing: flame graph, reversed, of one thread, of a part of
 *              the time, over time; callers and callees of a function; table; search. Names are data in it and can't
 *              be anything else. Its size goes by what is distinct: at most some megabytes.
 *   "pprof"    profile.proto, gzip: lines, inlined functions, labels thread, pid, tid, cpu, cgroup, source, time; what was
 *              lost is in its comments. rk_profile_file() reads all of it back.
 *   "speedscope"   speedscope's JSON: a time line for each thread and event. What was lost is in its name.
 *   "firefox"  the Firefox Profiler's processed format: the same. Weights are numbers of samples.
 *   "perf-script"  as `perf script` prints it, an entry for each sample; addresses are 0. What was lost stands in front, as
 *              comments.
 */
RK_API int rk_profile_export(const struct rk_profile *profile, const char *format, const struct rk_sink *sink,
                             struct rk_error *e);

/* The index-th format's name, NULL behind the last. */
RK_API const char *rk_profile_format_name(uint32_t index);

/* Two profiles compared, as a page ("html"): boxes are as wide as in `after`, orange where they have more of the whole than
 * in `before`, blue where less, grey where chance would do as much. */
RK_API int rk_profile_export_pair(const struct rk_profile *before, const struct rk_profile *after,
                                  const char *format, const struct rk_sink *sink, struct rk_error *e);

/*
 * Rows of rk_profile_aggregate():
 *
 *   "csv"      what the row is (function: symbol,module; line: the same, and file,line behind the sums; module:
 *              module,path; thread: source,pid,tid,name; process: source,pid,name; name; cgroup,id; cpu; event;
 *              source), then self,self_percent,total,total_percent, as above.
 *   "json"     one object: version; summary as above; per; rows [{the same columns; self, self_percent, self_samples,
 *              total, total_percent, total_samples; without a name: miss}].
 */
RK_API int rk_aggregate_export(const struct rk_profile *profile, const struct rk_aggregate *aggregate,
                               const char *format, const struct rk_sink *sink, struct rk_error *e);

/*
 * One record as a line, ended by a newline:
 *
 *   "text"     for people: time [cpu] pid/tid TYPE and what it says; control characters are shown as '?'.
 *   "json"     an object; reckon-dump(1) has its schema: type; then, where the record has them, time (ns), pid, tid,
 *              cpu, event (name); then by type. SAMPLE: mode, ip, period, addr, id, chain ["0x…"] and chain_modes
 *              [{mode, n}], read, raw, trace {a tracepoint's fields}, branches, regs_user, regs_intr {abi, mask,
 *              registers {name: value}}, stack, weight, data_src and memory {its words} …; MMAP, MMAP2: start,
 *              length, file_offset, path, data, protection, flags, build_id or device, inode, inode_generation;
 *              COMM: name, exec; FORK, EXIT: parent_pid, parent_tid; LOST, LOST_SAMPLES: count. Records of perf's own
 *              (FINISHED_INIT …) and of a type that is not known: number, misc, size, offset, bytes; a record whose
 *              bytes don't fit its type has these too, and "damaged": true.
 *
 * Addresses and words of bits are strings ("0x7f…"), bytes are strings of hex digits, all else is numbers.
 * The sink is called once: give it a buffer where there are many records.
 */
RK_API int rk_record_export(struct rk_stream *stream, const struct rk_record *record, const char *format,
                            const struct rk_sink *sink, struct rk_error *e);

/* What an address is called, where a field asks for it. Frozen. */
struct rk_address_name {
    const char *symbol;        /* NULL: unknown */
    uint64_t symbol_distance;  /* bytes from its beginning */
    const char *module, *file; /* NULL: unknown */
    uint32_t line;             /* 0: unknown */
    uint32_t reserved;
};

/* Fields that need more than the record: bits of rk_record_options.fields. */
#define RK_FIELDS_COMM 1ull     /* options.comm */
#define RK_FIELDS_NAMES 0x36ull /* sym, dso, symoff, brstacksym: options.name */
#define RK_FIELDS_LINES 8ull    /* srcline: options.name */

struct rk_record_options {
    uint32_t size;
    uint32_t reserved;
    uint64_t fields;  /* of rk_record_fields(); 0: all that need nothing more */
    const char *comm; /* the name of the record's thread; NULL: unknown */
    /* Names an address of the record; `caller` 1: it is where a call returns to. NULL: none has a name. What it fills
     * must live until its next call. */
    void (*name)(void *context, const struct rk_record *record, uint64_t address, uint32_t caller,
                 struct rk_address_name *ret);
    void *context;
};

/* The mask of a list of fields, "comm,tid,time,ip,sym"; "" is 0. The words are those of rk_record_field_name(), and
 * perf script's uregs, iregs, brstack. -EINVAL names those that there are. */
RK_API int rk_record_fields(const char *names, uint64_t *ret, struct rk_error *e);
/* The index-th field that there is, NULL behind the last. */
RK_API const char *rk_record_field_name(uint32_t index);

/* rk_record_export() of chosen fields. */
RK_API int rk_record_write(struct rk_stream *stream, const struct rk_record *record,
                           const struct rk_record_options *options, const char *format,
                           const struct rk_sink *sink, struct rk_error *e);

/* A line of a table of counts: who, and each event's count. Frozen. */
struct rk_counts_row {
    const struct rk_set *set;      /* whose events they are: names, units, reasons */
    const struct rk_value *values; /* one for each event of the set */
    const double *mean,
        *stdev;        /* of several runs' scaled counts, one for each event; NULL: there was one run */
    const char *where; /* "CPU3", "S0-D0-C1", "worker-4711", a cgroup …; NULL: everything */
    uint64_t slots;    /* how many CPUs or threads were added up; 0: not said */
    uint64_t slot;     /* which one to ask why an event was not counted; UINT64_MAX: any */
};

struct rk_counts {
    uint32_t size;      /* set by the caller */
    uint32_t runs;      /* 0 and 1: one; more: values are sums, wall_ns and *exit means of so many */
    uint32_t no_header; /* 1: no first line with names in "csv" */
    uint32_t totals;    /* 1: behind intervals, these are of the whole time */
    const struct rk_counts_row *rows;
    size_t n;
    uint64_t wall_ns;           /* that the values cover: rates are made with it */
    uint64_t time_ns;           /* an interval's end, from the beginning; 0: there are no intervals */
    uint64_t wall_stdev_ns;     /* over the runs */
    const struct rk_exit *exit; /* how the command ended; NULL: there was none */
    const char *separator;      /* between the fields of "csv"; NULL: "," */
};

/*
 * A table of counts with derived figures:
 *
 *   "json"     one object on one line: version; with time_ns: time_ns; with totals: totals; events [{with where:
 *              where, slots; event, value, scaled, bound, enabled_ns, running_ns, percent_running, unit, and where
 *              there is one: metric {name, value, unit}, note; with runs: runs, mean, stdev}]; notes [{what, cause,
 *              remedy}] about a whole set; wall_ns; with runs: runs, wall_stdev_ns; with exit: user_ns, system_ns,
 *              peak_rss_bytes, exit_status, signal, core_dumped.
 *   "csv"      a line of names, then a line for each row's each event: with time_ns: time_s; with where: where, slots;
 *              scaled, unit, event, running_ns, percent_running, metric, metric_unit, value, bound, enabled_ns; with
 *              runs: runs, mean, stdev; reason. The first seven are in the order of perf stat -x. With exit, lines of
 *              wall-time, user-time, system-time (s) and peak-rss (bytes) follow. Quoted by RFC 4180.
 *
 * value is as the kernel counted; scaled is the estimate for the whole time, in unit, bound half of its 95 %
 * interval; with runs, value, enabled_ns and running_ns are sums, scaled and bound are of one run, the mean. What was not counted has value null (csv: nothing), and reason, cause ("no-pmu" …) and remedy.
 */
RK_API int rk_counts_write(const struct rk_counts *counts, const char *format, const struct rk_sink *sink,
                           struct rk_error *e);

/* rk_counts_write() of one row: all of a set's counts, and how the command ended (`exit` may be NULL). */
RK_API int rk_counts_export(const struct rk_set *set, const struct rk_value *values, size_t n,
                            const struct rk_exit *exit, const char *format, const struct rk_sink *sink,
                            struct rk_error *e);

#ifdef __cplusplus
}
#endif
#endif

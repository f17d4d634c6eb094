/*
 * reckon/export.h: writes profiles, records and counts in the formats of other tools.
 *
 *     rk_profile_export_path(profile, "html", "profile.html", &e);
 *     rk_set_export_fd(set, values, n, NULL, "json", STDOUT_FILENO, &e);
 *
 * Each export takes the name of a format and writes to a sink (reckon/sink.h); its twins write to a
 * descriptor and to a file. All return 0, or -errno. -EINVAL for an unknown format: the error lists the known
 * ones.
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

/* --- Profiles --- */

/*
 * Writes a profile. Weights are sums of periods, as rk_profile_aggregate() has them; for numbers of samples,
 * export what rk_profile_select() returns with RK_SELECT_COUNTS.
 *
 *   "folded"   One line for each stack, as flamegraph.pl, inferno and speedscope read it:
 *              comm;outermost;…;sampled N, heaviest first. N is the weight: nanoseconds if the event counts
 *              time, else a number of events. What weighs nothing is left out. Threads of the same name are
 *              one. A frame without a name is "[module]". ';' in a name becomes ':', a control character ' '.
 *   "csv"      symbol,module,self,self_percent,total,total_percent, hottest first, quoted by RFC 4180. self
 *              and total are sums of periods, percentages have four decimals.
 *   "json"     One object: version; summary {event, unit, events, samples, weight, threads, first_time,
 *              last_time, duration, slice_ns, depth, kept, lost, skipped, throttled, records_lost, unnamed,
 *              stacks_whole, stacks_cut, stacks_broken, cut}; functions [{symbol, module, path, self,
 *              self_percent, self_samples, total, total_percent, total_samples, and if it has no name:
 *              miss}]; unnamed [{module, reason, samples}]; events [{name, unit, samples, weight, lost,
 *              skipped}]; stacks [{comm, pid, tid, source, event, weight, samples, frames}]. frames are
 *              indexes of functions, outermost first. An unknown number (lost …) is null.
 *   "html"     A page for any browser, in one file that fetches nothing: flame graph, reversed, of one
 *              thread, of a part of the time, over time; callers and callees of a function; table; search.
 *              Names can't become markup or code. The page grows with the number of distinct stacks, to some
 *              megabytes at most.
 *   "pprof"    profile.proto, gzip: lines, inlined functions, labels thread, pid, tid, cpu, cgroup, source,
 *              time; the range, offset and build-id of each mapping. A function without a name keeps its
 *              addresses, so that it may be named elsewhere; its mapping is not marked as symbolised. Any
 *              other location has the first address that was sampled there. The profile's time is the wall
 *              clock's; it is left out if the recording does not say when it was made. Its comments say how
 *              many samples were lost. rk_profile_file() reads all of it back.
 *   "speedscope"   speedscope's JSON: a time line for each thread and event. Its name says how many samples
 *                  were lost.
 *   "firefox"  The Firefox Profiler's processed format, likewise. Weights are milliseconds if the event
 *              counts time, else bytes or numbers (weightType).
 *   "perf-script"  What `perf script` prints: an entry for each sample. Addresses are 0. Comments at the
 *              beginning say how many samples were lost.
 */
RK_API int rk_profile_export(const struct rk_profile *profile, const char *format, const struct rk_sink *sink,
                             struct rk_error *e);
RK_API int rk_profile_export_fd(const struct rk_profile *profile, const char *format, int fd,
                                struct rk_error *e);
RK_API int rk_profile_export_path(const struct rk_profile *profile, const char *format, const char *path,
                                  struct rk_error *e);

/* Returns the index-th format's name, NULL after the last. */
RK_API const char *rk_profile_format_name(uint32_t index);

/*
 * Writes the comparison of two profiles as a page ("html"). Boxes are as wide as in `after`: orange if there
 * is more of them than in `before`, blue if there is less, grey if the difference may be chance. `normalise`
 * is an enum rk_normalise: how `before` is scaled. Functions are matched as rk_profile_diff() does.
 */
RK_API int rk_profile_pair_export(const struct rk_profile *before, const struct rk_profile *after,
                                  uint32_t normalise, const char *format, const struct rk_sink *sink,
                                  struct rk_error *e);
RK_API int rk_profile_pair_export_fd(const struct rk_profile *before, const struct rk_profile *after,
                                     uint32_t normalise, const char *format, int fd, struct rk_error *e);
RK_API int rk_profile_pair_export_path(const struct rk_profile *before, const struct rk_profile *after,
                                       uint32_t normalise, const char *format, const char *path,
                                       struct rk_error *e);

/*
 * Writes the rows of rk_profile_aggregate():
 *
 *   "csv"      First the columns that identify the row. function: symbol,module; line: the same, and
 *              file,line at the end; module: module,path; thread: source,pid,tid,name; process:
 *              source,pid,name; name; cgroup,id; cpu; event; source. Then
 *              self,self_percent,total,total_percent, as above.
 *   "json"     One object: version; summary as above; per; rows [{the same columns; self, self_percent,
 *              self_samples, total, total_percent, total_samples; without a name: miss}].
 */
RK_API int rk_aggregate_export(const struct rk_profile *profile, const struct rk_aggregate *aggregate,
                               const char *format, const struct rk_sink *sink, struct rk_error *e);
RK_API int rk_aggregate_export_fd(const struct rk_profile *profile, const struct rk_aggregate *aggregate,
                                  const char *format, int fd, struct rk_error *e);
RK_API int rk_aggregate_export_path(const struct rk_profile *profile, const struct rk_aggregate *aggregate,
                                    const char *format, const char *path, struct rk_error *e);

/* --- Records --- */

/* A name for an address. Frozen. */
struct rk_address_name {
    /* NULL: unknown */
    const char *symbol;
    /* Bytes from the symbol's beginning to the address. */
    uint64_t symbol_distance;
    /* NULL: unknown */
    const char *module, *file;
    /* 0: unknown */
    uint32_t line;
    uint32_t reserved;
};

/* Bits of rk_record_options.fields for fields that need more than the record. */
#define RK_FIELDS_COMM 0x1ull   /* needs options.comm */
#define RK_FIELDS_NAMES 0x36ull /* sym, dso, symoff, brstacksym: need options.name */
#define RK_FIELDS_LINES 0x8ull  /* srcline: needs options.name */

struct rk_record_options {
    uint32_t size;
    uint32_t reserved;
    /* The fields to write, from rk_record_fields(). 0: all but those above. */
    uint64_t fields;
    /* The name of the record's thread. NULL: unknown. */
    const char *comm;
    /* Names an address of the record. caller 1: the address is where a call returns to. What it fills must
     * stay valid until its next call. NULL: no address has a name. */
    void (*name)(void *context, const struct rk_record *record, uint64_t address, uint32_t caller,
                 struct rk_address_name *ret);
    void *context;
};

/*
 * Writes one record as a line that ends with a newline. options may be NULL.
 *
 *   "text"     For people: time [cpu] pid/tid TYPE, then the record's contents. Control characters become
 *              '?'.
 *   "json"     An object; reckon-dump(1) has its schema: type; then, if the record has them, time (ns), pid,
 *              tid, cpu, event (name); then by type. SAMPLE: mode, ip, period, addr, id, chain ["0x…"] and
 *              chain_modes [{mode, n}], read, raw, trace {a tracepoint's fields}, branches, regs_user,
 *              regs_intr {abi, mask, registers {name: value}}, stack, weight, data_src and memory {its words}
 *              …; MMAP, MMAP2: start, length, file_offset, path, data, protection, flags, build_id or device,
 *              inode, inode_generation; COMM: name, exec; FORK, EXIT: parent_pid, parent_tid; LOST,
 *              LOST_SAMPLES: count; READ: event, pid, tid, read. Records of perf's own (FINISHED_INIT …) and
 *              of unknown types: number, misc, size, offset, bytes. A damaged record has these too, and
 *              "damaged": true.
 *
 * Addresses and words of bits are strings ("0x7f…"), bytes are strings of hex digits, all else is numbers.
 * The sink is called once for each record: use a sink with a buffer if there are many.
 */
RK_API int rk_record_export(struct rk_stream *stream, const struct rk_record *record, const char *format,
                            const struct rk_sink *sink, const struct rk_record_options *options,
                            struct rk_error *e);
RK_API int rk_record_export_fd(struct rk_stream *stream, const struct rk_record *record, const char *format,
                               int fd, const struct rk_record_options *options, struct rk_error *e);
RK_API int rk_record_export_path(struct rk_stream *stream, const struct rk_record *record, const char *format,
                                 const char *path, const struct rk_record_options *options,
                                 struct rk_error *e);

/* Makes a mask of field names such as "comm,tid,time,ip,sym". "" gives 0. Known words:
 * rk_record_field_name(), and perf script's uregs, iregs, brstack. -EINVAL: an unknown word; the error lists
 * the known ones. */
RK_API int rk_record_fields(const char *names, uint64_t *ret, struct rk_error *e);

/* Returns the index-th field's name, NULL after the last. */
RK_API const char *rk_record_field_name(uint32_t index);

/* --- Counts --- */

/* A row of a table of counts: a place, and each event's count there. Frozen. */
struct rk_counts_row {
    /* The set whose events these are. It knows their names, units and reasons. */
    const struct rk_set *set;
    /* One for each event of the set. */
    const struct rk_value *values;
    /* The enum rk_state of each; NULL: the set is asked about what did not run. */
    const uint32_t *states;
    /* Over several runs, for each event: mean and standard deviation of the scaled count. NULL: there was one
     * run. */
    const double *mean, *stdev;
    /* "CPU3", "S0-D0-C1", "worker-4711", a cgroup … NULL: everything. */
    const char *where;
    /* How many CPUs or threads were added up; 0: unknown. */
    uint64_t slots;
    /* The slot to ask why an event was not counted; UINT64_MAX: any. */
    uint64_t slot;
};

/* rk_counts.flags */
#define RK_COUNTS_NO_HEADER 0x1u /* "csv" without its first line, the names of columns */
#define RK_COUNTS_TOTALS 0x2u    /* the table follows intervals and covers the whole time */

struct rk_counts {
    uint32_t size;
    /* RK_COUNTS_… */
    uint32_t flags;
    /* 0 or 1: one run. More: values are sums over so many runs; wall_ns and *exit are means. */
    uint32_t runs;
    /* enum rk_by: what the rows are. "perf" needs it. */
    uint32_t by;
    const struct rk_counts_row *rows;
    size_t n;
    /* The time that the values cover; rates divide by it. */
    uint64_t wall_ns;
    /* The end of an interval, counted from the beginning; 0: there are no intervals. */
    uint64_t time_ns;
    /* Standard deviation of wall_ns over the runs. */
    uint64_t wall_stdev_ns;
    /* How the command ended; NULL: there was none. */
    const struct rk_exit *exit;
    /* What stands between the fields of "csv" and "perf"; NULL: ",". */
    const char *separator;
    /* "perf": the cgroup that all rows are of; NULL: none. */
    const char *cgroup;
};

/*
 * Writes a table of counts with derived figures:
 *
 *   "json"     One object on one line: version; with time_ns: time_ns; with totals: totals; events [{with
 *              where: where, slots; event, value, scaled, bound, enabled_ns, running_ns, percent_running,
 *              unit, and if there is one: metric {name, value, unit}, note; with runs: runs, mean, stdev;
 *              state}]; notes [{what, cause, remedy}] about a whole set; wall_ns; with runs: runs,
 *              wall_stdev_ns; with exit: user_ns, system_ns, peak_rss_bytes, exit_status, signal,
 *              core_dumped.
 *   "csv"      A line of names, then a line for each event of each row: with time_ns: time_s; with where:
 *              where, slots; scaled, unit, event, running_ns, percent_running, metric, metric_unit, value,
 *              bound, enabled_ns; with runs: runs, mean, stdev; state, reason, note. note says what was
 *              counted with less than was asked. With exit, lines of wall-time, user-time, system-time (s)
 *              and peak-rss (bytes) follow. Quoted by RFC 4180.
 *   "perf"     The lines of perf stat -x, column for column, with its units, words and figures: with time_ns:
 *              time; with where: where, and how many CPUs unless it is a CPU or a thread; value, or <not
 *              counted> or <not supported>; unit; event; with a cgroup: cgroup; with runs: the standard error
 *              of the mean in per cent of it; running time in ns; per cent of the time; figure; its unit. An
 *              event that was counted in user space only, because more was not allowed, ends with ":u".
 *
 * value is the kernel's count. scaled is the estimate for the whole time, in `unit`; bound is half of its 95
 * % interval. With runs, value, enabled_ns and running_ns are sums; scaled and bound are of one run, the
 * mean. If an event was not counted, value is null (csv: empty), and reason, cause ("no-pmu" …) and remedy
 * say why. state is rk_state_name()'s word unless it is "counted"; the value of "idle" is a true 0.
 */
RK_API int rk_counts_export(const struct rk_counts *counts, const char *format, const struct rk_sink *sink,
                            struct rk_error *e);
RK_API int rk_counts_export_fd(const struct rk_counts *counts, const char *format, int fd,
                               struct rk_error *e);
RK_API int rk_counts_export_path(const struct rk_counts *counts, const char *format, const char *path,
                                 struct rk_error *e);

/* Writes rk_counts_export()'s table of one row: all counts of a set, and how the command ended. `exit` may be
 * NULL. */
RK_API int rk_set_export(const struct rk_set *set, const struct rk_value *values, size_t n,
                         const struct rk_exit *exit, const char *format, const struct rk_sink *sink,
                         struct rk_error *e);
RK_API int rk_set_export_fd(const struct rk_set *set, const struct rk_value *values, size_t n,
                            const struct rk_exit *exit, const char *format, int fd, struct rk_error *e);
RK_API int rk_set_export_path(const struct rk_set *set, const struct rk_value *values, size_t n,
                              const struct rk_exit *exit, const char *format, const char *path,
                              struct rk_error *e);

#ifdef __cplusplus
}
#endif
#endif

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
 *   "json"     one object: version; summary {event, events, samples, weight, threads, first_time,
 *              last_time, kept, lost, skipped, throttled, records_lost, unnamed, cut}; functions [{symbol,
 *              module, path, self, self_percent, self_samples, total, total_percent, total_samples, and
 *              where it has no name: miss}]; unnamed [{module, reason, samples}]; stacks [{comm, pid, tid,
 *              event, weight, samples, frames}], frames being indexes of functions, outermost first. What
 *              is not known (lost …) is null.
 */
RK_API int rk_profile_export(const struct rk_profile *profile, const char *format, const struct rk_sink *sink,
                             struct rk_error *e);

/*
 * One record as a line, ended by a newline:
 *
 *   "text"     for people: time [cpu] pid/tid TYPE and what it says; control characters are shown as '?'.
 *   "json"     an object: type; then, where the record has them, time (ns), pid, tid, cpu, event (name);
 *              then by type. SAMPLE: mode, ip, period, addr, id, chain ["0x…"] and chain_modes [{mode, n}],
 *              read, raw, branches, regs_user, regs_intr, stack, weight …; MMAP, MMAP2: start, length,
 *              file_offset, path, data, protection, flags, build_id or device, inode, inode_generation;
 *              COMM: name, exec; FORK, EXIT: parent_pid, parent_tid; LOST, LOST_SAMPLES: count. A type that
 *              is not known: number, misc, size, offset, bytes; a record whose bytes don't fit its type has
 *              these too, and "damaged": true.
 *
 * Addresses and words of bits are strings ("0x7f…"), bytes are strings of hex digits, all else is numbers.
 * The sink is called once: give it a buffer where there are many records.
 */
RK_API int rk_record_export(const struct rk_stream *stream, const struct rk_record *record,
                            const char *format, const struct rk_sink *sink, struct rk_error *e);

/*
 * Counts of a set with derived figures and how the command ended (`exit` may be NULL):
 *
 *   "json"     one object: version; events [{event, value, scaled, bound, enabled_ns, running_ns,
 *              percent_running, unit, and where there is one: metric {name, value, unit}, note}]; notes
 *              [{what, cause, remedy}] about the whole set; with `exit`: wall_ns, user_ns, system_ns,
 *              peak_rss_bytes, exit_status, signal, core_dumped.
 *
 * value is as the kernel counted; scaled is the estimate for the whole time, in unit, bound half of its 95 %
 * interval. What was not counted has value null, and reason, cause ("no-pmu" …) and remedy.
 */
RK_API int rk_counts_export(const struct rk_set *set, const struct rk_value *values, size_t n,
                            const struct rk_exit *exit, const char *format, const struct rk_sink *sink,
                            struct rk_error *e);

#ifdef __cplusplus
}
#endif
#endif

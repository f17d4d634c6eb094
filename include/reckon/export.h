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

/* Formats: "folded" (a;b;c N), "csv" (symbol,module,self,self_percent,total,total_percent), "json".
 * -EINVAL names the formats there are. */
RK_API int rk_profile_export(const struct rk_profile *profile, const char *format, const struct rk_sink *sink,
                             struct rk_error *e);

/* One record as a line: "text" or "json". Ends with a newline. */
RK_API int rk_record_export(const struct rk_stream *stream, const struct rk_record *record,
                            const char *format, const struct rk_sink *sink, struct rk_error *e);

/* Counts of a set with derived figures and how the command ended (`exit` may be NULL): "json" (one
 * object). Numbers are numbers; what was not counted is null with its reason. */
RK_API int rk_counts_export(const struct rk_set *set, const struct rk_value *values, size_t n,
                            const struct rk_exit *exit, const char *format, const struct rk_sink *sink,
                            struct rk_error *e);

#ifdef __cplusplus
}
#endif
#endif

/*
 * What the writers have in common: a name for each, a sink that is checked once, an end that says what went
 * wrong. A writer is given an output and writes straight through; the output remembers the first error.
 */
#ifndef EXPORT_FORMATS_H
#define EXPORT_FORMATS_H

#include "base/output.h"

#include <reckon/export.h>

/* Profiles. */
void export_folded(const struct rk_profile *profile, struct output *out);
void export_csv(const struct rk_profile *profile, struct output *out);
void export_json(const struct rk_profile *profile, struct output *out);
void export_html(const struct rk_profile *profile, struct output *out);
void export_pprof(const struct rk_profile *profile, struct output *out);
void export_speedscope(const struct rk_profile *profile, struct output *out);
void export_firefox(const struct rk_profile *profile, struct output *out);
void export_perf_script(const struct rk_profile *profile, struct output *out);

/* Parts of them: rows.c, profile_json.c. */
struct json;
void rows_csv(const struct rk_profile *profile, const struct rk_aggregate *aggregate, struct output *out);
void rows_json(struct json *j, const char *key, const struct rk_profile *profile,
               const struct rk_aggregate *aggregate);
void summary_json(struct json *j, const struct rk_profile_summary *summary);

/* The samples' rows by event, thread, time; the caller frees it; NULL: out of memory. How many of the first rows are of one thread
 * and event. */
uint32_t *export_by_thread(const struct rk_profile *profile);
size_t export_same_thread(const struct rk_profile *profile, const uint32_t *rows, size_t n);

/* Records. */
struct record;
void export_record_text(const struct record *record, struct output *out);
void export_record_json(const struct record *record, struct output *out);

/* The index of `format` in `names` (NULL-terminated), or -EINVAL with the names that there are; also
 * -EINVAL for a sink that can't be written to. */
int export_format(const char *what, const char *const *names, const char *format, const struct rk_sink *sink,
                  struct rk_error *e);

/* Flushes; 0, or the first error, said in words. */
int export_end(struct output *out, struct rk_error *e);

#endif

/*
 * A profile as one JSON object:
 *
 *     {"version": "0.1.0",
 *      "summary": {"event", "events", "samples", "weight", "threads", "first_time", "last_time",
 *                  "kept", "lost", "skipped", "throttled", "records_lost", "unnamed", "cut"},
 *      "functions": [{"symbol", "module", "path", "self", "self_percent", "self_samples",
 *                     "total", "total_percent", "total_samples", "miss"?}],
 *      "unnamed": [{"module", "reason", "samples"}],
 *      "stacks": [{"comm", "pid", "tid", "event", "weight", "samples", "frames": [index of functions]}]}
 *
 * Functions come hottest first, stacks heaviest first, frames outermost first. Times are nanoseconds of the
 * recording's clock, null where samples carried none; lost and skipped are null where they are not known.
 */
#include "base/json.h"
#include "export/formats.h"

#include <reckon/symbol.h>

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

static void known(struct json *j, const char *key, uint64_t value, bool is_known)
{
    if (is_known)
        json_u64(j, key, value);
    else
        json_null(j, key);
}

static void write_summary(struct json *j, const struct rk_profile_summary *s)
{
    json_open(j, "summary", '{');
    json_text(j, "event", s->event);
    json_u64(j, "events", s->events);
    json_u64(j, "samples", s->samples);
    json_u64(j, "weight", s->weight);
    json_u64(j, "threads", s->threads);
    known(j, "first_time", s->first_time, s->last_time);
    known(j, "last_time", s->last_time, s->last_time);
    json_u64(j, "kept", s->loss.kept);
    known(j, "lost", s->loss.lost, s->loss.present & RK_LOSS_LOST);
    known(j, "skipped", s->loss.skipped, s->loss.present & RK_LOSS_SKIPPED);
    json_u64(j, "throttled", s->loss.throttled);
    json_u64(j, "records_lost", s->loss.records_lost);
    json_u64(j, "unnamed", s->unnamed);
    json_bool(j, "cut", s->cut);
    json_close(j, '}');
}

static void write_function(struct json *j, const struct rk_function *f, uint64_t weight)
{
    json_open(j, NULL, '{');
    json_text(j, "symbol", f->symbol);
    json_text(j, "module", f->module);
    json_text(j, "path", f->path);
    if (f->file) {
        json_text(j, "file", f->file);
        json_u64(j, "line", f->line);
    }
    json_u64(j, "self", f->self);
    json_real(j, "self_percent", percent(f->self, weight));
    json_u64(j, "self_samples", f->self_samples);
    json_u64(j, "total", f->total);
    json_real(j, "total_percent", percent(f->total, weight));
    json_u64(j, "total_samples", f->total_samples);
    if (f->miss)
        json_text(j, "miss", rk_miss_text(f->miss));
    json_close(j, '}');
}

static void write_stack(struct json *j, const struct rk_stack *s)
{
    json_open(j, NULL, '{');
    json_text(j, "comm", s->comm);
    json_i64(j, "pid", s->pid);
    json_i64(j, "tid", s->tid);
    known(j, "event", s->event, s->event != RK_NO_EVENT);
    json_u64(j, "weight", s->weight);
    json_u64(j, "samples", s->samples);
    json_open(j, "frames", '[');
    for (uint32_t i = 0; i < s->frame_n; i++)
        json_u64(j, NULL, s->frames[i]);
    json_close(j, ']');
    json_close(j, '}');
}

void export_json(const struct rk_profile *profile, struct output *out)
{
    struct rk_profile_summary summary = {.size = sizeof summary};
    struct json j = json_to(out);

    rk_profile_summary(profile, &summary);
    json_open(&j, NULL, '{');
    json_text(&j, "version", RK_VERSION);
    write_summary(&j, &summary);

    json_open(&j, "functions", '[');
    for (size_t i = 0; i < rk_profile_functions(profile); i++) {
        struct rk_function f = {.size = sizeof f};
        rk_profile_function(profile, i, &f);
        write_function(&j, &f, summary.weight);
    }
    json_close(&j, ']');

    json_open(&j, "unnamed", '[');
    for (size_t i = 0; i < rk_profile_unnamed_count(profile); i++) {
        struct rk_unnamed u = {.size = sizeof u};
        rk_profile_unnamed(profile, i, &u);
        json_open(&j, NULL, '{');
        json_text(&j, "module", u.module);
        json_text(&j, "reason", rk_miss_text(u.miss));
        json_u64(&j, "samples", u.samples);
        json_close(&j, '}');
    }
    json_close(&j, ']');

    json_open(&j, "stacks", '[');
    for (size_t i = 0; i < rk_profile_stacks(profile); i++) {
        struct rk_stack s = {.size = sizeof s};
        rk_profile_stack(profile, i, &s);
        write_stack(&j, &s);
    }
    json_close(&j, ']');
    json_close(&j, '}');
    output_bytes(out, "\n", 1);
}

/*
 * Counts as one JSON object:
 *
 *     {"version": "0.1.0",
 *      "events": [{"event", "value", "scaled", "bound", "enabled_ns", "running_ns", "percent_running",
 *                  "unit", "metric": {"name", "value", "unit"}, "note"}, …],
 *      "notes": [{"what", "cause", "remedy"}],
 *      "wall_ns", "user_ns", "system_ns", "peak_rss_bytes", "exit_status", "signal", "core_dumped"}
 *
 * "value" is what the kernel counted. "scaled" is the estimate of what would have been counted had the
 *         event run
 * all the time it was enabled, times the event's scale, in "unit"; "bound" is half the width of its 95 %
 * interval, 0 where nothing had to be estimated. "metric" and "note" are there where there is one.
 * An event that was not counted has "value": null with "reason", "cause" and "remedy", and no other figures.
 * The last line is there for a command only.
 */
#include "base/error.h"
#include "base/json.h"
#include "export/formats.h"

#include <errno.h>

/* What is said about an event: a step down that was taken. */
static void write_note(struct json *j, const struct rk_set *set, size_t event)
{
    struct rk_note note = {.size = sizeof note};

    for (size_t i = 0; i < rk_set_notes(set); i++) {
        if (rk_set_note(set, i, &note) < 0 || note.event != event || note.absent)
            continue;
        json_text(j, "note", note.what);
        return;
    }
}

/* Why an event has no count. */
static void write_reason(struct json *j, const struct rk_set *set, size_t event)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_note note = {.size = sizeof note};

    json_null(j, "value");
    if (rk_set_explain(set, SIZE_MAX, event, &e) == 0) {
        json_text(j, "reason", e.what);
        json_text(j, "cause", rk_cause_name(e.cause));
        json_text(j, "remedy", e.remedy);
        return;
    }
    for (size_t i = 0; i < rk_set_notes(set); i++) {
        if (rk_set_note(set, i, &note) < 0 || note.event != event || !note.absent)
            continue;
        json_text(j, "reason", note.what);
        json_text(j, "cause", rk_cause_name(note.cause));
        json_text(j, "remedy", note.remedy);
        return;
    }
    json_text(j, "reason", "it never ran: what was measured had no CPU time, or the counters were all taken");
    json_text(j, "cause", rk_cause_name(RK_CAUSE_UNKNOWN));
    json_text(j, "remedy", "");
}

static void write_figures(struct json *j, const struct rk_set *set, const struct rk_value *values, size_t n,
                          uint64_t wall_ns, size_t at, const struct rk_event *event)
{
    const struct rk_value *v = &values[at];
    struct rk_metric metric = {.size = sizeof metric};
    double bound = 0, scale = event->scale != 0 ? event->scale : 1.0;
    double scaled = rk_value_scale(v, NULL, &bound);

    json_u64(j, "value", v->value);
    json_real(j, "scaled", scaled * scale);
    json_real(j, "bound", bound * scale);
    json_u64(j, "enabled_ns", v->enabled);
    json_u64(j, "running_ns", v->running);
    json_real(j, "percent_running", v->enabled ? 100.0 * (double)v->running / (double)v->enabled : 0.0);
    json_text(j, "unit", event->unit ? event->unit : "");
    if (rk_metric_derive(set, values, n, wall_ns, at, &metric) == 1) {
        json_open(j, "metric", '{');
        json_text(j, "name", metric.name);
        json_real(j, "value", metric.value);
        json_text(j, "unit", metric.unit);
        json_close(j, '}');
    }
    write_note(j, set, at);
}

static void write_exit(struct json *j, const struct rk_exit *x)
{
    json_u64(j, "wall_ns", x->wall_ns);
    json_u64(j, "user_ns", x->user_ns);
    json_u64(j, "system_ns", x->system_ns);
    json_u64(j, "peak_rss_bytes", x->peak_rss);
    json_i64(j, "exit_status", x->status);
    json_i64(j, "signal", x->signal);
    json_bool(j, "core_dumped", x->core_dumped);
}

static void write_counts(const struct rk_set *set, const struct rk_value *values, size_t n,
                         const struct rk_exit *exit, struct output *out)
{
    struct json j = json_to(out);

    json_open(&j, NULL, '{');
    json_text(&j, "version", RK_VERSION);
    json_open(&j, "events", '[');
    for (size_t i = 0; i < n; i++) {
        struct rk_event event = {.size = sizeof event, .name = ""};
        rk_set_event(set, i, &event);
        json_open(&j, NULL, '{');
        json_text(&j, "event", event.name);
        if (values[i].running > 0)
            write_figures(&j, set, values, n, exit ? exit->wall_ns : 0, i, &event);
        else
            write_reason(&j, set, i);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_open(&j, "notes", '[');
    for (size_t i = 0; i < rk_set_notes(set); i++) {
        struct rk_note note = {.size = sizeof note};
        if (rk_set_note(set, i, &note) < 0 || note.event != UINT32_MAX)
            continue;
        json_open(&j, NULL, '{');
        json_text(&j, "what", note.what);
        json_text(&j, "cause", rk_cause_name(note.cause));
        json_text(&j, "remedy", note.remedy);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    if (exit)
        write_exit(&j, exit);
    json_close(&j, '}');
    output_bytes(out, "\n", 1);
}

int rk_counts_export(const struct rk_set *set, const struct rk_value *values, size_t n,
                     const struct rk_exit *exit, const char *format, const struct rk_sink *sink,
                     struct rk_error *e)
{
    static const char *const names[] = {"json", NULL};
    struct rk_exit ours;

    int which = export_format("counts", names, format, sink, e);
    if (which < 0)
        return which;
    if (!set || !values)
        return fail_null(e, RK_STAGE_EXPORT, "rk_counts_export", set ? "values" : "set");
    if (n != rk_set_events(set))
        return fail_argument(e, RK_STAGE_EXPORT, "%zu values for a set of %zu events", n, rk_set_events(set));
    if (exit) {
        int rc = options_check(&ours, sizeof ours, exit, "rk_exit", RK_STAGE_EXPORT, e);
        if (rc < 0)
            return rc;
    }
    struct output out = output_to(sink);
    write_counts(set, values, n, exit ? &ours : NULL, &out);
    return export_end(&out, e);
}

/*
 * Counts as one JSON object on one line; <reckon/export.h> says what is in it. "metric" and "note" are there where
 * there is one. An event that was not counted has "value": null with "reason", "cause" and "remedy", and no other
 * figures. "state" is there unless it is "counted". What belongs to a command is there for a command only.
 */
#include "base/json.h"
#include "export/counts.h"

/* What is said about an event: a step down that was taken. */
static void write_note(struct json *j, const struct rk_set *set, size_t event)
{
    struct rk_note note = {.size = sizeof note};

    for (size_t i = 0; i < rk_set_note_count(set); i++) {
        if (rk_set_note_get(set, i, &note) < 0 || note.event != event || note.absent)
            continue;
        json_text(j, "note", note.what);
        return;
    }
}

static void write_reason(struct json *j, const struct rk_counts_row *row, size_t event)
{
    struct rk_error e;

    counts_reason(row, event, &e);
    json_null(j, "value");
    json_text(j, "reason", e.what);
    json_text(j, "cause", rk_cause_name(e.cause));
    json_text(j, "remedy", e.remedy);
}

static void write_cell(struct json *j, const struct rk_counts *counts, const struct rk_counts_row *row,
                       size_t event)
{
    struct cell cell = counts_cell(counts, row, event);

    json_open(j, NULL, '{');
    if (row->where) {
        json_text(j, "where", row->where);
        json_u64(j, "slots", row->slots);
    }
    json_text(j, "event", cell.event.name);
    if (cell.counted) {
        json_u64(j, "value", cell.value.value);
        json_real(j, "scaled", cell.scaled);
        json_real(j, "bound", cell.bound);
        json_u64(j, "enabled_ns", cell.value.enabled);
        json_u64(j, "running_ns", cell.value.running);
        json_real(j, "percent_running", cell.percent);
        json_text(j, "unit", cell.event.unit);
        if (cell.derived) {
            json_open(j, "metric", '{');
            json_text(j, "name", cell.metric.name);
            json_real(j, "value", cell.metric.value);
            json_text(j, "unit", cell.metric.unit);
            json_close(j, '}');
        }
        if (counts->runs > 1) {
            json_u64(j, "runs", counts->runs);
            json_real(j, "mean", cell.mean);
            json_real(j, "stdev", cell.stdev);
        }
        write_note(j, row->set, event);
    } else {
        write_reason(j, row, event);
    }
    if (cell.state != RK_STATE_COUNTED)
        json_text(j, "state", rk_state_name(cell.state));
    json_close(j, '}');
}

/* Notes about a whole set, each set once. */
static void write_notes(struct json *j, const struct rk_counts *counts)
{
    for (size_t r = 0; r < counts->n; r++) {
        const struct rk_set *set = counts->rows[r].set;
        for (size_t i = 0; (r == 0 || set != counts->rows[r - 1].set) && i < rk_set_note_count(set); i++) {
            struct rk_note note = {.size = sizeof note};
            if (rk_set_note_get(set, i, &note) < 0 || note.event != UINT32_MAX)
                continue;
            json_open(j, NULL, '{');
            json_text(j, "what", note.what);
            json_text(j, "cause", rk_cause_name(note.cause));
            json_text(j, "remedy", note.remedy);
            json_close(j, '}');
        }
    }
}

static void write_exit(struct json *j, const struct rk_exit *x)
{
    json_u64(j, "user_ns", x->user_ns);
    json_u64(j, "system_ns", x->system_ns);
    json_u64(j, "peak_rss_bytes", x->peak_rss);
    json_i64(j, "exit_status", x->status);
    json_i64(j, "signal", x->signal);
    json_bool(j, "core_dumped", x->core_dumped);
}

void counts_json(const struct rk_counts *counts, struct output *out)
{
    struct json j = json_to(out);

    json_open(&j, NULL, '{');
    json_text(&j, "version", RK_VERSION);
    if (counts->time_ns)
        json_u64(&j, "time_ns", counts->time_ns);
    if (counts->flags & RK_COUNTS_TOTALS)
        json_bool(&j, "totals", true);
    json_open(&j, "events", '[');
    for (size_t r = 0; r < counts->n; r++)
        for (size_t i = 0; i < rk_set_event_count(counts->rows[r].set); i++)
            write_cell(&j, counts, &counts->rows[r], i);
    json_close(&j, ']');
    json_open(&j, "notes", '[');
    write_notes(&j, counts);
    json_close(&j, ']');
    if (counts->wall_ns)
        json_u64(&j, "wall_ns", counts->wall_ns);
    if (counts->runs > 1) {
        json_u64(&j, "runs", counts->runs);
        json_u64(&j, "wall_stdev_ns", counts->wall_stdev_ns);
    }
    if (counts->exit)
        write_exit(&j, counts->exit);
    json_close(&j, '}');
    output_bytes(out, "\n", 1);
}

/*
 * Counts as comma-separated values, or separated by something else; <reckon/export.h> has the columns. counts_perf.c has
 * those of `perf stat -x`.
 */
#include "export/counts.h"
#include "export/csv.h"

#include <inttypes.h>
#include <stdio.h>

static const char *separator(const struct rk_counts *counts)
{
    return counts->separator && *counts->separator ? counts->separator : ",";
}

static bool has_rows(const struct rk_counts *counts)
{
    return counts->n > 0 && counts->rows[0].where;
}

static void write_header(const struct rk_counts *counts, struct output *out)
{
    static const char *const first[] = {"time_s", "where", "slots"}, *const runs[] = {"runs", "mean",
                                                                                      "stdev"};
    static const char *const all[] = {"scaled", "unit",        "event", "running_ns", "percent_running",
                                      "metric", "metric_unit", "value", "bound",      "enabled_ns"};
    const char *s = separator(counts);

    for (size_t i = 0; i < 3; i++)
        if (i == 0 ? counts->time_ns != 0 : has_rows(counts))
            output_format(out, "%s%s", first[i], s);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        output_format(out, "%s%s", all[i], s);
    for (size_t i = 0; counts->runs > 1 && i < 3; i++)
        output_format(out, "%s%s", runs[i], s);
    output_format(out, "state%sreason%snote\n", s, s);
}

/* The columns before the figures. */
static void write_where(const struct rk_counts *counts, const struct rk_counts_row *row, struct output *out)
{
    const char *s = separator(counts);

    if (counts->time_ns)
        output_format(out, "%" PRIu64 ".%09" PRIu64 "%s", counts->time_ns / 1000000000,
                      counts->time_ns % 1000000000, s);
    if (!has_rows(counts))
        return;
    csv_field(out, row && row->where ? row->where : "", s);
    if (row)
        output_format(out, "%s%" PRIu64 "%s", s, row->slots, s);
    else
        output_format(out, "%s%s", s, s);
}

static void write_real(struct output *out, double value, const char *s)
{
    output_real(out, value);
    output_text(out, s);
}

static void write_figures(const struct rk_counts *counts, const struct cell *cell, struct output *out)
{
    const char *s = separator(counts);

    output_format(out, "%s%" PRIu64 "%s", s, cell->value.running, s);
    write_real(out, cell->percent, s);
    if (cell->derived)
        output_real(out, cell->metric.value);
    output_text(out, s);
    csv_field(out, cell->derived ? cell->metric.unit : "", s);
    output_format(out, "%s%" PRIu64 "%s", s, cell->value.value, s);
    write_real(out, cell->bound, s);
    output_format(out, "%" PRIu64 "%s", cell->value.enabled, s);
    if (counts->runs > 1) {
        output_format(out, "%u%s", counts->runs, s);
        write_real(out, cell->mean, s);
        write_real(out, cell->stdev, s);
    }
    output_format(out, "%s%s%s", cell->state == RK_STATE_COUNTED ? "" : rk_state_name(cell->state), s, s);
}

/* What was counted with less than was asked: of this event, and of all. */
static void write_notes(const struct rk_set *set, size_t event, const char *s, struct output *out)
{
    char text[1000];
    size_t n = 0;

    text[0] = '\0';
    for (size_t i = 0; i < rk_set_note_count(set) && n < sizeof text; i++) {
        struct rk_note note = {.size = sizeof note};
        if (rk_set_note_get(set, i, &note) == 0 && !note.absent &&
            (note.event == event || note.event == UINT32_MAX))
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? "; " : "", note.what);
    }
    csv_field(out, text, s);
    output_text(out, "\n");
}

static void write_cell(const struct rk_counts *counts, const struct rk_counts_row *row, size_t event,
                       struct output *out)
{
    struct cell cell = counts_cell(counts, row, event);
    const char *s = separator(counts);
    struct rk_error e;

    write_where(counts, row, out);
    if (cell.counted)
        output_real(out, cell.scaled);
    output_text(out, s);
    csv_field(out, cell.event.unit, s);
    output_text(out, s);
    csv_field(out, cell.event.name, s);
    if (cell.counted) {
        write_figures(counts, &cell, out);
        write_notes(row->set, event, s, out);
        return;
    }
    for (int i = 0; i < (counts->runs > 1 ? 11 : 8); i++)
        output_text(out, s);
    output_format(out, "%s%s", rk_state_name(cell.state), s);
    counts_reason(row, event, &e);
    csv_field(out, e.what, s);
    output_format(out, "%s\n", s);
}

/* A figure that is no event: seconds or bytes. */
static void write_other(const struct rk_counts *counts, const char *name, uint64_t value, const char *unit,
                        struct output *out)
{
    const char *s = separator(counts);

    write_where(counts, NULL, out);
    if (unit[0] == 's')
        output_format(out, "%" PRIu64 ".%09" PRIu64, value / 1000000000, value % 1000000000);
    else
        output_format(out, "%" PRIu64, value);
    output_format(out, "%s%s%s%s", s, unit, s, name);
    for (int i = 0; i < (counts->runs > 1 ? 13 : 10); i++)
        output_text(out, s);
    output_text(out, "\n");
}

void counts_csv(const struct rk_counts *counts, struct output *out)
{
    if (!(counts->flags & RK_COUNTS_NO_HEADER))
        write_header(counts, out);
    for (size_t r = 0; r < counts->n; r++)
        for (size_t i = 0; i < rk_set_event_count(counts->rows[r].set); i++)
            write_cell(counts, &counts->rows[r], i, out);
    if (!counts->exit)
        return;
    write_other(counts, "wall-time", counts->wall_ns, "s", out);
    write_other(counts, "user-time", counts->exit->user_ns, "s", out);
    write_other(counts, "system-time", counts->exit->system_ns, "s", out);
    write_other(counts, "peak-rss", counts->exit->peak_rss, "bytes", out);
}

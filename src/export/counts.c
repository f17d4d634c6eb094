/*
 * Tables of counts: what is asked of the set for each cell, and the formats that it is written in
 * (counts_json.c, counts_csv.c, counts_perf.c).
 */
#include "export/counts.h"

#include "base/error.h"
#include "base/sink.h"
#include "export/formats.h"

#include <errno.h>
#include <stdio.h>

/* Without states: what did not run, and is not to be explained, is idle. */
static uint32_t state_of_cell(const struct rk_counts_row *row, size_t event)
{
    struct rk_error why = {.size = sizeof why};
    size_t slot = row->slot < SIZE_MAX ? (size_t)row->slot : SIZE_MAX;

    if (row->states)
        return row->states[event];
    if (row->values[event].running)
        return RK_STATE_COUNTED;
    struct rk_note note = {.size = sizeof note};
    for (size_t i = 0; i < rk_set_note_count(row->set); i++)
        if (rk_set_note_get(row->set, i, &note) == 0 && note.event == event && note.absent)
            return RK_STATE_ABSENT;
    return row->values[event].enabled == 0 && rk_set_explain(row->set, slot, event, &why) == -ENOENT
               ? RK_STATE_IDLE
               : RK_STATE_STARVED;
}

struct cell counts_cell(const struct rk_counts *counts, const struct rk_counts_row *row, size_t event)
{
    struct cell cell = {.event = {.size = sizeof cell.event, .name = "", .unit = ""},
                        .value = row->values[event],
                        .metric = {.size = sizeof cell.metric}};

    rk_set_event_get(row->set, event, &cell.event);
    double scale = cell.event.scale != 0 ? cell.event.scale : 1.0;
    if (!cell.event.unit)
        cell.event.unit = "";
    cell.state = state_of_cell(row, event);
    cell.counted = cell.state >= RK_STATE_IDLE;
    if (cell.state == RK_STATE_IDLE) {
        cell.value = (struct rk_value){0};
        cell.percent = 100.0;
    }
    if (cell.state != RK_STATE_COUNTED)
        return cell;
    cell.scaled = rk_value_scale(&cell.value, NULL, &cell.bound) * scale;
    cell.bound *= scale;
    cell.percent = cell.value.enabled ? 100.0 * (double)cell.value.running / (double)cell.value.enabled : 0.0;
    uint64_t wall = counts->wall_ns * (counts->runs > 1 ? counts->runs : 1); /* as the values: of all runs */
    cell.derived =
        rk_metric_derive(row->set, row->values, rk_set_event_count(row->set), wall, event, &cell.metric) == 1;
    if (counts->runs > 1 && row->mean && row->stdev) {
        cell.mean = row->mean[event] * scale;
        cell.stdev = row->stdev[event] * scale;
        cell.scaled = cell.mean; /* of one run, as wall time is; perf's first column is that, too */
        cell.bound /= counts->runs;
    }
    return cell;
}

void counts_reason(const struct rk_counts_row *row, size_t event, struct rk_error *e)
{
    struct rk_note note = {.size = sizeof note};

    *e = (struct rk_error){.size = sizeof *e};
    if (rk_set_explain(row->set, row->slot < SIZE_MAX ? (size_t)row->slot : SIZE_MAX, event, e) == 0)
        return;
    for (size_t i = 0; i < rk_set_note_count(row->set); i++) {
        if (rk_set_note_get(row->set, i, &note) < 0 || note.event != event || !note.absent)
            continue;
        e->cause = note.cause;
        snprintf(e->what, sizeof e->what, "%s", note.what);
        snprintf(e->remedy, sizeof e->remedy, "%s", note.remedy);
        return;
    }
    e->cause = RK_CAUSE_UNKNOWN;
    snprintf(e->what, sizeof e->what, "%s",
             row->values[event].enabled == 0
                 ? "it never ran: what was measured had no CPU time"
                 : "it never ran: what was measured had no CPU time, or the counters were all taken");
}

static int check(const struct rk_counts *counts, struct rk_error *e)
{
    for (size_t i = 0; i < counts->n; i++)
        if (!counts->rows || !counts->rows[i].set || !counts->rows[i].values)
            return fail_argument(e, RK_STAGE_EXPORT, "rk_counts_export: row %zu has no %s", i,
                                 counts->rows && counts->rows[i].set ? "values" : "set");
    return 0;
}

int rk_counts_export(const struct rk_counts *counts, const char *format, const struct rk_sink *sink,
                     struct rk_error *e)
{
    static const char *const names[] = {"json", "csv", "perf", NULL};
    static void (*const writers[])(const struct rk_counts *, struct output *) = {counts_json, counts_csv,
                                                                                 counts_perf};
    struct rk_counts own;
    struct rk_exit end;

    int which = export_format("counts", names, format, sink, e);
    if (which < 0)
        return which;
    if (!counts)
        return fail_null(e, RK_STAGE_EXPORT, "rk_counts_export", "counts");
    int rc = options_check(&own, sizeof own, counts, "rk_counts", RK_STAGE_EXPORT, e);
    if (rc == 0 && own.flags & ~(RK_COUNTS_NO_HEADER | RK_COUNTS_TOTALS))
        rc = fail_argument(e, RK_STAGE_EXPORT, "rk_counts.flags: 0x%x is unknown",
                           own.flags & ~(RK_COUNTS_NO_HEADER | RK_COUNTS_TOTALS));
    if (rc == 0)
        rc = check(&own, e);
    if (rc == 0 && own.exit) {
        rc = options_check(&end, sizeof end, own.exit, "rk_exit", RK_STAGE_EXPORT, e);
        own.exit = &end;
    }
    if (rc < 0)
        return rc;
    struct output out = output_to(sink);
    writers[which](&own, &out);
    return export_end(&out, e);
}

int rk_set_export(const struct rk_set *set, const struct rk_value *values, size_t n,
                  const struct rk_exit *exit, const char *format, const struct rk_sink *sink,
                  struct rk_error *e)
{
    if (!set || !values)
        return fail_null(e, RK_STAGE_EXPORT, "rk_set_export", set ? "values" : "set");
    if (n != rk_set_event_count(set))
        return fail_argument(e, RK_STAGE_EXPORT, "%zu values for a set of %zu events", n,
                             rk_set_event_count(set));
    struct rk_counts_row row = {.set = set, .values = values, .slot = UINT64_MAX};
    struct rk_counts counts = {.size = sizeof counts,
                               .rows = &row,
                               .n = 1,
                               .wall_ns = exit && exit->size >= sizeof *exit ? exit->wall_ns : 0,
                               .exit = exit};
    return rk_counts_export(&counts, format, sink, e);
}

int rk_counts_export_fd(const struct rk_counts *counts, const char *format, int fd, struct rk_error *e)
{
    const struct rk_sink sink = sink_fd(fd);

    return rk_counts_export(counts, format, &sink, e);
}

int rk_counts_export_path(const struct rk_counts *counts, const char *format, const char *path,
                          struct rk_error *e)
{
    struct sink_file file;
    int rc = sink_file_open(&file, path, e);

    return rc < 0 ? rc : sink_file_close(&file, rk_counts_export(counts, format, &file.sink, e), e);
}

int rk_set_export_fd(const struct rk_set *set, const struct rk_value *values, size_t n,
                     const struct rk_exit *exit, const char *format, int fd, struct rk_error *e)
{
    const struct rk_sink sink = sink_fd(fd);

    return rk_set_export(set, values, n, exit, format, &sink, e);
}

int rk_set_export_path(const struct rk_set *set, const struct rk_value *values, size_t n,
                       const struct rk_exit *exit, const char *format, const char *path, struct rk_error *e)
{
    struct sink_file file;
    int rc = sink_file_open(&file, path, e);

    return rc < 0 ? rc
                  : sink_file_close(&file, rk_set_export(set, values, n, exit, format, &file.sink, e), e);
}

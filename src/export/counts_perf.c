/*
 * Counts in the lines of `perf stat -x`, column for column, so that what reads those reads these:
 *
 *     [time,][place,[CPUs,]]value,unit,event,[cgroup,][deviation,]running,percent,[figure],[unit of the figure]
 *
 * There are CPUs for cores, dies, sockets and nodes, a deviation where there were several runs: the standard error of the
 * mean, in per cent. Clocks are in msec. Figures are perf's, and so are their words. perf has lines of one event together
 * where each is of a CPU or a thread, else those of one place.
 */
#include "export/counts.h"
#include "export/csv.h"

#include "base/abi.h"

#include <inttypes.h>
#include <math.h>
#include <reckon/rows.h>
#include <stdio.h>
#include <string.h>

#define MODES (RK_EVENT_USER | RK_EVENT_KERNEL | RK_EVENT_HYPERVISOR)

struct line {
    const struct rk_counts *counts;
    const struct rk_counts_row *row;
    size_t event;
    struct cell cell;
    struct output *out;
    const char *s; /* between columns */
};

static bool is_clock(const struct rk_event *event)
{
    return event->type == PERF_SOFTWARE && (event->config == SW_CPU_CLOCK || event->config == SW_TASK_CLOCK);
}

/* Whether the modifiers that end the name have a 'u'. */
static bool says_user(const char *name)
{
    size_t n = strlen(name), letters = 0;

    while (letters < n && strchr("ukhpPGHDISeWb", name[n - letters - 1]))
        letters++;
    return letters < n && (name[n - letters - 1] == ':' || name[n - letters - 1] == '/') &&
           strchr(name + n - letters, 'u');
}

/* What was counted with the kernel left out has ":u" behind its name, as perf has it. */
static void write_name(const struct line *l)
{
    const struct rk_event *event = &l->cell.event;
    char name[600];

    if ((event->flags & MODES) != RK_EVENT_USER || says_user(event->name)) {
        csv_field(l->out, event->name, l->s);
        return;
    }
    snprintf(name, sizeof name, "%.*s%su", (int)sizeof name - 3, event->name,
             strpbrk(event->name, ":/") ? "" : ":");
    csv_field(l->out, name, l->s);
}

/* Times and places, before the value. */
static void write_place(const struct line *l)
{
    const struct rk_counts *counts = l->counts;

    if (counts->time_ns)
        output_format(l->out, "%" PRIu64 ".%09" PRIu64 "%s", counts->time_ns / 1000000000,
                      counts->time_ns % 1000000000, l->s);
    if (!l->row->where || counts->by == RK_BY_CGROUP)
        return;
    csv_field(l->out, l->row->where, l->s);
    output_text(l->out, l->s);
    if (counts->by != RK_BY_CPU && counts->by != RK_BY_THREAD)
        output_format(l->out, "%" PRIu64 "%s", l->row->slots, l->s);
}

static bool is_counted(const struct line *l)
{
    return l->cell.state == RK_STATE_COUNTED && l->cell.value.running > 0;
}

static void write_value(const struct line *l)
{
    const struct rk_event *event = &l->cell.event;
    bool clock = is_clock(event);

    if (is_counted(l)) {
        double value = clock ? l->cell.scaled / 1e6 : l->cell.scaled;
        int places = clock || (event->scale < 1e9 && (double)(int64_t)event->scale != event->scale) ? 2 : 0;
        output_format(l->out, "%.*f%s", places, value, l->s);
    } else {
        output_format(l->out, "<not %s>%s", l->cell.state == RK_STATE_ABSENT ? "supported" : "counted", l->s);
    }
    csv_field(l->out, clock ? "msec" : event->unit, l->s);
    output_text(l->out, l->s);
}

/* √x by Newton's way, from above: reckon needs no libm. */
static double root(double x)
{
    double guess = x > 1 ? x : 1;

    for (double before = INFINITY; guess < before;) {
        before = guess;
        guess = (guess + x / guess) / 2;
    }
    return guess;
}

/* Time that the CPU or the task had, of the same row; NaN: no clock is counted beside. */
static double clock_ns(const struct line *l)
{
    for (size_t i = 0; i < rk_set_event_count(l->row->set); i++) {
        struct rk_event event = {.size = sizeof event};
        if (rk_set_event_get(l->row->set, i, &event) == 0 && is_clock(&event) && l->row->values[i].running)
            return rk_value_scale(&l->row->values[i], NULL, NULL);
    }
    return NAN;
}

static void write_rate(const struct line *l)
{
    double ns = clock_ns(l),
           rate = rk_value_scale(&l->cell.value, NULL, NULL) * l->cell.event.scale / ns * 1e9;
    const char *unit = "";

    if (!(ns > 0)) {
        output_format(l->out, "%s%s", l->s, l->s);
        return;
    }
    for (const char *const units[] = {"K", "M", "G"}, *const *next = units; rate >= 1000 && next < units + 3;
         next++) {
        rate /= 1000;
        unit = *next;
    }
    output_format(l->out, "%s%.3f%s%s/sec", l->s, rate, l->s, unit);
}

/* The words that perf has for a figure of ours; NULL: none. */
static const char *words_for(const struct rk_metric *metric, int *ret_places)
{
    static const char *const words[][2] = {
        {"% of all branches", "of all branches"},
        {"% of all cache references", "of all cache refs"},
        {"% of all L1-dcache loads", "of all L1-dcache accesses"},
        {"% of all L1-icache loads", "of all L1-icache accesses"},
        {"% of all LLC loads", "of all LL-cache accesses"},
        {"% of all dTLB loads", "of all dTLB cache accesses"},
        {"% of all iTLB loads", "of all iTLB cache accesses"},
        {"% of all cycles, for want of instructions", "frontend cycles idle"},
        {"% of all cycles, for want of resources", "backend cycles idle"},
        {"instructions per cycle", "insn per cycle"},
    };

    *ret_places = strcmp(metric->name, "ghz") == 0 || strcmp(metric->name, "cpus") == 0 ? 3 : 2;
    if (*ret_places == 3)
        return metric->name[0] == 'g' ? "GHz" : "CPUs utilized";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], metric->unit) == 0)
            return words[i][1];
    return NULL;
}

static void write_figure(const struct line *l)
{
    int places;
    const char *words = l->cell.derived ? words_for(&l->cell.metric, &places) : NULL;

    if (!is_counted(l))
        output_format(l->out, "%s%s", l->s, l->s);
    else if (words)
        output_format(l->out, "%s%.*f%s%s", l->s, places, l->cell.metric.value, l->s, words);
    else
        write_rate(l);
}

static void write_line(const struct rk_counts *counts, const struct rk_counts_row *row, size_t event,
                       struct output *out)
{
    struct line l = {.counts = counts,
                     .row = row,
                     .event = event,
                     .cell = counts_cell(counts, row, event),
                     .out = out,
                     .s = counts->separator && *counts->separator ? counts->separator : ","};
    const struct rk_value *v = &l.cell.value;
    uint64_t runs = counts->runs > 1 ? counts->runs : 1;
    const char *cgroup = counts->by == RK_BY_CGROUP ? row->where : counts->cgroup;

    write_place(&l);
    write_value(&l);
    write_name(&l);
    if (cgroup) {
        output_text(out, l.s);
        csv_field(out, cgroup, l.s);
    }
    if (runs > 1)
        output_format(
            out, "%s%.2f%%", l.s,
            is_counted(&l) && l.cell.mean > 0 ? 100 * l.cell.stdev / root((double)runs) / l.cell.mean : 0.0);
    output_format(out, "%s%" PRIu64 "%s%.2f", l.s, v->running / runs, l.s,
                  v->running < v->enabled ? 100.0 * (double)v->running / (double)v->enabled : 100.0);
    write_figure(&l);
    output_text(out, "\n");
}

void counts_perf(const struct rk_counts *counts, struct output *out)
{
    bool by_event = counts->by == RK_BY_CPU || counts->by == RK_BY_THREAD;
    size_t most = 0;

    for (size_t r = 0; r < counts->n; r++) {
        size_t n = rk_set_event_count(counts->rows[r].set);
        most = n > most ? n : most;
        for (size_t i = 0; !by_event && i < n; i++)
            write_line(counts, &counts->rows[r], i, out);
    }
    for (size_t i = 0; by_event && i < most; i++)
        for (size_t r = 0; r < counts->n; r++)
            if (i < rk_set_event_count(counts->rows[r].set))
                write_line(counts, &counts->rows[r], i, out);
}

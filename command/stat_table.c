/*
 * Counts for people.
 *
 *     [time]  [where]  value [± deviation]  event  figure  ± bound, counted n % of the time
 *
 * Columns are as wide as their widest text. What does not fit the terminal's width goes below, indented: a line is
 * never cut. Behind the table: times, why something was not counted (each reason once, with all the events that it
 * stopped), what was counted with less than was asked.
 */
#include "print.h"
#include "stat.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define BELOW 8 /* indent of what did not fit */

struct table {
    FILE *to;
    const struct stat_options *o;
    const struct rk_counts *counts;
    struct colours c;
    size_t width; /* of the terminal; SIZE_MAX: no end */
    int where, value, name;
    size_t lines;       /* of the table */
    char fixes[4][256]; /* told already */
    size_t n_fixes;
};

/* ---- cells ---- */

static const char *value_text(const struct rk_event *event, double scaled, char *to, size_t size)
{
    char count[40];

    double ns = scaled * event->scale;

    if (strcmp(event->unit, "ns") == 0 && ns < 10000)
        snprintf(to, size, "%s ns", print_count((uint64_t)(ns + 0.5), count, sizeof count));
    else if (strcmp(event->unit, "ns") == 0)
        snprintf(to, size, "%s.%02u ms", print_count((uint64_t)(ns / 1e6 + 0.005), count, sizeof count),
                 (unsigned)((uint64_t)(ns / 1e4 + 0.5) % 100));
    else if (event->scale != 1.0 || event->unit[0])
        snprintf(to, size, "%.2f%s%s", scaled * event->scale, event->unit[0] ? " " : "", event->unit);
    else
        snprintf(to, size, "%s", print_count((uint64_t)(scaled + 0.5), count, sizeof count));
    return to;
}

/* "per second of wall time" is what /s means; of another time it is said. */
static void metric_text(const struct rk_metric *metric, char *to, size_t size)
{
    char count[40], number[48], unit[80];

    snprintf(unit, sizeof unit, " %s", metric->unit);
    if (strcmp(metric->name, "per_second") == 0)
        snprintf(unit, sizeof unit, "/s%s",
                 strstr(metric->unit, "wall") ? "" : metric->unit + strlen("per second"));
    if (metric->value >= 1000)
        snprintf(number, sizeof number, "%s",
                 print_count((uint64_t)(metric->value + 0.5), count, sizeof count));
    else
        snprintf(number, sizeof number, "%.*f", metric->value > 0 && metric->value < 0.1 ? 4 : 2,
                 metric->value);
    snprintf(to, size, "%10s%s", number, unit);
}

static double shown(const struct table *t, const struct rk_counts_row *row, size_t i)
{
    if (row->values[i].running == 0)
        return 0; /* its target did not run */
    return t->counts->runs > 1 && row->mean ? row->mean[i] : rk_value_scale(&row->values[i], NULL, NULL);
}

static bool is_known(const struct rk_counts_row *row, size_t i)
{
    return row->states ? row->states[i] >= RK_STATE_IDLE : row->values[i].running > 0;
}

static struct rk_event event_of(const struct rk_set *set, size_t i)
{
    struct rk_event event = {.size = sizeof event, .name = "", .unit = "", .scale = 1.0};

    rk_set_event_get(set, i, &event);
    if (!event.unit)
        event.unit = "";
    return event;
}

/* Why the event was not counted; the event's name in front of its own message is said by the list already. */
static void reason_of(const struct table *t, const struct rk_set *set, size_t i, struct rk_error *ret)
{
    struct rk_event event = event_of(set, i);
    size_t n = strlen(event.name);

    *ret = (struct rk_error){.size = sizeof *ret};
    if (rk_set_explain(set, SIZE_MAX, i, ret) < 0)
        snprintf(ret->what, sizeof ret->what, "it was enabled and never ran");
    if (ret->code == -ENODATA) { /* nobody's mistake */
        snprintf(ret->what, sizeof ret->what, "%s",
                 t->counts->wall_ns || !t->counts->exit ? "it did not run while it was counted"
                                                        : "it had ended before counting began");
        ret->remedy[0] = '\0';
    }
    if (strncmp(ret->what, event.name, n) == 0 && strncmp(ret->what + n, ": ", 2) == 0)
        memmove(ret->what, ret->what + n + 2, strlen(ret->what + n + 2) + 1);
}

/* Of the defaults, what has no PMU here is no line of the table. */
static bool is_hidden(const struct table *t, const struct rk_set *set, size_t i)
{
    struct rk_error e = {.size = sizeof e};

    return t->o->default_events && rk_set_explain(set, SIZE_MAX, i, &e) == 0 &&
           (e.cause == RK_CAUSE_NO_PMU || e.cause == RK_CAUSE_UNSUPPORTED);
}

/* ---- lines ---- */

/* A further part of the line, below where it does not fit. */
static void put_part(const struct table *t, const char *text, const char *colour, size_t *at)
{
    const char *end = *colour ? t->c.plain : "";

    if (*at + 2 + print_columns(text) <= t->width) {
        fprintf(t->to, "  %s%s%s", colour, text, end);
        *at += 2 + print_columns(text);
        return;
    }
    text += strspn(text, " ");
    fprintf(t->to, "\n%*s%s%s%s", BELOW, "", colour, text, end);
    *at = BELOW + print_columns(text);
}

static size_t put_prefix(const struct table *t, const struct rk_counts_row *row)
{
    char name[200];
    size_t at = 0;

    if (t->counts->time_ns) {
        fprintf(t->to, "%12.6f", (double)t->counts->time_ns / 1e9);
        at += 12;
    }
    if (row->where) {
        print_safe(row->where, name, sizeof name);
        fprintf(t->to, "  %s%*s", name, t->where - (int)print_columns(name), "");
        at += 2 + (size_t)t->where;
    }
    return at;
}

/* "± 107, counted 98 % of the time"; nothing where that would be ± 0 and 100 %. */
static void bound_text(const struct table *t, const struct rk_event *event, const struct rk_value *v,
                       char *to, size_t size)
{
    double bound = 0, share = 100.0 * (double)v->running / (double)v->enabled;
    char text[80];

    rk_value_scale(v, NULL, &bound);
    bound /= t->counts->runs > 1 ? t->counts->runs : 1;
    if (share >= 99.95 && bound < 0.5)
        return;
    share = share > 99.9 ? 99.9 : share;
    snprintf(to, size, "± %s, counted %.*f %% of the time", value_text(event, bound, text, sizeof text),
             share >= 99.5 || share < 9.95, share);
    print_in_locale(to);
}

static void put_event(struct table *t, const struct rk_counts_row *row, size_t i)
{
    const struct rk_value *v = &row->values[i];
    struct rk_event event = event_of(row->set, i);
    struct rk_metric metric = {.size = sizeof metric};
    char name[200], text[260];
    uint64_t wall = t->counts->wall_ns * (t->counts->runs > 1 ? t->counts->runs : 1);
    size_t at = put_prefix(t, row);

    print_safe(event.name, name, sizeof name);
    if (!is_known(row, i)) {
        fprintf(t->to, "  %s%*s%s  %s\n", t->c.fair, t->value, "not counted", t->c.plain, name);
        return;
    }
    fprintf(t->to, "  %*s", t->value, value_text(&event, shown(t, row, i), text, sizeof text));
    at += 2 + (size_t)t->value;
    char spread[40] = "";
    if (t->counts->runs > 1 && row->mean)
        snprintf(spread, sizeof spread, "± %5.1f %%",
                 row->mean[i] > 0 ? 100 * row->stdev[i] / row->mean[i] : 0);
    print_in_locale(spread);
    if (spread[0] && t->width >= 60) { /* a column of its own, where there is room for one */
        fprintf(t->to, " %s", spread);
        at += 1 + print_columns(spread);
    }
    char metric_is[160] = "", bound_is[160] = "";
    if (!t->o->no_figures &&
        rk_metric_derive(row->set, row->values, rk_set_event_count(row->set), wall, i, &metric) == 1)
        metric_text(&metric, metric_is, sizeof metric_is);
    if (v->running && v->running < v->enabled)
        bound_text(t, &event, v, bound_is, sizeof bound_is);
    size_t n = print_columns(name), next = print_columns(metric_is[0] ? metric_is : bound_is);
    int pad = next && at + 4 + (size_t)t->name + next <= t->width && t->name > (int)n ? t->name - (int)n : 0;
    fprintf(t->to, "  %s%*s", name, pad, "");
    at += 2 + n + (size_t)pad;
    if (spread[0] && t->width < 60)
        put_part(t, spread, "", &at);
    if (metric_is[0])
        put_part(t, metric_is, "", &at);
    if (bound_is[0])
        put_part(t, bound_is, t->c.fair, &at);
    fputc('\n', t->to);
}

/* Hidden or not is a question of the set, not of each row. */
static void each_line(struct table *t, void (*put)(struct table *, const struct rk_counts_row *, size_t))
{
    const struct rk_set *set = NULL;
    bool hidden[256] = {false};

    for (size_t r = 0; r < t->counts->n; r++) {
        const struct rk_counts_row *row = &t->counts->rows[r];
        size_t n = rk_set_event_count(row->set);
        for (size_t i = 0; row->set != set && i < n && i < 256; i++)
            hidden[i] = is_hidden(t, row->set, i);
        set = row->set;
        for (size_t i = 0; i < n; i++)
            if (i >= 256 || !hidden[i])
                put(t, row, i);
    }
}

static void measure_line(struct table *t, const struct rk_counts_row *row, size_t i)
{
    struct rk_event event = event_of(row->set, i);
    char text[260], name[200];
    int n = 11; /* "not counted" */

    t->lines++;
    if (is_known(row, i))
        n = (int)print_columns(value_text(&event, shown(t, row, i), text, sizeof text));
    t->value = n > t->value ? n : t->value;
    n = (int)print_columns(print_safe(event.name, name, sizeof name));
    t->name = n > t->name && n <= 40 ? n : t->name;
    n = row->where ? (int)print_columns(print_safe(row->where, name, sizeof name)) : 0;
    t->where = n > t->where && n <= 40 ? n : t->where;
}

/* ---- behind the table ---- */

static void put_times(const struct table *t)
{
    const struct rk_counts *counts = t->counts;
    char items[5][80], rss[32], wall[32], spread[32] = "";
    size_t n = 0, at = 2;

    if (counts->runs > 1)
        snprintf(spread, sizeof spread, " ± %.1f %%",
                 counts->wall_ns ? 100.0 * (double)counts->wall_stdev_ns / (double)counts->wall_ns : 0);
    if (counts->wall_ns < 100000)
        snprintf(items[n++], 80, "%s ns%s wall", print_count(counts->wall_ns, wall, sizeof wall), spread);
    else
        snprintf(items[n++], 80, "%.6f s%s wall", (double)counts->wall_ns / 1e9, spread);
    if (counts->exit) {
        snprintf(items[n++], 80, "%.6f s user", (double)counts->exit->user_ns / 1e9);
        snprintf(items[n++], 80, "%.6f s sys", (double)counts->exit->system_ns / 1e9);
        snprintf(items[n++], 80, "%s peak memory", print_bytes(counts->exit->peak_rss, rss, sizeof rss));
    }
    if (counts->runs > 1 && counts->n > 0)
        snprintf(items[n++], 80, "± one standard deviation of a run");
    for (size_t i = 0; i < n; i++) {
        print_in_locale(items[i]);
        bool below = at > 2 && at + 3 + print_columns(items[i]) > t->width;
        fprintf(t->to, "%s%s", at == 2 ? "\n  " : below ? "\n  " : "   ", items[i]);
        at = (below ? 2 : at + 3) + print_columns(items[i]);
    }
    fputc('\n', t->to);
    if (counts->exit && counts->exit->signal)
        fprintf(t->to, "  ended by signal %d (%s)%s\n", counts->exit->signal, strsignal(counts->exit->signal),
                counts->exit->core_dumped ? ", core dumped" : "");
}

/* Whether any row lacks it. */
static bool is_missing(const struct table *t, const struct rk_set *set, size_t i)
{
    for (size_t r = 0; r < t->counts->n; r++)
        if (t->counts->rows[r].set == set && !is_known(&t->counts->rows[r], i))
            return true;
    return false;
}

/* The same remedy is told once, below the first that it helps. */
static void put_fix(struct table *t, const char *remedy)
{
    if (!remedy[0])
        return;
    for (size_t i = 0; i < t->n_fixes; i++)
        if (strcmp(t->fixes[i], remedy) == 0)
            return;
    if (t->n_fixes < sizeof t->fixes / sizeof *t->fixes)
        snprintf(t->fixes[t->n_fixes++], sizeof *t->fixes, "%s", remedy);
    print_wrapped(t->to, t->width, 4, "    fix: ", remedy);
}

/* Each reason once, with all the events that it stopped. */
static void put_reasons(struct table *t, const struct rk_set *set)
{
    size_t n = rk_set_event_count(set);
    struct rk_error *reasons = calloc(n ? n : 1, sizeof *reasons);
    char names[900], name[200];

    for (size_t i = 0; reasons && i < n; i++)
        if (is_missing(t, set, i))
            reason_of(t, set, i, &reasons[i]);
    for (size_t i = 0; reasons && i < n; i++) {
        if (!reasons[i].what[0])
            continue;
        snprintf(names, sizeof names, "%s", print_safe(event_of(set, i).name, name, sizeof name));
        for (size_t j = i + 1; j < n; j++)
            if (strcmp(reasons[i].what, reasons[j].what) == 0) {
                size_t have = strlen(names);
                snprintf(names + have, sizeof names - have, ", %s",
                         print_safe(event_of(set, j).name, name, sizeof name));
                reasons[j].what[0] = '\0';
            }
        fputc('\n', t->to);
        print_wrapped(t->to, t->width, 4, "  not counted: ", names);
        print_wrapped(t->to, t->width, 4, "    ", reasons[i].what);
        put_fix(t, reasons[i].remedy);
    }
    free(reasons);
}

/* Steps down, each sentence once. */
static void put_notes(struct table *t, const struct rk_set *set)
{
    for (size_t i = 0; i < rk_set_note_count(set); i++) {
        struct rk_note note = {.size = sizeof note}, earlier = {.size = sizeof earlier};
        bool told = false;
        rk_set_note_get(set, i, &note);
        for (size_t j = 0; j < i && !told; j++)
            told = rk_set_note_get(set, j, &earlier) == 0 && strcmp(earlier.what, note.what) == 0;
        if (told || note.absent)
            continue;
        fputc('\n', t->to);
        print_wrapped(t->to, t->width, 4, "  note: ", note.what);
        put_fix(t, note.remedy);
    }
}

/* A program that SIGTRAP ended may have got it for a breakpoint: reckon-events(7). */
static void put_trap(struct table *t, const struct rk_set *set)
{
    bool watched = false;

    for (size_t i = 0; i < rk_set_event_count(set); i++)
        watched |= event_of(set, i).bp_type != 0;
    if (!watched || !t->counts->exit || t->counts->exit->signal != SIGTRAP)
        return;
    fputc('\n', t->to);
    print_wrapped(
        t->to, t->width, 4, "  note: ",
        "some virtual processors lose a few of a million hits of breakpoints; Linux sends SIGTRAP for "
        "such a hit and does not count it");
    put_fix(t, "run it again, or have the program handle SIGTRAP");
}

void stat_table(FILE *to, const struct stat_options *o, const struct rk_counts *counts, const char *about)
{
    struct table t = {.to = to,
                      .o = o,
                      .counts = counts,
                      .c = print_colours(o->to->file),
                      .width = print_width(o->to->file),
                      .value = 11};
    const struct rk_set *set = NULL;

    each_line(&t, measure_line);
    if (about) {
        fputc('\n', to);
        print_wrapped(to, t.width, 4, "  ", about);
        if (t.lines)
            fputc('\n', to);
    }
    each_line(&t, put_event);
    if (!about)
        return;
    put_times(&t);
    for (size_t r = 0; r < counts->n; r++) {
        if (counts->rows[r].set == set)
            continue;
        set = counts->rows[r].set;
        put_reasons(&t, set);
        put_notes(&t, set);
        put_trap(&t, set);
    }
    fputc('\n', to);
}

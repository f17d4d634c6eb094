/*
 * reckon stat: count what a command, a process, a CPU does, and say what was counted and what was not.
 * stat.h has the parts.
 */
#include "stat.h"

#include "command.h"
#include "control.h"
#include "handles.h"
#include "measured.h"
#include "options.h"
#include "print.h"
#include "run.h"
#include "series.h"
#include "text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void words_free(struct stat_words *words)
{
    free(words->events);
}

/* ---- writing ---- */

int stat_write(const struct stat_options *o, const struct rk_counts *counts, const char *about)
{
    static const char *const formats[] = {[STAT_JSON] = "json", [STAT_CSV] = "csv", [STAT_PERF] = "perf"};
    struct rk_error e = {.size = sizeof e};
    char *text = NULL;
    size_t n = 0;
    FILE *memory = open_memstream(&text, &n);
    int rc = 0;

    if (!memory) {
        fprintf(stderr, "reckon stat: out of memory\n");
        return STATUS_FAILED;
    }
    struct rk_sink sink = print_sink(memory);
    if (o->format == STAT_TEXT)
        stat_table(memory, o, counts, about);
    else
        rc = rk_counts_export(counts, formats[o->format], &sink, &e);
    bool complete = fclose(memory) == 0;
    if (rc < 0)
        print_error("stat", &e);
    else if (!complete)
        fprintf(stderr, "reckon stat: out of memory\n");
    else
        rc = destination_write(o->to, text, n);
    free(text);
    return rc < 0 || !complete ? STATUS_FAILED : 0;
}

#define COMMAND_MOST 400 /* bytes of the command's words that are shown */

/* ", 3 times", ", 2 of 3 times: interrupted", ", 3 times, 1 of them failed". */
static void put_runs(FILE *to, const struct stat_options *o, const struct series *s, bool interrupted)
{
    char runs[32], of[32];

    if (o->runs == 1)
        return;
    fprintf(to, ", %s", print_count(s->runs, runs, sizeof runs));
    if (interrupted && s->runs < o->runs)
        fprintf(to, " of %s", print_count(o->runs, of, sizeof of));
    fprintf(to, " time%s", s->runs == 1 && o->runs == 0 ? "" : "s");
    if (interrupted && s->runs < o->runs)
        fputs(": interrupted", to);
    if (s->failed)
        fprintf(to, ", %s of them failed", print_count(s->failed, runs, sizeof runs));
}

/* "sleep 1, 3 times", "process 4711", "CPUs 0-3 while sleep 1 ran". */
static char *about(const struct stat_options *o, const struct series *s, bool interrupted)
{
    char *text = NULL, safe[200];
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);
    const char *list = o->processes ? o->processes
                       : o->threads ? o->threads
                       : o->cgroups ? o->cgroups
                                    : o->cpus;

    if (!to)
        return NULL;
    if (list || o->all || o->cgroups) {
        const char *noun = o->processes ? "process" : o->threads ? "thread" : o->cgroups ? "cgroup" : "CPU";
        bool many = list && (strchr(list, ',') || (noun[0] == 'C' && strchr(list, '-')));
        if (o->all)
            fputs("all CPUs", to);
        else
            fprintf(to, "%s%s %s", noun,
                    !many          ? ""
                    : o->processes ? "es"
                                   : "s",
                    print_safe(list, safe, sizeof safe));
        if ((o->processes || o->threads) && o->cpus)
            fprintf(to, " on CPU%s %s", strpbrk(o->cpus, ",-") ? "s" : "",
                    print_safe(o->cpus, safe, sizeof safe));
        fputs(o->command ? " while this ran: " : "", to);
    }
    if (o->command)
        print_words(to, o->command, COMMAND_MOST);
    put_runs(to, o, s, interrupted);
    fclose(to);
    return text;
}

static int tell(const struct stat_options *o, const struct measured *m, const struct series *s,
                bool interrupted)
{
    struct rk_counts_row *rows = calloc(m->n_rows ? m->n_rows : 1, sizeof *rows);
    char *title = about(o, s, interrupted);
    int status = STATUS_FAILED;

    if (rows && title) {
        measured_rows(m, s->sum, s->states, rows);
        struct rk_counts counts = {.size = sizeof counts,
                                   .rows = rows,
                                   .n = m->n_rows,
                                   .flags = (o->interval_ms > 0 ? RK_COUNTS_TOTALS : 0) |
                                            (o->no_header ? RK_COUNTS_NO_HEADER : 0),
                                   .by = o->by,
                                   .separator = o->separator,
                                   .cgroup = o->by == RK_BY_CGROUP ? NULL : o->cgroups};
        series_counts(s, rows, m->n_rows, &counts);
        status = o->interval_ms > 0 && (o->format == STAT_CSV || o->format == STAT_PERF)
                     ? 0
                     : stat_write(o, &counts, title);
    } else {
        fprintf(stderr, "reckon stat: out of memory\n");
    }
    free(title);
    free(rows);
    return status;
}

/* ---- counting ---- */

static int failed_to_open(const struct rk_error *e)
{
    if (e->stage == RK_STAGE_TARGET && e->cause == RK_CAUSE_NO_COMMAND)
        return run_failed("stat", e);
    print_error("stat", e);
    return e->cause == RK_CAUSE_ARGUMENT ? STATUS_USAGE : STATUS_FAILED;
}

/* The measured command's status; of one that was left, failure; of none, or the rest of several: of what ended us. */
static int status_of(const struct stat_options *o, const struct series *s, const struct stat_run *last)
{
    int signal = last->interrupted ? 128 + run_last_signal() : 0;

    if (!s->has_exit)
        return signal ? signal : last->left_running ? STATUS_FAILED : 0;
    return s->exit.status == 0 && o->runs != 1 ? signal : s->exit.status;
}

/* Runs until there were enough. What was interrupted counts only where it is all there is. */
static int run_all(const struct stat_options *o, struct rk_host *host, const struct rk_events *events,
                   struct control *control)
{
    struct measured m = {0};
    struct series s = {0};
    struct stat_run run = {0};
    struct rk_error e = {.size = sizeof e};
    int status = 0;

    for (uint64_t i = 0; status == 0 && (o->runs == 0 || i < o->runs) && !run.interrupted; i++) {
        measured_close(&m);
        if (measured_open(&m, o, host, events, &e) < 0) {
            status = failed_to_open(&e);
            break;
        }
        status = stat_run(o, &m, control, &run);
        if (run.left_running && o->command)
            fprintf(stderr, "reckon stat: %s waits in the kernel, does not die, and is left\n",
                    o->command[0]);
        if (m.unplaced)
            fprintf(stderr,
                    "reckon stat: out of memory for %zu CPUs that came online later: what ran there is in no "
                    "count\n",
                    m.unplaced);
        if (run.values && (!run.interrupted || s.runs == 0) && series_add(&s, &run, m.n_values) < 0) {
            fprintf(stderr, "reckon stat: out of memory, or the machine has changed between two runs\n");
            status = STATUS_FAILED;
        }
        free(run.values);
        free(run.states);
        run.values = NULL;
        run.states = NULL;
    }
    if (s.runs > 0) { /* also where a later run failed */
        series_end(&s);
        int told = tell(o, &m, &s, run.interrupted);
        status = status ? status : told ? told : status_of(o, &s, &run);
    }
    series_free(&s);
    measured_close(&m);
    return status;
}

static int count(const struct stat_options *o, const struct stat_words *words)
{
    handle_host struct rk_host *host = NULL;
    handle_events struct rk_events *events = NULL;
    struct control control;
    struct rk_error e = {.size = sizeof e};
    int rc;
    char why[300];

    if (rk_host_open(NULL, &host, &e) < 0)
        return print_error("stat", &e);
    if (!o->null && rk_events_parse_keep(host, o->events, &events, &e) < 0)
        return print_event_error("stat", o->events, &e);
    if (words->dry_run)
        return stat_plan(o, host, events);
    if (words->overhead)
        return stat_overhead(o, host, events);
    if (o->control && (rc = control_open(&control, o->control, why, sizeof why)) < 0) {
        fprintf(stderr, "reckon stat: --control: %s\n", why);
        return rc == CONTROL_MISTAKE ? STATUS_USAGE : STATUS_FAILED;
    }
    int status = run_all(o, host, events, o->control ? &control : NULL);
    if (o->control)
        control_close(&control);
    return status;
}

int verb_stat(int argc, char **argv)
{
    struct stat_options s = {.runs = 1};
    __attribute__((cleanup(words_free))) struct stat_words w = {0};
    struct destination to;

    int status = stat_options(argc, argv, &s, &w);
    if (status)
        return status == STAT_HELPED ? 0 : status;
    if (destination_open(&to, "stat", w.output, w.append) < 0)
        return STATUS_FAILED;
    s.to = &to;
    s.no_header = s.separator || to.behind;
    status = count(&s, &w);
    return destination_close(&to) < 0 ? STATUS_FAILED : status;
}

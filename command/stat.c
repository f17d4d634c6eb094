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

/* Operands of a ratio in one group, so that they are counted over the same time. */
#define REST "context-switches,cpu-migrations,page-faults,{cycles,instructions},{branches,branch-misses}"
static const char *const details[] = {
    "minor-faults,major-faults,{L1-dcache-loads,L1-dcache-load-misses},{LLC-loads,LLC-load-misses}",
    "{L1-icache-loads,L1-icache-load-misses},{dTLB-loads,dTLB-load-misses},{iTLB-loads,iTLB-load-misses}",
    "{L1-dcache-prefetches,L1-dcache-prefetch-misses},alignment-faults,emulation-faults",
};

enum {
    LONG = 256, /* options without a letter */
    APPEND,
    CSV,
    INTERVAL_COUNT,
    TIMEOUT,
    CONTROL_AT,
    PER_THREAD,
    PER_CORE,
    PER_DIE,
    PER_SOCKET,
    PER_NODE,
    FREEZE,
    OVERHEAD,
    DRY_RUN,
};

static const struct option table[] = {
    {'e', 'e', "event", "LIST", "events to count, comma-separated; {a,b} is a group; may be repeated"},
    {'d', 'd', "detailed", NULL, "more of the default events: caches; -dd: TLBs; -ddd: prefetches"},
    {'p', 'p', "pid", "LIST", "count these processes, with all their threads"},
    {'t', 't', "tid", "LIST", "count these threads"},
    {'a', 'a', "all-cpus", NULL, "count the whole machine"},
    {'C', 'C', "cpu", "LIST", "count these CPUs: 0-3,8"},
    {'G', 'G', "cgroup", "LIST", "count what runs in these cgroups, a line for each; -C: on these CPUs"},
    {FREEZE, 0, "freeze", NULL,
     "with -p: hold the process while counters are opened, so that no thread is missed"},
    {'i', 'i', "no-inherit", NULL, "do not count threads and children born later"},
    {'A', 'A', "no-aggr", NULL, "a line for each CPU (with -a or -C), likewise:"},
    {PER_CORE, 0, "per-core", NULL, "  for each core"},
    {PER_DIE, 0, "per-die", NULL, "  for each die"},
    {PER_SOCKET, 0, "per-socket", NULL, "  for each socket"},
    {PER_NODE, 0, "per-node", NULL, "  for each memory node"},
    {PER_THREAD, 0, "per-thread", NULL, "  for each thread (with -p or -t)"},
    {'r', 'r', "repeat", "N", "run the command N times, mean and deviation; 0: until Ctrl-C"},
    {'I', 'I', "interval", "MS", "counts of every MS milliseconds"},
    {INTERVAL_COUNT, 0, "interval-count", "N", "end after so many intervals"},
    {'D', 'D', "delay", "MS", "begin to count so much later; -1: when --control says so"},
    {TIMEOUT, 0, "timeout", "MS", "end after so long; the command gets SIGTERM"},
    {CONTROL_AT, 0, "control", "WHERE",
     "obey enable, disable, ping, snapshot, stop: fifo:CTL[,ACK], fd:CTL[,ACK]"},
    {'n', 'n', "null", NULL, "count nothing, only take the time"},
    {'o', 'o', "output", "FILE", "write there in place of stderr; - is stdout"},
    {APPEND, 0, "append", NULL, "behind what is in FILE already"},
    {'j', 'j', "json", NULL, "JSON, an object on a line"},
    {CSV, 0, "csv", NULL, "comma-separated values with a line of names"},
    {'x', 'x', "field-separator", "SEP", "the same separated by SEP, without names; columns begin as perf's"},
    {OVERHEAD, 0, "overhead", NULL, "what measuring itself costs and counts: an empty region"},
    {DRY_RUN, 0, "dry-run", NULL, "open nothing, say what it would take"},
    {0},
};

struct stat_words { /* what the options say beyond struct stat_options */
    char *events;
    const char *output;
    int detail;
    bool append, overhead, dry_run, repeat;
};

static void words_free(struct stat_words *words)
{
    free(words->events);
}

/* ---- writing ---- */

int stat_write(const struct stat_options *o, const struct rk_counts *counts, const char *about)
{
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
        rc = rk_counts_write(counts, o->format == STAT_JSON ? "json" : "csv", &sink, &e);
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

/* "sleep 1, 3 times", "process 4711", "CPUs 0-3 while sleep 1 ran". */
static char *about(const struct stat_options *o, uint32_t runs)
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
        fputs(o->command ? " while this ran: " : "", to);
    }
    for (char **word = o->command; word && *word; word++)
        fprintf(to, "%s%s", word == o->command ? "" : " ", print_safe(*word, safe, sizeof safe));
    if (runs > 1)
        fprintf(to, ", %u times", runs);
    fclose(to);
    return text;
}

static int tell(const struct stat_options *o, const struct measured *m, const struct series *s)
{
    struct rk_counts_row *rows = calloc(m->n_rows ? m->n_rows : 1, sizeof *rows);
    char *title = about(o, s->runs);
    int status = STATUS_FAILED;

    if (rows && title) {
        measured_rows(m, s->sum, rows);
        struct rk_counts counts = {.size = sizeof counts,
                                   .rows = rows,
                                   .n = m->n_rows,
                                   .totals = o->interval_ms > 0,
                                   .no_header = o->separator != NULL,
                                   .separator = o->separator};
        series_counts(s, rows, m->n_rows, &counts);
        status = counts.totals && o->format == STAT_CSV ? 0 : stat_write(o, &counts, title);
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
    return e->stage == RK_STAGE_TARGET && e->cause == RK_CAUSE_NO_COMMAND ? run_failed("stat", e)
                                                                          : print_error("stat", e);
}

/* The measured command's status; one that was left running, or none: of what ended us. */
static int status_of(const struct series *s, const struct stat_run *last)
{
    if (s->has_exit)
        return s->exit.status;
    return last->interrupted ? 128 + run_last_signal() : 0;
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
            fprintf(stderr, "reckon stat: %s did not end when it was told to, and goes on\n", o->command[0]);
        if (run.values && (!run.interrupted || s.runs == 0) && series_add(&s, &run, m.n_values) < 0) {
            fprintf(stderr, "reckon stat: out of memory, or the machine has changed between two runs\n");
            status = STATUS_FAILED;
        }
        free(run.values);
        run.values = NULL;
    }
    if (s.runs > 0) { /* also where a later run failed */
        series_end(&s);
        int told = tell(o, &m, &s);
        status = status ? status : told ? told : status_of(&s, &run);
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
    char why[300];

    if (rk_host_open(NULL, &host, &e) < 0)
        return print_error("stat", &e);
    if (!o->null && rk_events_parse(host, o->events, &events, &e) < 0)
        return print_event_error("stat", o->events, &e);
    if (words->dry_run)
        return stat_plan(o, host, events);
    if (words->overhead)
        return stat_overhead(o, host, events);
    if (o->control && control_open(&control, o->control, why, sizeof why) < 0) {
        fprintf(stderr, "reckon stat: --control: %s\n", why);
        return STATUS_FAILED;
    }
    int status = run_all(o, host, events, o->control ? &control : NULL);
    if (o->control)
        control_close(&control);
    return status;
}

/* ---- options ---- */

/* "-1" or a number of milliseconds. */
static int take_delay(const struct options *o, int64_t *ret)
{
    uint64_t ms;

    if (strcmp(o->value, "-1") == 0) {
        *ret = -1;
        return 0;
    }
    if (options_number(o, "-D", 0, 1000000000, &ms) < 0)
        return OPTIONS_BAD;
    *ret = (int64_t)ms;
    return 0;
}

static int take_option(const struct options *o, int id, struct stat_options *s, struct stat_words *w)
{
    switch (id) {
    case 'e':
        return text_join(&w->events, o->value) < 0 ? options_wrong(o, "out of memory") : 0;
    case 'd':
        w->detail++;
        return 0;
    case 'p':
        s->processes = o->value;
        return 0;
    case 't':
        s->threads = o->value;
        return 0;
    case 'a':
        s->all = true;
        return 0;
    case 'C':
        s->cpus = o->value;
        return 0;
    case 'G':
        s->cgroups = o->value;
        return 0;
    case FREEZE:
        s->freeze = true;
        return 0;
    case 'i':
        s->no_inherit = true;
        return 0;
    case 'A':
        s->by = RK_BY_CPU;
        return 0;
    case PER_CORE:
        s->by = RK_BY_CORE;
        return 0;
    case PER_DIE:
        s->by = RK_BY_DIE;
        return 0;
    case PER_SOCKET:
        s->by = RK_BY_SOCKET;
        return 0;
    case PER_NODE:
        s->by = RK_BY_NODE;
        return 0;
    case PER_THREAD:
        s->by = RK_BY_THREAD;
        return 0;
    case 'r':
        w->repeat = true;
        return options_number(o, "-r", 0, 1000000000, &s->runs);
    case 'I':
        return options_number(o, "-I", 1, 1000000000, &s->interval_ms);
    case INTERVAL_COUNT:
        return options_number(o, "--interval-count", 1, 1000000000, &s->interval_count);
    case 'D':
        return take_delay(o, &s->delay_ms);
    case TIMEOUT:
        return options_number(o, "--timeout", 1, 1000000000, &s->timeout_ms);
    case CONTROL_AT:
        s->control = o->value;
        return 0;
    case 'n':
        s->null = true;
        return 0;
    case 'o':
        w->output = o->value;
        return 0;
    case APPEND:
        w->append = true;
        return 0;
    case 'j':
        s->format = STAT_JSON;
        return 0;
    case CSV:
        s->format = STAT_CSV;
        return 0;
    case 'x':
        s->format = STAT_CSV;
        s->separator = strcmp(o->value, "\\t") == 0 ? "\t" : o->value;
        return *o->value ? 0 : options_wrong(o, "-x: a separator has at least one character");
    case OVERHEAD:
        w->overhead = true;
        return 0;
    case DRY_RUN:
        w->dry_run = true;
        return 0;
    default:
        return 0;
    }
}

/* What does not go together: 0, or STATUS_USAGE with the message printed. */
static int check_options(const struct options *o, const struct stat_options *s, const struct stat_words *w)
{
    bool cpus = s->all || s->cpus || s->cgroups, tasks = s->processes || s->threads;

    if (!!s->processes + !!s->threads + cpus > 1 || (s->all && s->cgroups))
        return options_wrong(o, "one of -p, -t, -a, -C and --cgroup; only --cgroup and -C go together");
    if (s->all && s->cpus)
        return options_wrong(o, "-a is all CPUs, -C some: one of them");
    if (!s->command && !cpus && !tasks && !w->overhead)
        return options_wrong(o, "no command to run");
    if (s->freeze && !tasks)
        return options_wrong(o, "--freeze goes with -p");
    if (s->cgroups && strchr(s->cgroups, ',') && s->by != RK_BY_ALL && s->by != RK_BY_CGROUP)
        return options_wrong(o, "several cgroups have a line each: no -A, --per-core … beside");
    if (s->by == RK_BY_THREAD && !tasks)
        return options_wrong(o, "--per-thread goes with -p or -t: a command has no threads yet");
    if (s->by != RK_BY_ALL && s->by != RK_BY_THREAD && !cpus)
        return options_wrong(o, "-A, --per-core, -die, -socket and -node go with -a, -C or --cgroup");
    if (w->repeat && !s->command)
        return options_wrong(o, "-r runs a command several times, and there is none");
    if (w->repeat && s->interval_ms)
        return options_wrong(o, "-r and -I exclude each other");
    if (s->interval_count && !s->interval_ms)
        return options_wrong(o, "--interval-count goes with -I");
    if (s->delay_ms < 0 && !s->control)
        return options_wrong(o, "-D -1 waits for a word that only --control can bring");
    if (w->append && (!w->output || strcmp(w->output, "-") == 0))
        return options_wrong(o, "--append goes with -o FILE");
    if (s->null && w->events)
        return options_wrong(o, "--null counts nothing, -e something: one of them");
    if (s->null && (cpus || tasks) && !s->command && !s->timeout_ms)
        return options_wrong(o, "--null takes the time of a command, and there is none");
    return 0;
}

/* The defaults: what people look at first, and -d's more. */
static int choose_events(struct stat_options *s, struct stat_words *w)
{
    bool cpus = s->all || s->cpus || s->cgroups;

    if (w->events) {
        for (int i = 0; i < w->detail && i < 3; i++)
            if (text_join(&w->events, details[i]) < 0)
                return -1;
    } else {
        s->default_events = true;
        if (text_join(&w->events, cpus ? "cpu-clock," REST : "task-clock," REST) < 0)
            return -1;
        for (int i = 0; i < w->detail && i < 3; i++)
            if (text_join(&w->events, details[i]) < 0)
                return -1;
    }
    s->events = w->events;
    if (s->cgroups && strchr(s->cgroups, ','))
        s->by = RK_BY_CGROUP;
    return 0;
}

int verb_stat(int argc, char **argv)
{
    struct options o = {
        .verb = "stat",
        .usage = "[options] [COMMAND [ARGUMENT...]]",
        .about = "Runs COMMAND (found through PATH, no shell) and counts what it does, from its first\n"
                 "instruction, threads and children included. The exit status is the command's.\n"
                 "With -p, -t, -a, -C or --cgroup these are counted: while COMMAND runs, or until Ctrl-C.",
        .table = table,
    };
    struct stat_options s = {.runs = 1};
    __attribute__((cleanup(words_free))) struct stat_words w = {0};
    struct destination to;
    int id, bad = 0;

    options_begin(&o, argc, argv);
    while ((id = options_next(&o)) > 0 && !bad)
        bad = take_option(&o, id, &s, &w);
    if (bad)
        return STATUS_USAGE;
    if (id < 0)
        return options_status(id);
    s.command = o.rest_n ? o.rest : NULL;
    if (check_options(&o, &s, &w))
        return STATUS_USAGE;
    if (choose_events(&s, &w) < 0)
        return options_wrong(&o, "out of memory");
    if (destination_open(&to, "stat", w.output, w.append) < 0)
        return STATUS_FAILED;
    s.to = &to;
    int status = count(&s, &w);
    return destination_close(&to) < 0 ? STATUS_FAILED : status;
}

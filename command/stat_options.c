/*
 * reckon stat's options: what each says, what does not go together, which events there are where none is named.
 */
#include "command.h"
#include "options.h"
#include "stat.h"
#include "text.h"

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
    {'C', 'C', "cpu", "LIST", "count these CPUs: 0-3,8; with -p or -t: the process, there alone"},
    {'G', 'G', "cgroup", "LIST", "count what runs in these cgroups, a line for each; -C: on these CPUs"},
    {FREEZE, 0, "freeze", NULL,
     "with -p: hold the process while counters are opened, so that no thread is missed"},
    {'i', 'i', "no-inherit", NULL, "do not count threads and children created later"},
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
    {TIMEOUT, 0, "timeout", "MS", "end after so long; the command gets SIGTERM, 10 s later SIGKILL"},
    {CONTROL_AT, 0, "control", "WHERE",
     "obey enable, disable, ping, snapshot, stop: fifo:CTL[,ACK], fd:CTL[,ACK]"},
    {'n', 'n', "null", NULL, "count nothing, only take the time"},
    {'o', 'o', "output", "FILE", "write there in place of stderr; - is stdout"},
    {APPEND, 0, "append", NULL, "after what is in FILE already"},
    {'j', 'j', "json", NULL, "JSON, an object on a line"},
    {CSV, 0, "csv", NULL, "comma-separated values with a line of names"},
    {'x', 'x', "field-separator", "SEP", "the lines of perf stat -x SEP, column for column"},
    {OVERHEAD, 0, "overhead", NULL, "what measuring itself costs and counts: an empty region"},
    {DRY_RUN, 0, "dry-run", NULL, "open nothing, say what it would take"},
    {0},
};

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
        w->json = true;
        s->format = STAT_JSON;
        return 0;
    case CSV:
        w->csv = true;
        s->format = STAT_CSV;
        return 0;
    case 'x':
        w->csv = true;
        s->format = STAT_PERF;
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

/* An empty region is reckon's own, and begins and ends at once. */
static bool beside_overhead(const struct stat_options *s, const struct stat_words *w)
{
    return s->command || s->processes || s->threads || s->cpus || s->cgroups || s->all || w->repeat ||
           s->interval_ms || s->delay_ms || s->timeout_ms || s->control || s->null || w->dry_run;
}

static const char *tasks_of(const struct stat_options *s)
{
    return s->processes ? s->processes : s->threads;
}

/* What does not go together: 0, or STATUS_USAGE with the message printed. */
static int check_options(const struct options *o, const struct stat_options *s, const struct stat_words *w)
{
    bool cpus = s->all || s->cpus || s->cgroups, tasks = s->processes || s->threads;

    if (w->overhead && beside_overhead(s, w))
        return options_wrong(o, "--overhead measures reckon itself: only -e, -d and what says how it is "
                                "written go with it");
    if (w->json && w->csv)
        return options_wrong(o, "--json, and --csv or -x: one of them");
    if (!!s->processes + !!s->threads + s->all + !!s->cgroups > 1)
        return options_wrong(o, "one of -p, -t, -a and --cgroup; only -C goes with -p, -t and --cgroup");
    if (s->all && s->cpus)
        return options_wrong(o, "-a is all CPUs, -C some: one of them");
    if (!s->command && !cpus && !tasks && !w->overhead)
        return options_wrong(o, "no command to run");
    if (s->freeze && !tasks)
        return options_wrong(o, "--freeze goes with -p");
    if (s->cgroups && strchr(s->cgroups, ',') && s->by != RK_BY_ALL && s->by != RK_BY_CGROUP)
        return options_wrong(o, "several cgroups have a line each: no -A, --per-core ... beside");
    if (tasks && s->by != RK_BY_ALL && s->by != RK_BY_THREAD && strchr(tasks_of(s), ','))
        return options_wrong(o,
                             "-A, --per-core, -die, -socket and -node with -p or -t: one process or thread");
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
    bool cpus = (s->all || s->cpus || s->cgroups) && !tasks_of(s);

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

int stat_options(int argc, char **argv, struct stat_options *s, struct stat_words *w)
{
    struct options o = {
        .verb = "stat",
        .usage = "[options] [COMMAND [ARGUMENT...]]",
        .about = "Runs COMMAND (found through PATH, no shell) and counts what it does, from its first\n"
                 "instruction, threads and children included. The exit status is the command's.\n"
                 "With -p, -t, -a, -C or --cgroup these are counted: while COMMAND runs, or until Ctrl-C.",
        .table = table,
    };
    int id, bad = 0;

    options_begin(&o, argc, argv);
    while ((id = options_next(&o)) > 0 && !bad)
        bad = take_option(&o, id, s, w);
    if (bad)
        return STATUS_USAGE;
    if (id < 0)
        return id == OPTIONS_HELP ? STAT_HELPED : options_status(id);
    s->command = o.rest_n ? o.rest : NULL;
    if (check_options(&o, s, w))
        return STATUS_USAGE;
    return choose_events(s, w) < 0 ? options_wrong(&o, "out of memory") : 0;
}

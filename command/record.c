/*
 * reckon record: sample a command, processes, CPUs into a perf.data file. record.h has the parts.
 */
#include "record.h"

#include "command.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_FREQUENCY 3999 /* not a round number: no lockstep with timers of the command */

enum {
    LONG = 256, /* options without a letter */
    FILTER,
    PER_THREAD,
    CALL_GRAPH,
    KEEP_STACKS,
    STACK_SIZE,
    MAX_STACK,
    USER_CHAINS,
    REGS,
    PHYS_DATA,
    OFF_CPU,
    ALL_CGROUPS,
    DURATION,
    CONTROL_AT,
    OVERWRITE,
    SWITCH_OUTPUT,
    PROGRESS,
    HTML,
    OPEN,
    NO_NAMES,
};

static const struct option table[] = {
    {'e', 'e', "event", "LIST", "events to sample; default cycles, else cpu-clock; may be repeated"},
    {FILTER, 0, "filter", "FILTER", "of the tracepoints of the -e before it, these alone: 'prev_pid==1'"},
    {'p', 'p', "pid", "LIST", "sample these processes, with all their threads"},
    {'t', 't', "tid", "LIST", "sample these threads"},
    {'a', 'a', "all-cpus", NULL, "sample the whole machine"},
    {'C', 'C', "cpu", "LIST", "sample these CPUs: 0-3,8"},
    {'G', 'G', "cgroup", "LIST", "sample what runs in these cgroups"},
    {ALL_CGROUPS, 0, "all-cgroups", NULL, "tell of each sample which cgroup it is in; -G does"},
    {'i', 'i', "no-inherit", NULL, "do not sample threads and children created later"},
    {PER_THREAD, 0, "per-thread", NULL, "the same, of the threads there are"},
    {'F', 'F', "freq", "HZ", "samples a second, 3999 by default; max: what the kernel allows"},
    {'c', 'c', "count", "N", "a sample every N events, in place of -F"},
    {'g', 'g', NULL, NULL, "take call chains: --call-graph auto"},
    {CALL_GRAPH, 0, "call-graph", "MODE",
     "... fp, lbr, dwarf[,BYTES] or auto[,BYTES]: BYTES of stack a sample, 16384"},
    {KEEP_STACKS, 0, "keep-stacks", NULL, "store stacks as they are, and not the frames found in them"},
    {STACK_SIZE, 0, "stack-size", "BYTES", "of stack a sample, for dwarf and auto"},
    {MAX_STACK, 0, "max-stack", "N", "frames of a chain at most"},
    {USER_CHAINS, 0, "user-callchains", NULL, "chains without the kernel's frames"},
    {REGS, 0, "regs", "WHICH", "registers: user[:NAMES] of the program, intr[:NAMES] at the sample"},
    {'d', 'd', "data", NULL, "data addresses, with what memory answered"},
    {PHYS_DATA, 0, "phys-data", NULL, "... and their physical addresses"},
    {'W', 'W', "weight", NULL, "how long the sampled access took"},
    {'b', 'b', "branch-any", NULL, "the last branches, of any kind"},
    {'j', 'j', "branch-filter", "LIST", "the last branches of these kinds: any_call,u"},
    {OFF_CPU, 0, "off-cpu", NULL, "when threads stop and go on, with the stacks where they stopped"},
    {'D', 'D', "delay", "MS", "begin so much later; -1: when --control says so"},
    {DURATION, 0, "duration", "SECONDS", "end after so long; the command gets SIGTERM, 10 s later SIGKILL"},
    {CONTROL_AT, 0, "control", "WHERE",
     "obey enable, disable, ping, snapshot, stop: fifo:CTL[,ACK], fd:CTL[,ACK]"},
    {'k', 'k', "clockid", "CLOCK", "time stamps by monotonic, monotonic_raw, realtime, boottime, tai"},
    {'m', 'm', "mmap-pages", "SIZE", "of each CPU's ring: pages, or 512K, 4M; default 512K"},
    {OVERWRITE, 0, "overwrite", NULL, "keep the latest only; SIGUSR2 and the end write it out"},
    {SWITCH_OUTPUT, 0, "switch-output", "WHEN", "go on in a new file: signal (SIGUSR2), 100M, 30s"},
    {'o', 'o', "output", "FILE",
     "write there; default perf.data; what was there becomes FILE.old; - is stdout"},
    {'z', 'z', "compress", NULL, "pack the records with zstd"},
    {NO_NAMES, 0, "no-names", NULL, "store no names, lines and inlined functions of what was hit"},
    {HTML, 0, "html", "OUT", "write a page for a browser as well: a flame graph and more; with -g"},
    {OPEN, 0, "open", NULL, "... and show it"},
    {PROGRESS, 0, "progress", NULL, "show how it goes, also where the command has the terminal"},
    {'q', 'q', "quiet", NULL, "no progress, no closing line"},
    {0},
};

static int take_event(const struct options *o, struct record_options *r)
{
    r->last_event = r->events ? strlen(r->events) + 1 : 0;
    return text_join(&r->events, o->value) < 0 ? options_wrong(o, "out of memory") : 0;
}

static int take_filter(const struct options *o, struct record_options *r)
{
    struct record_filter *longer;

    if (!r->events)
        return options_wrong(o, "--filter stands after the -e that it is for");
    longer = realloc(r->filters, (r->n_filters + 1) * sizeof *longer);
    if (!longer)
        return options_wrong(o, "out of memory");
    r->filters = longer;
    r->filters[r->n_filters++] = (struct record_filter){o->value, r->last_event, strlen(r->events)};
    return 0;
}

static int take_frequency(const struct options *o, struct record_options *r)
{
    r->frequency_max = strcmp(o->value, "max") == 0;
    return r->frequency_max ? 0 : options_number(o, "-F", 1, 1000000, &r->frequency);
}

/* What is taken with each sample. */
static int take_what(const struct options *o, int id, struct record_options *r)
{
    char why[160];

    switch (id) {
    case 'g':
        return callgraph_parse(NULL, &r->callgraph, NULL, 0);
    case CALL_GRAPH:
        return callgraph_parse(o->value, &r->callgraph, why, sizeof why) < 0 ? options_wrong(o, "%s", why)
                                                                             : 0;
    case KEEP_STACKS:
        r->callgraph.keep = true;
        return 0;
    case STACK_SIZE:
        return options_number(o, "--stack-size", 8, 65528, &r->stack_bytes);
    case MAX_STACK:
        return options_number(o, "--max-stack", 1, 65535, &r->max_stack);
    case USER_CHAINS:
        r->exclude |= RK_EXCLUDE_CHAIN_KERNEL;
        return 0;
    case REGS:
        return record_take_registers(o, r);
    case 'd':
        r->sample |= RK_SAMPLE_ADDR | RK_SAMPLE_DATA_SRC;
        r->records |= RK_RECORDS_DATA_MAPS;
        return 0;
    case PHYS_DATA:
        r->sample |= RK_SAMPLE_ADDR | RK_SAMPLE_PHYS_ADDR;
        return 0;
    case 'W':
        r->sample |= RK_SAMPLE_WEIGHT;
        return 0;
    case 'b':
        return record_take_branches(&(struct options){.value = "any"}, r);
    case 'j':
        return record_take_branches(o, r);
    case OFF_CPU:
        r->off_cpu = true;
        return 0;
    case ALL_CGROUPS:
        r->all_cgroups = true;
        return 0;
    default:
        return 0;
    }
}

static int take_option(const struct options *o, int id, struct record_options *r)
{
    switch (id) {
    case 'e':
        return take_event(o, r);
    case FILTER:
        return take_filter(o, r);
    case 'p':
        r->processes = o->value;
        return 0;
    case 't':
        r->threads = o->value;
        return 0;
    case 'a':
        r->all = true;
        return 0;
    case 'C':
        r->cpus = o->value;
        return 0;
    case 'G':
        r->cgroups = o->value;
        return 0;
    case 'i':
    case PER_THREAD:
        r->no_inherit = true;
        return 0;
    case 'F':
        return take_frequency(o, r);
    case 'c':
        return options_number(o, "-c", 1, INT64_MAX, &r->period);
    case 'D':
        return record_take_delay(o, &r->delay_ms);
    case DURATION:
        return record_take_seconds(o, "--duration", &r->duration_ms);
    case CONTROL_AT:
        r->control = o->value;
        return 0;
    case 'k':
        return record_take_clock(o, r);
    case 'm':
        return record_take_ring(o, r);
    case OVERWRITE:
        r->overwrite = true;
        return 0;
    case SWITCH_OUTPUT:
        return record_take_switch(o, r);
    case 'o':
        r->path = o->value;
        return 0;
    case 'z':
        r->compression = 1;
        return 0;
    case HTML:
        r->page.path = o->value;
        return 0;
    case OPEN:
        r->page.show = true;
        return 0;
    case PROGRESS:
        r->progress = true;
        return 0;
    case NO_NAMES:
        r->no_names = true;
        return 0;
    case 'q':
        r->quiet = true;
        return 0;
    default:
        return take_what(o, id, r);
    }
}

/* What does not go together: 0, or STATUS_USAGE with the message printed. */
static int check_options(const struct options *o, const struct record_options *r)
{
    bool cpus = r->all || r->cpus || r->cgroups, pipe = strcmp(r->path, "-") == 0;

    if (!!r->processes + !!r->threads + cpus > 1 || (r->all && r->cgroups))
        return options_wrong(o, "one of -p, -t, -a, -C and --cgroup; only --cgroup and -C go together");
    if (r->all && r->cpus)
        return options_wrong(o, "-a is all CPUs, -C some: one of them");
    if (!r->command && !cpus && !r->processes && !r->threads)
        return options_wrong(o, "no command to run");
    if (r->period && (r->frequency || r->frequency_max))
        return options_wrong(o, "-F and -c exclude each other");
    if (r->stack_bytes && r->callgraph.mode < CALLGRAPH_DWARF)
        return options_wrong(o, "--stack-size goes with --call-graph dwarf or auto");
    if (r->stack_bytes % 8)
        return options_wrong(o, "--stack-size: a multiple of 8");
    if (r->callgraph.keep && r->callgraph.mode < CALLGRAPH_DWARF)
        return options_wrong(o, "--keep-stacks goes with --call-graph dwarf or auto");
    if ((r->exclude & RK_EXCLUDE_CHAIN_KERNEL) && r->callgraph.mode == CALLGRAPH_NONE && !r->off_cpu)
        return options_wrong(o, "--user-callchains goes with -g");
    if (r->delay_ms < 0 && !r->control)
        return options_wrong(o, "-D -1 waits for a word that only --control can bring");
    if (pipe && (r->switches || r->overwrite))
        return options_wrong(o, "a pipe takes one recording: no --overwrite or --switch-output with -o -");
    if (page_mistake(&r->page))
        return options_wrong(o, "%s", page_mistake(&r->page));
    if (r->page.path && (pipe || r->switches || r->overwrite))
        return options_wrong(o, "--html is of one file: no -o -, --overwrite or --switch-output with it");
    if (pipe && isatty(STDOUT_FILENO))
        return options_wrong(o, "-o - writes a recording, and standard output is a terminal");
    return 0;
}

static int record(const struct record_options *r)
{
    struct recorded recorded = {0};
    int status = record_open(r, &recorded);

    if (status == 0)
        status = record_run(r, &recorded);
    bool complete = recorded.complete;
    record_close(&recorded);
    if (r->page.path && complete) {
        handle_view struct view view;
        view_begin(&view);
        int page = page_of_file("record", r->path, &view, &r->page);
        status = status ? status : page; /* the command's own comes first */
    }
    return status;
}

int verb_record(int argc, char **argv)
{
    struct options o = {
        .verb = "record",
        .usage = "[options] [COMMAND [ARGUMENT...]]",
        .about =
            "Runs COMMAND (found through PATH, no shell) and samples it and its children, or with -p, -t,\n"
            "-a, -C, --cgroup what they name, into a perf.data file that reckon report and perf read.\n"
            "The exit status is the command's.",
        .table = table,
    };
    struct record_options r = {.path = "perf.data"};
    int id = 0, status = 0;

    options_begin(&o, argc, argv);
    while (status == 0 && (id = options_next(&o)) > 0)
        status = take_option(&o, id, &r);
    if (id < 0 || status != 0) {
        status = id < 0 ? options_status(id) : STATUS_USAGE;
    } else {
        r.command = o.rest_n ? o.rest : NULL;
        status = check_options(&o, &r);
        if (!r.period && !r.frequency && !r.frequency_max) {
            r.frequency = DEFAULT_FREQUENCY;
            r.each = true;
        }
        if (r.page.path &&
            r.callgraph.mode == CALLGRAPH_NONE) /* a flame graph of single functions tells little */
            callgraph_parse(NULL, &r.callgraph, NULL, 0);
        r.page.quiet = r.quiet;
        if (r.stack_bytes)
            r.callgraph.bytes = (uint32_t)r.stack_bytes;
        /* A command that draws on the terminal must not find something between. */
        r.progress =
            !r.quiet && isatty(STDERR_FILENO) && (r.progress || !r.command || !isatty(STDOUT_FILENO));
        if (status == 0) {
            callgraph_settle(&r.callgraph);
            status = record(&r);
        }
    }
    free(r.events);
    free(r.filters);
    return status;
}

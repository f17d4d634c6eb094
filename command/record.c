/*
 * reckon record: run a command and sample it into a perf.data file.
 */
#include "callgraph.h"
#include "command.h"
#include "handles.h"
#include "options.h"
#include "print.h"
#include "run.h"
#include "text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_FREQUENCY 3999 /* not a round number: no lockstep with timers of the command */

struct record {
    const char *events; /* NULL: cycles, else cpu-clock */
    const char *path;
    uint64_t period, frequency;
    bool no_inherit, quiet;
    struct callgraph callgraph;
};

static const struct option table[] = {
    {'e', 'e', "event", "LIST", "events to sample; default cycles, else cpu-clock; may be repeated"},
    {'F', 'F', "freq", "HZ", "samples a second, 3999 by default"},
    {'c', 'c', "count", "N", "a sample every N events, in place of -F"},
    {'g', 'g', NULL, NULL, "take call chains: --call-graph auto"},
    {'G', 0, "call-graph", "MODE", "… fp, dwarf[,BYTES] or auto[,BYTES]: BYTES of stack a sample, 16384"},
    {'K', 0, "keep-stacks", NULL, "store stacks as they are, and not the frames found in them"},
    {'i', 'i', "no-inherit", NULL, "do not sample threads and children born later"},
    {'o', 'o', "output", "FILE", "write there; default perf.data, the previous one becomes FILE.old"},
    {'q', 'q', "quiet", NULL, "no closing line"},
    {0},
};

/* Opens the events on the waiting command. */
static int open_set(const struct record *record, struct rk_host *host, const struct rk_target *target,
                    const char *text, struct rk_set **ret, struct rk_error *e)
{
    handle_events struct rk_events *events = NULL;
    struct rk_set_options options = {
        .size = sizeof options,
        .no_inherit = record->no_inherit,
        .records = RK_RECORDS_PROFILE,
        .period = record->period,
        .frequency = record->frequency,
    };

    callgraph_ask(&record->callgraph, &options);
    int rc = rk_events_parse(host, text, &events, e);

    return rc < 0 ? rc : rk_set_open(host, events, target, &options, ret, e);
}

/* The events asked for; or cycles, and where there is no PMU for them cpu-clock, said in one line. */
static int open_default(const struct record *record, struct rk_host *host, const struct rk_target *target,
                        struct rk_set **ret, struct rk_error *e)
{
    int rc = open_set(record, host, target, "cycles", ret, e);

    if (rc >= 0 || (e->cause != RK_CAUSE_NO_PMU && e->cause != RK_CAUSE_UNSUPPORTED))
        return rc;
    char why[sizeof e->what];
    snprintf(why, sizeof why, "%s", e->what);
    rc = open_set(record, host, target, "cpu-clock", ret, e);
    if (rc >= 0 && !record->quiet)
        fprintf(stderr, "reckon record: sampling cpu-clock, because %s\n", why);
    return rc;
}

static void print_notes(const struct rk_set *set)
{
    for (size_t i = 0; i < rk_set_notes(set); i++) {
        struct rk_note note = {.size = sizeof note};
        if (rk_set_note(set, i, &note) < 0)
            continue;
        fprintf(stderr, "reckon record: %s\n", note.what);
        if (note.remedy[0])
            fprintf(stderr, "  fix: %s\n", note.remedy);
    }
}

static void print_closing(const struct record *record, const struct rk_capture_stats *stats)
{
    char samples[64], bytes[32], lost[32], skipped[32];

    fprintf(stderr, "reckon record: %s in %s (%s), %s lost",
            print_some(stats->loss.kept, "sample", samples, sizeof samples), record->path,
            print_bytes(stats->bytes, bytes, sizeof bytes),
            stats->loss.present & RK_LOSS_LOST ? print_count(stats->loss.lost, lost, sizeof lost)
                                               : "an unknown number");
    if (stats->loss.present & RK_LOSS_SKIPPED)
        fprintf(stderr, ", %s skipped by the kernel",
                print_count(stats->loss.skipped, skipped, sizeof skipped));
    if (stats->loss.throttled)
        fprintf(stderr, ", throttled %s", print_some(stats->loss.throttled, "time", lost, sizeof lost));
    fprintf(stderr, "\n  see it:  reckon report%s%s\n", strcmp(record->path, "perf.data") ? " " : "",
            strcmp(record->path, "perf.data") ? record->path : "");
    callgraph_close(&record->callgraph, stats);
}

/* From the first instruction to the last record. */
static int capture(const struct record *record, struct rk_capture *c, struct rk_target *target)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_capture_stats stats = {.size = sizeof stats};
    struct rk_exit end = {.size = sizeof end};
    int rc = rk_target_start(target, &e), step = 0;

    if (rc < 0) {
        rk_capture_close(c, NULL, NULL);
        return run_failed("record", &e);
    }
    while ((step = rk_capture_step(c, -1)) > 0 || step == -EINTR)
        ;
    rc = rk_capture_close(c, &stats, &e);
    if (rc < 0) /* the file is readable up to its last flush; the command goes on and is waited for */
        print_error("record", &e);
    while ((step = rk_target_wait(target, -1, &end)) == 0 || step == -EINTR)
        ;
    if (rc < 0)
        return STATUS_FAILED;
    if (!record->quiet)
        print_closing(record, &stats);
    return step < 0 ? STATUS_FAILED : end.status;
}

static int run(const struct record *record, char **argv)
{
    handle_host struct rk_host *host = NULL;
    handle_target struct rk_target *target = NULL;
    handle_set struct rk_set *set = NULL;
    struct rk_capture *c = NULL;
    struct rk_error e = {.size = sizeof e};
    struct rk_capture_options options = {
        .size = sizeof options,
        .path = record->path,
        .command = (const char *const *)argv,
        .unwind = callgraph_unwinds(&record->callgraph),
    };
    int rc;

    if (rk_host_open(NULL, &host, &e) < 0)
        return print_error("record", &e);
    if (rk_target_command(argv, NULL, &target, &e) < 0)
        return run_failed("record", &e);
    rc = record->events ? open_set(record, host, target, record->events, &set, &e)
                        : open_default(record, host, target, &set, &e);
    if (rc < 0)
        return e.stage == RK_STAGE_EVENT && record->events ? print_event_error("record", record->events, &e)
                                                           : print_error("record", &e);
    if (rk_capture_open(host, set, target, &options, &c, &e) < 0)
        return print_error("record", &e);
    print_notes(set);
    run_shield(rk_target_pid(target));
    return capture(record, c, target);
}

int verb_record(int argc, char **argv)
{
    struct options o = {
        .verb = "record",
        .usage = "[options] COMMAND [ARGUMENT...]",
        .about = "Runs COMMAND (found through PATH, no shell) and samples it and its children into a\n"
                 "perf.data file that reckon report and perf read. The exit status is the command's.",
        .table = table,
    };
    struct record record = {.path = "perf.data"};
    handle_text char *events = NULL;
    char why[160];
    int id;

    options_begin(&o, argc, argv);
    while ((id = options_next(&o)) > 0)
        switch (id) {
        case 'e':
            if (text_join(&events, o.value) < 0)
                return options_wrong(&o, "out of memory");
            break;
        case 'F':
            if (options_number(&o, "-F", 1, 1000000, &record.frequency) < 0)
                return STATUS_USAGE;
            break;
        case 'c':
            if (options_number(&o, "-c", 1, INT64_MAX, &record.period) < 0)
                return STATUS_USAGE;
            break;
        case 'g':
            callgraph_parse(NULL, &record.callgraph, NULL, 0);
            break;
        case 'G':
            if (callgraph_parse(o.value, &record.callgraph, why, sizeof why) < 0)
                return options_wrong(&o, "%s", why);
            break;
        case 'K':
            record.callgraph.keep = true;
            break;
        case 'i':
            record.no_inherit = true;
            break;
        case 'o':
            record.path = o.value;
            break;
        case 'q':
            record.quiet = true;
            break;
        }
    if (id < 0)
        return options_status(id);
    if (o.rest_n == 0)
        return options_wrong(&o, "no command to run");
    if (strcmp(record.path, "-") == 0)
        return options_wrong(&o,
                             "a recording can't be written to a pipe; name a file (for one called -: ./-)");
    if (record.period && record.frequency)
        return options_wrong(&o, "-F and -c exclude each other");
    if (!record.period && !record.frequency)
        record.frequency = DEFAULT_FREQUENCY;
    record.events = events;
    callgraph_settle(&record.callgraph, record.quiet);
    return run(&record, o.rest);
}

/*
 * From options to a set and its file. What could not be had is said: each step down that the library took, smaller
 * rings, times without stacks.
 */
#include "record.h"

#include "command.h"
#include "print.h"
#include "privilege.h"
#include "run.h"
#include "text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OFF_CPU_EVENT "context-switches/period=1,name=off-cpu/"
#define SWITCH_RING (128 << 10) /* bytes: half of what wakes us up otherwise */
#define WAKEUP_MIN 4096
#define QUEUE_BYTES (64u << 20) /* between the reader of rings and the writer: four rings of stacks */

static int no_memory(struct rk_error *e)
{
    e->code = -ENOMEM;
    e->cause = RK_CAUSE_MEMORY;
    snprintf(e->what, sizeof e->what, "out of memory");
    return -ENOMEM;
}

/* ---- who ---- */

/* The words of a list, in place; NULL: no memory. */
static char **split(char *text, size_t *ret_n)
{
    size_t n = 1;

    for (const char *c = text; *c; c++)
        n += *c == ',';
    char **words = calloc(n, sizeof *words);
    for (*ret_n = 0; words && *ret_n < n; ++*ret_n)
        words[*ret_n] = strsep(&text, ",");
    return words;
}

static int numbered(char **words, size_t n, bool threads, struct rk_target **ret, struct rk_error *e)
{
    int32_t *ids = calloc(n, sizeof *ids);
    int rc = ids ? 0 : no_memory(e);

    for (size_t i = 0; i < n && rc == 0; i++) {
        char *end;
        long id = strtol(words[i], &end, 10);
        if (end == words[i] || *end || id <= 0 || id > INT32_MAX) {
            rc = e->code = -EINVAL;
            e->cause = RK_CAUSE_ARGUMENT;
            snprintf(e->what, sizeof e->what, "'%.60s' is not the number of a %s", words[i],
                     threads ? "thread" : "process");
            snprintf(e->remedy, sizeof e->remedy, "ps -eLo pid,tid,comm lists what runs");
        }
        ids[i] = (int32_t)id;
    }
    if (rc == 0)
        rc = threads ? rk_target_threads(ids, n, ret, e) : rk_target_processes(ids, n, ret, e);
    free(ids);
    return rc;
}

/* A cgroup that is named twice is sampled once. How many are left. */
static size_t each_once(char **words, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < kept && strcmp(words[k], words[i]) != 0)
            k++;
        if (k == kept)
            words[kept++] = words[i];
    }
    return kept;
}

static int listed(const struct record_options *o, struct rk_host *host, const char *list,
                  struct rk_target **ret, struct rk_error *e)
{
    handle_text char *text = strdup(list);
    size_t n = 0;
    char **words = text ? split(text, &n) : NULL;
    int rc = !words ? no_memory(e)
             : o->cgroups
                 ? rk_target_cgroups(host, (const char *const *)words, each_once(words, n), o->cpus, ret, e)
                 : numbered(words, n, o->threads != NULL, ret, e);

    free(words);
    return rc;
}

/* A command that is sampled later than from its first instruction is a process that begins disabled. */
static int find_target(const struct record_options *o, struct recorded *r, struct rk_error *e)
{
    /* What the command prints must not get between the records. */
    struct rk_command_options io = {
        .size = sizeof io, .flags = RK_COMMAND_STD_FDS, .in = -1, .out = STDERR_FILENO, .err = -1};
    const char *list = o->processes ? o->processes : o->threads ? o->threads : o->cgroups;
    int rc = 0;

    if (o->command)
        rc = rk_target_command(o->command, strcmp(o->path, "-") == 0 ? &io : NULL, &r->command, e);
    if (rc < 0)
        return rc;
    if (list)
        return listed(o, r->host, list, &r->target, e);
    if (o->all || o->cpus)
        return rk_target_cpus(r->host, o->cpus, &r->target, e);
    return o->delay_ms ? rk_target_process(rk_target_pid(r->command), &r->target, e) : 0;
}

/* ---- what ---- */

/* Context switches happen in the kernel: their samples, with stacks, are for who may look there. */
static bool sees_switches(struct rk_host *host)
{
    int64_t level;

    return rk_host_fact(host, RK_FACT_CAP_PERFMON) == 1 ||
           (rk_host_limit(host, RK_LIMIT_PARANOID, &level) == 0 && level < 2);
}

static void fill_options(const struct record_options *o, struct rk_host *host, struct rk_set_options *ret)
{
    int64_t rate = 0;

    if (o->frequency_max && rk_host_limit(host, RK_LIMIT_SAMPLE_RATE, &rate) < 0)
        rate = 100000;
    *ret = (struct rk_set_options){
        .size = sizeof *ret,
        .flags = (o->no_inherit ? RK_SET_NO_INHERIT : 0) | (o->overwrite ? RK_SET_OVERWRITE : 0) |
                 (o->clock_set ? RK_SET_CLOCK : 0) | (o->each ? RK_SET_EACH : 0),
        .records = RK_RECORDS_PROFILE | o->records,
        .period = o->period,
        .frequency = o->frequency_max ? (uint64_t)rate : o->frequency,
        .sample = o->sample,
        .regs_intr = o->regs_intr,
        .max_stack = (uint32_t)o->max_stack,
        .branches = o->branches,
        .ring_bytes = (uint32_t)o->ring_bytes,
        .clock = o->clock,
    };
    /* A file is as large as asked for only if what is in the rings is looked at that often. */
    if (o->switch_bytes && o->switch_bytes / 4 < SWITCH_RING)
        ret->wakeup_bytes = o->switch_bytes / 4 < WAKEUP_MIN ? WAKEUP_MIN : (uint32_t)(o->switch_bytes / 4);
    if (ret->ring_bytes && ret->wakeup_bytes > ret->ring_bytes)
        ret->wakeup_bytes = ret->ring_bytes;
    if (rk_host_feature(host, RK_FEATURE_BUILD_ID) == 1)
        ret->records |= RK_RECORDS_BUILD_IDS;
    if (rk_host_feature(host, RK_FEATURE_KSYMBOL) == 1 && rk_host_feature(host, RK_FEATURE_BPF_EVENT) == 1)
        ret->records |= RK_RECORDS_CODE; /* a BPF program may be gone when its name is looked for */
    if (o->all_cgroups || (o->cgroups && rk_host_feature(host, RK_FEATURE_CGROUP) == 1 &&
                           rk_host_feature(host, RK_FEATURE_SAMPLE_CGROUP) == 1)) {
        ret->records |= RK_RECORDS_CGROUPS;
        ret->sample |= RK_SAMPLE_CGROUP;
    }
    if (o->off_cpu) {
        ret->records |= RK_RECORDS_SWITCHES;
        ret->sample |= sees_switches(host) ? RK_SAMPLE_CALLCHAIN : 0;
    }
    callgraph_ask(&o->callgraph, ret);
    ret->exclude |= o->exclude;
    ret->regs_user |= o->regs_user;
}

/* The filters, each to the events that the -e before it has brought. */
static int apply_filters(const struct record_options *o, struct rk_host *host, struct rk_events *events,
                         struct rk_error *e)
{
    int rc = 0;

    for (size_t i = 0; o->events && i < o->n_filters && rc >= 0; i++) {
        const struct record_filter *filter = &o->filters[i];
        struct rk_events *before = NULL;
        size_t range[2] = {0, 0};
        for (int k = 0; k < 2 && rc >= 0; k++) {
            handle_text char *text = strndup(o->events, k ? filter->to : filter->from ? filter->from - 1 : 0);
            if (!text)
                return no_memory(e);
            if (!*text)
                continue;
            rc = rk_events_parse(host, text, &before, e);
            range[k] = rc < 0 ? 0 : rk_events_count(before);
            before = rk_events_free(before);
        }
        for (size_t k = range[0]; k < range[1] && rc >= 0; k++)
            rc = rk_events_filter(host, events, k, filter->text, e);
    }
    return rc;
}

static int open_set(const struct record_options *o, struct recorded *r, const char *text, struct rk_error *e)
{
    struct rk_set_options options;
    struct rk_events *events = NULL;
    handle_text char *all = NULL;
    int rc;

    fill_options(o, r->host, &options);
    if (text_join(&all, text) < 0 ||
        (o->off_cpu && sees_switches(r->host) && text_join(&all, OFF_CPU_EVENT) < 0))
        return no_memory(e);
    rc = rk_events_parse(r->host, all, &events, e);
    if (rc >= 0)
        rc = apply_filters(o, r->host, events, e);
    if (rc >= 0)
        rc = rk_set_open(r->host, events, r->target ? r->target : r->command, &options, &r->set, e);
    rk_events_free(events);
    return rc;
}

/* cycles, and where there is no PMU for them cpu-clock, said in one line. */
static int open_default(const struct record_options *o, struct recorded *r, struct rk_error *e)
{
    int rc = open_set(o, r, "cycles", e);

    if (rc >= 0 || (e->cause != RK_CAUSE_NO_PMU && e->cause != RK_CAUSE_UNSUPPORTED))
        return rc;
    if (o->branches || o->callgraph.mode == CALLGRAPH_LBR) { /* which a clock knows nothing of */
        size_t n = strlen(e->what);
        snprintf(e->what + n, sizeof e->what - n, "; branches are its to record");
        snprintf(e->remedy, sizeof e->remedy,
                 o->branches ? "leave branches out" : "chains by frame pointers or stacks: -g");
        return rc;
    }
    char why[sizeof e->what];
    snprintf(why, sizeof why, "%s", e->what);
    rc = open_set(o, r, "cpu-clock", e);
    if (rc >= 0 && !o->quiet)
        fprintf(stderr, "reckon record: sampling cpu-clock, because %s\n", why);
    return rc;
}

/* ---- all of it ---- */

static void print_notes(const struct record_options *o, const struct recorded *r)
{
    for (size_t i = 0; i < rk_set_note_count(r->set); i++) {
        struct rk_note note = {.size = sizeof note};
        if (rk_set_note_get(r->set, i, &note) < 0)
            continue;
        fprintf(stderr, "reckon record: %s\n", note.what);
        if (note.remedy[0])
            fprintf(stderr, "  fix: %s\n", note.remedy);
    }
    if (o->off_cpu && !sees_switches(r->host))
        fprintf(stderr,
                "reckon record: --off-cpu: times only, no stacks: kernel.perf_event_paranoid is above 1\n"
                "  fix: sudo sysctl -w kernel.perf_event_paranoid=1\n");
}

int record_open(const struct record_options *o, struct recorded *r)
{
    struct rk_error e = {.size = sizeof e};
    const char *none[] = {"reckon", "record", NULL};
    /* Stacks fill a ring in milliseconds; for less, waking up when one is half full costs the least. */
    bool thread = !o->overwrite && o->callgraph.mode >= CALLGRAPH_DWARF,
         unwind = callgraph_unwinds(&o->callgraph), names = !o->no_names && strcmp(o->path, "-") != 0;
    struct rk_capture_options options = {
        .size = sizeof options,
        .flags = (thread ? RK_CAPTURE_THREAD : 0) | (unwind ? RK_CAPTURE_UNWIND : 0) |
                 (names ? RK_CAPTURE_NAMES : 0),
        .path = o->path,
        .command = o->command ? (const char *const *)o->command : none,
        .compression = (uint32_t)o->compression,
        .queue_bytes = thread ? QUEUE_BYTES : 0,
        .unwind_regs = unwind ? o->regs_user : 0,
    };

    if (rk_host_open(NULL, &r->host, &e) < 0)
        return print_error("record", &e);
    if (find_target(o, r, &e) < 0) {
        int status = run_failed("record", &e);
        return e.cause == RK_CAUSE_ARGUMENT || e.cause == RK_CAUSE_SYNTAX ? STATUS_USAGE : status;
    }
    int rc = o->events ? open_set(o, r, o->events, &e) : open_default(o, r, &e);
    if (rc < 0)
        return e.stage == RK_STAGE_EVENT && o->events ? print_event_error("record", o->events, &e)
                                                      : print_error("record", &e);
    privilege_measure();
    if (rk_capture_open(r->host, r->set, r->target ? r->target : r->command, &options, &r->capture, &e) < 0)
        return print_error("record", &e);
    print_notes(o, r);
    return 0;
}

void record_close(struct recorded *r)
{
    rk_capture_finish(r->capture, NULL, NULL);
    rk_capture_free(r->capture);
    rk_set_free(r->set);
    rk_target_free(r->target);
    rk_target_free(r->command);
    rk_host_free(r->host);
    *r = (struct recorded){0};
}

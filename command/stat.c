/*
 * reckon stat: run a command, count from its first instruction to its end, say what was counted and what was not.
 */
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

/* Operands of a ratio in one group, so that they are counted over the same time. */
#define DEFAULT_EVENTS \
    "task-clock,context-switches,cpu-migrations,page-faults,{cycles,instructions},{branches,branch-misses}"

struct stat {
    char *events; /* as given by -e, joined */
    const char *output;
    bool json, no_inherit;
};

static const struct option table[] = {
    {'e', 'e', "event", "LIST", "events to count, comma-separated; {a,b} is a group; may be repeated"},
    {'i', 'i', "no-inherit", NULL, "do not count threads and children born later"},
    {'o', 'o', "output", "FILE", "write there in place of stderr; - is stdout"},
    {'j', 0, "json", NULL, "print one JSON object"},
    {0},
};

/* ---- printing ---- */

static void print_value(FILE *to, const struct rk_event *event, double scaled)
{
    char count[40], text[48];

    if (strcmp(event->unit, "ns") == 0)
        snprintf(text, sizeof text, "%.2f ms", scaled * event->scale / 1e6);
    else if (event->scale != 1.0 || event->unit[0])
        snprintf(text, sizeof text, "%.2f %s", scaled * event->scale, event->unit);
    else
        snprintf(text, sizeof text, "%s", print_count((uint64_t)(scaled + 0.5), count, sizeof count));
    fprintf(to, "  %18s", text);
}

static void print_metric(FILE *to, const struct rk_metric *metric)
{
    char count[40];

    if (metric->value >= 1000)
        fprintf(to, "  %12s %s", print_count((uint64_t)(metric->value + 0.5), count, sizeof count),
                metric->unit);
    else
        fprintf(to, "  %12.*f %s", metric->value > 0 && metric->value < 0.1 ? 4 : 2, metric->value,
                metric->unit);
}

/* One event's line. An event that was not counted says so; why follows below the table. */
static void print_event(FILE *to, const struct rk_set *set, const struct rk_value *values, size_t n,
                        uint64_t wall_ns, size_t i, int name_width, struct colours c)
{
    struct rk_event event = {.size = sizeof event};
    struct rk_metric metric = {.size = sizeof metric};
    char name[200];
    double bound;

    rk_set_event(set, i, &event);
    print_safe(event.name, name, sizeof name);
    if (values[i].running == 0) {
        fprintf(to, "  %s%18s%s  %s\n", c.fair, "not counted", c.plain, name);
        return;
    }
    double scaled = rk_value_scale(&values[i], NULL, &bound);
    bool derived = rk_metric_derive(set, values, n, wall_ns, i, &metric) == 1;
    bool partial = values[i].running < values[i].enabled;
    print_value(to, &event, scaled);
    fprintf(to, "  %-*s", derived || partial ? name_width : 0, name);
    if (derived)
        print_metric(to, &metric);
    if (partial)
        fprintf(to, "  %s± %.0f, counted %.0f %% of the time%s", c.fair, bound,
                100.0 * (double)values[i].running / (double)values[i].enabled, c.plain);
    fputc('\n', to);
}

/* Why the i-th event was not counted: 1 and *ret where it was not. */
static int reason_of(const struct rk_set *set, const struct rk_value *values, size_t i, struct rk_error *ret)
{
    *ret = (struct rk_error){.size = sizeof *ret};
    if (values[i].running != 0)
        return 0;
    if (rk_set_explain(set, SIZE_MAX, i, ret) < 0)
        snprintf(ret->what, sizeof ret->what, "it was enabled and never ran");
    return 1;
}

/* The event's name in front of its own message is said by the list already. */
static const char *message_of(const struct rk_error *e, const char *name)
{
    size_t n = strlen(name);
    return strncmp(e->what, name, n) == 0 && strncmp(e->what + n, ": ", 2) == 0 ? e->what + n + 2 : e->what;
}

/* Each reason once, with all the events that it stopped. */
static void print_reasons(FILE *to, const struct rk_set *set, const struct rk_value *values, size_t n)
{
    struct rk_error mine, other;
    struct rk_event event = {.size = sizeof event};
    char first_name[200], name[200];

    for (size_t i = 0; i < n; i++) {
        bool told = false;
        if (!reason_of(set, values, i, &mine))
            continue;
        rk_set_event(set, i, &event);
        print_safe(event.name, first_name, sizeof first_name);
        for (size_t j = 0; j < n && !told; j++) {
            if (j == i || !reason_of(set, values, j, &other))
                continue;
            rk_set_event(set, j, &event);
            print_safe(event.name, name, sizeof name);
            bool same = strcmp(message_of(&mine, first_name), message_of(&other, name)) == 0;
            if (same && j < i)
                told = true;
        }
        if (told)
            continue;
        fprintf(to, "\n  not counted: %s", first_name);
        for (size_t j = i + 1; j < n; j++) {
            if (!reason_of(set, values, j, &other))
                continue;
            rk_set_event(set, j, &event);
            print_safe(event.name, name, sizeof name);
            if (strcmp(message_of(&mine, first_name), message_of(&other, name)) == 0)
                fprintf(to, ", %s", name);
        }
        fprintf(to, "\n    %s\n", message_of(&mine, first_name));
        if (mine.remedy[0])
            fprintf(to, "    fix: %s\n", mine.remedy);
    }
}

/* Steps down, each sentence once. */
static void print_notes(FILE *to, const struct rk_set *set)
{
    for (size_t i = 0; i < rk_set_notes(set); i++) {
        struct rk_note note = {.size = sizeof note}, earlier = {.size = sizeof earlier};
        bool told = false;
        rk_set_note(set, i, &note);
        for (size_t j = 0; j < i && !told; j++)
            told = rk_set_note(set, j, &earlier) == 0 && strcmp(earlier.what, note.what) == 0;
        if (told || note.absent)
            continue;
        fprintf(to, "\n  note: %s\n", note.what);
        if (note.remedy[0])
            fprintf(to, "    fix: %s\n", note.remedy);
    }
}

static int longest_name(const struct rk_set *set)
{
    struct rk_event event = {.size = sizeof event};
    size_t longest = 0;

    for (size_t i = 0; i < rk_set_events(set); i++) {
        rk_set_event(set, i, &event);
        size_t n = strlen(event.name);
        longest = n > longest && n <= 40 ? n : longest;
    }
    return (int)longest;
}

static void print_table(FILE *to, const struct rk_set *set, const struct rk_value *values, size_t n,
                        const struct rk_exit *end)
{
    char rss[32];
    int width = longest_name(set);
    struct colours c = print_colours(to);

    fputc('\n', to);
    for (size_t i = 0; i < n; i++)
        print_event(to, set, values, n, end->wall_ns, i, width, c);
    fprintf(to, "\n  %.6f s wall   %.6f s user   %.6f s sys   %s peak memory\n", (double)end->wall_ns / 1e9,
            (double)end->user_ns / 1e9, (double)end->system_ns / 1e9,
            print_bytes(end->peak_rss, rss, sizeof rss));
    if (end->signal)
        fprintf(to, "  ended by signal %d (%s)%s\n", end->signal, strsignal(end->signal),
                end->core_dumped ? ", core dumped" : "");
    print_reasons(to, set, values, n);
    print_notes(to, set);
    fputc('\n', to);
}

/* ---- counting ---- */

static int show(const struct stat *stat, struct rk_set *set, const struct rk_exit *end)
{
    size_t n = rk_set_events(set);
    struct rk_value *values = calloc(n ? n : 1, sizeof *values);
    struct rk_error e = {.size = sizeof e};
    FILE *to = stderr;
    int rc;

    if (!values || (rc = rk_set_total(set, values, n)) < 0) {
        fprintf(stderr, "reckon stat: reading the counters failed: %s\n",
                values ? strerror(-rc) : "out of memory");
        free(values);
        return STATUS_FAILED;
    }
    static char buffer[1 << 14]; /* one write for the whole table */
    setvbuf(stderr, buffer, _IOFBF, sizeof buffer);
    if (stat->output && !(to = strcmp(stat->output, "-") == 0 ? stdout : fopen(stat->output, "we"))) {
        fprintf(stderr, "reckon stat: %s: %s\n", stat->output, strerror(errno));
        free(values);
        return STATUS_FAILED;
    }
    rc = 0;
    if (stat->json) {
        struct rk_sink sink = print_sink(to);
        rc = rk_counts_export(set, values, n, end, "json", &sink, &e);
    } else {
        print_table(to, set, values, n, end);
    }
    free(values);
    errno = 0;
    bool lost = fflush(to) != 0 || ferror(to);
    if (to != stderr && to != stdout)
        lost |= fclose(to) != 0;
    if (rc < 0)
        return print_error("stat", &e);
    if (lost) {
        fprintf(stderr, "reckon stat: %s: %s\n", stat->output ? stat->output : "stderr", strerror(errno));
        return STATUS_FAILED;
    }
    return 0;
}

static int count(const struct stat *stat, char **argv)
{
    handle_host struct rk_host *host = NULL;
    handle_events struct rk_events *events = NULL;
    handle_target struct rk_target *target = NULL;
    handle_set struct rk_set *set = NULL;
    struct rk_error e = {.size = sizeof e};
    struct rk_exit end = {.size = sizeof end};
    struct rk_set_options options = {.size = sizeof options, .keep = 1, .no_inherit = stat->no_inherit};
    const char *text = stat->events ? stat->events : DEFAULT_EVENTS;
    int rc;

    if (rk_host_open(NULL, &host, &e) < 0)
        return print_error("stat", &e);
    if (rk_events_parse(host, text, &events, &e) < 0)
        return print_event_error("stat", text, &e);
    if (rk_target_command(argv, NULL, &target, &e) < 0)
        return run_failed("stat", &e);
    if (rk_set_open(host, events, target, &options, &set, &e) < 0)
        return print_error("stat", &e);
    run_shield(rk_target_pid(target));
    if (rk_target_start(target, &e) < 0)
        return run_failed("stat", &e);
    while ((rc = rk_target_wait(target, -1, &end)) == 0 || rc == -EINTR)
        ;
    if (rc < 0) {
        fprintf(stderr, "reckon stat: waiting for %s failed: %s\n", argv[0], strerror(-rc));
        return STATUS_FAILED;
    }
    rc = show(stat, set, &end);
    return rc ? rc : end.status;
}

int verb_stat(int argc, char **argv)
{
    struct options o = {
        .verb = "stat",
        .usage = "[options] COMMAND [ARGUMENT...]",
        .about = "Runs COMMAND (found through PATH, no shell) and counts what it does, from its first\n"
                 "instruction, threads and children included. The exit status is the command's.",
        .table = table,
    };
    struct stat stat = {0};
    handle_text char *events = NULL;
    int id;

    options_begin(&o, argc, argv);
    while ((id = options_next(&o)) > 0)
        switch (id) {
        case 'e':
            if (text_join(&events, o.value) < 0)
                return options_wrong(&o, "out of memory");
            break;
        case 'i':
            stat.no_inherit = true;
            break;
        case 'o':
            stat.output = o.value;
            break;
        case 'j':
            stat.json = true;
            break;
        }
    if (id < 0)
        return options_status(id);
    if (o.rest_n == 0)
        return options_wrong(&o, "no command to run");
    stat.events = events;
    return count(&stat, o.rest);
}

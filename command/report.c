/*
 * reckon report: where the time goes. The first line says what the figures stand on: samples kept, lost, skipped.
 */
#include "command.h"
#include "handles.h"
#include "options.h"
#include "print.h"
#include "recording.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BAR_WIDTH 20

static const struct option table[] = {
    {'i', 'i', "input", "FILE", "the recording; default perf.data (also as a plain word; - is stdin)"},
    {'e', 'e', "event", "NAME", "only this event of a recording that has several"},
    {'n', 0, "lines", "N", "show the N hottest functions; default 30, 0: all"},
    {'s', 's', "sort", "KEY", "a row for each function (default), or for each line"},
    {'I', 0, "no-inline", NULL, "functions that were inlined are no frames of their own"},
    {'C', 0, "csv", NULL, "symbol,module,self,self_percent,total,total_percent of all functions"},
    {'j', 0, "json", NULL, "print JSON"},
    {0},
};

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Stacks that are not whole: their outermost callers are missing. */
static void print_stacks(const struct rk_profile_summary *s)
{
    double all = (double)(s->stacks_whole + s->stacks_cut + s->stacks_broken);

    if (s->stacks_cut)
        printf("%.1f %% of the stacks were cut by the size of their dump\n",
               100.0 * (double)s->stacks_cut / all);
    if (s->stacks_broken)
        printf("%.1f %% of the stacks broke before their end\n", 100.0 * (double)s->stacks_broken / all);
}

static void print_head(const struct rk_profile_summary *s)
{
    struct colours c = print_colours(stdout);
    char threads[40], event[128];

    printf("%s", c.strong);
    recording_print_loss(stdout, &s->loss);
    printf("%s", c.plain);
    if (s->event[0])
        printf("; %s", print_safe(s->event, event, sizeof event));
    if (s->samples)
        printf(", %s, %.3f s", print_some(s->threads, "thread", threads, sizeof threads),
               (double)(s->last_time - s->first_time) / 1e9);
    printf("%s\n", s->loss.throttled ? ", throttled" : "");
    print_stacks(s);
    if (s->cut)
        printf("The recording was cut off; this is what it holds.\n");
}

static void print_functions(const struct rk_profile *profile, const struct rk_aggregate *a, size_t lines)
{
    struct colours c = print_colours(stdout);
    size_t shown = lines && lines < a->n ? lines : a->n;
    struct rk_profile_columns all = {.size = sizeof all};

    rk_profile_columns(profile, &all);
    if (a->n == 0)
        return;
    printf("\n%s   self  total  %-*s  function, module%s%s\n", c.faint, BAR_WIDTH, "",
           a->per == RK_PER_LINE ? ", line" : "", c.plain);
    for (size_t i = 0; i < shown; i++) {
        char bar[BAR_WIDTH + 1] = "", symbol[512], module[256];
        uint32_t frame = a->key[i];
        int width = a->self[0] ? (int)((double)BAR_WIDTH * (double)a->self[i] / (double)a->self[0] + 0.5) : 0;
        memset(bar, '#', (size_t)width);
        printf("%6.2f %6.2f  %s%-*s%s  %s%s%s, %s", percent(a->self[i], a->weight),
               percent(a->total[i], a->weight), c.good, BAR_WIDTH, bar, c.plain, c.strong,
               print_safe(a->name[i], symbol, sizeof symbol), c.plain,
               print_safe(all.text[all.frame_module[frame]], module, sizeof module));
        if (a->per == RK_PER_LINE && all.frame_file[frame])
            printf(", %s%s:%" PRIu32 "%s", c.faint,
                   print_safe(all.text[all.frame_file[frame]], module, sizeof module), all.frame_line[frame],
                   c.plain);
        putchar('\n');
    }
    if (shown < a->n)
        printf("%s               … %zu more: reckon report --lines 0%s\n", c.faint, a->n - shown, c.plain);
}

static void print_unnamed(const struct rk_profile *profile, const struct rk_profile_summary *s)
{
    char count[40], module[256];

    if (!s->unnamed)
        return;
    printf("\n%s could not be named (%.1f %%):\n", print_some(s->unnamed, "sample", count, sizeof count),
           percent(s->unnamed, s->samples));
    for (size_t i = 0; i < rk_profile_unnamed_count(profile) && i < 10; i++) {
        struct rk_unnamed u = {.size = sizeof u};
        rk_profile_unnamed(profile, i, &u);
        printf("  %8s  %s: %s\n", print_count(u.samples, count, sizeof count),
               print_safe(u.module, module, sizeof module), rk_miss_text(u.miss));
    }
}

static int print_text(const struct rk_profile *profile, uint32_t per, size_t lines)
{
    struct rk_profile_summary s = {.size = sizeof s};
    struct rk_error e = {.size = sizeof e};
    struct rk_aggregate *a = NULL;

    if (rk_profile_aggregate(profile, per, &a, &e) < 0)
        return print_error("report", &e);

    rk_profile_summary(profile, &s);
    print_head(&s);
    if (s.samples == 0 && !s.cut)
        printf("No sample was taken: the command may have been too short, or never on a CPU.\n");
    print_functions(profile, a, lines);
    print_unnamed(profile, &s);
    rk_aggregate_free(a);
    return 0;
}

static int flushed(const char *verb)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    fprintf(stderr, "reckon %s: writing failed: %s\n", verb, strerror(errno));
    return STATUS_FAILED;
}

static int print_format(const struct recording *recording, uint32_t per, const char *format)
{
    struct rk_aggregate *a = NULL;
    struct rk_error e = {.size = sizeof e};
    struct rk_sink sink = print_sink(stdout);
    const struct rk_profile *profile = recording_only("report", recording);

    if (!profile)
        return STATUS_USAGE;
    int rc = 0;
    if (per == RK_PER_FUNCTION)
        rc = rk_profile_export(profile, format, &sink, &e);
    else if ((rc = rk_profile_aggregate(profile, per, &a, &e)) == 0)
        rc = rk_aggregate_export(profile, a, format, &sink, &e);
    rk_aggregate_free(a);
    return rc < 0 ? print_error("report", &e) : 0;
}

/* One section for each event. */
static int print_sections(const struct recording *recording, uint32_t per, size_t lines)
{
    int status = 0;

    for (size_t i = 0; i < recording->n && status == 0; i++) {
        if (i)
            putchar('\n');
        status = print_text(recording->profiles[i], per, lines);
    }
    return status;
}

int verb_report(int argc, char **argv)
{
    struct options o = {
        .verb = "report",
        .usage = "[options] [FILE]",
        .about = "Shows the hottest functions of a recording (reckon's or perf's), by their own time (self)\n"
                 "and with what they call (total), and what could not be named, with the reason.",
        .table = table,
    };
    const char *path = NULL, *format = NULL, *event = NULL;
    struct rk_profile_options how = recording_options();
    uint64_t lines = 30;
    uint32_t per = RK_PER_FUNCTION;
    int id;

    options_begin(&o, argc, argv);
    while ((id = options_next(&o)) > 0)
        switch (id) {
        case 'i':
            path = o.value;
            break;
        case 'e':
            event = o.value;
            break;
        case 's':
            if (strcmp(o.value, "line") != 0 && strcmp(o.value, "srcline") != 0 &&
                strcmp(o.value, "function") != 0 && strcmp(o.value, "sym") != 0)
                return options_wrong(&o, "--sort: '%s' is neither function nor line", o.value);
            per = strcmp(o.value, "line") == 0 || strcmp(o.value, "srcline") == 0 ? RK_PER_LINE
                                                                                  : RK_PER_FUNCTION;
            break;
        case 'I':
            how.no_inline = 1;
            break;
        case 'n':
            if (options_number(&o, "--lines", 0, UINT32_MAX, &lines) < 0)
                return STATUS_USAGE;
            break;
        case 'C':
        case 'j':
            if (format && strcmp(format, id == 'C' ? "csv" : "json") != 0)
                return options_wrong(&o, "--csv and --json exclude each other");
            format = id == 'C' ? "csv" : "json";
            break;
        }
    if (id < 0)
        return options_status(id);
    if (o.rest_n > 1 || (o.rest_n == 1 && path))
        return options_wrong(&o, "one recording at a time");
    handle_recording struct recording recording = {0};
    int status = recording_read("report", o.rest_n ? o.rest[0] : path, event, &how, &recording);
    if (status == 0)
        status = format ? print_format(&recording, per, format) : print_sections(&recording, per, lines);
    if (status == 0)
        status = flushed("report");
    return status == 0 && recording.damaged ? STATUS_FAILED : status;
}

/*
 * reckon report: where the time goes. The first line says what the figures stand on: samples kept, lost, skipped.
 */
#include "report.h"

#include "command.h"
#include "handles.h"
#include "print.h"
#include "shape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NO_CHILDREN = SHAPE_OWN, CALLERS, CALLEES, TREE };

static const struct option table[] = {
    {'i', 'i', "input", "FILE", "the recording; default perf.data (also as a plain word; - is stdin)"},
    {SHAPE_BY, 0, "by", "WHAT", "a row for each " VIEW_PER},
    {'s', 's', "sort", "KEY", "greatest self first (default), total or name; or as --by"},
    {NO_CHILDREN, 0, "no-children", NULL, "only what was sampled in it, not what it called"},
    {TREE, 0, "tree", NULL, "the stacks as a tree, from the outermost function on"},
    {CALLERS, 0, "callers", "REGEX", "how such functions are reached, as a tree from the inside out"},
    {CALLEES, 0, "callees", "REGEX", "what such functions do, as a tree that begins with them"},
    SHAPE_OPTIONS("leave out what is below it; in trees 0.5",
                  "show so many rows; default 30, in trees 100; 0: all", "the rows as CSV, all of them",
                  "write a page for a browser: flame graph, callers, time line, table"),
    {0},
};

struct words {
    struct shape shape;
    struct report report;
    struct view view;
    const char *path;
    bool tree; /* --tree itself */
};

static int flushed(const char *verb)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    fprintf(stderr, "reckon %s: writing failed: %s\n", verb, strerror(errno));
    return STATUS_FAILED;
}

/* All of it in a format: only one event can be. */
static int print_format(const struct recording *recording, uint32_t per, const char *format)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_sink sink = print_sink(stdout);
    const struct rk_profile *profile = recording_only("report", recording);
    struct rk_aggregate *a = NULL;
    int rc;

    if (!profile)
        return STATUS_USAGE;
    if (per == RK_PER_FUNCTION)
        rc = rk_profile_export(profile, format, &sink, &e);
    else if ((rc = rk_profile_aggregate(profile, per, &a, &e)) == 0)
        rc = rk_aggregate_export(profile, a, format, &sink, &e);
    rk_aggregate_free(a);
    return rc < 0 ? print_error("report", &e) : 0;
}

/* One section for each event. */
static int print_sections(const struct recording *recording, const struct report *how)
{
    int status = 0;

    for (size_t i = 0; i < recording->n && status == 0; i++) {
        if (i)
            putchar('\n');
        status = report_text(recording->profiles[i], how);
    }
    return status;
}

/* --sort: an order, or, as perf has it, what rows are. */
static int take_sort(const struct options *o, struct words *w)
{
    struct report *r = &w->report;
    int per = view_per(o->value);

    if (strcmp(o->value, "self") == 0 || strcmp(o->value, "overhead") == 0)
        r->order = REPORT_SELF;
    else if (strcmp(o->value, "total") == 0)
        r->order = REPORT_TOTAL;
    else if (strcmp(o->value, "name") == 0)
        r->order = REPORT_NAME;
    else if (per >= 0)
        w->shape.per = (uint32_t)per;
    else
        return options_wrong(o, "--sort: '%s' is none of self, total, name, nor of " VIEW_PER, o->value);
    return 0;
}

static int take(const struct options *o, int id, struct words *w)
{
    struct report *r = &w->report;

    switch (id) {
    case 'i':
        w->path = o->value;
        return 0;
    case 's':
        return take_sort(o, w);
    case NO_CHILDREN:
        r->no_children = true;
        return 0;
    case CALLERS:
        w->view.filter.callers = o->value;
        r->tree = r->reverse = true;
        return 0;
    case CALLEES:
        w->view.filter.callees = o->value;
        r->tree = true;
        return 0;
    case TREE:
        r->tree = w->tree = true;
        return 0;
    default:
        return shape_take(o, &w->shape, &w->view, id);
    }
}

/* What doesn't go together: 0, or an exit status with the message printed. */
static int check(const struct options *o, const struct words *w)
{
    if (o->rest_n > 1 || (o->rest_n == 1 && w->path))
        return options_wrong(o, "one recording at a time");
    if (w->view.filter.callers && w->view.filter.callees)
        return options_wrong(o, "--callers and --callees exclude each other");
    if (w->tree && w->shape.format)
        return options_wrong(o, "--tree is text; stacks as data: reckon export --format folded, or json");
    return shape_check(o, &w->shape);
}

static struct report report_of(const struct words *w)
{
    struct report r = w->report;

    r.per = w->shape.per;
    r.lines = w->shape.lines_set ? w->shape.lines : r.tree ? 100 : 30;
    r.percent_limit = w->shape.limit_set ? w->shape.limit : r.tree ? 0.5 : 0;
    return r;
}

static void words_free(struct words *w)
{
    view_free(&w->view);
}

int verb_report(int argc, char **argv)
{
    struct options o = {
        .verb = "report",
        .mixed = true,
        .usage = "[options] [FILE]",
        .about = "Shows the hottest functions of a recording (reckon's or perf's), or of folded stacks or "
                 "pprof, by their\n"
                 "own time (self) and with what they call (total), the shares of modules and threads, and "
                 "what could\n"
                 "not be named, with the reason.",
        .table = table,
    };
    __attribute__((cleanup(words_free))) struct words w = {.report = {.width = print_width(stdout)}};
    int id, status = 0;

    view_begin(&w.view);
    options_begin(&o, argc, argv);
    while (status == 0 && (id = options_next(&o)) > 0)
        status = take(&o, id, &w);
    if (status)
        return status;
    if (id < 0)
        return options_status(id);
    if ((status = check(&o, &w)))
        return status;
    w.view.again = options_again(&o);
    if (w.shape.page.path)
        return page_of_file("report", o.rest_n ? o.rest[0] : w.path, &w.view, &w.shape.page);
    if (!w.view.time && !w.shape.format) /* no row tells when: those of all times are one */
        w.view.how.times = RK_TIMES_NONE;
    struct report report = report_of(&w);
    handle_recording struct recording recording = {0};
    status = view_read("report", o.rest_n ? o.rest[0] : w.path, &w.view, true, &recording);
    if (status == 0)
        report.again = w.view.again ? w.view.again : "", report.filtered = recording.filtered;
    if (status == 0)
        status = w.shape.format ? print_format(&recording, report.per, w.shape.format)
                                : print_sections(&recording, &report);
    if (status == 0)
        status = flushed("report");
    return status == 0 && recording.damaged ? STATUS_FAILED : status;
}

/*
 * reckon diff: what changed from one recording to another, as shares of the whole by default: two runs are never equally
 * long.
 */
#include "command.h"
#include "handles.h"
#include "print.h"
#include "report.h"
#include "shape.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BAR 10 /* columns to either side */

enum { NORMALISE = SHAPE_OWN };

static const struct option table[] = {
    {SHAPE_BY, 0, "by", "WHAT", "a row for each " VIEW_PER},
    {NORMALISE, 0, "normalise", "HOW",
     "compare shares (weight, default), rates (time), or as they are (none)"},
    SHAPE_OPTIONS("leave out changes below it; default 0.01", "show so many rows; default 30; 0: all",
                  "all rows that differ, as CSV",
                  "write a page for a browser: a flame graph in two colours, and more"),
    {0},
};

struct words {
    struct shape shape;
    struct view view;
    uint32_t normalise;
};

static void words_free(struct words *w)
{
    view_free(&w->view);
}

static double percent(double part, uint64_t whole)
{
    return whole ? 100.0 * part / (double)whole : 0;
}

/* One event of a file. */
static int read_one(const char *path, const struct view *view, struct recording *ret)
{
    int status = view_read("diff", path, view, true, ret);

    return status ? status : recording_only("diff", ret) ? 0 : STATUS_USAGE;
}

static void print_side(const char *what, const char *path, const struct rk_profile *profile)
{
    struct rk_profile_summary s = {.size = sizeof s};
    struct colours c = print_colours(stdout);
    char name[300], event[128];

    rk_profile_summary(profile, &s);
    printf("%-7s %s%s%s: ", what, c.strong, print_safe(path, name, sizeof name), c.plain);
    recording_print_loss(stdout, &s.loss);
    printf("; %s", print_safe(s.event, event, sizeof event));
    if (s.last_time)
        printf(", %.3f s", (double)(s.last_time - s.first_time) / 1e9);
    putchar('\n');
}

/* A bar to the left for less, to the right for more. */
static void print_bar(const struct colours *c, double share)
{
    char less[BAR + 1], more[BAR + 1];
    size_t n = (size_t)(fabs(share) * BAR + 0.5);

    memset(less, ' ', BAR);
    memset(more, ' ', BAR);
    less[BAR] = more[BAR] = '\0';
    if (share < 0)
        memset(less + BAR - n, '-', n);
    else
        memset(more, '+', n);
    printf("  %s%s%s|%s%s%s", c->good, less, c->plain, c->bad, more, c->plain);
}

static void print_rows(const struct rk_profile_diff *d, const struct shape *w)
{
    struct colours c = print_colours(stdout);
    size_t width = print_width(stdout), shown = 0, hidden = 0;
    bool bars = width == SIZE_MAX || width >= 70;
    size_t room = width == SIZE_MAX                       ? SIZE_MAX
                  : width > 36 + (bars ? 2 * BAR + 3 : 0) ? width - 26 - (bars ? 2 * BAR + 3 : 0)
                                                          : 10;
    double most = d->n ? fabs(d->change[0]) : 0;

    for (size_t i = 0; i < d->n; i++) {
        double before = percent((double)d->before[i] * d->scale, d->after_weight);
        double change = percent(d->change[i], d->after_weight);
        char text[1024], name[512];
        if (fabs(change) < w->limit || (w->lines && shown >= w->lines)) {
            hidden++;
            continue;
        }
        if (shown++ == 0)
            printf("\n%s before   after  change%s  %s%s\n", c.faint, bars ? "                       " : "",
                   d->per <= RK_PER_LINE ? "function, module" : "", c.plain);
        printf("%7.2f %7.2f %+7.2f", before, percent((double)d->after[i], d->after_weight), change);
        if (bars)
            print_bar(&c, most > 0 ? d->change[i] / most : 0);
        snprintf(name, sizeof name, "%s%s%s", d->name[i][0] ? d->name[i] : "[unknown]",
                 d->module[i] && d->module[i][0] ? ", " : "", d->module[i] ? d->module[i] : "");
        size_t n = strlen(name);
        if (d->file[i] && n < sizeof name)
            snprintf(name + n, sizeof name - n, ", %s:%" PRIu32, d->file[i], d->line[i]);
        printf("  %s\n", report_name(name, room, text, sizeof text));
    }
    if (d->n == 0)
        printf("\nNo difference.\n");
    else if (shown == 0)
        printf("\nNo difference of %.2f %% or more; %zu smaller ones: --percent-limit 0\n", w->limit, hidden);
    else if (hidden)
        printf("%s        … %zu more: --lines 0 --percent-limit 0%s\n", c.faint, hidden, c.plain);
}

static void print_csv(const struct rk_profile_diff *d)
{
    printf("name,module,before,after,change,before_total,after_total,change_total%s\n",
           d->per == RK_PER_LINE ? ",file,line" : "");
    for (size_t i = 0; i < d->n; i++) {
        print_csv_text(stdout, d->name[i]);
        putchar(',');
        print_csv_text(stdout, d->module[i] ? d->module[i] : "");
        printf(",%" PRIu64 ",%" PRIu64 ",%.4f,%" PRIu64 ",%" PRIu64 ",%.4f", d->before[i], d->after[i],
               d->change[i], d->before_total[i], d->after_total[i], d->change_total[i]);
        if (d->per == RK_PER_LINE) {
            putchar(',');
            print_csv_text(stdout, d->file[i] ? d->file[i] : "");
            printf(",%" PRIu32, d->line[i]);
        }
        putchar('\n');
    }
}

static void print_json(const struct rk_profile_diff *d)
{
    printf("{\"version\":\"" RK_VERSION "\",\"scale\":%.17g,\"before_weight\":%" PRIu64
           ",\"after_weight\":%" PRIu64 ",\"rows\":[",
           d->scale, d->before_weight, d->after_weight);
    for (size_t i = 0; i < d->n; i++) {
        printf("%s{\"name\":", i ? "," : "");
        print_json_text(stdout, d->name[i]);
        printf(",\"module\":");
        print_json_text(stdout, d->module[i]);
        if (d->per == RK_PER_LINE) {
            printf(",\"file\":");
            print_json_text(stdout, d->file[i]);
            printf(",\"line\":%" PRIu32, d->line[i]);
        }
        printf(",\"before\":%" PRIu64 ",\"after\":%" PRIu64 ",\"change\":%.17g,\"before_total\":%" PRIu64
               ",\"after_total\":%" PRIu64 ",\"change_total\":%.17g}",
               d->before[i], d->after[i], d->change[i], d->before_total[i], d->after_total[i],
               d->change_total[i]);
    }
    printf("]}\n");
}

static int take(const struct options *o, int id, struct words *w)
{
    if (id != NORMALISE)
        return shape_take(o, &w->shape, &w->view, id);
    if (strcmp(o->value, "weight") != 0 && strcmp(o->value, "time") != 0 && strcmp(o->value, "none") != 0)
        return options_wrong(o, "--normalise: '%s' is none of weight, time, none", o->value);
    w->normalise = o->value[0] == 'w'   ? RK_NORMALISE_WEIGHT
                   : o->value[0] == 't' ? RK_NORMALISE_TIME
                                        : RK_NORMALISE_NONE;
    return 0;
}

static int show(const struct rk_profile_diff *d, const struct shape *w)
{
    if (!w->format)
        print_rows(d, w);
    else if (strcmp(w->format, "csv") == 0)
        print_csv(d);
    else
        print_json(d);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    fprintf(stderr, "reckon diff: writing failed: %s\n", strerror(errno));
    return STATUS_FAILED;
}

int verb_diff(int argc, char **argv)
{
    struct options o = {
        .verb = "diff",
        .mixed = true,
        .usage = "[options] BEFORE AFTER",
        .about = "Shows what changed from one recording to another, greatest change first: shares of the "
                 "whole, in\n"
                 "percentage points.",
        .table = table,
    };
    __attribute__((cleanup(words_free))) struct words w = {.shape = {.limit = 0.01, .lines = 30}};
    struct rk_error e = {.size = sizeof e};
    struct rk_profile_diff *d = NULL;
    int id, status = 0;

    view_begin(&w.view);
    options_begin(&o, argc, argv);
    while (status == 0 && (id = options_next(&o)) > 0)
        status = take(&o, id, &w);
    if (status)
        return status;
    if (id < 0)
        return options_status(id);
    if (o.rest_n != 2)
        return options_wrong(&o, "two recordings are compared: BEFORE AFTER");
    if ((status = shape_check(&o, &w.shape)))
        return status;
    handle_recording struct recording before = {0}, after = {0};
    if ((status = read_one(o.rest[0], &w.view, &before)) || (status = read_one(o.rest[1], &w.view, &after)))
        return status;
    if (w.shape.page.path) {
        status = page_of_pair("diff", before.profiles[0], after.profiles[0], &w.shape.page);
        return status == 0 && (before.damaged || after.damaged) ? STATUS_FAILED : status;
    }
    if (rk_profile_diff(before.profiles[0], after.profiles[0], w.shape.per, w.normalise, &d, &e) < 0)
        return print_error("diff", &e);
    if (!w.shape.format) {
        print_side("before", o.rest[0], before.profiles[0]);
        print_side("after", o.rest[1], after.profiles[0]);
    }
    status = show(d, &w.shape);
    rk_profile_diff_free(d);
    return status == 0 && (before.damaged || after.damaged) ? STATUS_FAILED : status;
}

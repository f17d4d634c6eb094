/*
 * reckon diff: what changed from one recording to another, as shares of the whole by default: two runs are never equally
 * long.
 */
#include "command.h"
#include "handles.h"
#include "print.h"
#include "report.h"
#include "shape.h"
#include "unnamed.h"

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
    if (s.duration)
        printf(", %.3f s", (double)s.duration / 1e9);
    putchar('\n');
}

/* What they have in common: by how much the whole changed, how they are compared, which rows were found again. */
static void print_whole(const struct rk_profile_diff *d, const struct rk_profile *before,
                        const struct rk_profile *after, uint32_t normalise)
{
    static const char *const how[] = {"shares are compared", "as they are", "rates are compared"};
    struct rk_profile_summary s[2] = {{.size = sizeof s[0]}, {.size = sizeof s[1]}};
    char was[64], is[64], rows[64], event[128];

    rk_profile_summary(before, &s[0]);
    rk_profile_summary(after, &s[1]);
    printf("whole   %s, now %s", print_amount(d->before_weight, s[0].unit, was, sizeof was),
           print_amount(d->after_weight, s[1].unit, is, sizeof is));
    if (strcmp(s[0].event, s[1].event) != 0)
        printf(" of another event (%s)", print_safe(s[1].event, event, sizeof event));
    else if (d->before_weight)
        printf(": %+.1f %%",
               100.0 * ((double)d->after_weight - (double)d->before_weight) / (double)d->before_weight);
    printf("; %s", how[normalise]);
    if (d->scale != 1)
        printf(", before x %.3g", d->scale);
    printf("\nrows    %s in both, ", print_count(d->matched, rows, sizeof rows));
    printf("%s only before, ", print_count(d->before_only, rows, sizeof rows));
    printf("%s only after\n", print_count(d->after_only, rows, sizeof rows));
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

/* What is small next to what samples vary by, which is as much as two standard errors. */
static bool is_chance(const struct rk_profile_diff *d, size_t i)
{
    return fabs(d->change[i]) < 2 * d->noise[i];
}

struct layout {
    struct colours c;
    bool bars;
    size_t room; /* of the name */
    double most; /* the change that has the longest bar */
};

static struct layout layout_of(const struct rk_profile_diff *d)
{
    struct layout l = {.c = print_colours(stdout), .most = d->n ? fabs(d->change[0]) : 0, .room = SIZE_MAX};
    size_t width = print_width(stdout), figures;

    l.bars = width == SIZE_MAX || width >= 90;
    figures = 30 + (l.bars ? 2 * BAR + 3 : 0);
    if (width != SIZE_MAX)
        l.room = width > figures + 10 ? width - figures : 10;
    return l;
}

static void print_row(const struct rk_profile_diff *d, size_t i, const struct layout *l)
{
    double before = percent((double)d->before[i] * d->scale, d->after_weight);
    bool chance = is_chance(d, i);
    char text[1024], place[512], rest[600] = "";
    const char *name = d->name[i][0] ? d->name[i] : "[unknown]";

    if (d->file[i])
        snprintf(place, sizeof place, "%s:%" PRIu32, print_last_part(d->file[i]), d->line[i]);
    else
        snprintf(place, sizeof place, "%s", d->module[i] ? d->module[i] : "");
    printf("%s%8.2f %8.2f %+8.2f%s", chance ? l->c.faint : "", before,
           percent((double)d->after[i], d->after_weight), percent(d->change[i], d->after_weight),
           chance ? " ~" : "  ");
    if (l->bars && !chance)
        print_bar(&l->c, l->most > 0 ? d->change[i] / l->most : 0);
    else if (l->bars)
        printf("  %*s|%*s", BAR, "", BAR, "");
    report_row_name(name, place, d->file[i] != NULL, l->room, text, sizeof text, rest, sizeof rest);
    printf("  %s%s%s\n", text, rest, l->c.plain);
}

static void print_heading(const struct rk_profile_diff *d, const struct layout *l)
{
    printf("\n%sbefore %%  after %%   points%s    %s%s\n", l->c.faint,
           l->bars ? "                       " : "",
           d->per == RK_PER_LINE       ? "function, line"
           : d->per == RK_PER_FUNCTION ? "function, module"
                                       : "",
           l->c.plain);
}

static void print_rows(const struct rk_profile_diff *d, const struct shape *w, const char *again)
{
    struct layout l = layout_of(d);
    size_t shown = 0, hidden = 0, chance = 0;

    for (size_t i = 0; i < d->n; i++) {
        double change = percent(d->change[i], d->after_weight);
        if (fabs(change) < w->limit || (w->lines && shown >= w->lines)) {
            hidden++;
            continue;
        }
        if (shown++ == 0)
            print_heading(d, &l);
        chance += is_chance(d, i);
        print_row(d, i, &l);
    }
    if (d->n == 0)
        printf("\nNo difference.\n");
    else if (shown == 0)
        printf("\nNo difference of %.2f points or more; %zu smaller ones: %s --percent-limit 0\n", w->limit,
               hidden, again);
    else if (hidden)
        printf("%s        %s %zu more: %s --lines 0 --percent-limit 0%s\n", l.c.faint, print_ellipsis(),
               hidden, again, l.c.plain);
    if (chance)
        printf("%s~ no more than chance may do with so few samples (two standard errors)%s\n", l.c.faint,
               l.c.plain);
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
           ",\"after_weight\":%" PRIu64 ",\"matched\":%" PRIu64 ",\"before_only\":%" PRIu64
           ",\"after_only\":%" PRIu64 ",\"rows\":[",
           d->scale, d->before_weight, d->after_weight, d->matched, d->before_only, d->after_only);
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
               ",\"after_total\":%" PRIu64
               ",\"change_total\":%.17g,\"noise\":%.17g,\"before_samples\":%" PRIu64
               ",\"after_samples\":%" PRIu64 "}",
               d->before[i], d->after[i], d->change[i], d->before_total[i], d->after_total[i],
               d->change_total[i], d->noise[i], d->before_samples[i], d->after_samples[i]);
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

static int show(const struct rk_profile_diff *d, const struct shape *w, const char *again)
{
    if (!w->format)
        print_rows(d, w, again ? again : "");
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
                 "percentage points. Functions of two builds are matched by name and module, then by name.",
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
    w.view.again = options_again(&o);
    handle_recording struct recording before = {0}, after = {0};
    if ((status = read_one(o.rest[0], &w.view, &before)) || (status = read_one(o.rest[1], &w.view, &after)))
        return status;
    if (w.shape.page.path) {
        status = page_of_pair("diff", before.profiles[0], after.profiles[0], w.normalise, &w.shape.page);
        return status == 0 && (before.damaged || after.damaged) ? STATUS_FAILED : status;
    }
    if (rk_profile_diff(before.profiles[0], after.profiles[0], w.shape.per, w.normalise, &d, &e) < 0)
        return print_error("diff", &e);
    if (!w.shape.format) {
        print_side("before", o.rest[0], before.profiles[0]);
        print_side("after", o.rest[1], after.profiles[0]);
        print_whole(d, before.profiles[0], after.profiles[0], w.normalise);
    }
    status = show(d, &w.shape, w.view.again);
    rk_profile_diff_free(d);
    if (!w.shape.format) {
        unnamed_print(before.profiles[0], "before: ");
        unnamed_print(after.profiles[0], "after: ");
    }
    return status == 0 && (before.damaged || after.damaged) ? STATUS_FAILED : status;
}

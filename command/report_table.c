#include "report.h"

#include "command.h"
#include "print.h"
#include "recording.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BAR_MOST 20
#define SHARES_MOST 5 /* rows of "by module" and "by thread" */
#define NARROW 60     /* columns below which there are no bars */

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

const char *report_name(const char *name, size_t columns, char *buffer, size_t size)
{
    size_t seen = 0;

    print_safe(name, buffer, size);
    if (columns == SIZE_MAX || print_columns(buffer) <= columns)
        return buffer;
    for (size_t i = 0; buffer[i]; i++) {
        if (((unsigned char)buffer[i] & 0xc0) == 0x80 || ++seen < (columns ? columns : 1))
            continue;
        if (i + sizeof "…" <= size)
            memcpy(buffer + i, "…", sizeof "…");
        break;
    }
    return buffer;
}

/* Stacks that are not whole: their outermost callers are missing. */
static void print_stacks(const struct rk_profile_summary *s)
{
    double all = (double)(s->stacks_whole + s->stacks_cut + s->stacks_broken);

    if (s->stacks_cut)
        printf(
            "%.1f %% of the stacks were cut by the size of their dump: record more of them (--stack-size)\n",
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
        printf(", %s", print_some(s->threads, "thread", threads, sizeof threads));
    if (s->samples && s->last_time > s->first_time)
        printf(", %.3f s", (double)(s->last_time - s->first_time) / 1e9);
    if (s->samples && strcmp(s->unit, "ns") == 0)
        printf("; 100 %% is %.3f s", (double)s->weight / 1e9);
    printf("%s\n", s->loss.throttled ? ", throttled" : "");
    print_stacks(s);
    if (s->cut)
        printf("The recording was cut off; this is what it holds.\n");
}

/* Module, file and line; the file is cut at its beginning where it has no room: its end says more. */
static void line_detail(const char *module, const char *file, uint32_t line, size_t room, char *to,
                        size_t size)
{
    int head = snprintf(to, size, ", %s, ", module), tail = snprintf(NULL, 0, ":%" PRIu32, line);
    size_t n = strlen(file), used = (size_t)head + (size_t)tail, left = room > used ? room - used : 0,
           cut = 0;

    if (head < 0 || (size_t)head >= size)
        return;
    if (n > left && left > 1) {
        cut = n - left + 1;
        while (((unsigned char)file[cut] & 0xc0) == 0x80)
            cut++;
    }
    snprintf(to + head, size - (size_t)head, "%s%s:%" PRIu32, cut ? "…" : "", file + cut, line);
}

/* What a row is called, beside its name: its module, its ids; in as many columns, where that can be. */
static void row_detail(const struct rk_profile_columns *c, const struct rk_aggregate *a, size_t i,
                       size_t room, char *to, size_t size)
{
    uint32_t key = a->key[i];

    *to = '\0';
    switch (a->per) {
    case RK_PER_LINE:
        if (c->frame_file[key]) {
            line_detail(c->text[c->frame_module[key]], c->text[c->frame_file[key]], c->frame_line[key], room,
                        to, size);
            break;
        }
        __attribute__((fallthrough));
    case RK_PER_FUNCTION:
        if (c->frame_module[key])
            snprintf(to, size, ", %s", c->text[c->frame_module[key]]);
        break;
    case RK_PER_THREAD:
        snprintf(to, size, ", %" PRId32 "/%" PRId32, c->thread_pid[key], c->thread_tid[key]);
        break;
    case RK_PER_PROCESS:
        snprintf(to, size, ", %" PRId32, c->thread_pid[key]);
        break;
    default:
        break;
    }
}

static const char *row_name(const struct rk_aggregate *a, size_t i)
{
    static const char *const without[] = {"[unknown]", "[unknown]",   "[unknown]", "[unknown]", "[unknown]",
                                          "[unknown]", "[no cgroup]", "[no CPU]",  "[no name]", "[here]"};

    return a->name[i][0] ? a->name[i] : without[a->per];
}

struct layout {
    struct colours c;
    bool total;
    size_t bar; /* columns of a bar; 0: none */
    size_t name;
};

static struct layout layout_of(const struct report *how, bool total)
{
    struct layout l = {.c = print_colours(stdout), .total = total, .bar = BAR_MOST, .name = SIZE_MAX};
    size_t figures = total ? 13 : 6;

    if (how->width == SIZE_MAX)
        return l;
    l.bar = how->width < NARROW ? 0 : how->width < 100 ? 10 : BAR_MOST;
    size_t used = figures + (l.bar ? l.bar + 4 : 2);
    l.name = how->width > used + 8 ? how->width - used : 8;
    return l;
}

/* A row of the table; `most`: the self that has the longest bar. */
static void print_row(const struct layout *l, const struct rk_profile_columns *c,
                      const struct rk_aggregate *a, size_t row, uint64_t most)
{
    char bar[BAR_MOST + 1] = "", text[1024], detail[1024], more[1024];
    size_t columns = print_columns(report_name(row_name(a, row), l->name, text, sizeof text));
    size_t room = l->name == SIZE_MAX ? SIZE_MAX : l->name > columns ? l->name - columns : 0;

    memset(bar, '#', (size_t)((double)l->bar * (double)a->self[row] / (double)most + 0.5));
    printf("%6.2f", percent(a->self[row], a->weight));
    if (l->total)
        printf(" %6.2f", percent(a->total[row], a->weight));
    if (l->bar)
        printf("  %s%-*s%s", l->c.good, (int)l->bar, bar, l->c.plain);
    printf("  %s%s%s", l->c.strong, text, l->c.plain);
    if (room > 4) {
        row_detail(c, a, row, room, detail, sizeof detail);
        printf("%s%s%s", l->c.faint, report_name(detail, room, more, sizeof more), l->c.plain);
    }
    putchar('\n');
}

static const char *heading(uint32_t per)
{
    static const char *const words[] = {"function, module",
                                        "function, module, line",
                                        "module",
                                        "thread, process/thread",
                                        "process",
                                        "thread name",
                                        "cgroup",
                                        "CPU",
                                        "event",
                                        "source"};
    return words[per];
}

/* The rows' order: as they come (by self), by total, by name. */
static int compare_rows(const void *left, const void *right, void *context)
{
    const struct rk_aggregate *a = *(const struct rk_aggregate **)context;
    size_t i = *(const size_t *)left, k = *(const size_t *)right;

    if (a->total[i] != a->total[k])
        return a->total[i] > a->total[k] ? -1 : 1;
    return (i > k) - (i < k);
}

static int compare_names(const void *left, const void *right, void *context)
{
    const struct rk_aggregate *a = *(const struct rk_aggregate **)context;
    size_t i = *(const size_t *)left, k = *(const size_t *)right;
    int order = a->per == RK_PER_CPU ? (a->key[i] > a->key[k]) - (a->key[i] < a->key[k])
                                     : strcmp(a->name[i], a->name[k]);

    return order ? order : (i > k) - (i < k);
}

struct rows {
    size_t *order; /* those that the limit leaves, as they are shown */
    size_t n, shown, below;
};

/* Which rows, in which order: 0, or -1: out of memory. */
static int choose_rows(const struct rk_aggregate *a, const struct report *how, struct rows *ret)
{
    struct rows r = {.order = calloc(a->n + 1, sizeof *r.order)};

    if (!r.order)
        return -1;
    for (size_t i = 0; i < a->n; i++) {
        if (how->no_children && !a->self[i])
            continue;
        if (percent(how->no_children ? a->self[i] : a->total[i], a->weight) >= how->percent_limit)
            r.order[r.n++] = i;
        else
            r.below++;
    }
    if (how->order != REPORT_SELF)
        qsort_r(r.order, r.n, sizeof *r.order, how->order == REPORT_TOTAL ? compare_rows : compare_names, &a);
    r.shown = how->lines && how->lines < r.n ? (size_t)how->lines : r.n;
    *ret = r;
    return 0;
}

/* What is not shown, and the option that shows it. */
static void print_hidden(const struct layout *l, int indent, size_t by_lines, size_t by_limit,
                         const char *option)
{
    if (by_lines + by_limit == 0)
        return;
    printf("%s%*s… %zu more: %s%s%s%s\n", l->c.faint, l->bar ? indent : 6, "", by_lines + by_limit,
           by_lines ? option : "", by_lines && by_limit ? " " : "", by_limit ? "--percent-limit 0" : "",
           l->c.plain);
}

static int print_rows(const struct rk_profile *profile, const struct rk_aggregate *a,
                      const struct report *how)
{
    struct rk_profile_columns c = {.size = sizeof c};
    struct layout l = layout_of(how, !how->no_children && a->per <= RK_PER_MODULE);
    struct rows rows;

    if (choose_rows(a, how, &rows) < 0) {
        fprintf(stderr, "reckon report: out of memory\n");
        return STATUS_FAILED;
    }
    rk_profile_columns(profile, &c);
    if (a->n)
        printf("\n%s%s%s%-*s  %s%s\n", l.c.faint, l.total ? "  self  total" : " share", l.bar ? "  " : "",
               (int)l.bar, "", heading(a->per), l.c.plain);
    uint64_t most = 1;
    for (size_t i = 0; i < rows.shown; i++)
        most = a->self[rows.order[i]] > most ? a->self[rows.order[i]] : most;
    for (size_t i = 0; i < rows.shown; i++)
        print_row(&l, &c, a, rows.order[i], most);
    print_hidden(&l, 15, rows.n - rows.shown, rows.below, "--lines 0");
    free(rows.order);
    return 0;
}

/* The largest shares by module, or thread; nothing where there is but one. */
static int print_shares(const struct rk_profile *profile, uint32_t per, const char *title,
                        const struct report *how)
{
    struct rk_profile_columns c = {.size = sizeof c};
    struct rk_error e = {.size = sizeof e};
    struct rk_aggregate *a = NULL;
    struct layout l = layout_of(how, false);

    if (rk_profile_aggregate(profile, per, &a, &e) < 0)
        return print_error("report", &e);
    rk_profile_columns(profile, &c);
    size_t n = 0, above = 0;
    for (; n < a->n && a->self[n]; n++)
        above += percent(a->self[n], a->weight) >= how->percent_limit;
    if (n > 1 && above) {
        size_t shown = above < SHARES_MOST ? above : SHARES_MOST;
        printf("\n%s share%s%-*s  %s%s\n", l.c.faint, l.bar ? "  " : "", (int)l.bar, "", title, l.c.plain);
        for (size_t i = 0; i < shown; i++)
            print_row(&l, &c, a, i, a->self[0]);
        print_hidden(&l, 8, above - shown, n - above,
                     per == RK_PER_MODULE ? "--by module --lines 0" : "--by thread --lines 0");
    }
    rk_aggregate_free(a);
    return 0;
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
        rk_profile_unnamed_get(profile, i, &u);
        printf("  %8s  %s: %s\n", print_count(u.samples, count, sizeof count),
               print_safe(u.module, module, sizeof module), rk_miss_text(u.miss));
    }
}

int report_text(const struct rk_profile *profile, const struct report *how)
{
    struct rk_profile_summary s = {.size = sizeof s};
    struct rk_error e = {.size = sizeof e};
    struct rk_aggregate *a = NULL;
    int status;

    rk_profile_summary(profile, &s);
    print_head(&s);
    if (s.samples == 0 && !s.cut)
        printf("No sample was taken: the command may have been too short, or never on a CPU; or no sample is "
               "as asked.\n");
    if (how->tree) {
        status = report_tree(profile, how);
    } else if (rk_profile_aggregate(profile, how->per, &a, &e) < 0) {
        status = print_error("report", &e);
    } else {
        status = print_rows(profile, a, how);
        if (status == 0 && how->per <= RK_PER_LINE)
            status = print_shares(profile, RK_PER_MODULE, "module", how);
        if (status == 0 && how->per <= RK_PER_LINE)
            status = print_shares(profile, RK_PER_THREAD, "thread, process/thread", how);
    }
    rk_aggregate_free(a);
    if (status == 0)
        print_unnamed(profile, &s);
    return status;
}

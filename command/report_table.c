#include "report.h"

#include "command.h"
#include "print.h"
#include "recording.h"
#include "unnamed.h"

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
    char brief[4096];
    if (print_columns(print_safe(rk_symbol_short(name, brief, sizeof brief), buffer, size)) <= columns)
        return buffer;
    const char *dots = print_ellipsis();
    size_t wide = print_columns(dots), kept = columns > wide ? columns - wide : 0;
    for (size_t i = 0; buffer[i]; i++) {
        if (((unsigned char)buffer[i] & 0xc0) == 0x80 || seen++ < kept)
            continue;
        if (i + strlen(dots) < size)
            memcpy(buffer + i, dots, strlen(dots) + 1);
        break;
    }
    return buffer;
}

/* The end of a text, which says more than its beginning, in so many columns. */
static const char *cut_front(const char *text, size_t room)
{
    size_t n = print_columns(text);

    for (; n > room; n--)
        for (text++; ((unsigned char)*text & 0xc0) == 0x80;)
            text++;
    return text;
}

void report_row_name(const char *name, const char *place, bool whole_place, size_t room, char *text,
                     size_t text_size, char *rest, size_t rest_size)
{
    char safe[1024];
    size_t wide = print_columns(print_safe(place, safe, sizeof safe)), name_wide;

    *rest = '\0';
    name_wide = print_columns(report_name(name, SIZE_MAX, text, text_size));
    if (!wide) {
        report_name(name, room, text, text_size);
    } else if (room == SIZE_MAX || name_wide + 2 + wide <= room) {
        snprintf(rest, rest_size, ", %s", safe);
    } else if (whole_place) {
        size_t least = room / 4, left = room > wide + 2 ? room - wide - 2 : 0;
        size_t columns = print_columns(report_name(name, left > least ? left : least, text, text_size));
        snprintf(rest, rest_size, ", %s", cut_front(safe, room > columns + 2 ? room - columns - 2 : 0));
    } else {
        size_t columns = print_columns(report_name(name, room, text, text_size));
        char cut[1024];
        if (room > columns + 4)
            snprintf(rest, rest_size, ", %s", report_name(place, room - columns - 2, cut, sizeof cut));
    }
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
    if (s->samples && s->duration)
        printf(", %.3f s", (double)s->duration / 1e9);
    if (s->samples && strcmp(s->unit, "ns") == 0)
        printf("; 100 %% is %.3f s", (double)s->weight / 1e9);
    printf("%s\n", s->loss.throttled ? ", throttled" : "");
    print_stacks(s);
    if (s->cut)
        printf("The recording was cut off; this is what it holds.\n");
}

/* Module, file and line, or as much of the end of that as fits beside the name. */
static void line_detail(const struct rk_profile_columns *c, uint32_t key, size_t room, char *to, size_t size)
{
    const char *file = c->text[c->frame_file[key]];

    snprintf(to, size, "%s, %s:%" PRIu32, c->text[c->frame_module[key]], file, c->frame_line[key]);
    if (print_columns(to) > room)
        snprintf(to, size, "%s:%" PRIu32, file, c->frame_line[key]);
    if (print_columns(to) > room)
        snprintf(to, size, "%s:%" PRIu32, print_last_part(file), c->frame_line[key]);
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
            line_detail(c, key, room, to, size);
            break;
        }
        __attribute__((fallthrough));
    case RK_PER_FUNCTION:
        if (c->frame_module[key])
            snprintf(to, size, "%s", c->text[c->frame_module[key]]);
        break;
    case RK_PER_THREAD:
        snprintf(to, size, "%" PRId32 "/%" PRId32, c->thread_pid[key], c->thread_tid[key]);
        break;
    case RK_PER_PROCESS:
        snprintf(to, size, "%" PRId32, c->thread_pid[key]);
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
    const char *unit; /* of weights */
    bool total, time, samples;
    size_t bar;     /* columns of a bar; 0: none */
    size_t figures; /* columns before the bar */
    size_t name;
};

static struct layout layout_of(const struct report *how, const struct rk_profile *profile, bool total)
{
    struct rk_profile_summary s = {.size = sizeof s};
    struct layout l = {
        .c = print_colours(stdout), .total = total, .samples = true, .bar = BAR_MOST, .name = SIZE_MAX};

    rk_profile_summary(profile, &s);
    l.unit = s.unit;
    l.time = strcmp(s.unit, "ns") == 0;
    if (how->width < NARROW)
        l.time = l.samples = false;
    if (how->width != SIZE_MAX)
        l.bar = how->width < 100 ? 0 : how->width < 140 ? 10 : BAR_MOST;
    l.figures = 6 + (l.total ? 7u : 0) + (l.time ? 10u : 0) + (l.samples ? 9u : 0);
    size_t used = l.figures + (l.bar ? l.bar + 4 : 2);
    if (how->width != SIZE_MAX)
        l.name = how->width > used + 8 ? how->width - used : 8;
    return l;
}

/* Everything of a row but its name; `most`: the self that has the longest bar. */
static void print_figures(const struct layout *l, const struct rk_aggregate *a, size_t row, uint64_t most)
{
    char bar[BAR_MOST + 1] = "", text[64] = "";

    memset(bar, '#', (size_t)((double)l->bar * (double)a->self[row] / (double)most + 0.5));
    printf("%6.2f", percent(a->self[row], a->weight));
    if (l->total)
        printf(" %6.2f", percent(a->total[row], a->weight));
    if (l->time) {
        if (a->self[row] || !l->total) /* of what only called others there is nothing to say */
            print_amount(a->self[row], l->unit, text, sizeof text);
        printf("%*s%s", (int)(print_columns(text) < 10 ? 10 - print_columns(text) : 0), "", text);
    }
    if (l->samples)
        printf(" %8s", a->self[row] || !l->total ? print_count(a->self_samples[row], text, sizeof text) : "");
    if (l->bar)
        printf("  %s%-*s%s", l->c.good, (int)l->bar, bar, l->c.plain);
}

static void print_row(const struct layout *l, const struct rk_profile_columns *c,
                      const struct rk_aggregate *a, size_t row, uint64_t most)
{
    char text[1024], detail[1024], rest[1100];
    bool line = a->per == RK_PER_LINE && c->frame_file[a->key[row]];

    print_figures(l, a, row, most);
    row_detail(c, a, row, l->name == SIZE_MAX ? SIZE_MAX : l->name * 2 / 3, detail, sizeof detail);
    report_row_name(row_name(a, row), detail, line, l->name, text, sizeof text, rest, sizeof rest);
    printf("  %s%s%s%s%s%s\n", l->c.strong, text, l->c.plain, l->c.faint, rest, l->c.plain);
}

static void print_heading(const struct layout *l, const char *what)
{
    printf("\n%s%s%s%s%s%-*s  %s%s\n", l->c.faint, l->total ? "  self  total" : " share",
           l->time ? l->total ? " self time" : "      time" : "", l->samples ? "  samples" : "",
           l->bar ? "  " : "", (int)l->bar, "", what, l->c.plain);
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

/* What is not shown, and the command that shows it. */
static void print_hidden(const struct layout *l, const struct report *how, size_t by_lines, size_t by_limit,
                         const char *option)
{
    if (by_lines + by_limit == 0)
        return;
    printf("%s%*s%s %zu more: %s%s%s%s%s\n", l->c.faint, 6, "", print_ellipsis(), by_lines + by_limit,
           how->again, by_lines ? " " : "", by_lines ? option : "", by_limit ? " --percent-limit 0" : "",
           l->c.plain);
}

static int print_rows(const struct rk_profile *profile, const struct rk_aggregate *a,
                      const struct report *how)
{
    struct rk_profile_columns c = {.size = sizeof c};
    struct layout l = layout_of(how, profile, !how->no_children && a->per <= RK_PER_MODULE);
    struct rows rows;

    if (choose_rows(a, how, &rows) < 0) {
        fprintf(stderr, "reckon report: out of memory\n");
        return STATUS_FAILED;
    }
    rk_profile_columns(profile, &c);
    if (a->n)
        print_heading(&l, heading(a->per));
    uint64_t most = 1;
    for (size_t i = 0; i < rows.shown; i++)
        most = a->self[rows.order[i]] > most ? a->self[rows.order[i]] : most;
    for (size_t i = 0; i < rows.shown; i++)
        print_row(&l, &c, a, rows.order[i], most);
    print_hidden(&l, how, rows.n - rows.shown, rows.below, "--lines 0");
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
    struct layout l = layout_of(how, profile, false);

    if (rk_profile_aggregate(profile, per, &a, &e) < 0)
        return print_error("report", &e);
    rk_profile_columns(profile, &c);
    size_t n = 0, above = 0;
    for (; n < a->n && a->self[n]; n++)
        above += percent(a->self[n], a->weight) >= how->percent_limit;
    if (n > 1 && above) {
        size_t shown = above < SHARES_MOST ? above : SHARES_MOST;
        print_heading(&l, title);
        for (size_t i = 0; i < shown; i++)
            print_row(&l, &c, a, i, a->self[0]);
        print_hidden(&l, how, above - shown, n - above,
                     per == RK_PER_MODULE ? "--by module --lines 0" : "--by thread --lines 0");
    }
    rk_aggregate_free(a);
    return 0;
}

int report_text(const struct rk_profile *profile, const struct report *how)
{
    struct rk_profile_summary s = {.size = sizeof s};
    struct rk_error e = {.size = sizeof e};
    struct rk_aggregate *a = NULL;
    char count[40];
    int status;

    rk_profile_summary(profile, &s);
    print_head(&s);
    if (s.samples == 0 && how->filtered)
        printf("No sample matches; the recording has %s.\n",
               print_some(how->filtered, "sample", count, sizeof count));
    else if (s.samples == 0 && !s.cut)
        printf("No sample was taken: the command may have been too short, or never on a CPU.\n");
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
        unnamed_print(profile, "");
    return status;
}

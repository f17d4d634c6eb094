/*
 * Figures for people: a block for each command, a row for each quantity, all columns aligned over all blocks; and the
 * same as one table of markdown.
 */
#include "compare.h"
#include "print.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum column { NAME, MEAN, MEDIAN, RANGE, OUTLIERS, RATIO, VERDICT, COLUMNS };
static const char *const heads[COLUMNS] = {"", "mean ± 95 %", "median", "min … max", "outliers", "ratio", ""};

struct row {
    char cell[COLUMNS][120];
};

/* ---- numbers ---- */

/* So many that four digits are seen, and one of the bound. */
static int decimals_for(double value, double bound)
{
    int n = fabs(value) >= 1000 || value == 0 ? 0 : fabs(value) >= 100 ? 1 : fabs(value) >= 10 ? 2 : 3;

    bound *= pow(10, n);
    while (bound > 0 && bound < 1 && n < 6) {
        bound *= 10;
        n++;
    }
    return n;
}

/* A count is whole: only its mean, and the median of two, lie between. */
static const char *plain(const struct quantity *q, struct scale scale, double value, int places, char *text,
                         size_t size)
{
    bool whole = q->kind == KIND_COUNT && scale.by == 1;

    if (whole)
        places = value == floor(value) ? 0 : 1;
    return print_real(value / scale.by, places, text, size);
}

/* "3.46 ms ± 0.12"; no interval from one run. */
static void mean_text(const struct quantity *q, const struct rk_summary *s, char *to, size_t size)
{
    struct scale scale = compare_scale(q, s->mean);
    int places = decimals_for(s->mean / scale.by, s->bound / scale.by);
    const char *unit = q->kind == KIND_OTHER ? q->unit : scale.unit,
               *blank = q->kind == KIND_OTHER ? " " : "";
    char mean[40], bound[40];

    if (isnan(s->bound) && q->kind == KIND_COUNT && scale.by == 1)
        places = s->mean == floor(s->mean) ? 0 : places;
    print_real(s->mean / scale.by, places, mean, sizeof mean);
    if (isnan(s->bound))
        snprintf(to, size, "%s%s%s", mean, blank, unit);
    else
        snprintf(to, size, "%s%s%s ± %s", mean, blank, unit,
                 print_real(s->bound / scale.by, places, bound, sizeof bound));
}

/* "1.346 ± 0.067"; by its ends where ± would reach beyond them; nothing where the reference may be 0. */
static void ratio_text(const struct rk_difference *d, char *to, size_t size)
{
    double up = d->ratio_high - d->ratio, down = d->ratio - d->ratio_low;
    int places = decimals_for(d->ratio, (up + down) / 2);

    if (isfinite(d->ratio) && isfinite(up + down) && fmax(up, down) <= 1.25 * fmin(up, down))
        snprintf(to, size, "%.*f ± %.*f", places, d->ratio, places, (up + down) / 2);
    else if (isfinite(d->ratio) && isfinite(up + down))
        snprintf(to, size, "%.*f (%.*f to %.*f)", places, d->ratio, places, fmax(d->ratio_low, 0), places,
                 d->ratio_high);
    else if (isfinite(d->ratio) && d->ratio != 0)
        snprintf(to, size, "%.3f", d->ratio);
}

static void fill(const struct compare *c, size_t subject, size_t quantity, struct row *row)
{
    const struct quantity *q = &c->quantities[quantity];
    const struct figure *f = &c->subjects[subject].figures[quantity];
    const struct rk_summary *s = &f->summary;
    struct scale scale = compare_scale(q, s->mean);
    int places = decimals_for(s->mean / scale.by, s->bound / scale.by);
    size_t room = sizeof row->cell[0];
    char low[40], high[40];

    *row = (struct row){0};
    print_safe(q->name, row->cell[NAME], room);
    mean_text(q, s, row->cell[MEAN], room);
    snprintf(row->cell[MEDIAN], room, "%s", plain(q, scale, s->median, places, low, sizeof low));
    snprintf(row->cell[RANGE], room, "%s … %s", plain(q, scale, s->min, places, low, sizeof low),
             plain(q, scale, s->max, places, high, sizeof high));
    if (s->outliers)
        snprintf(row->cell[OUTLIERS], room, "%" PRIu64, s->outliers);
    if (subject != c->reference) {
        ratio_text(&f->difference, row->cell[RATIO], room);
        compare_verdict(c, subject, quantity, true, row->cell[VERDICT], room);
    }
    for (int i = MEAN; i < COLUMNS; i++)
        print_in_locale(row->cell[i]);
}

/* A column's head. */
static const char *head_text(int column, char *text, size_t size)
{
    snprintf(text, size, "%s", heads[column]);
    return print_in_locale(text);
}

/* ---- the table ---- */

static void pad(FILE *to, size_t n)
{
    fprintf(to, "%*s", (int)n, "");
}

struct layout {
    FILE *to;
    struct colours colours;
    size_t width; /* of the terminal; SIZE_MAX: no end */
    size_t widths[COLUMNS];
};

/* The columns [from, until) behind the row's name. */
static void print_row(const struct layout *l, const struct row *row, int from, int until)
{
    int last = until - 1;

    while (last >= from && !row->cell[last][0])
        last--;
    size_t name = print_columns(row->cell[NAME]);
    fprintf(l->to, "  %s", row->cell[NAME]);
    for (int i = from; i <= last; i++) {
        size_t more = l->widths[i] - print_columns(row->cell[i]);
        bool right = i == MEDIAN || i == OUTLIERS;
        pad(l->to, i == from ? l->widths[NAME] - name : 0);
        fputs("  ", l->to);
        pad(l->to, right ? more : 0);
        fputs(row->cell[i], l->to);
        pad(l->to, right || i == last ? 0 : more);
    }
    fputc('\n', l->to);
}

/* How many columns from `from` on fit beside the name: at least one. The end of them. */
static int columns_that_fit(const struct layout *l, int from)
{
    size_t at = 2 + l->widths[NAME] + 2 + l->widths[from];
    int until = from + 1;

    while (until < COLUMNS && at + 2 + l->widths[until] <= l->width)
        at += 2 + l->widths[until++];
    return until;
}

static bool is_empty(const struct compare *c, const struct subject *s, const struct row *rows, int from,
                     int until)
{
    for (size_t q = 0; q < c->quantity_n; q++)
        for (int i = from; i < until; i++)
            if (s->figures[q].summary.n && rows[q].cell[i][0])
                return false;
    return true;
}

/* Columns that don't fit beside the others stand below them, their rows named again. */
static void print_block(const struct compare *c, const struct layout *l, size_t subject,
                        const struct row *rows)
{
    const struct subject *s = &c->subjects[subject];
    struct row head = {0};
    char name[400];
    bool reference = subject == c->reference;

    print_safe(s->name, name, sizeof name);
    fprintf(l->to, "\n%s%zu: %s%s", l->colours.strong, subject + 1, name, l->colours.plain);
    if (reference && c->n > 1)
        fputs("  (reference)", l->to);
    if (s->failures)
        fprintf(l->to, "  %s(%zu of %zu runs failed)%s", l->colours.fair, s->failures, s->n,
                l->colours.plain);
    fputc('\n', l->to);
    if (s->n == 0) {
        fputs("  no run was finished\n", l->to);
        return;
    }
    for (int i = 0; i < COLUMNS; i++)
        if (i < RATIO || !reference)
            head_text(i, head.cell[i], sizeof head.cell[i]);
    if (!reference)
        snprintf(head.cell[RATIO], sizeof head.cell[RATIO], "ratio to %zu", c->reference + 1);
    for (int from = MEAN, until; from < COLUMNS; from = until) {
        until = columns_that_fit(l, from);
        if (from > MEAN && is_empty(c, s, rows, from, until))
            continue;
        fputs(l->colours.faint, l->to);
        print_row(l, &head, from, until);
        fputs(l->colours.plain, l->to);
        for (size_t q = 0; q < c->quantity_n; q++)
            if (s->figures[q].summary.n)
                print_row(l, &rows[q], from, until);
    }
}

/* What was not counted, each reason once with all that it stopped. */
static void print_reasons(const struct compare *c, const struct layout *l)
{
    char names[900], name[200];

    for (size_t i = EVENTS; i < c->quantity_n; i++) {
        const struct quantity *q = &c->quantities[i];
        bool told = !q->reason;
        for (size_t j = EVENTS; j < i && !told; j++)
            told = c->quantities[j].reason && strcmp(c->quantities[j].reason, q->reason) == 0;
        if (told)
            continue;
        int n = snprintf(names, sizeof names, "%s", print_safe(q->name, name, sizeof name));
        for (size_t j = i + 1; j < c->quantity_n && (size_t)n < sizeof names; j++)
            if (c->quantities[j].reason && strcmp(c->quantities[j].reason, q->reason) == 0)
                n += snprintf(names + n, sizeof names - (size_t)n, ", %s",
                              print_safe(c->quantities[j].name, name, sizeof name));
        fputc('\n', l->to);
        print_wrapped(l->to, l->width, 4, "  not counted: ", names);
        print_wrapped(l->to, l->width, 4, "    ", q->reason);
        if (q->remedy && q->remedy[0])
            print_wrapped(l->to, l->width, 4, "    fix: ", q->remedy);
    }
    for (size_t i = 0; i < c->note_n; i++) {
        fputc('\n', l->to);
        print_wrapped(l->to, l->width, 4, "  note: ", c->notes[i]);
    }
}

/* Wall time once more, in sentences. */
static void print_summary(const struct compare *c, FILE *to)
{
    char text[120], name[200];

    if (c->n < 2)
        return;
    fputc('\n', to);
    for (size_t i = 0; i < c->n; i++) {
        print_in_locale(compare_verdict(c, i, WALL, true, text, sizeof text));
        if (!text[0])
            continue;
        bool seen = strstr(text, c->quantities[WALL].name) != NULL;
        fprintf(to, "%zu: %s: %s%s", i + 1, print_safe(c->subjects[i].name, name, sizeof name), text,
                seen ? " than " : " in wall time against ");
        fprintf(to, "%zu\n", c->reference + 1);
    }
}

/* Where so few runs can show nothing: how many could. */
static void print_few(const struct compare *c, FILE *to)
{
    size_t few = compare_few(c);

    if (few)
        fprintf(to, "\n  too few runs to tell: with -r %zu or more a difference can be seen\n", few);
}

/* "12 runs of each of 2 commands, in random order (--seed 4711); interrupted" */
static void print_title(const struct compare *c, FILE *to)
{
    size_t least = SIZE_MAX, most = 0;
    char some[40], count[32];

    for (size_t i = 0; i < c->n; i++) {
        least = c->subjects[i].n < least ? c->subjects[i].n : least;
        most = c->subjects[i].n > most ? c->subjects[i].n : most;
    }
    if (least < most)
        fprintf(to, "%s or ", print_count(least, count, sizeof count));
    fputs(print_some(most, "run", some, sizeof some), to);
    if (c->n > 1)
        fprintf(to, " of each of %zu commands, in random order (--seed %" PRIu64 ")", c->n, c->seed);
    fprintf(to, "%s\n", c->stopped ? "; interrupted" : c->failed ? "; one failed" : "");
}

int compare_table(const struct compare *c, FILE *to)
{
    struct row *rows = calloc(c->n * c->quantity_n, sizeof *rows);
    struct layout l = {.to = to, .colours = print_colours(to), .width = print_width(to)};

    if (!rows)
        return -ENOMEM;
    for (int i = 0; i < COLUMNS; i++)
        l.widths[i] = print_columns(head_text(i, rows[0].cell[0], sizeof rows[0].cell[0]));
    l.widths[RATIO] = 10;
    for (size_t i = 0; i < c->n; i++)
        for (size_t q = 0; q < c->quantity_n; q++) {
            struct row *row = &rows[i * c->quantity_n + q];
            if (!c->subjects[i].figures[q].summary.n)
                continue;
            fill(c, i, q, row);
            for (int k = 0; k < COLUMNS; k++) {
                size_t n = print_columns(row->cell[k]);
                l.widths[k] = n > l.widths[k] ? n : l.widths[k];
            }
        }
    print_title(c, to);
    for (size_t i = 0; i < c->n; i++)
        print_block(c, &l, i, rows + i * c->quantity_n);
    print_summary(c, to);
    print_few(c, to);
    print_reasons(c, &l);
    free(rows);
    return 0;
}

/* ---- markdown ---- */

static void print_markdown_text(FILE *to, const char *text)
{
    for (; *text; text++) {
        if (strchr("|\\`*_<>[]", *text))
            fputc('\\', to);
        fputc(*text, to);
    }
}

int compare_markdown(const struct compare *c, FILE *to)
{
    struct row row;
    char name[400];

    fputs("| command | quantity |", to);
    for (int i = MEAN; i < VERDICT; i++)
        fprintf(to, " %s |", head_text(i, name, sizeof name));
    fputs(" verdict |\n|:--|:--|--:|--:|--:|--:|--:|:--|\n", to);
    for (size_t i = 0; i < c->n; i++)
        for (size_t q = 0; q < c->quantity_n; q++) {
            if (!c->subjects[i].figures[q].summary.n)
                continue;
            fill(c, i, q, &row);
            fputs("| ", to);
            print_markdown_text(to, print_safe(c->subjects[i].name, name, sizeof name));
            for (int k = 0; k < COLUMNS; k++) {
                fputs(" | ", to);
                if (k == RATIO && i == c->reference)
                    fputs("1", to);
                else
                    print_markdown_text(to, row.cell[k]);
            }
            fputs(" |\n", to);
        }
    return 0;
}

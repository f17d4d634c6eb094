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

struct scale {
    double by;
    const char *unit;
};

/* The unit that fits a figure; all numbers of its row are given in it. */
static struct scale scale_for(const struct quantity *q, double value)
{
    static const struct scale times[] = {{1e9, " s"}, {1e6, " ms"}, {1e3, " µs"}, {1, " ns"}};
    static const struct scale bytes[] = {{1e9, " GB"}, {1e6, " MB"}, {1e3, " KB"}, {1, " bytes"}};
    static const struct scale counts[] = {{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1, ""}};
    const struct scale *of = q->kind == KIND_TIME ? times : q->kind == KIND_BYTES ? bytes : counts;

    if (q->kind == KIND_OTHER)
        return (struct scale){1, ""};
    for (int i = 0; i < 3; i++)
        if (fabs(value) >= of[i].by)
            return of[i];
    return of[3];
}

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

static void fill(const struct compare *c, size_t subject, size_t quantity, struct row *row)
{
    const struct quantity *q = &c->quantities[quantity];
    const struct figure *f = &c->subjects[subject].figures[quantity];
    const struct rk_summary *s = &f->summary;
    struct scale scale = scale_for(q, s->mean);
    int places = decimals_for(s->mean / scale.by, s->bound / scale.by);
    const char *unit = q->kind == KIND_OTHER ? q->unit : scale.unit,
               *blank = q->kind == KIND_OTHER ? " " : "";
    size_t room = sizeof row->cell[0];

    *row = (struct row){0};
    print_safe(q->name, row->cell[NAME], room);
    if (isnan(s->bound))
        snprintf(row->cell[MEAN], room, "%.*f%s%s", places, s->mean / scale.by, blank, unit);
    else
        snprintf(row->cell[MEAN], room, "%.*f%s%s ± %.*f", places, s->mean / scale.by, blank, unit, places,
                 s->bound / scale.by);
    snprintf(row->cell[MEDIAN], room, "%.*f", places, s->median / scale.by);
    snprintf(row->cell[RANGE], room, "%.*f … %.*f", places, s->min / scale.by, places, s->max / scale.by);
    if (s->outliers)
        snprintf(row->cell[OUTLIERS], room, "%" PRIu64, s->outliers);
    if (subject == c->reference)
        return;
    const struct rk_difference *d = &f->difference;
    double half = (d->ratio_high - d->ratio_low) / 2;
    if (isfinite(d->ratio) && isfinite(half))
        snprintf(row->cell[RATIO], room, "%.*f ± %.*f", decimals_for(d->ratio, half), d->ratio,
                 decimals_for(d->ratio, half), half);
    else if (isfinite(d->ratio) && d->ratio != 0)
        snprintf(row->cell[RATIO], room, "%.3f", d->ratio);
    compare_verdict(c, subject, quantity, true, row->cell[VERDICT], room);
}

/* Columns on a terminal: every byte that does not go on a UTF-8 character. */
static int width(const char *text)
{
    int n = 0;

    for (; *text; text++)
        n += (*text & 0xc0) != 0x80;
    return n;
}

static void pad(FILE *to, int n)
{
    for (; n > 0; n--)
        fputc(' ', to);
}

/* ---- the table ---- */

static void print_row(FILE *to, const struct row *row, const int *widths)
{
    int last = COLUMNS - 1;

    while (last > 0 && !row->cell[last][0])
        last--;
    fputs("  ", to);
    for (int i = 0; i <= last; i++) {
        int more = widths[i] - width(row->cell[i]);
        bool right = i == MEDIAN || i == OUTLIERS;
        if (i > 0)
            fputs("  ", to);
        pad(to, right ? more : 0);
        fputs(row->cell[i], to);
        pad(to, right || i == last ? 0 : more);
    }
    fputc('\n', to);
}

static void print_block(const struct compare *c, FILE *to, size_t subject, const struct row *rows,
                        const int *widths, struct colours colours)
{
    const struct subject *s = &c->subjects[subject];
    struct row head = {0};
    char name[400];
    bool reference = subject == c->reference;

    print_safe(s->name, name, sizeof name);
    fprintf(to, "\n%s%zu: %s%s", colours.strong, subject + 1, name, colours.plain);
    if (reference && c->n > 1)
        fputs("  (reference)", to);
    if (s->failures)
        fprintf(to, "  %s(%zu of %zu runs failed)%s", colours.fair, s->failures, s->n, colours.plain);
    fputc('\n', to);
    if (s->n == 0) {
        fputs("  no run was finished\n", to);
        return;
    }
    for (int i = 0; i < COLUMNS; i++)
        if (i < RATIO || !reference)
            snprintf(head.cell[i], sizeof head.cell[i], "%s", heads[i]);
    if (!reference)
        snprintf(head.cell[RATIO], sizeof head.cell[RATIO], "ratio to %zu", c->reference + 1);
    fputs(colours.faint, to);
    print_row(to, &head, widths);
    fputs(colours.plain, to);
    for (size_t q = 0; q < c->quantity_n; q++)
        if (s->figures[q].summary.n)
            print_row(to, &rows[q], widths);
}

/* What was not counted, each reason once with all that it stopped. */
static void print_reasons(const struct compare *c, FILE *to)
{
    char name[200];

    for (size_t i = EVENTS; i < c->quantity_n; i++) {
        const struct quantity *q = &c->quantities[i];
        bool told = !q->reason;
        for (size_t j = EVENTS; j < i && !told; j++)
            told = c->quantities[j].reason && strcmp(c->quantities[j].reason, q->reason) == 0;
        if (told)
            continue;
        fprintf(to, "\n  not counted: %s", print_safe(q->name, name, sizeof name));
        for (size_t j = i + 1; j < c->quantity_n; j++)
            if (c->quantities[j].reason && strcmp(c->quantities[j].reason, q->reason) == 0)
                fprintf(to, ", %s", print_safe(c->quantities[j].name, name, sizeof name));
        fprintf(to, "\n    %s\n", q->reason);
        if (q->remedy && q->remedy[0])
            fprintf(to, "    fix: %s\n", q->remedy);
    }
    for (size_t i = 0; i < c->note_n; i++)
        fprintf(to, "\n  note: %s\n", c->notes[i]);
}

/* Wall time once more, in sentences. */
static void print_summary(const struct compare *c, FILE *to)
{
    char text[120], name[200];

    if (c->n < 2)
        return;
    fputc('\n', to);
    for (size_t i = 0; i < c->n; i++) {
        compare_verdict(c, i, WALL, true, text, sizeof text);
        if (!text[0])
            continue;
        bool seen = strstr(text, c->quantities[WALL].name) != NULL;
        fprintf(to, "%zu: %s: %s%s", i + 1, print_safe(c->subjects[i].name, name, sizeof name), text,
                seen ? " than " : " in wall time against ");
        fprintf(to, "%zu\n", c->reference + 1);
    }
}

int compare_table(const struct compare *c, FILE *to)
{
    struct row *rows = calloc(c->n * c->quantity_n, sizeof *rows);
    int widths[COLUMNS] = {0};
    struct colours colours = print_colours(to);
    char some[40];

    if (!rows)
        return -ENOMEM;
    for (int i = 0; i < COLUMNS; i++)
        widths[i] = width(heads[i]);
    widths[RATIO] = 10;
    for (size_t i = 0; i < c->n; i++)
        for (size_t q = 0; q < c->quantity_n; q++) {
            struct row *row = &rows[i * c->quantity_n + q];
            if (!c->subjects[i].figures[q].summary.n)
                continue;
            fill(c, i, q, row);
            for (int k = 0; k < COLUMNS; k++)
                widths[k] = width(row->cell[k]) > widths[k] ? width(row->cell[k]) : widths[k];
        }
    fputs(print_some(c->subjects[c->reference].n, "run", some, sizeof some), to);
    if (c->n > 1)
        fprintf(to, " of each of %zu commands, in random order (--seed %" PRIu64 ")", c->n, c->seed);
    fprintf(to, "%s\n", c->stopped ? "; interrupted" : "");
    for (size_t i = 0; i < c->n; i++)
        print_block(c, to, i, rows + i * c->quantity_n, widths, colours);
    print_summary(c, to);
    print_reasons(c, to);
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

    fputs("| command | quantity | mean ± 95 % | median | min … max | outliers | ratio | verdict |\n"
          "|:--|:--|--:|--:|--:|--:|--:|:--|\n",
          to);
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

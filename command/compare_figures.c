/*
 * Runs → figures. All comparisons with the reference, of every quantity, are one family: the chance that any of them
 * sees a difference that is not there is held at 5 %.
 */
#include "compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static void summarise(const struct subject *s, size_t q, double *scratch, struct figure *figure)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        if (isfinite(s->runs[i].values[q]))
            scratch[n++] = s->runs[i].values[q];
    figure->summary = (struct rk_summary){.size = sizeof figure->summary};
    figure->difference = (struct rk_difference){.size = sizeof figure->difference, .p = NAN};
    figure->adjusted = NAN;
    rk_stats_summary(scratch, scratch, n, &figure->summary); /* of nothing: stays empty */
}

static void compare_all(struct compare *c, double *p, double *adjusted)
{
    const struct figure *reference = c->subjects[c->reference].figures;

    for (size_t i = 0; i < c->n; i++)
        for (size_t q = 0; q < c->quantity_n; q++) {
            struct figure *f = &c->subjects[i].figures[q];
            if (i != c->reference)
                rk_stats_difference(&f->summary, &reference[q].summary, &f->difference);
            p[i * c->quantity_n + q] = f->difference.p;
        }
    rk_stats_holm(p, c->n * c->quantity_n, adjusted);
    for (size_t i = 0; i < c->n; i++)
        for (size_t q = 0; q < c->quantity_n; q++)
            c->subjects[i].figures[q].adjusted = adjusted[i * c->quantity_n + q];
}

int compare_figures(struct compare *c)
{
    size_t most = 1;

    for (size_t i = 0; i < c->n; i++)
        most = c->subjects[i].n > most ? c->subjects[i].n : most;
    double *scratch = calloc(most, sizeof *scratch);
    double *p = calloc(2 * c->n * c->quantity_n + 1, sizeof *p);
    int rc = scratch && p ? 0 : -ENOMEM;
    for (size_t i = 0; i < c->n && rc == 0; i++) {
        struct subject *s = &c->subjects[i];
        if (!(s->figures = calloc(c->quantity_n, sizeof *s->figures)))
            rc = -ENOMEM;
        for (size_t q = 0; q < c->quantity_n && rc == 0; q++)
            summarise(s, q, scratch, &s->figures[q]);
    }
    if (rc == 0)
        compare_all(c, p, p + c->n * c->quantity_n);
    free(scratch);
    free(p);
    return rc;
}

struct scale compare_scale(const struct quantity *q, double value)
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

/* Where the reference is nearly 0 there is no ratio: the difference itself, in its unit. */
static void say_difference(const struct quantity *q, const struct rk_difference *d, const char *noun,
                           char *text, size_t size)
{
    double half = (d->difference_high - d->difference_low) / 2;
    struct scale scale = compare_scale(q, d->difference);
    const char *more = d->difference > 0 ? "more" : q->kind == KIND_COUNT ? "fewer" : "less";

    snprintf(text, size, "%.4g ± %.2g%s%s %s%s%s", fabs(d->difference) / scale.by, half / scale.by,
             q->kind == KIND_OTHER ? " " : "", q->kind == KIND_OTHER ? q->unit : scale.unit, more,
             noun[0] ? " " : "", noun);
}

char *compare_verdict(const struct compare *c, size_t subject, size_t quantity, bool noun, char *text,
                      size_t size)
{
    const struct figure *f = &c->subjects[subject].figures[quantity];
    const struct quantity *q = &c->quantities[quantity];
    const struct rk_difference *d = &f->difference;

    text[0] = '\0';
    if (subject != c->reference && f->summary.n && c->subjects[c->reference].figures[quantity].summary.n)
        rk_stats_verdict(d, f->adjusted, noun ? q->name : "", q->kind == KIND_COUNT, text, size);
    else
        return text;
    int outcome = rk_stats_verdict(d, f->adjusted, "", 0, NULL, 0);
    if ((outcome == RK_OUTCOME_LESS || outcome == RK_OUTCOME_MORE) && !isfinite(d->ratio_high - d->ratio_low))
        say_difference(q, d, noun ? q->name : "", text, size);
    return text;
}

/* The least n for which a permutation of 2n values, in so many tests at 5 % together, can be that rare. */
size_t compare_few(const struct compare *c)
{
    size_t tests = 0, n = 1;
    bool few = false;

    for (size_t i = 0; i < c->n; i++)
        for (size_t q = 0; q < c->quantity_n; q++) {
            const struct figure *f = &c->subjects[i].figures[q];
            tests += isnan(f->difference.p) ? 0 : 1;
            few |= i != c->reference &&
                   rk_stats_verdict(&f->difference, f->adjusted, "", 0, NULL, 0) == RK_OUTCOME_TOO_FEW;
        }
    if (!few)
        return 0;
    for (double least = 1; least * (double)tests >= 0.05; n++) /* 2 / C(2n, n) */
        least *= (double)(n + 1) / (double)(2 * (2 * n + 1));
    return n;
}

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

const char *compare_verdict(const struct compare *c, size_t subject, size_t quantity, bool noun, char *text,
                            size_t size)
{
    const struct figure *f = &c->subjects[subject].figures[quantity];
    const struct quantity *q = &c->quantities[quantity];

    text[0] = '\0';
    if (subject != c->reference && f->summary.n && c->subjects[c->reference].figures[quantity].summary.n)
        rk_stats_verdict(&f->difference, f->adjusted, noun ? q->name : "", q->kind == KIND_COUNT, text, size);
    return text;
}

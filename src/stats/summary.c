/*
 * A sample's summary. The mean is taken twice, the second time of what is left over from the first, so that counts
 * of 10¹² that differ in their last digits keep them.
 */
#include "base/error.h"
#include "stats/student.h"

#include <errno.h>
#include <math.h>
#include <reckon/stats.h>
#include <stdlib.h>
#include <string.h>

#define FENCE 1.5    /* Tukey's */
#define TAIL95 0.025 /* beyond each end of a 95 % interval */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double rk_stats_quantile(const double *sorted, size_t n, double q)
{
    if (!sorted || n == 0 || !(q >= 0 && q <= 1))
        return NAN;
    double at = q * (double)(n - 1);
    size_t i = (size_t)at;
    if (i + 1 >= n)
        return sorted[n - 1];
    /* The halves' difference can't overflow. */
    return sorted[i] + 2 * ((at - (double)i) * (sorted[i + 1] / 2 - sorted[i] / 2));
}

static void moments(const double *values, size_t n, struct rk_summary *s)
{
    double mean = 0, rest = 0, squares = 0;

    for (size_t i = 0; i < n; i++) /* a running mean: no sum that could overflow */
        mean += values[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        rest += (values[i] - mean) / (double)n;
    mean += rest;
    s->mean = mean < s->min ? s->min : mean > s->max ? s->max : mean;
    if (n < 2) {
        s->sd = s->bound = NAN;
        return;
    }
    rest = 0;
    for (size_t i = 0; i < n; i++) {
        double d = values[i] - s->mean;
        squares += d * d;
        rest += d;
    }
    squares -= rest * rest / (double)n;
    s->sd = s->min == s->max ? 0 : sqrt(squares > 0 ? squares / (double)(n - 1) : 0);
    s->bound = s->sd / sqrt((double)n) * student_tail_inverse(TAIL95, (double)(n - 1));
}

int rk_stats_summary(const double *values, double *scratch, size_t n, struct rk_summary *ret)
{
    struct rk_summary s = {.n = n};

    if (!values || !scratch || !ret || n == 0)
        return -EINVAL;
    for (size_t i = 0; i < n; i++)
        if (!isfinite(values[i]))
            return -EINVAL;
    if (scratch != values)
        memmove(scratch, values, n * sizeof *values);
    qsort(scratch, n, sizeof *scratch, ascending);
    s.min = scratch[0];
    s.q1 = rk_stats_quantile(scratch, n, 0.25);
    s.median = rk_stats_quantile(scratch, n, 0.5);
    s.q3 = rk_stats_quantile(scratch, n, 0.75);
    s.max = scratch[n - 1];
    moments(scratch, n, &s);
    double reach = FENCE * (s.q3 - s.q1);
    for (size_t i = 0; i < n; i++)
        s.outliers += scratch[i] < s.q1 - reach || scratch[i] > s.q3 + reach;
    return result_give(ret, &s, sizeof s);
}

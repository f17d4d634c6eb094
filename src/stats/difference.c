/*
 * Two summaries compared.
 *
 * With v = s²/n of each mean and t the 97.5 % quantile at Welch's degrees of freedom, the ratios r = b/a that the data
 * allow are those with (b - r a)² ≤ t² (v_b + r² v_a): Fieller. At r = 1 this is Welch's test itself. It is a
 * quadratic in r,
 *
 *     r² (a² - t² v_a) - 2 r a b + (b² - t² v_b) ≤ 0
 *
 * whose solution is an interval only where a² > t² v_a, that is, where a is surely not zero.
 */
#include "base/error.h"
#include "stats/student.h"

#include <errno.h>
#include <math.h>
#include <reckon/stats.h>
#include <stdbool.h>
#include <stdio.h>

#define TAIL95 0.025
#define LEVEL 0.05
#define LOPSIDED \
    1.25 /* an interval whose sides differ by more is told by its ends: ± would reach beyond them */

/* 2 / C(n + m, n), at most 1. */
static double permutation_least(uint64_t n, uint64_t m)
{
    uint64_t few = n < m ? n : m, all = n + m;
    double p = 2;

    for (uint64_t i = 1; i <= few && p > 0; i++)
        p *= (double)i / (double)(all - few + i);
    return p < 1 ? p : 1;
}

static void fieller(double b, double v_b, double a, double v_a, double t, struct rk_difference *d)
{
    double square = a * a - t * t * v_a;

    if (!(square > 0))
        return;
    /* (ab)² - square (b² - t² v_b), without the cancellation of (ab)² */
    double root = t * sqrt(fmax(0, a * a * v_b + b * b * v_a - t * t * v_a * v_b));
    d->ratio_low = (a * b - root) / square;
    d->ratio_high = (a * b + root) / square;
}

static void welch(const struct rk_summary *of, const struct rk_summary *reference, struct rk_difference *d)
{
    double v_b = of->sd * of->sd / (double)of->n, v_a = reference->sd * reference->sd / (double)reference->n;
    double both = v_a + v_b;

    if (both == 0) { /* neither varies: the intervals are points */
        d->difference_low = d->difference_high = d->difference;
        d->ratio_low = d->ratio_high = d->ratio;
        d->df = (double)(of->n + reference->n - 2);
        d->t = d->difference > 0 ? INFINITY : d->difference < 0 ? -INFINITY : 0;
        d->p_welch = d->difference != 0 ? 0 : 1;
        return;
    }
    double share_b = v_b / both, share_a = v_a / both; /* shares: squares of small variances would vanish */
    d->df = 1 / (share_b * share_b / (double)(of->n - 1) + share_a * share_a / (double)(reference->n - 1));
    d->t = d->difference / sqrt(both);
    d->p_welch = 2 * student_tail(fabs(d->t), d->df);
    double t = student_tail_inverse(TAIL95, d->df), half = t * sqrt(both);
    d->difference_low = d->difference - half;
    d->difference_high = d->difference + half;
    fieller(of->mean, v_b, reference->mean, v_a, t, d);
}

int rk_stats_difference(const struct rk_summary *of, const struct rk_summary *reference,
                        struct rk_difference *ret)
{
    if (!of || !reference || !ret || of->size < sizeof *of || reference->size < sizeof *reference || !of->n ||
        !reference->n)
        return -EINVAL;
    double a = reference->mean, b = of->mean;
    struct rk_difference d = {
        .difference = b - a,
        .difference_low = NAN,
        .difference_high = NAN,
        .ratio = a != 0 ? b / a : NAN,
        .ratio_low = NAN,
        .ratio_high = NAN,
        .t = NAN,
        .df = NAN,
        .p_welch = NAN,
        .p = NAN,
    };
    if (of->n >= 2 && reference->n >= 2) {
        welch(of, reference, &d);
        double least = permutation_least(of->n, reference->n);
        d.flags = d.p_welch < least ? RK_DIFFERENCE_FEW : 0;
        d.p = fmax(d.p_welch, least);
    }
    return result_give(ret, &d, sizeof d);
}

int rk_stats_holm(const double *p, size_t n, double *ret)
{
    size_t tests = 0;
    double least = 0;

    if (n && (!p || !ret || p == ret))
        return -EINVAL;
    for (size_t i = 0; i < n; i++) {
        ret[i] = isnan(p[i]) ? NAN : -1; /* -1: still to come */
        tests += isnan(p[i]) ? 0 : 1;
    }
    for (size_t left = tests; left > 0;
         left--) { /* the smallest that is left, n² in all and no room needed */
        size_t at = n;
        for (size_t i = 0; i < n; i++)
            if (ret[i] == -1 && (at == n || p[i] < p[at]))
                at = i;
        double adjusted = p[at] * (double)left;
        least = fmax(least, adjusted < 1 ? adjusted : 1);
        ret[at] = least;
    }
    return 0;
}

/* Decimals for both numbers: at least one digit of the uncertain one is seen, and below 9.5 one behind the point. */
static int decimals(double uncertain)
{
    if (uncertain >= 9.5)
        return 0;
    int n = 1;
    for (uncertain *= 10; uncertain > 0 && uncertain < 0.95 && n < 4; n++)
        uncertain *= 10;
    return n;
}

static void say(const struct rk_difference *d, const char *noun, const char *word, char *text, size_t size)
{
    const char *space = noun[0] ? " " : "";
    double half = (d->ratio_high - d->ratio_low) / 2 * 100, percent = fabs(d->ratio - 1) * 100;

    if (isnan(half)) {
        half = (d->difference_high - d->difference_low) / 2;
        snprintf(text, size, "%.4g ± %.2g %s%s%s", fabs(d->difference), half, word, space, noun);
        return;
    }
    int places = decimals(half);
    double up = d->ratio_high - d->ratio, down = d->ratio - d->ratio_low;
    if (fmax(up, down) <= LOPSIDED * fmin(up, down)) {
        snprintf(text, size, "%.*f %% ± %.*f %% %s%s%s", places, percent, places, half, word, space, noun);
        return;
    }
    double least = (d->ratio > 1 ? d->ratio_low - 1 : 1 - d->ratio_high) * 100,
           most = (d->ratio > 1 ? d->ratio_high - 1 : fmin(1 - d->ratio_low, 1)) * 100;
    snprintf(text, size, "%.*f %% (%.*f to %.*f) %s%s%s", places, percent, places, least, places, most, word,
             space, noun);
}

int rk_stats_verdict(const struct rk_difference *difference, double adjusted, const char *noun,
                     uint32_t countable, char *text, size_t size)
{
    if (!difference || difference->size < sizeof *difference || !noun || countable > 1 || (text && size == 0))
        return -EINVAL;
    bool seen = adjusted < LEVEL;
    int verdict = isnan(adjusted) || isnan(difference->p) ? RK_OUTCOME_UNKNOWN
                  : seen ? difference->difference < 0 ? RK_OUTCOME_LESS : RK_OUTCOME_MORE
                  : difference->flags & RK_DIFFERENCE_FEW ? RK_OUTCOME_TOO_FEW
                                                          : RK_OUTCOME_SAME;
    if (!text)
        return verdict;
    switch (verdict) {
    case RK_OUTCOME_UNKNOWN:
        snprintf(text, size, "one run says nothing");
        break;
    case RK_OUTCOME_SAME:
        snprintf(text, size, "no difference seen");
        break;
    case RK_OUTCOME_TOO_FEW:
        snprintf(text, size, "too few runs to tell");
        break;
    case RK_OUTCOME_LESS:
        say(difference, noun, countable ? "fewer" : "less", text, size);
        break;
    default:
        say(difference, noun, "more", text, size);
    }
    return verdict;
}

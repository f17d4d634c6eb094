/*
 * reckon/stats.h: what repeated measurements say, and whether two of them differ.
 *
 *     struct rk_summary a = {.size = sizeof a}, b = {.size = sizeof b};
 *     struct rk_difference d = {.size = sizeof d};
 *     rk_stats_summary(old, scratch, old_n, &a);
 *     rk_stats_summary(new, scratch, new_n, &b);
 *     rk_stats_difference(&b, &a, &d);                       // b against a, the reference
 *     rk_stats_holm(&d.p, 1, &adjusted);                     // with all other tests made beside it
 *     rk_stats_verdict(&d, adjusted, "instructions", 1, text, sizeof text);
 *     puts(text);                                            // 2.1 % ± 0.3 % fewer instructions
 *
 * Pure arithmetic: no allocation, no state, any thread. Each number is what scipy gives, to 1e-9 and better.
 * NaN is "can't be said": the spread of one value, a ratio to a mean that may be zero.
 */
#ifndef RECKON_STATS_H
#define RECKON_STATS_H

#include <reckon/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rk_summary {
    uint32_t size; /* set by the caller */
    uint32_t reserved;
    uint64_t n;
    uint64_t
        outliers; /* values more than 1.5 (q3 - q1) below q1 or above q3 (Tukey); they stay in all figures */
    double mean;
    double sd;    /* standard deviation, of n - 1; NaN for a single value */
    double bound; /* half the width of the mean's 95 % interval, by Student's t; NaN for a single value */
    double min, q1, median, q3, max; /* quantiles as rk_stats_quantile() */
};

/* Of n ≥ 1 finite values; -EINVAL else. `scratch` is room for n numbers, and may be `values` itself, which are
 * then left sorted. */
RK_API int rk_stats_summary(const double *values, double *scratch, size_t n, struct rk_summary *ret);

/* The q-quantile, 0 ≤ q ≤ 1, of n ≥ 1 ascending values, linear between neighbours (as R's type 7 and numpy). */
RK_API double rk_stats_quantile(const double *sorted, size_t n, double q);

/* Student's t with df > 0 degrees of freedom (infinity: the normal distribution): P(T ≤ t), and its inverse. */
RK_API double rk_stats_t_cdf(double t, double df);
RK_API double rk_stats_t_quantile(double p, double df);

/*
 * Two samples' means compared, by Welch's test: neither the spreads nor the numbers need be equal.
 *
 * The interval of the ratio is Fieller's with Welch's degrees of freedom, so that it holds 1 exactly where the
 * interval of the difference holds 0 and p_welch ≥ 0.05. Where the reference's mean may itself be zero, the ratio's
 * interval is NaN.
 *
 * Of few values Welch's p can be far too small: times come in two modes, counts take few values, and two runs of each
 * may agree by chance. So p is Welch's, but never less than the least that a permutation test of so many values can
 * give, 2 / C(n + m, n): three values on each side show nothing, six may. Where neither sample varies, Welch's p is
 * 0, or 1 for equal means.
 */
struct rk_difference {
    uint32_t size;                                      /* set by the caller */
    uint32_t flags;                                     /* RK_DIFFERENCE_… */
    double difference, difference_low, difference_high; /* mean - reference's mean, and its 95 % interval */
    double ratio, ratio_low, ratio_high;                /* mean / reference's mean, and its 95 % interval */
    double t, df, p_welch;                              /* two-sided */
    double p;
};
#define RK_DIFFERENCE_FEW 0x1u /* p is the permutation test's least, not Welch's */

/* -EINVAL: a summary of nothing. With a single value on either side intervals and p are NaN. */
RK_API int rk_stats_difference(const struct rk_summary *of, const struct rk_summary *reference,
                               struct rk_difference *ret);

/*
 * Holm's step-down: p-values adjusted so that the chance of even one below 0.05 among n tests of things that do not
 * differ is at most 5 %, however the tests hang together. NaN is no test and stays NaN. ret may not be p.
 */
RK_API int rk_stats_holm(const double *p, size_t n, double *ret);

/* What can be said of a difference. */
enum rk_outcome {
    RK_OUTCOME_UNKNOWN, /* nothing: fewer than two values on a side */
    RK_OUTCOME_SAME,    /* no difference seen */
    RK_OUTCOME_TOO_FEW, /* the samples are too small to exclude chance: p is as small as it can be */
    RK_OUTCOME_LESS,
    RK_OUTCOME_MORE,
};

/*
 * The verdict, an enum rk_outcome, by the adjusted p; and in words, unless `text` is NULL:
 *
 *     "2.1 % ± 0.3 % fewer instructions"      countable: fewer; else: "less wall time"
 *     "615 % (402 to 1087) more wall time"    where the interval's sides differ by more than a quarter
 *     "3 ± 1 more page-faults"                where there is no ratio
 *     "no difference seen"
 *
 * `noun` may be "": no noun is said. The text is cut where `size` is short, and always ends.
 */
RK_API int rk_stats_verdict(const struct rk_difference *difference, double adjusted, const char *noun,
                            uint32_t countable, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif

/*
 * reckon/stats.h: summarises repeated measurements and says whether two of them differ.
 *
 *     struct rk_summary a = RK_INIT(a), b = RK_INIT(b);
 *     struct rk_difference d = RK_INIT(d);
 *     double adjusted;
 *     rk_stats_summary(old, scratch, old_n, &a);
 *     rk_stats_summary(new, scratch, new_n, &b);
 *     rk_stats_difference(&b, &a, &d);                       // b against the reference a
 *     rk_stats_holm(&d.p, 1, &adjusted);                     // one call for all tests made together
 *     rk_stats_verdict(&d, adjusted, "instructions", 1, text, sizeof text);
 *     puts(text);                                            // 2.1 % ± 0.3 % fewer instructions
 *
 * These functions are pure arithmetic: they allocate nothing, keep no state and may run in any thread.
 * Each number agrees with scipy's to 1e-9 or better.
 * NaN means "not defined": the deviation of a single value, a ratio to a mean that may be zero.
 */
#ifndef RECKON_STATS_H
#define RECKON_STATS_H

#include <reckon/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What n values have in common. */
struct rk_summary {
    uint32_t size; /* set by the caller */
    uint32_t reserved;
    uint64_t n;
    /* Values more than 1.5 × (q3 − q1) below q1 or above q3 (Tukey). All other figures include them. */
    uint64_t outliers;
    double mean;
    /* The standard deviation, with n − 1 in the denominator. NaN for a single value. */
    double sd;
    /* Half the width of the mean's 95 % confidence interval, by Student's t. NaN for a single value. */
    double bound;
    double min, q1, median, q3, max; /* quantiles by rk_stats_quantile() */
};

/*
 * Summarises n values. `scratch` is room for n numbers. It may be `values` itself, which is then sorted.
 * Returns 0, or -EINVAL if n is 0 or a value is not finite.
 */
RK_API int rk_stats_summary(const double *values, double *scratch, size_t n, struct rk_summary *ret);

/*
 * Returns the q-quantile, 0 ≤ q ≤ 1, of n ≥ 1 ascending values. Between two values it interpolates linearly,
 * as numpy and R (type 7) do.
 */
RK_API double rk_stats_quantile(const double *sorted, size_t n, double q);

/*
 * Student's t distribution with df > 0 degrees of freedom: P(T ≤ t), and the inverse. With an infinite df it
 * is the normal distribution.
 */
RK_API double rk_stats_t_cdf(double t, double df);
RK_API double rk_stats_t_quantile(double p, double df);

/* rk_difference.flags: the samples are so few that `p` is the permutation test's smallest, not Welch's. */
#define RK_DIFFERENCE_FEW 0x1u

/*
 * Two means compared by Welch's test. The samples may differ in deviation and in number.
 *
 * The interval of the ratio is Fieller's, with Welch's degrees of freedom. It contains 1 exactly where the
 * interval of the difference contains 0, that is where p_welch ≥ 0.05. It is NaN where the reference's mean
 * may be zero.
 *
 * For few values Welch's p can be far too small. Run times often have two modes, counts take few values,
 * and two runs of each program may agree by chance. So `p` is never less than the smallest p of a permutation
 * test of as many values, 2 / C(n + m, n). Three values on each side prove nothing; six can.
 */
struct rk_difference {
    uint32_t size;  /* set by the caller */
    uint32_t flags; /* RK_DIFFERENCE_FEW, or 0 */
    /* The mean minus the reference's mean, and its 95 % interval. */
    double difference, difference_low, difference_high;
    /* The mean divided by the reference's mean, and its 95 % interval. */
    double ratio, ratio_low, ratio_high;
    /* Welch's test, two-sided. Where neither sample varies, p_welch is 1 for equal means and 0 for others. */
    double t, df, p_welch;
    double p; /* p_welch, or the permutation test's smallest if that is greater */
};

/*
 * Compares `of` with `reference`. With a single value on either side the intervals and p are NaN.
 * Returns 0, or -EINVAL if a summary is of no values.
 */
RK_API int rk_stats_difference(const struct rk_summary *of, const struct rk_summary *reference,
                               struct rk_difference *ret);

/*
 * Adjusts n p-values by Holm's step-down method: if nothing differs, the chance that any of the adjusted ones
 * is below 0.05 is at most 5 %, whatever the tests have in common. A NaN is no test and stays NaN.
 * `ret` must not be `p`. Returns 0 or -EINVAL.
 */
RK_API int rk_stats_holm(const double *p, size_t n, double *ret);

/* How two samples compare. */
enum rk_outcome {
    RK_OUTCOME_UNKNOWN, /* fewer than two values on a side */
    RK_OUTCOME_SAME,    /* no difference seen */
    RK_OUTCOME_TOO_FEW, /* too few values to rule out chance: `p` is as small as it can get */
    RK_OUTCOME_LESS,
    RK_OUTCOME_MORE,
};

/*
 * Judges a difference by its adjusted p. Returns an enum rk_outcome, or -EINVAL. Writes the verdict in words
 * to `text`, which may be NULL:
 *
 *     "2.1 % ± 0.3 % fewer instructions"      if `countable` is 1; "less wall time" if it is 0
 *     "615 % (402 to 1087) more wall time"    if the two sides of the interval differ by more than a quarter
 *     "3 ± 1 more page-faults"                if there is no ratio
 *     "no difference seen"
 *
 * `noun` may be "". The text is cut to `size` bytes and always ends with a NUL.
 */
RK_API int rk_stats_verdict(const struct rk_difference *difference, double adjusted, const char *noun,
                            uint32_t countable, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif

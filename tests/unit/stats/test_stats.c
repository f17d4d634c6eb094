/* The arithmetic against scipy's numbers (tests/data/stats/golden.txt), and its edges. */
#include "../fixture.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <reckon/stats.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MOST 128

/* To 1e-9 of the larger, unless the golden number itself says less. */
static bool close_to(double a, double b, double within)
{
    return (isnan(a) && isnan(b)) || a == b || fabs(a - b) <= within * fmax(fabs(a), fabs(b));
}

static size_t take(char **at, double *ret)
{
    size_t n = 0;

    for (;;) {
        char *end;
        double value = strtod(*at, &end);
        if (end == *at)
            return n;
        assert_true(n < MOST);
        ret[n++] = value;
        *at = end;
    }
}

static void expect(const char *line, const double *got, const double *want, size_t n)
{
    for (size_t i = 0; i < n; i++)
        /* Of p = 1e-300 the logarithm: t itself, of numbers around 1e12, has not the digits. */
        if (!close_to(got[i], want[i], 1e-9) &&
            !(want[i] > 0 && want[i] < 1e-100 && close_to(log(got[i]), log(want[i]), 1e-9)))
            fail_msg("%.60s…: figure %zu is %.17g, scipy's is %.17g", line, i, got[i], want[i]);
}

static void one_line(char *line)
{
    double in[MOST], other[MOST], want[MOST], got[MOST], scratch[MOST];
    char *at = strchr(line, ' ');
    struct rk_summary s = {.size = sizeof s}, r = {.size = sizeof r};
    struct rk_difference d = {.size = sizeof d};
    size_t n = take(&at, in), other_n = 0;

    at += strspn(at, " ");
    if (*at == '|') {
        at++;
        other_n = take(&at, other);
        at += strspn(at, " ");
    }
    assert_int_equal(*at++, '=');
    size_t want_n = take(&at, want);
    if (strncmp(line, "cdf ", 4) == 0) {
        got[0] = rk_stats_t_cdf(in[0], in[1]);
        expect(line, got, want, 1);
    } else if (strncmp(line, "quantile ", 9) == 0) {
        got[0] = rk_stats_t_quantile(in[0], in[1]);
        expect(line, got, want, 1);
    } else if (strncmp(line, "summary ", 8) == 0) {
        assert_int_equal(rk_stats_summary(in, scratch, n, &s), 0);
        double all[] = {s.mean, s.sd, s.bound, s.min, s.q1, s.median, s.q3, s.max, (double)s.outliers};
        assert_int_equal(want_n, 9);
        assert_int_equal(s.n, n);
        expect(line, all, want, 9);
    } else if (strncmp(line, "welch ", 6) == 0) {
        assert_int_equal(rk_stats_summary(in, scratch, n, &s), 0);
        assert_int_equal(rk_stats_summary(other, scratch, other_n, &r), 0);
        assert_int_equal(rk_stats_difference(&s, &r, &d), 0);
        double all[] = {
            d.difference, d.difference_low, d.difference_high, d.ratio, d.ratio_low, d.ratio_high, d.t,
            d.df,         d.p_welch};
        assert_int_equal(want_n, 9);
        expect(line, all, want, 9);
    } else {
        assert_int_equal(strncmp(line, "holm ", 5), 0);
        assert_int_equal(rk_stats_holm(in, n, got), 0);
        assert_int_equal(want_n, n);
        expect(line, got, want, n);
    }
}

static void test_golden(void **state)
{
    char path[4096];
    char *line = NULL;
    size_t room = 0, lines = 0;

    (void)state;
    snprintf(path, sizeof path, "%s/stats/golden.txt", getenv("DATA"));
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    while (getline(&line, &room, f) > 0) {
        one_line(line);
        lines++;
    }
    free(line);
    fclose(f);
    assert_true(lines > 300);
}

/* The inverse is the inverse, over twelve magnitudes of p. */
static void test_inverse(void **state)
{
    (void)state;
    for (int i = 0; i < 12; i++)
        for (int k = 0; k < 14; k++) {
            double df = pow(3.3, i), p = 1e-12 * pow(7, k);
            double t = rk_stats_t_quantile(p, df);
            assert_true(close_to(rk_stats_t_cdf(t, df), p,
                                 1e-10)); /* the fraction itself has 11 digits at df = 1e5 */
        }
    assert_true(rk_stats_t_quantile(0.5, 3) == 0);
    assert_true(isinf(rk_stats_t_quantile(1, 3)) && rk_stats_t_quantile(0, 3) < 0);
    assert_true(isnan(rk_stats_t_quantile(0.5, 0)) && isnan(rk_stats_t_quantile(1.5, 3)));
    assert_true(isnan(rk_stats_t_cdf(NAN, 3)) && isnan(rk_stats_t_cdf(1, -1)));
    assert_true(close_to(rk_stats_t_quantile(0.975, INFINITY), 1.959963984540054, 1e-12));
    assert_true(rk_stats_t_cdf(-INFINITY, 2) == 0 && rk_stats_t_cdf(INFINITY, 2) == 1);
    assert_true(rk_stats_t_cdf(-1e300, 2) == 0);
}

static void test_summary_edges(void **state)
{
    struct rk_summary s = {.size = sizeof s};
    double v[] = {4, 1, 3, 2}, one = 7, bad[] = {1, NAN}, huge[] = {DBL_MAX, -DBL_MAX, DBL_MAX}, scratch[4];

    (void)state;
    assert_int_equal(rk_stats_summary(v, scratch, 0, &s), -EINVAL);
    assert_int_equal(rk_stats_summary(bad, scratch, 2, &s), -EINVAL);
    assert_int_equal(rk_stats_summary(NULL, scratch, 1, &s), -EINVAL);
    assert_int_equal(s.n, 0); /* untouched */
    assert_int_equal(rk_stats_summary(&one, scratch, 1, &s), 0);
    assert_true(s.mean == 7 && s.median == 7 && isnan(s.sd) && isnan(s.bound) && s.outliers == 0);
    assert_int_equal(rk_stats_summary(v, scratch, 4, &s), 0);
    assert_true(v[0] == 4 && s.median == 2.5 && s.q1 == 1.75);
    assert_int_equal(rk_stats_summary(v, v, 4, &s), 0); /* in place: sorted */
    assert_true(v[0] == 1 && v[3] == 4);
    assert_int_equal(rk_stats_summary(huge, scratch, 3, &s), 0);
    assert_true(isfinite(s.mean) && isfinite(s.median));
    double same[] = {0.1, 0.1, 0.1};
    assert_int_equal(rk_stats_summary(same, scratch, 3, &s), 0);
    assert_true(s.mean == 0.1 && s.sd == 0 && s.bound == 0);
    assert_true(isnan(rk_stats_quantile(v, 0, 0.5)) && isnan(rk_stats_quantile(v, 4, 1.1)));
}

static struct rk_difference difference(const double *b, size_t m, const double *a, size_t n)
{
    struct rk_summary s = {.size = sizeof s}, r = {.size = sizeof r};
    struct rk_difference d = {.size = sizeof d};
    double scratch[MOST];

    assert_int_equal(rk_stats_summary(b, scratch, m, &s), 0);
    assert_int_equal(rk_stats_summary(a, scratch, n, &r), 0);
    assert_int_equal(rk_stats_difference(&s, &r, &d), 0);
    return d;
}

/* Few values, and some that do not vary: Welch's p would be far too small, or 0 whatever their number. */
static void test_few(void **state)
{
    double a[10], b[10];
    char text[80];

    (void)state;
    for (int i = 0; i < 10; i++) {
        a[i] = 70;
        b[i] = 77;
    }
    struct rk_difference d = difference(b, 2, a, 2);
    assert_true(close_to(d.p, 2.0 / 6, 1e-12) && d.flags == RK_DIFFERENCE_FEW && d.p_welch == 0);
    assert_int_equal(rk_stats_verdict(&d, d.p, "page-faults", 1, text, sizeof text), RK_OUTCOME_TOO_FEW);
    assert_string_equal(text, "too few runs to tell");
    d = difference(b, 10, a, 10);
    assert_true(close_to(d.p, 2.0 / 184756, 1e-12) && close_to(d.ratio, 1.1, 1e-12));
    assert_int_equal(rk_stats_verdict(&d, d.p, "page-faults", 1, text, sizeof text), RK_OUTCOME_MORE);
    assert_string_equal(text, "10.0 % ± 0.0 % more page-faults");
    d = difference(a, 10, a, 10);
    assert_true(d.p == 1 && d.ratio == 1 && d.difference == 0);
    assert_int_equal(rk_stats_verdict(&d, d.p, "", 1, text, sizeof text), RK_OUTCOME_SAME);
}

static void test_difference_edges(void **state)
{
    struct rk_summary s = {.size = sizeof s}, r = {.size = sizeof r};
    double zeros[] = {0, 0, 0, 0}, some[] = {1, 2, 3, 2}, about_zero[] = {-1, 1, -2, 2};
    char text[80];

    (void)state;
    struct rk_difference d = {.size = sizeof d};
    assert_int_equal(rk_stats_difference(&s, &r, &d), -EINVAL);
    d = difference(some, 1, zeros, 4); /* one run: nothing can be said */
    assert_true(isnan(d.p) && isnan(d.difference_low));
    assert_int_equal(rk_stats_verdict(&d, NAN, "x", 1, text, sizeof text), RK_OUTCOME_UNKNOWN);
    assert_string_equal(text, "one run says nothing");
    d = difference(some, 4, zeros, 4); /* no ratio to nothing */
    assert_true(isnan(d.ratio) && isnan(d.ratio_low) && d.p < 0.05);
    assert_int_equal(rk_stats_verdict(&d, d.p, "page-faults", 1, text, sizeof text), RK_OUTCOME_MORE);
    assert_string_equal(text, "2 ± 1.3 more page-faults");
    d = difference(some, 4, about_zero, 4); /* … nor to what may be nothing */
    assert_true(isnan(d.ratio_low) && isnan(d.ratio_high));
}

/* The ratio's interval holds 1 exactly where p is at least 5 %. */
static void test_interval_is_test(void **state)
{
    uint64_t state_of = 99;
    size_t inside = 0, outside = 0;

    (void)state;
    for (int i = 0; i < 3000; i++) {
        double a[7], b[5];
        for (int j = 0; j < 7; j++)
            a[j] = 100 + (double)((state_of = state_of * 6364136223846793005u + 1442695040888963407u) >> 58);
        for (int j = 0; j < 5; j++)
            b[j] = 115 + (double)((state_of = state_of * 6364136223846793005u + 1442695040888963407u) >> 58);
        struct rk_difference d = difference(b, 5, a, 7);
        bool ratio_holds = d.ratio_low <= 1 && 1 <= d.ratio_high;
        bool difference_holds = d.difference_low <= 0 && 0 <= d.difference_high;
        assert_true(ratio_holds == (d.p_welch >= 0.05) && difference_holds == ratio_holds);
        assert_true(d.ratio_low <= d.ratio && d.ratio <= d.ratio_high);
        inside += ratio_holds;
        outside += !ratio_holds;
    }
    assert_true(inside > 500 && outside > 500);
}

static void test_holm_edges(void **state)
{
    double p[] = {0.01, NAN, 0.02, 0.9}, out[4];

    (void)state;
    assert_int_equal(rk_stats_holm(p, 4, out), 0);
    assert_true(close_to(out[0], 0.03, 1e-15) && isnan(out[1]) && close_to(out[2], 0.04, 1e-15) &&
                out[3] == 0.9);
    assert_int_equal(rk_stats_holm(NULL, 0, NULL), 0);
    assert_int_equal(rk_stats_holm(p, 4, p), -EINVAL);
}

static void test_words(void **state)
{
    struct rk_difference d = {.size = sizeof d,
                              .ratio = 0.979,
                              .ratio_low = 0.976,
                              .ratio_high = 0.982,
                              .difference = -21,
                              .p = 1e-9};
    char text[80], small[8];

    (void)state;
    assert_int_equal(rk_stats_verdict(&d, 1e-9, "instructions", 1, text, sizeof text), RK_OUTCOME_LESS);
    assert_string_equal(text, "2.1 % ± 0.3 % fewer instructions");
    rk_stats_verdict(&d, 1e-9, "wall time", 0, text, sizeof text);
    assert_string_equal(text, "2.1 % ± 0.3 % less wall time");
    rk_stats_verdict(&d, 1e-9, "", 0, text, sizeof text);
    assert_string_equal(text, "2.1 % ± 0.3 % less");
    assert_int_equal(rk_stats_verdict(&d, 0.06, "wall time", 0, text, sizeof text), RK_OUTCOME_SAME);
    assert_string_equal(text, "no difference seen");
    assert_int_equal(rk_stats_verdict(&d, 0.06, "", 0, NULL, 0), RK_OUTCOME_SAME);
    rk_stats_verdict(&d, 1e-9, "wall time", 0, small, sizeof small);
    assert_int_equal(strlen(small), sizeof small - 1);
    d.ratio_low = 0.97899, d.ratio_high = 0.97901;
    rk_stats_verdict(&d, 1e-9, "cycles", 1, text, sizeof text);
    assert_string_equal(text, "2.100 % ± 0.001 % fewer cycles");
    d.ratio = 3, d.ratio_low = 2.7, d.ratio_high = 3.3, d.difference = 9;
    rk_stats_verdict(&d, 1e-9, "cycles", 1, text, sizeof text);
    assert_string_equal(text, "200 % ± 30 % more cycles");
    /* Sides too unlike for a ±, which would reach beyond what the data allow: the ends, and no less than nothing is left. */
    d.ratio = 11.3, d.ratio_low = 5.8, d.ratio_high = 33, d.difference = 30;
    rk_stats_verdict(&d, 1e-9, "wall time", 0, text, sizeof text);
    assert_string_equal(text, "1030 % (480 to 3200) more wall time");
    d.ratio = 0.2, d.ratio_low = -0.4, d.ratio_high = 0.6, d.difference = -9;
    rk_stats_verdict(&d, 1e-9, "wall time", 0, text, sizeof text);
    assert_string_equal(text, "80 % (40 to 100) less wall time");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),           cmocka_unit_test(test_inverse),
        cmocka_unit_test(test_summary_edges),    cmocka_unit_test(test_few),
        cmocka_unit_test(test_difference_edges), cmocka_unit_test(test_interval_is_test),
        cmocka_unit_test(test_holm_edges),       cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The estimate is exact where it can be, and its bound holds 95 times of 100. */
#include <reckon/set.h>
#include <stdbool.h>

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

/* One value's estimate, in place of `old`. */
static struct rk_estimates *estimate_fresh(struct rk_estimates *old)
{
    struct rk_estimates *fresh = NULL;

    rk_estimates_free(old);
    assert_int_equal(rk_estimates_open(1, &fresh, NULL), 0);
    return fresh;
}

static double estimate_add_one(struct rk_estimates *estimate, const struct rk_value *now, double *ret_bound)
{
    double total;

    assert_int_equal(rk_estimates_add(estimate, now, 1, &total, ret_bound), 0);
    return total;
}

static void test_exact(void **state)
{
    const struct rk_value before = {100, 1000, 1000}, now = {350, 3000, 3000};
    double bound = -1;

    (void)state;
    assert_true(rk_value_scale(&now, NULL, &bound) == 350);
    assert_true(bound == 0);
    assert_true(rk_value_scale(&now, &before, NULL) == 250);
    /* read(2) of several slots one after the other can find running a little above enabled */
    assert_true(rk_value_scale(&(struct rk_value){350, 3000, 3001}, NULL, &bound) == 350);
    assert_true(bound == 0);
}

static void test_not_counted(void **state)
{
    const struct rk_value before = {100, 1000, 500}, still = {100, 3000, 500}, back = {50, 900, 400};
    double bound = 0;

    (void)state;
    assert_true(isnan(rk_value_scale(&(struct rk_value){0}, NULL, &bound)));
    assert_true(isnan(bound));
    assert_true(isnan(rk_value_scale(&still, &before, NULL))); /* in this interval it did not run */
    assert_true(isnan(rk_value_scale(&back, &before, NULL)));  /* another set's, or swapped */
}

/* Differences are scaled: the second interval has its own share, whatever the first had. */
static void test_differences(void **state)
{
    const struct rk_value before = {1000, 10 * MS, 10 * MS}, now = {1500, 20 * MS, 15 * MS};
    double bound;

    (void)state;
    assert_true(rk_value_scale(&now, &before, &bound) == 1000);
    assert_true(bound > 0);
}

/* value × enabled has up to 128 bits. */
static void test_large(void **state)
{
    const struct rk_value v = {UINT64_C(1) << 62, UINT64_C(1) << 62, UINT64_C(1) << 61};
    const struct rk_value odd = {UINT64_MAX, UINT64_MAX, UINT64_MAX - 1};

    (void)state;
    assert_true(rk_value_scale(&v, NULL, NULL) == 9223372036854775808.0);
    assert_true(rk_value_scale(&odd, NULL, NULL) >= 18446744073709551615.0);
    /* a fraction is kept */
    assert_true(fabs(rk_value_scale(&(struct rk_value){1, 3, 2}, NULL, NULL) - 1.5) < 1e-15);
}

static uint64_t seed = 88172645463325252u;

static double uniform(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static double exponential(double mean)
{
    return -mean * log(uniform());
}

/* Enough for counts: exact below, normal above. */
static uint64_t poisson(double mean)
{
    if (mean > 50) {
        double n = sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
        double x = mean + sqrt(mean) * n;
        return x > 0 ? (uint64_t)(x + 0.5) : 0;
    }
    double limit = exp(-mean), product = uniform();
    uint64_t n = 0;
    while (product > limit) {
        product *= uniform();
        n++;
    }
    return n;
}

/*
 * A program whose rate changes from turn to turn as an exponential distribution does, and stays for `phase` turns;
 * `groups` share the PMU in turns of turn_ms, in a random order of the first. How often is the truth within the
 * bound?
 */
static double coverage(int turns, int groups, double mean, int phase, uint64_t turn_ns)
{
    int covered = 0, trials = 2000;

    for (int t = 0; t < trials; t++) {
        struct rk_value v = {0};
        uint64_t truth = 0;
        double bound, rate = 0;
        int mine = (int)(uniform() * groups);
        for (int i = 0; i < turns * groups; i++) {
            if (i % phase == 0)
                rate = exponential(mean);
            uint64_t n = poisson(rate);
            truth += n;
            v.enabled += turn_ns;
            if (i % groups == mine) {
                v.value += n;
                v.running += turn_ns;
            }
        }
        double estimate = rk_value_scale(&v, NULL, &bound);
        covered += fabs(estimate - (double)truth) <= bound;
    }
    return (double)covered / trials;
}

static void test_bound_holds(void **state)
{
    static const int turns[] = {1, 2, 5, 20, 100}, groups[] = {2, 3, 8};
    static const double means[] = {0.05, 1, 30, 1e6};
    double least = 1;

    (void)state;
    for (size_t t = 0; t < 5; t++)
        for (size_t g = 0; g < 3; g++)
            for (size_t m = 0; m < 4; m++)
                for (int phase = 1; phase <= 16; phase *= 4) {
                    if (turns[t] * groups[g] > 300 && means[m] > 50)
                        continue;
                    double c = coverage(turns[t], groups[g], means[m], phase, 10 * MS);
                    least = c < least ? c : least;
                    if (c < 0.94) /* 2000 trials: 0.95 ± 0.01 */
                        fail_msg("%d turns of %d groups, mean %g, phase %d: only %.3f", turns[t], groups[g],
                                 means[m], phase, c);
                }
    printf("least coverage: %.3f\n", least);
}

/* It is of use: a second's worth of half the time gives a bound well below the estimate. */
static void test_bound_useful(void **state)
{
    const struct rk_value v = {1000000000, 2000 * MS, 1000 * MS};
    double bound, estimate = rk_value_scale(&v, NULL, &bound);

    (void)state;
    assert_true(bound < estimate * 0.2);
    assert_true(bound > estimate * 0.01);
}

/* Rates and shares that change: the running totals' quotient goes backwards, the added estimates never do, and end near
 * the truth. */
static void test_estimate(void **state)
{
    struct rk_estimates *estimate = estimate_fresh(NULL);
    struct rk_value now = {0};
    double truth = 0, last = 0, naive_last = 0, bound;
    bool backwards = false;
    uint32_t dice = 1;

    (void)state;
    assert_true(isnan(estimate_add_one(estimate, &now, &bound)) && isnan(bound));
    for (int i = 0; i < 2000; i++) {
        uint64_t rate = i < 500 ? 1000 : i < 1000 ? 10 : 3000; /* events per ms */
        bool always = i >= 500 && i < 800;
        dice = dice * 1103515245 + 12345;
        uint64_t ran = always ? 10 : dice >> 16 & 1 ? 10 : 0; /* a turn of 10 ms, or none */
        now.enabled += 10000000;
        now.running += ran * 1000000;
        now.value += ran * rate;
        truth += 10.0 * (double)rate;
        double total = estimate_add_one(estimate, &now, &bound);
        if (isnan(total))
            continue;
        assert_true(total >= last);
        last = total;
        double naive = rk_value_scale(&now, NULL, NULL);
        backwards = backwards || naive < naive_last;
        naive_last = naive;
    }
    assert_true(backwards);
    printf("%.0f of %.0f, ± %.0f\n", last, truth, bound);
    assert_true(fabs(last - truth) < 0.1 * truth);
    assert_true(fabs(last - truth) <= bound);
    rk_estimates_free(estimate);
}

/* Read but once, the two agree, bound and all. */
static void test_estimate_once(void **state)
{
    const struct rk_value v = {123456789, 777 * MS, 100 * MS};
    struct rk_estimates *estimate = estimate_fresh(NULL);
    double b1, b2, once = rk_value_scale(&v, NULL, &b1), total = estimate_add_one(estimate, &v, &b2);

    (void)state;
    assert_true(fabs(total - once) < 1e-9 * once && fabs(b1 - b2) < 1e-9 * b1);
    /* nothing new: nothing changes; a reading that failed is passed over */
    assert_true(estimate_add_one(estimate, &v, &b2) == total);
    assert_true(estimate_add_one(estimate, &(struct rk_value){0}, &b2) == total);
    const struct rk_value always = {UINT64_C(1) << 52, 5, 5}; /* not shared: exact, and certain */
    estimate = estimate_fresh(estimate);
    assert_true(estimate_add_one(estimate, &always, &b2) == 4503599627370496.0 && b2 == 0);
    rk_estimates_free(estimate);
}

/* A steady rate is exact however long the event waits, at the beginning and at the end as well, and known to be. */
static void test_estimate_steady(void **state)
{
    struct rk_estimates *estimate = estimate_fresh(NULL);
    struct rk_value now = {0};
    double bound = 0, total = 0;

    (void)state;
    for (int i = 0; i < 130; i++) {
        bool on = i >= 10 && i < 120 && i % 5 == 0;
        now.enabled += 12 * MS;
        now.running += on ? 12 * MS : 0;
        now.value += on ? 1200000 : 0;
        total = estimate_add_one(estimate, &now, &bound);
        assert_true(isnan(total) == (i < 10));
    }
    assert_true(fabs(total - 130 * 1.2e6) < 1);
    assert_true(bound < 0.3 * total);
    rk_estimates_free(estimate);
}

/* As coverage() above, but read every so many turns, with the total's own bound. */
static double estimate_coverage(int turns, int groups, double mean, int phase, int every, double *ret_width)
{
    int covered = 0, trials = 1000;
    double widths = 0;

    for (int t = 0; t < trials; t++) {
        struct rk_estimates *estimate = estimate_fresh(NULL);
        struct rk_value v = {0};
        uint64_t truth = 0;
        double bound = NAN, rate = 0, total = NAN;
        int mine = (int)(uniform() * groups);
        for (int i = 0; i < turns * groups; i++) {
            if (i % phase == 0)
                rate = exponential(mean);
            uint64_t n = poisson(rate);
            truth += n;
            v.enabled += 10 * MS;
            if (i % groups == mine) {
                v.value += n;
                v.running += 10 * MS;
            }
            if ((i + 1) % every == 0 || i + 1 == turns * groups)
                total = estimate_add_one(estimate, &v, &bound);
        }
        rk_estimates_free(estimate);
        covered += fabs(total - (double)truth) <= bound;
        widths += bound / (double)(truth + 1);
    }
    *ret_width = widths / trials;
    return (double)covered / trials;
}

static void test_estimate_bound_holds(void **state)
{
    static const int turns[] = {1, 5, 20, 80}, groups[] = {2, 8}, each[] = {1, 10};
    static const double means[] = {0.05, 1, 30, 1e6};
    double least = 1;

    (void)state;
    for (size_t t = 0; t < 4; t++)
        for (size_t g = 0; g < 2; g++)
            for (size_t m = 0; m < 4; m++)
                for (size_t k = 0; k < 2; k++)
                    for (int phase = 1; phase <= 16; phase *= 4) {
                        double width,
                            c = estimate_coverage(turns[t], groups[g], means[m], phase, each[k], &width);
                        least = c < least ? c : least;
                        if (c < 0.93) /* 1000 trials: 0.95 ± 0.014 */
                            fail_msg("%d turns of %d groups, mean %g, phase %d, read each %d: only %.3f, "
                                     "width %.2f",
                                     turns[t], groups[g], means[m], phase, each[k], c, width);
                    }
    printf("least coverage of totals: %.3f\n", least);
}

/* What goes backwards, because a thread was ending when it was read, or is not there, is never 2^64. */
static void test_backwards(void **state)
{
    const struct rk_value before = {100, 1000, 500}, now = {90, 2000, 1000};
    struct rk_estimates *x = estimate_fresh(NULL);
    double bound = 7;

    (void)state;
    assert_true(rk_value_scale(&now, &before, &bound) == 0 && bound >= 0);
    assert_true(isnan(rk_value_scale(NULL, NULL, &bound)) && isnan(bound));
    double unused;
    assert_int_equal(rk_estimates_add(NULL, &now, 1, &unused, NULL), -EINVAL);
    assert_int_equal(rk_estimates_add(x, NULL, 1, &unused, NULL), -EINVAL);
    assert_int_equal(rk_estimates_add(x, &now, 1, NULL, NULL), -EINVAL);
    assert_int_equal(rk_estimates_add(x, &now, 2, &unused, NULL), -EINVAL);
    assert_null(rk_estimates_free(NULL));
    double first = estimate_add_one(x, &before, &unused);
    assert_true(estimate_add_one(x, &now, &unused) >= first);
    rk_estimates_free(x);
}

static double bound_of(const struct rk_value *v, double *bound)
{
    double estimate = rk_value_scale(v, NULL, bound);

    return *bound / estimate;
}

/* As the header has it. */
static void test_bound_told(void **state)
{
    static const struct {
        double seconds, share, told;
    } rows[] = {{1, 0.5, 23}, {10, 0.5, 7}, {10, 0.1, 22}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double bound, ns = rows[i].seconds * 1e9;
        const struct rk_value v = {1000000, (uint64_t)ns, (uint64_t)(ns * rows[i].share)};
        double percent = 100 * bound_of(&v, &bound);
        if (percent < rows[i].told - 0.6 || percent > rows[i].told + 0.6)
            fail_msg("%.0f s, %.1f of them: %.2f %%", rows[i].seconds, rows[i].share, percent);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_backwards),       cmocka_unit_test(test_bound_told),
        cmocka_unit_test(test_estimate),        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_not_counted),     cmocka_unit_test(test_differences),
        cmocka_unit_test(test_large),           cmocka_unit_test(test_bound_holds),
        cmocka_unit_test(test_bound_useful),    cmocka_unit_test(test_estimate_once),
        cmocka_unit_test(test_estimate_steady), cmocka_unit_test(test_estimate_bound_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

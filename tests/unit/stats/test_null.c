/*
 * A against A: of the comparisons, each of two commands in several quantities, at most 8 % say that anything differs;
 * whatever the distribution. A true difference is seen. Fixed seeds: the numbers are the same everywhere.
 */
#include "../fixture.h"

#include <math.h>
#include <reckon/stats.h>
#include <stdbool.h>

#define COMPARISONS \
    1000           /* of 200 it is chance whether 5 % look like 8 %; the worst shape has 6.9 % of 6000 */
#define ALLOWED 80 /* 8 % of them */
#define QUANTITIES 6

static double uniform(uint64_t *seed) /* splitmix64; above 0, below 1 */
{
    uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return ((double)((z ^ z >> 31) >> 12) + 0.5) * 0x1p-52;
}

static double normal(uint64_t *seed)
{
    return sqrt(-2 * log(uniform(seed))) * cos(2 * M_PI * uniform(seed));
}

/* The shapes that times and counts have. */
static double gauss(uint64_t *s)
{
    return 100 + 5 * normal(s);
}
static double skewed(uint64_t *s)
{
    return exp(3 + 0.7 * normal(s));
} /* a long tail */
static double late(uint64_t *s)
{
    return 10 - log(uniform(s));
} /* a least time and a wait */
static double rare(uint64_t *s)
{
    return 100 + (uniform(s) < 0.05 ? 400 : normal(s));
}
static double two_modes(uint64_t *s)
{
    return (uniform(s) < 0.5 ? 100 : 120) + normal(s);
}
static double few_values(uint64_t *s)
{
    return 70 + floor(3 * uniform(s));
} /* page faults */
static double one_bit(uint64_t *s)
{
    return uniform(s) < 0.5 ? 70 : 71;
}
static double mostly_same(uint64_t *s)
{
    return uniform(s) < 0.9 ? 70 : 71;
}
static double none(uint64_t *s)
{
    (void)s;
    return 0;
} /* context switches */

static const struct {
    const char *name;
    double (*draw)(uint64_t *);
} shapes[] = {{"gauss", gauss},     {"skewed", skewed},           {"late", late},
              {"rare", rare},       {"two modes", two_modes},     {"few values", few_values},
              {"one bit", one_bit}, {"mostly same", mostly_same}, {"none", none}};

/* Whether any of the quantities of `n` runs each is said to differ. */
static bool differs(double (*draw)(uint64_t *), size_t n, double factor, uint64_t *seed)
{
    double p[QUANTITIES], adjusted[QUANTITIES], a[64], b[64];
    struct rk_difference d[QUANTITIES];
    bool seen = false;

    for (int q = 0; q < QUANTITIES; q++) {
        struct rk_summary of = {.size = sizeof of}, reference = {.size = sizeof reference};
        d[q] = (struct rk_difference){.size = sizeof d[q]};
        for (size_t i = 0; i < n; i++) {
            a[i] = draw(seed);
            b[i] = draw(seed) * factor;
        }
        assert_int_equal(rk_stats_summary(a, a, n, &reference), 0);
        assert_int_equal(rk_stats_summary(b, b, n, &of), 0);
        assert_int_equal(rk_stats_difference(&of, &reference, &d[q]), 0);
        p[q] = d[q].p;
    }
    assert_int_equal(rk_stats_holm(p, QUANTITIES, adjusted), 0);
    for (int q = 0; q < QUANTITIES; q++) {
        int verdict = rk_stats_verdict(&d[q], adjusted[q], "", 0, NULL, 0);
        seen |= verdict == RK_OUTCOME_LESS || verdict == RK_OUTCOME_MORE;
    }
    return seen;
}

static void test_null(void **state)
{
    static const size_t runs[] = {3, 5, 10, 40};

    (void)state;
    for (size_t shape = 0; shape < sizeof shapes / sizeof *shapes; shape++)
        for (size_t r = 0; r < sizeof runs / sizeof *runs; r++) {
            uint64_t seed = 1000 * shape + r + 1;
            int seen = 0;
            for (int i = 0; i < COMPARISONS; i++)
                seen += differs(shapes[shape].draw, runs[r], 1, &seed);
            printf("%s, %zu runs: %d of %d\n", shapes[shape].name, runs[r], seen, COMPARISONS);
            if (seen > ALLOWED)
                fail_msg("%s, %zu runs: %d of %d comparisons of A with A see a difference",
                         shapes[shape].name, runs[r], seen, COMPARISONS);
        }
}

/* … which would be easy for a test that never sees any. */
static void test_power(void **state)
{
    uint64_t seed = 5;
    int seen = 0;

    (void)state;
    for (int i = 0; i < COMPARISONS; i++)
        seen += differs(gauss, 30, 1.05, &seed);
    assert_true(seen > COMPARISONS * 9 / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_null), cmocka_unit_test(test_power)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

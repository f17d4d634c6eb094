/*
 * More events than counters: each runs a part of the time and says so, and the estimate for all of it is within 2 % of
 * the truth and within its own bound. The truth is known here: every event counts the same instructions. And a total
 * that is read on the way never goes backwards.
 */
#include "live.h"

#include <math.h>

#define MOST 34
#define STEPS 40
#define ROUNDS 120000000 /* half a second of the guest's time: over a hundred turns of the scheduler … */
#define LONGER 3         /* … and so much more where each event has few of them */

static struct rk_error e = {.size = sizeof e};

static void multiplex(struct rk_host *host, int n)
{
    const uint64_t rounds = (uint64_t)ROUNDS * (n == MOST ? LONGER : 1);
    const struct rk_set_options options = {.size = sizeof options, .flags = RK_SET_NO_INHERIT};
    char text[MOST * 8] = "r8:u";
    struct rk_value v[MOST] = {0}, half[MOST];
    struct rk_estimates *running = NULL;
    double totals[MOST] = {0}, bounds[MOST] = {0};
    double last[MOST] = {0}, truth = 2.0 * (double)rounds;
    int part = 0;

    for (int i = 1; i < n; i++)
        strcat(text, ",r8:u");
    struct rk_set *set = live_self(host, text, &options);
    EQUAL(rk_estimates_open(MOST, &running, NULL), 0);
    EQUAL(rk_set_enable(set), 0);
    for (int step = 0; step < STEPS; step++) {
        spin(rounds / STEPS);
        EQUAL(rk_set_total(set, v, NULL, MOST), 0);
        EQUAL(rk_estimates_add(running, v, MOST, totals, NULL), 0);
        for (int i = 0; i < n; i++) {
            double total = totals[i];
            if (!isnan(total) && total < last[i])
                FAIL("event %d of %d: the total went from %.0f to %.0f", i, n, last[i], total);
            last[i] = isnan(total) ? last[i] : total;
        }
        if (step == STEPS / 2 - 1)
            memcpy(half, v, sizeof half);
    }
    EQUAL(rk_set_disable(set), 0);
    EQUAL(rk_set_total(set, v, NULL, MOST), 0);
    EQUAL(rk_estimates_add(running, v, MOST, totals, bounds), 0);
    running = rk_estimates_free(running);
    for (int i = 0; i < n; i++) {
        double bound = -1, all = rk_value_scale(&v[i], NULL, &bound), near = bounds[i], total = totals[i];
        CHECK(v[i].running > 0 && v[i].running <= v[i].enabled);
        part += v[i].running < v[i].enabled;
        if (fabs(all - truth) > 0.02 * truth || fabs(all - truth) > bound + 10000)
            FAIL("event %d of %d: %.0f instructions estimated of %.0f, ± %.0f", i, n, all, truth, bound);
        if (fabs(total - truth) > 0.02 * truth || fabs(total - truth) > near + 10000)
            FAIL("event %d of %d: %.0f instructions added up of %.0f, ± %.0f", i, n, total, truth, near);
        if (i == 0)
            printf(
                "%d events, the first ran %.0f %% of the time: %.0f of %.0f, ± %.0f (%.1f %%) by one read, "
                "%.0f ± %.0f (%.1f %%) by %d\n",
                n, 100.0 * (double)v[i].running / (double)v[i].enabled, all, truth, bound,
                100 * bound / truth, total, near, 100 * near / truth, STEPS);
        if (bound > truth || near > 0.5 * truth) /* it would say nothing */
            FAIL("event %d of %d: bounds %.0f and %.0f of %.0f", i, n, bound, near, truth);
        double second_bound, second = rk_value_scale(&v[i], &half[i], &second_bound);
        if (!isnan(second))
            CHECK(fabs(second - truth / 2) <= second_bound + 10000);
    }
    CHECK(part >= n - 7);
    rk_set_free(set);
}

int main(void)
{
    static const int numbers[] = {12, 20, MOST};
    struct rk_host *host = NULL;

    if (!live_exact())
        SKIP("how many counters there are is known of the guest only");
    OK(rk_host_open(NULL, &host, &e));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        multiplex(host, numbers[i]);
    rk_host_free(host);
    return 0;
}

/*
 * From a count to an estimate, where the PMU had to be shared.
 *
 * Between two reads the event was enabled for E ns and ran for R of them, counting V. The estimate is V × E / R:
 * of differences, never of running totals, which can go backwards; in 128 bits, since V × E has that many.
 *
 * The bound. The kernel shares the PMU in turns of a length T, the PMU's perf_event_mux_interval_ms: 1000/HZ, so
 * at most 10 ms where HZ is 100 or more. Let the event's rate differ from turn to turn, independently of whose turn
 * it is, with a standard deviation up to its mean (as much as an exponential distribution's), and within a turn let
 * events come singly (Poisson). With m the mean per turn, a turn's variance is then at most m² + m. n = R / T turns
 * were seen out of N = E / T, so that the estimate N × (mean of n) of the N turns' sum has the variance
 *
 *     N² × (m² + m) / n × (1 - n/N)  =  (1 - f) × (S² / n + S / f)      with S = N × m, f = R / E.
 *
 * S is estimated with one count more than was seen: nothing seen does not mean that nothing is there. The interval
 * goes k standard deviations to either side. With many turns the normal distribution wants 1.96; with few, m itself
 * is uncertain too, and k grows as the quantiles of Student's t and the F distribution do; here from above as
 * 2.1 + 7/n + 10/n². tests/unit/count/test_scale.c checks by simulation that 95 % are covered.
 *
 * What is not covered: a program whose phases march in step with the turns.
 */
#include <math.h>
#include <reckon/set.h>
#include <stdbool.h>
#include <string.h>

#define TURN_NS 10e6
#define FOLD_NS UINT64_C(100000000)

/* a × b / c without losing bits on the way. */
static double product_over(uint64_t a, uint64_t b, uint64_t c)
{
    __extension__ unsigned __int128 product = (unsigned __int128)a * b, whole = product / c;

    return (double)whole + (double)(uint64_t)(product % c) / (double)c;
}

/* √x for x ≥ 0, without libm: half the exponent is a guess within 6 %, each step of Newton's doubles its digits. */
static double root(double x)
{
    uint64_t bits;
    double guess;

    memcpy(&bits, &x, sizeof bits);
    bits = (bits >> 1) + (UINT64_C(0x3ff) << 51);
    memcpy(&guess, &bits, sizeof guess);
    for (int i = 0; i < 5; i++)
        guess = (guess + x / guess) / 2;
    return guess;
}

static double bound(double value, double enabled, double running)
{
    double f = running / enabled, turns = running / TURN_NS;
    double sum = (value + 1) / f;
    double variance = (1 - f) * (sum * sum / turns + sum / f);

    double n = turns > 1 ? turns : 1;

    return (2.1 + 7 / n + 10 / (n * n)) * root(variance);
}

double rk_value_scale(const struct rk_value *now, const struct rk_value *before, double *ret_bound)
{
    const struct rk_value zero = {0};
    const struct rk_value *from = before ? before : &zero;
    uint64_t value = now->value - from->value, enabled = now->enabled - from->enabled,
             running = now->running - from->running;
    double estimate = NAN, half = NAN;

    if (now->running > from->running && now->enabled >= from->enabled) {
        bool whole = running >= enabled;
        estimate = whole ? (double)value : product_over(value, enabled, running);
        half = whole ? 0 : bound((double)value, (double)enabled, (double)running);
    }
    if (ret_bound)
        *ret_bound = half;
    return estimate;
}

/*
 * The estimates of intervals are added up, so that a time when the event had the PMU for itself does not weigh more than
 * one when it had a tenth. An interval of a few turns says little, and so is kept open until the event ran for FOLD_NS;
 * what is open is estimated as it stands at each call. That may be less than at the call before: then the total stays
 * where it was, and its bound is as much wider.
 */
double rk_estimate_add(struct rk_estimate *estimate, const struct rk_value *now, double *ret_bound)
{
    double half, open = rk_value_scale(now, &estimate->last, &half);

    if (isnan(open)) { /* it did not run since: what it would have counted comes with what follows */
        open = 0;
        half = 0;
    }
    double sum = estimate->folded + open, variance = estimate->variance + half * half;
    bool any = now->running > 0;
    estimate->total = sum > estimate->total ? sum : estimate->total;
    if (now->running - estimate->last.running >= FOLD_NS) {
        estimate->folded = sum;
        estimate->variance = variance;
        estimate->last = *now;
    }
    if (ret_bound)
        *ret_bound = any ? root(variance) + (estimate->total - sum) : NAN;
    return any ? estimate->total : NAN;
}

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
 *     N² × (m² + m) / n × (1 - n/N)  =  (m² + m) / T × E × (E - R) / R.
 *
 * m is estimated with one count more than was seen: nothing seen does not mean that nothing is there. The interval
 * goes k standard deviations to either side. With many turns the normal distribution wants 1.96; with few, m itself
 * is uncertain too, and k grows as the quantiles of Student's t and the F distribution do; here from above as
 * 2.2 + 7/n + 10/n². tests/unit/set/test_scale.c checks by simulation that 95 % are covered.
 *
 * What is not covered: a program whose phases march in step with the turns.
 */
#include "base/error.h"

#include <errno.h>
#include <math.h>
#include <reckon/set.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TURN_NS 10e6
#define INTERVAL_NS UINT64_C(100000000)
#define PRIOR 2.0

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

    if (!(x > 0))
        return 0;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits >> 1) + (UINT64_C(0x3ff) << 51);
    memcpy(&guess, &bits, sizeof guess);
    for (int i = 0; i < 5; i++)
        guess = (guess + x / guess) / 2;
    return guess;
}

/* Half the interval's width: of what was seen, `spread` is E × (E - R) / R; `noise` the sum of so many observations of
 * the variance per ns (below). */
static double half_width(const struct rk_value *seen, double spread, double noise, double observations)
{
    double rate = ((double)seen->value + 1) / (double)seen->running; /* m / T */
    double variance = (PRIOR * rate * rate * TURN_NS + noise) / (PRIOR + observations) + rate;
    double n = (double)seen->running > TURN_NS ? (double)seen->running / TURN_NS : 1;

    return (2.2 + 7 / n + 10 / (n * n)) * root(variance * spread);
}

double rk_value_scale(const struct rk_value *now, const struct rk_value *before, double *ret_bound)
{
    const struct rk_value zero = {0};
    const struct rk_value *from = before ? before : &zero;
    now = now ? now : &zero;
    /* A thread that ends while it is read may be missing for once: nothing was counted then, and not 2^64. */
    uint64_t value = now->value > from->value ? now->value - from->value : 0,
             enabled = now->enabled - from->enabled, running = now->running - from->running;
    double estimate = NAN, half = NAN;

    if (now->running > from->running && now->enabled >= from->enabled) {
        const struct rk_value seen = {value, enabled, running};
        double waited = running < enabled ? (double)(enabled - running) : 0;
        estimate = waited > 0 ? product_over(value, enabled, running) : (double)value;
        half = half_width(&seen, waited * (double)enabled / (double)running, 0, 0);
    }
    if (ret_bound)
        *ret_bound = half;
    return estimate;
}

/*
 * A total that is read many times. What was counted, V, is certain; to be estimated is what the event would have counted
 * while it waited, E - R. That is done interval by interval, so that a time when it had the PMU for itself doesn't weigh
 * more than one when it had a tenth of it:
 *
 *     total = V + Σ (e - r) × v / r      of intervals in which the event ran for INTERVAL_NS or more
 *
 * The interval that is open, which ran for less, and maybe not at all, is valued at its rate and that of the one before
 * together, (v + v₋₁) / (r + r₋₁), until it is closed and has its own. So a single read gives V × E / R; a steady rate is
 * exact, however the shares change and wherever it waits; and a first turn that is unlike the others (it has the
 * opening of all the others in it) does not stand for the long wait that follows. An open interval's rate may turn out
 * lower than it looked: then the total stays where it was, and its bound is as much wider.
 *
 * The bound is that of above: in its variance, (m² + m) / T × E × (E - R) / R, the right part becomes a sum over the
 * intervals, and the left one, the noise per ns, is measured, too. From one read to the next the rate so far foretells
 * a count; the square of what is wrong with that, by its own length, is one observation. The assumption above, m² / T, is
 * kept as if it had been PRIOR observations, so that a single read has the bound of rk_value_scale(), and many reads have
 * a narrower one where the rate is steady, a wider one where it is wilder than assumed. Readings closer together than a
 * turn say nothing about how turns differ, and are taken together.
 */
struct estimate {
    struct rk_value last;                       /* what was read last */
    struct rk_value from, past;                 /* where the open interval began; the one before it */
    double waited, spread;                      /* closed intervals: the estimate, and how unsure it is */
    double total;                               /* what was returned last */
    double since_value, since_running;          /* since the last observation */
    double foretold, base, noise, observations; /* how well the rate so far foretells what comes */
};

struct rk_estimates {
    size_t n;
    struct estimate of[];
};

static void observe(struct estimate *x, double value, double running)
{
    x->since_value += value;
    x->since_running += running;
    if (x->since_running < TURN_NS)
        return;
    if (x->base > 0) { /* the first has nothing to be compared with */
        double wrong = x->since_value - x->since_running * x->foretold;
        x->noise += wrong * wrong / (x->since_running * (1 + x->since_running / x->base));
        x->observations += 1;
    }
    x->since_value = 0;
    x->since_running = 0;
    x->base = 0;
}

/* The sum as it stands with the open interval, which is closed where it is long enough; *ret_spread with it. */
static double value_open(struct estimate *x, double *ret_spread)
{
    const struct rk_value open = {x->last.value - x->from.value, x->last.enabled - x->from.enabled,
                                  x->last.running - x->from.running};
    double waits = open.enabled > open.running ? (double)(open.enabled - open.running) : 0;
    bool whole = open.running >= INTERVAL_NS;
    struct rk_value past = {0};
    if (!whole)
        past = x->past;
    double value = (double)open.value + (double)past.value,
           enabled = (double)open.enabled + (double)past.enabled,
           running = (double)open.running + (double)past.running;
    double waited = x->waited + waits * value / running, spread = x->spread + waits * enabled / running;

    if (x->base == 0 && x->since_running == 0) {
        x->foretold = value / running;
        x->base = running;
    }
    if (whole) {
        x->waited = waited;
        x->spread = spread;
        x->past = open;
        x->from = x->last;
    }
    *ret_spread = spread;
    return (double)x->last.value + waited;
}

/* The next reading of a value. Returns the total; NaN until it first ran. */
static double estimate_add(struct estimate *x, const struct rk_value *now, double *ret_bound)
{
    const struct rk_value *last = &x->last;
    double sum = NAN, spread;

    *ret_bound = NAN;
    if (now->running > 0 && now->running >= last->running && now->enabled >= last->enabled &&
        now->value >= last->value) { /* else it never ran, or could not be read this time */
        observe(x, (double)(now->value - last->value), (double)(now->running - last->running));
        x->last = *now;
    }
    if (last->running > 0) {
        sum = value_open(x, &spread);
        x->total = sum > x->total ? sum : x->total;
        *ret_bound = half_width(last, spread, x->noise, x->observations) + (x->total - sum);
        sum = x->total;
    }
    return sum;
}

int rk_estimates_open(size_t n, struct rk_estimates **ret, struct rk_error *e)
{
    if (!ret)
        return fail_null(e, RK_STAGE_READ, "rk_estimates_open", "ret");
    struct rk_estimates *estimates = n < SIZE_MAX / sizeof *estimates->of - 1
                                         ? calloc(1, sizeof *estimates + n * sizeof *estimates->of)
                                         : NULL;
    if (!estimates)
        return fail_memory(e, RK_STAGE_READ);
    estimates->n = n;
    *ret = estimates;
    return 0;
}

int rk_estimates_add(struct rk_estimates *estimates, const struct rk_value *values, size_t n, double *ret,
                     double *ret_bounds)
{
    double unwanted;

    if (!estimates || !values || !ret || n != estimates->n)
        return -EINVAL;
    for (size_t i = 0; i < n; i++)
        ret[i] = estimate_add(&estimates->of[i], &values[i], ret_bounds ? &ret_bounds[i] : &unwanted);
    return 0;
}

struct rk_estimates *rk_estimates_free(struct rk_estimates *estimates)
{
    free(estimates);
    return NULL;
}

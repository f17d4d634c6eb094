/*
 * Student's t through the incomplete beta function:
 *
 *     P(T > t) = 1/2 I(x; df/2, 1/2),    x = df / (df + t²)
 *
 * I(x; a, b) is x^a (1-x)^b / (a B(a, b)) times a continued fraction (DLMF 8.17.22), which converges fast for
 * x < (a+1)/(a+b+2); on the other side I(x; a, b) = 1 - I(1-x; b, a). 1-x is passed beside x: where t is small the
 * subtraction would lose it.
 *
 * ln B(a, 1/2) by lgamma() would lose digits to cancellation for large a, so there the quotient of the two gammas is
 * taken by its asymptotic series.
 */
#include "stats/student.h"

#include <math.h>
#include <reckon/stats.h>

#define NORMAL_DF 1e10 /* from here on t is normal to 11 digits */
#define STEPS 100000   /* of the continued fraction; about √df are needed */

/* ln Γ(a + 1/2) / Γ(a) */
static double log_gamma_step(double a)
{
    int sign;

    if (a < 20)
        return lgamma_r(a + 0.5, &sign) - lgamma_r(a, &sign);
    double r = 1 / a, r2 = r * r;
    return 0.5 * log(a) - r * (1.0 / 8 - r2 * (1.0 / 192 - r2 * (1.0 / 640 - r2 * (17.0 / 14336))));
}

/* The fraction 1 / (1 + d1 / (1 + d2 / …)) by Lentz's method. */
static double fraction(double x, double a, double b)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);

    d = 1 / (fabs(d) < tiny ? tiny : d);
    double f = d;
    for (int m = 1; m <= STEPS; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 + even * d;
        c = 1 + even / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        f *= c * d;
        d = 1 + odd * d;
        c = 1 + odd / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        double step = c * d;
        f *= step;
        if (fabs(step - 1) < 4e-16) /* further steps would only add up rounding */
            break;
    }
    return f;
}

double student_tail(double t, double df)
{
    if (isinf(t))
        return 0;
    if (df > NORMAL_DF)
        return 0.5 * erfc(t * M_SQRT1_2);
    double a = df / 2, squared = t * t;
    if (isinf(squared))
        return 0;
    double x = df / (df + squared), y = squared / (df + squared); /* y = 1 - x */
    if (y == 0)
        return 0.5;
    /* x^a √y / B(a, 1/2);  B(a, 1/2) = √π Γ(a) / Γ(a + 1/2) */
    double front = exp(-a * log1p(squared / df) + 0.5 * log(y) + log_gamma_step(a) - 0.5 * log(M_PI));
    if (x < (a + 1) / (a + 2.5))
        return 0.5 * front / a * fraction(x, a, 0.5);
    return 0.5 - 0.5 * front / 0.5 * fraction(y, 0.5, a);
}

static double density(double t, double df)
{
    if (df > NORMAL_DF)
        return exp(-t * t / 2) / sqrt(2 * M_PI);
    return exp(log_gamma_step(df / 2) - 0.5 * log(df * M_PI) - (df + 1) / 2 * log1p(t * t / df));
}

/* Newton's steps on the tail, kept between two sides; a step that leaves them becomes a halving. */
double student_tail_inverse(double tail, double df)
{
    double low = 0, high = 1, t;

    if (tail >= 0.5)
        return 0;
    while (isfinite(high) && student_tail(high, df) > tail) {
        low = high;
        high *= 2;
    }
    if (isinf(high))
        return high;
    t = low + (high - low) / 2;
    for (int i = 0; i < 200; i++) {
        double have = student_tail(t, df), slope = density(t, df);
        if (have > tail)
            low = t;
        else
            high = t;
        double next = t + (have - tail) / slope;
        if (!(next > low && next < high))
            next = low + (high - low) / 2;
        if (fabs(next - t) <= 1e-13 * t) /* quadratic: then `next` is as good as it gets */
            return next;
        t = next;
    }
    return t;
}

double rk_stats_t_cdf(double t, double df)
{
    if (isnan(t) || !(df > 0))
        return NAN;
    double tail = student_tail(fabs(t), df);
    return t > 0 ? 1 - tail : tail;
}

double rk_stats_t_quantile(double p, double df)
{
    if (!(df > 0) || !(p >= 0 && p <= 1))
        return NAN;
    if (p == 0 || p == 1)
        return p > 0 ? INFINITY : -INFINITY;
    return p > 0.5 ? student_tail_inverse(1 - p, df) : -student_tail_inverse(p, df);
}

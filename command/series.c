#include "series.h"

#include "measured.h"

#include <math.h>
#include <stdlib.h>

static int begin(struct series *s, size_t n)
{
    size_t room = n ? n : 1;

    s->n_values = n;
    s->sum = calloc(room, sizeof *s->sum);
    s->states = calloc(room, sizeof *s->states);
    s->mean = calloc(room, sizeof *s->mean);
    s->square = calloc(room, sizeof *s->square);
    return s->sum && s->states && s->mean && s->square ? 0 : -1;
}

static void welford(double value, uint32_t n, double *mean, double *square)
{
    double off = value - *mean;

    *mean += off / n;
    *square += off * (value - *mean);
}

int series_add(struct series *s, const struct stat_run *run, size_t n)
{
    if (s->runs == 0 ? begin(s, n) < 0 : n != s->n_values)
        return -1;
    s->runs++;
    for (size_t i = 0; i < n; i++) {
        double scaled = rk_value_scale(&run->values[i], NULL, NULL);
        s->sum[i].value += run->values[i].value;
        s->sum[i].enabled += run->values[i].enabled;
        s->sum[i].running += run->values[i].running;
        if (run->states)
            s->states[i] = s->runs > 1 ? measured_join(s->states[i], run->states[i]) : run->states[i];
        welford(isnan(scaled) ? 0 : scaled, s->runs, &s->mean[i], &s->square[i]);
    }
    welford((double)run->wall_ns, s->runs, &s->wall_mean, &s->wall_square);
    if (!run->has_exit)
        return 0;
    bool first = !s->has_exit;
    s->failed += run->exit.status != 0;
    s->has_exit = true;
    s->exit.size = sizeof s->exit;
    s->exit.user_ns += run->exit.user_ns;
    s->exit.system_ns += run->exit.system_ns;
    s->exit.wall_ns += run->exit.wall_ns;
    if (run->exit.peak_rss > s->exit.peak_rss)
        s->exit.peak_rss = run->exit.peak_rss;
    if (first || s->exit.status == 0) {
        s->exit.status = run->exit.status;
        s->exit.signal = run->exit.signal;
        s->exit.core_dumped = run->exit.core_dumped;
    }
    return 0;
}

/* √x by Newton's way, from above: reckon needs no libm. */
static double root(double x)
{
    double guess = x > 1 ? x : 1;

    for (double before = INFINITY; guess < before;) {
        before = guess;
        guess = (guess + x / guess) / 2;
    }
    return guess;
}

static double deviation(double square, uint32_t n)
{
    return n > 1 && square > 0 ? root(square / (n - 1)) : 0;
}

void series_end(struct series *s)
{
    for (size_t i = 0; s->runs && i < s->n_values; i++)
        s->square[i] = deviation(s->square[i], s->runs);
    s->wall_square = deviation(s->wall_square, s->runs);
    if (!s->runs)
        return;
    s->exit.user_ns /= s->runs;
    s->exit.system_ns /= s->runs;
    s->exit.wall_ns /= s->runs;
}

void series_counts(const struct series *s, struct rk_counts_row *rows, size_t n_rows,
                   struct rk_counts *counts)
{
    counts->runs = s->runs;
    counts->wall_ns = (uint64_t)(s->wall_mean + 0.5);
    counts->wall_stdev_ns = (uint64_t)(s->wall_square + 0.5);
    counts->exit = s->has_exit ? &s->exit : NULL;
    for (size_t i = 0; s->runs > 1 && i < n_rows; i++) {
        size_t at = (size_t)(rows[i].values - s->sum);
        rows[i].mean = &s->mean[at];
        rows[i].stdev = &s->square[at];
    }
}

void series_free(struct series *s)
{
    free(s->sum);
    free(s->states);
    free(s->mean);
    free(s->square);
    *s = (struct series){0};
}

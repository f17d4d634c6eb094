/*
 * Several runs of the same: sums of their counts; mean and standard deviation of what they were scaled to (Welford's
 * way, which keeps its digits).
 */
#ifndef COMMAND_SERIES_H
#define COMMAND_SERIES_H

#include "stat.h"

struct series {
    size_t n_values;
    uint32_t runs;
    struct rk_value *sum;
    uint32_t *states;      /* of the sums */
    double *mean, *square; /* sum of squared differences from the mean; after series_end() the deviation */
    double wall_mean, wall_square;
    struct rk_exit exit; /* sums, then means; the peak and the first status that was not 0 */
    bool has_exit;
    uint32_t failed; /* runs that did not end with 0 */
};

/* Adds a run of n values. 0, or -1: out of memory, or of another shape than those before. */
int series_add(struct series *series, const struct stat_run *run, size_t n);

/* Deviations from squares; the means of *exit. */
void series_end(struct series *series);

/* Sets what rows and counts say of runs. */
void series_counts(const struct series *series, struct rk_counts_row *rows, size_t n_rows,
                   struct rk_counts *counts);

void series_free(struct series *series);

#endif

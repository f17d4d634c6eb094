/*
 * What the writers of counts share: the figures of one event in one row.
 */
#ifndef EXPORT_COUNTS_H
#define EXPORT_COUNTS_H

#include "base/output.h"

#include <reckon/export.h>
#include <stdbool.h>

struct cell {
    struct rk_event event;
    struct rk_value value;
    uint32_t state; /* enum rk_state */
    bool counted;   /* its value is known; a target that did not run has counted 0 */

    /* Where it was counted: in the event's unit. */
    double scaled, bound, percent;
    bool derived;
    struct rk_metric metric;
    double mean, stdev;
};

/* The event-th of a row. */
struct cell counts_cell(const struct rk_counts *counts, const struct rk_counts_row *row, size_t event);

/* Why it was not counted: `e` is filled in any case. */
void counts_reason(const struct rk_counts_row *row, size_t event, struct rk_error *e);

void counts_json(const struct rk_counts *counts, struct output *out);
void counts_csv(const struct rk_counts *counts, struct output *out);
void counts_perf(const struct rk_counts *counts, struct output *out);

#endif

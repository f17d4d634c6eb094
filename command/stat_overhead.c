/*
 * --overhead: an empty region of this thread, begun and ended two thousand times. What is then counted is what measuring
 * adds to every region, and the wall time is what one costs: two system calls for each group, and what is around them.
 * The slower half was interrupted by something else, or may have been: the faster one is told.
 */
#include "command.h"
#include "handles.h"
#include "print.h"
#include "series.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WARM_UP 100
#define REGIONS 2000
#define KEPT 1000

static uint64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* One region: what it counted, in run->values, from the totals before and after. */
static int region(struct rk_set *set, struct rk_value *total, struct stat_run *run, size_t n)
{
    uint64_t begin = clock_ns();
    int rc = rk_set_enable(set), off = rk_set_disable(set);

    run->wall_ns = clock_ns() - begin;
    rc = rc < 0 ? rc : off < 0 ? off : rk_set_total(set, run->values, NULL, n);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        struct rk_value now = run->values[i];
        run->values[i] = (struct rk_value){now.value - total[i].value, now.enabled - total[i].enabled,
                                           now.running - total[i].running};
        total[i] = now;
    }
    return rc;
}

static int by_wall(const void *a, const void *b)
{
    const struct stat_run *x = a, *y = b;

    return x->wall_ns < y->wall_ns ? -1 : x->wall_ns > y->wall_ns;
}

static int regions(struct rk_set *set, struct series *series)
{
    size_t n = rk_set_event_count(set);
    struct stat_run *runs = calloc(REGIONS, sizeof *runs);
    struct rk_value *values =
        calloc((REGIONS + 1) * (n ? n : 1), sizeof *values); /* the last: totals so far */
    int rc = runs && values ? 0 : -1;

    for (int i = 0; rc == 0 && i < WARM_UP + REGIONS; i++) {
        struct stat_run *run = &runs[i < WARM_UP ? 0 : i - WARM_UP];
        run->values = values + (size_t)(run - runs) * n;
        rc = region(set, values + REGIONS * n, run, n);
    }
    if (rc == 0)
        qsort(runs, REGIONS, sizeof *runs, by_wall);
    for (int i = 0; rc == 0 && i < KEPT; i++)
        rc = series_add(series, &runs[i], n);
    free(runs);
    free(values);
    return rc;
}

int stat_overhead(const struct stat_options *o, struct rk_host *host, const struct rk_events *events)
{
    handle_target struct rk_target *self = NULL;
    handle_set struct rk_set *set = NULL;
    struct rk_set_options options = {.size = sizeof options, .flags = RK_SET_KEEP | RK_SET_NO_INHERIT};
    struct rk_error e = {.size = sizeof e};
    struct series s = {0};

    if (!events) {
        fprintf(stderr, "reckon stat: --overhead of nothing: name events with -e\n");
        return STATUS_USAGE;
    }
    if (rk_target_self(&self, &e) < 0 || rk_set_open(host, events, self, &options, &set, &e) < 0)
        return print_error("stat", &e);
    int status = STATUS_FAILED;
    if (regions(set, &s) < 0) {
        fprintf(stderr, "reckon stat: counting an empty region failed\n");
    } else {
        series_end(&s);
        struct rk_counts_row row = {.set = set, .values = s.sum, .slot = UINT64_MAX};
        struct rk_counts counts = {.size = sizeof counts,
                                   .rows = &row,
                                   .n = 1,
                                   .flags = o->no_header ? RK_COUNTS_NO_HEADER : 0,
                                   .separator = o->separator};
        series_counts(&s, &row, 1, &counts);
        struct stat_options plain = *o;
        plain.no_figures = true;
        status = stat_write(&plain, &counts, "an empty region, the faster 1,000 of 2,000 times");
    }
    series_free(&s);
    return status;
}

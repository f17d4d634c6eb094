/*
 * reckon stat, in parts:
 *
 *     stat.c         one run or several; the end's status
 *     stat_options.c options; which events
 *     measured.c     who is measured: targets and their sets, read as one table of values
 *     stat_run.c     one run: from its start to its end, intervals, time limits, signals, --control
 *     series.c       several runs: sums, means, deviations
 *     stat_table.c   a table for people
 *     stat_plan.c    --dry-run
 *     destination.c  where it is written
 */
#ifndef COMMAND_STAT_H
#define COMMAND_STAT_H

#include "destination.h"

#include <reckon/reckon.h>
#include <stdbool.h>

enum stat_format { STAT_TEXT, STAT_JSON, STAT_CSV, STAT_PERF };

struct stat_options {
    const char *events;  /* as given by -e, joined, or the machine's defaults */
    bool default_events; /* what has no PMU here is then told once, not line by line */
    enum stat_format format;
    const char *separator; /* -x */
    bool no_header;        /* of CSV */
    bool no_figures;       /* beside counts: they say nothing of an empty region */

    /* Who: at most one of these lists; none: the command itself. */
    const char *processes, *threads, *cpus, *cgroups;
    bool all;    /* every CPU */
    uint32_t by; /* enum rk_by */
    bool null, no_inherit, freeze;

    uint64_t runs; /* 0: until interrupted */
    uint64_t interval_ms, interval_count, timeout_ms;
    int64_t delay_ms; /* -1: until --control enables */
    const char *control;

    char **command; /* NULL: none */
    struct destination *to;
};

/* What the options say beyond that. */
struct stat_words {
    char *events;
    const char *output;
    int detail;
    bool append, overhead, dry_run, repeat, json, csv;
};

/* Fills both. 0; an exit status with the message printed; or STAT_HELPED: --help has been printed, and that is all. */
#define STAT_HELPED (-1)
int stat_options(int argc, char **argv, struct stat_options *options, struct stat_words *words);

/* What one run gave. */
struct stat_run {
    struct rk_value *values; /* measured->n_values of them; the caller frees it */
    uint32_t *states;        /* … and of their states, which the caller frees, too */
    struct rk_exit exit;
    bool has_exit;     /* there was a command, and it has ended */
    uint64_t wall_ns;  /* that the values cover */
    bool interrupted;  /* by Ctrl-C or another signal */
    bool left_running; /* the command could not even be killed */
};

struct measured;
struct control;

/* From start to end, intervals written to options->to. 0, or an exit status with the message printed. */
int stat_run(const struct stat_options *options, struct measured *measured, struct control *control,
             struct stat_run *ret);

/* Writes counts in the format asked for. 0 or STATUS_FAILED with the message printed. */
int stat_write(const struct stat_options *options, const struct rk_counts *counts, const char *about);

/* For people. `about` NULL: an interval, no closing lines. */
void stat_table(FILE *to, const struct stat_options *options, const struct rk_counts *counts,
                const char *about);

/* --dry-run: what opening would take. An exit status. */
int stat_plan(const struct stat_options *options, struct rk_host *host, const struct rk_events *events);

/* --overhead: what measuring an empty region counts. An exit status. */
int stat_overhead(const struct stat_options *options, struct rk_host *host, const struct rk_events *events);

#endif

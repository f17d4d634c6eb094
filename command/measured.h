/*
 * Who is measured: one part for each target, and one table of all their values, row after row.
 *
 *     a command, processes, threads     one row, or one for each thread
 *     CPUs                              one row, or one for each CPU, core …
 *     cgroups                           the same, or one row for each cgroup
 */
#ifndef COMMAND_MEASURED_H
#define COMMAND_MEASURED_H

#include "stat.h"

struct measured_part {
    struct rk_target *target; /* NULL: the command's */
    struct rk_set *set;
    struct rk_rows *rows;
    size_t slots; /* that are in the rows */
};

struct measured {
    struct rk_target *command; /* what is run; NULL: nothing */
    bool command_counts;       /* it is what is measured, and not only what the time is taken from */
    bool started;              /* counting begins with the command's exec, not by measured_enable() */
    bool counts_already; /* processes and threads: from their opening on, so that what is born is counted */
    bool sum;            /* the parts make one row */
    struct measured_part *parts;
    size_t n;
    size_t n_rows, n_values;
    struct rk_host *host;
    uint32_t by;     /* enum rk_by: what the rows are */
    size_t unplaced; /* CPUs that came, and for whose rows there was no memory */
};

/* Opens it all; the command waits for its start. 0, or -errno with *e filled. */
int measured_open(struct measured *measured, const struct stat_options *options, struct rk_host *host,
                  const struct rk_events *events, struct rk_error *e);

/* The targets that options name, without opening anything: the next one, or 1 behind the last. -errno. */
int measured_target(const struct stat_options *options, struct rk_host *host, const char **at,
                    struct rk_target **ret, struct rk_error *e);

int measured_enable(struct measured *measured);
int measured_disable(struct measured *measured);

/*
 * CPUs that came online since are counted from now on, and get their rows: n_rows and n_values grow, and so does each of
 * the n tables of values, where what was in a row stays in it and a new one begins with 0. 1: there are new rows;
 * 0: there are none.
 */
int measured_follow(struct measured *measured, struct rk_value **tables[], size_t n);

/* All values, and the state of each: n_values of them. 0 or -errno. */
int measured_read(struct measured *measured, struct rk_value *ret, uint32_t *ret_states);

/* The state of a sum of two. What is missing in one of them is missing in the sum. */
uint32_t measured_join(uint32_t a, uint32_t b);

/* n_rows of them, into `values`, of the same shape. */
void measured_rows(const struct measured *measured, const struct rk_value *values, const uint32_t *states,
                   struct rk_counts_row *ret);

/* The first set, or NULL: what is said of events is said of its. */
const struct rk_set *measured_set(const struct measured *measured);

void measured_close(struct measured *measured);

#endif

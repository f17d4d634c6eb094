/*
 * reckon/rows.h: the counts of a set, added up by where they were counted.
 *
 * A set on CPUs has a slot for each of them, a set on a process one for each of its threads. rk_set_total()
 * adds them all up; rows add up those of one CPU, core, die, socket, memory node, thread or cgroup:
 *
 *     struct rk_rows *rows;
 *     rk_rows_open(host, set, RK_BY_SOCKET, &rows, &e);
 *     size_t events = rk_set_event_count(set), n = rk_rows_count(rows) * events;
 *     struct rk_value *v = calloc(n, sizeof *v);
 *     rk_rows_read(rows, v, NULL, n);                     // v[row * events + event]
 *     for (size_t i = 0; i < rk_rows_count(rows); i++) {
 *         struct rk_row row = RK_INIT(row);
 *         rk_rows_get(rows, i, &row);
 *         printf("%s: %llu\n", row.name, (unsigned long long)v[i * events].value);
 *     }
 *     rk_rows_free(rows);
 *
 * Opening them costs O(slots × log slots), reading O(slots × events).
 * Slots that rk_set_refresh() adds are in no row until rk_rows_refresh().
 */
#ifndef RECKON_ROWS_H
#define RECKON_ROWS_H

#include <reckon/set.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rk_rows;

enum rk_by {
    RK_BY_ALL, /* one row for everything: rk_set_total() */

    /* These need a set on CPUs: -EINVAL where a slot is on no certain CPU. */
    RK_BY_CPU,
    RK_BY_CORE,
    RK_BY_DIE,
    RK_BY_SOCKET,
    RK_BY_NODE,

    RK_BY_THREAD, /* needs a set on threads */
    RK_BY_CGROUP, /* needs a set on cgroups */
};

/*
 * Makes the rows of a set, in the order of their numbers. Threads created later are counted with the thread
 * that created them, as the kernel does it. Returns 0 and *ret, or -errno.
 */
RK_API int rk_rows_open(struct rk_host *host, struct rk_set *set, uint32_t by, struct rk_rows **ret,
                        struct rk_error *e);

/* Takes NULL; returns NULL. */
RK_API struct rk_rows *rk_rows_free(struct rk_rows *rows);

struct rk_row {
    uint32_t size; /* RK_INIT sets it */
    uint32_t by;   /* enum rk_by */

    /* -1: not one for the whole row, or unknown. */
    int32_t cpu, core, die, socket, node, tid;

    /* How many slots were added up: the CPUs of a socket, say. */
    uint64_t slots;

    /* One of them, for rk_set_explain(): one that could not be read, where there is one. */
    uint64_t slot;

    /* "CPU3", "S0-D0-C1", "N1", "worker-4711", a cgroup's path; "" for everything. Lives as long as the
     * rows. */
    const char *name;
};

RK_API size_t rk_rows_count(const struct rk_rows *rows);
/* Returns 0 and *ret, or -ERANGE after the last row. */
RK_API int rk_rows_get(const struct rk_rows *rows, size_t row, struct rk_row *ret);

/*
 * After rk_set_refresh(): puts the slots that it added into their rows. A row that is there keeps its index,
 * and its values go on from where they are; new rows come after the last. Costs O(new slots × rows).
 *
 * Returns how many rows were added, so that your arrays can grow; or -errno, and the rows are as before.
 */
RK_API int rk_rows_refresh(struct rk_rows *rows, struct rk_error *e);

/*
 * Hot: reads every row's counts, one row after the other. `ret` and `ret_states` have room for n items, at
 * least rows × events. *ret_states gets an enum rk_state for each value; it may be NULL. An event that could
 * not be read in one of a row's slots is absent in that row. Returns 0 or -errno.
 */
RK_API int rk_rows_read(struct rk_rows *rows, struct rk_value *ret, uint32_t *ret_states, size_t n);

#ifdef __cplusplus
}
#endif
#endif

/*
 * Slots added up to rows.
 *
 *     places   one per slot, with the numbers of its CPU and its thread; sorted by what the rows are by, so that
 *              equal ones follow one another: O(slots × log slots)
 *     row_of   slot → row
 *     rows     one for each run of equal places, with its name
 */
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "set/state.h"
#include "sys/file.h"

#include <errno.h>
#include <reckon/rows.h>
#include <stdio.h>

struct place {
    uint32_t slot;
    int32_t tid, cpu, cgroup;
    int32_t key[3]; /* what it is sorted by, the largest thing first */
};

struct rk_rows {
    struct rk_set *set;
    uint32_t by;
    uint32_t *row_of;
    struct rk_row *rows;
    size_t n, slots;       /* … and how many slots are in them: a set may get more */
    struct rk_value *slot; /* scratch: the values of one slot … */
    uint32_t *states;      /* … and their states */
    struct arena names;
};

struct rk_rows *rk_rows_free(struct rk_rows *rows)
{
    if (!rows)
        return NULL;
    arena_free(&rows->names);
    free(rows->row_of);
    free(rows->rows);
    free(rows->slot);
    free(rows->states);
    rk_set_free(rows->set);
    free(rows);
    return NULL;
}

static int compare(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    for (int i = 0; i < 3; i++)
        if (x->key[i] != y->key[i])
            return x->key[i] < y->key[i] ? -1 : 1;
    return x->slot < y->slot ? -1 : x->slot > y->slot;
}

static bool same(const struct place *x, const struct place *y)
{
    return memcmp(x->key, y->key, sizeof x->key) == 0;
}

/* The place's key, and in *ret what its row says. */
static int locate(struct rk_host *host, uint32_t by, struct place *place, struct rk_row *ret)
{
    struct rk_cpu cpu = {.size = sizeof cpu};

    *ret = (struct rk_row){
        .size = sizeof *ret, .by = by, .cpu = -1, .core = -1, .die = -1, .socket = -1, .node = -1, .tid = -1};
    if (by == RK_BY_ALL)
        return 0;
    if (by == RK_BY_THREAD) {
        place->key[0] = ret->tid = place->tid;
        return 0;
    }
    if (by == RK_BY_CGROUP) {
        place->key[0] = place->cgroup;
        return 0;
    }
    int rc = rk_host_cpu(host, place->cpu, &cpu);
    if (rc == -ENOENT || rc == -EPERM || rc == -EACCES) /* no /sys: it is somewhere */
        cpu.core = cpu.die = cpu.socket = cpu.node = -1;
    else if (rc < 0)
        return rc;
    if (by == RK_BY_NODE) {
        place->key[0] = ret->node = cpu.node;
        return 0;
    }
    place->key[0] = ret->socket = cpu.socket;
    if (by == RK_BY_SOCKET)
        return 0;
    place->key[1] = ret->die = cpu.die;
    if (by == RK_BY_DIE)
        return 0;
    place->key[2] = ret->core = cpu.core;
    if (by == RK_BY_CORE)
        return 0;
    ret->cpu = place->cpu;
    ret->node = cpu.node;
    place->key[0] = place->cpu; /* in the order of their own numbers */
    place->key[1] = place->key[2] = 0;
    return 0;
}

static int cannot_locate(int rc, const struct place *place, struct rk_error *e)
{
    return rc == -ENOMEM ? fail_memory(e, RK_STAGE_READ)
                         : fail(e, rc, RK_STAGE_READ, RK_CAUSE_UNKNOWN, NULL,
                                "cannot read where CPU %d is: %s", place->cpu, strerror(-rc));
}

static int place_slot(const struct rk_rows *rows, struct rk_host *host, uint32_t slot, struct place *ret,
                      struct rk_error *e)
{
    const struct set_slot *at = &rows->set->slots[slot];
    struct rk_row unused;

    *ret = (struct place){.slot = slot, .tid = at->pid, .cpu = at->cpu, .cgroup = (int32_t)at->cgroup};
    int rc = locate(host, rows->by, ret, &unused);
    return rc < 0 ? cannot_locate(rc, ret, e) : 0;
}

/* "3", or "?" where the machine does not say. */
static const char *digits(char *to, size_t size, int32_t number)
{
    snprintf(to, size, number < 0 ? "?" : "%d", number);
    return to;
}

static const char *name_row(struct rk_rows *rows, const struct rk_row *row, int proc)
{
    char text[80] = "", path[32], comm[40], s[12], d[12], c[12];

    digits(s, sizeof s, row->socket);
    digits(d, sizeof d, row->die);
    digits(c, sizeof c, row->core);
    switch (row->by) {
    case RK_BY_CPU:
        snprintf(text, sizeof text, "CPU%d", row->cpu);
        break;
    case RK_BY_CORE:
        snprintf(text, sizeof text, "S%s-D%s-C%s", s, d, c);
        break;
    case RK_BY_DIE:
        snprintf(text, sizeof text, "S%s-D%s", s, d);
        break;
    case RK_BY_SOCKET:
        snprintf(text, sizeof text, "S%s", s);
        break;
    case RK_BY_NODE:
        snprintf(text, sizeof text, "N%s", digits(s, sizeof s, row->node));
        break;
    case RK_BY_THREAD:
        snprintf(path, sizeof path, "proc/%d/comm", row->tid);
        if (row->tid <= 0 || proc < 0 || sys_file_text(proc, path, comm, sizeof comm) < 0)
            snprintf(comm, sizeof comm, "thread"); /* it has ended, or is our own */
        snprintf(text, sizeof text, "%s-%d", comm, row->tid);
        break;
    }
    return arena_text(&rows->names, text, strlen(text));
}

/* One more row, which begins with the slot of that place. There is room for it. */
static int add_row(struct rk_rows *rows, struct rk_host *host, struct place *place, int proc,
                   struct rk_error *e)
{
    struct rk_row *row = &rows->rows[rows->n];
    int rc = locate(host, rows->by, place, row);

    if (rc < 0)
        return cannot_locate(rc, place, e);
    row->slot = place->slot;
    const char *cgroup = rows->by == RK_BY_CGROUP ? set_slot_cgroup(rows->set, row->slot) : NULL;
    row->name = cgroup ? arena_text(&rows->names, cgroup, strlen(cgroup)) : name_row(rows, row, proc);
    if (!row->name)
        return fail_memory(e, RK_STAGE_READ);
    rows->n++;
    return 0;
}

/* A row for each run of equal places. */
static int collect(struct rk_rows *rows, struct rk_host *host, struct place *places, struct rk_error *e)
{
    _cleanup_close_ int proc = rows->by == RK_BY_THREAD ? sys_root_open(NULL) : -1;

    for (size_t i = 0; i < rows->slots; i++) {
        int rc = i == 0 || !same(&places[i - 1], &places[i]) ? add_row(rows, host, &places[i], proc, e) : 0;
        if (rc < 0)
            return rc;
        rows->rows[rows->n - 1].slots++;
        rows->row_of[places[i].slot] = (uint32_t)(rows->n - 1);
    }
    return 0;
}

/* A slot that is on no certain CPU, or on no certain thread, can't be put where it is asked to be. */
static int check(const struct rk_set *set, uint32_t by, struct rk_error *e)
{
    if (by > RK_BY_CGROUP)
        return fail_argument(e, RK_STAGE_READ, "rk_rows_open: there is no enum rk_by %u", by);
    for (uint32_t i = 0; i < set->n_slots; i++) {
        if (by == RK_BY_THREAD && set->slots[i].pid < 0)
            return fail(e, -EINVAL, RK_STAGE_READ, RK_CAUSE_ARGUMENT, "measure a process or a thread",
                        "counts of CPUs are not kept by thread");
        if (by == RK_BY_CGROUP && !set_slot_cgroup(set, i))
            return fail(e, -EINVAL, RK_STAGE_READ, RK_CAUSE_ARGUMENT, "measure cgroups",
                        "only counts of cgroups are kept by cgroup");
        if (by >= RK_BY_CPU && by <= RK_BY_NODE && set->slots[i].cpu < 0)
            return fail(e, -EINVAL, RK_STAGE_READ, RK_CAUSE_ARGUMENT,
                        "measure CPUs, or split threads by CPU: rk_target_on_cpus()",
                        "counts of a thread on any CPU are not kept by CPU");
    }
    return 0;
}

static int fill(struct rk_rows *rows, struct rk_host *host, struct rk_error *e)
{
    const struct rk_set *set = rows->set;
    size_t n = set->n_slots ? set->n_slots : 1;
    _cleanup_free_ struct place *places = calloc(n, sizeof *places);

    rows->slots = set->n_slots;
    rows->row_of = calloc(n, sizeof *rows->row_of);
    rows->rows = calloc(n, sizeof *rows->rows);
    rows->slot = calloc(set->n_events ? set->n_events : 1, sizeof *rows->slot);
    rows->states = calloc(set->n_events ? set->n_events : 1, sizeof *rows->states);
    if (!places || !rows->row_of || !rows->rows || !rows->slot || !rows->states)
        return fail_memory(e, RK_STAGE_READ);
    for (uint32_t i = 0; i < set->n_slots; i++) {
        int rc = place_slot(rows, host, i, &places[i], e);
        if (rc < 0)
            return rc;
    }
    qsort(places, set->n_slots, sizeof *places, compare);
    return collect(rows, host, places, e);
}

int rk_rows_open(struct rk_host *host, struct rk_set *set, uint32_t by, struct rk_rows **ret,
                 struct rk_error *e)
{
    if (!host || !set || !ret)
        return fail_null(e, RK_STAGE_READ, "rk_rows_open", !host ? "host" : !set ? "set" : "ret");
    if (is_forked(set))
        return fail(e, -ESTALE, RK_STAGE_READ, RK_CAUSE_FORKED, NULL,
                    "the set belongs to the process that this one was forked from");
    int rc = check(set, by, e);
    if (rc < 0)
        return rc;
    struct rk_rows *rows = calloc(1, sizeof *rows);
    if (!rows)
        return fail_memory(e, RK_STAGE_READ);
    rows->set = set_keep(set);
    rows->by = by;
    rc = fill(rows, host, e);
    if (rc < 0) {
        rk_rows_free(rows);
        return rc;
    }
    *ret = rows;
    return 0;
}

/* Room for all of the set's slots, each of them maybe a row of its own. */
static int make_room(struct rk_rows *rows)
{
    size_t slots = rows->set->n_slots;
    uint32_t *row_of = realloc(rows->row_of, slots * sizeof *row_of);
    if (!row_of)
        return -ENOMEM;
    rows->row_of = row_of;
    struct rk_row *more = realloc(rows->rows, (rows->n + slots - rows->slots) * sizeof *more);
    if (!more)
        return -ENOMEM;
    rows->rows = more;
    return 0;
}

/* Slots that came into their rows, whose places are those of `rows_at`, or into rows of their own. */
static int place_fresh(struct rk_rows *rows, struct place *rows_at, struct rk_error *e)
{
    struct rk_host *host = rows->set->host;
    _cleanup_close_ int proc = rows->by == RK_BY_THREAD ? sys_root_open(NULL) : -1;
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < rows->n; i++)
        rc = place_slot(rows, host, (uint32_t)rows->rows[i].slot, &rows_at[i], e);
    for (uint32_t slot = (uint32_t)rows->slots; rc == 0 && slot < rows->set->n_slots; slot++) {
        struct place place;
        uint32_t row = 0;
        rc = place_slot(rows, host, slot, &place, e);
        while (rc == 0 && row < rows->n && !same(&rows_at[row], &place))
            row++;
        if (rc == 0 && row == rows->n) {
            rows_at[row] = place;
            rc = add_row(rows, host, &place, proc, e);
        }
        rows->row_of[slot] = row;
    }
    return rc;
}

int rk_rows_refresh(struct rk_rows *rows, struct rk_error *e)
{
    if (!rows)
        return fail_null(e, RK_STAGE_READ, "rk_rows_refresh", "rows");
    const struct rk_set *set = rows->set;
    size_t had = rows->n;
    if (is_forked(set))
        return set_fail(set, RK_STAGE_READ, UINT32_MAX, UINT32_MAX, -ESTALE, 0, e);
    if (rows->slots == set->n_slots)
        return 0;
    _cleanup_free_ struct place *rows_at = calloc(had + set->n_slots - rows->slots, sizeof *rows_at);
    if (!rows_at || make_room(rows) < 0)
        return fail_memory(e, RK_STAGE_READ);
    int rc = place_fresh(rows, rows_at, e);
    if (rc < 0) {
        rows->n = had;
        return rc;
    }
    for (; rows->slots < set->n_slots; rows->slots++)
        rows->rows[rows->row_of[rows->slots]].slots++;
    return (int)(rows->n - had);
}

size_t rk_rows_count(const struct rk_rows *rows)
{
    return rows ? rows->n : 0;
}

int rk_rows_get(const struct rk_rows *rows, size_t row, struct rk_row *ret)
{
    if (!rows || !ret)
        return -EINVAL;
    return row < rows->n ? result_give(ret, &rows->rows[row], sizeof rows->rows[row]) : -ERANGE;
}

/* A slot that could not be read makes the sum of its row unknown, not smaller. */
static void forget_faulty(struct rk_rows *rows, struct rk_value *ret, uint32_t *ret_states)
{
    const struct rk_set *set = rows->set;

    for (uint32_t slot = 0; slot < rows->slots && slot < set->n_slots; slot++)
        for (uint32_t i = 0; i < set->n_events; i++) {
            int32_t fault = set->faults[(size_t)slot * set->n_events + i];
            size_t at = (size_t)rows->row_of[slot] * set->n_events + i;
            if (!fault)
                continue;
            ret[at] = (struct rk_value){0};
            rows->rows[rows->row_of[slot]].slot = slot;
            if (ret_states)
                ret_states[at] = state_fault(ret_states[at], fault);
        }
}

int rk_rows_read(struct rk_rows *rows, struct rk_value *ret, uint32_t *ret_states, size_t n)
{
    if (!rows || !ret)
        return -EINVAL;
    struct rk_set *set = rows->set;
    size_t events = set->n_events;
    if (n < rows->n * events)
        return -EINVAL;
    memset(ret, 0, rows->n * events * sizeof *ret);
    for (size_t i = 0; ret_states && i < rows->n * events; i++)
        ret_states[i] = RK_STATE_ABSENT;
    for (uint32_t slot = 0; slot < rows->slots && slot < set->n_slots; slot++) {
        /* A thread that is opened on each CPU apart is enabled on all of them while it runs on one. */
        bool again = slot > 0 && !set->on_cpus && set->slots[slot].pid >= 0 &&
                     set->slots[slot].pid == set->slots[slot - 1].pid &&
                     rows->row_of[slot] == rows->row_of[slot - 1];
        size_t to = rows->row_of[slot] * events;
        int rc = rk_set_read(set, slot, rows->slot, ret_states ? rows->states : NULL, events);
        if (rc < 0)
            return rc;
        for (size_t i = 0; i < events; i++)
            if (!set->events[i].absent) {
                ret[to + i].value += rows->slot[i].value;
                ret[to + i].enabled += again ? 0 : rows->slot[i].enabled;
                ret[to + i].running += rows->slot[i].running;
            }
        if (ret_states)
            state_add(set, rows->states, &ret_states[to]);
    }
    if (set->faulty)
        forget_faulty(rows, ret, ret_states);
    return 0;
}

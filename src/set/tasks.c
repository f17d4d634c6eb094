/*
 * Slots that come and go: the threads of processes.
 *
 * Where counters are inherited nothing need be done: who is created later is counted with who created it. To open one of
 * those would count it twice. Where they are not, rk_set_refresh() opens the threads that it finds, and closes those that
 * have ended; their counts are kept.
 *
 * An id may be another thread's since. So each slot remembers when its thread was created (/proc/ID/stat has it in ticks
 * of 10 ms), and so does the set for the processes that it was opened on.
 *
 * A process of a tree whose parent has ended is another's child from then on, and is followed all the same: the leaders of
 * the threads that are measured are looked up too.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "set/follow.h"
#include "sys/limit.h"

#include <errno.h>
#include <string.h>

struct tids {
    VECTOR(int32_t) list;
};

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static bool is_in(int32_t tid, const int32_t *tids, size_t n)
{
    return n && bsearch(&tid, tids, n, sizeof tid, by_number);
}

static int push(struct tids *tids, int32_t tid)
{
    int32_t *at = vector_push(&tids->list);

    if (!at)
        return -ENOMEM;
    *at = tid;
    return 0;
}

int follow_tasks_begin(struct rk_set *set)
{
    set->roots_born = calloc(set->whom.n ? set->whom.n : 1, sizeof *set->roots_born);
    if (!set->roots_born)
        return -ENOMEM;
    for (size_t i = 0; i < set->whom.n; i++)
        set->roots_born[i] = target_born(set->whom.ids[i]);
    set->follows_tasks = true;
    return 0;
}

/* The same thread as when it was opened, as far as can be known. */
static bool is_same(int32_t tid, uint64_t born)
{
    uint64_t now = born ? target_born(tid) : 0;

    return !now || now == born;
}

/* The leaders of threads that live and are not in the list. */
static int add_orphans(const struct rk_set *set, const int32_t *tids, size_t n, struct tids *roots)
{
    int32_t leader, parent;
    int rc = 0;

    for (uint32_t slot = 0; rc == 0 && slot < set->n_slots; slot++)
        if (!follow_absent(set, slot) && !is_in(set->slots[slot].pid, tids, n) &&
            is_same(set->slots[slot].pid, set->parts[slot].born) &&
            target_relations(set->slots[slot].pid, &leader, &parent))
            rc = push(roots, leader);
    return rc;
}

/* The threads that are to be measured now, ascending. */
static int list_threads(const struct rk_set *set, int32_t **ret, size_t *ret_n)
{
    bool tree = set->whom.kind == TARGET_TREE;
    struct tids roots = {0};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < set->whom.n; i++)
        if (is_same(set->whom.ids[i], set->roots_born[i]))
            rc = push(&roots, set->whom.ids[i]);
    size_t n = roots.list.n;
    if (rc == 0)
        rc = target_tasks(roots.list.items, n, tree, ret, ret_n);
    if (rc == 0 && tree) {
        rc = add_orphans(set, *ret, *ret_n, &roots);
        if (rc < 0 || roots.list.n > n) {
            free(*ret);
            *ret = NULL;
        }
        if (rc == 0 && roots.list.n > n)
            rc = target_tasks(roots.list.items, roots.list.n, tree, ret, ret_n);
    }
    vector_free(&roots.list);
    return rc;
}

/* Closes slots whose thread has ended: how many. */
static int close_ended(struct rk_set *set, const int32_t *tids, size_t n)
{
    int closed = 0;

    for (uint32_t slot = 0; slot < set->n_slots; slot++) {
        int32_t tid = set->slots[slot].pid;
        if (follow_absent(set, slot) ||
            ((is_in(tid, tids, n) || target_lives(tid)) && is_same(tid, set->parts[slot].born)))
            continue;
        follow_close(set, slot);
        closed++;
    }
    return closed;
}

/* A slot for the thread, or one for each CPU: how many were opened, or -errno with *e. */
static int open_thread(struct rk_set *set, int32_t tid, struct rk_error *e)
{
    uint32_t n = set->on_cpus ? set->n_cpus : 1;
    int rc = follow_room(set, (size_t)set->n_slots + n), opened = 0;
    uint64_t born = target_born(tid);

    if (rc < 0)
        return fail_memory(e, RK_STAGE_OPEN);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slot = set->n_slots++;
        set->slots[slot] =
            (struct set_slot){.pid = tid, .cpu = set->on_cpus ? set->cpus[i] : -1, .cgroup = SET_NO_CGROUP};
        set->parts[slot].born = born;
        rc = follow_open(set, slot);
        if (rc == -EINVAL && !target_lives(tid)) /* it has ended between two members of a group */
            rc = 0;
        if (rc < 0)
            set_fail(set, RK_STAGE_OPEN, slot, set->members[0], rc, 0, e);
        if (rc <= 0) {
            set->n_slots--;
            return rc < 0 && !opened ? rc : opened;
        }
        opened++;
    }
    return opened;
}

/* Threads without a slot get one: how many slots, or the first -errno, after all others were tried. */
static int open_fresh(struct rk_set *set, const int32_t *tids, size_t n, struct rk_error *e)
{
    struct rk_error error = {.size = sizeof error};
    struct tids known = {0};
    int opened = 0, first = 0, rc = 0;

    for (uint32_t slot = 0; rc == 0 && slot < set->n_slots; slot++)
        if (!follow_absent(set, slot))
            rc = push(&known, set->slots[slot].pid);
    if (rc == 0 && known.list.n)
        qsort(known.list.items, known.list.n, sizeof *known.list.items, by_number);
    for (size_t i = 0; rc == 0 && i < n && first != -EMFILE && first != -ENOMEM; i++) {
        if (is_in(tids[i], known.list.items, known.list.n))
            continue;
        int one = open_thread(set, tids[i], &error);
        opened += one > 0 ? one : 0;
        if (one < 0 && first == 0) {
            first = one;
            error_give(e, &error);
        }
    }
    vector_free(&known.list);
    return rc < 0 ? fail_memory(e, RK_STAGE_OPEN) : first < 0 ? first : opened;
}

int follow_tasks(struct rk_set *set, struct rk_error *e)
{
    _cleanup_free_ int32_t *tids = NULL;
    size_t n = 0;
    int rc = 0;

    if (!set->parts) {
        rc = follow_room(set, set->n_slots);
        for (uint32_t slot = 0; rc == 0 && slot < set->n_slots; slot++)
            set->parts[slot].born = target_born(set->slots[slot].pid);
    }
    if (rc == 0)
        rc = list_threads(set, &tids, &n);
    if (rc == -ENOMEM)
        return fail_memory(e, RK_STAGE_OPEN);
    if (rc < 0)
        return fail(e, rc, RK_STAGE_TARGET, rc == -EMFILE ? RK_CAUSE_DESCRIPTORS : RK_CAUSE_NO_FILE,
                    rc == -EMFILE ? sys_limit_more_descriptors() : NULL,
                    "cannot read the threads of the processes from /proc: %s", strerror(-rc));
    int closed = close_ended(set, tids, n);
    rc = open_fresh(set, tids, n, e);
    return rc < 0 ? rc : closed + rc;
}

/*
 * The race. A process is opened thread by thread, and goes on meanwhile. A thread that is born by one which has its
 * counters already inherits them, and is counted; one that is born by a thread which has not is counted by nobody.
 * Both look alike in /proc afterwards. To open all that are found would count the first kind twice; to open none
 * misses the second kind.
 *
 * What can be told: without inheritance none is counted, and all are to be opened. With it, a thread that was born
 * before the first counter was opened has inherited nothing. /proc/ID/stat has its birth in ticks of 10 ms, taken
 * after the inheritance; so a tick before the one in which opening began is sure, and the same tick is not. The others
 * are ambiguous; they are left as they are and told of. Where that is not enough the target has to stand still
 * meanwhile: target/freeze.h.
 *
 * Mostly nobody was born. Ids are given in turn, and /proc/loadavg ends with the last one: where it has not moved, or
 * the few that were given since are of others, that is known without another look at thousands of threads.
 */
#include "set/births.h"

#include "base/cleanup.h"
#include "sys/file.h"

#include <errno.h>
#include <stdio.h>

#define FEW 100 /* ids to be looked at one by one */

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

int32_t births_mark(void)
{
    _cleanup_close_ int root = sys_root_open(NULL);
    char text[128];
    int last;

    if (root < 0 || sys_file_text(root, "proc/loadavg", text, sizeof text) < 0 ||
        sscanf(text, "%*s %*s %*s %*s %10d", &last) != 1)
        return 0;
    return last;
}

static bool is_known(const struct births *births, int32_t tid)
{
    return births->known.n && bsearch(&tid, births->known.items, births->known.n, sizeof tid, by_number);
}

bool births_none(struct births *births, int32_t mark)
{
    int32_t now = births_mark(), leader, parent;
    bool none = true;

    births->children = 0;
    if (!mark || now < mark || now - mark > FEW)
        return false;
    for (int32_t id = mark + 1; id <= now; id++) {
        if (!target_relations(id, &leader, &parent)) /* ended, or never was */
            continue;
        bool thread = is_known(births, leader), child = !thread && is_known(births, parent);
        births->children += child && leader == id;
        none = none && (is_known(births, id) || (!thread && !child));
    }
    return none;
}

int births_between(const struct rk_set *set, int32_t from, int32_t to)
{
    int32_t leader, parent;
    int n = 0;

    if (!from || to < from || to - from > FEW)
        return -1;
    for (int32_t id = from + 1; id <= to; id++) {
        uint32_t slot = 0;
        if (!target_relations(id, &leader, &parent))
            continue;
        while (slot < set->n_slots && set->slots[slot].pid != leader && set->slots[slot].pid != parent)
            slot++;
        n += slot < set->n_slots && set->slots[slot].pid != id;
    }
    return n;
}

int births_know(struct births *births, int32_t tid)
{
    size_t n = births->known.n;
    int32_t *at;

    if (n && births->known.items[n - 1] == tid) /* slots of one thread follow one another */
        return 0;
    at = vector_push(&births->known);
    if (!at)
        return -ENOMEM;
    *at = tid;
    return 0;
}

static int push(struct births *births, int32_t tid)
{
    int32_t *at = vector_push(&births->missed);

    if (!at)
        return -ENOMEM;
    *at = tid;
    return 0;
}

int births_look(struct births *births, const struct rk_target *target, uint64_t began, bool inherit)
{
    _cleanup_free_ int32_t *now = NULL;
    size_t n, known = births->known.n, k = 0;
    int rc = target_ids(target, &now, &n, NULL), found = 0;

    births->missed.n = 0;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        while (k < known && births->known.items[k] < now[i]) /* both ascend */
            k++;
        if (k < known && births->known.items[k] == now[i])
            continue;
        uint64_t born = inherit ? target_born(now[i]) : 0;
        found++;
        if (!inherit || (born && born < began))
            rc = push(births, now[i]);
        else
            births->ambiguous++;
        if (rc == 0)
            rc = births_know(births, now[i]);
    }
    if (rc == 0 && found)
        qsort(births->known.items, births->known.n, sizeof *births->known.items, by_number);
    return rc < 0 ? rc : found;
}

void births_free(struct births *births)
{
    vector_free(&births->known);
    vector_free(&births->missed);
}

/*
 * Enable and disable: an ioctl(2) on each group's leader, which holds its siblings.
 *
 * Where counters are inherited the kernel has one more to do for each thread that was born since, and it may pass over
 * one that is just being born. A child takes the state of its parent's counter (on or off) before it is put on the list
 * of those that the ioctl switches, and what should keep the two apart is the lock of the parent's context. But to save
 * itself work the kernel swaps the contexts of two threads that have the same counters when it goes from one to the
 * other, and then the ioctl holds the lock of the context that has our descriptors, which is another thread's by now.
 * So the child is left off among others that are on; and when the kernel next swaps, its parent gets the context that is
 * off, for good: the process stands still. (Linux 6.18: in 1 of 100 openings of a process that bears threads all the
 * time. What is disabled goes on likewise.)
 *
 * What helps is a counter that is not inherited, put on the thread meanwhile: contexts that differ are not swapped.
 *
 *     open the guard    the thread keeps the context that it has now, ours or not
 *     switch            that context too: all that is born by the thread from here on is as it should be
 *     close the guard   waits for the lock of the thread's own context, and so until a birth that had begun is listed
 *     switch again      what was born meanwhile, and took the state from before
 *
 * That holds for the threads that were opened. One that was born of them since, and itself bears another in these few
 * microseconds, has no guard: of its children one may still be missed. Ids are given in turn (set/births.c), so that it
 * is seen, and told of in a note, where somebody of the family was born since the opening, and somebody meanwhile.
 */
#include "set/births.h"
#include "set/policy.h"
#include "set/private.h"
#include "sys/file.h"
#include "sys/perf.h"
#include "sys/process.h"

#include <errno.h>

int rk_sets_enable(void)
{
    return sys_thread_counters(1);
}

int rk_sets_disable(void)
{
    return sys_thread_counters(0);
}

/* The third argument of the ioctl is 0: the leader alone. */
static inline int switch_slot(const struct rk_set *set, uint32_t slot, unsigned request)
{
    int first = set->clocks && set->clocks[slot] >= 0 ? sys_perf_control(set->clocks[slot], request, 0) : 0;

    for (uint32_t g = 0; g < set->n_groups; g++) {
        int fd = fd_of(set, slot, set->members[set->groups[g].first]);
        int rc =
            fd < 0 ? 0 : sys_perf_control(fd, request, 0); /* -1: its CPU has gone, or is not its PMU's */
        if (rc < 0 && first == 0)
            first = rc;
    }
    return first;
}

/* The slots from `slot` on that are the same thread's, one for each CPU: the last is *ret. */
static int switch_thread(const struct rk_set *set, uint32_t slot, unsigned request, uint32_t *ret)
{
    int32_t pid = set->slots[slot].pid;
    int first = 0;

    for (; slot < set->n_slots && set->slots[slot].pid == pid; slot++) {
        int rc = switch_slot(set, slot, request);
        if (rc < 0 && first == 0)
            first = rc;
        *ret = slot;
    }
    return first;
}

/* Threads that bear others meanwhile. Without a guard (the thread has ended, there is no descriptor left) it is as good
 * as it can be. */
static __attribute__((noinline)) int switch_family(const struct rk_set *set, unsigned request)
{
    int first = 0;

    for (uint32_t slot = 0; slot < set->n_slots; slot++) {
        static const struct rk_set_options disabled = {.size = sizeof disabled};
        struct perf_attr attr;
        policy_clock(&disabled, TARGET_THREAD, false, &attr);
        uint32_t last = slot;
        int guard = sys_perf_open(&attr, set->slots[slot].pid, -1, -1, 0);
        int rc = switch_thread(set, slot, request, &last);
        if (guard >= 0) {
            sys_close(guard);
            rc = switch_thread(set, slot, request, &last);
        }
        if (rc < 0 && first == 0)
            first = rc;
        slot = last;
    }
    return first;
}

/* Once for a set; rk_set_note_get() tells. There is room for it since the opening. */
static void note_doubt(struct rk_set *set, int32_t before)
{
    int32_t after = births_mark();

    if (set->doubted || after == before || births_between(set, before, after) == 0 ||
        births_between(set, set->mark, before) == 0)
        return;
    struct set_note *note = vector_push(&set->notes);
    set->doubted = true;
    if (note)
        *note = (struct set_note){UINT32_MAX, RK_CAUSE_RACE, false,
                                  "threads or children were created while the counters were switched: those "
                                  "whose parent was itself "
                                  "created since the opening may have missed it",
                                  "open it enabled, and subtract a first reading"};
}

static int toggle(struct rk_set *set, unsigned request)
{
    int first = 0;

    if (!set)
        return -EINVAL;
    if (is_forked(set))
        return -ESTALE;
    if (set->family) {
        int32_t before = births_mark();
        if (!set->mark || before != set->mark) {
            first = switch_family(set, request);
            note_doubt(set, before);
            return first;
        }
    }
    for (uint32_t slot = 0; slot < set->n_slots; slot++) {
        int rc = switch_slot(set, slot, request);
        if (rc < 0 && first == 0)
            first = rc;
    }
    return first;
}

int rk_set_enable(struct rk_set *set)
{
    int rc = toggle(set, IOC_ENABLE);

    if (set) {
        set->enabled |= rc == 0;
        set->was_enabled |= rc == 0;
        set_choose_page(set);
        if (rc == 0 && set->when_enabled)
            set->when_enabled(set->when_enabled_context);
    }
    return rc;
}

int rk_set_disable(struct rk_set *set)
{
    int rc = toggle(set, IOC_DISABLE);

    if (set) {
        if (rc != -ESTALE)
            set->enabled = false; /* even where only some were: user-space reads are for those that run */
        set_choose_page(set);
    }
    return rc;
}

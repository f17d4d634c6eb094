/*
 * Slots that come and go: what reading has to know of them, and what following CPUs and following threads share.
 */
#ifndef SET_FOLLOW_H
#define SET_FOLLOW_H

#include "set/plan.h"
#include "set/private.h"

/* Of a set whose slots come and go, one per slot. */
struct set_part {
    uint64_t born; /* of a thread: target_born(); 0: unknown */
    bool absent;   /* it has no descriptors: its CPU is offline, or its thread has ended */
};

/* An event that counts nothing on a CPU. Its time stands still from the moment when the CPU goes offline. */
struct set_watch {
    int32_t cpu;
    int fd;        /* -1: the CPU is offline, or there is no descriptor left */
    bool returned; /* the last look found that the CPU was offline in between */
};

/* Whether the slot has no descriptors. Of a set that has `parts`. */
static inline bool follow_absent(const struct rk_set *set, uint32_t slot)
{
    return set->parts[slot].absent;
}

/* Adds what the slot's earlier descriptors counted: to what is there now, or in place of it. */
void follow_add(struct rk_set *set, uint32_t slot, struct rk_value *ret);

/* Room and parts for so many slots. Those after n_slots are absent. Returns 0 or -ENOMEM. */
int follow_room(struct rk_set *set, size_t slots);

/* Closes the slot's descriptors. Their counts are kept. */
void follow_close(struct rk_set *set, uint32_t slot);

/* Opens an absent slot, and enables it if the set is. Returns 1; 0 if its CPU, cgroup or thread is gone; or -errno. */
int follow_open(struct rk_set *set, uint32_t slot);

/* Before the slots of cgroups are opened: a watch for each CPU of the plan. Returns 0 or -ENOMEM. */
int follow_watch(struct rk_set *set, const struct plan *plan);
void follow_unwatch(struct rk_set *set);

/* set/tasks.c: remembers which processes these are; and rk_set_refresh() of threads. */
int follow_tasks_begin(struct rk_set *set);
int follow_tasks(struct rk_set *set, struct rk_error *e);

#endif

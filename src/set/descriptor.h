/*
 * One event of one slot → a descriptor: the system call, the steps down after a refusal, and what is said where there is
 * none left.
 */
#ifndef SET_DESCRIPTOR_H
#define SET_DESCRIPTOR_H

#include "set/births.h"
#include "set/groups.h"
#include "set/plan.h"

#define AGAIN 2   /* the group, from its leader on */
#define RESTART 1 /* begin again */

/* A set while it is being opened. */
struct opening {
    struct rk_set *set;
    struct plan *plan;
    const struct rk_target *target;
    struct policy policy;
    uint64_t began;        /* sys_boot_ticks() */
    int again;             /* tries of the group that is being opened */
    struct births births;  /* of what attaches: its threads are known from the beginning */
    bool frozen;           /* the target stands still */
    int directory;         /* of the cgroup that is being opened … */
    uint32_t cgroup;       /* … which is this */
    struct rk_error first; /* why the first absent event is absent */
    bool have_first;
    bool raised;        /* the descriptor limit was looked after */
    struct rk_error *e; /* never NULL */
};

/* 0; AGAIN; RESTART; or -errno with *o->e. */
int descriptor_open(struct opening *o, uint32_t slot, const struct set_group *group, uint32_t event,
                    int leader_fd);

/* The kernel has refused the event: 0 it is to be tried again with less; RESTART; -errno with *o->e. */
int descriptor_step_down(struct opening *o, uint32_t slot, const struct set_group *group, uint32_t event,
                         int leader_fd, int code);

/* `error` says why the event can't be opened: leaves it out where that is wanted, else fails. */
int descriptor_leave_out(struct opening *o, uint32_t event, const struct rk_error *error);

/* The attrs of all events, as the policy has them now. */
void descriptor_attrs(struct opening *o);

/* The bare call, in the cgroup whose directory is open, or -1. */
int descriptor_call(const struct rk_set *set, struct perf_attr *attr, uint32_t slot, int directory,
                    int leader_fd);

/* Has the directory of the slot's cgroup open, if it has one, until another's is wanted: 0 or -errno. */
int descriptor_cgroup(const struct rk_set *set, uint32_t slot, int *directory, uint32_t *cgroup);

/*
 * sys_perf_read() of a group's leader, tried again for some milliseconds where it gives -ECHILD. It does so while a
 * thread that has inherited the group is ending: the kernel takes its members away one by one, and sums up only what is
 * whole. That takes microseconds, or until the thread gets its CPU back. Only a thread that was born while its parent's
 * group was half open makes it last.
 */
int descriptor_read_group(int fd, uint64_t *words, size_t n_words);

void descriptor_close(int *fd);

#endif

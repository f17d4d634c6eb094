/*
 * The target from inside.
 */
#ifndef TARGET_TARGET_H
#define TARGET_TARGET_H

#include "base/vector.h"

#include <reckon/target.h>
#include <stdbool.h>

enum target_kind {
    TARGET_SELF,    /* the thread that asks: id 0 */
    TARGET_THREAD,  /* one thread id */
    TARGET_PROCESS, /* the thread ids of /proc/PID/task */
    TARGET_COMMAND, /* one thread id: the child's, which waits before its exec until rk_target_start() */
    TARGET_CPUS,    /* CPU numbers */
    TARGET_TREE,    /* the thread ids of a process and of all that descend from it */
    TARGET_CGROUPS, /* CPU numbers, for each of the cgroups */
};

enum target_state {
    TARGET_WAITING, /* forked, waits for its release */
    TARGET_RUNNING, /* exec done */
    TARGET_ENDED,   /* reaped; `end` holds */
    TARGET_FAILED,  /* could not exec, or was killed before; reaped */
};

struct rk_target {
    uint32_t others; /* handles that keep it beside its maker: target_keep() */
    enum target_kind kind;
    int32_t pid; /* thread, process or command; 0 self; -1 CPUs */
    /* More than one thread or process: all of them, ascending, `pid` the first; else NULL. */
    int32_t *several;
    size_t n_several;
    int32_t *cpus; /* ascending; NULL: all that are online whenever it is asked, as `host` tells */
    size_t n_cpus;
    bool on_cpus;         /* threads, each on each of these CPUs apart: rk_target_on_cpus() */
    struct rk_host *host; /* CPUs and cgroups */
    struct target_cgroup {
        char *name; /* as the caller wrote it */
        char *path; /* from the host's root on */
    } * cgroups;
    size_t n_cgroups;

    /* A command; a process, tree or thread has pidfd alone. */
    int pidfd;   /* -1: this kernel has none */
    int channel; /* our end of the socket pair to the child before its exec, or -1 */
    int32_t owner;
    enum target_state state;
    char *name; /* argv[0] */
    int hides;  /* enum sys_exec_hides: its exec ends what is opened on it */
    uint64_t started_ns;
    struct rk_exit end;
};

/* Counted by CPU, whoever runs there: what is not counted by thread. */
static inline bool target_by_cpu(enum target_kind kind)
{
    return kind == TARGET_CPUS || kind == TARGET_CGROUPS;
}

/* Something that runs already, and may have or get any number of threads. */
static inline bool target_attaches(enum target_kind kind)
{
    return kind == TARGET_PROCESS || kind == TARGET_TREE;
}

/*
 * What is measured now: for CPUs and cgroups CPU numbers, else thread ids (perf_event_open's pid argument, 0 for
 * self), ascending, at least one. Processes, and all CPUs, are read anew at each call. The caller frees the array.
 * 0 or -errno with *e filled (RK_CAUSE_NO_PROCESS: it has ended).
 */
int target_ids(const struct rk_target *target, int32_t **ret, size_t *ret_n, struct rk_error *e);

/* The threads of those of these processes that /proc shows, and with `tree` of all that descend from them: ascending, each
 * once. None is no error. The caller frees the array. 0 or -errno. */
int target_tasks(const int32_t *pids, size_t n, bool tree, int32_t **ret, size_t *ret_n);

/* When a thread was born, in sys_boot_ticks(); 0 where it can't be told. */
uint64_t target_born(int32_t tid);

/* Whose child a process is; 0 for a thread that does not lead one, and where it can't be told. */
int32_t target_parent(int32_t pid);

/* The leader of a thread, and whose child that is: true, or false where there is no such thread. */
bool target_relations(int32_t tid, int32_t *ret_leader, int32_t *ret_parent);

/* Whether a thread lives: 1, or 0. */
bool target_lives(int32_t tid);

/* 0 and the leader of a thread that lives; -ESRCH, -errno with *e filled. */
int target_look_up(const char *noun, int32_t id, int32_t *ret_leader, struct rk_error *e);

/* -ESRCH: it has ended; `rc`: a failure of the system that says nothing of the process. */
int target_gone(const char *noun, int32_t id, struct rk_error *e);
int target_unread(int rc, const char *noun, int32_t id, struct rk_error *e);

/* CPUs as the caller wrote them (NULL: all, followed) into the target. */
int target_cpus_take(struct rk_target *target, struct rk_host *host, const char *list, struct rk_error *e);

/* A zeroed target of that kind without descriptors, or NULL: out of memory. */
struct rk_target *target_new(enum target_kind kind, int32_t pid);

/* For a handle that uses the target as long as it lives: gives it back, which rk_target_free() then frees once more.
 * Takes NULL. */
struct rk_target *target_keep(struct rk_target *target);

#endif

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
};

enum target_state {
    TARGET_WAITING, /* forked, waits for its release */
    TARGET_RUNNING, /* exec done */
    TARGET_ENDED,   /* reaped; `end` holds */
    TARGET_FAILED,  /* could not exec, or was killed before; reaped */
};

struct rk_target {
    enum target_kind kind;
    int32_t pid;   /* thread, process or command; 0 self; -1 CPUs */
    int32_t *cpus; /* ascending */
    size_t n_cpus;

    /* A command; a process has pidfd alone. */
    int pidfd;   /* -1: this kernel has none */
    int channel; /* our end of the socket pair to the child before its exec, or -1 */
    int32_t owner;
    enum target_state state;
    char *name; /* argv[0] */
    uint64_t started_ns;
    struct rk_exit end;
};

/*
 * What is measured now: for TARGET_CPUS CPU numbers, else thread ids (perf_event_open's pid argument, 0 for
 * self), ascending, at least one. A process is read anew at each call. The caller frees the array.
 * 0 or -errno with *e filled (RK_CAUSE_NO_PROCESS: it has ended).
 */
int target_ids(const struct rk_target *target, int32_t **ret, size_t *ret_n, struct rk_error *e);

/* A zeroed target of that kind without descriptors, or NULL: out of memory. */
struct rk_target *target_new(enum target_kind kind, int32_t pid);

#endif

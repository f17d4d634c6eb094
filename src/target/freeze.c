/*
 * Every thread is seized and interrupted (ptrace(2)), and waited for until it has stopped; then /proc is looked at
 * again. A thread that was born by one which had not yet stopped is stopped in turn; when a look finds no thread that
 * is not held, nobody is left who could bear another.
 *
 * Unlike after SIGSTOP, the target's parent sees nothing of it, and should this process die, the kernel lets all of them
 * go on. A signal that arrives just then is delivered when they go on.
 */
#include "target/freeze.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "sys/process.h"
#include "sys/trace.h"

#include <errno.h>

#define ROUNDS 1000            /* looks at /proc; a fork bomb would go on for ever */
#define PATIENCE_NS 2000000000 /* for all of them to stop */
#define LOOK_NS 50000          /* between two looks at one that has not stopped yet */

struct held {
    int32_t tid;
    int signal; /* to deliver when it goes on */
    bool stopped, gone;
};

struct freeze {
    VECTOR(struct held) threads; /* in the order in which they were found */
};

static bool is_held(const struct freeze *freeze, int32_t tid)
{
    for (size_t i = 0; i < freeze->threads.n; i++)
        if (freeze->threads.items[i].tid == tid && !freeze->threads.items[i].gone)
            return true;
    return false;
}

static int may_not(int rc, int32_t tid, struct rk_error *e)
{
    fail(e, rc, RK_STAGE_TARGET, rc == -EPERM ? RK_CAUSE_NOT_YOURS : RK_CAUSE_UNKNOWN,
         rc == -EPERM ? "run as root, end the debugger, or measure without freeze" : "measure without freeze",
         "cannot stop thread %d: %s", tid,
         rc == -EPERM       ? "that is not allowed (kernel.yama.ptrace_scope?), or a debugger holds it"
         : rc == -ETIMEDOUT ? "it waits in the kernel"
                            : strerror(-rc));
    fail_slot(e, tid, -1);
    return rc;
}

/* One thread: held, or gone. */
static int seize(struct freeze *freeze, int32_t tid, struct rk_error *e)
{
    int rc = sys_trace_stop(tid);

    if (rc == -ESRCH || (rc == -EPERM && !target_lives(tid)))
        return 0;
    if (rc < 0)
        return may_not(rc, tid, e);
    struct held *held = vector_push(&freeze->threads);
    if (held) {
        *held = (struct held){.tid = tid};
        return 1;
    }
    for (int signal = 0, i = 0; i < 1000 && sys_trace_stopped(tid, &signal) == 0; i++)
        sys_sleep_ns(LOOK_NS);
    sys_trace_go(tid, 0);
    return fail_memory(e, RK_STAGE_TARGET);
}

static int await_stop(struct held *held, uint64_t until, struct rk_error *e)
{
    for (;;) {
        int rc = sys_trace_stopped(held->tid, &held->signal);
        if (rc == 1) {
            held->stopped = true;
            return 0;
        }
        if (rc == -ECHILD || (rc == 0 && !target_lives(held->tid))) {
            held->gone = true;
            return 0;
        }
        if (rc < 0)
            return may_not(rc, held->tid, e);
        if (sys_clock_ns() >= until)
            return may_not(-ETIMEDOUT, held->tid, e);
        sys_sleep_ns(LOOK_NS);
    }
}

/* Those that are found and not held yet: how many, or -errno. */
static int stop_new(const struct rk_target *target, struct freeze *freeze, uint64_t until, struct rk_error *e)
{
    _cleanup_free_ int32_t *ids = NULL;
    size_t n, first = freeze->threads.n;
    int rc = target_ids(target, &ids, &n, e);

    for (size_t i = 0; rc >= 0 && i < n; i++)
        if (first == 0 || !is_held(freeze, ids[i]))
            rc = seize(freeze, ids[i], e);
    for (size_t i = first; rc >= 0 && i < freeze->threads.n; i++)
        rc = await_stop(&freeze->threads.items[i], until, e);
    return rc < 0 ? rc : (int)(freeze->threads.n - first);
}

/* The dead are taken, those that lead a process last, since that ends with its last thread. The end of our own child is
 * its owner's to take. */
static void bury(const struct freeze *freeze)
{
    uint64_t until = sys_clock_ns() + PATIENCE_NS;

    for (int leaders = 0; leaders <= 1; leaders++)
        for (size_t i = 0; i < freeze->threads.n; i++) {
            const struct held *held = &freeze->threads.items[i];
            int32_t parent = held->gone ? target_parent(held->tid) : 0;
            if (!held->gone || (parent != 0) != leaders || parent == sys_process_id())
                continue;
            while (!sys_trace_forget(held->tid) && sys_clock_ns() < until)
                sys_sleep_ns(LOOK_NS);
        }
}

void freeze_end(struct freeze *freeze)
{
    if (!freeze)
        return;
    for (size_t i = 0; i < freeze->threads.n; i++) {
        struct held *held = &freeze->threads.items[i];
        if (!held->stopped && !held->gone) /* only a stopped one can be let go: it was asked to stop */
            await_stop(held, sys_clock_ns() + PATIENCE_NS, NULL);
        held->gone |= sys_trace_go(held->tid, held->signal) == -ESRCH; /* killed meanwhile */
    }
    bury(freeze);
    vector_free(&freeze->threads);
    free(freeze);
}

int freeze_target(const struct rk_target *target, struct freeze **ret, struct rk_error *e)
{
    struct freeze *freeze = calloc(1, sizeof *freeze);
    uint64_t until = sys_clock_ns() + PATIENCE_NS;
    int rc = 1;

    if (!freeze)
        return fail_memory(e, RK_STAGE_TARGET);
    for (int round = 0; rc > 0; round++)
        rc = round < ROUNDS ? stop_new(target, freeze, until, e)
                            : fail(e, -EAGAIN, RK_STAGE_TARGET, RK_CAUSE_RACE, "measure without freeze",
                                   "process %d: has more threads each time one looks", target->pid);
    if (rc < 0) {
        freeze_end(freeze);
        return rc;
    }
    *ret = freeze;
    return 0;
}

/*
 * Off-CPU time. reckon record --off-cpu samples a thread's stack when it leaves the CPU (the event "off-cpu"); then a SWITCH
 * record says whether it could have gone on, and another one that it is back:
 *
 *     sample (stack) ─ SWITCH out (preempted?) ─ sched_waking (by whom) ─ SWITCH in        weighs: in − sample
 *
 * What is still away at the end weighs as much as was seen of it; what ended, nothing. Without a single SWITCH record samples
 * weigh 1, as those of any event do. The idle threads of CPUs wait for nobody: theirs weigh nothing.
 *
 * How a wait began and who ended it are known after its sample: it is added to a cell when it is over. Such a cell's second
 * half is a number of `turns`, with WAITS_CELL set.
 */
#ifndef PROFILE_WAITS_H
#define PROFILE_WAITS_H

#include "base/table.h"
#include "base/vector.h"
#include "profile/pairs.h"

#include <reckon/profile.h>
#include <stdbool.h>

#define WAITS_EVENT "off-cpu"
#define WAITS_CELL 0x80000000u

/* How a thread left the CPU; WAITS_NONE: a sample of another event. */
enum waits_how { WAITS_NONE, WAITS_BLOCKED, WAITS_PREEMPTED, WAITS_KINDS };

struct waits {
    VECTOR(struct waits_thread {
        uint64_t since; /* 0: it runs */
        uint32_t stack;
        uint32_t origin;
        bool preempted;
    })
    threads;
    struct table thread_of; /* tid → thread */
    struct pairs turns;     /* (origin, how it was left) */
    uint64_t last;          /* latest time of a SWITCH */
    bool seen;              /* there are SWITCH records */
};

/* The thread of that sample has left the CPU. 0 or -errno. */
int waits_begin(struct rk_profile_builder *builder, int32_t tid, uint32_t stack, uint32_t origin,
                uint64_t time);

/* Any record but a sample. 0 or -errno. */
int waits_feed(struct rk_profile_builder *builder, const struct rk_record *record);

/* The end: those that are still away. 0 or -errno. */
int waits_end(struct rk_profile_builder *builder);

void waits_free(struct waits *waits);

/* Whether a function of the kernel's is one of those through which threads leave the CPU, whatever they wait for;
 * of a preempted one also those of the way to there. */
bool waits_is_scheduler(const char *symbol, enum waits_how how);

#endif

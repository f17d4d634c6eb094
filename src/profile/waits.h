/*
 * Off-CPU time. reckon record --off-cpu samples a thread's stack when it leaves the CPU (the event "off-cpu") and has a
 * SWITCH record when it is back: the sample weighs the nanoseconds between. What is still away at the end weighs as
 * much as was seen of it; what ended, nothing. Without a single SWITCH record samples weigh 1, as those of any event do.
 */
#ifndef PROFILE_WAITS_H
#define PROFILE_WAITS_H

#include "base/table.h"
#include "base/vector.h"

#include <reckon/profile.h>
#include <stdbool.h>

#define WAITS_EVENT "off-cpu"

struct waits {
    VECTOR(struct waits_thread {
        uint64_t since; /* 0: it runs */
        uint32_t cell;
    })
    threads;
    struct table thread_of; /* tid → thread */
    uint64_t last;          /* latest time of a SWITCH */
    bool seen;              /* there are SWITCH records */
};

/* The thread of that sample, in that cell, has left the CPU. 0 or -ENOMEM. */
int waits_begin(struct waits *waits, int32_t tid, uint32_t cell, uint64_t time);

/* Any record but a sample. 0 or -errno. */
int waits_feed(struct rk_profile_builder *builder, const struct rk_record *record);

/* The end: those that are still away. 0 or -errno. */
int waits_end(struct rk_profile_builder *builder);

void waits_free(struct waits *waits);

#endif

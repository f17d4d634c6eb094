/*
 * One place from options and event to perf_event_attr (policy.c), and the steps down from there (steps.c).
 *
 * A step changes the policy or the event, never the attr: the attr is always what policy_attr() makes of them,
 * so that what is opened, what is reported and what is retried can't differ.
 */
#ifndef SET_POLICY_H
#define SET_POLICY_H

#include "set/set.h"
#include "target/target.h"

struct set_event;

struct policy {
    struct rk_host *host;
    const struct rk_set_options *options;
    enum target_kind kind;
    bool sampling; /* there will be rings */
    bool inherit;

    /* Steps that were taken. The first two mean the same as what was asked. */
    bool no_lost;     /* FORMAT_LOST is not known (before Linux 6.0) */
    bool no_together; /* FORMAT_GROUP is refused or useless: members are read singly */
    bool no_stacks;   /* this kernel dumps no user's stack: the chain along frame pointers instead */
    bool no_deferred; /* this kernel defers no call chains: they are taken whole */
    bool user_only;   /* the paranoid level forbids the kernel */
    uint64_t frequency_at_most; /* kernel.perf_event_max_sample_rate; 0: not in the way */

    bool lost_taken; /* an event was opened with FORMAT_LOST: the kernel knows it */
};

/* Where the event stands. */
struct policy_place {
    bool leads;       /* opened first in its group, or alone */
    bool carries;     /* the first of its slots: it carries the side-band records */
    uint32_t members; /* of its group */
};

enum policy_step {
    STEP_NONE,    /* nothing left to give up: the error stands */
    STEP_RETRY,   /* build the attr again and try */
    STEP_RESTART, /* groups are other than before: open everything again */
};

/* Refuses unknown bits, options that contradict each other, and options without effect: 0 or -EINVAL with *e. */
int policy_check(const struct rk_set_options *options, const struct rk_events *events, struct rk_error *e);
/* Whether the set has rings. */
bool policy_samples(const struct rk_set_options *options, const struct rk_events *events);

/* Why this event can't mean anything as asked, before the kernel is: 0, or -errno with *e. */
int policy_refuse(const struct rk_set_options *options, const struct rk_event *event, struct rk_error *e);

void policy_attr(const struct policy *policy, const struct set_event *event, const struct policy_place *place,
                 struct perf_attr *ret);

/* An event that needs no counter: a clock of the time that a thread spends on a CPU, for whom and when the set's events
 * count (here.c); a guard (toggle.c); a watch over a CPU (follow.c). */
void policy_clock(const struct rk_set_options *options, enum target_kind kind, bool inherit,
                  struct perf_attr *ret);

/* One event that is tried on its own: by the list and the doctor, which step down themselves. */
struct policy_trial {
    struct rk_host *host;
    const struct rk_event *event;
    bool kernel;     /* the kernel is included; else user space alone */
    uint64_t period; /* sample so often; 0: count */
    uint64_t sample; /* RK_SAMPLE_…, as in rk_set_options */
};
void policy_trial(const struct policy_trial *trial, struct perf_attr *ret);

/* The next step after the kernel answered `code` to the event's attr. Notes are added to the set; -ENOMEM in
 * *ret_rc where that failed. */
enum policy_step policy_step(struct policy *policy, struct rk_set *set, uint32_t event,
                             const struct policy_place *place, int code, int *ret_rc);

/* The shortest size the kernel ever published that holds all that is set: an older kernel then has no reason to
 * object to a tail that is zero anyway. */
uint32_t policy_attr_size(const struct perf_attr *attr);

/* Whether it happens in the kernel alone, whoever caused it: in user space there is nothing to count. */
bool policy_is_kernels(uint32_t type, uint64_t config);

/* Whether its PMU can leave the kernel out: cores, software and breakpoints can; msr, uncore, probes can't. */
bool policy_excludes(struct rk_host *host, const struct rk_event *event);

/* Whether the attr of this event has arm64's bit for reads in user space. */
bool policy_asks_user_access(const struct policy *policy, const struct set_event *event);

/* Whether the event lives on a core PMU, and so may be read in user space. */
bool policy_is_core(struct rk_host *host, uint32_t type);

#endif

/*
 * reckon/event.h: text → events. One grammar for library, command, Python and agent.
 *
 *     cycles                       a generic hardware event
 *     instructions:u               only in user space; :k only in the kernel; the other letters are below
 *     {branches,branch-misses}     a group: scheduled together, read together
 *     L1-dcache-load-misses        a cache event; LL_READ_MISS and PERF_COUNT_… are understood too
 *     r1a8                         a raw event of the core PMU
 *     cpu/event=0x3c,umask=1/u     an event of a PMU by its fields, or by a name that sysfs has: msr/tsc/
 *     uncore_imc_?/cas_count_read/ on every PMU that fits: one event for each ("uncore_" may be left out)
 *     sched:sched_switch           a tracepoint; sched:* all of a system
 *     sched:sched_switch/filter='prev_pid==1'/    only events that match the filter
 *     kprobe:vfs_read              where a function of the kernel begins; kretprobe: where it returns
 *     uprobe:/bin/bash:readline    the same for a function, or an offset, of a file; uretprobe:
 *     mem:0x601040/8:w             whenever these bytes are read (r), written (w), executed (x)
 *     INST_RETIRED:ANY_P           a vendor's name, where libpfm4 is installed
 *     cycles/period=1000,name=c/   with a period (or freq=) and a name of its own
 *
 * Several are separated by commas, up to 4096. Names are taken in any case, '_' for '-'. A group may have
 * modifiers, {a,b}:u, which are added to those of each member. On a CPU with several kinds of cores a generic
 * name becomes one event for each; a group then becomes one group for each. For a mistake the error has its
 * position, what was expected, and the nearest names. For an unavailable event it says why.
 */
#ifndef RECKON_EVENT_H
#define RECKON_EVENT_H

#include <reckon/error.h>
#include <reckon/host.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rk_events;

/* Modifier bits: rk_event.flags. What was not asked for is left to the open policy. */
#define RK_EVENT_USER 0x01u         /* :u  count in user space … */
#define RK_EVENT_KERNEL 0x02u       /* :k  … in the kernel; neither: both */
#define RK_EVENT_HYPERVISOR 0x04u   /* :h */
#define RK_EVENT_GUEST 0x08u        /* :G */
#define RK_EVENT_HOST 0x10u         /* :H */
#define RK_EVENT_NO_IDLE 0x20u      /* :I */
#define RK_EVENT_PINNED 0x40u       /* :D  in a group: of its first event … */
#define RK_EVENT_EXCLUSIVE 0x80u    /* :e  … as the kernel has it */
#define RK_EVENT_WEAK 0x100u        /* :W  this group may be split when it does not fit */
#define RK_EVENT_SAMPLE_READ 0x200u /* :S  samples carry the whole group's counts */
#define RK_EVENT_PRECISE_MAX 0x400u /* :P  the most precise that opens */
#define RK_EVENT_ABSENT 0x800u      /* rk_events_parse_keep(): unknown here */

/* One event, as it will be asked of the kernel. Strings live as long as the rk_events. */
struct rk_event {
    uint32_t size; /* set by the caller */
    uint32_t type; /* perf_event_attr.type */
    uint64_t config, config1, config2, config3, config4;
    uint32_t group;     /* events with the same number form a group; numbers ascend */
    uint32_t flags;     /* RK_EVENT_… */
    uint32_t precise;   /* 0 … 3, from :p */
    uint32_t bp_type;   /* breakpoints: HW_BREAKPOINT_…; config1 is the address, config2 the length */
    uint64_t period;    /* this event's own sampling period, or 0 */
    uint64_t frequency; /* this event's own sampling frequency, or 0 */
    double scale;       /* a count times this is in `unit`; 1.0 where there is none */
    /* name=, or as it was written, without surrounding space, with all of its modifiers, also its group's. */
    const char *name;
    const char *unit; /* "", "ns", "Joules" … */
    const char *pmu;  /* the PMU in sysfs that it was asked of, "cpu_core", "msr"; or "" */
    /* Probes: what attr.config1 shall point to, or "". kprobes: the function, and config2 is the offset in it
     * (with "" config2 is the address); uprobes: the path, and config2 is the offset in the file. */
    const char *probe;
    const char *filter; /* tracepoints and probes: what is compared before one is counted; or "" */
};

/* Parses `text`; all or nothing. Returns -EINVAL for a mistake in the grammar, -ENOENT for an unknown event
 * (RK_CAUSE_NO_EVENT) or a missing PMU (RK_CAUSE_NO_PMU), -EACCES if this user may not look it up, -E2BIG for
 * too many, else the error of reading sysfs or tracefs. e->position is the byte of the mistake. */
RK_API int rk_events_parse(struct rk_host *host, const char *text, struct rk_events **ret,
                           struct rk_error *e);

/*
 * Parses as rk_events_parse() does and goes on where a name is unknown here. Such an event stays in the list,
 * with RK_EVENT_ABSENT in its flags, UINT32_MAX as its type and its text as its name. rk_set_open() leaves it
 * out with a note where RK_SET_KEEP is set, and fails where it is not. Fails if the grammar is violated, or
 * no name is known.
 */
RK_API int rk_events_parse_keep(struct rk_host *host, const char *text, struct rk_events **ret,
                                struct rk_error *e);

/* Cold: why the index-th event is absent. 0 and *ret; -ENOENT: it is not absent; -ERANGE beyond the end. */
RK_API int rk_events_explain(const struct rk_events *events, size_t index, struct rk_error *ret);

RK_API struct rk_events *rk_events_free(struct rk_events *events);

RK_API size_t rk_events_count(const struct rk_events *events);
/* The index-th event, in the order written; -ERANGE beyond the end. */
RK_API int rk_events_get(const struct rk_events *events, size_t index, struct rk_event *ret);

/*
 * Narrows the index-th event, a tracepoint or a probe, to what a filter lets through, such as "prev_pid==1".
 * Filters that it has already must match too. The same as the term filter=. Returns -EINVAL for a mistake in
 * the filter (e->position is in it) or another kind of event; -ERANGE beyond the end. On failure nothing
 * changes; else the text of an earlier rk_events_print() is freed.
 */
RK_API int rk_events_filter(struct rk_host *host, struct rk_events *events, size_t index, const char *filter,
                            struct rk_error *e);

/* The canonical spelling of all of them, such that parsing it gives the same events. Owned by `events`. */
RK_API const char *rk_events_print(const struct rk_events *events);

#ifdef __cplusplus
}
#endif
#endif

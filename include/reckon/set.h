/*
 * reckon/set.h: events × target → open counters.
 *
 * Level 1, the calling thread, five lines:
 *
 *     struct rk_set *set;
 *     struct rk_value v[2];
 *     rk_set_self("instructions,page-faults", &set, NULL);
 *     rk_set_enable(set);   work();   rk_set_disable(set);
 *     rk_set_total(set, v, 2);                 // v[i].value, unless v[i].running is 0
 *     rk_set_close(set);
 *
 * Level 2, any target and options: rk_set_open(). A set is opened disabled, except on a command, where
 * it begins at exec. All or nothing, unless `keep` is set. Where the kernel refuses what was asked and
 * less would do (kernel counting, say), the step down is taken and noted: rk_set_note().
 *
 * Counts are raw: value, and for how long the event was enabled and really counted. An event with
 * running == 0 was not counted; that is not 0. rk_value_scale() is the one scaling function.
 * Intervals are made by subtraction; nothing is ever reset.
 *
 * One set, one thread at a time. In a forked child every call gives -ESTALE.
 */
#ifndef RECKON_SET_H
#define RECKON_SET_H

#include <reckon/error.h>
#include <reckon/event.h>
#include <reckon/host.h>
#include <reckon/target.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rk_set;

/* Opens `events` on the calling thread alone (not on threads that it starts), for counting, with a host of its own;
 * on failure it says why. Hardware events are then read without a system call where the kernel allows it. */
RK_API int rk_set_self(const char *events, struct rk_set **ret, struct rk_error *e);

/* Side-band records to receive beside samples: rk_set_options.records. */
#define RK_RECORDS_MAPS UINT32_C(0x01)                          /* MMAP2, executable mappings */
#define RK_RECORDS_DATA_MAPS UINT32_C(0x02)                     /* … data mappings too */
#define RK_RECORDS_TASKS UINT32_C(0x04)                         /* COMM, FORK, EXIT */
#define RK_RECORDS_SWITCHES UINT32_C(0x08)                      /* SWITCH */
#define RK_RECORDS_PROFILE (RK_RECORDS_MAPS | RK_RECORDS_TASKS) /* what naming needs */

struct rk_set_options {
    uint32_t size;         /* sizeof(struct rk_set_options), set by the caller; 0 is refused */
    uint32_t keep;         /* 1: what can't be opened is left out and explained; one must open */
    uint32_t exact;        /* 1: no step down; what can't be opened as asked fails */
    uint32_t no_inherit;   /* 1: threads and children born later are not counted */
    uint32_t enabled;      /* 1: counting starts at once, also on a command */
    uint32_t no_user_read; /* 1: never read counters in user space, always read(2) */

    /* Sampling. With period and frequency both 0 the set only counts. */
    uint32_t records;   /* RK_RECORDS_… */
    uint32_t max_stack; /* frames per chain; 0: the kernel's limit */
    uint64_t period;    /* a sample every so many events … */
    uint64_t frequency; /* … or so many samples a second; not both */
    uint64_t sample;    /* RK_SAMPLE_… (reckon/record.h) beside the always taken IDENTIFIER, IP, TID,
                             TIME, CPU and PERIOD */
    uint64_t regs_user; /* registers for RK_SAMPLE_REGS_USER, by the kernel's numbers */
    uint64_t regs_intr;
    uint32_t stack_user; /* bytes for RK_SAMPLE_STACK_USER, a multiple of 8 below 64 KiB */
    uint32_t
        ring_bytes; /* per CPU; a power of two up to 1 GiB; 0: 512 KiB, less where the mlock limit says so */
    uint32_t wakeup_bytes;   /* rk_stream_fd() is readable once so much waits; 0: half the ring */
    uint32_t wakeup_samples; /* … or so many samples; not both */
    uint32_t clock_set;      /* 1: time stamps by `clock`, a clockid_t; else the kernel's own clock */
    int32_t clock;
};

/* What opening would take: nothing is opened. */
struct rk_plan {
    uint32_t size; /* set by the caller */
    uint32_t events;
    uint32_t slots; /* (thread, CPU) pairs */
    uint32_t rings;
    uint64_t descriptors; /* needed */
    uint64_t allowed;     /* RLIMIT_NOFILE as far as it can be raised, less what is open */
    uint64_t ring_bytes;  /* memory for rings, all together */
};
RK_API int rk_set_plan(struct rk_host *host, const struct rk_events *events, const struct rk_target *target,
                       const struct rk_set_options *options, struct rk_plan *ret, struct rk_error *e);

/*
 * Opens every event on every slot of the target. NULL options: defaults. The set copies what it needs
 * of `events` and `target`; `host` must outlive it. The soft limit of descriptors is raised towards the hard
 * one as far as needed; -EMFILE says how many are needed and allowed. A thread that ends meanwhile is left out.
 */
RK_API int rk_set_open(struct rk_host *host, const struct rk_events *events, const struct rk_target *target,
                       const struct rk_set_options *options, struct rk_set **ret, struct rk_error *e);
RK_API struct rk_set *rk_set_close(struct rk_set *set);

RK_API size_t rk_set_events(const struct rk_set *set);
/* The event as it was opened, after any step down. */
RK_API int rk_set_event(const struct rk_set *set, size_t event, struct rk_event *ret);
RK_API size_t rk_set_slots(const struct rk_set *set);
/* The slot's thread and CPU, each -1 for "any". */
RK_API int rk_set_slot(const struct rk_set *set, size_t slot, int32_t *ret_pid, int32_t *ret_cpu);

/* A step down that was taken, or an event that was left out (`cause` says why). */
struct rk_note {
    uint32_t size;      /* set by the caller */
    uint32_t event;     /* index; UINT32_MAX: the whole set */
    uint32_t cause;     /* enum rk_cause */
    uint32_t absent;    /* 1: the event was left out; 0: it counts less than was asked */
    const char *what;   /* one sentence; lives as long as the set */
    const char *remedy; /* the smallest fix, or "" */
};
RK_API size_t rk_set_notes(const struct rk_set *set);
RK_API int rk_set_note(const struct rk_set *set, size_t index, struct rk_note *ret);

/* A count. Frozen: no field will ever be added. */
struct rk_value {
    uint64_t value;
    uint64_t enabled; /* ns */
    uint64_t running; /* ns; 0: not counted. Less than enabled: multiplexed */
};

/* Hot: no allocation, no error object. 0 or -errno. */
RK_API int rk_set_enable(struct rk_set *set);
RK_API int rk_set_disable(struct rk_set *set);

/* All events of one slot, one read(2) per group or none; n is rk_set_events(). An event that could not
 * be read has running == 0, and rk_set_explain() knows the reason. Where a thread was opened on each CPU
 * apart (sampling), a slot is enabled whenever the thread runs, on whichever CPU: scale totals, not slots. */
RK_API int rk_set_read(struct rk_set *set, size_t slot, struct rk_value *ret, size_t n);

/* All events summed over all slots; an event that could not be read in one of them is not counted. */
RK_API int rk_set_total(struct rk_set *set, struct rk_value *ret, size_t n);

/* Cold: why an event (of a slot; SIZE_MAX: of any) was not counted. 0 and *ret, or -ENOENT: it was. */
RK_API int rk_set_explain(const struct rk_set *set, size_t slot, size_t event, struct rk_error *ret);

/*
 * The estimate of what would have been counted between `before` (NULL: the beginning) and `now`, had
 * the event run all the time; NaN where it did not run at all. *ret_bound (may be NULL): half the width
 * of a 95 % interval for that estimate, 0 where the event ran throughout.
 */
RK_API double rk_value_scale(const struct rk_value *now, const struct rk_value *before, double *ret_bound);

#ifdef __cplusplus
}
#endif
#endif

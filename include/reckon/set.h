/*
 * reckon/set.h: events × target → open counters.
 *
 * Level 1, the calling thread, five lines:
 *
 *     struct rk_set *set = NULL;  // where it does not open it stays NULL, which every call refuses
 *     struct rk_value v;
 *     rk_set_self("instructions,page-faults", &set, NULL);
 *     rk_set_enable(set);   work();   rk_set_disable(set);
 *     if (rk_set_value(set, "instructions", &v) == 0)
 *         printf("%llu\n", (unsigned long long)v.value);
 *     rk_set_free(set);
 *
 * Level 2, any target and options: rk_set_open(). A set is opened disabled, except on a command, where
 * it begins at exec. All or nothing, unless RK_SET_KEEP is set. Where the kernel refuses what was asked and
 * less would do (kernel counting, say), the step down is taken and noted: rk_set_note_get().
 *
 * Counts are raw: value, and for how long the event was enabled and really counted. Each has a state (enum
 * rk_state): a count of 0 is true where the event was counted or its target did not run, and unknown else.
 * rk_value_scale() is the one scaling function.
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

/* Opens `events` on the calling thread alone (not on threads that it starts), for counting, with a host of
 * its own; on failure it says why. Hardware events are then read without a system call where the kernel
 * allows it. */
RK_API int rk_set_self(const char *events, struct rk_set **ret, struct rk_error *e);

/* rk_set_options.flags: how it is opened. */
#define RK_SET_KEEP 0x01u         /* leave out events that don't open, with a note; one must open */
#define RK_SET_EXACT 0x02u        /* take no step down: fail where an event does not open as asked */
#define RK_SET_ENABLED 0x04u      /* count from the opening on, also a command */
#define RK_SET_NO_USER_READ 0x08u /* read counters by read(2) alone, never in user space */
#define RK_SET_PINNED 0x10u       /* every group is always on the PMU or in error, as with :D */
#define RK_SET_EXCLUSIVE 0x20u    /* a group is alone on the PMU, as with :e */

/* Whom it counts, and when. */
#define RK_SET_NO_INHERIT 0x40u      /* not the threads and children created later */
#define RK_SET_THREADS_ONLY 0x80u    /* threads created later, but not children (Linux 5.13) */
#define RK_SET_ENABLE_ON_EXEC 0x100u /* from the target's next exec on, as a command is counted anyway */
#define RK_SET_REMOVE_ON_EXEC 0x200u /* until the target's next exec (Linux 5.13) */

/*
 * Stops a thread, a process or a tree by ptrace(2) while its counters are opened: no thread is missed or
 * counted twice. A call that sleeps in epoll_wait(2) and the like may see EINTR, as after any stop. Without
 * it a note says so if threads were created meanwhile and may not be counted (RK_CAUSE_RACE).
 */
#define RK_SET_FREEZE 0x400u

/* How it samples. These need a period or a frequency. */
#define RK_SET_OVERWRITE 0x800u /* rings keep the latest records: a flight recorder, rk_stream_snapshot() */
#define RK_SET_CLOCK 0x1000u    /* time stamps are of `clock`; without it of the kernel's own clock */
#define RK_SET_NO_WORLD 0x2000u /* a live stream does not begin with what runs already: reckon/stream.h */

/* `frequency` is for events that go on all the time. Tracepoints, probes and breakpoints happen one by one:
 * each is a sample, unless the event has a period or a frequency of its own. */
#define RK_SET_EACH 0x4000u

/*
 * Sends SIGTRAP to the thread of each sample, at once (Linux 5.13): si_code is 6 (TRAP_PERF), si_addr the
 * data's address, si_perf_data `sig_data`. Needs RK_SET_REMOVE_ON_EXEC, since the next program would die of
 * the signal, and for each event a period or a frequency: the set's or its own.
 */
#define RK_SET_SIGTRAP 0x8000u

/*
 * The kernel takes the user part of a call chain when the thread goes back to user space, not at the sample
 * (Linux 6.19). That is cheaper, and pages that are not in memory are read. A stream joins the two parts
 * (reckon/stream.h). An older kernel takes whole chains, and a note says so. Needs RK_SAMPLE_CALLCHAIN.
 */
#define RK_SET_DEFER_CHAINS 0x10000u

/* Side-band records to receive beside samples: rk_set_options.records. */
#define RK_RECORDS_MAPS 0x01u       /* MMAP2, executable mappings */
#define RK_RECORDS_DATA_MAPS 0x02u  /* data mappings: MMAP2 with MAPS, MMAP without */
#define RK_RECORDS_TASKS 0x04u      /* COMM, FORK, EXIT */
#define RK_RECORDS_SWITCHES 0x08u   /* SWITCH */
#define RK_RECORDS_NAMESPACES 0x10u /* NAMESPACES */
#define RK_RECORDS_CGROUPS 0x20u    /* CGROUP */
#define RK_RECORDS_CODE 0x40u       /* KSYMBOL, BPF_EVENT: code that the kernel loads (5.1) */
#define RK_RECORDS_BUILD_IDS 0x80u  /* MMAP2 with the file's build-id (5.12); needs MAPS */
#define RK_RECORDS_POKES 0x100u     /* TEXT_POKE: changes of the kernel's code (5.9) */
#define RK_RECORDS_PROFILE 0x05u    /* MAPS and TASKS: what naming needs */

/*
 * READ: what each event counted in a thread or a child that was created after rk_set_open(), written when it
 * ends (attr.inherit_stat). rk_stream_read() decodes it; record->event says which event it is, and its tid
 * who. A thread has a record for each CPU that the set is open on: add their values. Threads that were there
 * before have none: what they counted is rk_set_total() less the sum of all records. Needs inheritance, and a
 * descriptor more for each thread. Kernels from 5.13 to 6.18 write these records only if they have a fix of
 * December 2025 (c418d8b4d7a4).
 */
#define RK_RECORDS_READS 0x200u

/* Where nothing is counted, beside what each event's own modifiers leave out: rk_set_options.exclude. */
#define RK_EXCLUDE_USER 0x01u
#define RK_EXCLUDE_KERNEL 0x02u
#define RK_EXCLUDE_HYPERVISOR 0x04u
#define RK_EXCLUDE_HOST 0x08u  /* virtual machines alone */
#define RK_EXCLUDE_GUEST 0x10u /* virtual machines not */
#define RK_EXCLUDE_IDLE 0x20u
#define RK_EXCLUDE_CHAIN_KERNEL 0x40u /* of call chains: the kernel's frames … */
#define RK_EXCLUDE_CHAIN_USER 0x80u   /* … the program's */

/* Which branches a stack of them holds: rk_set_options.branches. A privilege (none: the event's own) and a
 * kind. */
#define RK_BRANCHES_USER 0x01u
#define RK_BRANCHES_KERNEL 0x02u
#define RK_BRANCHES_HYPERVISOR 0x04u
#define RK_BRANCHES_ANY 0x08u
#define RK_BRANCHES_ANY_CALL 0x10u
#define RK_BRANCHES_ANY_RETURN 0x20u
#define RK_BRANCHES_INDIRECT_CALL 0x40u
#define RK_BRANCHES_ABORT 0x80u /* of transactions */
#define RK_BRANCHES_IN_TRANSACTION 0x100u
#define RK_BRANCHES_NO_TRANSACTION 0x200u
#define RK_BRANCHES_CONDITIONAL 0x400u
#define RK_BRANCHES_CALL_STACK 0x800u /* calls that have not returned yet */
#define RK_BRANCHES_INDIRECT_JUMP 0x1000u
#define RK_BRANCHES_CALL 0x2000u       /* direct calls */
#define RK_BRANCHES_NO_FLAGS 0x4000u   /* cheaper: without mispredicted, predicted … */
#define RK_BRANCHES_NO_CYCLES 0x8000u  /* … without cycles */
#define RK_BRANCHES_TYPE 0x10000u      /* with the kind of each (Linux 4.14) */
#define RK_BRANCHES_INDEX 0x20000u     /* with the hardware's index (Linux 5.7) */
#define RK_BRANCHES_PRIVILEGE 0x40000u /* with the privilege of each (Linux 6.1) */
#define RK_BRANCHES_COUNTERS 0x80000u  /* with counts of events between branches (Linux 6.8) */

/*
 * A bit that is unknown, and an option that has no effect without another, are refused with -EINVAL; the
 * error names the member and the fix. A set samples if `period`, `frequency` or `records` is set, or an event
 * has a rate of its own. A set that only counts takes none of the members below `period`.
 */
struct rk_set_options {
    uint32_t size;      /* set by the caller; 0 is refused */
    uint32_t flags;     /* RK_SET_… */
    uint32_t exclude;   /* RK_EXCLUDE_… */
    uint32_t records;   /* RK_RECORDS_… */
    uint64_t period;    /* a sample every so many events … */
    uint64_t frequency; /* … or so many samples a second; not both */

    /* RK_SAMPLE_… (reckon/record.h). IDENTIFIER, IP, TID, TIME, CPU and, where it can vary, PERIOD are always
     * taken. */
    uint64_t sample;
    uint64_t regs_user;  /* registers for RK_SAMPLE_REGS_USER, by the kernel's numbers */
    uint64_t regs_intr;  /* … for RK_SAMPLE_REGS_INTR */
    uint64_t branches;   /* RK_BRANCHES_…, for RK_SAMPLE_BRANCH_STACK */
    uint64_t sig_data;   /* for RK_SET_SIGTRAP */
    uint32_t stack_user; /* bytes for RK_SAMPLE_STACK_USER, a multiple of 8 below 64 KiB */
    uint32_t max_stack;  /* frames of a chain or an unwound stack; 0: the kernel's limit */

    /* Bytes of the ring of each CPU, a power of two up to 1 GiB. 0: 512 KiB, or room for 1024 dumped stacks,
     * or less where the mlock limit says so. */
    uint32_t ring_bytes;

    /* rk_stream_fd() is readable when so many bytes wait. 0: half the ring, a quarter of it with dumped
     * stacks. */
    uint32_t wakeup_bytes;
    uint32_t wakeup_samples; /* … or so many samples; not both */
    int32_t clock;           /* a clockid_t, for RK_SET_CLOCK */
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
    char cheaper[256];    /* where more are needed than allowed: a way to measure it with fewer; else "" */
};
RK_API int rk_set_plan(struct rk_host *host, const struct rk_events *events, const struct rk_target *target,
                       const struct rk_set_options *options, struct rk_plan *ret, struct rk_error *e);

/*
 * Opens every event on every slot of the target. NULL options: defaults. The set copies what it needs of
 * `events` and `target`. The soft limit of descriptors is raised towards the hard one as far as needed;
 * -EMFILE says how many are needed and allowed. A thread that ends meanwhile is left out.
 */
RK_API int rk_set_open(struct rk_host *host, const struct rk_events *events, const struct rk_target *target,
                       const struct rk_set_options *options, struct rk_set **ret, struct rk_error *e);

/* Opens `events` on a process that runs, on all of its threads and those that it starts, with a host of its
 * own. */
RK_API int rk_set_process(int32_t pid, const char *events, const struct rk_set_options *options,
                          struct rk_set **ret, struct rk_error *e);
RK_API struct rk_set *rk_set_free(struct rk_set *set);

RK_API size_t rk_set_event_count(const struct rk_set *set);
/* The event as it was opened, after any step down. */
RK_API int rk_set_event_get(const struct rk_set *set, size_t event, struct rk_event *ret);
RK_API size_t rk_set_slot_count(const struct rk_set *set);

/* Where the events of a slot count. */
struct rk_slot {
    uint32_t size; /* sizeof(struct rk_slot), set by the caller */
    int32_t pid;   /* thread; 0: the calling thread; -1: any */
    int32_t cpu;   /* -1: any */
    uint32_t reserved;
    const char *cgroup; /* as given to rk_target_cgroups(), or NULL; lives as long as the set */
};
RK_API int rk_set_slot_get(const struct rk_set *set, size_t slot, struct rk_slot *ret);

/*
 * The perf_event descriptor of an event on a slot, and the kernel's id of it (PERF_EVENT_IOC_ID).
 *
 * The set owns the descriptor: don't close it. It is valid until rk_set_free(), or until an rk_set_refresh()
 * that returns more than 0. You may
 *   attach a BPF program and ask for those that are attached (PERF_EVENT_IOC_SET_BPF, _QUERY_BPF);
 *   put it into a BPF map (bpf_perf_event_output(), bpf_perf_event_read_value());
 *   ask for a signal (fcntl(2): F_SETOWN, F_SETSIG, O_ASYNC), or so many samples (PERF_EVENT_IOC_REFRESH);
 *   read(2) it: that changes nothing. The format depends on the group.
 * To enable, disable or reset it, to map it, or to redirect its output makes the set's own results wrong.
 *
 * rk_set_fd() returns the descriptor, rk_set_id() 0 and *ret. Both return -ENODEV if the event is not open on
 * this slot: rk_set_explain() knows why. -ERANGE: there is no such slot or event.
 */
RK_API int rk_set_fd(const struct rk_set *set, size_t slot, size_t event);
RK_API int rk_set_id(const struct rk_set *set, size_t slot, size_t event, uint64_t *ret);

/* A step down that was taken, or an event that was left out (`cause` says why). */
struct rk_note {
    uint32_t size;      /* set by the caller */
    uint32_t event;     /* index; UINT32_MAX: the whole set */
    uint32_t cause;     /* enum rk_cause */
    uint32_t absent;    /* 1: the event was left out; 0: it counts less than was asked */
    const char *what;   /* one sentence; lives as long as the set */
    const char *remedy; /* the smallest fix, or "" */
};
RK_API size_t rk_set_note_count(const struct rk_set *set);
RK_API int rk_set_note_get(const struct rk_set *set, size_t index, struct rk_note *ret);

/* A count. Frozen: no field will ever be added. */
struct rk_value {
    uint64_t value;
    uint64_t enabled; /* ns for which the event was wanted */
    uint64_t running; /* ns for which it was counted. Less than enabled: it shared its counter */
};

/* What a value means. From RK_STATE_IDLE on it is true, and a 0 is a 0; below, it is unknown. */
enum rk_state {
    RK_STATE_ABSENT,   /* there is no counter, or it could not be read */
    RK_STATE_DISABLED, /* it was never enabled */
    RK_STATE_STARVED,  /* it was enabled and never got a counter of the PMU */
    RK_STATE_IDLE,     /* its target did not run */
    RK_STATE_COUNTED,
};
/* "absent", "disabled", "starved", "idle", "counted"; "unknown" for other numbers. */
RK_API const char *rk_state_name(uint32_t state);

/*
 * Start and stop counting, on every slot. Hot: no allocation, no error object. Return 0 or -errno.
 *
 * Counters of other threads may be inherited while they are switched. Threads created during the call are
 * switched too. That takes three more system calls for each thread, and a free descriptor; without one, a new
 * thread may be missed. If a thread that was created after rk_set_open() creates another during the call,
 * that one may be missed as well: a note says so, once for a set (RK_CAUSE_RACE). A set that is opened
 * with RK_SET_ENABLED avoids this: subtract a first reading.
 *
 * If the set has a live stream, the first rk_set_enable() also reads what runs already: reckon/stream.h.
 */
RK_API int rk_set_enable(struct rk_set *set);
RK_API int rk_set_disable(struct rk_set *set);

/* Start and stop all counters that the calling thread has opened, also those of other sets and libraries: one
 * prctl(2) in place of an ioctl(2) for each. Sets that are read in user space don't notice it. */
RK_API int rk_sets_enable(void);
RK_API int rk_sets_disable(void);

/*
 * Follows what comes and goes. Call it now and then, such as before each interval is read.
 *
 *   The whole machine, or cgroups on all CPUs: opens CPUs that came online. A CPU that went offline and came
 *   back is opened anew, also if both happened between two calls.
 *
 *   Processes and trees, opened without inheritance: opens threads and processes that were created since.
 *   They are counted from this call on. With inheritance they are counted with the thread that created them,
 *   from their first instruction on; so there is nothing to open.
 *
 * What was opened is enabled if the set is. What went keeps its counts: slots are added, never removed.
 *
 * Returns how many slots were opened or closed. 0 for other targets, and for sets that sample: their rings
 * stay as they are. On -errno, all that is open stays open, and the next call tries again.
 *
 * Takes time in proportion to the number of threads or CPUs. rk_rows_refresh() gives new slots their rows.
 */
RK_API int rk_set_refresh(struct rk_set *set, struct rk_error *e);

/* Moves a breakpoint on every slot: takes address, length and kind of `to`. The count goes on from where it
 * is (PERF_EVENT_IOC_MODIFY_ATTRIBUTES, Linux 4.17). Returns -EINVAL if the event or `to` is not a
 * breakpoint. */
RK_API int rk_set_modify(struct rk_set *set, size_t event, const struct rk_event *to, struct rk_error *e);

/* How many samples of an event the kernel dropped, all slots summed. Returns -EOPNOTSUPP before Linux 6.0,
 * and for sets that only count. */
RK_API int rk_set_lost(struct rk_set *set, size_t event, uint64_t *ret);

/*
 * Reads one count by its name, summed over all slots.
 *
 * A name may have become several events, such as one for each kind of core of a hybrid CPU: their sum is
 * returned. Of tasks, values and running times are added, and `enabled` is the greatest. Of CPUs, each event
 * is scaled by its own times and the results are added; `running` is then such that rk_value_scale() of *ret
 * returns that sum.
 *
 * `event` is a name as it was written, with its modifiers, as rk_event.name has it, or its canonical
 * spelling. Where several texts fit, the first is meant.
 *
 * Returns 0 and *ret, which may be a true 0; -ENOENT: the set has no event of that name; -ENODATA: it was not
 * counted, and rk_set_explain() knows the reason; or another -errno. *ret is untouched on failure.
 */
RK_API int rk_set_value(struct rk_set *set, const char *event, struct rk_value *ret);

/*
 * Hot: reads all events of one slot, with one read(2) per group or none. `ret` and `ret_states` have room for
 * n items, at least rk_set_event_count(). *ret_states gets an enum rk_state for each value; it may be NULL. A
 * value whose state is absent is {0, 0, 0}.
 *
 * A thread that was opened on each CPU apart (sampling) is enabled on all of them while it runs on one: scale
 * totals, not slots. A slot on whose CPU it did not run is idle.
 *
 * A set that only rk_sets_enable() has enabled is taken for disabled as long as its target has not run.
 */
RK_API int rk_set_read(struct rk_set *set, size_t slot, struct rk_value *ret, uint32_t *ret_states, size_t n);

/* Hot: reads all events, summed over all slots. An event that could not be read in one of them is absent. A
 * sum is counted where a slot counted; else starved, where one starved. */
RK_API int rk_set_total(struct rk_set *set, struct rk_value *ret, uint32_t *ret_states, size_t n);

/* When rk_sets_read() has read, by CLOCK_MONOTONIC. */
struct rk_instant {
    uint32_t size; /* sizeof(struct rk_instant), set by the caller */
    uint32_t reserved;
    uint64_t from_ns; /* before the first read */
    uint64_t to_ns;   /* after the last */
};

/*
 * Reads the totals of several sets at one instant, as one row of a series: a program beside the energy of the
 * machine, say. `ret` gets the events of the first set, then those of the second, and so on; ret_states (may
 * be NULL) their states. n is at least the sum of their event counts.
 *
 * The kernel has no call for that. One instant means: the calling thread reads all of them in one go, and
 * each value was read between ret_when->from_ns and ->to_ns. What the values differ by in time is at most
 * that, some microseconds for a few counters; more if the thread lost its CPU in between.
 *
 * At most 65535 sets. Allocates nothing. Returns 0 or -errno.
 */
RK_API int rk_sets_read(struct rk_set *const *sets, size_t sets_n, struct rk_value *ret, uint32_t *ret_states,
                        size_t n, struct rk_instant *ret_when);

/* Cold: why an event (of a slot; SIZE_MAX: of any) was not counted. Returns 0 and *ret; -ENOENT: it was
 * counted, or is idle. */
RK_API int rk_set_explain(const struct rk_set *set, size_t slot, size_t event, struct rk_error *ret);

/*
 * Returns the estimate of the count between `before` (NULL: the beginning) and `now` if the event ran all the
 * time; NaN where it did not run at all. *ret_bound (may be NULL) gets half the width of a 95 % interval for
 * that estimate, 0 where the event ran throughout.
 *
 * The interval is wide, and rightly so. One difference shows how much was counted, not how evenly. What was
 * done while nobody looked may have been of another kind. An event that ran for half of a second has ± 23 %,
 * for half of ten seconds ± 7 %, for a tenth of ten seconds ± 22 %. More readings narrow it:
 * rk_estimates_add().
 */
RK_API double rk_value_scale(const struct rk_value *now, const struct rk_value *before, double *ret_bound);

/*
 * Totals that are read many times and never go backwards, as V × E / R of running totals may: what was
 * counted, and an estimate, interval by interval, of what would have been counted while the event waited for
 * the PMU. The bound is narrower the more steady the readings show the rate to be. After one reading a total
 * is rk_value_scale()'s. src/set/scale.c has the derivation.
 */
struct rk_estimates;

/* Begins the estimates of n values. Returns 0 and *ret, or -ENOMEM. */
RK_API int rk_estimates_open(size_t n, struct rk_estimates **ret, struct rk_error *e);

/* Hot: takes the next reading of all n values. *ret gets n totals, NaN until the event first ran; *ret_bounds
 * (may be NULL) their bounds. Returns 0, or -EINVAL where n is not the one of rk_estimates_open(). */
RK_API int rk_estimates_add(struct rk_estimates *estimates, const struct rk_value *values, size_t n,
                            double *ret, double *ret_bounds);

/* Takes NULL; returns NULL. */
RK_API struct rk_estimates *rk_estimates_free(struct rk_estimates *estimates);

#ifdef __cplusplus
}
#endif
#endif

/*
 * A set from inside: events × slots → descriptors. Other rooms ask by "set/set.h".
 *
 *     events   0 … n_events-1, in the order written; those that could not be opened are absent
 *     slots    (thread, CPU) pairs of the target
 *     fds      one row per slot, one column per event:   fds[slot * n_events + event], -1: absent, or its PMU is
 *              not on the slot's CPU (`partial`)
 *     groups   present events that are scheduled and read together; a lone event is a group of one.
 *              members[first … first+n-1] are their indexes, the leader first. Siblings are opened enabled
 *              and the leader disabled, so that one ioctl on the leader toggles the group.
 *     rings    sampling sets only: one per CPU (or a single one for cpu -1)
 *
 * An event has one attr for all of its slots: a step down taken on one slot is kept for those that follow.
 *
 * Life of a sampling set: rk_set_open() opens everything and chooses, for each CPU, the descriptor that owns
 * the ring. The stream maps that ring (the kernel redirects only to an event that has one), then calls
 * set_ring_redirect(), which sends the output of every other descriptor of the CPU into it.
 */
#ifndef SET_PRIVATE_H
#define SET_PRIVATE_H

#include "base/abi.h"
#include "base/arena.h"
#include "base/vector.h"
#include "set/set.h"
#include "sys/fork.h"
#include "sys/pmc.h"

#include <reckon/set.h>
#include <stdbool.h>
#include <unistd.h>

/* What an event may be asked for by: strings of set->asked. */
enum set_name {
    SET_NAME_SHOWN,     /* event.name */
    SET_NAME_CANONICAL, /* as rk_events_print() spells it: `canonical_n` bytes, no NUL */
    SET_NAME_FULL,      /* as it was written, with its group's modifiers … */
    SET_NAME_GENERIC,   /* … canonical, whatever PMU of a hybrid CPU it is on */
    SET_NAME_TEXT,      /* as it was written */
    SET_NAMES,
};

struct set_event {
    struct rk_event event;        /* as opened; its strings are those of set->asked */
    const char *names[SET_NAMES]; /* NULL: none of that kind */
    size_t canonical_n;
    uint32_t number;              /* of the text that it was made from */
    struct perf_attr attr;        /* as opened; .size is the kernel's where it knew less */
    uint32_t leader;              /* index of its group's leader; its own where it leads or stands alone */
    struct perf_attr opened_attr; /* these two as the descriptors of the first slot have them */
    uint32_t opened_leader;
    bool absent;         /* left out: set->notes says why */
    int32_t code;        /* … and this is the -errno */
    uint8_t split;       /* its weak group did not fit: SPLIT_… */
    uint32_t part;       /* SPLIT_RATIOS: the first of those that it is opened with */
    bool bound;          /* its PMU is one kind of core of a hybrid CPU's: elsewhere it counts nothing */
    bool no_user_access; /* arm64: the PMU refuses user-space reads of it */
};

#define SPLIT_RATIOS 1 /* into those whose quotients are wanted (set/ratio.h), the others singly */
#define SPLIT_SINGLE 2 /* each by itself */

struct set_slot {
    int32_t pid, cpu; /* each -1: any; pid 0: the calling thread */
    uint32_t cgroup;  /* its number in set->cgroups; SET_NO_CGROUP: none */
};
#define SET_NO_CGROUP UINT32_MAX

struct set_cgroup {
    const char *name; /* as the caller wrote it */
    const char *path; /* from the host's root on */
};

/* set/follow.h */
struct set_part;
struct set_watch;

struct set_group {
    uint32_t first, n; /* into set->members */
    bool together;     /* FORMAT_GROUP: one read of the leader gives all; else each member is read */
    bool user;         /* every member has a page */
    uint8_t stride;    /* words per value in what read(2) of the leader gives … */
    uint32_t bytes;    /* … and how much in all */
};

struct set_note {
    uint32_t event, cause; /* event UINT32_MAX: the whole set */
    bool absent;
    const char *what, *remedy;
};

struct rk_set {
    uint32_t others;          /* handles that keep it beside its opener: set_keep() */
    struct rk_host *host;     /* kept */
    struct rk_events *asked;  /* kept, for their strings; NULL until there are events */
    struct rk_host *own_host; /* rk_set_self(): closed with the set; else NULL */
    struct sys_fork *fork;    /* the host's, held, or NULL */
    const uint32_t *fork_word; /* … its word: 1 here, 0 in a forked child; without, one that is always 0 … */
    pid_t pid;                 /* … and the process that this is to be compared with */
    uintptr_t thread;          /* pmc_thread() of the opener: user-space reads are valid there alone */

    bool sampling;
    bool inherit;
    bool family;  /* inherited by the threads of another, which may bear some at any time: set/toggle.c */
    int32_t mark; /* … births_mark() before the first was opened */
    bool doubted; /* … and a note tells of births while it was switched */
    bool follows; /* all CPUs, whichever they are: rk_set_refresh() */
    bool follows_tasks; /* … or the threads of processes, which are not inherited by each other */
    bool on_cpus;       /* each thread on each of `cpus` apart: rk_target_on_cpus() */
    bool streamed;      /* a stream reads its rings */
    bool enabled;       /* by rk_set_enable(), or from the beginning */
    bool was_enabled;   /* … at any time */
    bool user_read;     /* some group has pages that may be read in user space */
    bool faulty;        /* some of `faults` is set */
    bool partial;       /* some group is not open on some slot: set/where.h */
    bool plain; /* no event is absent, no group is read singly or in user space, and no read has ever failed:
                     * a slot's descriptors are its events' in their order, and nothing need be looked up */
    /* Plain, and one read(2) of so many bytes, each value in a word, gives a slot; else 0. */
    uint32_t only_read;
    /* While one event, all there is, is enabled and has a page: that; else NULL. */
    struct perf_page *only_page;
    struct rk_set_options options;
    struct set_whom whom;
    /* The live stream's, or NULL: called when rk_set_enable() has enabled the set. */
    void (*when_enabled)(void *context);
    void *when_enabled_context;

    uint32_t n_events, n_slots, n_groups, n_rings, n_cgroups;
    struct set_event *events;
    struct set_slot *slots;
    struct set_cgroup *cgroups;
    /* One per slot, and a row of values per slot, once rk_set_refresh() was called on a set that follows; else NULL:
     * set/follow.c. */
    struct set_part *parts;
    struct rk_value *past;
    VECTOR(struct set_watch) watches; /* of cgroups, by CPU */
    uint64_t *roots_born;             /* when whom.ids were created: set/tasks.c */
    int32_t *cpus;                    /* `on_cpus`: these */
    uint32_t n_cpus;
    int *clocks; /* … and one per slot: its time is the time that the thread is on the CPU: set/here.c */
    int *guards; /* RK_RECORDS_READS: one per thread that was opened: set_guard() */
    uint32_t n_guards;
    int *fds;
    uint64_t *ids;   /* shaped like fds: the kernel's event ids, for sampling sets; else NULL */
    int32_t *faults; /* shaped like fds: why the last read failed: -errno, SET_FAULT_EMPTY, 0: it did not */
    struct set_group *groups;
    uint32_t *members;
    struct set_ring *rings;
    struct perf_page **pages; /* one per event of the only slot: counter pages; NULL where there is none */
    uint64_t *words;          /* what a read(2) of the largest group gives … */
    struct rk_value *row; /* … and a slot's values and states: scratch, so that reading allocates nothing */
    uint32_t *states;
    struct rk_value *sums; /* … and those of all slots */
    uint32_t *sum_states;

    struct set_ring_bytes ring_bytes;

    VECTOR(struct set_note) notes;
    struct arena texts;
};

#define SET_FAULT_EMPTY 1 /* read(2) gave no byte: pinned, and in error */

static inline int fd_of(const struct rk_set *set, uint32_t slot, uint32_t event)
{
    return set->fds[(size_t)slot * set->n_events + event];
}

static inline uint64_t id_of(const struct rk_set *set, uint32_t slot, uint32_t event)
{
    return set->ids[(size_t)slot * set->n_events + event];
}

/* The slot's cgroup as the caller wrote it; NULL: none. */
const char *set_slot_cgroup(const struct rk_set *set, size_t slot);

/* A page from which a counter can be read: the kernel says so, and how many bits count. */
static inline bool set_page_readable(const struct perf_page *page)
{
    return page->capabilities & PAGE_CAP_USER_RDPMC && page->pmc_width > 0 && page->pmc_width <= 64;
}

/* After a change of `enabled` or `user_read`. */
static inline void set_choose_page(struct rk_set *set)
{
    set->only_page = set->user_read && set->enabled && set->n_events == 1 && set->fork ? set->pages[0] : NULL;
}

/* In a forked child: mapped pages are gone and descriptors belong to the parent's counters. Every public
 * function on a set, and on what is made from one, begins with this and gives -ESTALE. */
static inline bool is_forked(const struct rk_set *set)
{
    return __builtin_expect(*set->fork_word == 0, 0) && (set->fork || getpid() != set->pid);
}

/* … with the attr's field that is refused, or NULL. */
int set_fail_field(const struct rk_set *set, uint32_t stage, uint32_t slot, uint32_t event, int code,
                   uint64_t needed, const char *field, struct rk_error *e);

#endif

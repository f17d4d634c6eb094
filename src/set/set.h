/*
 * A set, as other rooms see it: what it was opened with, its descriptors and rings, and the few things that a
 * stream changes in it. The struct itself is private.h's, which no other room includes (tests/include-edges).
 *
 * `slot` and `event` are indexes below set_n_slots() and set_n_events(). These functions don't check them. What they
 * return lives as long as the set.
 */
#ifndef SET_SET_H
#define SET_SET_H

#include "base/abi.h"
#include "target/target.h"

#include <reckon/set.h>
#include <stdbool.h>

/* Whom the set measures, as the target named them. */
struct set_whom {
    enum target_kind kind;
    int32_t *ids; /* processes or threads; none of CPUs, cgroups and the calling thread */
    size_t n;
};

struct set_ring {
    int32_t cpu;          /* -1: any */
    uint32_t slot, event; /* whose descriptor owns it */
    int fd;               /* the same as set_fd(set, slot, event); poll this */
};

/* The size of each ring's data, in bytes. */
struct set_ring_bytes {
    uint32_t now;    /* a power of two */
    uint32_t wanted; /* what it would be without a limit on locked memory */
    bool fixed;      /* the caller chose it: smaller rings are not mapped instead */
};

uint32_t set_n_events(const struct rk_set *set);
uint32_t set_n_slots(const struct rk_set *set);
uint32_t set_n_rings(const struct rk_set *set); /* 0: the set only counts */

struct rk_host *set_host(const struct rk_set *set);
const struct rk_set_options *set_options(const struct rk_set *set);
const struct set_whom *set_whom(const struct rk_set *set);
const struct set_ring *set_ring(const struct rk_set *set, uint32_t ring);
int32_t set_slot_cpu(const struct rk_set *set, uint32_t slot); /* -1: any */

/* An absent event could not be opened. It has an attr all the same. */
bool set_absent(const struct rk_set *set, uint32_t event);
const struct rk_event *set_event(const struct rk_set *set, uint32_t event);
const struct perf_attr *set_attr(const struct rk_set *set, uint32_t event);
/* The index of its group's leader; its own where it leads or stands alone. */
uint32_t set_leader(const struct rk_set *set, uint32_t event);

/* The descriptor; -1: the event is not open on this slot. */
int set_fd(const struct rk_set *set, uint32_t slot, uint32_t event);
/* The kernel's id of that descriptor. Sampling sets alone have ids. */
uint64_t set_id(const struct rk_set *set, uint32_t slot, uint32_t event);

/* Whether the set was enabled, and not disabled since. */
bool set_enabled(const struct rk_set *set);
/* Whether threads or processes born since the opening may have inherited counters of the set. */
bool set_has_heirs(const struct rk_set *set);
/* Whether the first event's counter can be read in user space as it is now. */
bool set_reads_in_user_space(const struct rk_set *set);

/* Whether this is a forked child: mapped pages are gone, and descriptors belong to the parent's counters. Every
 * public function on a set, and on what is made from one, begins with this and returns -ESTALE. */
bool set_forked(const struct rk_set *set);
/* A word that is not 0 as long as the answer is no; 0: ask set_forked(). */
const uint32_t *set_fork_word(const struct rk_set *set);

/* For a handle that reads the set as long as it lives: gives the set back, which rk_set_free() then frees once more. */
struct rk_set *set_keep(struct rk_set *set);

/* A set's rings have one reader: true, and it is the caller, until set_stream_end(); false: there is one. */
bool set_stream_begin(struct rk_set *set);
/* Calls `enabled` whenever rk_set_enable() has enabled the set, until set_stream_end(). */
void set_stream_enabled(struct rk_set *set, void (*enabled)(void *context), void *context);
void set_stream_end(struct rk_set *set);

struct set_ring_bytes set_ring_bytes(const struct rk_set *set);
/* The rings were mapped with so many bytes of data each. */
void set_ring_mapped(struct rk_set *set, uint32_t bytes);
/* Sends the output of every descriptor of the ring's CPU into the ring, which its owner has mapped. Returns 0;
 * or -errno and the descriptor's slot and event in *ret_slot, *ret_event (may be NULL). */
int set_ring_redirect(struct rk_set *set, uint32_t ring, uint32_t *ret_slot, uint32_t *ret_event);

/* Samples of an event that the kernel dropped, all slots summed (FORMAT_LOST, Linux 6.0). Returns 0 and *ret;
 * -EOPNOTSUPP where this kernel does not count them; or -errno. */
int set_lost(struct rk_set *set, uint32_t event, uint64_t *ret);

/* Adds a note (event UINT32_MAX: about the whole set): 0 or -ENOMEM. Texts are copied. */
int set_note_add(struct rk_set *set, uint32_t event, uint32_t cause, bool absent, const char *remedy,
                 const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Explains a failed open, mmap, ioctl or read of a descriptor of the set: fills *e, returns `code` (0 with
 * RK_STAGE_READ: no byte was read). `needed`: descriptors or bytes, where known. */
int set_fail(const struct rk_set *set, uint32_t stage, uint32_t slot, uint32_t event, int code,
             uint64_t needed, struct rk_error *e);

#endif

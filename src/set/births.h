/*
 * Threads that were born while a process was being opened.
 */
#ifndef SET_BIRTHS_H
#define SET_BIRTHS_H

#include "set/private.h"
#include "target/target.h"

struct births {
    VECTOR(int32_t) known;  /* ascending: those that were opened, or looked at */
    VECTOR(int32_t) missed; /* found by the last look: surely not counted, to be opened */
    size_t ambiguous;       /* found so far: may be counted or not */
    size_t children; /* found by births_none(): processes, of which the same is true where they inherit */
};

/*
 * Looks which threads the target has now. Those that are not known become so, and are `missed` or `ambiguous`.
 * `began`: sys_boot_ticks() before the first counter was opened; `inherit`: born threads may be counted already.
 * How many were found, or -errno (-ESRCH: the target has ended).
 */
int births_look(struct births *births, const struct rk_target *target, uint64_t began, bool inherit);

/* The last id that the kernel gave to a thread, before the target's are listed; 0 where it can't be told. */
int32_t births_mark(void);

/* Whether surely nobody was born of the target since the mark, thread or child: then there is nothing to look for. The
 * target's threads are known. */
bool births_none(struct births *births, int32_t mark);

/* How many were born of the set's threads and live, of the ids after `from` up to `to`; -1: they are too many to look at,
 * or `from` is 0. */
int births_between(const struct rk_set *set, int32_t from, int32_t to);

/* Makes a thread known: 0 or -ENOMEM. */
int births_know(struct births *births, int32_t tid);

void births_free(struct births *births);

#endif

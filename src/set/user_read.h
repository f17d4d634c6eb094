/*
 * A counter read by the thread that owns it, from its page and one instruction, without the kernel.
 *
 * The page, as the kernel keeps it for a mapped event:
 *
 *     lock                odd while the kernel writes; moves with each change
 *     index               0: not on the PMU now; else counter index-1 holds the low pmc_width bits
 *     offset              what the counter's bits are added to; the whole count while index is 0
 *     time_enabled, time_running       when the kernel last wrote the page
 *     time_offset, time_mult, time_shift   make of pmc_clock() the ns since then
 *     time_cycles, time_mask           where the clock has few bits (time_short): cycles = time_cycles +
 *                                      ((clock - time_cycles) & time_mask)
 *
 * The kernel writes the page only on the CPU and in the context of the thread that reads it, so that no memory
 * barrier is needed, only the compiler's order; a migration between two reads moves `lock`.
 *
 * The width was looked at when the page was mapped (set_page_readable()). It does not change; where it is not known
 * then (PMC_PAGE_LATE), it is looked at each time.
 *
 * The counter's bits are signed: the kernel starts it below zero to be interrupted at zero (libperf lost this,
 * and counts 2^48 too many). What the page can't tell is not made up: without PAGE_CAP_USER_TIME the times would
 * be old, so read(2) has to do it, and both paths mean the same.
 */
#ifndef SET_USER_READ_H
#define SET_USER_READ_H

#include "base/abi.h"
#include "sys/barrier.h"
#include "sys/pmc.h"

#include <reckon/set.h>
#include <stdbool.h>

/*
 * What read(2) would give, for an event that is enabled. True and *ret; false, with *ret untouched, where the page
 * does not tell it all (no permission, no clock, no such counter) or the kernel rewrites it all the time.
 */
bool user_read(const struct perf_page *page, struct rk_value *ret);

/* The count alone: of a group's siblings, whose times are their leader's. */
bool user_read_count(const struct perf_page *page, uint64_t *ret);

/* The kernel may write between any two instructions. What decides whether a counter is touched, and which, is loaded
 * once. The rest is plain loads, which the compiler may pair: the second look at `lock` throws a torn one away. */
#define USER_ONCE_(field) (*(const volatile __typeof__(field) *)&(field))

static inline uint64_t user_since_update_(const struct perf_page *page, uint64_t capabilities)
{
    uint64_t cycles = pmc_clock();
    uint32_t shift = page->time_shift; /* at most 32: the kernel makes it so */
    uint64_t mult = page->time_mult;

    if (__builtin_expect((capabilities & PAGE_CAP_USER_TIME_SHORT) != 0, PMC_CLOCK_SHORT))
        cycles = page->time_cycles + ((cycles - page->time_cycles) & page->time_mask);
    /* In two parts, so that cycles × mult can't overflow. */
    uint64_t whole = cycles >> shift, part = cycles & ~(UINT64_MAX << shift);
    uint64_t ns = page->time_offset + whole * mult + ((part * mult) >> shift);
    return (int64_t)ns < 0 ? 0 : ns;
}

enum user_look { USER_NO, USER_MOVED, USER_DONE };

/* One look at the page: USER_DONE and *ret, whose times are filled where `timed`; USER_MOVED: the kernel wrote
 * meanwhile, look again; USER_NO: not from here. */
static inline enum user_look user_look(const struct perf_page *page, bool timed, struct rk_value *ret)
{
    const uint64_t needed = PAGE_CAP_USER_RDPMC | (timed ? PAGE_CAP_USER_TIME : 0);
    uint32_t lock = barrier_load_lock(&page->lock);
    uint64_t capabilities = USER_ONCE_(page->capabilities);

    if (__builtin_expect((~capabilities & needed) != 0, 0))
        return USER_NO;
    uint32_t index = USER_ONCE_(page->index);
    uint64_t value = (uint64_t)page->offset;
    uint64_t enabled = timed ? page->time_enabled : 0;
    uint64_t running = timed ? page->time_running : 0;
    if (__builtin_expect(index != 0, 1)) {
        uint32_t unused = 64u - page->pmc_width;
        uint64_t bits;
        if (PMC_PAGE_LATE && unused > 63)
            return USER_NO;
        if (__builtin_expect(!pmc_read(index - 1, &bits), 0))
            return USER_NO;
        value += (uint64_t)((int64_t)(bits << unused) >> unused);
        uint64_t ns = timed ? user_since_update_(page, capabilities) : 0;
        enabled += ns;
        running += ns;
    } else if (timed)
        enabled += user_since_update_(page, capabilities);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* all of the above before the second look */
    if (__builtin_expect(barrier_load_lock(&page->lock) != lock || lock & 1, 0))
        return USER_MOVED;
    *ret = (struct rk_value){value, enabled, running};
    return USER_DONE;
}

#endif

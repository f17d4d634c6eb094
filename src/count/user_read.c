/*
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
 * The counter's bits are signed: the kernel starts it below zero to be interrupted at zero (libperf lost this,
 * and counts 2^48 too many). What the page can't tell is not made up: without PAGE_CAP_USER_TIME the times would
 * be old, so read(2) has to do it, and both paths mean the same.
 */
#include "count/user_read.h"

#include "sys/barrier.h"
#include "sys/pmc.h"

#define TRIES 16 /* at an interrupt per try something is wrong: ask the kernel */

/* Each field is loaded once: the kernel may write between any two instructions. */
#define ONCE(field) (*(const volatile __typeof__(field) *)&(field))

static inline uint64_t since_update(const struct perf_page *page, uint64_t capabilities)
{
    uint64_t cycles = pmc_clock();
    uint32_t shift = ONCE(page->time_shift) & 63;
    uint64_t mult = ONCE(page->time_mult);

    if (capabilities & PAGE_CAP_USER_TIME_SHORT) {
        uint64_t base = ONCE(page->time_cycles);
        cycles = base + ((cycles - base) & ONCE(page->time_mask));
    }
    /* In two parts, so that cycles × mult can't overflow. */
    uint64_t whole = cycles >> shift, part = cycles & ((UINT64_C(1) << shift) - 1);
    uint64_t ns = ONCE(page->time_offset) + whole * mult + ((part * mult) >> shift);
    return (int64_t)ns < 0 ? 0 : ns;
}

/* One look at the page: true and *ret, whose times are filled where `timed`. False: not from here. */
static inline bool look(const struct perf_page *page, bool timed, struct rk_value *ret)
{
    const uint64_t needed = PAGE_CAP_USER_RDPMC | (timed ? PAGE_CAP_USER_TIME : 0);

    for (int i = 0; i < TRIES; i++) {
        uint32_t lock = barrier_load_lock(&page->lock);
        uint64_t capabilities = ONCE(page->capabilities);
        if (__builtin_expect((capabilities & needed) != needed, 0))
            return false;

        struct rk_value v = {.value = (uint64_t)ONCE(page->offset)};
        uint32_t index = ONCE(page->index);
        if (index) {
            uint32_t unused = 64u - ONCE(page->pmc_width);
            if (__builtin_expect(unused > 63 || !pmc_readable(index - 1), 0))
                return false;
            v.value += (uint64_t)((int64_t)(pmc_read(index - 1) << unused) >> unused);
        }
        if (timed) {
            uint64_t ns = since_update(page, capabilities);
            v.enabled = ONCE(page->time_enabled) + ns;
            v.running = ONCE(page->time_running) + (index ? ns : 0);
        }

        __atomic_signal_fence(__ATOMIC_SEQ_CST); /* all of the above before the second look */
        if (__builtin_expect(barrier_load_lock(&page->lock) == lock && !(lock & 1), 1)) {
            *ret = v;
            return true;
        }
    }
    return false;
}

bool user_read(const struct perf_page *page, struct rk_value *ret)
{
    return look(page, true, ret);
}

bool user_read_count(const struct perf_page *page, uint64_t *ret)
{
    struct rk_value v;

    if (!look(page, false, &v))
        return false;
    *ret = v.value;
    return true;
}

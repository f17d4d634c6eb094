/*
 * Hardware counters read by the thread itself, without the kernel: one instruction per architecture, kept in
 * arch/. What a counter's number and its bits mean is set/user_read.c's affair.
 *
 *     pmc_thread()        identity of the calling thread: cheap, the same for the thread's whole life
 *     pmc_read(i, &bits)  the raw bits of counter i (perf_page.index - 1), garbage above its width; false: none such
 *     pmc_clock()         the clock that perf_page's time fields are made of
 *
 * pmc_read() traps where the kernel has not said (PAGE_CAP_USER_RDPMC) that it may be used.
 */
#ifndef SYS_PMC_H
#define SYS_PMC_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__aarch64__)
#define PMC_CLOCK_SHORT 1 /* what to expect of the clock: PAGE_CAP_USER_TIME_SHORT */
#else
#define PMC_CLOCK_SHORT 0
#endif

#if defined(__riscv)
#define PMC_PAGE_LATE 1 /* pages say whether they may be read only once their event has been on the PMU */
#else
#define PMC_PAGE_LATE 0
#endif

#if defined(__x86_64__)
#include "sys/arch/x86.h"
#elif defined(__aarch64__)
#include "sys/arch/aarch64.h"
#elif defined(__riscv) && __riscv_xlen == 64
#include "sys/arch/riscv.h"
#else
/* Others read(2). */
static inline uintptr_t pmc_thread(void)
{
    return 0;
}

static inline bool pmc_read(uint32_t counter, uint64_t *ret)
{
    (void)counter, (void)ret;
    return false;
}

static inline uint64_t pmc_clock(void)
{
    return 0;
}
#endif

#endif

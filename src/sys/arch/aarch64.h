/*
 * arm64: each event counter is a register of its own, named in the instruction, so that a number becomes a
 * jump; 31 is the cycle counter, 32 the instruction counter of PMUv3.9 (by its encoding, which old assemblers lack).
 */
#ifndef SYS_ARCH_AARCH64_H
#define SYS_ARCH_AARCH64_H

#include "sys/arch/cases.h"

#include <stdbool.h>
#include <stdint.h>

static inline uintptr_t pmc_thread(void)
{
    uintptr_t thread;

    __asm__("mrs %0, tpidr_el0" : "=r"(thread));
    return thread;
}

static inline bool pmc_read(uint32_t counter, uint64_t *ret)
{
    uint64_t value = 0;

    if (counter == 31) { /* cycles, without the jump */
        __asm__ volatile("mrs %0, pmccntr_el0" : "=r"(value));
        *ret = value;
        return true;
    }
#define PMC_CASE_(n)                                                  \
    case n:                                                           \
        __asm__ volatile("mrs %0, pmevcntr" #n "_el0" : "=r"(value)); \
        break;
    switch (counter) {
        PMC_CASE_(0)
        PMC_CASE_(1)
        PMC_CASES_2_TO_30_
    case 32: /* PMICNTR_EL0 */
        __asm__ volatile("mrs %0, s3_3_c9_c4_0" : "=r"(value));
        break;
    default:
        return false;
    }
#undef PMC_CASE_
    *ret = value;
    return true;
}

/* The barrier keeps the clock from being read before the counter that it dates. */
static inline uint64_t pmc_clock(void)
{
    uint64_t value;

    __asm__ volatile("isb\n mrs %0, cntvct_el0" : "=r"(value)::"memory");
    return value;
}

#endif

/*
 * riscv64: user counters are CSRs 0xc00 (cycle), 0xc02 (instret), 0xc03 … 0xc1f (hpmcounter3 …), numbered in
 * the instruction; the kernel's index - 1 is the number from 0xc00. 0xc01 is the time, which is the clock.
 */
#ifndef SYS_ARCH_RISCV_H
#define SYS_ARCH_RISCV_H

#include "sys/arch/cases.h"

#include <stdbool.h>
#include <stdint.h>

static inline uintptr_t pmc_thread(void)
{
    uintptr_t thread;

    __asm__("mv %0, tp" : "=r"(thread));
    return thread;
}

static inline bool pmc_read(uint32_t counter, uint64_t *ret)
{
    uint64_t value = 0;

#define PMC_CASE_(n)                                            \
    case n:                                                     \
        __asm__ volatile("csrr %0, 0xc00 + " #n : "=r"(value)); \
        break;
    switch (counter) {
        PMC_CASE_(0)
        PMC_CASES_2_TO_30_
        PMC_CASE_(31)
    default:
        return false;
    }
#undef PMC_CASE_
    *ret = value;
    return true;
}

static inline uint64_t pmc_clock(void)
{
    uint64_t value;

    __asm__ volatile("rdtime %0" : "=r"(value));
    return value;
}

#endif

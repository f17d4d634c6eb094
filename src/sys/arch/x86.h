/*
 * x86-64: RDPMC takes the counter's number as the kernel gives it (fixed counters with bit 30), RDTSC is the
 * clock.
 */
#ifndef SYS_ARCH_X86_H
#define SYS_ARCH_X86_H

#include <stdbool.h>
#include <stdint.h>

static inline uintptr_t pmc_thread(void)
{
    uintptr_t thread;

    __asm__("movq %%fs:0, %0" : "=r"(thread)); /* the ABI's self-pointer of the thread control block */
    return thread;
}

static inline bool pmc_read(uint32_t counter, uint64_t *ret)
{
    uint32_t low, high;

    __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(counter));
    *ret = (uint64_t)high << 32 | low;
    return true;
}

static inline uint64_t pmc_clock(void)
{
    uint32_t low, high;

    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

#endif

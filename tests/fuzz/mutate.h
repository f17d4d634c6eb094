/* What the programs share that change bytes of real files: numbers that are the same ones each time, and the time taken. */
#ifndef FUZZ_MUTATE_H
#define FUZZ_MUTATE_H

#include "fuzz.h"

#include <time.h>

#define MEMORY_MAX (UINT64_C(768) << 20)
#define SECONDS_MAX 1.0

static uint64_t state;

static inline uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static inline double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#endif

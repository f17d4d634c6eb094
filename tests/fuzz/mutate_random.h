/* What the mutators share: numbers that follow from a seed, and those that a size, count or offset is unlikely to be. */
#ifndef FUZZ_MUTATE_RANDOM_H
#define FUZZ_MUTATE_RANDOM_H

#include "fuzz.h"

#include <string.h>

/* libFuzzer's own mutation, of bytes. The new size. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
/* The target's, which libFuzzer and replay.c look for. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

static inline uint64_t fuzz_state(unsigned seed)
{
    return (seed + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
}

static inline uint64_t fuzz_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static inline uint64_t fuzz_odd(uint64_t *state, size_t size)
{
    const uint64_t numbers[] = {0,
                                1,
                                7,
                                8,
                                size,
                                size - 8,
                                size + 1,
                                UINT64_C(1) << 31,
                                UINT64_C(1) << 32,
                                UINT64_C(1) << 47,
                                UINT64_C(1) << 62,
                                UINT64_C(1) << 63,
                                UINT64_MAX,
                                UINT64_MAX - 7,
                                fuzz_random(state) % (size + 1),
                                fuzz_random(state)};
    return numbers[fuzz_random(state) % (sizeof numbers / sizeof *numbers)];
}

static inline void fuzz_put(uint8_t *at, uint64_t value, size_t width)
{
    memcpy(at, &value, width);
}

#endif

/*
 * Mutations that know perf.data, as a file and as a pipe: records are left out, doubled, exchanged, made longer or shorter, with
 * sizes and offsets mended; words of records, attributes and features become numbers that no size or count should be.
 */
#ifndef FUZZ_MUTATE_PERFDATA_H
#define FUZZ_MUTATE_PERFDATA_H

#include "mutate_random.h"

#include <string.h>

#define FUZZ_FILE_HEAD ((size_t)104)

struct fuzz_recording {
    size_t begin, end; /* of its records */
    int pipe;
};

static inline int fuzz_recording_of(const uint8_t *data, size_t size, struct fuzz_recording *ret)
{
    uint64_t words[7];

    if (size < FUZZ_FILE_HEAD || memcmp(data, "PERFILE2", 8) != 0)
        return 0;
    memcpy(words, data, sizeof words);
    ret->pipe = words[1] == 16;
    ret->begin = ret->pipe ? 16 : (size_t)words[5];
    ret->end = ret->pipe ? size : (size_t)(words[5] + words[6]);
    return ret->pipe || (words[5] < size && words[6] <= size - words[5]);
}

static inline size_t fuzz_record_bytes(const uint8_t *data, const struct fuzz_recording *r, size_t at)
{
    uint16_t bytes = 0;

    if (at + 8 <= r->end)
        memcpy(&bytes, data + at + 6, 2);
    return bytes >= 8 && bytes <= r->end - at ? bytes : 0;
}

/* One of the records, each as likely; `end`: there is none. */
static inline size_t fuzz_record(const uint8_t *data, const struct fuzz_recording *r, uint64_t *state)
{
    size_t found = r->end, seen = 0;

    for (size_t at = r->begin, n; (n = fuzz_record_bytes(data, r, at)) && seen < 4096; at += n)
        if (fuzz_random(state) % ++seen == 0)
            found = at;
    return found;
}

/* Opens (or, by < 0, closes) room before `at`, which lies in the records or at their end. The new size of all. */
static inline size_t fuzz_recording_shift(uint8_t *data, size_t size, struct fuzz_recording *r, size_t at,
                                          int64_t by)
{
    memmove(data + (int64_t)at + by, data + at, size - at);
    r->end = (size_t)((int64_t)r->end + by);
    size = (size_t)((int64_t)size + by);
    if (r->pipe)
        return size;
    fuzz_put(data + 48, r->end - r->begin, 8);
    for (size_t i = 0; i < 64 && r->end + i * 16 + 16 <= size;
         i++) { /* features: their sections' table lies behind */
        uint64_t offset;
        memcpy(&offset, data + r->end + i * 16, 8);
        if (offset < r->begin || offset > size + 65536)
            break;
        fuzz_put(data + r->end + i * 16, offset + (uint64_t)by, 8);
    }
    return size;
}

/* Records as wholes: `choice` < 4. */
static inline size_t fuzz_mutate_order(uint8_t *data, size_t size, size_t max, struct fuzz_recording *r,
                                       uint64_t *state, uint64_t choice)
{
    static uint8_t copy[65536];
    size_t at = fuzz_record(data, r, state), to = fuzz_record(data, r, state),
           n = at < r->end ? fuzz_record_bytes(data, r, at) : 0;

    if (n == 0)
        return LLVMFuzzerMutate(data, size, max);
    memcpy(copy, data + at, n);
    if (choice == 0) /* left out */
        return fuzz_recording_shift(data, size, r, at + n, -(int64_t)n);
    if (choice == 1) { /* put in another place */
        size = fuzz_recording_shift(data, size, r, at + n, -(int64_t)n);
        to = to > at ? to - n : to;
    }
    if (size + n > max)
        return size;
    size = fuzz_recording_shift(data, size, r, to, (int64_t)n); /* or doubled */
    memcpy(data + to, copy, n);
    return size;
}

/* One record: its type, its words, its bytes, its length. */
static inline size_t fuzz_mutate_record(uint8_t *data, size_t size, size_t max, struct fuzz_recording *r,
                                        uint64_t *state, uint64_t choice)
{
    static const uint32_t types[] = {1,  2,  3,  4,  5,  7,  9,  10, 11, 12, 13, 14, 15, 16, 17,
                                     18, 19, 20, 21, 22, 64, 66, 67, 68, 70, 71, 73, 80, 81};
    size_t at = fuzz_record(data, r, state), n = at < r->end ? fuzz_record_bytes(data, r, at) : 0;

    if (n < 16)
        return LLVMFuzzerMutate(data, size, max);
    if (choice == 4) {
        fuzz_put(data + at, types[fuzz_random(state) % (sizeof types / sizeof *types)], 4);
    } else if (choice == 5) {
        fuzz_put(data + at + 4, fuzz_random(state), 2); /* misc */
    } else if (choice < 9) {
        fuzz_put(data + at + 8 + fuzz_random(state) % ((n - 8) / 8) * 8, fuzz_odd(state, n),
                 (size_t)1 << fuzz_random(state) % 4);
    } else if (choice < 12) {
        LLVMFuzzerMutate(data + at + 8, n - 8, n - 8);
    } else { /* longer or shorter by words */
        int64_t by = 8 * (int64_t)(1 + fuzz_random(state) % 4);
        by = fuzz_random(state) % 2 ? by : -by;
        if ((int64_t)n + by < 8 || (int64_t)n + by > 65528 || (by > 0 && size + (size_t)by > max))
            return size;
        size = fuzz_recording_shift(data, size, r, at + n, by);
        fuzz_put(data + at + 6, (uint64_t)((int64_t)n + by), 2);
    }
    return size;
}

static inline size_t fuzz_mutate_perfdata(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    uint64_t state = fuzz_state(seed), choice = fuzz_random(&state) % 18;
    struct fuzz_recording r;

    if (!fuzz_recording_of(data, size, &r) || r.begin >= r.end || choice == 17)
        return LLVMFuzzerMutate(data, size, max);
    if (choice < 4)
        return fuzz_mutate_order(data, size, max, &r, &state, choice);
    if (choice < 14)
        return fuzz_mutate_record(data, size, max, &r, &state, choice);
    if (choice == 14 && r.begin > 16) { /* the header, attributes, ids */
        fuzz_put(data + fuzz_random(&state) % (r.begin / 8) * 8, fuzz_odd(&state, size),
                 (size_t)1 << fuzz_random(&state) % 4);
    } else if (choice == 15 &&
               !r.pipe) { /* what samples have: a bit of sample_type, of read_format, of the flags */
        uint64_t at;
        memcpy(&at, data + 24, 8);
        if (at < size && size - at >= 64)
            data[at + 24 + fuzz_random(&state) % 24] ^= (uint8_t)(1u << fuzz_random(&state) % 8);
    } else if (r.end < size) { /* features */
        size_t width = (size_t)1 << fuzz_random(&state) % 4,
               at = r.end + fuzz_random(&state) % (size - r.end);
        fuzz_put(data + at, fuzz_odd(&state, size), width < size - at ? width : size - at);
    }
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    return fuzz_mutate_perfdata(data, size, max, seed);
}

#endif

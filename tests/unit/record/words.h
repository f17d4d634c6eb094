/*
 * Records made word by word, as the kernel writes them, in memory of exactly their size: a read beyond the end
 * is then seen by the sanitizers.
 */
#ifndef TESTS_RECORD_WORDS_H
#define TESTS_RECORD_WORDS_H

#include "base/abi.h"

#include <reckon/record.h>

#include <stdlib.h>
#include <string.h>

struct words {
    uint64_t at[8191];
    size_t n;
};

static inline void word(struct words *w, uint64_t value)
{
    w->at[w->n++] = value;
}

static inline uint64_t pair(uint32_t low, uint32_t high)
{
    return low | (uint64_t)high << 32;
}

/* n bytes padded with zeros to a word. */
static inline void word_bytes(struct words *w, const void *bytes, size_t n)
{
    memset(&w->at[w->n], 0, (n + 7) / 8 * 8);
    memcpy(&w->at[w->n], bytes, n);
    w->n += (n + 7) / 8;
}

static inline void words_begin(struct words *w)
{
    w->n = 1;
}

/* A record of `bytes` (≤ what was written), in memory of that size, which the caller frees. */
static inline struct rk_record words_cut(struct words *w, uint32_t type, uint16_t misc, size_t bytes)
{
    struct perf_header header = {type, misc, (uint16_t)bytes};
    unsigned char *data = malloc(bytes);

    memcpy(w->at, &header, sizeof header);
    memcpy(data, w->at, bytes);
    return (struct rk_record){.type = type, .misc = misc, .bytes = (uint16_t)bytes, .data = data};
}

static inline struct rk_record words_end(struct words *w, uint32_t type, uint16_t misc)
{
    return words_cut(w, type, misc, w->n * 8);
}

static inline void record_free(struct rk_record *record)
{
    free((void *)(uintptr_t)record->data);
}

#endif

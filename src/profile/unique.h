/*
 * Each key of a fixed number of words once: key → a small number, 0, 1, 2 …, and back. What rows of a table with several
 * columns are told apart by.
 */
#ifndef PROFILE_UNIQUE_H
#define PROFILE_UNIQUE_H

#include "base/vector.h"

#include <stdint.h>

struct unique {
    uint32_t words; /* of a key, set by the owner; all else begins as zero */
    VECTOR(uint64_t) keys;
    size_t n;
    uint32_t *slots; /* number + 1; 0: free */
    size_t room;
};

/* The key's number, a new one (n - 1) if need be; -ENOMEM, or -EOVERFLOW beyond 2^32 - 2 keys. */
int64_t unique_add(struct unique *unique, const uint64_t *key);

/* A word of a key that holds two. */
static inline uint64_t unique_both(uint32_t low, uint32_t high)
{
    return (uint64_t)high << 32 | low;
}

static inline const uint64_t *unique_key(const struct unique *unique, size_t number)
{
    return unique->keys.items + number * unique->words;
}

void unique_free(struct unique *unique);

#endif

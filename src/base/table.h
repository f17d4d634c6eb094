/*
 * A hash table from 64-bit keys to 32-bit values: event ids to events, process ids to processes, addresses
 * to symbols. Open addressing, linear probing, a power of two at most 2/3 full; there is no removal: a
 * value can be overwritten. A zeroed struct is an empty table.
 */
#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define TABLE_NONE UINT32_MAX /* no value; can't be stored */

struct table_slot {
    uint64_t key;
    uint32_t value; /* TABLE_NONE: free */
};

struct table {
    struct table_slot *slots;
    size_t n, room;
};

/* The key's value, or TABLE_NONE. */
uint32_t table_get(const struct table *table, uint64_t key);

/* Stores or overwrites. 0, or -ENOMEM with the table unchanged. */
int table_put(struct table *table, uint64_t key, uint32_t value);

void table_free(struct table *table);

/* A good 64-bit mix, for keys made of several words: fold them with it. */
static inline uint64_t hash_mix(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}
uint64_t hash_bytes(const void *bytes, size_t n);

#endif

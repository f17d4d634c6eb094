/*
 * Sorting by a 64-bit key, from its lowest digit up: stable, linear, and no worst case that a file could bring about.
 * Digits that all have in common, as most of the upper ones of addresses, are not looked at; what is sorted costs a
 * look.
 *
 *     RADIX_SORT(sort_by_start, struct candidate, start)
 *     int rc = sort_by_start(candidates, n);           0 or -ENOMEM, with the items as they were
 */
#ifndef BASE_RADIX_H
#define BASE_RADIX_H

#include "base/cleanup.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { RADIX_BITS = 11, RADIX = 1 << RADIX_BITS };

#define RADIX_SORT(name, type, key)                                        \
    static int name(type *items, uint32_t n)                               \
    {                                                                      \
        uint64_t differ = 0;                                               \
        bool sorted = true;                                                \
        for (uint32_t i = 1; i < n; i++) {                                 \
            differ |= items[i].key ^ items[0].key;                         \
            sorted = sorted && items[i - 1].key <= items[i].key;           \
        }                                                                  \
        if (sorted)                                                        \
            return 0;                                                      \
        _cleanup_free_ type *other = reallocarray(NULL, n, sizeof *other); \
        if (!other)                                                        \
            return -ENOMEM;                                                \
        type *from = items, *to = other;                                   \
        for (unsigned shift = 0; shift < 64; shift += RADIX_BITS) {        \
            uint32_t at[RADIX] = {0}, sum = 0;                             \
            if ((differ >> shift) % RADIX == 0)                            \
                continue;                                                  \
            for (uint32_t i = 0; i < n; i++)                               \
                at[(from[i].key >> shift) % RADIX]++;                      \
            for (uint32_t d = 0; d < RADIX; d++) {                         \
                uint32_t count = at[d];                                    \
                at[d] = sum;                                               \
                sum += count;                                              \
            }                                                              \
            for (uint32_t i = 0; i < n; i++)                               \
                to[at[(from[i].key >> shift) % RADIX]++] = from[i];        \
            type *swap = from;                                             \
            from = to;                                                     \
            to = swap;                                                     \
        }                                                                  \
        if (from != items)                                                 \
            memcpy(items, from, n * sizeof *items);                        \
        return 0;                                                          \
    }

#endif

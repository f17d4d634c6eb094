#include "profile/pairs.h"

#include <errno.h>

int64_t pairs_add(struct pairs *pairs, uint32_t a, uint32_t b)
{
    uint64_t key = (uint64_t)a << 32 | b;
    uint32_t number = table_get(&pairs->numbers, key);

    if (__builtin_expect(number != TABLE_NONE, 1))
        return number;
    if (pairs->items.n >= PAIRS_NONE)
        return -EOVERFLOW;
    if (vector_reserve(&pairs->items, 1) < 0)
        return -ENOMEM;
    number = (uint32_t)pairs->items.n;
    int rc = table_put(&pairs->numbers, key, number);
    if (rc < 0)
        return rc;
    pairs->items.items[pairs->items.n++] = (struct pair){a, b};
    return number;
}

void pairs_free(struct pairs *pairs)
{
    vector_free(&pairs->items);
    table_free(&pairs->numbers);
}

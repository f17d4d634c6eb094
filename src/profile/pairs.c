#include "profile/pairs.h"

#include "base/table.h"

#include <errno.h>

static int grow(struct pairs *pairs)
{
    size_t room = pairs->room ? pairs->room * 2 : 64;
    uint32_t *slots = calloc(room, sizeof *slots);

    if (!slots)
        return -ENOMEM;
    for (size_t i = 0; i < pairs->items.n; i++) {
        struct pair pair = pairs->items.items[i];
        size_t at = hash_mix((uint64_t)pair.a << 32 | pair.b) & (room - 1);
        while (slots[at])
            at = (at + 1) & (room - 1);
        slots[at] = (uint32_t)i + 1;
    }
    free(pairs->slots);
    pairs->slots = slots;
    pairs->room = room;
    return 0;
}

int64_t pairs_add(struct pairs *pairs, uint32_t a, uint32_t b)
{
    if (pairs->items.n * 3 >= pairs->room * 2) {
        int rc = grow(pairs);
        if (rc < 0)
            return rc;
    }
    size_t at = hash_mix((uint64_t)a << 32 | b) & (pairs->room - 1);
    for (; pairs->slots[at]; at = (at + 1) & (pairs->room - 1)) {
        struct pair pair = pairs->items.items[pairs->slots[at] - 1];
        if (__builtin_expect(pair.a == a && pair.b == b, 1))
            return pairs->slots[at] - 1;
    }
    if (pairs->items.n >= PAIRS_NONE - 1)
        return -EOVERFLOW;
    if (vector_reserve(&pairs->items, 1) < 0)
        return -ENOMEM;
    pairs->items.items[pairs->items.n++] = (struct pair){a, b};
    pairs->slots[at] = (uint32_t)pairs->items.n;
    return (int64_t)pairs->items.n - 1;
}

void pairs_settle(struct pairs *pairs)
{
    free(pairs->slots);
    pairs->slots = NULL;
    pairs->room = 0;
}

void pairs_free(struct pairs *pairs)
{
    pairs_settle(pairs);
    vector_free(&pairs->items);
}

#include "profile/unique.h"

#include "base/table.h"

#include <errno.h>

static uint64_t hash_key(const struct unique *unique, const uint64_t *key)
{
    uint64_t hash = 0;

    for (uint32_t i = 0; i < unique->words; i++)
        hash = hash_mix(hash ^ key[i]);
    return hash;
}

static int grow(struct unique *unique)
{
    size_t room = unique->room ? unique->room * 2 : 64;
    uint32_t *slots = calloc(room, sizeof *slots);

    if (!slots)
        return -ENOMEM;
    for (size_t i = 0; i < unique->n; i++) {
        size_t at = hash_key(unique, unique_key(unique, i)) & (room - 1);
        while (slots[at])
            at = (at + 1) & (room - 1);
        slots[at] = (uint32_t)i + 1;
    }
    free(unique->slots);
    unique->slots = slots;
    unique->room = room;
    return 0;
}

int64_t unique_add(struct unique *unique, const uint64_t *key)
{
    size_t bytes = unique->words * sizeof *key;

    if (unique->n * 3 >= unique->room * 2) {
        int rc = grow(unique);
        if (rc < 0)
            return rc;
    }
    size_t at = hash_key(unique, key) & (unique->room - 1);
    for (; unique->slots[at]; at = (at + 1) & (unique->room - 1))
        if (memcmp(unique_key(unique, unique->slots[at] - 1), key, bytes) == 0)
            return unique->slots[at] - 1;
    if (unique->n >= UINT32_MAX - 1)
        return -EOVERFLOW;
    if (vector_reserve(&unique->keys, unique->words) < 0)
        return -ENOMEM;
    memcpy(unique->keys.items + unique->keys.n, key, bytes);
    unique->keys.n += unique->words;
    unique->slots[at] = (uint32_t)++unique->n;
    return (int64_t)unique->n - 1;
}

void unique_free(struct unique *unique)
{
    vector_free(&unique->keys);
    free(unique->slots);
    *unique = (struct unique){.words = unique->words};
}

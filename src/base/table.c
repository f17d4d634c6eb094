#include "base/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

uint64_t hash_bytes(const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    uint64_t hash = hash_mix(n), word;

    for (; n >= 8; n -= 8, at += 8) {
        memcpy(&word, at, 8);
        hash = hash_mix(hash ^ word);
    }
    if (n) {
        word = 0;
        memcpy(&word, at, n);
        hash = hash_mix(hash ^ word);
    }
    return hash;
}

/* The key's slot, or the free one where it belongs. The table is never full, so this ends. */
static struct table_slot *slot_of(const struct table *table, uint64_t key)
{
    size_t mask = table->room - 1;

    for (size_t i = hash_mix(key) & mask;; i = (i + 1) & mask) {
        struct table_slot *slot = &table->slots[i];
        if (slot->value == TABLE_NONE || slot->key == key)
            return slot;
    }
}

uint32_t table_get(const struct table *table, uint64_t key)
{
    return table->room ? slot_of(table, key)->value : TABLE_NONE;
}

static int grow(struct table *table)
{
    struct table bigger = {.room = table->room ? table->room * 2 : 16, .n = table->n};

    bigger.slots = reallocarray(NULL, bigger.room, sizeof *bigger.slots);
    if (!bigger.slots)
        return -ENOMEM;
    for (size_t i = 0; i < bigger.room; i++)
        bigger.slots[i] = (struct table_slot){.value = TABLE_NONE};
    for (size_t i = 0; i < table->room; i++)
        if (table->slots[i].value != TABLE_NONE)
            *slot_of(&bigger, table->slots[i].key) = table->slots[i];
    free(table->slots);
    *table = bigger;
    return 0;
}

int table_put(struct table *table, uint64_t key, uint32_t value)
{
    if (table->n * 3 >= table->room * 2) {
        int rc = grow(table);
        if (rc < 0)
            return rc;
    }
    struct table_slot *slot = slot_of(table, key);
    if (slot->value == TABLE_NONE)
        table->n++;
    *slot = (struct table_slot){.key = key, .value = value};
    return 0;
}

void table_free(struct table *table)
{
    free(table->slots);
    *table = (struct table){0};
}

#include "base/intern.h"

#include "base/table.h"

#include <errno.h>

static uint32_t *slot_of(const struct intern *intern, const char *text, size_t n, uint32_t hash)
{
    size_t mask = intern->room - 1;

    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        uint32_t *slot = &intern->slots[i];
        if (!*slot)
            return slot;
        const struct intern_text *t = &intern->texts.items[*slot - 1];
        if (t->hash == hash && t->bytes == n && (n == 0 || memcmp(t->text, text, n) == 0))
            return slot;
    }
}

static int grow(struct intern *intern)
{
    size_t room = intern->room ? intern->room * 2 : 32;
    uint32_t *slots = calloc(room, sizeof *slots);

    if (!slots)
        return -ENOMEM;
    for (size_t i = 0; i < intern->texts.n; i++) {
        size_t at = intern->texts.items[i].hash & (room - 1);
        while (slots[at])
            at = (at + 1) & (room - 1);
        slots[at] = (uint32_t)i + 1;
    }
    free(intern->slots);
    intern->slots = slots;
    intern->room = room;
    return 0;
}

int64_t intern_add(struct intern *intern, const char *text, size_t n)
{
    uint32_t hash = (uint32_t)hash_bytes(text, n);
    int rc;

    if (n > INT32_MAX)
        return -ENOMEM;
    if (intern->texts.n * 3 >= intern->room * 2 && (rc = grow(intern)) < 0)
        return rc;
    uint32_t *slot = slot_of(intern, text, n, hash);
    if (*slot)
        return *slot - 1;
    if (vector_reserve(&intern->texts, 1) < 0)
        return -ENOMEM;
    const char *copy = arena_text(&intern->arena, text, n);
    if (!copy)
        return -ENOMEM;
    intern->texts.items[intern->texts.n] = (struct intern_text){copy, (uint32_t)n, hash};
    *slot = (uint32_t)++intern->texts.n;
    return *slot - 1;
}

void intern_free(struct intern *intern)
{
    arena_free(&intern->arena);
    vector_free(&intern->texts);
    free(intern->slots);
    *intern = (struct intern){0};
}

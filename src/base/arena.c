#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 16
#define CHUNK_MIN ((size_t)4096)
#define CHUNK_MAX ((size_t)1 << 20)

struct arena_chunk {
    alignas(ALIGNMENT) struct arena_chunk *next;
    size_t size, used; /* of data */
    alignas(ALIGNMENT) unsigned char data[];
};

static struct arena_chunk *chunk_new(const struct arena_chunk *newest, size_t n)
{
    size_t size = newest ? newest->size * 2 : CHUNK_MIN - sizeof(struct arena_chunk);

    if (size > CHUNK_MAX)
        size = CHUNK_MAX;
    if (size < n)
        size = n;
    struct arena_chunk *chunk = malloc(sizeof *chunk + size);
    if (chunk)
        *chunk = (struct arena_chunk){.size = size};
    return chunk;
}

void *arena_alloc(struct arena *arena, size_t n)
{
    struct arena_chunk *chunk = arena->chunks;

    if (n > SIZE_MAX / 2)
        return NULL;
    n = (n + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (!chunk || chunk->size - chunk->used < n) {
        struct arena_chunk *fresh = chunk_new(chunk, n);
        if (!fresh)
            return NULL;
        fresh->next = chunk;
        arena->chunks = chunk = fresh;
    }
    void *at = chunk->data + chunk->used;
    chunk->used += n;
    arena->bytes += n;
    return at;
}

char *arena_text(struct arena *arena, const char *text, size_t n)
{
    char *copy = arena_alloc(arena, n + 1);

    if (!copy)
        return NULL;
    if (n)
        memcpy(copy, text, n);
    copy[n] = '\0';
    return copy;
}

void arena_free(struct arena *arena)
{
    for (struct arena_chunk *chunk = arena->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    *arena = (struct arena){0};
}

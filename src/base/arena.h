/*
 * Memory that is freed all at once. Chunks double from 4 KiB to 1 MiB; nothing moves, so pointers stay
 * valid until arena_free(). A zeroed struct is an empty arena.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena {
    struct arena_chunk *chunks; /* the newest first */
    size_t bytes;               /* handed out, for statistics */
};

/* n bytes, 16-byte aligned, not zeroed; NULL: out of memory. */
void *arena_alloc(struct arena *arena, size_t n);

/* A copy of n bytes of text, with a NUL behind it. */
char *arena_text(struct arena *arena, const char *text, size_t n);

void arena_free(struct arena *arena);

#endif

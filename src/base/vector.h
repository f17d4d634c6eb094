/*
 * A growing array of any type:
 *
 *     VECTOR(struct slot) slots = {0};
 *     struct slot *s = vector_push(&slots);      // NULL: out of memory, nothing changed; else zeroed
 *     for (size_t i = 0; i < slots.n; i++) use(&slots.items[i]);
 *     vector_free(&slots);
 *
 * Doubles, so that n pushes cost O(n); a push may move the items.
 */
#ifndef BASE_VECTOR_H
#define BASE_VECTOR_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define VECTOR(type)    \
    struct {            \
        type *items;    \
        size_t n, room; \
    }

/* Room for `extra` more items: 0 or -ENOMEM. */
#define vector_reserve(vector, extra) \
    vector_reserve_((void **)&(vector)->items, &(vector)->room, (vector)->n, (extra), sizeof *(vector)->items)

#define vector_push(vector)          \
    (vector_reserve((vector), 1) < 0 \
         ? NULL                      \
         : (__typeof__((vector)->items))memset(&(vector)->items[(vector)->n++], 0, sizeof *(vector)->items))

#define vector_free(vector)               \
    do {                                  \
        free((vector)->items);            \
        (vector)->items = NULL;           \
        (vector)->n = (vector)->room = 0; \
    } while (0)

int vector_grow_(void **items, size_t *room, size_t n, size_t extra, size_t item_size);

/* Nearly always there is room, and nothing is called. */
static inline int vector_reserve_(void **items, size_t *room, size_t n, size_t extra, size_t item_size)
{
    return __builtin_expect(extra <= *room - n, 1) ? 0 : vector_grow_(items, room, n, extra, item_size);
}

#endif

/*
 * Each text once: text → a small number, 0, 1, 2 …, and back. Texts never move. A zeroed struct is empty.
 */
#ifndef BASE_INTERN_H
#define BASE_INTERN_H

#include "base/arena.h"
#include "base/vector.h"

#include <stdint.h>

struct intern {
    struct arena arena;
    VECTOR(struct intern_text {
        const char *text;
        uint32_t bytes;
        uint32_t hash;
    })
    texts;
    uint32_t *slots; /* index + 1; 0: free */
    size_t room;
};

/* The text's number, a new one if need be; -ENOMEM. n < 2^31. */
int64_t intern_add(struct intern *intern, const char *text, size_t n);

/* The text with that number, ending with a NUL; the number must be one that intern_add() returned. */
static inline const char *intern_text(const struct intern *intern, uint32_t number)
{
    return intern->texts.items[number].text;
}

void intern_free(struct intern *intern);

#endif

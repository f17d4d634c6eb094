#include "base/vector.h"

#include <errno.h>

int vector_grow_(void **items, size_t *room, size_t n, size_t extra, size_t item_size)
{
    size_t need, want;

    if (__builtin_add_overflow(n, extra, &need))
        return -ENOMEM;
    if (need <= *room)
        return 0;
    want = *room < 8 ? 8 : *room * 2;
    if (want < need)
        want = need;
    void *moved = reallocarray(*items, want, item_size);
    if (!moved)
        return -ENOMEM;
    *items = moved;
    *room = want;
    return 0;
}

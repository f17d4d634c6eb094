/*
 * Each pair (a, b) once: pair → a small number, 0, 1, 2 …, and back. A tree is one of these, with a the
 * parent's number (PAIRS_NONE: none) and b what the node holds: parents then have lower numbers than
 * their children. A zeroed struct is empty.
 */
#ifndef PROFILE_PAIRS_H
#define PROFILE_PAIRS_H

#include "base/table.h"
#include "base/vector.h"

#include <stdint.h>

#define PAIRS_NONE UINT32_MAX

struct pair {
    uint32_t a, b;
};

struct pairs {
    VECTOR(struct pair) items;
    uint32_t *slots; /* number + 1; 0: free */
    size_t room;
};

/* The pair's number, a new one if need be; -ENOMEM, or -EOVERFLOW beyond 2^32 - 1 pairs. */
int64_t pairs_add(struct pairs *pairs, uint32_t a, uint32_t b);

/* No more is added: what finds them goes, they stay. */
void pairs_settle(struct pairs *pairs);

void pairs_free(struct pairs *pairs);

#endif

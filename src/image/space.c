#include "image/space.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct space *space_share(struct space *space)
{
    if (space)
        space->users++;
    return space;
}

struct space *space_drop(struct space *space)
{
    if (space && --space->users == 0)
        free(space);
    return NULL;
}

/* The first mapping that ends behind the address: n if there is none. */
static uint32_t first_behind(const struct space *space, uint64_t address)
{
    uint32_t from = 0, to = space->n;

    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (space->items[middle].end > address)
            to = middle;
        else
            from = middle + 1;
    }
    return from;
}

const struct mapping *space_find(const struct space *space, uint64_t address)
{
    if (!space)
        return NULL;
    uint32_t i = first_behind(space, address);
    return i < space->n && space->items[i].start <= address ? &space->items[i] : NULL;
}

/* Makes the space this user's alone, with room for two more: what an insertion adds at most. */
static int own(struct space **space)
{
    struct space *old = *space, *new;

    if (old && old->users == 1 && old->room - old->n >= 2)
        return 0;
    uint32_t n = old ? old->n : 0;
    if (n > UINT32_MAX / 2 - 8)
        return -ENOMEM;
    uint32_t room = n + n / 2 + 8;
    new = malloc(sizeof *new + (size_t)room * sizeof *new->items);
    if (!new)
        return -ENOMEM;
    *new = (struct space){.users = 1, .n = n, .room = room};
    if (n)
        memcpy(new->items, old->items, (size_t)n * sizeof *new->items);
    space_drop(old);
    *space = new;
    return 0;
}

/* Puts one mapping, or none (NULL), in the place of [start, end). */
static int replace(struct space **space, uint64_t start, uint64_t end, const struct mapping *mapping)
{
    if (own(space) < 0)
        return -ENOMEM;
    struct space *s = *space;
    uint32_t from = first_behind(s, start), to = from;
    while (to < s->n && s->items[to].start < end)
        to++;

    /* What sticks out of the older ones, [from, to), on the left and on the right, stays. */
    struct mapping left = {0}, right = {0};
    bool has_left = from < to && s->items[from].start < start;
    bool has_right = from < to && s->items[to - 1].end > end;
    if (has_left) {
        left = s->items[from];
        left.end = start;
    }
    if (has_right) {
        right = s->items[to - 1];
        right.offset += end - right.start;
        right.start = end;
    }
    uint32_t at = from, behind = from + has_left + !!mapping + has_right;
    memmove(&s->items[behind], &s->items[to], (size_t)(s->n - to) * sizeof *s->items);
    s->n = s->n - to + behind;
    if (has_left)
        s->items[at++] = left;
    if (mapping)
        s->items[at++] = *mapping;
    if (has_right)
        s->items[at] = right;
    return 0;
}

int space_insert(struct space **space, const struct mapping *mapping)
{
    return replace(space, mapping->start, mapping->end, mapping);
}

int space_remove(struct space **space, uint64_t start, uint64_t end)
{
    return *space ? replace(space, start, end, NULL) : 0;
}

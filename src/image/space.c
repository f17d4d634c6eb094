#include "image/space.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void run_drop(struct space_run *run)
{
    if (--run->users == 0)
        free(run);
}

struct space *space_share(struct space *space)
{
    if (space)
        space->users++;
    return space;
}

struct space *space_drop(struct space *space)
{
    if (space && --space->users == 0) {
        for (uint32_t i = 0; i < space->n; i++)
            run_drop(space->parts[i].run);
        free(space);
    }
    return NULL;
}

/* The part that an address belongs to: the last one that starts at or before it, else the first. */
static uint32_t part_of(const struct space *space, uint64_t address)
{
    uint32_t from = 0, to = space->n;

    while (to - from > 1) {
        uint32_t middle = from + (to - from) / 2;
        if (space->parts[middle].first <= address)
            from = middle;
        else
            to = middle;
    }
    return from;
}

/* The first mapping that ends behind the address: n if there is none. */
static uint32_t first_behind(const struct space_run *run, uint64_t address)
{
    uint32_t from = 0, to = run->n;

    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (run->items[middle].end > address)
            to = middle;
        else
            from = middle + 1;
    }
    return from;
}

const struct mapping *space_find(const struct space *space, uint64_t address)
{
    if (!space || !space->n)
        return NULL;
    const struct space_run *run = space->parts[part_of(space, address)].run;
    uint32_t i = first_behind(run, address);
    return i < run->n && run->items[i].start <= address ? &run->items[i] : NULL;
}

/* A run of its own with these mappings, and room for two more: what a change adds at most. */
static struct space_run *run_new(const struct mapping *items, uint32_t n)
{
    uint32_t room = n + n / 2 + 8;
    struct space_run *run = malloc(sizeof *run + room * sizeof *run->items);

    if (run) {
        *run = (struct space_run){.users = 1, .n = n, .room = room};
        if (n)
            memcpy(run->items, items, n * sizeof *items);
    }
    return run;
}

/* Makes a part's run this space's alone, with room. */
static int own_run(struct space_part *part)
{
    struct space_run *old = part->run;

    if (old->users == 1 && old->room - old->n >= 2)
        return 0;
    struct space_run *run = run_new(old->items, old->n);
    if (!run)
        return -ENOMEM;
    run_drop(old);
    part->run = run;
    return 0;
}

/* Makes the space this user's alone, with room for a part more. */
static int own(struct space **space)
{
    struct space *old = *space;
    uint32_t n = old ? old->n : 0;

    if (old && old->users == 1 && old->room > n)
        return 0;
    if (n > UINT32_MAX / 2 - 4)
        return -ENOMEM;
    uint32_t room = n + n / 2 + 1;
    struct space *new = malloc(sizeof *new + (size_t)room * sizeof *new->parts);
    if (!new)
        return -ENOMEM;
    *new = (struct space){.users = 1, .n = n, .room = room, .mapping_n = old ? old->mapping_n : 0};
    for (uint32_t i = 0; i < n; i++) {
        new->parts[i] = old->parts[i];
        new->parts[i].run->users++;
    }
    space_drop(old);
    *space = new;
    return 0;
}

/* Puts a part in at an index. There is room. */
static void add_part(struct space *s, uint32_t at, struct space_run *run)
{
    memmove(&s->parts[at + 1], &s->parts[at], (size_t)(s->n - at) * sizeof *s->parts);
    s->parts[at] = (struct space_part){run->n ? run->items[0].start : 0, run};
    s->n++;
}

/* Takes out parts [from, to). */
static void drop_parts(struct space *s, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        run_drop(s->parts[i].run);
    memmove(&s->parts[from], &s->parts[to], (size_t)(s->n - to) * sizeof *s->parts);
    s->n -= to - from;
}

/* The part that a change at `start` begins in, its run owned, with room, and no longer than it may be. Nothing that
 * space_find() says is changed by that. */
static int prepare(struct space **space, uint64_t start, uint32_t *ret)
{
    if (own(space) < 0)
        return -ENOMEM;
    struct space *s = *space;
    uint32_t at = s->n ? part_of(s, start) : 0;
    struct space_run *half = NULL;

    if (!s->n) {
        half = run_new(NULL, 0);
        if (half)
            add_part(s, 0, half);
        return half ? 0 : -ENOMEM;
    }
    if (s->parts[at].run->n + 2 > SPACE_RUN) {
        struct space_run *run = s->parts[at].run;
        uint32_t left = run->n / 2;
        half = run_new(run->items + left, run->n - left);
        struct space_run *kept = half ? run_new(run->items, left) : NULL;
        if (!kept) {
            free(half);
            return -ENOMEM;
        }
        run_drop(run);
        s->parts[at].run = kept;
        add_part(s, at + 1, half);
        if (half->items[0].start <= start)
            at++;
        *ret = at;
        return 0;
    }
    *ret = at;
    return own_run(&s->parts[at]);
}

/* Puts n mappings in the place of a run's [from, to). */
static void splice(struct space *s, struct space_run *run, uint32_t from, uint32_t to,
                   const struct mapping *with, uint32_t n)
{
    memmove(&run->items[from + n], &run->items[to], (run->n - to) * sizeof *run->items);
    if (n)
        memcpy(&run->items[from], with, n * sizeof *with);
    run->n = run->n - (to - from) + n;
    s->mapping_n = s->mapping_n - (to - from) + n;
}

/* A part whose run was changed: it goes if that is empty. */
static void settle(struct space *s, uint32_t part)
{
    struct space_run *run = s->parts[part].run;

    if (run->n)
        s->parts[part].first = run->items[0].start;
    else
        drop_parts(s, part, part + 1);
}

/* What the last mapping before `end` has behind it, put into *ret. */
static bool right_of(const struct space_run *run, uint32_t from, uint32_t to, uint64_t end,
                     struct mapping *ret)
{
    if (from == to || run->items[to - 1].end <= end)
        return false;
    *ret = run->items[to - 1];
    ret->offset += end - ret->start;
    ret->start = end;
    return true;
}

static uint32_t first_from(const struct space_run *run, uint32_t from, uint64_t end)
{
    while (from < run->n && run->items[from].start < end)
        from++;
    return from;
}

/* Puts one mapping, or none (NULL), in the place of [start, end). */
static int replace(struct space **space, uint64_t start, uint64_t end, const struct mapping *mapping)
{
    uint32_t a = 0, n = 0, b;

    if (prepare(space, start, &a) < 0)
        return -ENOMEM;
    struct space *s = *space;
    for (b = a; b + 1 < s->n && s->parts[b + 1].first < end;)
        b++;
    if (b > a && own_run(&s->parts[b]) < 0)
        return -ENOMEM;

    /* What sticks out of the older ones on the left and on the right stays. */
    struct space_run *run = s->parts[a].run, *last = s->parts[b].run;
    uint32_t from = first_behind(run, start), to = first_from(run, from, end);
    struct mapping with[3], right;
    if (from < to && run->items[from].start < start) {
        with[n] = run->items[from];
        with[n++].end = start;
    }
    if (mapping)
        with[n++] = *mapping;
    if (a == b && right_of(run, from, to, end, &right))
        with[n++] = right;
    if (a < b) {
        uint32_t behind = first_from(last, 0, end);
        bool has_right = right_of(last, 0, behind, end, &right);
        splice(s, last, 0, behind, &right, has_right);
        for (uint32_t i = a + 1; i < b; i++)
            s->mapping_n -= s->parts[i].run->n;
    }
    splice(s, run, from, to, with, n);
    if (a < b) {
        settle(s, b);
        drop_parts(s, a + 1, b);
    }
    settle(s, a);
    return 0;
}

int space_insert(struct space **space, const struct mapping *mapping)
{
    return replace(space, mapping->start, mapping->end, mapping);
}

int space_remove(struct space **space, uint64_t start, uint64_t end)
{
    return *space && (*space)->n ? replace(space, start, end, NULL) : 0;
}

#include "profile/slices.h"

#include "base/table.h"

#include <errno.h>
#include <stdbool.h>

#define SHIFT_MAX 63u

/* Where the row of that cell and time is, or would be. */
static uint32_t *slot_of(const struct slices *s, uint32_t cell, uint64_t time)
{
    size_t at = hash_mix(time ^ hash_mix(cell)) & (s->room - 1);

    for (; s->slots[at]; at = (at + 1) & (s->room - 1)) {
        const struct slices_row *row = &s->rows.items[s->slots[at] - 1];
        if (row->cell == cell && row->time == time)
            break;
    }
    return &s->slots[at];
}

/* Slots for all rows and one more; those that there were go first: rows tell all that they did. */
static int make_slots(struct slices *s)
{
    size_t room = 64;

    while (room * 2 <= (s->rows.n + 1) * 3)
        room *= 2;
    slices_settle(s);
    s->slots = calloc(room, sizeof *s->slots);
    if (!s->slots)
        return -ENOMEM;
    s->room = room;
    return 0;
}

static int grow(struct slices *s)
{
    if (make_slots(s) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < s->rows.n; i++)
        *slot_of(s, s->rows.items[i].cell, s->rows.items[i].time) = (uint32_t)i + 1;
    return 0;
}

/* Slices of 1 << shift ns from now on: rows that fall together are one. */
static int widen(struct slices *s, unsigned shift)
{
    size_t kept = 0;

    if (make_slots(s) < 0)
        return -ENOMEM;
    s->shift = shift;
    for (size_t i = 0; i < s->rows.n; i++) {
        struct slices_row row = s->rows.items[i];
        row.time = row.time >> shift << shift;
        uint32_t *slot = slot_of(s, row.cell, row.time);
        if (*slot) {
            s->rows.items[*slot - 1].amount.weight += row.amount.weight;
            s->rows.items[*slot - 1].amount.samples += row.amount.samples;
            continue;
        }
        s->rows.items[kept++] = row;
        *slot = (uint32_t)kept;
    }
    s->rows.n = kept;
    return 0;
}

/* Whether there are so many slices that they can be twice as wide. */
static bool may_widen(const struct slices *s, unsigned shift)
{
    return shift < SHIFT_MAX && (s->last - s->base) >> shift >= UINT64_C(2) * SLICES_FEWEST;
}

/* Slices so wide that rows are few again. At once as wide as two samples lie apart: narrower ones would sum nothing. */
static int bound(struct slices *s, size_t cells)
{
    uint64_t apart = s->samples ? (s->last - s->base) / s->samples : 0;
    unsigned shift = s->shift;

    while (may_widen(s, shift) && UINT64_C(1) << shift < apart)
        shift++;
    for (shift += shift == s->shift; may_widen(s, shift - 1); shift++) {
        int rc = widen(s, shift);
        if (rc < 0 || s->rows.n <= 2 * cells + SLICES_EXTRA / 2)
            return rc;
    }
    return 0;
}

static int push(struct slices *s, uint32_t cell, uint64_t time, struct amount amount)
{
    if (s->rows.n >= UINT32_MAX - 1)
        return -EOVERFLOW;
    struct slices_row *row = vector_push(&s->rows);
    if (!row)
        return -ENOMEM;
    *row = (struct slices_row){time, amount, cell};
    return 0;
}

int slices_add(struct slices *s, uint32_t cell, uint64_t time, struct amount amount, size_t cells)
{
    if (time) {
        s->base = s->base && s->base < time ? s->base : time;
        s->last = time > s->last ? time : s->last;
    }
    s->samples += amount.samples;
    if (s->times == RK_TIMES_EACH)
        return push(s, cell, time, amount);
    time = s->times == RK_TIMES_NONE ? 0 : time >> s->shift << s->shift;
    if ((s->rows.n + 1) * 3 >= s->room * 2 && grow(s) < 0)
        return -ENOMEM;
    uint32_t *slot = slot_of(s, cell, time);
    if (*slot) {
        s->rows.items[*slot - 1].amount.weight += amount.weight;
        s->rows.items[*slot - 1].amount.samples += amount.samples;
        return 0;
    }
    int rc = push(s, cell, time, amount);
    if (rc == 0)
        *slot = (uint32_t)s->rows.n;
    return rc == 0 && s->rows.n > 2 * cells + SLICES_EXTRA && may_widen(s, s->shift) ? bound(s, cells) : rc;
}

void slices_settle(struct slices *s)
{
    free(s->slots);
    s->slots = NULL;
    s->room = 0;
}

void slices_free(struct slices *s)
{
    slices_settle(s);
    vector_free(&s->rows);
}

#include "profile/slices.h"

#include <errno.h>
#include <stdbool.h>

#define TIMELESS INT32_MIN /* in place of the number of slices behind base */
#define SHIFT_MAX 63u

/* The slices from base's to that of `time`; false: too many to count, with slices so narrow. */
static bool slice_of(const struct slices *s, uint64_t time, int32_t *ret)
{
    int64_t behind = (int64_t)(time >> s->shift) - (int64_t)(s->base >> s->shift);

    *ret = time && s->times == RK_TIMES_BOUNDED ? (int32_t)behind : TIMELESS;
    return *ret == TIMELESS ? !(time && s->times == RK_TIMES_BOUNDED) : behind == *ret;
}

static inline uint64_t key_of(uint32_t cell, int32_t slice)
{
    return (uint64_t)cell << 32 | (uint32_t)slice;
}

/* Slices of 1 << shift ns from now on. */
static int widen(struct slices *s, unsigned shift)
{
    struct table row_of = {0};
    size_t kept = 0;

    s->shift = shift;
    for (size_t i = 0; i < s->rows.n; i++) {
        struct slices_row row = s->rows.items[i];
        int32_t slice;
        row.time = row.time >> shift << shift;
        slice_of(s, s->rows.items[i].time, &slice);
        uint32_t same = table_get(&row_of, key_of(row.cell, slice));
        if (same != TABLE_NONE) {
            s->rows.items[same].amount.weight += row.amount.weight;
            s->rows.items[same].amount.samples += row.amount.samples;
            continue;
        }
        if (table_put(&row_of, key_of(row.cell, slice), (uint32_t)kept) < 0) {
            table_free(&row_of);
            return -ENOMEM;
        }
        s->rows.items[kept++] = row;
    }
    s->rows.n = kept;
    table_free(&s->row_of);
    s->row_of = row_of;
    return 0;
}

/* Slices so wide that rows are few again. At once as wide as two samples lie apart: narrower ones would sum nothing. */
static int bound(struct slices *s, size_t cells)
{
    uint64_t apart = s->samples ? (s->last - s->base) / s->samples : 0;
    unsigned shift = s->shift;

    while (shift < SHIFT_MAX && UINT64_C(1) << shift < apart)
        shift++;
    for (shift += shift == s->shift; shift < SHIFT_MAX; shift++) {
        int rc = widen(s, shift);
        if (rc < 0 || s->rows.n <= cells + SLICES_EXTRA / 2)
            return rc;
    }
    return 0;
}

static int push(struct slices *s, uint32_t cell, uint64_t time, struct amount amount)
{
    if (s->rows.n >= TABLE_NONE)
        return -EOVERFLOW;
    struct slices_row *row = vector_push(&s->rows);
    if (!row)
        return -ENOMEM;
    *row = (struct slices_row){time, amount, cell};
    return 0;
}

int slices_add(struct slices *s, uint32_t cell, uint64_t time, struct amount amount, size_t cells)
{
    int32_t slice;
    int rc = 0;

    if (time) {
        s->base = s->base ? s->base : time;
        s->last = time > s->last ? time : s->last;
    }
    s->samples += amount.samples;
    if (s->times == RK_TIMES_EACH)
        return push(s, cell, time, amount);
    if (s->times == RK_TIMES_NONE)
        time = 0;
    while (!slice_of(s, time, &slice) && rc == 0) /* by four doublings each, so that it is seldom */
        rc = widen(s, s->shift + 4 < SHIFT_MAX ? s->shift + 4 : SHIFT_MAX);
    if (rc < 0)
        return rc;
    uint32_t row = table_get(&s->row_of, key_of(cell, slice));
    if (row != TABLE_NONE) {
        s->rows.items[row].amount.weight += amount.weight;
        s->rows.items[row].amount.samples += amount.samples;
        return 0;
    }
    rc = push(s, cell, time >> s->shift << s->shift, amount);
    if (rc == 0 && (rc = table_put(&s->row_of, key_of(cell, slice), (uint32_t)s->rows.n - 1)) < 0)
        s->rows.n--;
    return rc == 0 && s->rows.n > cells + SLICES_EXTRA ? bound(s, cells) : rc;
}

void slices_free(struct slices *s)
{
    vector_free(&s->rows);
    table_free(&s->row_of);
}

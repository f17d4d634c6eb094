/*
 * Samples thread by thread, in the order of time: what formats with a time line for each thread want.
 */
#include "export/formats.h"
#include "profile/profile.h"

static int compare(const void *left, const void *right, void *context)
{
    const struct rk_profile_columns *c = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    if (c->sample_event[a] != c->sample_event[b])
        return c->sample_event[a] < c->sample_event[b] ? -1 : 1;
    if (c->sample_thread[a] != c->sample_thread[b])
        return c->sample_thread[a] < c->sample_thread[b] ? -1 : 1;
    return (a > b) - (a < b); /* rows are in the order of time */
}

uint32_t *export_by_thread(const struct rk_profile *profile)
{
    struct rk_profile_columns c = profile->columns;
    uint32_t *order = zeroed(c.sample_n, sizeof *order);

    for (size_t i = 0; order && i < c.sample_n; i++)
        order[i] = (uint32_t)i;
    if (order)
        qsort_r(order, c.sample_n, sizeof *order, compare, &c);
    return order;
}

size_t export_same_thread(const struct rk_profile *profile, const uint32_t *rows, size_t n)
{
    const struct rk_profile_columns *c = &profile->columns;
    size_t i = 1;

    while (i < n && c->sample_thread[rows[i]] == c->sample_thread[rows[0]] &&
           c->sample_event[rows[i]] == c->sample_event[rows[0]])
        i++;
    return i;
}

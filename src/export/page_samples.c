/*
 * Rows of a profile, as the page has them: of one event and side, by thread, by bucket of time, by place in the tree.
 * What falls together is summed, so the page's size is bounded by BUCKETS and the number of stacks, not of samples.
 */
#include "base/cleanup.h"
#include "export/page.h"

#include <errno.h>
#include <stdlib.h>

#define BUCKETS 2048      /* more than a screen has columns for */
#define BUCKETS_FEWEST 64 /* a time line needs so many to look like one */
#define ROWS_MOST 700000  /* entries; where there are more, buckets become wider */

struct entry {
    uint64_t samples, weight;
    uint32_t thread, bucket, place;
};

static bool belongs(const struct rk_profile_columns *c, size_t row, const struct page_side *side)
{
    bool before = side->is_of && side->is_of[c->thread_source[c->sample_thread[row]]];

    return c->sample_node[row] != RK_NO_NODE && c->sample_event[row] == side->event &&
           before == (side->before != 0);
}

struct page_time page_time_of(const struct rk_profile_columns *c, const struct rk_profile_summary *s,
                              const bool *is_before)
{
    uint64_t first = UINT64_MAX, last = 0, samples = 0, slice = s->slice_ns;

    for (size_t i = 0; i < c->sample_n && slice; i++) {
        if (c->sample_time[i] == 0)
            continue;
        first = c->sample_time[i] < first ? c->sample_time[i] : first;
        last = c->sample_time[i] > last ? c->sample_time[i] : last;
        samples += c->sample_count[i];
    }
    if (first >= last || is_before) /* two runs have no time in common */
        return (struct page_time){1, 0, 1};
    /* Few samples in many buckets are a comb, not a curve; eight in each are one. */
    uint64_t wanted = samples / 8, span = last - first + 1;
    wanted = wanted > BUCKETS ? BUCKETS : wanted < BUCKETS_FEWEST ? BUCKETS_FEWEST : wanted;
    /* Of whole slices: else some buckets would hold more of them than others. */
    uint64_t width = (span / slice + wanted) / wanted * slice;
    first -= first % slice;
    return (struct page_time){(last - first) / width + 1, first, width};
}

struct page_sums page_side_sums(const struct rk_profile_columns *c, const struct page_side *side)
{
    struct page_sums sums = {0};

    for (size_t i = 0; i < c->sample_n; i++)
        if (belongs(c, i, side)) {
            sums.samples += c->sample_count[i];
            sums.weight += c->sample_weight[i];
        }
    return sums;
}

static int compare(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;

    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->bucket != b->bucket)
        return a->bucket < b->bucket ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

static uint32_t bucket_of(const struct page_time *time, uint64_t t)
{
    uint64_t bucket = t < time->start ? 0 : (t - time->start) / time->width;

    return (uint32_t)(bucket < time->buckets ? bucket : time->buckets - 1);
}

/* Sorted, and equal ones summed: how many there are. */
static size_t collect(const struct rk_profile_columns *c, const struct page_tree *tree,
                      const struct page_time *time, const struct page_side *side, struct entry *entries)
{
    size_t n = 0, kept = 0;

    for (size_t i = 0; i < c->sample_n; i++)
        if (belongs(c, i, side))
            entries[n++] = (struct entry){c->sample_count[i], c->sample_weight[i], c->sample_thread[i],
                                          bucket_of(time, c->sample_time[i]), tree->place[c->sample_node[i]]};
    qsort(entries, n, sizeof *entries, compare);
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && compare(&entries[kept - 1], &entries[i]) == 0) {
            entries[kept - 1].samples += entries[i].samples;
            entries[kept - 1].weight += entries[i].weight;
        } else {
            entries[kept++] = entries[i];
        }
    }
    return kept;
}

/* What each sample weighs, where all weigh the same; else 0. */
static uint64_t common_period(const struct entry *entries, size_t n)
{
    uint64_t period = n > 0 && entries[0].samples ? entries[0].weight / entries[0].samples : 0;

    for (size_t i = 0; i < n; i++)
        if (entries[i].weight != period * entries[i].samples)
            return 0;
    return n > 0 ? period : 1;
}

/* Entries of one thread and bucket. */
static void write_group(struct page_pen *pen, const struct entry *entries, size_t n, bool weights)
{
    uint32_t last = 0;

    page_number(pen, n);
    for (size_t i = 0; i < n; i++) {
        page_number(pen, entries[i].place - last);
        page_number(pen, entries[i].samples);
        if (weights)
            page_number(pen, entries[i].weight);
        last = entries[i].place;
    }
}

static size_t group_end(const struct entry *entries, size_t from, size_t n)
{
    size_t to = from;

    while (to < n && entries[to].thread == entries[from].thread && entries[to].bucket == entries[from].bucket)
        to++;
    return to;
}

int page_time_fit(const struct rk_profile_columns *c, const struct page_tree *tree, struct page_time *time,
                  const struct page_side *sides, size_t n)
{
    if (c->sample_n <= ROWS_MOST)
        return 0;
    _cleanup_free_ struct entry *entries = calloc(c->sample_n + 1, sizeof *entries);
    if (!entries)
        return -ENOMEM;
    for (size_t rows; time->buckets > BUCKETS_FEWEST;) {
        rows = 0;
        for (size_t i = 0; i < n; i++)
            rows += collect(c, tree, time, &sides[i], entries);
        if (rows <= ROWS_MOST)
            break;
        time->width *= 2;
        time->buckets = (time->buckets + 1) / 2;
    }
    return 0;
}

int page_write_side(struct page_pen *pen, const struct rk_profile_columns *c, const struct page_tree *tree,
                    const struct page_time *time, const struct page_side *side)
{
    _cleanup_free_ struct entry *entries = calloc(c->sample_n + 1, sizeof *entries);

    if (!entries)
        return -ENOMEM;
    size_t n = collect(c, tree, time, side, entries), at = 0;
    uint64_t period = common_period(entries, n);
    page_number(pen, side->before);
    page_number(pen, period);
    for (uint32_t thread = 0; thread < c->thread_n; thread++) {
        size_t groups = 0, to = at;
        for (; to < n && entries[to].thread == thread; to = group_end(entries, to, n))
            groups++;
        page_number(pen, groups);
        for (uint32_t last = 0; at < to;) {
            size_t end = group_end(entries, at, n);
            page_number(pen, entries[at].bucket - last);
            write_group(pen, &entries[at], end - at, period == 0);
            last = entries[at].bucket;
            at = end;
        }
    }
    return 0;
}

/*
 * Rows of a profile, as the page has them: of one event and side, by thread, by bucket of time, by place in the tree.
 * What falls together is summed, so the page's size is bounded by BUCKETS and the number of stacks, not of samples.
 */
#include "base/cleanup.h"
#include "export/page.h"

#include <errno.h>
#include <stdlib.h>

#define BUCKETS 2048      /* more than a screen has columns for */
#define BUCKETS_WANTED 64 /* a time line needs so many to look like one */
#define BUCKETS_FEWEST 16 /* … and is one still */
#define ROWS_MOST 700000  /* rows; where there are more, buckets become wider … */
#define PAGE_MOST \
    9500000 /* … and even if little is left of the time line, where the page would have more bytes */
#define NODE_BYTES 4 /* of a page, as a rule */
#define ROW_BYTES 3
#define WEIGHT_BYTES 6 /* … where samples don't weigh the same */
#define DIGIT 11
#define DIGIT_MASK ((1u << DIGIT) - 1)

enum { PAGE_EVENT, PAGE_THREAD, PAGE_BUCKET, PAGE_PLACE };

static bool is_before_of(const struct rk_profile_columns *c, const bool *is_before, size_t row)
{
    return is_before && is_before[c->thread_source[c->sample_thread[row]]];
}

static bool belongs(const struct rk_profile_columns *c, size_t row, const struct page_side *side)
{
    return c->sample_node[row] != RK_NO_NODE && c->sample_event[row] == side->event &&
           is_before_of(c, side->is_of, row) == (side->before != 0);
}

struct page_time page_time_of(const struct rk_profile_columns *c, const struct rk_profile_summary *s,
                              const bool *is_before)
{
    uint64_t first[2] = {UINT64_MAX, UINT64_MAX}, last[2] = {0}, samples = 0, slice = s->slice_ns, span = 0;

    for (size_t i = 0; i < c->sample_n && slice; i++) {
        unsigned side = is_before_of(c, is_before, i);
        if (c->sample_time[i] == 0)
            continue;
        first[side] = c->sample_time[i] < first[side] ? c->sample_time[i] : first[side];
        last[side] = c->sample_time[i] > last[side] ? c->sample_time[i] : last[side];
        samples += c->sample_count[i];
    }
    for (unsigned side = 0; side < (is_before ? 2 : 1); side++) {
        if (first[side] >= last[side]) /* also where but one of two has times */
            return (struct page_time){1, 1, {0}};
        first[side] -= first[side] % slice;
        span = last[side] - first[side] > span ? last[side] - first[side] : span;
    }
    /* Few samples in many buckets are a comb, not a curve; eight in each are one. */
    uint64_t wanted = samples / 8;
    wanted = wanted > BUCKETS ? BUCKETS : wanted < BUCKETS_WANTED ? BUCKETS_WANTED : wanted;
    /* Of whole slices: else some buckets would hold more of them than others. */
    uint64_t width = (span / slice + wanted) / wanted * slice;
    return (struct page_time){span / width + 1, width, {first[0], is_before ? first[1] : 0}};
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

static uint32_t bucket_of(const struct page_time *time, unsigned side, uint64_t t)
{
    uint64_t bucket = t < time->start[side] ? 0 : (t - time->start[side]) / time->width;

    return (uint32_t)(bucket < time->buckets ? bucket : time->buckets - 1);
}

static uint32_t word_of(const struct page_row *row, unsigned word)
{
    return word == PAGE_EVENT    ? row->event
           : word == PAGE_THREAD ? row->thread
           : word == PAGE_BUCKET ? row->bucket
                                 : row->place;
}

/* A stable sort by one word, 11 bits at a time, as far as there are any. */
static void sort_by(struct page_rows *rows, unsigned word)
{
    uint32_t all = 0;

    for (size_t i = 0; i < rows->n; i++)
        all |= word_of(&rows->items[i], word);
    for (unsigned shift = 0; shift < 32 && all >> shift; shift += DIGIT) {
        size_t begin[(1 << DIGIT) + 1] = {0};
        for (size_t i = 0; i < rows->n; i++)
            begin[(word_of(&rows->items[i], word) >> shift & DIGIT_MASK) + 1]++;
        for (size_t i = 1; i <= DIGIT_MASK; i++)
            begin[i] += begin[i - 1];
        for (size_t i = 0; i < rows->n; i++)
            rows->scratch[begin[word_of(&rows->items[i], word) >> shift & DIGIT_MASK]++] = rows->items[i];
        struct page_row *sorted = rows->scratch;
        rows->scratch = rows->items;
        rows->items = sorted;
    }
}

static bool same(const struct page_row *a, const struct page_row *b)
{
    return a->place == b->place && a->bucket == b->bucket && a->thread == b->thread && a->event == b->event;
}

/* Neighbours that are equal, as one. */
static void sum(struct page_rows *rows)
{
    size_t kept = 0;

    for (size_t i = 0; i < rows->n; i++) {
        if (kept > 0 && same(&rows->items[kept - 1], &rows->items[i])) {
            rows->items[kept - 1].samples += rows->items[i].samples;
            rows->items[kept - 1].weight += rows->items[i].weight;
        } else {
            rows->items[kept++] = rows->items[i];
        }
    }
    rows->n = kept;
}

/* Whether there are so many rows that buckets must be wider. */
static bool is_too_much(const struct page_rows *rows, size_t nodes, uint64_t buckets)
{
    const struct page_row *first = rows->items;
    size_t bytes = ROW_BYTES;

    if (buckets / 2 >= BUCKETS_FEWEST)
        return rows->n > ROWS_MOST;
    for (size_t i = 0; i < rows->n && bytes == ROW_BYTES; i++)
        if (rows->items[i].weight * first->samples != first->weight * rows->items[i].samples)
            bytes += WEIGHT_BYTES;
    return rows->n * bytes + nodes * NODE_BYTES > PAGE_MOST;
}

void page_rows_free(struct page_rows *rows)
{
    free(rows->items);
    free(rows->scratch);
    *rows = (struct page_rows){0};
}

int page_rows_make(const struct rk_profile_columns *c, const struct page_tree *tree, const bool *is_before,
                   struct page_time *time, struct page_rows *ret)
{
    struct page_rows rows = {.items = malloc((c->sample_n + 1) * sizeof *rows.items),
                             .scratch = malloc((c->sample_n + 1) * sizeof *rows.scratch)};

    if (!rows.items || !rows.scratch) {
        page_rows_free(&rows);
        return -ENOMEM;
    }
    for (size_t i = 0; i < c->sample_n; i++)
        if (c->sample_node[i] != RK_NO_NODE)
            rows.items[rows.n++] =
                (struct page_row){c->sample_count[i],
                                  c->sample_weight[i],
                                  c->sample_event[i],
                                  c->sample_thread[i],
                                  bucket_of(time, is_before_of(c, is_before, i), c->sample_time[i]),
                                  tree->place[c->sample_node[i]]};
    /* By bucket last, so that neighbours stay neighbours when buckets become wider. */
    sort_by(&rows, PAGE_BUCKET);
    sort_by(&rows, PAGE_PLACE);
    sort_by(&rows, PAGE_THREAD);
    sort_by(&rows, PAGE_EVENT);
    sum(&rows);
    while (time->buckets > 1 && is_too_much(&rows, tree->node_n, time->buckets)) {
        time->width *= 2;
        time->buckets = (time->buckets + 1) / 2;
        for (size_t i = 0; i < rows.n; i++)
            rows.items[i].bucket /= 2;
        sum(&rows);
    }
    sort_by(&rows, PAGE_BUCKET);
    sort_by(&rows, PAGE_THREAD);
    sort_by(&rows, PAGE_EVENT);
    *ret = rows;
    return 0;
}

/* Rows of one thread and bucket. */
static void write_group(struct page_pen *pen, const struct page_row *entries, size_t n, bool weights)
{
    uint32_t last = 0;

    page_number(pen, n);
    for (size_t i = 0; i < n; i++) {
        page_number(pen, (uint64_t)(entries[i].place - last) << 1 | (entries[i].samples != 1));
        if (entries[i].samples != 1)
            page_number(pen, entries[i].samples);
        if (weights)
            page_number(pen, entries[i].weight);
        last = entries[i].place;
    }
}

static size_t group_end(const struct page_row *entries, size_t from, size_t n)
{
    size_t to = from;

    while (to < n && entries[to].thread == entries[from].thread && entries[to].bucket == entries[from].bucket)
        to++;
    return to;
}

/* The rows of a thread and event: from `at` on to what is returned. */
static size_t thread_end(const struct page_rows *rows, size_t at, uint32_t event, uint32_t thread)
{
    while (at < rows->n && rows->items[at].event == event && rows->items[at].thread == thread)
        at++;
    return at;
}

static bool is_of(const struct rk_profile_columns *c, const struct page_side *side, uint32_t thread)
{
    return (side->is_of && side->is_of[c->thread_source[thread]]) == (side->before != 0);
}

static size_t groups_of(const struct page_row *rows, size_t n)
{
    size_t groups = 0;

    for (size_t at = 0; at < n; at = group_end(rows, at, n))
        groups++;
    return groups;
}

/* One thread's groups. */
static void write_thread(struct page_pen *pen, const struct page_row *rows, size_t n, bool weights)
{
    uint32_t last = 0;

    page_number(pen, groups_of(rows, n));
    for (size_t at = 0, end; at < n; at = end) {
        end = group_end(rows, at, n);
        page_number(pen, rows[at].bucket - last);
        write_group(pen, &rows[at], end - at, weights);
        last = rows[at].bucket;
    }
}

/* What a side's rows have in common. */
struct extent {
    size_t groups, rows;
    uint64_t most;   /* samples of a row */
    uint64_t period; /* 0: they don't weigh the same */
};

static void extend(struct extent *x, const struct page_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (x->rows == 0 && i == 0)
            x->period = rows->samples ? rows->weight / rows->samples : 0;
        if (rows[i].weight != x->period * rows[i].samples)
            x->period = 0;
        x->most = rows[i].samples > x->most ? rows[i].samples : x->most;
    }
    x->groups += groups_of(rows, n);
    x->rows += n;
}

void page_write_side(struct page_pen *pen, const struct rk_profile_columns *c, const struct page_rows *rows,
                     const struct page_side *side)
{
    size_t first = 0, end;
    struct extent x = {.period = 1};

    while (first < rows->n && rows->items[first].event < side->event)
        first++;
    for (size_t at = first, thread = 0; thread < c->thread_n; thread++, at = end) {
        end = thread_end(rows, at, side->event, (uint32_t)thread);
        if (is_of(c, side, (uint32_t)thread))
            extend(&x, &rows->items[at], end - at);
    }
    page_number(pen, side->before);
    page_number(pen, x.period);
    page_number(pen, x.groups);
    page_number(pen, x.rows);
    page_number(pen, x.most);
    for (size_t at = first, thread = 0; thread < c->thread_n; thread++, at = end) {
        end = thread_end(rows, at, side->event, (uint32_t)thread);
        write_thread(pen, &rows->items[at], is_of(c, side, (uint32_t)thread) ? end - at : 0, !x.period);
    }
}

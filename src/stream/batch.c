/*
 * Rows by the batch, out of a single ring.
 *
 * Samples of one size that follow each other are a run: a column is then a copy by that stride, a chain as long as all others.
 * Where sizes change from sample to sample, so many views into the ring are taken, then one column after the other out of them,
 * each a loop of two loads and a store. What is not a plain sample ends the batch and goes the way of all others, one by one.
 */
#include "stream/batch.h"

#include <errno.h>

/* Records at a time: they stay in the nearest cache while one column after the other is read. */
#define RUN 64
#define RUN_LEAST 8 /* where fewer have one size, views cost less for the next ones */

bool batch_begin(const struct rk_stream *st, const struct rk_columns *columns, struct batch *b)
{
    const struct stream_event *first = st->events.items;

    uint64_t type = first->layout.sample_type;
    if (!st->views || st->deferred || !st->plain || !stream_alike(st) ||
        (st->events.n > 1 && !(type & RK_SAMPLE_PERIOD)))
        return false;
    b->layout = &first->layout;
    b->chains = columns->chain_start && columns->chains;
    b->runs = st->events.n == 1;
    b->period = first->period;
    return true;
}

/* Words of a record, whose size the caller has looked at. */
static inline uint64_t batch_u64_at(const void *record, size_t at)
{
    uint64_t value;
    memcpy(&value, (const unsigned char *)record + at, sizeof value);
    return value;
}

static inline uint32_t batch_u32_at(const void *record, size_t at)
{
    uint32_t value;
    memcpy(&value, (const unsigned char *)record + at, sizeof value);
    return value;
}

/* How many of the views, from the first on, are samples that hold all that their layout says. */
static size_t batch_plain(const struct rk_stream *st, struct batch *b, size_t from, size_t n)
{
    const struct layout *layout = b->layout;
    bool chain = layout->sample_type & RK_SAMPLE_CALLCHAIN, many = st->events.n > 1;
    size_t least = layout->head_bytes + (chain ? 8u : 0u), i = from;
    uint64_t last = 0;
    uint32_t event = many ? RK_NO_EVENT : 0;

    for (; i < n; i++) {
        const struct perf_header *view = b->views[i];
        if (view->type != RK_RECORD_SAMPLE || view->size < least)
            break;
        if (chain && batch_u64_at(view, layout->head_bytes) > (view->size - least) / 8)
            break;
        if (many) {
            uint64_t id = batch_u64_at(view, layout->sample.id);
            if (id != last || event == RK_NO_EVENT)
                event = table_get(&st->ids, last = id);
            if (event == RK_NO_EVENT)
                break;
            b->events[i] = event;
        }
    }
    return i - from;
}

/* The chains of n views: those of how many found room. A chain that has none at all, being the first, is left to columns_take(). */
static size_t batch_chains(const struct batch *b, struct rk_columns *columns, uint64_t row,
                           const struct perf_header *const *views, size_t n)
{
    size_t place = b->layout->head_bytes;
    uint64_t *start = columns->chain_start + row, at = *start;

    if (!(b->layout->sample_type & RK_SAMPLE_CALLCHAIN)) {
        for (size_t i = 1; i <= n; i++)
            start[i] = at;
        return n;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t length = batch_u64_at(views[i], place);
        if (length > columns->chains_max - at)
            return i;
        const uint64_t *from = (const void *)((const unsigned char *)views[i] + place + 8);
        for (uint64_t k = 0; k < length; k++) /* mostly so few that a call of memcpy() costs more */
            columns->chains[at + k] = from[k];
        at += length;
        start[i + 1] = at;
    }
    return n;
}

/* Records of one size, one behind the other. */
struct batch_run {
    const struct perf_header *first;
    size_t stride;
};

#define OF_VIEWS(from, i) ((const void *)(from)[i])
#define OF_RUN(from, i) ((const void *)((const unsigned char *)(from).first + (i) * (from).stride))

/* A column, out of the same place in each record; four at a time, since a loop's own work is as much as a row's. Where
 * there is no such place, `other`. */
#define BATCH_COLUMN(name, type, source, row, word)                              \
    static void name(type *to, source from, size_t n, size_t at, type other)     \
    {                                                                            \
        size_t i = 0;                                                            \
        if (!to)                                                                 \
            return;                                                              \
        if (!at) {                                                               \
            for (; i < n; i++)                                                   \
                to[i] = other;                                                   \
            return;                                                              \
        }                                                                        \
        for (; i + 4 <= n; i += 4) {                                             \
            type a = word(row(from, i), at), b = word(row(from, i + 1), at);     \
            type c = word(row(from, i + 2), at), d = word(row(from, i + 3), at); \
            to[i] = a;                                                           \
            to[i + 1] = b;                                                       \
            to[i + 2] = c;                                                       \
            to[i + 3] = d;                                                       \
        }                                                                        \
        for (; i < n; i++)                                                       \
            to[i] = word(row(from, i), at);                                      \
    }
BATCH_COLUMN(views_u64, uint64_t, const struct perf_header *const *, OF_VIEWS, batch_u64_at)
BATCH_COLUMN(views_u32, uint32_t, const struct perf_header *const *, OF_VIEWS, batch_u32_at)
BATCH_COLUMN(run_u64, uint64_t, struct batch_run, OF_RUN, batch_u64_at)
BATCH_COLUMN(run_u32, uint32_t, struct batch_run, OF_RUN, batch_u32_at)
#undef BATCH_COLUMN

#define FROM(column) (columns->column ? columns->column + row : NULL)

/* All columns that have a place of their own; the others are the same in each row. */
#define BATCH_PUT(u64, u32, from)                                                 \
    do {                                                                          \
        const struct layout_place *place = &b->layout->sample;                    \
        u64(FROM(time), from, n, place->time, 0);                                 \
        u64(FROM(ip), from, n, place->ip, 0);                                     \
        u64(FROM(addr), from, n, place->addr, 0);                                 \
        u64(FROM(period), from, n, place->period, b->period);                     \
        u64(FROM(id), from, n, place->id, 0);                                     \
        u64(FROM(weight), from, n, 0, 0);                                         \
        u64(FROM(phys_addr), from, n, 0, 0);                                      \
        u64(FROM(cgroup), from, n, 0, 0);                                         \
        u64(FROM(present), from, n, 0, b->layout->sample_type);                   \
        u32((uint32_t *)FROM(pid), from, n, place->tid, 0);                       \
        u32((uint32_t *)FROM(tid), from, n, place->tid ? place->tid + 4u : 0, 0); \
        u32(FROM(cpu), from, n, place->cpu, 0);                                   \
    } while (0)

static void batch_put(const struct rk_stream *st, const struct batch *b, size_t from, size_t n,
                      struct rk_columns *columns, uint64_t row)
{
    const struct perf_header *const *views = b->views + from;

    BATCH_PUT(views_u64, views_u32, views);
    for (size_t i = 0; columns->event && i < n; i++)
        columns->event[row + i] = st->events.n > 1 ? b->events[from + i] : 0;
    for (size_t i = 0; columns->misc && i < n; i++)
        columns->misc[row + i] = views[i]->misc;
}

/* How many of a run, from the first on, have a chain that fills them, as long as each has room. */
static size_t run_chains(const struct batch *b, struct rk_columns *columns, uint64_t row,
                         struct batch_run run, size_t n)
{
    size_t place = b->layout->head_bytes, least = b->layout->plain_bytes, i = 0;
    uint64_t length = (run.stride - least) / 8;

    if (b->chains && length && n > (columns->chains_max - columns->chain_start[row]) / length)
        n = (size_t)((columns->chains_max - columns->chain_start[row]) / length);
    while (i < n && batch_u64_at(OF_RUN(run, i), place) == length)
        i++;
    if (!b->chains)
        return i;
    uint64_t *start = columns->chain_start + row, *to = columns->chains + *start;
    for (size_t k = 0; k < i; k++, to += length) {
        const uint64_t *from = (const void *)((const unsigned char *)OF_RUN(run, k) + least);
        uint64_t at = 0;
        for (; at + 2 <= length; at += 2) /* mostly so few that a call of memcpy() costs more */
            memcpy(to + at, from + at, 16);
        if (at < length)
            to[at] = from[at];
        start[k + 1] = start[k] + length;
    }
    return i;
}

/* A run of samples becomes rows: how many. What of it is not as the others is left for batch_take(). */
static size_t batch_run(struct rk_stream *st, const struct batch *b, struct rk_columns *columns, uint64_t row)
{
    struct batch_run run = {0};
    uint64_t room = columns->max - row;
    size_t all = live_run(st, b->layout->plain_bytes, room < RUN ? (size_t)room : RUN, &run.first), n = all;

    if (n == 0)
        return 0;
    run.stride = run.first->size;
    if (b->layout->sample_type & RK_SAMPLE_CALLCHAIN)
        n = run_chains(b, columns, row, run, n);
    else if (b->chains)
        batch_chains(b, columns, row, NULL, n);
    if (n < all)
        live_unread(st->live, (all - n) * run.stride);
    BATCH_PUT(run_u64, run_u32, run);
    for (size_t i = 0; columns->event && i < n; i++)
        columns->event[row + i] = 0;
    for (size_t i = 0; columns->misc && i < n; i++)
        columns->misc[row + i] = ((const struct perf_header *)OF_RUN(run, i))->misc;
    st->events.items[0].tally.kept += n;
    return n;
}

static void batch_tally(struct rk_stream *st, const struct batch *b, size_t from, size_t n)
{
    if (st->events.n == 1)
        st->events.items[0].tally.kept += n;
    else
        for (size_t i = from; i < from + n; i++)
            st->events.items[b->events[i]].tally.kept++;
}

/* Views into the ring become rows. 1: go on; 0: no more, or no room; -errno as next(). */
static int batch_take(struct rk_stream *st, struct batch *b, struct rk_columns *columns, uint64_t *row)
{
    uint64_t room = columns->max - *row;
    int n = st->views(st, b->views, room < BATCH ? (size_t)room : BATCH);
    const struct rk_record *record;

    if (n <= 0)
        return n;
    const unsigned char *end = (const unsigned char *)b->views[n - 1] + b->views[n - 1]->size;
    for (size_t at = 0; at < (size_t)n;) {
        const struct perf_header *view = b->views[at];
        size_t plain = batch_plain(st, b, at, (size_t)n);
        if (plain && b->chains)
            plain = batch_chains(b, columns, *row, b->views + at, plain);
        if (plain) {
            batch_put(st, b, at, plain, columns, *row);
            batch_tally(st, b, at, plain);
            *row += plain;
            at += plain;
            continue;
        }
        uint64_t behind = (uint64_t)(end - (const unsigned char *)view) - view->size;
        int r = stream_view(st, view, behind, &record);
        if (r < 0)
            columns->damaged++;
        else if (!columns_take(st, columns, record, row)) {
            live_unread(st->live, behind);
            return 0;
        }
        at++;
    }
    return 1;
}

int batch_rows(struct rk_stream *st, struct batch *b, struct rk_columns *columns, uint64_t *row)
{
    size_t run = b->runs ? batch_run(st, b, columns, *row) : 0;

    *row += run;
    return run >= RUN_LEAST ? 1 : batch_take(st, b, columns, row);
}

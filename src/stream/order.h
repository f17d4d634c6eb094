/*
 * Records of several rings, or of a file, in the order of time: by rounds, in bounded memory.
 *
 * A round is one pass over all rings, or what a file holds up to a FINISHED_ROUND. Call M(n) the largest time
 * seen up to round n. A record that was not yet there in round n can't be older than what its ring had given
 * before, so once round n is complete, nothing older than M(n-1) can still come: all up to M(n-1) goes out.
 * What is held is therefore never more than the last round, and a live round is short.
 *
 *     push …  push    round()    next … next    release()
 *
 * Records are copied: the ring is free again at once. Copies lie in chunks, which are used again when all
 * their records are out and released; nothing is allocated per record.
 *
 *     chunk  │ item: chunk, rk_record, mark │ bytes │ item … │ bytes │ …
 *     runs   │ time, → item │ …
 *
 * A record without a time of its own keeps its place: the owner gives it the time of the one before it.
 * Where more waits than the limit (a damaged file, a round without end), half() lets the older half go. Records
 * that come after a later one has gone out are counted in `disorder`; none is dropped.
 */
#ifndef STREAM_ORDER_H
#define STREAM_ORDER_H

#include "stream/runs.h"

#include <reckon/record.h>
#include <stdbool.h>
#include <stddef.h>

#define ORDER_LIMIT ((size_t)64 << 20) /* bytes waiting */

struct order {
    struct runs runs;
    size_t at, ready; /* items [at, ready) may go out */
    size_t limit;     /* 0: ORDER_LIMIT */
    size_t waiting;   /* bytes of records not handed out */
    uint64_t newest;  /* M(n) */
    uint64_t horizon; /* M(n-1) */
    uint64_t out;     /* the largest time handed out */
    uint64_t disorder;
    size_t chunks;                            /* all that there are */
    bool sorted;                              /* some record had to change places */
    struct order_chunk *filling;              /* where copies go */
    struct order_chunk *full, *spent, *spare; /* holding records; all out, not yet released; free */
};

struct order_item {
    struct order_chunk *chunk;
    struct rk_record record; /* its data follows */
    bool marked;             /* by whoever has pushed it */
};

/* Copies the record, to be ordered by `time`. Returns 0 or -ENOMEM. Nothing is ready then until round(), drain() or half(). */
int order_push_marked(struct order *order, const struct rk_record *record, uint64_t time, bool marked);
static inline int order_push(struct order *order, const struct rk_record *record, uint64_t time)
{
    return order_push_marked(order, record, time, false);
}

/* Whether a record that next() gave was marked. */
static inline bool order_marked(const struct rk_record *record)
{
    const unsigned char *at = (const unsigned char *)record - offsetof(struct order_item, record);
    return ((const struct order_item *)(const void *)at)->marked;
}

static inline bool order_full(const struct order *order)
{
    return order->waiting > (order->limit ? order->limit : ORDER_LIMIT);
}

/* A round is complete: what is safe becomes ready. drain(): all. half(): the older half. 0 or -ENOMEM. */
int order_round(struct order *order);
int order_drain(struct order *order);
int order_half(struct order *order);

/* The next that is ready, or NULL. It stays until release(). */
const struct rk_record *order_next(struct order *order);

/* What next() gave out is no longer looked at. */
void order_release(struct order *order);

void order_free(struct order *order);

#endif

#include "stream/order.h"

#include <errno.h>

#define CHUNK_BYTES ((size_t)256 << 10) /* a record is below 64 KiB, so no more than a quarter is wasted */

struct order_chunk {
    struct order_chunk *next, **link; /* link: what points here, in the list `full` */
    size_t used;
    size_t pending; /* records not handed out */
    unsigned char bytes[];
};

static size_t item_bytes(size_t record_bytes)
{
    return sizeof(struct order_item) + ((record_bytes + 7) & ~(size_t)7);
}

static void chunk_spend(struct order *order, struct order_chunk *chunk)
{
    chunk->next = order->spent;
    order->spent = chunk;
}

/* Another chunk to fill: a spare one, or a new one. The one so far joins those that hold records. */
static struct order_chunk *chunk_begin(struct order *order)
{
    struct order_chunk *chunk = order->spare, *old = order->filling;

    if (chunk)
        order->spare = chunk->next;
    else if ((chunk = malloc(sizeof *chunk + CHUNK_BYTES)))
        order->chunks++;
    else
        return NULL;
    *chunk = (struct order_chunk){0};
    if (old && old->pending) {
        old->next = order->full;
        old->link = &order->full;
        if (old->next)
            old->next->link = &old->next;
        order->full = old;
    } else if (old) {
        chunk_spend(order, old);
    }
    order->filling = chunk;
    return chunk;
}

/* Items that are out leave the array, so that what is held is one run in front of what is pushed. */
static void forget_out(struct order *order)
{
    if (order->at)
        runs_drop(&order->runs, order->at);
    order->at = order->ready = 0;
}

int order_push_marked(struct order *order, const struct rk_record *record, uint64_t time, bool marked)
{
    struct order_chunk *chunk = order->filling;
    size_t bytes = item_bytes(record->bytes);

    if (!chunk || chunk->used + bytes > CHUNK_BYTES) {
        chunk = chunk_begin(order);
        if (!chunk)
            return -ENOMEM;
    }
    struct order_item *item = (struct order_item *)(void *)(chunk->bytes + chunk->used);
    unsigned char *copy = (unsigned char *)(item + 1);
    item->chunk = chunk;
    item->record = *record;
    item->record.data = copy;
    item->marked = marked;
    memcpy(copy, record->data, record->bytes);

    if (order->ready)
        forget_out(order);
    int r = runs_push(&order->runs, time, (uintptr_t)item);
    if (r < 0)
        return r;
    chunk->used += bytes;
    chunk->pending++;
    order->waiting += bytes;
    order->disorder += time < order->out;
    order->sorted |= time < order->newest;
    if (time > order->newest)
        order->newest = time;
    return 0;
}

static int order_until(struct order *order, uint64_t time)
{
    forget_out(order);
    int r = runs_sort(&order->runs);
    if (r == 0)
        order->ready = runs_until(&order->runs, time);
    return r;
}

int order_round(struct order *order)
{
    int r = order_until(order, order->horizon);
    if (r == 0)
        order->horizon = order->newest;
    return r;
}

int order_drain(struct order *order)
{
    return order_until(order, UINT64_MAX);
}

int order_half(struct order *order)
{
    int r = order_until(order, 0);
    if (r == 0 && order->runs.items.n)
        order->ready = runs_until(&order->runs, order->runs.items.items[order->runs.items.n / 2].time);
    return r;
}

const struct rk_record *order_next(struct order *order)
{
    if (order->at == order->ready)
        return NULL;

    const struct run_key *key = &order->runs.items.items[order->at++];
    struct order_item *item = (struct order_item *)(uintptr_t)key->where;
    struct order_chunk *chunk = item->chunk;

    if (key->time > order->out)
        order->out = key->time;
    order->waiting -= item_bytes(item->record.bytes);
    if (--chunk->pending == 0 && chunk != order->filling) {
        *chunk->link = chunk->next;
        if (chunk->next)
            chunk->next->link = chunk->link;
        chunk_spend(order, chunk);
    }
    return &item->record;
}

void order_release(struct order *order)
{
    while (order->spent) {
        struct order_chunk *chunk = order->spent;
        order->spent = chunk->next;
        chunk->next = order->spare;
        order->spare = chunk;
    }
    if (order->filling && order->filling->pending == 0)
        order->filling->used = 0;
}

static void chunks_free(struct order_chunk *chunk)
{
    while (chunk) {
        struct order_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
}

void order_free(struct order *order)
{
    runs_free(&order->runs);
    chunks_free(order->full);
    chunks_free(order->spent);
    chunks_free(order->spare);
    free(order->filling);
    *order = (struct order){0};
}

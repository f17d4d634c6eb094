#include "stream/deferred.h"

#include "base/vector.h"
#include "record/encode.h"

#include <errno.h>

struct held {
    struct rk_record record; /* its data is ours */
    struct layout layout;    /* of one that waits; a copy, since events may still be added */
    uint64_t cookie;
    bool waits;
};

struct deferred {
    VECTOR(struct held) queue;
    size_t at;            /* the first that is still here */
    size_t bytes;         /* held */
    struct rk_record out; /* what next() gave last … */
    unsigned char *given; /* … and its bytes */
    uint64_t *record;     /* room for one record, and for one chain */
    uint64_t *chain;
};

struct deferred *deferred_new(void)
{
    struct deferred *d = calloc(1, sizeof *d);

    if (!d)
        return NULL;
    d->record = malloc(RECORD_BYTES_MAX);
    d->chain = malloc(RECORD_BYTES_MAX);
    return d->record && d->chain ? d : deferred_free(d);
}

struct deferred *deferred_free(struct deferred *d)
{
    if (!d)
        return NULL;
    for (size_t i = d->at; i < d->queue.n; i++)
        free((void *)(uintptr_t)d->queue.items[i].record.data);
    vector_free(&d->queue);
    free(d->given);
    free(d->record);
    free(d->chain);
    free(d);
    return NULL;
}

const struct rk_record *deferred_next(struct deferred *d)
{
    if (d->at == d->queue.n || (d->queue.items[d->at].waits && d->bytes <= DEFERRED_LIMIT))
        return NULL;
    free(d->given);
    d->out = d->queue.items[d->at++].record;
    d->given = (unsigned char *)(uintptr_t)d->out.data;
    d->bytes -= d->out.bytes;
    if (d->at == d->queue.n)
        d->at = d->queue.n = 0;
    return &d->out;
}

/* The whole chain in place of the sample's: its record is written anew. What can't be joined goes out as it is. */
static int join(struct deferred *d, struct held *held, const struct rk_deferred *part)
{
    struct rk_sample s = {.size = sizeof s};

    held->waits = false;
    if (layout_sample(&held->layout, &held->record, &s) < 0)
        return 0;
    uint64_t room = (RECORD_BYTES_MAX - held->record.bytes) / 8 + s.chain_n;
    int64_t n = rk_sample_join(&s, part, d->chain, RECORD_BYTES_MAX / 8);
    if (n < 0)
        return 0;
    s.chain = d->chain;
    s.chain_n = (uint64_t)n < room ? (uint64_t)n : room;
    int bytes = encode_sample(&held->layout, held->record.misc, &s, d->record, RECORD_BYTES_MAX);
    if (bytes < 0)
        return 0;
    unsigned char *copy = malloc((size_t)bytes);
    if (!copy)
        return -ENOMEM;
    memcpy(copy, d->record, (size_t)bytes);
    free((void *)(uintptr_t)held->record.data);
    d->bytes += (size_t)bytes;
    d->bytes -= held->record.bytes;
    held->record.data = copy;
    held->record.bytes = (uint16_t)bytes;
    return 0;
}

/* What a record means to those that wait. */
static int told(struct deferred *d, const struct rk_record *record)
{
    struct rk_deferred part = {.size = sizeof part};
    struct rk_task task = {.size = sizeof task};
    bool comes = rk_record_deferred(record, &part) == 0 && (record->present & RK_SAMPLE_TID);
    bool ends = record->type == RK_RECORD_EXIT && rk_record_task(record, &task) == 0;
    int r = 0;

    for (size_t i = d->at; (comes || ends) && i < d->queue.n && r == 0; i++) {
        struct held *held = &d->queue.items[i];
        if (comes && held->waits && held->record.tid == record->tid && held->cookie == part.cookie)
            r = join(d, held, &part);
        else if (ends && held->record.tid == task.tid)
            held->waits = false;
    }
    return r;
}

/* The cookie of a sample whose chain is not whole. */
static bool waits(const struct layout *layout, const struct rk_record *record, uint64_t *ret)
{
    struct rk_sample s = {.size = sizeof s};

    return layout && record->type == RK_RECORD_SAMPLE && (record->present & RK_SAMPLE_TID) &&
           layout_sample(layout, record, &s) == 0 && rk_sample_cookie(&s, ret) == 0;
}

int deferred_take(struct deferred *d, const struct layout *layout, const struct rk_record *record)
{
    struct held held = {.record = *record};
    int r = told(d, record);

    if (r < 0)
        return r;
    held.waits = waits(layout, record, &held.cookie);
    if (held.waits)
        held.layout = *layout;
    if (d->at == d->queue.n && !held.waits)
        return 0;
    unsigned char *copy = malloc(record->bytes);
    struct held *place = copy ? vector_push(&d->queue) : NULL;
    if (!place) {
        free(copy);
        return -ENOMEM;
    }
    memcpy(copy, record->data, record->bytes);
    held.record.data = copy;
    *place = held;
    d->bytes += record->bytes;
    return 1;
}

void deferred_end(struct deferred *d)
{
    for (size_t i = d->at; i < d->queue.n; i++)
        d->queue.items[i].waits = false;
}

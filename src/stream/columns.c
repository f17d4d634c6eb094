/*
 * Samples by the column: what a binding wants, without a call and an object for each.
 *
 * A row whose chain finds no room is kept for the next call: `pending` holds the record, which stays valid because
 * nothing is released before.
 *
 * A single ring whose events all have the same plain layout is read by the batch (batch.c).
 */
#include "base/unset.h"
#include "stream/batch.h"

#include <errno.h>

#define PUT(column, value)                  \
    do {                                    \
        if (columns->column)                \
            columns->column[row] = (value); \
    } while (0)

static void put_row(struct rk_columns *columns, uint64_t row, const struct rk_record *record,
                    const struct rk_sample *s)
{
    PUT(time, s->time);
    PUT(ip, s->ip);
    PUT(addr, s->addr);
    PUT(period, s->period);
    PUT(id, s->id);
    PUT(weight, s->weight);
    PUT(phys_addr, s->phys_addr);
    PUT(cgroup, s->cgroup);
    PUT(present, s->present);
    PUT(pid, s->pid);
    PUT(tid, s->tid);
    PUT(cpu, s->cpu);
    PUT(event, record->event);
    PUT(misc, record->misc);
}

/* The chain of a row: false, and nothing stored, where it does not fit and there are rows before it. */
static bool put_chain(struct rk_columns *columns, uint64_t row, const struct rk_sample *s)
{
    if (!columns->chain_start || !columns->chains)
        return true;
    uint64_t at = columns->chain_start[row], n = s->chain_n;
    if (n > columns->chains_max - at) {
        if (row)
            return false;
        n = columns->chains_max;
    }
    if (n)
        memcpy(columns->chains + at, s->chain, n * 8);
    columns->chain_start[row + 1] = at + n;
    return true;
}

bool columns_take(struct rk_stream *st, struct rk_columns *columns, const struct rk_record *record,
                  uint64_t *row)
{
    struct rk_sample s = {.size = sizeof s};

    if (record->type != RK_RECORD_SAMPLE) {
        if (columns->each)
            columns->each(columns->context, record);
    } else if (rk_stream_sample(st, record, &s) < 0) {
        columns->damaged++;
    } else if (!put_chain(columns, *row, &s)) {
        st->pending = record;
        return false;
    } else {
        put_row(columns, (*row)++, record, &s);
    }
    return true;
}

int64_t rk_stream_columns(struct rk_stream *st, struct rk_columns *columns)
{
    const struct rk_record *record;
    UNSET struct batch b; /* batch_begin() sets it, or it is not looked at */
    uint64_t row = 0;
    int r = 1;

    if (!st || !columns || columns->size < sizeof *columns || columns->size > 4096)
        return -EINVAL;
    if (!columns->chain_start != !columns->chains)
        return -EINVAL; /* neither is of use alone */
    columns->damaged = 0;
    if (columns->chain_start)
        columns->chain_start[0] = 0;
    if (st->pending && columns->max) {
        record = st->pending;
        st->pending = NULL;
        columns_take(st, columns, record, &row); /* the first finds room, if it must be cut */
    }
    if (batch_begin(st, columns, &b)) {
        while (row < columns->max && (r = batch_rows(st, &b, columns, &row)) != 0) {
            if (r == -EBADMSG)
                columns->damaged++;
            else if (r < 0)
                break;
        }
    } else {
        while (row < columns->max && (r = rk_stream_next(st, &record)) != 0) {
            if (r == -EBADMSG && !st->broken)
                columns->damaged++;
            else if (r < 0 || !columns_take(st, columns, record, &row))
                break;
        }
    }
    if (r < 0 && row == 0)
        return r;
    if (!st->pending)
        rk_stream_release(st);
    return (int64_t)row;
}

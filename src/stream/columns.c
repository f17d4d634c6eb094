/*
 * Samples by the column: what a binding wants, without a call and an object for each.
 *
 * A row whose chain finds no room is kept for the next call: `pending` holds the record, which stays valid because
 * nothing is released before.
 */
#include "base/error.h"
#include "stream/stream.h"

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

static int next_record(struct rk_stream *st, const struct rk_record **ret)
{
    if (st->pending) {
        *ret = st->pending;
        st->pending = NULL;
        return 1;
    }
    return rk_stream_next(st, ret);
}

int64_t rk_stream_columns(struct rk_stream *st, struct rk_columns *columns)
{
    const struct rk_record *record;
    uint64_t row = 0;
    int r = 0;

    if (!st || !columns || columns->size < sizeof *columns)
        return -EINVAL;
    columns->damaged = 0;
    if (columns->chain_start)
        columns->chain_start[0] = 0;
    while (row < columns->max && (r = next_record(st, &record)) != 0) {
        struct rk_sample s = {.size = sizeof s};

        if (r == -EBADMSG && !st->broken) {
            columns->damaged++;
            continue;
        }
        if (r < 0)
            break;
        if (record->type != RK_RECORD_SAMPLE) {
            if (columns->each)
                columns->each(columns->context, record);
            continue;
        }
        if (rk_stream_sample(st, record, &s) < 0) {
            columns->damaged++;
            continue;
        }
        if (!put_chain(columns, row, &s)) {
            st->pending = record;
            break;
        }
        put_row(columns, row++, record, &s);
    }
    if (r < 0 && row == 0)
        return r;
    if (!st->pending)
        rk_stream_release(st);
    return (int64_t)row;
}

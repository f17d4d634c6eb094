/*
 * Samples as rows by the batch: of a single ring whose events all have the same plain layout.
 */
#ifndef STREAM_BATCH_H
#define STREAM_BATCH_H

#include "stream/stream.h"

#define BATCH 64

struct batch {
    const struct layout *layout; /* of all events */
    bool chains;                 /* wanted, and there */
    bool runs;                   /* one event: samples of one size that follow each other are looked for */
    uint64_t period;             /* where samples don't say it */
    const struct perf_header *views[BATCH];
    uint32_t events[BATCH];
};

/* Whether the stream is such a one. */
bool batch_begin(const struct rk_stream *stream, const struct rk_columns *columns, struct batch *ret);

/* Hot. Rows from *row < columns->max on. 1: go on; 0: no more, or no room; -errno as rk_stream_next(). */
int batch_rows(struct rk_stream *stream, struct batch *b, struct rk_columns *columns, uint64_t *row);

/* columns.c: one record, whatever it is: false where its chain finds no room, and it is kept. */
bool columns_take(struct rk_stream *stream, struct rk_columns *columns, const struct rk_record *record,
                  uint64_t *row);

#endif

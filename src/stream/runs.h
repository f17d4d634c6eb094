/*
 * Sorting what is nearly sorted already: a stable merge of natural runs.
 *
 * Keys come as several rings or a file deliver them: long ascending stretches, one per ring, now and then a
 * key that is a place or two late (a sample taken inside another record's writing). Pushing keeps the list
 * of runs; sorting merges neighbours pairwise: n keys in r runs cost O(n log r), one run costs nothing.
 *
 *     items   │ 3 4 6 7 9 │ 1 2 5 │ 8 8 │ …        16 bytes per key
 *     starts    0           5       8
 *
 * A key that belongs at most RUNS_NEAR places back in its own run is put there at once, so that single
 * stragglers don't break a run in two.
 */
#ifndef STREAM_RUNS_H
#define STREAM_RUNS_H

#include "base/vector.h"

#include <stdint.h>

#define RUNS_NEAR 16

struct run_key {
    uint64_t time;
    uint64_t where; /* the owner's: a pointer, or an offset in a file */
};

struct runs {
    VECTOR(struct run_key) items;
    VECTOR(size_t) starts;
    struct run_key *spare; /* the other side of a merge */
    size_t spare_room;
};

/* 0, or -ENOMEM with nothing changed. Allocates only to grow. */
int runs_push(struct runs *runs, uint64_t time, uint64_t where);

/* Puts all items in the order of time, equal times as they were pushed. 0, or -ENOMEM with the items as they
 * were. */
int runs_sort(struct runs *runs);

/* How many of the sorted items have a time ≤ `time`. */
size_t runs_until(const struct runs *runs, uint64_t time);

/* Drops the first n of the sorted items. */
void runs_drop(struct runs *runs, size_t n);

void runs_free(struct runs *runs);

#endif

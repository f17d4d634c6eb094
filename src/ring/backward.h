/*
 * The ring that the kernel writes backward, over and over (attr.write_backward, 4.7): a flight recorder. It is mapped
 * read-only, so that there is no tail: the newest record begins at head, older ones follow, up to where the writing
 * began or to where the newest has overwritten them.
 *
 *     data    │ … newer │ newest │ oldest, half overwritten │ older … │
 *                       ↑ head (runs downward, free-running)
 *
 * The kernel must not write meanwhile: pause the output (IOC_PAUSE_OUTPUT), then begin() and next() until 0, then let
 * it go on. What a snapshot has given is not given again by the next one.
 *
 *     backward_begin(&ring);
 *     while (backward_next(&ring, &record) == 1)      // the newest first
 *         …
 */
#ifndef RING_BACKWARD_H
#define RING_BACKWARD_H

#include "ring/ring.h"

struct backward {
    struct ring *ring; /* its page, data, size and bounce buffer */
    uint64_t at, end;  /* of this snapshot; free-running */
    uint64_t before;   /* head of the last snapshot */
    uint64_t lost;     /* bytes that were overwritten before a snapshot saw them: at least so many */
};

/* Over a ring made by ring_init() or ring_map_backward(). */
void backward_init(struct backward *backward, struct ring *ring);

/* Takes the head: what lies between it and the last one's is read. The output must be paused. */
void backward_begin(struct backward *backward);

/* 1 and the next older record, 8-byte aligned, valid until the next call; 0: no more. A record that was overwritten in
 * part is left out, and what is not a record ends the snapshot. */
int backward_next(struct backward *backward, const struct perf_header **ret);

#endif

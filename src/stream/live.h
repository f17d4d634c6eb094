/*
 * The rings of a set, from inside: live_open.c maps them, live.c reads them, or pumped.c by a thread; control.c steers them.
 */
#ifndef STREAM_LIVE_H
#define STREAM_LIVE_H

#include "open/set.h"
#include "ring/backward.h"
#include "stream/pump.h"
#include "stream/stream.h"

struct live_ring {
    struct ring *ring;
    uint64_t last; /* time of its last record */
    uint32_t slot; /* whose event is waited for; n_slots: all have ended */
    int fd;        /* its descriptor */
    struct backward backward;
};

struct stream_live {
    struct rk_set *set;
    int epoll;
    uint32_t n;
    uint32_t ended;          /* atomic: a reader's thread counts them */
    bool overwrite;          /* rings are written backward */
    struct pump *pump;       /* NULL: no thread */
    struct ring **pumped;    /* the rings, as the pump wants them */
    uint64_t passes;         /* of the pump, as last seen */
    struct rk_value *values; /* of a slot's events, for counting what was due */
    struct live_ring rings[];
};

/* Sets the ways to its records (stream.h), by what the stream is; again once it has a thread. */
void live_ways(struct rk_stream *stream);

/* Waits for the next event of a ring that has one, from slot rings[index].slot on. 0 or -errno. */
int live_watch(struct stream_live *live, uint32_t index);
/* Takes the wake-ups, waiting for them so long, and moves from events whose thread has ended to others. How many, or -errno, not
 * vital: what fails is tried again at the next pass. */
int live_look(struct stream_live *live, int timeout_ms);

/* All that the thread has brought, to the queue; whether a round ended with it. 0 or -errno. */
int live_take(struct rk_stream *stream, bool *ret_round);

/* Takes what the backward rings hold; all of it is then ready. */
int live_snapshot(struct rk_stream *stream);

#endif

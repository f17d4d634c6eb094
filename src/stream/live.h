/*
 * The rings of a set, from inside: live.c reads them, control.c steers them.
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

/* Takes what the backward rings hold; all of it is then ready. */
int live_snapshot(struct rk_stream *stream);

#endif

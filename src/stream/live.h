/*
 * The rings of a set, from inside: live_open.c maps them, live.c reads them, or a feeder in its place; world.c puts what runs
 * already in front of their records; control.c steers them.
 */
#ifndef STREAM_LIVE_H
#define STREAM_LIVE_H

#include "ring/backward.h"
#include "set/set.h"
#include "stream/stream.h"

struct live_ring {
    struct ring *ring;
    uint64_t last; /* time of its last record */
    uint32_t slot; /* whose event is waited for; n_slots: all have ended */
    int fd;        /* its descriptor */
    struct backward backward;
};

/* What runs already, as records, one behind the other: world.c. */
struct live_world {
    VECTOR(unsigned char) bytes;
    size_t at;           /* the next to be given */
    uint32_t made;       /* WORLD_…: the parts that the stream has begun with */
    uint32_t since;      /* records made since the clock was looked at … */
    uint64_t emptied_ns; /* … and when the rings were emptied last */
    int error;           /* of the making: the next call of next() returns it */
};
#define WORLD_KERNEL 1u
#define WORLD_TASKS 2u

/* Who empties the rings in the stream's place, such as a thread of a recorder's (capture/reader.h). */
struct live_feeder {
    int fd; /* readable when there is much to take: rk_stream_fd() */
    /* Pushes all that was read into the queue; *ret_round: whether a pass over all rings ended with it. 0 or -errno. */
    int (*take)(void *context, struct rk_stream *stream, bool *ret_round);
    /* No more is produced: it reads no ring after this. */
    void (*stop)(void *context);
    void *context;
};

struct stream_live {
    struct rk_set *set;
    int epoll;
    uint32_t n;
    uint32_t ended;                   /* atomic: a reader's thread counts them */
    bool overwrite;                   /* rings are written backward */
    const struct live_feeder *feeder; /* NULL: the rings are read here */
    struct rk_value *values;          /* of a slot's events, for counting what was due */
    struct live_world world;
    bool held;     /* the queue has records of a single ring, which go out before it is read on */
    uint64_t keys; /* by which they are ordered: as they came */
    struct live_ring rings[];
};

/* Sets the ways to its records (stream.h), by what the stream is; again once it has a feeder. */
void live_ways(struct rk_stream *stream);

/* Waits for the next event of a ring that has one, from slot rings[index].slot on. 0 or -errno. */
int live_watch(struct stream_live *live, uint32_t index);
/* Takes the wake-ups, waiting for them so long, and moves from events whose thread has ended to others. How many, or -errno, not
 * vital: what fails is tried again at the next pass. */
int live_look(struct stream_live *live, int timeout_ms);

/* From here on the feeder empties the rings; NULL: the stream itself again. It outlives this, or the stream. */
void live_feed(struct rk_stream *stream, const struct live_feeder *feeder);

/* Whether the feeder has unwound the sample that next() gave last: it then carries frames in place of its stack. */
bool live_unwound(const struct rk_stream *stream, const struct rk_record *record);

/* Empties the rings into the queue, as far as that has room, while something else takes long. Returns 0 or -errno. */
int live_collect(struct rk_stream *stream);

/* Makes these parts of the world (WORLD_…) as it is now; they go out before anything else. Returns 0; or -errno, and what was
 * made so far goes out. */
int live_world(struct rk_stream *stream, uint32_t parts);
/* The cgroups as they are now, each given to `put`, if the set asks for them. Returns 0 or -errno. */
int live_cgroups(struct rk_stream *stream, int (*put)(void *context, const struct perf_header *record),
                 void *context);
/* Whether the set's options ask for it: for RK_RECORDS_PROFILE, and not for no_world. */
bool live_world_wanted(const struct rk_set *set);
/* The world as a stream of the set begins with it: now where the set is enabled, else when it will be. Returns 0 or -errno. */
int live_world_begin(struct rk_stream *stream);
/* Says why the world could not be made. Returns `code`. */
int live_world_explain(int code, struct rk_error *ret);
/* What is still to be given of it goes out first, whichever way the stream takes from then on. */
void live_world_first(struct rk_stream *stream);
/* Drops the rest of the world. */
void live_world_drop(struct rk_stream *stream);
/* Frees the world's records once they are out. */
void live_world_done(struct stream_live *live);

/* Takes what the backward rings hold; all of it is then ready. */
int live_snapshot(struct rk_stream *stream);

#endif

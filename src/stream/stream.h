/*
 * A stream from inside: one face over two sources.
 *
 *     live   rings ──┐                         ┌── order ── next()
 *     file   reader ─┴─ identify: which event ─┴── straight ┘
 *
 * A source that needs no ordering (a single ring; a file that says it is in order) hands views on `straight`;
 * else its refill() brings a round into the queue. What goes out through next() is tallied per event.
 *
 * Identification: every record carries its event's id at the same place (SAMPLE_IDENTIFIER) unless there is one
 * event only; ids lead to the event, whose layout then finds time, thread and CPU.
 */
#ifndef STREAM_STREAM_H
#define STREAM_STREAM_H

#include "base/abi.h"
#include "base/table.h"
#include "base/vector.h"
#include "record/layout.h"
#include "ring/ring.h"
#include "stream/deferred.h"
#include "stream/ledger.h"
#include "stream/members.h"
#include "stream/order.h"

#include <reckon/stream.h>

/* rk_record.event of a record in the queue that is too short for its event's layout. */
#define STREAM_DAMAGED (UINT32_MAX - 1)

struct stream_tally {
    uint64_t kept;         /* SAMPLE records handed out */
    uint64_t lost_records; /* by LOST records: of any kind */
    uint64_t lost_samples; /* by LOST_SAMPLES records */
    uint64_t dropped;      /* samples that found no memory here */
    uint64_t throttled;
};

struct stream_event {
    struct layout layout;
    struct perf_attr attr;
    const char *name;
    uint64_t period; /* of samples that don't say theirs; 0: it isn't fixed */
    VECTOR(uint64_t) ids;
    bool rate_changed; /* while running: what was due can't be told from the count */
    struct stream_tally tally;
};

/* What the last failure was about; behind a pointer, since const calls fail too. */
struct stream_fault {
    int code; /* 0: nothing failed */
    enum stream_fault_where {
        STREAM_FAULT_RING,   /* a size in a ring that makes no sense */
        STREAM_FAULT_RECORD, /* a record too short for its layout */
        STREAM_FAULT_SAMPLE, /* a sample that does not hold what its layout says */
        STREAM_FAULT_QUEUE,  /* out of memory */
        STREAM_FAULT_WORLD,  /* what runs already can't be read */
        STREAM_FAULT_FILE,   /* the reader explains */
        STREAM_FAULT_FORKED,
    } where;
    uint32_t type, event, ring;
    uint64_t offset, bytes;
};

struct rk_stream {
    /* The short way of rk_stream_next(): the single ring of events whose samples have the same fields, of which none is
     * held back; NULL: there is no such way. */
    struct ring *ring;
    const uint32_t *fork_word; /* 0: perhaps a forked child, which the long way finds out */
    uint64_t id;               /* of the last sample that came the short way, of one event of several … */
    uint32_t id_event;         /* … which is this; RK_NO_EVENT: none yet */
    bool plain;                /* all samples are (layout.h) */

    VECTOR(struct stream_event) events;
    struct table ids;
    uint32_t any;               /* an event with sample fields: all have their ids where it has them … */
    bool mixed;                 /* … unless this is set; then records can't be told apart */
    bool broken;                /* the file can't be read on: the end, once that was told */
    bool drained;               /* live: no more is produced; file: its end was reached */
    struct stream_tally others; /* of no event */
    struct order order;
    struct rk_record record;         /* what `straight` gave last */
    const struct rk_record *pending; /* columns.c: seen, and not yet given */
    struct members *members;         /* NULL: no sample carried those of a group */
    struct deferred *deferred;       /* NULL: no event defers its chains */
    struct stream_formats *formats;  /* fields.c: of tracepoints that were asked for */
    struct stream_fault *fault;

    /* The source. straight: 1 and *ret filled, 0, -errno; NULL where there is a queue. refill: 1 the queue has
     * something ready, 0 nothing is due, -errno. */
    int (*straight)(struct rk_stream *stream, struct rk_record *ret);
    /* The same by the batch: views of records, how many; NULL where there is no such way. */
    int (*views)(struct rk_stream *stream, const struct perf_header **ret, size_t max);
    int (*refill)(struct rk_stream *stream);
    struct stream_live *live;
    struct stream_file *file;
};

/* An empty stream, or NULL: out of memory. Whatever is added later, rk_stream_free() frees it. */
struct rk_stream *stream_new(void);

/* Adds an event with its ids. `name` must outlive the stream. 0, -ENOMEM, -EINVAL (an attr that can't be). */
int stream_event_add(struct rk_stream *stream, const struct perf_attr *attr, const char *name);
int stream_id_add(struct rk_stream *stream, uint64_t id, uint32_t event);
/* Whether all samples have the same fields, and tell their event where there are several. */
bool stream_alike(const struct rk_stream *stream);

/* Hot. Fills *ret from a record's bytes; the event of one that is too short is STREAM_DAMAGED. */
void stream_identify_slowly(const struct rk_stream *stream, const struct perf_header *header, uint64_t offset,
                            struct rk_record *ret);
static inline void stream_identify(const struct rk_stream *stream, const struct perf_header *header,
                                   uint64_t offset, struct rk_record *ret)
{
    if (__builtin_expect(
            stream->events.n == 1 && stream->any == 0 &&
                layout_head(&stream->events.items[0].layout, header, layout_word(header, 0), ret),
            1)) {
        ret->event = 0;
        ret->offset = offset;
    } else {
        stream_identify_slowly(stream, header, offset, ret);
    }
}

/* Hot. The record of a view that is still to be handed out, as rk_stream_next() would give it; `behind`: bytes that were
 * viewed after it. 1 or -errno. */
int stream_view(struct rk_stream *stream, const struct perf_header *view, uint64_t behind,
                const struct rk_record **ret);

/* The time to order by: a record without one (or 0, as tools write it into records they make up) goes with
 * the one before it, whose time is *last. */
static inline uint64_t stream_key(const struct rk_record *record, uint64_t *last)
{
    if ((record->present & RK_SAMPLE_TIME) && record->time != 0 && record->time != UINT64_MAX)
        *last = record->time;
    return *last;
}

/* Queues a record; one that finds no memory is counted as dropped. `unwound`: see live_unwound(). Returns 0 or -ENOMEM. */
int stream_push_unwound(struct rk_stream *stream, const struct rk_record *record, uint64_t time,
                        bool unwound);
static inline int stream_push(struct rk_stream *stream, const struct rk_record *record, uint64_t time)
{
    return stream_push_unwound(stream, record, time, false);
}

/* fault.c: notes what failed and returns its code. */
int stream_fail(const struct rk_stream *stream, struct stream_fault fault);

/* The period that the event was given, 0: a frequency. */
uint64_t stream_own_period(const struct perf_attr *attr);

/* The period that the event really has, 0: none that is fixed. A clock sampled by frequency has one: the kernel
 * turns its frequency into a period, of 10 µs at least, once. */
uint64_t stream_fixed_period(const struct perf_attr *attr);

/* fields.c */
struct stream_formats *formats_free(struct stream_formats *formats);

/* The sources. */
struct stream_live *live_close(struct stream_live *live);
int live_fd(const struct stream_live *live);
void live_release(struct stream_live *live);
bool live_forked(const struct stream_live *live);
/* Samples of a single ring that have one size, of `least` bytes, and lie one behind the other: ring_run(). */
size_t live_run(struct rk_stream *stream, size_t least, size_t max, const struct perf_header **ret);
/* A single ring's bytes: how many were read, and that the last of them are to be read again. */
uint64_t live_position(const struct stream_live *live);
void live_unread(struct stream_live *live, uint64_t bytes);
/* No more is produced: whoever empties the rings ends. */
void live_drain(struct stream_live *live);
/* Every thread that was measured has ended. */
bool live_ended(const struct stream_live *live);

struct stream_file *file_close(struct stream_file *file);
void file_info(const struct rk_stream *stream, struct rk_stream_info *ret);
int file_explain(const struct stream_file *file, struct rk_error *ret);
/* An event's name as the file says it by now: a pipe tells it late. */
const char *file_event_name(const struct rk_stream *stream, size_t index);
/* The format text of a tracepoint, by its number, in the recording's tracing data; NULL: none. */
const char *file_format(const struct rk_stream *stream, uint64_t number, size_t *ret_n);
/* What the recorder wrote of an event's losses: NULL: nothing, or the end is not reached. */
const struct ledger_event *file_ledger(const struct rk_stream *stream, uint32_t event);

#endif

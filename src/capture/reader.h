/*
 * A thread that empties the rings, so that nothing is lost while records are ordered and written: it copies and
 * releases. Between it and the stream is a queue of blocks, bounded in bytes:
 *
 *     ring 0 ─┐
 *     ring 1 ─┼─ pass ─→ block │ part: ring, offset, n │ bytes │ part … │   ─→ … ─→ reader_blocks() ─→ order
 *     ring n ─┘                                   └── round: the pass ended with this block
 *
 * With `stacks` (its layouts are of the samples, and their stacks are only to be unwound) a sample's stack goes without what
 * lies behind its frames, which is most of it: the room that the kernel had left, and what is above the thread's outermost
 * frame (arguments and environment, the thread library's own) once who unwinds has said where that is. Its size becomes
 * what is left and a word, so that it does not look cut. Else the reader looks at no record.
 *
 * Who unwinds may know a stack already: then its sample goes on as the answer says, without a stack, in a part of its own.
 * What it knows, and what is a frame, holds until mappings change, or a program is executed. That may be in one ring and
 * samples behind it in another: so a pass fixes all heads before it looks at a record, and then looks for a change in all
 * that the kernel has written until then. Where there is one, the pass copies samples as they are.
 *
 * Where the queue is full the reader leaves what is there in the rings. The kernel then counts what finds no room,
 * event by event, as it does with any slow reader: nothing is dropped here. How often that was is in `full`.
 *
 * The reader has all signals blocked, and ends in reader_stop().
 */
#ifndef CAPTURE_READER_H
#define CAPTURE_READER_H

#include "base/table.h"
#include "record/layout.h"
#include "ring/ring.h"
#include "stream/live.h"
#include "sys/thread.h"

#define READER_TOPS 1024u

/* Writes what goes on in place of a sample whose stack is known already. Returns its bytes, at most `room`; 0: it is not
 * known, or does not fit. With other records (`sample` is NULL) it is called to notice them. Only the reader's thread calls it. */
typedef size_t reader_answer(void *context, const struct perf_header *header, uint32_t event,
                             const struct rk_sample *sample, unsigned char *to, size_t room);

struct reader_part {
    uint64_t ring, offset, n; /* n bytes follow: whole records, from the ring's offset on */
    uint64_t answered;        /* 1: samples as answer() wrote them; 0: records as the kernel did */
};

struct reader_block {
    struct reader_block *next;
    bool round;
    int error; /* 0, or -EBADMSG: the ring of the last part had a head that can't be */
    size_t used;
    _Alignas(8) unsigned char bytes[];
};

struct reader {
    struct ring **rings;
    uint32_t n;
    int (*wait)(void *context, int timeout_ms); /* for records; called by the reader alone */
    void *context;
    struct reader_stacks {
        const struct layout *layouts; /* by event; NULL: records are copied as they are */
        const struct table *ids;      /* id → event; NULL: there is one event. Neither changes */
        uint32_t sp;                  /* the kernel's number of the register that stacks are dumped from */
        reader_answer *answer;        /* NULL: none */
        void *context;                /* … of it */
    } stacks;
    uint64_t tops
        [READER_TOPS]; /* atomic: of a thread, by its id: id << 40 | address of its stack's top >> 8; 0: none */

    bool calm; /* no change waits: samples of this pass are answered and cut */

    struct live_feeder feeder; /* what the stream sees of it: reader_take.c */
    uint64_t passes_taken;     /* … and the passes that were complete when it was asked last */

    /* Execs that the reader has copied, and those that reader_exec() has passed on (atomic). While they differ, a top
     * may be of the stack before. */
    uint64_t execs, execs_done;

    size_t block_bytes, limit;
    int stop_event;  /* the owner waits for it in wait() */
    int ready_event; /* readable when there is much to take; what is less may be taken any time */
    pthread_t thread;
    bool running;

    pthread_mutex_t lock; /* of what follows */
    struct reader_block *first, **last, *spare;
    size_t blocks;
    size_t waiting;  /* bytes in blocks that were not taken */
    uint64_t passes; /* complete ones */
    uint64_t full;
    bool stop;
};

/* Starts the reader. `wait` returns when records are there, the time is over, or stop_event is set. 0 or -errno. */
int reader_start(struct reader **ret, struct ring **rings, uint32_t n, size_t ring_bytes, size_t limit,
                 struct reader_stacks stacks, int (*wait)(void *context, int timeout_ms), void *context);

/* Lets the reader make a last pass, as far as the queue has room, and end. The blocks stay. */
void reader_stop(struct reader *reader);

/* Frees all; the reader has ended, or is another process's. */
struct reader *reader_free(struct reader *reader);

/* All blocks that wait, in their order, NULL: none; and how many passes are complete. Each goes back by give(). */
struct reader_block *reader_blocks(struct reader *reader, uint64_t *ret_passes);
void reader_give(struct reader *reader, struct reader_block *block);

/* No frame of the thread lies above `top`; 0: that is no longer known. Of several tops of one stack the highest is kept. */
void reader_top(struct reader *reader, int32_t tid, uint64_t top);

/* The records have come to an exec of the thread: its stack is another one. */
void reader_exec(struct reader *reader, int32_t tid);

/* How often the queue was full. */
uint64_t reader_full(struct reader *reader);

/* Starts a reader of the stream's rings; the stream takes from it until close(). `limit`: bytes that may wait. `wanted`: NULL, or
 * stacks are only to be unwound, and come without what is no frame, or answered; layouts are found here. 0 or -errno. */
int reader_open(struct rk_stream *stream, size_t limit, const struct reader_stacks *wanted,
                struct reader **ret);

/* Ends it, before its stream is freed. NULL is taken. */
struct reader *reader_close(struct reader *reader, struct rk_stream *stream);

#endif

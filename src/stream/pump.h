/*
 * A thread that empties the rings, so that nothing is lost while records are ordered and written: it copies and
 * releases. Between it and the stream is a queue of blocks, bounded in bytes:
 *
 *     ring 0 ─┐
 *     ring 1 ─┼─ pass ─→ block │ part: ring, offset, n │ bytes │ part … │   ─→ … ─→ pump_take() ─→ order
 *     ring n ─┘                                   └── round: the pass ended with this block
 *
 * With `stacks` (all records are of its layout, and their stacks are only to be unwound) a sample's stack goes without what
 * lies behind its frames, which is most of it: the room that the kernel had left, and what is above the thread's outermost
 * frame (arguments and environment, the thread library's own) once who unwinds has said where that is. Its size becomes
 * what is left and a word, so that it does not look cut. Else the reader looks at no record.
 *
 * Who unwinds may know a stack already: then its sample goes on as the answer says, marked, and without a stack.
 * What it knows, and what is a frame, holds until mappings change, or a program is executed. That may be in one ring and
 * samples behind it in another: so a pass fixes all heads before it looks at a record, and then looks for a change in all
 * that the kernel has written until then. Where there is one, the pass copies samples as they are.
 *
 * Where the queue is full the reader leaves what is there in the rings. The kernel then counts what finds no room,
 * event by event, as it does with any slow reader: nothing is dropped here. How often that was is in `full`.
 *
 * The reader has all signals blocked, and ends in pump_stop().
 */
#ifndef STREAM_PUMP_H
#define STREAM_PUMP_H

#include "record/layout.h"
#include "ring/ring.h"
#include "sys/thread.h"

#define PUMP_TOPS 1024u

/* Writes what goes on in place of a sample whose stack is known already: its bytes, at most the sample's; 0: it is not.
 * Of other records (`sample` is NULL) it is told only. Called by the reader alone. */
typedef size_t pump_answer(void *context, const struct perf_header *header, const struct rk_sample *sample,
                           unsigned char *to);
#define PUMP_ANSWERED 0x8000u /* misc: this is what was written; the kernel keeps the bit free */

struct pump_part {
    uint64_t ring, offset, n; /* n bytes follow: whole records, from the ring's offset on */
};

struct pump_block {
    struct pump_block *next;
    bool round;
    int error; /* 0, or -EBADMSG: the ring of the last part had a head that can't be */
    size_t used;
    _Alignas(8) unsigned char bytes[];
};

struct pump {
    struct ring **rings;
    uint32_t n;
    int (*wait)(void *context, int timeout_ms); /* for records; called by the reader alone */
    void *context;
    struct pump_stacks {
        const struct layout *layout; /* NULL: records are copied as they are */
        uint32_t sp;                 /* the kernel's number of the register that stacks are dumped from */
        pump_answer *answer;         /* NULL: none */
        void *context;               /* … of it */
    } stacks;
    uint64_t tops
        [PUMP_TOPS]; /* atomic: of a thread, by its id: id << 40 | address of its stack's top >> 8; 0: none */

    bool calm; /* no change waits: samples of this pass are answered and cut */

    uint64_t execs; /* that the reader has copied … */
    uint64_t
        execs_done; /* atomic: … and that pump_exec() has told; while they differ a top may be of the stack before */

    size_t block_bytes, limit;
    int stop_event;  /* the owner waits for it in wait() */
    int ready_event; /* readable when there is much to take; what is less may be taken any time */
    pthread_t thread;
    bool running;

    pthread_mutex_t lock; /* of what follows */
    struct pump_block *first, **last, *spare;
    size_t blocks;
    size_t waiting;  /* bytes in blocks that were not taken */
    uint64_t passes; /* complete ones */
    uint64_t full;
    bool stop;
};

/* Starts the reader. `wait` returns when records are there, the time is over, or stop_event is set. 0 or -errno. */
int pump_start(struct pump **ret, struct ring **rings, uint32_t n, size_t ring_bytes, size_t limit,
               struct pump_stacks stacks, int (*wait)(void *context, int timeout_ms), void *context);

/* Lets the reader make a last pass, as far as the queue has room, and end. The blocks stay. */
void pump_stop(struct pump *pump);

/* Frees all; the reader has ended, or is another process's. */
struct pump *pump_free(struct pump *pump);

/* All blocks that wait, in their order, NULL: none; and how many passes are complete. Each goes back by give(). */
struct pump_block *pump_take(struct pump *pump, uint64_t *ret_passes);
void pump_give(struct pump *pump, struct pump_block *block);

/* No frame of the thread lies above `top`; 0: that is no longer known. Of several tops of one stack the highest is kept. */
void pump_top(struct pump *pump, int32_t tid, uint64_t top);

/* The records have come to an exec of the thread: its stack is another one. */
void pump_exec(struct pump *pump, int32_t tid);

uint64_t pump_full(struct pump *pump);

#endif

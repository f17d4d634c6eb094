#include "capture/reader.h"

#include "sys/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)1 << 20)
#define ROUND_MS 100 /* a pass at least as often; rings that are half full ask for one sooner */
#define READY_BYTES \
    ((size_t)256 << 10) /* that wait, before who takes them is woken: it looks as often by itself */

/* Whether the queue has room for one more block. The lock is held. */
static bool block_allowed(const struct reader *reader, size_t blocks)
{
    return (blocks + 1) * reader->block_bytes <= reader->limit || blocks < 2;
}

/* A block to fill, or NULL: the queue is full, or there is no memory. */
static struct reader_block *block_get(struct reader *reader)
{
    struct reader_block *block;

    pthread_mutex_lock(&reader->lock);
    if ((block = reader->spare)) {
        reader->spare = block->next;
    } else if (block_allowed(reader, reader->blocks)) {
        if ((block = malloc(sizeof *block + reader->block_bytes)))
            reader->blocks++;
    }
    if (!block)
        reader->full++;
    pthread_mutex_unlock(&reader->lock);
    if (block) {
        block->next = NULL;
        block->round = false;
        block->error = 0;
        block->used = 0;
    }
    return block;
}

/* Hands a block on (NULL: none). The pass that it ends is counted in the same step: who sees the one sees the other. */
static void block_queue(struct reader *reader, struct reader_block *block, bool round)
{
    pthread_mutex_lock(&reader->lock);
    if (block) {
        block->round = round;
        *reader->last = block;
        reader->last = &block->next;
        reader->waiting += block->used;
    }
    reader->passes += round;
    /* Much waits, or the next pass takes the last block: those that wait, however little is in them, are wanted back. */
    bool last = reader->spare ? !reader->spare->next && !block_allowed(reader, reader->blocks)
                              : !block_allowed(reader, reader->blocks + 1);
    bool wake = reader->waiting >= READY_BYTES || (block && last);
    pthread_mutex_unlock(&reader->lock);
    if (wake)
        sys_event_set(reader->ready_event);
}

#define TOP_BITS 40 /* of a slot: an address in units of 256 bytes, rounded up */
#define TOP_UNIT 8
#define TOP_NEAR ((uint64_t)1 << 20 >> TOP_UNIT) /* further apart: not the same stack */

void reader_top(struct reader *reader, int32_t tid, uint64_t top)
{
    uint64_t *slot = &reader->tops[(uint32_t)tid % READER_TOPS],
             old = __atomic_load_n(slot, __ATOMIC_RELAXED);
    uint64_t units = (top + 511) >> TOP_UNIT, mask = ((uint64_t)1 << TOP_BITS) - 1;

    if (tid <= 0 || top > mask << TOP_UNIT || (top == 0 && old >> TOP_BITS != (uint32_t)tid))
        return;
    if (top && old >> TOP_BITS == (uint32_t)tid && (old & mask) >= units && (old & mask) - units < TOP_NEAR)
        return;
    __atomic_store_n(slot, top ? (uint64_t)(uint32_t)tid << TOP_BITS | units : 0, __ATOMIC_RELAXED);
}

void reader_exec(struct reader *reader, int32_t tid)
{
    reader_top(reader, tid, 0);
    __atomic_add_fetch(&reader->execs_done, 1, __ATOMIC_RELEASE);
}

/* How many bytes of a sample's stack are frames, as far as is known. */
static uint64_t stack_frames(struct reader *reader, const struct rk_sample *sample)
{
    if (!reader->calm || __atomic_load_n(&reader->execs_done, __ATOMIC_ACQUIRE) != reader->execs)
        return sample->stack_used;
    uint64_t slot = __atomic_load_n(&reader->tops[(uint32_t)sample->tid % READER_TOPS], __ATOMIC_RELAXED), sp;

    if (slot >> TOP_BITS != (uint32_t)sample->tid ||
        rk_sample_register(sample, 0, reader->stacks.sp, &sp) < 0)
        return sample->stack_used;
    uint64_t top = (slot & (((uint64_t)1 << TOP_BITS) - 1)) << TOP_UNIT;
    return top > sp && top - sp < sample->stack_used ? top - sp : sample->stack_used;
}

/* A block that is filled with the records of one ring. */
struct copying {
    struct reader_block *block;
    struct reader_part part;
    size_t part_at; /* where in the block the part begins */
};

static void part_begin(struct copying *c, uint64_t ring, uint64_t offset, bool answered)
{
    c->part = (struct reader_part){ring, offset, 0, answered};
    c->part_at = c->block->used;
    c->block->used += sizeof c->part;
}

static void part_end(const struct copying *c)
{
    memcpy(c->block->bytes + c->part_at, &c->part, sizeof c->part);
}

/* The record of `bytes` that was written is answered, or is not: it belongs to this part, or begins another. */
static void part_take(struct copying *c, uint64_t offset, size_t bytes, bool answered)
{
    if (c->part.n == 0) {
        c->part.answered = answered;
    } else if (c->part.answered != (uint64_t)answered) {
        part_end(c);
        part_begin(c, c->part.ring, offset, answered);
    }
    c->part.n += bytes;
    c->block->used += bytes;
}

/* Where such a record goes: behind the part's header, if it begins another. */
static unsigned char *part_room(const struct copying *c, bool answered)
{
    bool other = c->part.n && c->part.answered != (uint64_t)answered;
    return c->block->bytes + c->block->used + (other ? sizeof c->part : 0);
}

/* A record's copy, without what of its stack is no frame; its bytes. */
static size_t copy_shorter(struct reader *reader, const struct perf_header *header,
                           const struct rk_sample *sample, unsigned char *to)
{
    const unsigned char *data = (const unsigned char *)header;
    uint64_t keep = 0, used = 0;

    if (sample && sample->stack && sample->stack_used) {
        used = stack_frames(reader, sample);
        keep = ((used + 7) & ~UINT64_C(7)) + 8;
    }
    if (keep == 0 || keep >= sample->stack_bytes) {
        memcpy(to, data, header->size);
        return header->size;
    }
    struct perf_header shorter = *header;
    size_t front = (size_t)(sample->stack - data), behind = header->size - front - sample->stack_bytes;
    shorter.size = (uint16_t)(front + keep + behind);
    memcpy(to, data, front + keep);
    memcpy(to, &shorter, sizeof shorter);
    memcpy(to + front - 8, &keep, sizeof keep);
    memcpy(to + front + keep, sample->stack + sample->stack_bytes, behind);
    memcpy(to + front + keep, &used, sizeof used);
    return shorter.size;
}

/* The event of a sample, if its layout is known and has stacks; RK_NO_EVENT: it is copied as it is. */
static uint32_t event_of(const struct reader_stacks *stacks, const struct perf_header *header)
{
    uint32_t event = 0;
    uint64_t id;

    if (stacks->ids)
        event = layout_id(&stacks->layouts[0], header, &id) < 0 ? RK_NO_EVENT : table_get(stacks->ids, id);
    return event == RK_NO_EVENT || !(stacks->layouts[event].sample_type & RK_SAMPLE_STACK_USER) ? RK_NO_EVENT
                                                                                                : event;
}

/* One record: its answer, if that pays for the headers of two parts, so that a ring's records fit in as many bytes as they
 * had; else its copy. */
static void copy_record(struct reader *reader, const struct perf_header *header, uint64_t offset,
                        struct copying *c)
{
    struct rk_record record = {.type = header->type,
                               .misc = header->misc,
                               .bytes = header->size,
                               .data = (const unsigned char *)header};
    struct rk_sample sample = {.size = sizeof sample};

    reader->execs += header->type == RK_RECORD_COMM && header->misc & RK_MISC_COMM_EXEC;
    uint32_t event =
        header->type == RK_RECORD_SAMPLE ? event_of(&reader->stacks, header) : (uint32_t)RK_NO_EVENT;
    bool decoded =
        event != RK_NO_EVENT && layout_sample(&reader->stacks.layouts[event], &record, &sample) == 0;
    if (reader->stacks.answer && (reader->calm || !decoded)) {
        size_t room = header->size > 2 * sizeof c->part ? header->size - 2 * sizeof c->part : 0;
        size_t n = reader->stacks.answer(reader->stacks.context, header, event, decoded ? &sample : NULL,
                                         part_room(c, true), room);
        if (n) {
            part_take(c, offset, n, true);
            return;
        }
    }
    size_t n = copy_shorter(reader, header, decoded ? &sample : NULL, part_room(c, false));
    part_take(c, offset, n, false);
}

static int copy_records(struct reader *reader, struct ring *ring, uint64_t waiting, struct copying *c)
{
    const struct perf_header *header;
    uint64_t until = ring_offset(ring) + waiting;
    int r = 1;

    while (ring_offset(ring) != until && (r = ring_next(ring, &header)) == 1) {
        /* The next one, if it is as large: its head, its registers, and how much of its stack is there. None is in
         * a cache of this CPU's, and none is near another. */
        const unsigned char *next = (const unsigned char *)header + header->size;
        for (size_t line = 0; line < 4; line++)
            __builtin_prefetch(next + line * 64);
        __builtin_prefetch(next + header->size - 8);
        copy_record(reader, header, ring_offset(ring) - header->size, c);
    }
    return r;
}

/* The `waiting` bytes of a ring, behind what the block has; they fit. */
static void copy_ring(struct reader *reader, uint32_t index, uint64_t waiting, struct reader_block *block)
{
    struct ring *ring = reader->rings[index];
    struct copying c = {.block = block};
    const unsigned char *run;
    size_t n;
    int r = 1;

    part_begin(&c, index, ring_offset(ring), false);
    /* ring_waiting() has fixed the head: the runs together are just that long. */
    if (reader->stacks.layouts)
        r = copy_records(reader, ring, waiting, &c);
    while (!reader->stacks.layouts && c.part.n < waiting && (r = ring_span(ring, &run, &n)) == 1) {
        memcpy(block->bytes + block->used, run, n);
        c.part.n += n;
        block->used += n;
    }
    if (r < 0)
        block->error = r;
    ring_release(ring);
    part_end(&c);
}

#define CHANGES (1u << RK_RECORD_MMAP | 1u << RK_RECORD_MMAP2 | 1u << RK_RECORD_FORK | 1u << RK_RECORD_COMM)

/* Whether no change waits in any ring, of all that came before what the heads were fixed at. In a single ring changes and
 * samples have an order. */
static bool is_calm(struct reader *reader)
{
    for (uint32_t i = 0; reader->n > 1 && i < reader->n; i++)
        if (ring_has(reader->rings[i], CHANGES))
            return false;
    return true;
}

/* One pass over the rings; one that finds the queue full ends there. */
static void pass(struct reader *reader)
{
    struct reader_block *block = NULL;

    for (uint32_t i = 0; i < reader->n; i++)
        ring_waiting(reader->rings[i]);
    reader->calm = reader->stacks.layouts && is_calm(reader);
    for (uint32_t i = 0; i < reader->n; i++) {
        uint64_t waiting = reader->rings[i]->head - ring_offset(reader->rings[i]);
        if (waiting == 0)
            continue;
        if (waiting > reader->rings[i]->size)
            waiting = reader->rings[i]->size;
        if (block &&
            (block->error || waiting + sizeof(struct reader_part) > reader->block_bytes - block->used)) {
            block_queue(reader, block, false);
            block = NULL;
        }
        if (!block && !(block = block_get(reader)))
            return;
        copy_ring(reader, i, waiting, block);
    }
    block_queue(reader, block, true); /* an empty pass is a round too: what is held back may go */
}

static bool stopped(struct reader *reader)
{
    pthread_mutex_lock(&reader->lock);
    bool stop = reader->stop;
    pthread_mutex_unlock(&reader->lock);
    return stop;
}

static void *run(void *context)
{
    struct reader *reader = context;

    while (!stopped(reader)) {
        reader->wait(reader->context, ROUND_MS);
        pass(reader);
    }
    pass(reader);
    return NULL;
}

int reader_start(struct reader **ret, struct ring **rings, uint32_t n, size_t ring_bytes, size_t limit,
                 struct reader_stacks stacks, int (*wait)(void *context, int timeout_ms), void *context)
{
    struct reader *reader = calloc(1, sizeof *reader);
    size_t most = ring_bytes + sizeof(struct reader_part);

    if (!reader)
        return -ENOMEM;
    *reader = (struct reader){.rings = rings,
                              .n = n,
                              .wait = wait,
                              .context = context,
                              .stacks = stacks,
                              .block_bytes = most > BLOCK_BYTES ? most : BLOCK_BYTES,
                              .limit = limit,
                              .stop_event = -1,
                              .last = &reader->first};
    pthread_mutex_init(&reader->lock, NULL);
    *ret = reader; /* wait() may look for the stop event */
    reader->ready_event = sys_event_open();
    int r = reader->ready_event;
    if (r >= 0)
        r = reader->stop_event = sys_event_open();
    if (r >= 0)
        r = sys_thread_start(run, reader, &reader->thread);
    if (r < 0) {
        *ret = reader_free(reader);
        return r;
    }
    reader->running = true;
    return 0;
}

void reader_stop(struct reader *reader)
{
    if (!reader || !reader->running)
        return;
    pthread_mutex_lock(&reader->lock);
    reader->stop = true;
    pthread_mutex_unlock(&reader->lock);
    sys_event_set(reader->stop_event);
    sys_thread_join(reader->thread);
    reader->running = false;
}

static void blocks_free(struct reader_block *block)
{
    while (block) {
        struct reader_block *next = block->next;
        free(block);
        block = next;
    }
}

struct reader *reader_free(struct reader *reader)
{
    if (!reader)
        return NULL;
    blocks_free(reader->first);
    blocks_free(reader->spare);
    if (reader->ready_event >= 0)
        sys_close(reader->ready_event);
    if (reader->stop_event >= 0)
        sys_close(reader->stop_event);
    pthread_mutex_destroy(&reader->lock);
    free(reader);
    return NULL;
}

struct reader_block *reader_blocks(struct reader *reader, uint64_t *ret_passes)
{
    sys_event_clear(reader->ready_event);
    pthread_mutex_lock(&reader->lock);
    struct reader_block *first = reader->first;
    reader->first = NULL;
    reader->last = &reader->first;
    reader->waiting = 0;
    *ret_passes = reader->passes;
    pthread_mutex_unlock(&reader->lock);
    return first;
}

void reader_give(struct reader *reader, struct reader_block *block)
{
    pthread_mutex_lock(&reader->lock);
    block->next = reader->spare;
    reader->spare = block;
    pthread_mutex_unlock(&reader->lock);
}

uint64_t reader_full(struct reader *reader)
{
    pthread_mutex_lock(&reader->lock);
    uint64_t full = reader->full;
    pthread_mutex_unlock(&reader->lock);
    return full;
}

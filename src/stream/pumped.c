/*
 * What a reader's thread (pump.h) brings of the rings of a set: it is started here, and its blocks go to the queue.
 */
#include "stream/live.h"

#include <errno.h>

static int pump_wait(void *context, int timeout_ms)
{
    return live_look(context, timeout_ms);
}

/* The layout of all events' samples, or NULL: they differ, or carry no stacks. */
static const struct layout *stacks_of_all(const struct rk_stream *st)
{
    const struct layout *first = &st->events.items[0].layout;

    for (size_t i = 0; i < st->events.n; i++) {
        const struct layout *l = &st->events.items[i].layout;
        if (!(l->sample_type & RK_SAMPLE_STACK_USER) || l->sample_type != first->sample_type ||
            l->read_format != first->read_format || l->branch_sample_type != first->branch_sample_type ||
            l->regs_user != first->regs_user || l->regs_intr != first->regs_intr)
            return NULL;
    }
    return first;
}

int live_pump(struct rk_stream *st, size_t limit, const struct pump_stacks *wanted)
{
    struct stream_live *live = st->live;
    struct pump_stacks stacks = wanted ? *wanted : (struct pump_stacks){0};

    stacks.layout = wanted ? stacks_of_all(st) : NULL;
    if (st->deferred)
        stacks.answer = NULL; /* what completes a chain looks at the sample as the kernel wrote it */

    live->pumped = calloc(live->n, sizeof *live->pumped);
    if (!live->pumped)
        return -ENOMEM;
    for (uint32_t i = 0; i < live->n; i++)
        live->pumped[i] = live->rings[i].ring;
    int r =
        pump_start(&live->pump, live->pumped, live->n, live->set->ring_bytes, limit, stacks, pump_wait, live);
    if (r < 0)
        return r;
    live_ways(st);
    return 0;
}

void live_top(const struct rk_stream *st, int32_t tid, uint64_t top)
{
    if (st->live && st->live->pump)
        pump_top(st->live->pump, tid, top);
}

void live_exec(const struct rk_stream *st, int32_t tid)
{
    if (st->live && st->live->pump)
        pump_exec(st->live->pump, tid);
}

uint64_t live_pump_full(const struct rk_stream *st)
{
    return st->live && st->live->pump ? pump_full(st->live->pump) : 0;
}

/* A part of a block: whole records of one ring. */
static int take_part(struct rk_stream *st, const struct pump_part *part, unsigned char *bytes)
{
    struct live_ring *at = &st->live->rings[part->ring];
    struct rk_record record;

    for (uint64_t done = 0; done < part->n;) {
        struct perf_header *header = (void *)(bytes + done);
        uint64_t left = part->n - done;

        if (left < sizeof *header || header->size < sizeof *header || header->size % 8 || header->size > left)
            return stream_fail(st, (struct stream_fault){.code = -EBADMSG,
                                                         .where = STREAM_FAULT_RING,
                                                         .ring = (uint32_t)part->ring,
                                                         .offset = part->offset + done});
        stream_identify(st, header, part->offset + done, &record);
        header->misc &= (uint16_t)~PUMP_ANSWERED; /* record.misc has it still */
        int r = stream_push(st, &record, stream_key(&record, &at->last));
        if (r < 0)
            return r;
        done += header->size;
    }
    return 0;
}

/* A block of the reader's; its round, if it ends one. */
static int take_block(struct rk_stream *st, struct pump_block *block)
{
    int error = 0;

    for (size_t at = 0; at < block->used;) {
        struct pump_part part;
        memcpy(&part, block->bytes + at, sizeof part);
        int r = take_part(st, &part, block->bytes + at + sizeof part);
        error = r < 0 ? r : error;
        at += sizeof part + part.n;
        if (block->error && at >= block->used)
            error = stream_fail(st, (struct stream_fault){.code = block->error,
                                                          .where = STREAM_FAULT_RING,
                                                          .ring = (uint32_t)part.ring,
                                                          .offset = part.offset + part.n});
    }
    return error;
}

/* Blocks go back as soon as they are copied. A round's end that is followed by other
 * blocks is not told apart: what it would let go, the last one does. */
int live_take(struct rk_stream *st, bool *ret_round)
{
    struct stream_live *live = st->live;
    uint64_t passes;
    struct pump_block *block = pump_take(live->pump, &passes), *next;
    bool any = block != NULL, round = false;
    int error = 0;

    for (; block; block = next) {
        int r = take_block(st, block);
        error = r < 0 ? r : error;
        round = block->round;
        next = block->next;
        pump_give(live->pump, block);
    }
    /* The blocks behind the last round's end belong to a pass that goes on. */
    *ret_round = round || (!any && passes > live->passes);
    live->passes = passes;
    return error;
}

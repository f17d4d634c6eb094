/*
 * The reader as the stream sees it, a feeder: its blocks go to the stream's queue.
 */
#include "capture/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A part of a block: whole records of one ring. */
static int take_part(struct rk_stream *st, const struct reader_part *part, const unsigned char *bytes)
{
    struct live_ring *at = &st->live->rings[part->ring];
    struct rk_record record;

    for (uint64_t done = 0; done < part->n;) {
        const struct perf_header *header = (const void *)(bytes + done);
        uint64_t left = part->n - done;

        if (left < sizeof *header || header->size < sizeof *header || header->size % 8 || header->size > left)
            return stream_fail(st, (struct stream_fault){.code = -EBADMSG,
                                                         .where = STREAM_FAULT_RING,
                                                         .ring = (uint32_t)part->ring,
                                                         .offset = part->offset + done});
        stream_identify(st, header, part->offset + done, &record);
        int r = stream_push_unwound(st, &record, stream_key(&record, &at->last), part->answered);
        if (r < 0)
            return r;
        done += header->size;
    }
    return 0;
}

static int take_block(struct rk_stream *st, const struct reader_block *block)
{
    int error = 0;

    for (size_t at = 0; at < block->used;) {
        struct reader_part part;
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

/* Blocks go back as soon as they are copied. The end of a round that other blocks follow is not seen: what it would let go,
 * the last one does. */
static int take(void *context, struct rk_stream *st, bool *ret_round)
{
    struct reader *reader = context;
    uint64_t passes;
    struct reader_block *block = reader_blocks(reader, &passes), *next;
    bool any = block != NULL, round = false;
    int error = 0;

    for (; block; block = next) {
        int r = take_block(st, block);
        error = r < 0 ? r : error;
        round = block->round;
        next = block->next;
        reader_give(reader, block);
    }
    /* The blocks behind the last round's end belong to a pass that goes on. */
    *ret_round = round || (!any && passes > reader->passes_taken);
    reader->passes_taken = passes;
    return error;
}

static void stop(void *context)
{
    reader_stop(context);
}

static int look(void *context, int timeout_ms)
{
    return live_look(context, timeout_ms);
}

/* The layouts of samples, by event, and which id is whose; what is not alike in where ids stand, or has no stack, is left as
 * it is. A copy: the stream is another thread's. 0 or -ENOMEM. */
static int take_layouts(const struct rk_stream *st, struct reader_stacks *ret)
{
    struct layout *layouts = calloc(st->events.n, sizeof *layouts);
    struct table *ids = calloc(1, sizeof *ids);
    bool any = false, good = layouts && ids;

    for (size_t i = 0; good && i < st->events.n; i++) {
        layouts[i] = st->events.items[i].layout;
        any |= (layouts[i].sample_type & RK_SAMPLE_STACK_USER) != 0;
    }
    for (size_t i = 0; good && i < st->ids.room; i++)
        if (st->ids.slots[i].value != TABLE_NONE)
            good = table_put(ids, st->ids.slots[i].key, st->ids.slots[i].value) == 0;
    if (good && any && (st->events.n == 1 || !st->mixed)) {
        ret->layouts = layouts;
        layouts = NULL;
        if (st->events.n > 1) {
            ret->ids = ids;
            ids = NULL;
        }
    }
    free(layouts);
    if (ids)
        table_free(ids);
    free(ids);
    return good ? 0 : -ENOMEM;
}

static void drop_layouts(const struct reader_stacks *stacks)
{
    free((void *)(uintptr_t)stacks->layouts);
    if (stacks->ids)
        table_free((struct table *)(uintptr_t)stacks->ids);
    free((void *)(uintptr_t)stacks->ids);
}

int reader_open(struct rk_stream *st, size_t limit, const struct reader_stacks *wanted, struct reader **ret)
{
    struct stream_live *live = st->live;
    struct reader_stacks stacks = wanted ? *wanted : (struct reader_stacks){0};
    struct ring **rings = calloc(live->n, sizeof *rings);

    if (!rings || (wanted && take_layouts(st, &stacks) < 0)) {
        free(rings);
        return -ENOMEM;
    }
    if (st->deferred)
        stacks.answer = NULL; /* what completes a chain looks at the sample as the kernel wrote it */
    for (uint32_t i = 0; i < live->n; i++)
        rings[i] = live->rings[i].ring;
    struct reader *reader = NULL;
    int r = reader_start(&reader, rings, live->n, set_ring_bytes(live->set).now, limit, stacks, look, live);
    if (r < 0) {
        free(rings);
        drop_layouts(&stacks);
        return r;
    }
    reader->feeder =
        (struct live_feeder){.fd = reader->ready_event, .take = take, .stop = stop, .context = reader};
    live_feed(st, &reader->feeder);
    *ret = reader;
    return 0;
}

struct reader *reader_close(struct reader *reader, struct rk_stream *st)
{
    if (!reader)
        return NULL;
    if (!live_forked(st->live))
        reader_stop(reader); /* a forked child has no such thread */
    live_feed(st, NULL);
    free(reader->rings);
    drop_layouts(&reader->stacks);
    return reader_free(reader);
}

/*
 * The ring that the kernel writes records to: a metadata page and, behind it, a power of two of bytes.
 *
 *     struct ring *ring;
 *     int r = ring_map(fd, 512 << 10, &ring);       // -EPERM: over the mlock limit, the caller may halve
 *     const struct perf_header *record;
 *     while ((r = ring_next(ring, &record)) == 1)
 *         use(record);
 *     ring_release(ring);
 *
 * head (the kernel's) and tail (ours) run freely through 64 bits; only their low bits are places in the
 * data. A record that runs over the data's end is put together in the ring's own 64 KiB buffer (header.size
 * is 16 bits: none is longer). What lies between tail and head is never more than the ring, so that at most
 * one record of a batch (of what is not yet released) wraps: one buffer keeps every view of the batch
 * valid.
 *
 * Rings that are written backward are read by backward.h. One thread at a time.
 */
#ifndef RING_RING_H
#define RING_RING_H

#include "base/abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct ring {
    struct perf_page *page;
    const unsigned char *data;
    uint64_t size;     /* of the data, a power of two */
    uint64_t head;     /* the kernel's, as last seen */
    uint64_t position; /* the next record; the kernel's tail follows at ring_release() */
    uint64_t released; /* the tail as last stored */
    /* position … limit lies in one piece before head and has been looked at, but for the records in it. */
    uint64_t limit;
    uint64_t skipped; /* bytes given up because a record's size made no sense */
    size_t mapped;    /* bytes of data mapped by ring_map(); 0: not ours */
    _Alignas(8) unsigned char bounce[64 << 10];
};

/* Over memory that is mapped already: `page`, and `bytes` of data behind it (at page->data_offset, or one
 * system page on where the kernel, before 4.1, leaves that 0). 0, or -EINVAL where that can't be a ring. */
int ring_init(struct ring *ring, struct perf_page *page, size_t bytes);

/* Maps the ring of an event, `bytes` a power of two of at least a page. 0 or -errno. */
int ring_map(int fd, size_t bytes, struct ring **ret);
/* … read-only, for an event that writes backward. */
int ring_map_backward(int fd, size_t bytes, struct ring **ret);
struct ring *ring_unmap(struct ring *ring);

/* Hot. 1 and a record, 8-byte aligned, valid until ring_release(); 0: no more; -EBADMSG: the size in the
 * next header is 0, not a multiple of 8 or leads beyond head: all that waits is given up (counted in
 * `skipped`). */
static inline int ring_next(struct ring *ring, const struct perf_header **ret);

/* Hot. Many at once: up to `max` records as ring_next() gives them, how many; a record that wraps comes alone. 0 and
 * -EBADMSG as above. */
int ring_views(struct ring *ring, const struct perf_header **ret, size_t max);

/* Hot. Up to `max` records of one type and size that lie one behind the other, as ring_next() gives them: the first, and
 * how many; 0: the next one has another type, is smaller than `least`, or is to be had by ring_next() alone. */
size_t ring_run(struct ring *ring, uint32_t type, size_t least, size_t max, const struct perf_header **ret);

/* Hot. The last `bytes` that were read, of what is not released, are to be read again. */
static inline void ring_unread(struct ring *ring, uint64_t bytes)
{
    ring->position -= bytes;
    ring->limit = ring->position; /* the data's end may lie between */
}

/* Bytes that went through the ring before the next record: of the last one, ring_offset() - record->size. */
static inline uint64_t ring_offset(const struct ring *ring)
{
    return ring->position;
}

/* Hot. The same bytes in bulk: 1 and the next run of contiguous bytes, as if read by ring_next(); 0: no more;
 * -EBADMSG: a head that can't be. The records in a run are not looked at. One may lie across two runs, none
 * across two batches: head is always at a record's end. Until released, all runs together fit the ring. */
int ring_span(struct ring *ring, const unsigned char **ret, size_t *ret_n);

/* Hot. Bytes that wait, without reading them: of those that the kernel has written by now. */
uint64_t ring_waiting(struct ring *ring);

/* Hot. Whether a record of one of these types (a bit each) is among what the kernel has written by now and was not read;
 * the reading is not moved, nor its head. Also where a size makes no sense. */
bool ring_has(const struct ring *ring, uint64_t types);

/* Hot. Gives all that was read back to the kernel. Once per batch. */
void ring_release(struct ring *ring);

/* So far ahead of what is read, the ring is fetched: it is larger than a near cache, and was written elsewhere. Beyond the data's
 * end nothing comes of it. */
#define RING_AHEAD 2048

/* Hot. The way of nearly every record: the next one and its header, if it lies in one piece before the head that was seen
 * last, or NULL: ring_next() knows. It is read once ring_pass() is told its size. */
static inline const void *ring_peek(const struct ring *ring, uint64_t *ret_header)
{
    const unsigned char *data = ring->data + (ring->position & (ring->size - 1));
    uint64_t left = ring->limit - ring->position, header; /* left: a multiple of 8 */

    if (__builtin_expect(left == 0, 0))
        return NULL;
    memcpy(&header, data, sizeof header);
    __builtin_prefetch(data + RING_AHEAD);
    uint64_t size = header >> 48;
    if (__builtin_expect(size - sizeof header > left - sizeof header || size % 8, 0))
        return NULL;
    *ret_header = header;
    return data;
}

static inline void ring_pass(struct ring *ring, uint64_t size)
{
    ring->position += size;
}

int ring_next_slowly(struct ring *ring, const struct perf_header **ret);
static inline int ring_next(struct ring *ring, const struct perf_header **ret)
{
    uint64_t header;
    const void *data = ring_peek(ring, &header);

    if (__builtin_expect(!data, 0))
        return ring_next_slowly(ring, ret);
    ring_pass(ring, header >> 48);
    *ret = data;
    return 1;
}

#endif

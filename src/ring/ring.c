/*
 * See ring.h. The kernel moves head, we move tail, each the only writer of its word; the barriers are in
 * sys/barrier.h, one at each end.
 */
#include "ring/ring.h"

#include "sys/barrier.h"
#include "sys/perf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int ring_init(struct ring *ring, struct perf_page *page, size_t bytes)
{
    /* Before 4.1 the page doesn't say where its data is. */
    size_t first = sys_page_size();
    uint64_t offset = page->data_offset ? page->data_offset : first;
    uint64_t size = page->data_offset && page->data_size ? page->data_size : bytes;

    if (size < sizeof(struct perf_header) || size & (size - 1) || size > bytes || offset % 8 ||
        offset < sizeof *page || offset > first + bytes - size)
        return -EINVAL;
    ring->page = page;
    ring->data = (const unsigned char *)page + offset;
    ring->size = size;
    ring->position = ring->released = ring->head = ring->limit = page->data_tail;
    ring->skipped = 0;
    ring->mapped = 0;
    return 0;
}

static int map(int fd, size_t bytes, int writable, struct ring **ret)
{
    /* Not zeroed: most of it is the buffer for wrapped records, whose pages need not exist until one
     * comes. */
    struct ring *ring = malloc(sizeof *ring);
    struct perf_page *page;

    if (!ring)
        return -ENOMEM;
    int r = sys_perf_map(fd, bytes, writable, &page);
    if (r < 0) {
        free(ring);
        return r;
    }
    r = ring_init(ring, page, bytes);
    if (r < 0) {
        sys_perf_unmap(page, bytes);
        free(ring);
        return r;
    }
    ring->mapped = bytes;
    *ret = ring;
    return 0;
}

int ring_map(int fd, size_t bytes, struct ring **ret)
{
    return map(fd, bytes, 1, ret);
}

int ring_map_backward(int fd, size_t bytes, struct ring **ret)
{
    return map(fd, bytes, 0, ret);
}

struct ring *ring_unmap(struct ring *ring)
{
    if (ring) {
        sys_perf_unmap(ring->page, ring->mapped);
        free(ring);
    }
    return NULL;
}

/* Bytes between our position and head; asks the kernel for a newer head only when the old one is reached. */
static inline uint64_t ring_left(struct ring *ring)
{
    if (ring->position == ring->head)
        ring->head = barrier_load_head(&ring->page->data_head);
    return ring->head - ring->position;
}

static int ring_give_up(struct ring *ring)
{
    ring->skipped += ring->head - ring->position;
    ring->position = ring->limit = ring->head;
    return -EBADMSG;
}

/* Sets `limit`. How many bytes then lie before it, of `left` ≥ 1 up to head; 0: position or head can't be. */
static uint64_t ring_piece(struct ring *ring, uint64_t left)
{
    uint64_t at = ring->position & (ring->size - 1), piece = left < ring->size - at ? left : ring->size - at;

    piece = ring->head - ring->released > ring->size || at % 8 ? 0 : piece & ~UINT64_C(7);
    ring->limit = ring->position + piece;
    return piece;
}

int ring_next_slowly(struct ring *ring, const struct perf_header **ret)
{
    uint64_t left = ring_left(ring);

    if (left == 0)
        return 0;
    if (ring_piece(ring, left) == 0)
        return ring_give_up(ring);

    /* Sizes are multiples of 8, and so is the ring's: a header never wraps. */
    uint64_t at = ring->position & (ring->size - 1);
    const unsigned char *data = ring->data + at;
    struct perf_header header;
    memcpy(&header, data, sizeof header);
    if (header.size < sizeof header || header.size % 8 || header.size > left)
        return ring_give_up(ring);

    ring->position += header.size;
    if (__builtin_expect(at + header.size > ring->size, 0)) {
        size_t front = (size_t)(ring->size - at);

        memcpy(ring->bounce, data, front);
        memcpy(ring->bounce + front, ring->data, header.size - front);
        data = ring->bounce;
        ring->limit = ring->position;
    }
    *ret = (const struct perf_header *)(const void *)data;
    return 1;
}

/* The bytes up to `position` were read from `from` on: as many of the block behind theirs are fetched, in turns from each of its
 * pages, since one page after the other comes at half the rate (a processor's own prefetching starts anew with each). */
#define BLOCK_PAGES 4
#define BLOCK (BLOCK_PAGES * UINT64_C(4096))
static inline void ring_fetch(const struct ring *ring, uint64_t from)
{
    if (ring->head - ring->position <
        2 * BLOCK) /* where the kernel is about to write, nothing is to be had */
        return;
    for (uint64_t at = (from + 63) & ~UINT64_C(63); at < ring->position; at += 64) {
        uint64_t line = at % BLOCK / 64;
        uint64_t to = at - at % BLOCK + BLOCK + line % BLOCK_PAGES * 4096 + line / BLOCK_PAGES * 64;
        __builtin_prefetch(ring->data + (to & (ring->size - 1)), 0, 2);
    }
}

/* A record as large as the one before it, as most are, is told by one comparison: then its size is a prediction, not a load
 * that the next address waits for, and several are on their way at once. */
int ring_views(struct ring *ring, const struct perf_header **ret, size_t max)
{
    uint64_t left = ring_left(ring), size = UINT64_MAX; /* of the last one: none */

    if (left == 0 || max == 0)
        return 0;
    uint64_t piece = ring_piece(ring, left);
    if (piece == 0)
        return ring_give_up(ring);
    const unsigned char *first = ring->data + (ring->position & (ring->size - 1)), *data = first,
                        *end = data + piece;
    size_t n = 0, most = max < INT32_MAX ? max : INT32_MAX;

    while (n < most && data < end) {
        struct perf_header header;
        memcpy(&header, data, sizeof header);
        if (header.size != size) {
            if (header.size < sizeof header || header.size % 8)
                break;
            size = header.size;
        }
        if ((uint64_t)(end - data) < size)
            break;
        ret[n++] = (const struct perf_header *)(const void *)data;
        data += size;
    }
    ring->position += (uint64_t)(data - first);
    ring_fetch(ring, ring->position - (uint64_t)(data - first));
    return n ? (int)n : ring_next(ring, ret); /* one that wraps, or makes no sense */
}

static inline uint64_t word(const unsigned char *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* Headers that differ in misc alone are the same; four at a time, since a loop's own work is as much as a comparison. */
size_t ring_run(struct ring *ring, uint32_t type, size_t least, size_t max, const struct perf_header **ret)
{
    uint64_t left = ring_left(ring), piece = left ? ring_piece(ring, left) : 0;

    if (piece == 0)
        return 0;
    const unsigned char *data = ring->data + (ring->position & (ring->size - 1));
    const struct perf_header *first = (const void *)data;
    const uint64_t size = first->size, header = (uint64_t)size << 48 | type, same = ~(UINT64_C(0xffff) << 32);
    if (first->type != type || size < sizeof *first || size < least || size % 8)
        return 0;
    size_t n = 0;
#define DIFFERS(i) ((word(data + (i)*size) & same) ^ header)
    for (max = max < piece / size ? max : (size_t)(piece / size); n + 4 <= max; n += 4, data += 4 * size)
        if (DIFFERS(0) | DIFFERS(1) | DIFFERS(2) | DIFFERS(3))
            break;
    for (; n < max && !DIFFERS(0); n++, data += size)
        ;
#undef DIFFERS
    ring->position += n * size;
    ring_fetch(ring, ring->position - n * size);
    *ret = first;
    return n;
}

int ring_span(struct ring *ring, const unsigned char **ret, size_t *ret_n)
{
    uint64_t left = ring_left(ring);

    if (left == 0)
        return 0;
    if (ring->head - ring->released > ring->size)
        return ring_give_up(ring);
    uint64_t at = ring->position & (ring->size - 1);
    uint64_t n = left < ring->size - at ? left : ring->size - at;
    ring->position += n;
    ring->limit = ring->position;
    *ret = ring->data + at;
    *ret_n = (size_t)n;
    return 1;
}

bool ring_has(const struct ring *ring, uint64_t types)
{
    uint64_t head = barrier_load_head(&ring->page->data_head), at = ring->position;

    if (head - at > ring->size || at % 8)
        return true;
    while (at != head) {
        struct perf_header header;
        if (head - at < sizeof header)
            return true;
        memcpy(&header, ring->data + (at & (ring->size - 1)), sizeof header);
        if (header.size < sizeof header || header.size % 8 || header.size > head - at)
            return true;
        if (header.type < 64 && types >> header.type & 1)
            return true;
        at += header.size;
    }
    return false;
}

uint64_t ring_waiting(struct ring *ring)
{
    ring->head = barrier_load_head(&ring->page->data_head);
    return ring->head - ring->position;
}

void ring_release(struct ring *ring)
{
    if (ring->released == ring->position)
        return;
    barrier_store_tail(&ring->page->data_tail, ring->position);
    ring->released = ring->position;
}

#include "ring/backward.h"

#include "sys/barrier.h"

#include <string.h>

void backward_init(struct backward *b, struct ring *ring)
{
    *b = (struct backward){.ring = ring, .at = ring->page->data_head};
    b->end = b->before = b->at;
}

void backward_begin(struct backward *b)
{
    uint64_t head = barrier_load_head(&b->ring->page->data_head);
    uint64_t written = b->before - head; /* head runs downward */

    if (written > b->ring->size) {
        b->lost += written - b->ring->size;
        written = b->ring->size;
    }
    b->at = head;
    b->end = head + written;
    b->before = head;
}

int backward_next(struct backward *b, const struct perf_header **ret)
{
    struct ring *ring = b->ring;
    uint64_t left = b->end - b->at, at = b->at & (ring->size - 1);
    const unsigned char *data = ring->data + at;
    struct perf_header header;

    if (left < sizeof header)
        return 0;
    memcpy(&header, data, sizeof header); /* never wraps: all sizes are multiples of 8 */
    if (header.size < sizeof header || header.size % 8 || header.size > left) {
        b->lost += left; /* the oldest one, overwritten in part */
        b->at = b->end;
        return 0;
    }
    if (at + header.size > ring->size) {
        size_t front = (size_t)(ring->size - at);

        memcpy(ring->bounce, data, front);
        memcpy(ring->bounce + front, ring->data, header.size - front);
        data = ring->bounce;
    }
    b->at += header.size;
    *ret = (const struct perf_header *)(const void *)data;
    return 1;
}

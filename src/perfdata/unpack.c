#include "perfdata/unpack.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int unpack_open(struct unpack **ret)
{
    struct unpack *u = malloc(sizeof *u);

    if (!u)
        return -ENOMEM;
    memset(u, 0, offsetof(struct unpack, in));
    int r = zstd_open(0, &u->zstd);
    if (r < 0) {
        free(u);
        return r;
    }
    *ret = u;
    return 0;
}

struct unpack *unpack_close(struct unpack *u)
{
    if (u) {
        zstd_close(u->zstd);
        free(u);
    }
    return NULL;
}

void unpack_feed(struct unpack *u, const void *payload, size_t n)
{
    if (n > sizeof u->in)
        n = sizeof u->in; /* can't be: a record has less */
    if (n)
        memcpy(u->in, payload, n);
    u->in_n = n;
    u->in_at = 0;
}

/* More bytes behind those that are there: 1, 0: there are none, -EBADMSG. */
static int fill(struct unpack *u)
{
    size_t left = u->filled - u->front;

    if (u->in_at == u->in_n && !u->more)
        return 0;
    memmove(u->out, u->out + u->front, left);
    u->front = 0;
    u->filled = left;
    int n = zstd_unpack(u->zstd, u->in, u->in_n, &u->in_at, u->out + left, sizeof u->out - left);
    if (n < 0)
        return n;
    u->filled += (size_t)n;
    u->more = u->filled == sizeof u->out;
    if (n == 0 && u->in_at < u->in_n)
        return -EBADMSG; /* it takes no more, and gives none */
    return n > 0;
}

int unpack_next(struct unpack *u, const struct perf_header **ret)
{
    struct perf_header header;

    for (;;) {
        size_t have = u->filled - u->front;
        if (have >= sizeof header) {
            memcpy(&header, u->out + u->front, sizeof header);
            header.size = u->swapped ? __builtin_bswap16(header.size) : header.size;
            if (header.size < sizeof header)
                return -EBADMSG;
            if (have >= header.size)
                break;
        }
        int r = fill(u);
        if (r <= 0)
            return r;
    }
    const unsigned char *record = u->out + u->front;
    if ((uintptr_t)record % 8) { /* behind a record whose size is no multiple of 8 */
        memcpy(u->askew, record, header.size);
        record = u->askew;
    }
    u->front += header.size;
    *ret = (const struct perf_header *)(const void *)record;
    return 1;
}

size_t unpack_rest(const struct unpack *u)
{
    return u->filled - u->front;
}

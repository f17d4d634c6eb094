#include "perfdata/window.h"

#include "sys/file.h"

#include <string.h>

/* Once, into the room behind what is there. 0 or -errno. */
static int window_fill(struct window *w)
{
    uint64_t left = w->end - (w->at + w->filled);
    size_t room = WINDOW_BYTES - w->filled;
    int64_t n = 0;

    room = left < room ? (size_t)left : room;
    if (room && w->seekable)
        n = sys_read_at(w->fd, w->bytes + w->filled, room, w->at + w->filled - w->shift);
    else if (room)
        n = sys_read_some(w->fd, w->bytes + w->filled, room);
    if (n < 0)
        return (int)n;
    w->eof = n == 0;
    w->filled += (size_t)n;
    return 0;
}

int64_t window_want(struct window *w, size_t need)
{
    size_t have = w->filled - w->front;

    if (have >= need)
        return (int64_t)have;
    memmove(w->bytes, w->bytes + w->front, have);
    w->front = 0;
    w->filled = have;
    while (w->filled < need && !w->eof) {
        int r = window_fill(w);
        if (r < 0)
            return r;
    }
    return (int64_t)w->filled;
}

int window_skip(struct window *w, uint64_t n)
{
    if (w->seekable && n > w->filled - w->front) {
        if (n > w->end - w->at || w->at + n > w->shift + w->size)
            return 0;
        w->at += n;
        w->front = w->filled = 0;
        return 1;
    }
    while (n) {
        int64_t have = window_want(w, 1);
        if (have <= 0)
            return (int)have;
        size_t step = n < (uint64_t)have ? (size_t)n : (size_t)have;
        window_move(w, (int64_t)step);
        n -= step;
    }
    return 1;
}

/*
 * A file or pipe seen through 1 MiB. What is left of the window moves to its front before it is filled
 * again, so that as much as is wanted lies in one piece, and steps by multiples of 8 stay 8-byte aligned.
 *
 * A file is read with pread(2), never mapped: it may be cut under us. A pipe gives what it has.
 */
#ifndef PERFDATA_WINDOW_H
#define PERFDATA_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WINDOW_BYTES (size_t)(1 << 20)

struct window {
    int fd;
    bool seekable;
    bool eof;
    bool swapped;         /* the file is of the other byte order */
    uint64_t size;        /* of the file, if seekable */
    uint64_t at, end;     /* of what is to be read; UINT64_MAX: as far as it goes */
    uint64_t shift;       /* the file begins here, in the numbers of `at` */
    unsigned char *bytes; /* WINDOW_BYTES; the window's owner frees them */
    size_t front, filled; /* what lies between is still to be read; the front is at `at` */
};

/* At least `need` bytes (≤ 64 KiB) of what comes next, or as many as there are: their number, or -errno. */
int64_t window_want(struct window *window, size_t need);

/* Passes over bytes, wanted or not: 1, 0 where it ends before, or -errno. */
int window_skip(struct window *window, uint64_t n);

static inline const unsigned char *window_bytes(const struct window *window)
{
    return window->bytes + window->front;
}

/* Steps over bytes that were wanted, or back over the last ones before anything else is wanted. */
static inline void window_move(struct window *window, int64_t n)
{
    window->front += (size_t)n;
    window->at += (uint64_t)n;
}

#endif

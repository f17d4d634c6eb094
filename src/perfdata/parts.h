/*
 * The files of a recording that is a directory: of perf record --threads, in which each thread of the recorder writes a
 * file of its own. `data` is a recording like any other; data.0, data.1 … are records without a header. They follow one
 * another as if they stood behind the first one, so that a place in any of them is a number:
 *
 *     data │ data.0 │ data.1 │ …
 *          begin, size
 *
 * One of them is open at a time: there may be a thousand.
 */
#ifndef PERFDATA_PARTS_H
#define PERFDATA_PARTS_H

#include "base/vector.h"

struct part {
    uint64_t begin, size;
};

struct parts {
    int dir, fd; /* fd: of the one that is open … */
    size_t open; /* … which is this */
    size_t next; /* to be read */
    VECTOR(struct part) items;
};

/* Finds the files of a directory, whose descriptor becomes its own; they begin behind `behind`. 0 or -errno. */
int parts_find(struct parts *parts, int dir, uint64_t behind);
void parts_free(struct parts *parts);

/* Opens one. Its descriptor stays the parts' own, and is valid until the next one is opened; or -errno. */
int parts_open(struct parts *parts, size_t index);

/* Reads from wherever that is, of the first file (fd, size) or its followers; zeros fill what is between two. How many
 * bytes, or -errno. */
int64_t parts_read_at(struct parts *parts, int fd, uint64_t size, void *buffer, size_t n, uint64_t offset);

#endif

/*
 * A reader from inside: reader.c gives its records, opening.c makes it.
 */
#ifndef PERFDATA_READING_H
#define PERFDATA_READING_H

#include "perfdata/contents.h"
#include "perfdata/parts.h"
#include "perfdata/unpack.h"
#include "perfdata/window.h"

#include "record/layout.h"

struct perfdata_reader {
    bool own_fd;
    bool cut;
    bool lenient; /* the header did not say where the data ends: what is unsound ends it */
    bool ended;
    int error; /* the first -errno of next(), which comes again */
    char name[128];
    uint64_t begin; /* of the data */
    uint64_t skip;  /* payload to pass over before the next record */
    struct window window;
    int fd;                        /* of the file or pipe */
    uint64_t size;                 /* its own */
    int plain_fd;                  /* of what was compressed as a whole, unpacked; -1: it was not */
    uint64_t turned;               /* other byte order: what the window has before this place is turned */
    struct parts parts;            /* of a directory; none of a file */
    VECTOR(struct layout) layouts; /* other byte order: of the events, as far as they were needed */
    struct contents contents;
    struct unpack *unpack; /* NULL until a compressed record comes */
    bool packed;           /* records come from there, till it wants more */
    uint64_t packed_at;    /* the offset of what it was fed */
    struct rk_error why;
    _Alignas(8) unsigned char askew[64 << 10];
};

/* Says that it can't be read, *e filled. Returns the code. */
int reading_failed(const struct perfdata_reader *reader, int code, struct rk_error *e);

/* For a pipe's opening. The next whole record, in place: 1, 0 at the end, -errno. */
int reading_record(struct perfdata_reader *reader, const struct perf_header **ret);

/* Takes a record about events and features in: 1; 0: it is none of these; -errno. */
int reading_take(struct perfdata_reader *reader, const struct perf_header *record);

#endif

/*
 * A perf.data file while it is written, from inside: features.c collects what stands behind the data, front.c makes what
 * stands before it, writer.c writes records and the end.
 */
#ifndef PERFDATA_WRITING_H
#define PERFDATA_WRITING_H

#include "base/vector.h"
#include "codec/zstd.h"
#include "perfdata/bytes.h"
#include "perfdata/writer.h"

#include <stdbool.h>

#define WRITING_BUFFER_BYTES (size_t)(256 << 10)

struct writing_feature {
    unsigned bit;
    perfdata_bytes bytes;
};

struct perfdata_writer {
    int fd;
    int error;     /* the first -errno, which comes again */
    bool finished; /* all is written: header, records, closing sections */
    struct perfdata_header header;
    uint64_t written; /* where in the file the next bytes go */
    size_t buffered;
    unsigned char *buffer;
    VECTOR(struct writing_feature) features; /* by bit, ascending */

    bool pipe, begin;
    int level;
    struct zstd *zstd;     /* NULL: records are written as they are */
    unsigned char *packed; /* one COMPRESSED record */
    uint64_t packed_in, packed_out;
};

/* Replaces a feature by `fresh`, which it takes, whatever comes; r < 0: making it failed so. */
int writing_feature(struct perfdata_writer *w, unsigned bit, perfdata_bytes *fresh, int r);

/* Appends a record with two parts as its body, padded. 0, -ENOMEM, or -EMSGSIZE: too long for one. */
int writing_record(perfdata_bytes *to, uint32_t type, const void *a, size_t a_n, const void *b, size_t b_n);

/* How records are packed: the feature's bytes. */
int writing_compressed(struct perfdata_writer *w, perfdata_bytes *to);

/* Writes behind what is written. 0, or the -errno that the writer keeps. */
int writing_bytes(struct perfdata_writer *w, const void *bytes, size_t n);

/* What failed, for the caller. */
int writing_failed(int code, struct rk_error *e);

#endif

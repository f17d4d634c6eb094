/*
 * A recording from inside: capture.c writes it, finish.c closes it.
 */
#ifndef CAPTURE_CAPTURE_H
#define CAPTURE_CAPTURE_H

#include "base/cleanup.h"
#include "capture/frames.h"
#include "capture/hits.h"
#include "host/host.h"
#include "perfdata/place.h"
#include "perfdata/writer.h"
#include "set/set.h"
#include "stream/stream.h"
#include "target/target.h"

#include <reckon/capture.h>

struct rk_capture {
    struct rk_host *host;
    struct rk_set *set;
    struct rk_target *target;
    struct rk_stream *stream;
    struct perfdata_writer *writer;
    struct place place;
    struct rk_image *image; /* what is mapped where, as of the last record */
    struct hits hits;
    struct frames frames;
    struct reader *reader; /* the thread that empties the rings; NULL: none */
    char **command;        /* words, copied */
    size_t command_n;
    uint32_t *file_events; /* the set's events by their index in the file: absent ones are not there */
    size_t file_events_n;

    char *path; /* as it was asked for */
    uint32_t compression;
    struct rk_loss *told;   /* of each event, what files before this one have told */
    uint64_t bytes_before;  /* of those files */
    uint64_t longest_chain; /* frames: one that has so many was cut */

    bool pipe;       /* standard output */
    bool begun;      /* a round was made */
    bool ended;      /* the set is disabled, all is read */
    bool finished;   /* the closing sections were written, or `error` says why not */
    bool disordered; /* some record is older than the one before it */
    bool unflushed;  /* something was appended since the last flush */
    int error;       /* the first failure; from then on nothing is written */
    uint64_t flushed_ns;
    uint64_t made; /* ns since 1970, when the file was opened */
    uint64_t records, damaged, truncated;
    uint64_t switched;              /* files that were closed on the way */
    uint64_t code_maps;             /* processes whose code is named in a file of their own */
    uint64_t newest;                /* time of the last record */
    uint64_t first_time, last_time; /* of samples */
};

CLEANUP_FUNCTION(rk_capture_free, struct rk_capture, rk_capture_free)

/* Takes a record of processes and mappings into the image. Returns 0 or -ENOMEM. */
int capture_follow(struct rk_capture *capture, const struct rk_record *record);

/* Appends one record that is whole. 0 or -errno. */
int capture_append(struct rk_capture *capture, const void *record, size_t bytes);

/* Opens the next file: header, ids, tracing data; it takes its path. 0 or -errno. */
int capture_file_open(struct rk_capture *capture, struct rk_error *e);

/* Writes the closing sections: what was lost, hit, where and how. 0 or -errno, without a word. */
int capture_file_finish(struct rk_capture *capture);

/* Writes what the stream has due. 0 or -errno. */
int capture_round(struct rk_capture *capture);

/* What the machine is: capture/machine.c. 0 or -ENOMEM; what can't be read is left out. */
int capture_machine(struct rk_capture *capture);

/* What failed, as the caller is told it. */
int capture_explain(const struct rk_capture *capture, int code, struct rk_error *e);

/* Stops the set and writes all that is left in the rings. 0 or -errno. Once: then it does nothing. */
int capture_end(struct rk_capture *capture);

#endif

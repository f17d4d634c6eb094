/*
 * A perf.data file, written so that what a kill leaves is readable up to the last flush: whole records are
 * appended, then the header's data.size is rewritten, in that order. The sections behind the data come with
 * finish().
 *
 *     perfdata_writer_open(fd, events, n, &w, &e);           // header, ids, attrs
 *     perfdata_writer_append(w, records, bytes);             // any number of whole records, buffered
 *     perfdata_writer_round(w);                              // FINISHED_ROUND
 *     perfdata_writer_flush(w);                              // once a second, say
 *     perfdata_writer_text(w, FEATURE_HOSTNAME, "box"); …
 *     perfdata_writer_finish(w, &e);
 *     perfdata_writer_close(w);
 *
 * Pipe mode (-o -) writes the same records in a row, with what the header would say as records before them and the
 * features behind; nothing is rewritten. The ledger is left out there: perf would warn of it.
 *
 * With a level, records are packed by zstd as perf record -z does: each buffer becomes COMPRESSED records, flushed, so
 * that what is in the file is whole. How they are packed is said by the first record of the data, too (`begin`): perf
 * reads a file that was killed by it.
 *
 * The descriptor stays the caller's: a new, empty, seekable file. Nothing is synced to disk. After a failed
 * write (-ENOSPC …) the same error comes back from each later call, and the file is readable up to the last
 * flush.
 */
#ifndef PERFDATA_WRITER_H
#define PERFDATA_WRITER_H

#include "perfdata/bytes.h"
#include "perfdata/format.h"

#include <reckon/error.h>

#include <stdbool.h>

struct perfdata_writer;

/* Copied, ids and name too. Attrs are written with as many bytes as the longest needs, at least 128 (perf
 * 6.1 reads no longer ones), zero tails cut. */
struct perfdata_writer_event {
    const struct perf_attr *attr;
    const uint64_t *ids;
    size_t ids_n;
    const char *name;
};
struct perfdata_writer_options {
    bool pipe;
    bool begin; /* a first record at once: a file without any is taken for one that was never finished */
    int level;  /* of zstd, 1 … 22; 0: not packed */
};
/* -EOPNOTSUPP: a level, and zstd is not here. */
int perfdata_writer_start(int fd, const struct perfdata_writer_event *events, size_t n,
                          const struct perfdata_writer_options *options, struct perfdata_writer **ret,
                          struct rk_error *e);
/* … without options. */
int perfdata_writer_open(int fd, const struct perfdata_writer_event *events, size_t n,
                         struct perfdata_writer **ret, struct rk_error *e);

/* Frees. What was appended since the last flush and not finished is not in the file. NULL is taken. */
struct perfdata_writer *perfdata_writer_close(struct perfdata_writer *writer);

/* Hot. 0 or -errno. n is a multiple of 8: the sizes of the records in it. */
int perfdata_writer_append(struct perfdata_writer *writer, const void *records, size_t n);
int perfdata_writer_round(struct perfdata_writer *writer);
int perfdata_writer_flush(struct perfdata_writer *writer);

/* Bytes that the file has, or would have after a flush. */
uint64_t perfdata_writer_bytes(const struct perfdata_writer *writer);

/* Features, kept until finish(); EVENT_DESC is written by itself. A bit that is given twice has the later
 * value, build-ids and ledger lines add up. 0, -ENOMEM, -EINVAL. */
int perfdata_writer_text(struct perfdata_writer *writer, unsigned bit, const char *text);
int perfdata_writer_list(struct perfdata_writer *writer, unsigned bit, const char *const *texts, size_t n);
/* Any other, by its bytes, which it takes whatever comes. */
int perfdata_writer_feature(struct perfdata_writer *writer, unsigned bit, perfdata_bytes *bytes);
int perfdata_writer_cpus(struct perfdata_writer *writer, uint32_t available, uint32_t online);
int perfdata_writer_times(struct perfdata_writer *writer, uint64_t first, uint64_t last);
/* misc: RK_MISC_MODE bits, 1 kernel, 2 user. id_bytes 1 … 20. pid -1: of all processes. */
int perfdata_writer_build_id(struct perfdata_writer *writer, int32_t pid, uint16_t misc, const void *id,
                             size_t id_bytes, const char *path);
/* The tracing data (tracing.c); in a pipe it is written at once, so that it must come before the records. */
int perfdata_writer_tracing(struct perfdata_writer *writer, const void *bytes, size_t n);
/* A line "key value"; the key is one word, neither has a newline. */
int perfdata_writer_ledger(struct perfdata_writer *writer, const char *key, const char *value);

/* Flushes, writes the features, then the header that tells of them. */
int perfdata_writer_finish(struct perfdata_writer *writer, struct rk_error *e);

#endif

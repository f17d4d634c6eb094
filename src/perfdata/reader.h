/*
 * A perf.data file or pipe, read: its events, what it says of itself, and its records one by one, as they
 * stand there.
 *
 *     struct perfdata_reader *r;
 *     perfdata_reader_open("perf.data", &r, &e);
 *     const struct perf_header *record;
 *     uint64_t offset;
 *     while (perfdata_reader_next(r, &record, &offset) == 1)
 *         …
 *     perfdata_reader_close(r);
 *
 * Memory is bounded whatever the file says: records are read through one window; counts and sizes are held
 * against the file's size before they are believed.
 */
#ifndef PERFDATA_READER_H
#define PERFDATA_READER_H

#include "perfdata/format.h"

#include <reckon/error.h>

#include <stdbool.h>

struct perfdata_reader;

/* Opens "perf.data", or "-": standard input. A pipe is read up to its first record that is not about events
 * and features, so that these are known. -errno and *e: not there, not a perf.data, of the other byte
 * order, … */
int perfdata_reader_open(const char *path, struct perfdata_reader **ret, struct rk_error *e);

/* The same from a descriptor, at its beginning, which the reader does not close. `name` is for messages. */
int perfdata_reader_open_fd(int fd, const char *name, struct perfdata_reader **ret, struct rk_error *e);

struct perfdata_reader *perfdata_reader_close(struct perfdata_reader *reader);

/* Events, in the file's order. Pointers live as long as the reader. In a pipe more may come with next(), at
 * the end. */
struct perfdata_event {
    struct perf_attr attr; /* a shorter one of the file filled up with zeros, an unknown tail cut */
    const char *name; /* as recorded, else made from type and config: "cpu-clock", "r1a8", "pmu-8/0x3c" */
    const uint64_t *ids;
    size_t ids_n;
};
size_t perfdata_reader_events(const struct perfdata_reader *reader);
const struct perfdata_event *perfdata_reader_event(const struct perfdata_reader *reader, size_t index);

/* The event that an id belongs to, or UINT32_MAX (RK_NO_EVENT). */
uint32_t perfdata_reader_find(const struct perfdata_reader *reader, uint64_t id);

/* What the file says of itself; texts are "" where it does not. In a pipe more may come with next(). */
struct perfdata_info {
    const char *host, *kernel, *architecture, *tool;
    const char *command; /* words joined by a blank */
    /* reckon's lines "key value", behind PERFDATA_LEDGER_1; "": not reckon's, or not finished */
    const char *ledger;
    uint32_t cpus_online, cpus_available; /* 0: unknown */
    uint64_t first_time, last_time;       /* of samples; both 0: unknown */
    uint64_t made;                        /* ns since 1970; 0: unknown */
    uint64_t trace_bytes;                 /* of AUXTRACE, so far: a trace that is not decoded */
    uint32_t trace_kind;                  /* perf's enum auxtrace_type; 0: unknown */
    bool pipe;
    bool compressed; /* it says so */
    bool finished;   /* the sections behind the data are there */
};
void perfdata_reader_info(const struct perfdata_reader *reader, struct perfdata_info *ret);

struct perfdata_build_id {
    int32_t pid;
    uint16_t misc; /* RK_MISC_MODE bits: kernel or user */
    uint16_t bytes;
    unsigned char id[20];
    const char *path;
};
size_t perfdata_reader_build_ids(const struct perfdata_reader *reader, const struct perfdata_build_id **ret);

/* The format text of the tracepoint with this number, n bytes, from the recording's tracing data; NULL: it has none. Of
 * a file; a pipe's is passed over. */
const char *perfdata_reader_format(const struct perfdata_reader *reader, uint64_t number, size_t *ret_n);

/* The names that the recording stores, n bytes (symbol/stored.h); NULL: none. */
const void *perfdata_reader_names(const struct perfdata_reader *reader, size_t *ret_n);

/*
 * Hot. 1 and the next record, 8-byte aligned, with its offset in the file (in a pipe: in the stream); valid
 * until the next call. 0: the end, or the last whole record of a file that was cut. -EBADMSG: a size that
 * makes no sense; -EOPNOTSUPP: compressed records, and no zstd here; -errno of read(2). After an error the same comes
 * again; explain() tells why.
 *
 * What compressed records hold comes out by itself, with the offset of the one that holds it.
 *
 * Records about events and features (HEADER_ATTR, HEADER_EVENT_TYPE, TRACING_DATA, HEADER_BUILD_ID,
 * EVENT_UPDATE, HEADER_FEATURE) are taken in and not returned; all others are, the tool's own
 * (FINISHED_ROUND …) among them. The payloads of AUXTRACE are skipped.
 */
int perfdata_reader_next(struct perfdata_reader *reader, const struct perf_header **ret,
                         uint64_t *ret_offset);

/* The file ends before its header says, or was never finished, or ends inside a record. In part known at
 * open, for certain at the end. */
bool perfdata_reader_cut(const struct perfdata_reader *reader);

/* The data's bytes, and those read so far, for progress. 0: not known (a pipe). */
uint64_t perfdata_reader_bytes(const struct perfdata_reader *reader, uint64_t *ret_done);

/* Whether records can be read once more at their offsets; not those of a pipe, of compressed records, of the other byte
 * order. read_at() does: how many bytes, fewer at the end; or -errno. */
bool perfdata_reader_again(const struct perfdata_reader *reader);
int64_t perfdata_reader_read_at(struct perfdata_reader *reader, void *buffer, size_t n, uint64_t offset);

/* Cold: what the last -errno of next() was about. -ENOENT: nothing failed. */
int perfdata_reader_explain(const struct perfdata_reader *reader, struct rk_error *ret);

#endif

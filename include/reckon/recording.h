/*
 * reckon/recording.h: writes records of your own into a perf.data file that reckon and perf read.
 *
 *     struct perf_event_attr attr = {.size = sizeof attr, .type = PERF_TYPE_SOFTWARE, .sample_period = 1,
 *                                    .config = PERF_COUNT_SW_CPU_CLOCK, .sample_id_all = 1,
 *                                    .sample_type = RK_SAMPLE_IP | RK_SAMPLE_TID | RK_SAMPLE_TIME};
 *     struct rk_recording_event event = {.attr = &attr, .attr_bytes = sizeof attr, .name = "ticks"};
 *     struct rk_record record = {.type = RK_RECORD_SAMPLE, .misc = RK_MODE_USER};
 *     struct rk_sample sample = RK_INIT(sample, .present = attr.sample_type, .pid = 7, .tid = 7);
 *
 *     rk_recording_open("perf.data", &event, 1, NULL, &recording, &e);
 *     for (size_t i = 0; i < n; i++) {
 *         sample.time = ticks[i].ns;
 *         sample.ip = ticks[i].address;
 *         rk_recording_write(recording, 0, &record, &sample);
 *     }
 *     if (rk_recording_finish(recording, &e) < 0)
 *         fprintf(stderr, "%s\n", e.what);
 *     rk_recording_free(recording);
 *
 * For names, write COMM and MMAP2 records first, with the time 0 or that of the mapping: readers look an
 * address up in the mappings of its process.
 *
 * The order: records may come in any order of time. Where each is at least as late as the one before it, the
 * file says so, and readers need not sort.
 *
 * To record what the kernel samples: reckon/capture.h.
 */
#ifndef RECKON_RECORDING_H
#define RECKON_RECORDING_H

#include <reckon/error.h>
#include <reckon/record.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rk_recording;

/* An event that the file describes. All of it is copied. Frozen. */
struct rk_recording_event {
    /* A struct perf_event_attr, of any size since Linux 2.6.31. Its sample_type says which fields the samples
     * have; with sample_id_all other records have their identity too. */
    const void *attr;
    size_t attr_bytes;

    /* The ids that its records carry. An only event needs none. Of several, each needs one at least, no two
     * share one, and all have RK_SAMPLE_IDENTIFIER: by it readers find the event of a record. */
    const uint64_t *ids;
    size_t ids_n;

    /* As readers show it: "cycles:u". */
    const char *name;
};

struct rk_recording_options {
    uint32_t size; /* sizeof(struct rk_recording_options), set by the caller */

    /* zstd's level, 1 … 22; 0: no compression. -EOPNOTSUPP: zstd is not installed. */
    uint32_t compression;

    /* The command line to store, NULL-terminated; NULL: none. */
    const char *const *command;

    /* Where the samples were taken: uname(2)'s nodename, release and machine. NULL: this machine's. */
    const char *host, *kernel, *architecture;
};

/*
 * Begins a file with n events. It is a new one with mode 0600; an existing one is renamed to PATH.old. "-" is
 * standard output, in perf's pipe mode. NULL options: defaults.
 *
 * -EINVAL: no event; events that readers could not tell apart; a damaged attr. -E2BIG: an attr with fields
 * that this release does not know.
 */
RK_API int rk_recording_open(const char *path, const struct rk_recording_event *events, size_t n,
                             const struct rk_recording_options *options, struct rk_recording **ret,
                             struct rk_error *e);

/* The same into a descriptor, which stays the caller's: an empty regular file, or a pipe or a socket, which
 * gets pipe mode. -EINVAL: a file that is not empty. */
RK_API int rk_recording_open_fd(int fd, const struct rk_recording_event *events, size_t n,
                                const struct rk_recording_options *options, struct rk_recording **ret,
                                struct rk_error *e);

/*
 * Hot. Encodes one record, as rk_layout_encode() does, with the layout of `event`, and appends it. An id that
 * `record` or a sample lacks becomes the event's first.
 *
 * Returns 0; what rk_layout_encode() returns for a body that does not fit; -ERANGE: no such event; or an
 * earlier failure to write.
 */
RK_API int rk_recording_write(struct rk_recording *recording, uint32_t event, const struct rk_record *record,
                              const void *body);

/*
 * Hot. Appends whole records, one after the other in `bytes` bytes that are 8-byte aligned: those of a ring,
 * say, or rk_record.data. All are examined first: nothing invalid gets into the file.
 *
 * Returns 0. -EINVAL: not aligned; no whole records; a type that is no kernel's. -EBADMSG: a record is
 * shorter than its layout. -ENOENT: a sample has an id that no event has. Or an earlier failure to write.
 */
RK_API int rk_recording_append(struct rk_recording *recording, const void *records, size_t bytes);

/* Hot. Marks a round: no later record is older than any that came before the previous mark. Readers then
 * sort a part at a time. A file in order, or a small one, needs no marks. Returns 0 or -errno. */
RK_API int rk_recording_round(struct rk_recording *recording);

/* Writes out what is buffered. If the process is killed, readers find all that was flushed. Returns 0 or
 * -errno. */
RK_API int rk_recording_flush(struct rk_recording *recording);

/*
 * Stores the build-id of a file that was hit, 1 … 20 bytes, so that readers on another machine find the right
 * one. `mode` is RK_MODE_USER or RK_MODE_KERNEL; the kernel's path is "[kernel.kallsyms]". MMAP2 records may
 * carry build-ids themselves. Returns 0, -EINVAL or -ENOMEM.
 */
RK_API int rk_recording_build_id(struct rk_recording *recording, uint32_t mode, const void *id, size_t bytes,
                                 const char *path);

/* Writes the rest and the file's closing sections. Returns 0 or -errno, also when called again. NULL: 0. */
RK_API int rk_recording_finish(struct rk_recording *recording, struct rk_error *e);

/* Frees a recording. Without rk_recording_finish() the file keeps what was flushed, and readers report it as
 * cut. */
RK_API struct rk_recording *rk_recording_free(struct rk_recording *recording);

#ifdef __cplusplus
}
#endif
#endif

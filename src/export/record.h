/*
 * A record, decoded for a dump whatever its type. What pid, tid and time are shown is decided here: where the
 * record's body has them they are what it is about, and go before the identity that the kernel attached.
 */
#ifndef EXPORT_RECORD_H
#define EXPORT_RECORD_H

#include "export/fields.h"

#include <reckon/stream.h>
#include <stdbool.h>

enum record_kind {
    RECORD_SAMPLE,
    RECORD_READ,    /* in sample, as far as a READ record has it */
    RECORD_MAPPING, /* MMAP, MMAP2 */
    RECORD_TASK,    /* FORK, EXIT */
    RECORD_COMM,
    RECORD_LOST,    /* LOST, LOST_SAMPLES */
    RECORD_FIELDS,  /* see export/fields.h */
    RECORD_UNKNOWN, /* a type that this release does not know */
    RECORD_DAMAGED, /* its bytes don't hold what its type says */
};

struct record {
    enum record_kind kind;
    bool has_ids, has_time, has_cpu;
    int32_t pid, tid;
    uint32_t cpu;
    uint64_t time;
    const char *event; /* name, or NULL */
    struct rk_sample sample;
    struct rk_mapping mapping;
    struct rk_task task;
    struct rk_comm comm;
    struct rk_lost lost;
    struct field fields[FIELDS_MAX];
    int field_n;
};

void record_decode(const struct rk_stream *stream, const struct rk_record *from, struct record *ret);

/* "kernel" … for header.misc's mode or a chain's marker; NULL where it is none. */
const char *record_mode(uint32_t misc);
const char *record_marker(uint64_t entry);

/* A chain, part by part: the entries of one mode, without their marker. False at the end. `at` is 0 first. */
struct chain_part {
    const char *mode;        /* "unknown" for entries without a marker */
    const uint64_t *entries; /* n of them */
    uint64_t n;
    uint64_t
        cookie; /* mode "user-deferred" alone: names the CALLCHAIN_DEFERRED record that has the entries */
    bool deferred;
};
bool record_chain(const uint64_t *chain, uint64_t n, uint64_t *at, struct chain_part *ret);

#endif

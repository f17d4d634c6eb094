/*
 * The AUX area: bytes that a tracing PMU (Intel PT, Arm SPE, CoreSight) writes beside the ring, described there by AUX
 * records. Its head and tail are in the ring's page and run freely through 64 bits: storing a tail that is cut to the
 * area's size stops the tracing after the first wrap.
 *
 *     full       mapped writable: the PMU stops where it would overtake the tail.
 *                aux_next() gives what lies between tail and head, in one or two runs; aux_release() moves the tail.
 *     snapshot   mapped read-only: the PMU writes over and over. With the PMU stopped, aux_snapshot() gives the whole
 *                area in time's order: what lies behind head is older than what lies before it.
 */
#ifndef RING_AUX_H
#define RING_AUX_H

#include "base/abi.h"

#include <stdbool.h>
#include <stddef.h>

struct aux {
    struct perf_page *page;
    const unsigned char *data;
    uint64_t size;     /* a power of two */
    uint64_t position; /* the next byte to give; the tail follows at aux_release() */
    uint64_t released;
    uint64_t skipped; /* bytes given up because head made no sense */
    size_t mapped;    /* bytes mapped by aux_map(); 0: not ours */
    bool snapshot;
};

/* A run of bytes; `offset` is free-running, as in AUX records. */
struct aux_run {
    const unsigned char *bytes;
    size_t n;
    uint64_t offset;
};

/* Over memory that is mapped already. 0, or -EINVAL: not a power of two. */
int aux_init(struct aux *aux, struct perf_page *page, const unsigned char *data, size_t bytes, bool snapshot);

/* Maps the area of an event whose ring has `ring_bytes` and is mapped at `page`. 0 or -errno (-EOPNOTSUPP: its PMU
 * does not trace). */
int aux_map(struct aux *aux, int fd, struct perf_page *page, size_t ring_bytes, size_t bytes, bool snapshot);
void aux_unmap(struct aux *aux);

/* Full mode. 1 and the next run; 0: no more; -EBADMSG: a head that can't be, what waited is given up. */
int aux_next(struct aux *aux, struct aux_run *ret);
void aux_release(struct aux *aux);

/* Snapshot mode, the PMU stopped: how many runs there are, 0 … 2, the older first. */
int aux_snapshot(struct aux *aux, struct aux_run ret[2]);

#endif

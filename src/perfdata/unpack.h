/*
 * The records inside compressed records (perf record -z). Their bytes are one stream: a record may begin in one
 * compressed record and end in the next. Memory is fixed, whatever a record claims to hold:
 *
 *     in    the last compressed record's payload, as far as it is not unpacked
 *     out   │ given │ whole records … │ the beginning of one │ room │
 *
 *     unpack_feed(u, payload, n);
 *     while (unpack_next(u, &record) == 1)
 *         …
 */
#ifndef PERFDATA_UNPACK_H
#define PERFDATA_UNPACK_H

#include "base/abi.h"
#include "codec/zstd.h"

#include <stdbool.h>

#define UNPACK_OUT ((size_t)256 << 10)

struct unpack {
    struct zstd *zstd;
    size_t in_n, in_at;
    size_t front, filled;
    bool swapped; /* records are of the other byte order */
    bool more;    /* out was filled: the library may hold more */
    _Alignas(8) unsigned char in[64 << 10];
    _Alignas(8) unsigned char out[UNPACK_OUT];
    _Alignas(8) unsigned char askew[64 << 10];
};

/* Returns 0, -EOPNOTSUPP (libzstd is not installed) or -ENOMEM. */
int unpack_open(struct unpack **ret);
struct unpack *unpack_close(struct unpack *unpack);

/* The next payload; what was fed before has been taken out by next(). n is less than 64 KiB. */
void unpack_feed(struct unpack *unpack, const void *payload, size_t n);

/* 1 and a record, 8-byte aligned, valid until the next call; 0: the next payload is wanted; -EBADMSG: not zstd's, or a
 * record whose size makes no sense. */
int unpack_next(struct unpack *unpack, const struct perf_header **ret);

/* Bytes of a record that has begun and not ended. */
size_t unpack_rest(const struct unpack *unpack);

#endif

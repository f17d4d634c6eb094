/*
 * zstd, by libzstd: a block of known size, or a stream that is flushed now and then. The errors are those of
 * codec/deflate.h.
 */
#ifndef CODEC_ZSTD_H
#define CODEC_ZSTD_H

#include <stddef.h>

/* Decodes exactly `room` bytes. */
int zstd_decode(const void *from, size_t n, void *to, size_t room);

/* A stream, as perf record -z has it: one over all compressed records of a file, flushed at each record's end. */
struct zstd;

/* Opens a stream for unpacking (level 0) or packing (1 … 22). Returns 0, -EOPNOTSUPP or -ENOMEM. */
int zstd_open(int level, struct zstd **ret);
struct zstd *zstd_close(struct zstd *zstd);

/* Unpacks from in[*in_at … in_n) into out and moves *in_at on. Returns the bytes written to out, or -EBADMSG. When `room`
 * was filled there may be more, even with no input left. */
int zstd_unpack(struct zstd *zstd, const void *in, size_t in_n, size_t *in_at, void *out, size_t room);

/* Packs from in[*in_at … in_n) and flushes. Returns the bytes written to out, or -ENOMEM. All of it is out when *in_at is
 * at the end and *ret_more is 0. */
int zstd_pack(struct zstd *zstd, const void *in, size_t in_n, size_t *in_at, void *out, size_t room,
              int *ret_more);

#endif

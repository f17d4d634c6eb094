/*
 * zstd, as perf record -z uses it: one stream over all compressed records of a file, flushed at each record's end. The
 * library (libzstd.so.1) is loaded when a file needs it; this file alone knows it.
 */
#ifndef PERFDATA_ZSTD_H
#define PERFDATA_ZSTD_H

#include <stddef.h>

struct zstd;

/* For unpacking (level 0) or packing (1 … 22). 0, -ENOENT: the library is not here, -ENOMEM. */
int zstd_open(int level, struct zstd **ret);
struct zstd *zstd_close(struct zstd *zstd);

/* Unpacks from in[*in_at … in_n) into out, up to `room`: the bytes that came, *in_at moved on; or -EBADMSG. As long as
 * `room` was filled there may be more, also with no input left. */
int zstd_unpack(struct zstd *zstd, const void *in, size_t in_n, size_t *in_at, void *out, size_t room);

/* Packs from in[*in_at … in_n) and flushes: bytes written to out, at most `room`. With *in_at at the end and
 * *ret_more 0 all of it is out. -ENOMEM: the library has no memory. */
int zstd_pack(struct zstd *zstd, const void *in, size_t in_n, size_t *in_at, void *out, size_t room,
              int *ret_more);

#endif

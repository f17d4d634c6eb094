/*
 * zlib's format and gzip, by libdeflate.
 *
 * The codecs load their libraries when they are first used; one file each knows its library. The decoders return 0;
 * -EOPNOTSUPP: the library is not installed; -EBADMSG: the bytes are damaged, or more or fewer than the caller has room
 * for; -ENOMEM.
 */
#ifndef CODEC_DEFLATE_H
#define CODEC_DEFLATE_H

#include <stddef.h>

/* Decodes exactly `room` bytes. */
int zlib_decode(const void *from, size_t n, void *to, size_t room);

/* Decodes at most `limit` bytes into new memory. */
int gzip_decode(const void *from, size_t n, size_t limit, void **ret, size_t *ret_n);

/* Encodes into new memory. Without libdeflate the result is valid gzip that is not compressed. Returns 0 or -ENOMEM. */
int gzip_encode(const void *from, size_t n, void **ret, size_t *ret_n);

#endif

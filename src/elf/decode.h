/*
 * Decompression by libraries that are loaded when a section needs them. One file each.
 * All: 0; -EOPNOTSUPP: the library is not installed; -EBADMSG: damaged, or not exactly `room` bytes; -ENOMEM.
 */
#ifndef ELF_DECODE_H
#define ELF_DECODE_H

#include <stddef.h>

/* zlib's format, by libdeflate. */
int decode_zlib(const void *from, size_t n, void *to, size_t room);

/* gzip, by libdeflate: at most `limit` bytes, in new memory. */
int decode_gzip(const void *from, size_t n, size_t limit, void **ret, size_t *ret_n);
/* The other way, in new memory; where libdeflate is not installed, as gzip that is not compressed. 0 or -ENOMEM. */
int encode_gzip(const void *from, size_t n, void **ret, size_t *ret_n);

/* By libzstd. */
int decode_zstd(const void *from, size_t n, void *to, size_t room);

/* xz, by liblzma, which does not say beforehand how long the result is: at most `limit`, in new memory. */
int decode_xz(const void *from, size_t n, size_t limit, void **ret, size_t *ret_n);

#endif

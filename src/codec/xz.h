/*
 * xz, by liblzma. The errors are those of codec/deflate.h.
 */
#ifndef CODEC_XZ_H
#define CODEC_XZ_H

#include <stddef.h>

/* Decodes at most `limit` bytes into new memory, with a NUL behind them: xz does not say beforehand how many there are. */
int xz_decode(const void *from, size_t n, size_t limit, void **ret, size_t *ret_n);

#endif

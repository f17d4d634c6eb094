/*
 * A file that was compressed as a whole (gzip, zstd) → the same unpacked, in memory.
 */
#ifndef PERFDATA_UNWRAP_H
#define PERFDATA_UNWRAP_H

#include <stddef.h>
#include <stdint.h>

/* What is unpacked at most: a larger one is to be unpacked on disk first. */
#define UNWRAP_MOST (UINT64_C(1) << 30)

/* "gzip", "zstd", or NULL: by its first n bytes it is neither. */
const char *unwrap_kind(const void *head, size_t n);

/* Its first n bytes are at `head`; `already` of them have been read from `fd`, of a pipe. A descriptor of the unpacked bytes; -EOPNOTSUPP: the
 * library is not installed; -EBADMSG: damaged; -EFBIG; -ENOMEM; -errno. */
int unwrap(int fd, const void *head, size_t n, size_t already);

#endif

/*
 * The bytes of a feature section, put one behind the other: numbers as they are, texts with their length before them,
 * padded with zeros as perf pads them.
 */
#ifndef PERFDATA_BYTES_H
#define PERFDATA_BYTES_H

#include "base/vector.h"

#include <errno.h>

#define BYTES_TEXT_ALIGN 64u

typedef VECTOR(unsigned char) perfdata_bytes;

/* n bytes (NULL: zeros). 0 or -ENOMEM. */
static inline int bytes_put(perfdata_bytes *to, const void *bytes, size_t n)
{
    if (vector_reserve(to, n) < 0)
        return -ENOMEM;
    if (n && bytes)
        memcpy(to->items + to->n, bytes, n);
    else if (n)
        memset(to->items + to->n, 0, n);
    to->n += n;
    return 0;
}

static inline int bytes_u32(perfdata_bytes *to, uint32_t value)
{
    return bytes_put(to, &value, sizeof value);
}

static inline int bytes_u64(perfdata_bytes *to, uint64_t value)
{
    return bytes_put(to, &value, sizeof value);
}

static inline int bytes_text(perfdata_bytes *to, const char *text)
{
    size_t n = strlen(text), padded = (n + 1 + BYTES_TEXT_ALIGN - 1) / BYTES_TEXT_ALIGN * BYTES_TEXT_ALIGN;
    int r = padded > UINT32_MAX ? -EINVAL : bytes_u32(to, (uint32_t)padded);

    if (r == 0)
        r = bytes_put(to, text, n);
    return r == 0 ? bytes_put(to, NULL, padded - n) : r;
}

#endif

/*
 * Reading bytes from outside. A cursor never leaves [at, end): a read that does not fit gives zero, or NULL,
 * and sets `bad` for good, so that a decoder reads straight through and asks once at its end.
 *
 *     struct cursor c = cursor_of(bytes, n);
 *     uint32_t pid = cursor_u32(&c), tid = cursor_u32(&c);
 *     const char *name = cursor_text(&c);
 *     if (c.bad) return -EBADMSG;
 *
 * Little-endian, any alignment.
 */
#ifndef BASE_CURSOR_H
#define BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
    const unsigned char *at, *end;
    bool bad;
};

static inline struct cursor cursor_of(const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    return (struct cursor){at, n ? at + n : at, false}; /* NULL is no place to count from */
}

static inline size_t cursor_left(const struct cursor *c)
{
    return (size_t)(c->end - c->at);
}

/* The next n bytes, in place; NULL and bad where there are fewer. */
static inline const unsigned char *cursor_bytes(struct cursor *c, uint64_t n)
{
    if (__builtin_expect(n > cursor_left(c), 0)) {
        c->bad = true;
        c->at = c->end;
        return NULL;
    }
    const unsigned char *at = c->at;
    c->at += n;
    return at;
}

#define CURSOR_READ_(name, type)                                 \
    static inline type name(struct cursor *c)                    \
    {                                                            \
        type value = 0;                                          \
        const unsigned char *at = cursor_bytes(c, sizeof value); \
        if (at)                                                  \
            memcpy(&value, at, sizeof value);                    \
        return value;                                            \
    }
CURSOR_READ_(cursor_u8, uint8_t)
CURSOR_READ_(cursor_u16, uint16_t)
CURSOR_READ_(cursor_u32, uint32_t)
CURSOR_READ_(cursor_u64, uint64_t)
CURSOR_READ_(cursor_i32, int32_t)
#undef CURSOR_READ_

/* n 64-bit words in place, without overflow in n × 8. The caller sees to their alignment. */
static inline const unsigned char *cursor_words(struct cursor *c, uint64_t n)
{
    return cursor_bytes(c, n > UINT64_MAX / 8 ? UINT64_MAX : n * 8);
}

/* DWARF's numbers of variable length; bad beyond ten bytes. Bits above 64 are dropped. */
static inline uint64_t cursor_uleb(struct cursor *c)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 70; shift += 7) {
        uint8_t byte = cursor_u8(c);
        value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        if (!(byte & 0x80))
            return value;
    }
    c->bad = true;
    c->at = c->end;
    return 0;
}

static inline int64_t cursor_sleb(struct cursor *c)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 70; shift += 7) {
        uint8_t byte = cursor_u8(c);
        value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        if (!(byte & 0x80))
            return (int64_t)(byte & 0x40 && shift < 57 ? value | ~UINT64_C(0) << (shift + 7) : value);
    }
    c->bad = true;
    c->at = c->end;
    return 0;
}

/* A text up to and with its NUL; NULL and bad where no NUL comes. */
static inline const char *cursor_text(struct cursor *c)
{
    const unsigned char *nul = cursor_left(c) ? memchr(c->at, 0, cursor_left(c)) : NULL;

    if (!nul) {
        c->bad = true;
        c->at = c->end;
        return NULL;
    }
    const char *text = (const char *)c->at;
    c->at = nul + 1;
    return text;
}

#endif

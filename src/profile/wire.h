/*
 * Protocol buffers as they are written: a field's key is (number << 3 | wire type): 0 a varint, 1 eight bytes, 2 a length
 * and so many bytes, 5 four bytes.
 */
#ifndef PROFILE_WIRE_H
#define PROFILE_WIRE_H

#include "base/cursor.h"

enum { WIRE_NUMBER, WIRE_64, WIRE_BYTES, WIRE_32 = 5 };

struct field {
    uint32_t number, wire;
    uint64_t value;      /* NUMBER */
    struct cursor bytes; /* BYTES */
};

/* The next field; false at the end, or where the bytes don't hold it (bad is set then). */
static inline bool wire_next(struct cursor *c, struct field *ret)
{
    if (c->bad || cursor_left(c) == 0)
        return false;
    uint64_t key = cursor_uleb(c), n;
    *ret = (struct field){.number = (uint32_t)(key >> 3), .wire = key & 7};
    switch (ret->wire) {
    case WIRE_NUMBER:
        ret->value = cursor_uleb(c);
        break;
    case WIRE_64:
        ret->value = cursor_u64(c);
        break;
    case WIRE_32:
        ret->value = cursor_u32(c);
        break;
    case WIRE_BYTES:
        n = cursor_uleb(c);
        if (c->bad || n > cursor_left(c)) {
            c->bad = true;
            return false;
        }
        ret->bytes = cursor_of(cursor_bytes(c, n), n);
        break;
    default:
        c->bad = true;
    }
    return !c->bad;
}

/* What a repeated number holds: packed, or one value. False: no more. */
static inline bool wire_number(struct field *f, bool *first, uint64_t *ret)
{
    if (f->wire == WIRE_NUMBER) {
        *ret = f->value;
        return *first && !(*first = false);
    }
    if (f->wire != WIRE_BYTES || cursor_left(&f->bytes) == 0)
        return false;
    *ret = cursor_uleb(&f->bytes);
    return !f->bytes.bad;
}

#endif

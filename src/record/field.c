/*
 * A tracepoint's payload by field: where a field's value lies in RK_SAMPLE_RAW.
 */
#include "base/cursor.h"

#include <reckon/record.h>

#include <errno.h>

/* `n` bytes at `offset` of the payload; NULL: it is shorter. */
static const unsigned char *slice(const struct rk_sample *sample, uint64_t offset, uint64_t n)
{
    if (!sample->raw)
        return NULL;
    struct cursor c = cursor_of(sample->raw, sample->raw_bytes);

    cursor_bytes(&c, offset);
    return cursor_bytes(&c, n);
}

static uint64_t number_at(const unsigned char *at, uint32_t bytes, uint32_t is_signed)
{
    uint64_t value = 0;

    memcpy(&value, at, bytes);
    if (is_signed && bytes < 8) {
        unsigned shift = 64 - 8 * bytes;
        value = (uint64_t)((int64_t)(value << shift) >> shift);
    }
    return value;
}

int rk_field_value(const struct rk_field *field, const struct rk_sample *sample, struct rk_field_value *ret)
{
    if (!field || !sample || !ret)
        return -EINVAL;
    const unsigned char *at = slice(sample, field->offset, field->bytes);
    uint64_t n = field->bytes;

    if (!at)
        return -EBADMSG;
    if (field->kind == RK_FIELD_NUMBER && n >= 1 && n <= 8) {
        *ret = (struct rk_field_value){.number = number_at(at, field->bytes, field->is_signed)};
        return 0;
    }
    if (field->kind == RK_FIELD_DYNAMIC || field->kind == RK_FIELD_RELATIVE) {
        uint32_t where = n == 4 ? (uint32_t)number_at(at, 4, 0) : 0;
        uint64_t from = where & 0xffff;

        if (n != 4)
            return -EBADMSG;
        n = where >> 16;
        if (field->kind == RK_FIELD_RELATIVE)
            from += field->offset + 4u;
        at = slice(sample, from, n);
        if (!at)
            return -EBADMSG;
    }
    if (field->is_text)
        n = strnlen((const char *)at, n);
    *ret = (struct rk_field_value){.bytes = at, .n = n};
    return 0;
}

#include "export/protobuf.h"

#include <errno.h>
#include <stdbool.h>

#define VARINT_MAX 10u
#define LENGTH_MAX 5u
enum { WIRE_NUMBER = 0, WIRE_BYTES = 2 };

static bool room(struct protobuf *p, size_t n)
{
    if (p->error == 0 && vector_reserve(&p->bytes, n) < 0)
        p->error = -ENOMEM;
    return p->error == 0;
}

/* Writes to `to`; how many bytes. */
static size_t varint(unsigned char *to, uint64_t value)
{
    size_t n = 0;

    for (; value >= 0x80; value >>= 7)
        to[n++] = (unsigned char)(value | 0x80);
    to[n++] = (unsigned char)value;
    return n;
}

void protobuf_packed(struct protobuf *p, uint64_t value)
{
    if (room(p, VARINT_MAX))
        p->bytes.n += varint(p->bytes.items + p->bytes.n, value);
}

void protobuf_number(struct protobuf *p, uint32_t field, uint64_t value)
{
    if (!value)
        return;
    protobuf_packed(p, (uint64_t)field << 3 | WIRE_NUMBER);
    protobuf_packed(p, value);
}

void protobuf_text(struct protobuf *p, uint32_t field, const char *text)
{
    size_t n = strlen(text);

    protobuf_packed(p, (uint64_t)field << 3 | WIRE_BYTES);
    protobuf_packed(p, n);
    if (room(p, n + 1)) {
        memcpy(p->bytes.items + p->bytes.n, text, n);
        p->bytes.n += n;
    }
}

size_t protobuf_open(struct protobuf *p, uint32_t field)
{
    protobuf_packed(p, (uint64_t)field << 3 | WIRE_BYTES);
    if (room(p, LENGTH_MAX))
        p->bytes.n += LENGTH_MAX;
    return p->bytes.n;
}

void protobuf_close(struct protobuf *p, size_t at)
{
    unsigned char length[VARINT_MAX];

    if (p->error)
        return;
    size_t n = p->bytes.n - at, bytes = varint(length, n);
    unsigned char *start = p->bytes.items + at - LENGTH_MAX;
    memcpy(start, length, bytes);
    memmove(start + bytes, p->bytes.items + at, n);
    p->bytes.n -= LENGTH_MAX - bytes;
}

void protobuf_free(struct protobuf *p)
{
    vector_free(&p->bytes);
}

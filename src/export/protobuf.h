/*
 * Protocol buffers, written: numbers and nested messages into memory that grows, with one sticky error. A message's length
 * comes before it and is known after it: five bytes are kept for it, and taken back where it is shorter.
 */
#ifndef EXPORT_PROTOBUF_H
#define EXPORT_PROTOBUF_H

#include "base/vector.h"

#include <stdint.h>

struct protobuf {
    VECTOR(unsigned char) bytes;
    int error; /* -ENOMEM: nothing is written after it */
};

/* A field with a number; 0 is what a missing one means, and is left out. */
void protobuf_number(struct protobuf *p, uint32_t field, uint64_t value);
void protobuf_text(struct protobuf *p, uint32_t field, const char *text);
/* A bare number, inside of a packed field: that is opened and closed as a message is. */
void protobuf_packed(struct protobuf *p, uint64_t value);

/* A message, or a packed field: what open() gave goes to close(). */
size_t protobuf_open(struct protobuf *p, uint32_t field);
void protobuf_close(struct protobuf *p, size_t at);

void protobuf_free(struct protobuf *p);

#endif

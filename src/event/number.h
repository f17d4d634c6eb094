/*
 * Numbers as people write them.
 */
#ifndef EVENT_NUMBER_H
#define EVENT_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/* All of n bytes, decimal or 0x…: 0, -EINVAL it is none, -ERANGE more than 64 bits. */
int number_parse(const char *text, size_t n, uint64_t *ret);

#endif

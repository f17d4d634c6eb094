/*
 * Text from outside: numbers in it, and how it is shown in a message.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of the UTF-8 character at s, of which n > 0 bytes are left, or 0 where there is none. */
size_t utf8_length(const unsigned char *s, size_t n);

/*
 * n bytes of text as one line of plain text: control characters and what is not UTF-8 become \xNN, and what
 * does not fit in `size` bytes (at least 8) is cut with "…". Returns `buffer`, for use in an argument list.
 */
char *text_show(char *buffer, size_t size, const char *text, size_t n);

/* Takes the digits at *at, without sign, blanks or prefix, and moves *at behind them. Returns false where there are none, or
 * the number is above `limit`. */
bool text_number(const char **at, unsigned base, uint64_t limit, uint64_t *ret);

#endif

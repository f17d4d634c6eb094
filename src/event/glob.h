/*
 * Names with * ? and [set], as the shell has them.
 */
#ifndef EVENT_GLOB_H
#define EVENT_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* Whether n bytes have a character that is not itself. */
bool glob_is(const char *pattern, size_t n);

/* Whether the n bytes of pattern match all of the text. Costs at most n × the text's length. */
bool glob_match(const char *pattern, size_t n, const char *text);

#endif

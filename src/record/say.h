/*
 * Words one behind the other into a caller's buffer, cut where it ends, their full length known: snprintf() in pieces.
 */
#ifndef RECORD_SAY_H
#define RECORD_SAY_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct say {
    char *buffer;
    size_t room, n;
};

static inline struct say say_begin(char *buffer, size_t room)
{
    if (room)
        buffer[0] = 0;
    return (struct say){buffer, room, 0};
}

static inline void say_word(struct say *say, const char *word)
{
    size_t room = say->n < say->room ? say->room - say->n : 0;
    int n = snprintf(room ? say->buffer + say->n : NULL, room, "%s%s", say->n ? " " : "", word);

    say->n += n > 0 ? (size_t)n : 0;
}

static inline void say_number(struct say *say, uint64_t number)
{
    char text[24];

    snprintf(text, sizeof text, "%ju", (uintmax_t)number);
    say_word(say, text);
}

/* The names of the bits that are set; NULL: not said. Bits behind the table are said by their number. */
static inline void say_bits(struct say *say, uint64_t mask, const char *const *names, size_t n)
{
    for (; mask; mask &= mask - 1) {
        unsigned bit = (unsigned)__builtin_ctzll(mask);
        char text[24];

        if (bit < n) {
            if (names[bit])
                say_word(say, names[bit]);
            continue;
        }
        snprintf(text, sizeof text, "bit-%u", bit);
        say_word(say, text);
    }
}

static inline int say_end(const struct say *say)
{
    return (int)say->n;
}

#endif

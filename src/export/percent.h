/*
 * Percentages as text, in whole-number arithmetic: exact, and the same in every locale.
 */
#ifndef EXPORT_PERCENT_H
#define EXPORT_PERCENT_H

#include <inttypes.h>
#include <stdio.h>

#define PERCENT_BYTES 32

/* "12.3457" for part ÷ whole, rounded; "0.0000" where whole is 0. */
static inline const char *percent_text(uint64_t part, uint64_t whole, char text[PERCENT_BYTES])
{
    __extension__ typedef unsigned __int128 wide;
    wide scaled = whole ? ((wide)part * 1000000 + whole / 2) / whole : 0;

    snprintf(text, PERCENT_BYTES, "%" PRIu64 ".%04u", (uint64_t)(scaled / 10000), (unsigned)(scaled % 10000));
    return text;
}

#endif

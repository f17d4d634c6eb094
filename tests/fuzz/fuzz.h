/*
 * tests/fuzz/fuzz.h: what a fuzz target is made of.
 *
 * A target is one file, fuzz_<name>.c, with LLVMFuzzerTestOneInput(): it gives the bytes to a parser and uses
 * all that comes out, so that a pointer that leads astray is followed here and not in a user's program. It
 * ends the process by abort() (HOLDS) where a promise of the parser does not hold.
 *
 * `make fuzz` links it with libFuzzer. Everywhere else replay.c is linked to it, and its corpus,
 * corpus/<name>/, is an ordinary test.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HOLDS(condition)                                                                   \
    do {                                                                                   \
        if (!(condition)) {                                                                \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                                       \
        }                                                                                  \
    } while (0)

/* Reads n bytes, so that a sanitizer or the hardware sees whether they can be. */
static inline void fuzz_touch(const void *bytes, uint64_t n)
{
    const volatile unsigned char *p = bytes;
    for (uint64_t i = 0; i < n; i++)
        (void)p[i];
}

/* A text up to its NUL. */
static inline void fuzz_touch_text(const char *text)
{
    for (const volatile char *p = text; *p; p++)
        ;
}

#endif

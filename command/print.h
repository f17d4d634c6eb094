/*
 * Printing for people: numbers with thousands separated, colour on a terminal, errors with their remedy.
 */
#ifndef COMMAND_PRINT_H
#define COMMAND_PRINT_H

#include <reckon/error.h>
#include <reckon/event.h>
#include <reckon/sink.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* "1 234 567" with a thin separator that any terminal has: 1,234,567. */
const char *print_count(uint64_t n, char *buffer, size_t size);

/* "1.2 MB". */
const char *print_bytes(uint64_t n, char *buffer, size_t size);

/* A weight: of "ns" a time, "6.93 ms"; else a number. */
const char *print_amount(uint64_t weight, const char *unit, char *buffer, size_t size);

/* "4 samples", "1 sample". */
const char *print_some(uint64_t n, const char *noun, char *buffer, size_t size);

/* Escape sequences, or "" where `stream` is no terminal, NO_COLOR is set or TERM is dumb. */
struct colours {
    const char *strong, *good, *fair, *bad, *faint, *plain;
};
struct colours print_colours(FILE *stream);

/* Whether `stream` is a terminal on which a line can be written over. */
bool print_cursor(FILE *stream);

/* 1234567.891 with so many decimals: 1,234,567.89. */
const char *print_real(double value, int decimals, char *buffer, size_t size);

/* Whether people's text is UTF-8 here, by LC_ALL, LC_CTYPE, LANG. */
bool print_is_utf8(void);

/* A symbol that ASCII has not, or what stands for it where the locale has none. */
static inline const char *print_symbol(const char *symbol, const char *plain)
{
    return print_is_utf8() ? symbol : plain;
}
#define print_ellipsis() print_symbol("\u2026", "...")

/* Text of ours, in place: where the locale has no ±, µ and ellipsis, what stands for them. No longer than it was. */
char *print_in_locale(char *text);

/* The library's words; where the locale has no ellipsis, three dots. */
void print_text(FILE *to, const char *text);

/* The last part of a path. */
const char *print_last_part(const char *path);

/* Columns that a text takes: bytes that begin a character. */
size_t print_columns(const char *text);

/* `first`, then the words of `text` up to so many columns, further lines indented; a newline. */
void print_wrapped(FILE *to, size_t width, size_t indent, const char *first, const char *text);

/* Columns of the terminal that `stream` is; SIZE_MAX: it is none, and lines have no end. */
size_t print_width(FILE *stream);

/* "reckon VERB: what" and "  fix: remedy", to stderr. Returns STATUS_FAILED. */
int print_error(const char *verb, const struct rk_error *e);

/* print_error() for event text: shows it with a caret below the mistake. Returns STATUS_USAGE. */
int print_event_error(const char *verb, const char *text, const struct rk_error *e);

/* A text from outside, with control characters made visible, so that a name can't drive the terminal. */
const char *print_safe(const char *text, char *buffer, size_t size);

/* A command as it would be typed: what sh would act upon is quoted. Cut with an ellipsis behind `most` bytes of words. */
void print_words(FILE *to, char *const *words, size_t most);

/* A JSON string, or null; bytes that are no UTF-8 become U+FFFD. */
void print_json_text(FILE *to, const char *text);

/* A field of CSV, quoted (RFC 4180) where it must be. */
void print_csv_text(FILE *to, const char *text);

/* A sink into a stdio stream. */
struct rk_sink print_sink(FILE *stream);

#endif

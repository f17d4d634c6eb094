/*
 * Writing text into a caller's sink: buffered, with one sticky error, so that a writer writes straight
 * through and asks once at its end (output_end).
 *
 *     struct output out = output_to(sink);
 *     output_format(&out, "%s %d\n", name, n);
 *     return output_end(&out);
 */
#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

#include <reckon/sink.h>

struct output {
    const struct rk_sink *sink;
    int error; /* the first -errno; nothing is written after it */
    size_t n;
    char buffer[8000];
};

struct output output_to(const struct rk_sink *sink);
void output_bytes(struct output *out, const void *bytes, size_t n);
void output_text(struct output *out, const char *text);
void output_hex(struct output *out, const void *bytes, size_t n); /* two digits for each byte */
void output_real(struct output *out, double value); /* shortest that reads back the same, in any locale */
void output_format(struct output *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Flushes. 0, or the first -errno. */
int output_end(struct output *out);

/* The error of a failed export, filled in: what the sink said. */
int output_fail(int code, struct rk_error *e);

#endif

#include "base/output.h"

#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct output output_to(const struct rk_sink *sink)
{
    return (struct output){.sink = sink};
}

static void flush(struct output *out)
{
    if (out->n > 0 && !out->error)
        out->error = out->sink->write(out->sink->context, out->buffer, out->n);
    out->n = 0;
}

void output_bytes(struct output *out, const void *bytes, size_t n)
{
    if (n > sizeof out->buffer - out->n)
        flush(out);
    if (n > sizeof out->buffer) {
        if (!out->error)
            out->error = out->sink->write(out->sink->context, bytes, n);
    } else if (n > 0) {
        memcpy(out->buffer + out->n, bytes, n);
        out->n += n;
    }
}

void output_text(struct output *out, const char *text)
{
    output_bytes(out, text, strlen(text));
}

void output_hex(struct output *out, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < n; i++) {
        char two[2] = {"0123456789abcdef"[at[i] >> 4], "0123456789abcdef"[at[i] & 15]};
        output_bytes(out, two, sizeof two);
    }
}

void output_real(struct output *out, double value)
{
    char text[40];

    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    for (char *c = text; *c; c++) /* a host program's locale may write a comma */
        if (!strchr("+-.0123456789e", *c))
            *c = '.';
    output_text(out, text);
}

void output_format(struct output *out, const char *format, ...)
{
    va_list list;

    if (sizeof out->buffer - out->n < 512)
        flush(out);
    va_start(list, format);
    int n = vsnprintf(out->buffer + out->n, sizeof out->buffer - out->n, format, list);
    va_end(list);
    if (n >= 0 && (size_t)n < sizeof out->buffer - out->n) {
        out->n += (size_t)n;
        return;
    }
    if (n < 0) {
        out->error = out->error ? out->error : -EINVAL;
        return;
    }
    char *text = malloc((size_t)n + 1);
    if (!text) {
        out->error = out->error ? out->error : -ENOMEM;
        return;
    }
    va_start(list, format);
    vsnprintf(text, (size_t)n + 1, format, list);
    va_end(list);
    output_bytes(out, text, (size_t)n);
    free(text);
}

int output_end(struct output *out)
{
    flush(out);
    return out->error;
}

int output_fail(int code, struct rk_error *e)
{
    switch (code) {
    case 0:
        return 0;
    case -EPIPE:
        return fail(e, code, RK_STAGE_EXPORT, RK_CAUSE_NO_SPACE, NULL, "the reader of the output has gone");
    case -ENOSPC:
    case -EDQUOT:
        return fail(e, code, RK_STAGE_EXPORT, RK_CAUSE_NO_SPACE, "free some space, or write elsewhere",
                    "no space left for the output");
    case -ENOMEM:
        return fail_memory(e, RK_STAGE_EXPORT);
    default:
        return fail(e, code, RK_STAGE_EXPORT, RK_CAUSE_UNKNOWN, NULL, "writing the output failed: %s",
                    strerror(-code));
    }
}

#include "base/json.h"

#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct json json_to(struct output *out)
{
    return (struct json){.out = out};
}

static void write_text(struct output *out, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t n = strlen(text);

    output_bytes(out, "\"", 1);
    while (n > 0) {
        size_t length = utf8_length(s, n);
        if (length == 0) {
            output_text(out, "\xef\xbf\xbd");
            length = 1;
        } else if (*s == '"' || *s == '\\') {
            output_bytes(out, "\\", 1);
            output_bytes(out, s, 1);
        } else if (*s < 0x20 || *s == 0x7f) {
            output_format(out, "\\u%04x", *s);
        } else {
            output_bytes(out, s, length);
        }
        s += length;
        n -= length;
    }
    output_bytes(out, "\"", 1);
}

static void begin(struct json *j, const char *key)
{
    if (j->comma)
        output_bytes(j->out, ",", 1);
    if (key) {
        write_text(j->out, key);
        output_bytes(j->out, ":", 1);
    }
    j->comma = true;
}

void json_open(struct json *j, const char *key, char bracket)
{
    begin(j, key);
    output_bytes(j->out, &bracket, 1);
    j->comma = false;
}

void json_close(struct json *j, char bracket)
{
    output_bytes(j->out, &bracket, 1);
    j->comma = true;
}

void json_text(struct json *j, const char *key, const char *text)
{
    begin(j, key);
    write_text(j->out, text);
}

void json_u64(struct json *j, const char *key, uint64_t value)
{
    begin(j, key);
    output_format(j->out, "%" PRIu64, value);
}

void json_i64(struct json *j, const char *key, int64_t value)
{
    begin(j, key);
    output_format(j->out, "%" PRId64, value);
}

void json_real(struct json *j, const char *key, double value)
{
    if (!isfinite(value)) {
        json_null(j, key);
        return;
    }
    begin(j, key);
    output_real(j->out, value);
}

void json_bool(struct json *j, const char *key, bool value)
{
    begin(j, key);
    output_text(j->out, value ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
    begin(j, key);
    output_text(j->out, "null");
}

void json_hex(struct json *j, const char *key, uint64_t value)
{
    begin(j, key);
    output_format(j->out, "\"0x%" PRIx64 "\"", value);
}

void json_bytes(struct json *j, const char *key, const void *bytes, size_t n)
{
    begin(j, key);
    output_bytes(j->out, "\"", 1);
    output_hex(j->out, bytes, n);
    output_bytes(j->out, "\"", 1);
}

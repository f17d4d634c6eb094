#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct json json_to(struct output *out)
{
    return (struct json){.out = out};
}

/* Length of the UTF-8 character at s (n bytes left), or 0 where there is none. */
static size_t utf8_length(const unsigned char *s, size_t n)
{
    if (s[0] < 0x80)
        return 1;
    size_t length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || length > n)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    bool beyond = (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f);
    return overlong || beyond ? 0 : length;
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
    char text[40];

    if (!isfinite(value)) {
        json_null(j, key);
        return;
    }
    begin(j, key);
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    for (char *c = text; *c; c++) /* a host program's locale may write a comma */
        if (!strchr("+-.0123456789e", *c))
            *c = '.';
    output_text(j->out, text);
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

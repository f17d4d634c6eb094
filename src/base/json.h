/*
 * JSON, written: commas and quotes come by themselves. `key` is NULL inside an array. Text that is not UTF-8
 * has its bad bytes replaced by U+FFFD; NaN and infinities become null.
 *
 *     struct json j = json_to(&out);
 *     json_open(&j, NULL, '{');
 *     json_text(&j, "name", name);
 *     json_close(&j, '}');
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/output.h"

#include <stdbool.h>

struct json {
    struct output *out;
    bool comma; /* something stands before, at this depth */
};

struct json json_to(struct output *out);
void json_open(struct json *j, const char *key, char bracket); /* '{' or '[' */
void json_close(struct json *j, char bracket);                 /* '}' or ']' */
void json_text(struct json *j, const char *key, const char *text);
void json_u64(struct json *j, const char *key, uint64_t value);
void json_i64(struct json *j, const char *key, int64_t value);
void json_real(struct json *j, const char *key, double value); /* shortest that reads back the same */
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);
void json_hex(struct json *j, const char *key, uint64_t value);                /* "0x7f…", a string */
void json_bytes(struct json *j, const char *key, const void *bytes, size_t n); /* two hex digits for each */

#endif

#include "base/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

size_t utf8_length(const unsigned char *s, size_t n)
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

char *text_show(char *buffer, size_t size, const char *text, size_t n)
{
    static const char cut[] = "…";
    const unsigned char *s = (const unsigned char *)text;
    size_t used = 0, safe = 0; /* safe: up to here, the cut still fits behind it */

    while (n > 0) {
        char piece[8];
        size_t length = utf8_length(s, n), shown = length;
        bool c1 = length == 2 && s[0] == 0xc2 && s[1] < 0xa0; /* control characters above ASCII's */
        if (length == 0 || *s < 0x20 || *s == 0x7f || c1) {
            length = 1;
            shown = (size_t)snprintf(piece, sizeof piece, "\\x%02x", *s);
        } else {
            memcpy(piece, s, length);
        }
        if (used + shown + 1 > size) {
            memcpy(buffer + safe, cut, sizeof cut);
            return buffer;
        }
        memcpy(buffer + used, piece, shown);
        used += shown;
        if (used + sizeof cut <= size)
            safe = used;
        s += length;
        n -= length;
    }
    buffer[used] = '\0';
    return buffer;
}

bool text_number(const char **at, unsigned base, uint64_t limit, uint64_t *ret)
{
    uint64_t value = 0;
    const char *begin = *at;

    for (;; ++*at) {
        unsigned c = (unsigned char)**at;
        unsigned digit = c - '0' <= 9 ? c - '0' : (c | 32) - 'a' <= 5 ? (c | 32) - 'a' + 10 : 16;
        if (digit >= base)
            break;
        if (value > (limit - digit) / base)
            return false;
        value = value * base + digit;
    }
    *ret = value;
    return *at > begin;
}

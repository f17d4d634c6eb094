/*
 * A '*' is tried from the shortest on; only the last one is ever tried again, which is enough: what an earlier one
 * could give, the last one can too. So that no pattern costs more than length × length.
 */
#include "event/glob.h"

#include <string.h>

bool glob_is(const char *pattern, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (pattern[i] == '*' || pattern[i] == '?' || pattern[i] == '[')
            return true;
    return false;
}

/* At the '[': whether c is in the set, and the bytes of it in *ret_n; a '[' that is never closed is itself. */
static bool in_set(const char *set, size_t n, char c, size_t *ret_n)
{
    size_t i = 1;
    bool negated = n > 1 && (set[1] == '!' || set[1] == '^'), in = false;

    i += negated;
    for (size_t first = i; i < n && (set[i] != ']' || i == first); i++) {
        if (i + 2 < n && set[i + 1] == '-' && set[i + 2] != ']') {
            in |= (unsigned char)set[i] <= (unsigned char)c && (unsigned char)c <= (unsigned char)set[i + 2];
            i += 2;
        } else {
            in |= set[i] == c;
        }
    }
    if (i >= n) {
        *ret_n = 1;
        return c == '[';
    }
    *ret_n = i + 1;
    return in != negated;
}

bool glob_match(const char *pattern, size_t n, const char *text)
{
    const char *end = pattern + n, *star = NULL, *tried = NULL;

    while (*text || pattern < end) {
        size_t step = 1;
        if (pattern < end && *pattern == '*') {
            star = ++pattern;
            tried = text;
            continue;
        }
        bool same = pattern < end && *text &&
                    (*pattern == '?'   ? true
                     : *pattern == '[' ? in_set(pattern, (size_t)(end - pattern), *text, &step)
                                       : *pattern == *text);
        if (same) {
            pattern += step;
            text++;
        } else {
            if (!star || !*tried)
                return false;
            pattern = star;
            text = ++tried;
        }
    }
    return true;
}

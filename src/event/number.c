#include "event/number.h"

#include <errno.h>
#include <stdbool.h>

int number_parse(const char *text, size_t n, uint64_t *ret)
{
    bool hex = n > 2 && text[0] == '0' && (text[1] | 0x20) == 'x';
    uint64_t base = hex ? 16 : 10, value = 0;

    if (n == 0)
        return -EINVAL;
    for (size_t i = hex ? 2 : 0; i < n; i++) {
        char c = text[i], lower = (char)(c | 0x20);
        bool letter = hex && lower >= 'a' && lower <= 'f';
        if (!letter && !(c >= '0' && c <= '9'))
            return -EINVAL;
        uint64_t digit = (uint64_t)(letter ? lower - 'a' + 10 : c - '0');
        if (value > (UINT64_MAX - digit) / base)
            return -ERANGE;
        value = value * base + digit;
    }
    *ret = value;
    return 0;
}

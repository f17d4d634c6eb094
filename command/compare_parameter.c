/*
 * Lists and scans. Both become texts: a value is put into the command as it is written.
 *
 * A scan counts in whole numbers of its last decimal: 0.1 to 0.5 by 0.2 is 1, 3, 5 with one decimal, so that no value
 * is ever 0.30000000000000004.
 */
#include "compare_parameter.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS 15 /* of a number, so that no product leaves int64_t */

static int check_name(const char *name, const char **what)
{
    if (!*name || strpbrk(name, "{}")) {
        *what = "a parameter's name is not empty and has no braces";
        return -EINVAL;
    }
    return 0;
}

int parameter_list(const char *name, const char *list, struct parameter *ret, const char **what)
{
    size_t length = strlen(list), most = 1, n = 0;

    if (check_name(name, what) < 0)
        return -EINVAL;
    for (size_t i = 0; i < length; i++)
        most += list[i] == ',';
    if (most > PARAMETER_VALUES) {
        *what = "a list has at most 10000 values";
        return -EINVAL;
    }
    char **values = malloc(most * sizeof *values + length + 1);
    if (!values)
        return -ENOMEM;
    char *to = (char *)(values + most);
    values[n++] = to;
    for (size_t i = 0; i < length; i++) {
        if (list[i] == ',') {
            *to++ = '\0';
            values[n++] = to;
            continue;
        }
        if (list[i] == '\\' && (list[i + 1] == ',' || list[i + 1] == '\\'))
            i++;
        *to++ = list[i];
    }
    *to = '\0';
    *ret = (struct parameter){name, values, n};
    return 0;
}

/* "-1.25" → -125 and 2 decimals. */
static bool number(const char *text, int64_t *ret, unsigned *ret_decimals)
{
    bool negative = *text == '-', point = false;
    unsigned digits = 0, decimals = 0;
    int64_t value = 0;

    for (text += negative; *text; text++) {
        if (*text == '.' && !point) {
            point = true;
            continue;
        }
        if (!isdigit((unsigned char)*text) || ++digits > DIGITS)
            return false;
        value = value * 10 + (*text - '0');
        decimals += point;
    }
    *ret = negative ? -value : value;
    *ret_decimals = decimals;
    return digits > 0;
}

static bool widen(int64_t *value, unsigned have, unsigned want)
{
    for (; have < want; have++)
        if (__builtin_mul_overflow(*value, INT64_C(10), value))
            return false;
    return true;
}

static void print_decimal(char *to, size_t size, int64_t value, unsigned decimals)
{
    uint64_t absolute = value < 0 ? -(uint64_t)value : (uint64_t)value, one = 1;

    for (unsigned i = 0; i < decimals; i++)
        one *= 10;
    if (decimals)
        snprintf(to, size, "%s%" PRIu64 ".%0*" PRIu64, value < 0 ? "-" : "", absolute / one, (int)decimals,
                 absolute % one);
    else
        snprintf(to, size, "%" PRId64, value);
}

int parameter_scan(const char *name, const char *min, const char *max, const char *delta,
                   struct parameter *ret, const char **what)
{
    enum { ROOM = 40 }; /* of a value's text */
    int64_t low, high, step, steps;
    unsigned low_decimals, high_decimals, step_decimals;

    if (check_name(name, what) < 0)
        return -EINVAL;
    *what = "a scan goes from a number to a number by steps of a number, of at most 15 digits";
    if (!number(min, &low, &low_decimals) || !number(max, &high, &high_decimals) ||
        !number(delta ? delta : "1", &step, &step_decimals))
        return -EINVAL;
    unsigned decimals = low_decimals > high_decimals ? low_decimals : high_decimals;
    decimals = step_decimals > decimals ? step_decimals : decimals;
    if (!widen(&low, low_decimals, decimals) || !widen(&high, high_decimals, decimals) ||
        !widen(&step, step_decimals, decimals) || __builtin_sub_overflow(high, low, &steps))
        return -EINVAL;
    *what = "a scan's step is above 0, and its end not below its beginning";
    if (step <= 0 || steps < 0)
        return -EINVAL;
    *what = "a scan has at most 10000 values";
    if (steps / step >= PARAMETER_VALUES)
        return -EINVAL;
    size_t n = (size_t)(steps / step) + 1;
    char **values = malloc(n * (sizeof *values + ROOM));
    if (!values)
        return -ENOMEM;
    char *to = (char *)(values + n);
    for (size_t i = 0; i < n; i++) {
        values[i] = to + i * ROOM;
        print_decimal(values[i], ROOM, low + (int64_t)i * step, decimals);
    }
    *ret = (struct parameter){name, values, n};
    return 0;
}

void parameter_free(struct parameter *parameter)
{
    free(parameter->values);
    parameter->values = NULL;
}

size_t parameter_combinations(const struct parameter *parameters, size_t n, size_t most)
{
    size_t all = 1;

    for (size_t i = 0; i < n; i++)
        if (__builtin_mul_overflow(all, parameters[i].n, &all) || all > most)
            return 0;
    return all;
}

const char *parameter_value(const struct parameter *parameters, size_t n, size_t k, size_t i)
{
    for (size_t j = n - 1; j > i; j--)
        k /= parameters[j].n;
    return parameters[i].values[k % parameters[i].n];
}

/* The parameter whose {name} begins at `at`, or n. */
static size_t named(const char *at, const struct parameter *parameters, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(parameters[i].name);
        if (strncmp(at + 1, parameters[i].name, length) == 0 && at[1 + length] == '}')
            return i;
    }
    return n;
}

bool parameter_used(const char *text, const struct parameter *parameters, size_t n)
{
    for (; *text; text++)
        if (*text == '{' && named(text, parameters, n) < n)
            return true;
    return false;
}

char *parameter_replace(const char *text, const struct parameter *parameters, size_t n, size_t k)
{
    size_t room = strlen(text) + 1;
    char *result = NULL, *to = NULL;

    for (int pass = 0; pass < 2; pass++) { /* the length first */
        for (const char *at = text; *at; at++) {
            size_t i = *at == '{' ? named(at, parameters, n) : n;
            if (i == n) {
                if (to)
                    *to++ = *at;
                continue;
            }
            const char *value = parameter_value(parameters, n, k, i);
            size_t length = strlen(value);
            if (to)
                to = (char *)memcpy(to, value, length) + length;
            else
                room += length;
            at += strlen(parameters[i].name) + 1;
        }
        if (pass == 0 && !(result = to = malloc(room)))
            return NULL;
    }
    *to = '\0';
    return result;
}

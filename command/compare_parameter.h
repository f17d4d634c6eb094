/*
 * Parameters of commands: {name} in a command's text stands for each of the parameter's values in turn.
 */
#ifndef COMMAND_COMPARE_PARAMETER_H
#define COMMAND_COMPARE_PARAMETER_H

#include <stdbool.h>
#include <stddef.h>

#define PARAMETER_VALUES 10000 /* of one parameter at most */

struct parameter {
    const char *name; /* the caller's */
    char **values;    /* one allocation */
    size_t n;
};

/* "a,b,c"; "\," is a comma in a value, "\\" a backslash. 0, -ENOMEM, or -EINVAL and *what. */
int parameter_list(const char *name, const char *list, struct parameter *ret, const char **what);

/* Numbers from min to max by steps of `delta` (NULL: 1), decimals kept exact: 0.1, 0.2 … -EINVAL and *what. */
int parameter_scan(const char *name, const char *min, const char *max, const char *delta,
                   struct parameter *ret, const char **what);

void parameter_free(struct parameter *parameter);

/* How many ways there are to choose a value of each; 0 where that is more than `most`. */
size_t parameter_combinations(const struct parameter *parameters, size_t n, size_t most);

/* The value of the i-th parameter in the k-th combination; the last parameter changes fastest. */
const char *parameter_value(const struct parameter *parameters, size_t n, size_t k, size_t i);

/* Whether there is a {name} of any of them in `text`. */
bool parameter_used(const char *text, const struct parameter *parameters, size_t n);

/* `text` with every {name} replaced, to be freed; NULL: out of memory. Braces around other words are left alone, and
 * what a value brings is not looked at again. */
char *parameter_replace(const char *text, const struct parameter *parameters, size_t n, size_t k);

#endif

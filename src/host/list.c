#include "host/list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_space(const char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\n')
        at++;
    return at;
}

/* A number below CPU_MAX. *at moves behind it, on failure to what is wrong. */
static int take_number(const char **at, uint32_t *ret)
{
    const char *start = *at = skip_space(*at);
    uint32_t value = 0;

    if (*start < '0' || *start > '9')
        return -EINVAL;
    for (; **at >= '0' && **at <= '9'; (*at)++) {
        value = value * 10 + (uint32_t)(**at - '0');
        if (value >= CPU_MAX) {
            *at = start;
            return -ERANGE;
        }
    }
    *at = skip_space(*at);
    *ret = value;
    return 0;
}

/* Marks each number of the text in `have`. A map, so that a long text of large ranges costs no memory. */
static int mark_list(const char **at, unsigned char have[static CPU_MAX])
{
    for (;;) {
        uint32_t first, last;
        int rc = take_number(at, &first);
        if (rc < 0)
            return rc;
        last = first;
        if (**at == '-') {
            const char *start = ++*at;
            rc = take_number(at, &last);
            if (rc < 0)
                return rc;
            if (last < first) {
                *at = start;
                return -EINVAL;
            }
        }
        memset(have + first, 1, last - first + 1);
        if (**at == '\0')
            return 0;
        if (**at != ',')
            return -EINVAL;
        (*at)++;
    }
}

int cpu_list_parse(const char *text, int32_t **ret, size_t *ret_n, size_t *ret_position)
{
    unsigned char have[CPU_MAX] = {0};
    const char *at = text;
    size_t n = 0, filled = 0;
    int rc = mark_list(&at, have);

    if (rc < 0) {
        if (ret_position)
            *ret_position = (size_t)(at - text);
        return rc;
    }
    for (size_t cpu = 0; cpu < CPU_MAX; cpu++)
        n += have[cpu];
    int32_t *cpus = calloc(n, sizeof *cpus);
    if (!cpus)
        return -ENOMEM;
    for (size_t cpu = 0; cpu < CPU_MAX; cpu++)
        if (have[cpu])
            cpus[filled++] = (int32_t)cpu;
    *ret = cpus;
    *ret_n = n;
    return 0;
}

char *cpu_list_print(const int32_t *cpus, size_t n, char *buffer, size_t size)
{
    size_t used = 0;

    buffer[0] = '\0';
    for (size_t i = 0, last; i < n; i = last + 1) {
        char range[32];
        for (last = i; last + 1 < n && cpus[last + 1] == cpus[last] + 1; last++)
            ;
        int got = last > i ? snprintf(range, sizeof range, "%s%d-%d", i ? "," : "", cpus[i], cpus[last])
                           : snprintf(range, sizeof range, "%s%d", i ? "," : "", cpus[i]);
        /* what follows must leave room for the sign that something is missing */
        if (used + (size_t)got + sizeof ",…" > size) {
            snprintf(buffer + used, size - used, "%s…", i ? "," : "");
            break;
        }
        memcpy(buffer + used, range, (size_t)got + 1);
        used += (size_t)got;
    }
    return buffer;
}

/*
 * A PMU's fields: where in config … config4 the value of a term goes.
 *
 *     config:0-7,21         the low eight bits of the value to bits 0 … 7, the ninth to bit 21
 *     config2:4             one bit
 *     config                all of it
 */
#include "host/host.h"
#include "sys/file.h"

#include <errno.h>

#define TEXT_MAX 4096 /* a page: no file of sysfs is longer */

static int take_bit(const char **at, uint32_t *ret)
{
    const char *first = *at;
    uint32_t bit = 0;

    while (**at >= '0' && **at <= '9' && *at - first < 3)
        bit = bit * 10 + (uint32_t)(*(*at)++ - '0');
    if (*at == first || bit > 63)
        return -EBADMSG;
    *ret = bit;
    return 0;
}

int pmu_format_parse(const char *text, uint32_t *ret_word, uint64_t *ret_mask)
{
    uint32_t word = 0, low, high;
    uint64_t mask = 0;

    if (strncmp(text, "config", 6) != 0)
        return -EBADMSG;
    text += 6;
    if (*text >= '1' && *text < '0' + PMU_WORDS)
        word = (uint32_t)(*text++ - '0');
    if (*text == '\0')
        mask = UINT64_MAX;
    else if (*text != ':')
        return -EBADMSG;
    while (*text) { /* at a ':' or a ',' */
        text++;
        if (take_bit(&text, &low) < 0)
            return -EBADMSG;
        high = low;
        if (*text == '-' && (text++, take_bit(&text, &high) < 0))
            return -EBADMSG;
        if (high < low || (*text && *text != ','))
            return -EBADMSG;
        mask |= UINT64_MAX >> (63 - (high - low)) << low;
    }
    *ret_word = word;
    *ret_mask = mask;
    return 0;
}

static int add_name(void *context, const char *name)
{
    struct host_pmu *pmu = context;
    struct pmu_format *format = vector_push(&pmu->formats);

    if (format)
        format->name = strdup(name);
    return format && format->name ? 0 : -ENOMEM;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct pmu_format *)a)->name, ((const struct pmu_format *)b)->name);
}

static void free_formats(struct host_pmu *pmu)
{
    for (size_t i = 0; i < pmu->formats.n; i++)
        free(pmu->formats.items[i].name);
    vector_free(&pmu->formats);
}

/* A PMU without the directory has no field. */
int host_pmu_formats(struct rk_host *host, struct host_pmu *pmu)
{
    char path[PMU_PATH];

    if (!pmu->formats_read.asked) {
        int rc = host_pmu_path(pmu, "format", "", "", path);
        if (rc == 0)
            rc = sys_dir_each(host->root, path, add_name, pmu);
        if (rc == -ENOENT)
            rc = 0;
        if (rc < 0)
            free_formats(pmu);
        if (host_transient(rc))
            return rc;
        if (pmu->formats.n > 1)
            qsort(pmu->formats.items, pmu->formats.n, sizeof *pmu->formats.items, by_name);
        pmu->formats_read.asked = true;
        pmu->formats_read.rc = rc;
    }
    return pmu->formats_read.rc < 0 ? pmu->formats_read.rc : (int)pmu->formats.n;
}

static void read_format(struct rk_host *host, const struct host_pmu *pmu, struct pmu_format *format)
{
    char path[PMU_PATH], text[TEXT_MAX];

    if (format->read.asked)
        return;
    int rc = host_pmu_path(pmu, "format/", format->name, "", path);
    if (rc == 0)
        rc = sys_file_text(host->root, path, text, sizeof text);
    if (rc >= 0)
        rc = pmu_format_parse(text, &format->word, &format->mask);
    format->read.rc = rc;
    format->read.asked = !host_transient(rc);
}

const struct pmu_format *host_pmu_format_at(struct rk_host *host, struct host_pmu *pmu, size_t index)
{
    struct pmu_format *format = &pmu->formats.items[index];

    read_format(host, pmu, format);
    return format;
}

int host_pmu_format(struct rk_host *host, struct host_pmu *pmu, const char *name, size_t n,
                    const struct pmu_format **ret)
{
    int rc = host_pmu_formats(host, pmu);

    for (int i = 0; i < rc; i++) {
        struct pmu_format *format = &pmu->formats.items[i];
        if (strncmp(format->name, name, n) != 0 || format->name[n])
            continue;
        read_format(host, pmu, format);
        if (format->read.rc == 0)
            *ret = format;
        return format->read.rc;
    }
    return rc < 0 ? rc : -ENOENT;
}

void host_pmu_done(struct host_pmu *pmu)
{
    free_formats(pmu);
    for (size_t i = 0; i < pmu->aliases.n; i++) {
        free(pmu->aliases.items[i].name);
        free(pmu->aliases.items[i].terms);
        free(pmu->aliases.items[i].unit);
    }
    vector_free(&pmu->aliases);
}

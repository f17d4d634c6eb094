/*
 * A PMU's aliases: names that sysfs has for some of its events, and what their counts mean.
 */
#include "host/host.h"
#include "sys/file.h"

#include <errno.h>
#include <locale.h>

#define TEXT_MAX 4096 /* a page: no file of sysfs is longer */

/* Files beside an alias' own. */
static bool is_beside(const char *name)
{
    static const char *const suffixes[] = {".scale", ".unit", ".per-pkg", ".snapshot"};
    size_t n = strlen(name);

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t length = strlen(suffixes[i]);
        if (n > length && strcmp(name + n - length, suffixes[i]) == 0)
            return true;
    }
    return false;
}

static int add_name(void *context, const char *name)
{
    struct host_pmu *pmu = context;

    if (is_beside(name))
        return 0;
    struct pmu_alias *alias = vector_push(&pmu->aliases);
    if (alias)
        alias->name = strdup(name);
    return alias && alias->name ? 0 : -ENOMEM;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct pmu_alias *)a)->name, ((const struct pmu_alias *)b)->name);
}

/* A PMU without the directory has no alias. */
int host_pmu_aliases(struct rk_host *host, struct host_pmu *pmu)
{
    char path[PMU_PATH];

    if (!pmu->aliases_read.asked) {
        int rc = host_pmu_path(pmu, "events", "", "", path);
        if (rc == 0)
            rc = sys_dir_each(host->root, path, add_name, pmu);
        if (rc == -ENOENT)
            rc = 0;
        if (rc < 0) {
            for (size_t i = 0; i < pmu->aliases.n; i++)
                free(pmu->aliases.items[i].name);
            vector_free(&pmu->aliases);
        }
        if (host_transient(rc))
            return rc;
        if (pmu->aliases.n > 1)
            qsort(pmu->aliases.items, pmu->aliases.n, sizeof *pmu->aliases.items, by_name);
        pmu->aliases_read.asked = true;
        pmu->aliases_read.rc = rc;
    }
    return pmu->aliases_read.rc < 0 ? pmu->aliases_read.rc : (int)pmu->aliases.n;
}

/* One of the files of the alias, its text or "" where there is none: 0 or -errno. */
static int beside(const struct rk_host *host, const struct host_pmu *pmu, const struct pmu_alias *alias,
                  const char *suffix, char text[static TEXT_MAX])
{
    char path[PMU_PATH];
    int rc = host_pmu_path(pmu, "events/", alias->name, suffix, path);

    if (rc == 0)
        rc = sys_file_text(host->root, path, text, TEXT_MAX);
    if (rc == -ENOENT && *suffix)
        text[rc = 0] = '\0';
    return rc < 0 ? rc : 0;
}

/* Whatever the caller's locale: a number with a point. */
static int read_number(const char *text, double *ret)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    char *end;

    if (!c)
        return -ENOMEM;
    double value = strtod_l(text, &end, c);
    freelocale(c);
    if (end == text || *end || !(value > 0) || value > 1e300)
        return -EBADMSG;
    *ret = value;
    return 0;
}

static int read_texts(const struct rk_host *host, const struct host_pmu *pmu, struct pmu_alias *alias)
{
    char text[TEXT_MAX];
    int rc = beside(host, pmu, alias, ".scale", text);

    alias->scale = 1.0;
    if (rc == 0 && *text)
        rc = read_number(text, &alias->scale);
    if (rc == 0 && (rc = beside(host, pmu, alias, ".per-pkg", text)) == 0)
        alias->per_package = strcmp(text, "1") == 0;
    if (rc == 0 && (rc = beside(host, pmu, alias, ".snapshot", text)) == 0)
        alias->snapshot = strcmp(text, "1") == 0;
    if (rc == 0 && (rc = beside(host, pmu, alias, ".unit", text)) == 0)
        rc = (alias->unit = strdup(text)) ? 0 : -ENOMEM;
    if (rc == 0 && (rc = beside(host, pmu, alias, "", text)) == 0)
        rc = !*text ? -EBADMSG : (alias->terms = strdup(text)) ? 0 : -ENOMEM; /* nothing is no event */
    return rc;
}

static void read_alias(struct rk_host *host, const struct host_pmu *pmu, struct pmu_alias *alias)
{
    if (alias->read.asked)
        return;
    int rc = read_texts(host, pmu, alias);
    if (rc < 0) {
        free(alias->unit);
        free(alias->terms);
        alias->unit = alias->terms = NULL;
    }
    alias->read.rc = rc;
    alias->read.asked = !host_transient(rc);
}

const struct pmu_alias *host_pmu_alias_at(struct rk_host *host, struct host_pmu *pmu, size_t index)
{
    struct pmu_alias *alias = &pmu->aliases.items[index];

    read_alias(host, pmu, alias);
    return alias;
}

int host_pmu_alias(struct rk_host *host, struct host_pmu *pmu, const char *name, size_t n,
                   const struct pmu_alias **ret)
{
    int rc = host_pmu_aliases(host, pmu);

    for (int i = 0; i < rc; i++) {
        struct pmu_alias *alias = &pmu->aliases.items[i];
        if (strncmp(alias->name, name, n) != 0 || alias->name[n])
            continue;
        read_alias(host, pmu, alias);
        if (alias->read.rc == 0)
            *ret = alias;
        return alias->read.rc;
    }
    return rc < 0 ? rc : -ENOENT;
}

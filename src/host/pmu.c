/*
 * PMUs as sysfs shows them: one directory each below /sys/bus/event_source/devices.
 *
 * The names are read at once and sorted; type and core are read per PMU when asked for. Fields and aliases:
 * pmu_format.c, pmu_alias.c.
 *
 * A core PMU is what generic hardware events land on. The kernel has no flag for it in sysfs; what tells it is
 *     cpu                       x86, powerpc, riscv
 *     cpum_cf                   s390
 *     a file `cpus`             cpu_core and cpu_atom of hybrid x86; armv8_pmuv3_0, armv8_cortex_a72,
 *                               apple_icestorm_pmu …: the CPUs that this core PMU exists on. PMUs outside the
 *                               cores have `cpumask`, the CPUs to open them on, instead.
 * To find them all without opening a file of each of a server's hundreds of PMUs: where `cpu` or `cpum_cf` is, it is
 * the only one; else those whose names begin as drivers of cores call theirs are asked first, and the others only
 * where none of them is one.
 */
#include "base/error.h"
#include "host/host.h"
#include "host/list.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#define DEVICES "sys/bus/event_source/devices"

static int add_name(void *context, const char *name)
{
    struct rk_host *host = context;
    struct host_pmu *pmu = vector_push(&host->pmus);

    if (pmu)
        pmu->name = strdup(name);
    return pmu && pmu->name ? 0 : -ENOMEM;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct host_pmu *)a)->name, ((const struct host_pmu *)b)->name);
}

void host_pmus_free(struct rk_host *host)
{
    for (size_t i = 0; i < host->pmus.n; i++) {
        host_pmu_done(&host->pmus.items[i]);
        free(host->pmus.items[i].cpus.items);
        free(host->pmus.items[i].name);
    }
    vector_free(&host->pmus);
    vector_free(&host->cores);
}

int host_pmu_path(const struct host_pmu *pmu, const char *directory, const char *name, const char *suffix,
                  char path[static PMU_PATH])
{
    int n = snprintf(path, PMU_PATH, DEVICES "/%s/%s%s%s", pmu->name, directory, name, suffix);

    return n < PMU_PATH ? 0 : -ENAMETOOLONG;
}

/* The names; 0 or -errno. */
static int read_names(struct rk_host *host)
{
    if (host->pmus_read.asked)
        return host->pmus_read.rc;
    int rc = sys_dir_each(host->root, DEVICES, add_name, host);
    if (rc < 0)
        host_pmus_free(host);
    if (host_transient(rc)) /* the next question may get an answer */
        return rc;
    if (host->pmus.n > 1)
        qsort(host->pmus.items, host->pmus.n, sizeof *host->pmus.items, by_name);
    host->pmus_read.asked = true;
    host->pmus_read.rc = rc;
    return rc;
}

struct host_pmu *host_pmu_find(struct rk_host *host, const char *name, int *ret_rc)
{
    struct host_pmu *found = NULL;
    int rc = read_names(host);

    if (rc == 0 && host->pmus.n > 0) {
        size_t low = 0, high = host->pmus.n;
        while (!found && low < high) {
            size_t middle = low + (high - low) / 2;
            int order = strcmp(name, host->pmus.items[middle].name);
            if (order == 0)
                found = &host->pmus.items[middle];
            else if (order < 0)
                high = middle;
            else
                low = middle + 1;
        }
    }
    if (!found)
        *ret_rc = rc < 0 ? rc : -ENOENT;
    return found;
}

int host_pmu_type(struct rk_host *host, struct host_pmu *pmu, uint32_t *ret)
{
    struct host_answer *type = &pmu->type;
    char path[PMU_PATH];

    if (!type->asked) {
        type->rc = host_pmu_path(pmu, "type", "", "", path);
        if (type->rc == 0)
            type->rc = sys_file_number(host->root, path, &type->value);
        if (type->rc == 0 && (type->value < 0 || type->value > UINT32_MAX))
            type->rc = -EBADMSG;
        type->asked = !host_transient(type->rc);
    }
    if (type->rc == 0)
        *ret = (uint32_t)type->value;
    return type->rc;
}

static bool alone(const char *name)
{
    return strcmp(name, "cpu") == 0 || strcmp(name, "cpum_cf") == 0;
}

/* Whether drivers of cores call theirs so. */
static bool likely(const char *name)
{
    return strncmp(name, "cpu", 3) == 0 || strncmp(name, "armv", 4) == 0 || strncmp(name, "apple_", 6) == 0;
}

/* Kinds that every kernel has and no core. */
static bool never(const char *name)
{
    static const char *const kinds[] = {"breakpoint", "kprobe",     "msr",   "power",
                                        "software",   "tracepoint", "uprobe"};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(name, kinds[i]) == 0)
            return true;
    return strncmp(name, "uncore_", 7) == 0 || strncmp(name, "cstate_", 7) == 0;
}

int host_pmu_core(struct rk_host *host, struct host_pmu *pmu)
{
    struct host_answer *core = &pmu->core;
    char path[PMU_PATH];

    if (!core->asked) {
        core->value = alone(pmu->name);
        if (!core->value && !never(pmu->name) && host_pmu_path(pmu, "cpus", "", "", path) == 0) {
            _cleanup_close_ int fd = sys_open_at(host->root, path, O_RDONLY, 0);
            if (host_transient(fd))
                return fd;
            core->value = fd >= 0;
        }
        core->asked = true;
    }
    return (int)core->value;
}

static int add_core(struct rk_host *host, struct host_pmu *pmu)
{
    struct host_pmu **at = vector_push(&host->cores);

    if (!at)
        return -ENOMEM;
    *at = pmu;
    return 0;
}

static int find_cores(struct rk_host *host)
{
    int rc = 0, none;
    struct host_pmu *only = host_pmu_find(host, "cpu", &none);

    if (!only)
        only = host_pmu_find(host, "cpum_cf", &none);
    if (only)
        return add_core(host, only);
    for (int round = 0; rc == 0 && round < 2 && host->cores.n == 0; round++)
        for (size_t i = 0; rc == 0 && i < host->pmus.n; i++) {
            struct host_pmu *pmu = &host->pmus.items[i];
            if (likely(pmu->name) != (round == 0))
                continue;
            rc = host_pmu_core(host, pmu);
            if (rc > 0)
                rc = add_core(host, pmu);
        }
    return rc;
}

/* The kernel numbers the leading kind of core first. What has no number stays where it was. */
static void sort_cores(struct rk_host *host)
{
    for (size_t i = 1; i < host->cores.n; i++)
        for (size_t k = i; k > 0; k--) {
            struct host_pmu **at = &host->cores.items[k], *later = at[0];
            uint32_t a, b;
            if (host_pmu_type(host, at[-1], &a) < 0 || host_pmu_type(host, later, &b) < 0 || a <= b)
                break;
            at[0] = at[-1];
            at[-1] = later;
        }
}

int host_cores(struct rk_host *host, struct host_pmu *const **ret)
{
    if (!host->cores_read.asked) {
        int rc = read_names(host);
        if (host_transient(rc))
            return rc;
        if (rc == 0)
            rc = find_cores(host);
        else
            rc = 0; /* no sysfs: it is not told */
        if (rc < 0) {
            vector_free(&host->cores);
            return rc;
        }
        sort_cores(host);
        host->cores_read.asked = true;
    }
    *ret = host->cores.items;
    return (int)host->cores.n;
}

struct host_pmu *host_pmu_at(struct rk_host *host, size_t index)
{
    return &host->pmus.items[index];
}

struct host_pmu *host_pmu_of_type(struct rk_host *host, uint32_t type)
{
    uint32_t got;

    if (read_names(host) < 0)
        return NULL;
    for (size_t i = 0; i < host->pmus.n; i++)
        if (host_pmu_type(host, &host->pmus.items[i], &got) == 0 && got == type)
            return &host->pmus.items[i];
    return NULL;
}

/* An empty cpumask is a PMU that can be opened nowhere now. */
static int read_cpus(struct rk_host *host, struct host_pmu *pmu)
{
    char path[PMU_PATH], text[PMU_PATH * 8];
    int rc = host_pmu_path(pmu, "cpus", "", "", path);

    if (rc == 0)
        rc = sys_file_text(host->root, path, text, sizeof text);
    if (rc == -ENOENT && (rc = host_pmu_path(pmu, "cpumask", "", "", path)) == 0)
        rc = sys_file_text(host->root, path, text, sizeof text);
    if (rc <= 0)
        return rc;
    rc = cpu_list_parse(text, &pmu->cpus.items, &pmu->cpus.n, NULL);
    return rc == -EINVAL || rc == -ERANGE ? -EBADMSG : rc;
}

int host_pmu_cpus(struct rk_host *host, struct host_pmu *pmu, const int32_t **ret, size_t *ret_n)
{
    if (!pmu->cpus_read.asked) {
        pmu->cpus_read.rc = read_cpus(host, pmu);
        pmu->cpus_read.asked = !host_transient(pmu->cpus_read.rc);
    }
    if (pmu->cpus_read.rc < 0)
        return pmu->cpus_read.rc;
    *ret = pmu->cpus.items;
    *ret_n = pmu->cpus.n;
    return 0;
}

int host_pmu_cap(struct rk_host *host, const struct host_pmu *pmu, const char *name, char *buffer,
                 size_t size)
{
    char path[PMU_PATH];
    int rc = host_pmu_path(pmu, "caps/", name, "", path);

    return rc < 0 ? rc : sys_file_text(host->root, path, buffer, size);
}

int host_pmus(struct rk_host *host)
{
    int rc = read_names(host);
    return rc < 0 ? rc : (int)host->pmus.n;
}

size_t rk_host_pmu_count(struct rk_host *host)
{
    if (!host)
        return 0;
    int n = host_pmus(host);
    host->pmus_rc = n < 0 ? n : 0;
    return n < 0 ? 0 : (size_t)n;
}

int rk_host_pmu_get(struct rk_host *host, size_t index, struct rk_pmu *ret)
{
    if (!host || !ret)
        return -EINVAL;
    int rc = host->pmus_rc ? host->pmus_rc : read_names(host);
    host->pmus_rc = 0; /* what passes, such as want of memory, is tried again */
    if (rc < 0)
        return rc;
    if (index >= host->pmus.n)
        return -ERANGE;
    struct host_pmu *pmu = &host->pmus.items[index];
    struct rk_pmu found = {.size = sizeof found, .name = pmu->name};
    rc = host_pmu_type(host, pmu, &found.type);
    if (rc < 0)
        return rc;
    rc = host_pmu_core(host, pmu);
    if (rc < 0)
        return rc;
    found.core = (uint32_t)rc;
    return result_give(ret, &found, sizeof found);
}

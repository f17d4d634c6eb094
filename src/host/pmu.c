/*
 * PMUs as sysfs shows them: one directory each below /sys/bus/event_source/devices.
 *
 * The names are read at once and sorted; type and core are read per PMU when asked for.
 *
 * A core PMU is what generic hardware events land on. The kernel has no flag for it in sysfs; what tells it is
 *     cpu                       x86, powerpc, riscv
 *     cpum_cf                   s390
 *     a file `cpus`             cpu_core and cpu_atom of hybrid x86; armv8_pmuv3_0, armv8_cortex_a72,
 *                               apple_icestorm_pmu …: the CPUs that this core PMU exists on. PMUs outside the
 *                               cores have `cpumask`, the CPUs to open them on, instead.
 */
#include "base/error.h"
#include "host/host.h"
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
    for (size_t i = 0; i < host->pmus.n; i++)
        free(host->pmus.items[i].name);
    vector_free(&host->pmus);
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

    if (!type->asked) {
        char path[512];
        if ((size_t)snprintf(path, sizeof path, DEVICES "/%s/type", pmu->name) < sizeof path)
            type->rc = sys_file_number(host->root, path, &type->value);
        else
            type->rc = -ENAMETOOLONG;
        if (type->rc == 0 && (type->value < 0 || type->value > UINT32_MAX))
            type->rc = -EBADMSG;
        type->asked = !host_transient(type->rc);
    }
    if (type->rc == 0)
        *ret = (uint32_t)type->value;
    return type->rc;
}

int host_pmu_core(struct rk_host *host, struct host_pmu *pmu)
{
    struct host_answer *core = &pmu->core;

    if (!core->asked) {
        char path[512];
        core->value = strcmp(pmu->name, "cpu") == 0 || strcmp(pmu->name, "cpum_cf") == 0;
        if (!core->value &&
            (size_t)snprintf(path, sizeof path, DEVICES "/%s/cpus", pmu->name) < sizeof path) {
            _cleanup_close_ int fd = sys_open_at(host->root, path, O_RDONLY, 0);
            if (host_transient(fd))
                return fd;
            core->value = fd >= 0;
        }
        core->asked = true;
    }
    return (int)core->value;
}

int rk_host_pmu_count(struct rk_host *host)
{
    if (!host)
        return -EINVAL;
    int rc = read_names(host);
    return rc < 0 ? rc : (int)host->pmus.n;
}

int rk_host_pmu(struct rk_host *host, size_t index, struct rk_pmu *ret)
{
    if (!host || !ret)
        return -EINVAL;
    int rc = read_names(host);
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

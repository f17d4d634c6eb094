/*
 * Where each CPU is: /sys/devices/system/cpu/cpuN/topology, the nodes' lists, and the core PMUs' lists of CPUs, by which
 * hybrid and big.LITTLE machines tell their kinds of cores apart.
 *
 * Which CPUs there can be is read once; where one is when it is asked for; the nodes all at once, at the first question,
 * since it is they who list their CPUs.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "host/host.h"
#include "host/list.h"
#include "sys/file.h"

#include <stdio.h>

#define CPUS "sys/devices/system/cpu"
#define NODES "sys/devices/system/node"

/* A list of CPUs in a file: 0 and *ret, which the caller frees, or -errno. */
static int read_list(const struct rk_host *host, const char *path, int32_t **ret, size_t *ret_n)
{
    _cleanup_free_ char *text = NULL;
    size_t n;
    int rc = sys_file_load(host->root, path, 1 << 16, &text, &n);

    if (rc < 0)
        return rc;
    rc = cpu_list_parse(text, ret, ret_n, NULL);
    return rc == -EINVAL || rc == -ERANGE ? -EBADMSG : rc;
}

/* Without that file: those that are online. */
static int read_possible(struct rk_host *host)
{
    const int32_t *online;
    size_t n;
    int rc = read_list(host, CPUS "/possible", &host->possible.items, &host->possible.n);

    if (rc == 0 || host_transient(rc))
        return rc;
    rc = rk_host_cpus(host, &online, &n);
    if (rc < 0)
        return rc;
    host->possible.items = malloc(n * sizeof *online);
    if (!host->possible.items)
        return -ENOMEM;
    memcpy(host->possible.items, online, n * sizeof *online);
    host->possible.n = n;
    return 0;
}

int rk_host_cpus_possible(struct rk_host *host, const int32_t **ret, size_t *ret_n)
{
    if (!host || !ret || !ret_n)
        return -EINVAL;
    if (!host->possible_read.asked) {
        int rc = read_possible(host);
        if (host_transient(rc))
            return rc;
        host->possible_read.asked = true;
        host->possible_read.rc = rc;
    }
    if (host->possible_read.rc < 0)
        return host->possible_read.rc;
    *ret = host->possible.items;
    *ret_n = host->possible.n;
    return 0;
}

/* Where the CPU stands in an ascending list, or -1. */
static int32_t place_in(const int32_t *cpus, size_t n, int32_t cpu)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (cpus[middle] == cpu)
            return (int32_t)middle;
        if (cpus[middle] < cpu)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

static int take_node(void *context, const char *name)
{
    struct rk_host *host = context;
    _cleanup_free_ int32_t *cpus = NULL;
    char path[96], *end;
    size_t n;

    if (strncmp(name, "node", 4) != 0 || strlen(name) > 16)
        return 0;
    long node = strtol(name + 4, &end, 10);
    if (end == name + 4 || *end || node < 0 || node > INT32_MAX)
        return 0;
    snprintf(path, sizeof path, NODES "/%s/cpulist", name);
    int rc = read_list(host, path, &cpus, &n);
    if (rc < 0) /* a node of memory alone has an empty one */
        return host_transient(rc) ? rc : 0;
    for (size_t i = 0; i < n; i++) {
        int32_t at = place_in(host->possible.items, host->possible.n, cpus[i]);
        if (at >= 0)
            host->places[at].node = (int32_t)node;
    }
    return 0;
}

static int read_nodes(struct rk_host *host)
{
    if (host->nodes_read.asked)
        return 0;
    if (!host->places) {
        host->places = calloc(host->possible.n, sizeof *host->places);
        if (!host->places)
            return -ENOMEM;
    }
    for (size_t i = 0; i < host->possible.n; i++)
        host->places[i].node = -1;
    int rc = sys_dir_each(host->root, NODES, take_node, host);
    if (host_transient(rc))
        return rc;
    host->nodes_read.asked = true;
    return 0;
}

/* A number of the CPU's own directory, -1 where there is none; -errno in *rc where that says nothing. */
static int32_t number(const struct rk_host *host, int32_t cpu, const char *file, int *rc)
{
    char path[128];
    int64_t value;

    snprintf(path, sizeof path, CPUS "/cpu%d/%s", cpu, file);
    int got = sys_file_number(host->root, path, &value);
    if (host_transient(got))
        *rc = got;
    return got == 0 && value >= 0 && value <= INT32_MAX ? (int32_t)value : -1;
}

static int32_t thread_of(const struct rk_host *host, int32_t cpu, int *rc)
{
    _cleanup_free_ int32_t *threads = NULL;
    char path[128];
    size_t n;

    snprintf(path, sizeof path, CPUS "/cpu%d/topology/thread_siblings_list", cpu);
    int got = read_list(host, path, &threads, &n);
    if (host_transient(got))
        *rc = got;
    return got == 0 ? place_in(threads, n, cpu) : -1;
}

static const char *type_of(struct rk_host *host, int32_t cpu, int *rc)
{
    struct host_pmu *const *cores;
    const int32_t *cpus;
    size_t n_cpus;
    int n = host_cores(host, &cores);

    if (host_transient(n))
        *rc = n;
    for (int i = 0; n > 1 && i < n; i++) {
        int got = host_pmu_cpus(host, cores[i], &cpus, &n_cpus);
        if (host_transient(got))
            *rc = got;
        if (got == 0 && place_in(cpus, n_cpus, cpu) >= 0)
            return cores[i]->name;
    }
    return "";
}

static int read_place(struct rk_host *host, struct host_cpu *place, int32_t cpu)
{
    const int32_t *online;
    size_t n;
    int rc = rk_host_cpus(host, &online, &n);

    if (rc < 0)
        return rc;
    place->face = (struct rk_cpu){
        .size = sizeof place->face,
        .cpu = cpu,
        .thread = thread_of(host, cpu, &rc),
        .core = number(host, cpu, "topology/core_id", &rc),
        .die = number(host, cpu, "topology/die_id", &rc),
        .socket = number(host, cpu, "topology/physical_package_id", &rc),
        .node = place->node,
        .capacity = number(host, cpu, "cpu_capacity", &rc),
        .online = place_in(online, n, cpu) >= 0,
        .type = type_of(host, cpu, &rc),
    };
    return rc;
}

int rk_host_cpu(struct rk_host *host, int32_t cpu, struct rk_cpu *ret)
{
    const int32_t *possible;
    size_t n;

    if (!host || !ret)
        return -EINVAL;
    int rc = rk_host_cpus_possible(host, &possible, &n);
    if (rc < 0)
        return rc;
    int32_t at = place_in(possible, n, cpu);
    if (at < 0)
        return -ENOENT;
    rc = read_nodes(host);
    if (rc < 0)
        return rc;
    struct host_cpu *place = &host->places[at];
    if (!place->read) {
        rc = read_place(host, place, cpu);
        if (rc < 0)
            return rc;
        place->read = true;
    }
    return result_give(ret, &place->face, sizeof place->face);
}

/*
 * What the machine is, as perf's header has it: CPUs and where they are, memory, PMUs; groups of events; the clock.
 *
 *     NRCPUS          u32 available, online
 *     CPUDESC, CPUID  texts                       of /proc/cpuinfo
 *     TOTAL_MEM       u64 KiB
 *     CPU_TOPOLOGY    u32 n, texts: CPUs of each socket; u32 n, texts: of each core; { u32 core, socket } of each CPU;
 *                     u32 n, texts: of each die; u32 die of each CPU
 *     NUMA_TOPOLOGY   u32 n, { u32 node; u64 total, free KiB; text CPUs }
 *     PMU_MAPPINGS    u32 n, { u32 type; text name }
 *     GROUP_DESC      u32 n, { text name; u32 leader, members }
 *     CLOCKID         u64 resolution in ns
 *
 * What can't be read is left out: a recording is none the worse for it.
 */
#include "capture/capture.h"
#include "host/host.h"
#include "host/list.h"
#include "sys/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define CPU_PATH "sys/devices/system/cpu"
#define NODE_PATH "sys/devices/system/node"
#define CPUS_MAX 65536

/* The value behind a key of "key : value" lines; false: none. */
static bool value_of(const char *text, const char *key, char *ret, size_t size)
{
    for (const char *line = text; *line; line = strchrnul(line, '\n'), line += *line == '\n') {
        size_t n = strlen(key);
        if (strncmp(line, key, n) != 0 || !strchr("\t :", line[n]))
            continue;
        const char *at = line + n + strspn(line + n, "\t :");
        snprintf(ret, size, "%.*s", (int)strcspn(at, "\n"), at);
        return true;
    }
    return false;
}

/* The first CPU of /proc/cpuinfo is enough. */
static int put_model(struct rk_capture *c)
{
    char text[4096], model[256], vendor[64], family[32], number[32], stepping[32], id[192];
    _cleanup_close_ int fd = sys_open_at(c->host->root, "proc/cpuinfo", 0, 0);
    int64_t n = fd < 0 ? fd : sys_read(fd, text, sizeof text - 1);
    int r = 0;

    if (n <= 0)
        return 0;
    text[n] = '\0';
    if (value_of(text, "model name", model, sizeof model))
        r = perfdata_writer_text(c->writer, FEATURE_CPUDESC, model);
    if (r == 0 && value_of(text, "vendor_id", vendor, sizeof vendor) &&
        value_of(text, "cpu family", family, sizeof family) &&
        value_of(text, "model", number, sizeof number) &&
        value_of(text, "stepping", stepping, sizeof stepping)) {
        snprintf(id, sizeof id, "%s,%s,%s,%s", vendor, family, number, stepping);
        r = perfdata_writer_text(c->writer, FEATURE_CPUID, id);
    }
    return r;
}

/* A feature that was put together with `r`; what could not be is left out. */
static int give(struct rk_capture *c, unsigned bit, perfdata_bytes *bytes, int r)
{
    if (r == 0)
        return perfdata_writer_feature(c->writer, bit, bytes);
    vector_free(bytes);
    return r == -ENOMEM ? r : 0;
}

static int put_memory(struct rk_capture *c)
{
    perfdata_bytes bytes = {0};
    char text[4096], value[64];
    uint64_t total;

    if (sys_file_text(c->host->root, "proc/meminfo", text, sizeof text) < 0 ||
        !value_of(text, "MemTotal", value, sizeof value) || sscanf(value, "%20" SCNu64, &total) != 1)
        return 0;
    return give(c, FEATURE_TOTAL_MEM, &bytes, bytes_u64(&bytes, total));
}

/* The distinct texts of a file of each CPU: u32 n, texts. */
static int put_lists(struct rk_capture *c, const int32_t *cpus, size_t n, const char *file,
                     perfdata_bytes *to)
{
    size_t at = to->n;
    uint32_t lists = 0;
    char path[128], text[4096], *before = NULL;
    int r = bytes_u32(to, 0);

    for (size_t i = 0; i < n && r == 0; i++) {
        snprintf(path, sizeof path, CPU_PATH "/cpu%d/topology/%s", (int)cpus[i], file);
        r = sys_file_text(c->host->root, path, text, sizeof text);
        /* A list is told by its first CPU. */
        if (r < 0 || strtol(text, &before, 10) != cpus[i]) {
            r = r < 0 ? r : 0;
            continue;
        }
        lists++;
        r = bytes_text(to, text);
    }
    if (r == 0)
        memcpy(to->items + at, &lists, sizeof lists);
    return r;
}

static int put_topology(struct rk_capture *c, const int32_t *cpus, size_t n, uint32_t available)
{
    perfdata_bytes bytes = {0};
    int r = put_lists(c, cpus, n, "core_siblings_list", &bytes);

    if (r == 0)
        r = put_lists(c, cpus, n, "thread_siblings_list", &bytes);
    for (uint32_t cpu = 0; cpu < available && r == 0; cpu++) {
        char path[128];
        int64_t core = -1, socket = -1;
        snprintf(path, sizeof path, CPU_PATH "/cpu%u/topology/core_id", cpu);
        sys_file_number(c->host->root, path, &core);
        snprintf(path, sizeof path, CPU_PATH "/cpu%u/topology/physical_package_id", cpu);
        sys_file_number(c->host->root, path, &socket);
        r = bytes_u32(&bytes, (uint32_t)core);
        if (r == 0)
            r = bytes_u32(&bytes, (uint32_t)socket);
    }
    /* Dies: in a pipe a record's padding would be taken for their number, so that they are always there. */
    size_t dies = bytes.n + sizeof(uint32_t);
    if (r == 0)
        r = put_lists(c, cpus, n, "die_cpus_list", &bytes);
    if (r < 0 && r != -ENOMEM && bytes.n >= dies) { /* before Linux 5.2: none */
        bytes.n = dies;
        r = 0;
    }
    for (uint32_t cpu = 0; cpu < available && r == 0; cpu++) {
        char path[128];
        int64_t die = -1;
        snprintf(path, sizeof path, CPU_PATH "/cpu%u/topology/die_id", cpu);
        sys_file_number(c->host->root, path, &die);
        r = bytes_u32(&bytes, (uint32_t)die);
    }
    return give(c, FEATURE_CPU_TOPOLOGY, &bytes, r);
}

/* CPUs: those that the machine can have, by the largest number, and those that are online. */
static int put_cpus(struct rk_capture *c)
{
    _cleanup_free_ int32_t *present = NULL;
    const int32_t *online;
    size_t present_n = 0, online_n;
    char text[4096];

    int r = rk_host_cpus(c->host, &online, &online_n);
    if (r < 0 || online_n == 0)
        return r == -ENOMEM ? r : 0;
    r = sys_file_text(c->host->root, CPU_PATH "/present", text, sizeof text);
    if (r >= 0)
        r = cpu_list_parse(text, &present, &present_n, NULL);
    if (r == -ENOMEM)
        return r;
    int32_t last = online[online_n - 1];
    if (r == 0 && present_n && present[present_n - 1] > last)
        last = present[present_n - 1];
    if (last >= CPUS_MAX)
        return 0;
    r = perfdata_writer_cpus(c->writer, (uint32_t)last + 1, (uint32_t)online_n);
    return r < 0 ? r : put_topology(c, online, online_n, (uint32_t)last + 1);
}

static int put_node(struct rk_capture *c, int32_t node, perfdata_bytes *to)
{
    char path[128], text[8192];
    uint64_t total = 0, unused = 0;

    snprintf(path, sizeof path, NODE_PATH "/node%d/meminfo", (int)node);
    int r = sys_file_text(c->host->root, path, text, sizeof text);
    if (r < 0)
        return r;
    const char *at = strstr(text, "MemTotal:"), *rest = strstr(text, "MemFree:");
    if (at)
        sscanf(at, "MemTotal: %20" SCNu64, &total);
    if (rest)
        sscanf(rest, "MemFree: %20" SCNu64, &unused);
    snprintf(path, sizeof path, NODE_PATH "/node%d/cpulist", (int)node);
    r = sys_file_text(c->host->root, path, text, sizeof text);
    if (r < 0 || (r = bytes_u32(to, (uint32_t)node)) < 0 || (r = bytes_u64(to, total)) < 0 ||
        (r = bytes_u64(to, unused)) < 0)
        return r;
    return bytes_text(to, text);
}

static int put_nodes(struct rk_capture *c)
{
    _cleanup_free_ int32_t *nodes = NULL;
    perfdata_bytes bytes = {0};
    size_t n = 0;
    char text[4096];

    int r = sys_file_text(c->host->root, NODE_PATH "/online", text, sizeof text);
    if (r >= 0)
        r = cpu_list_parse(text, &nodes, &n, NULL);
    if (r == 0)
        r = bytes_u32(&bytes, (uint32_t)n);
    for (size_t i = 0; i < n && r == 0; i++)
        r = put_node(c, nodes[i], &bytes);
    return give(c, FEATURE_NUMA_TOPOLOGY, &bytes, r);
}

static int put_pmus(struct rk_capture *c)
{
    perfdata_bytes bytes = {0};
    int n = host_pmus(c->host), r = n < 0 ? n : bytes_u32(&bytes, (uint32_t)n);

    for (int i = 0; i < n && r == 0; i++) {
        struct rk_pmu pmu = {.size = sizeof pmu};
        r = rk_host_pmu_get(c->host, (size_t)i, &pmu);
        if (r == 0)
            r = bytes_u32(&bytes, pmu.type);
        if (r == 0)
            r = bytes_text(&bytes, pmu.name);
    }
    return give(c, FEATURE_PMU_MAPPINGS, &bytes, r);
}

/* Groups of more than one, by the events' indexes in the file. */
static int put_groups(struct rk_capture *c)
{
    perfdata_bytes bytes = {0};
    uint32_t groups = 0;
    int r = bytes_u32(&bytes, 0);

    for (uint32_t i = 0; i < c->file_events_n && r == 0; i++) {
        uint32_t members = 0;
        for (uint32_t k = 0; k < c->file_events_n; k++)
            members += set_leader(c->set, c->file_events[k]) == c->file_events[i];
        if (members < 2)
            continue;
        groups++;
        r = bytes_text(&bytes, "{anon_group}");
        if (r == 0)
            r = bytes_u32(&bytes, i);
        if (r == 0)
            r = bytes_u32(&bytes, members);
    }
    if (r == 0)
        memcpy(bytes.items, &groups, sizeof groups);
    return give(c, FEATURE_GROUP_DESC, &bytes, r == 0 && groups == 0 ? -ENOENT : r);
}

static int put_clock(struct rk_capture *c)
{
    perfdata_bytes bytes = {0};

    return set_options(c->set)->flags & RK_SET_CLOCK ? give(c, FEATURE_CLOCKID, &bytes, bytes_u64(&bytes, 1))
                                                     : 0;
}

int capture_machine(struct rk_capture *c)
{
    int (*const parts[])(struct rk_capture *) = {put_cpus, put_model,  put_memory, put_nodes,
                                                 put_pmus, put_groups, put_clock};
    int r = 0;

    for (size_t i = 0; i < sizeof parts / sizeof *parts && r == 0; i++)
        r = parts[i](c);
    return r;
}

/*
 * The names that every Linux has: generic hardware events, cache events, software events, with what they mean.
 */
#include "base/abi.h"
#include "event/names.h"
#include "host/host.h"
#include "list/list.h"

#include <stdio.h>

#define N(array) (sizeof(array) / sizeof *(array))

static const char *const hardware[] = {
    [HW_CYCLES] = "cycles of the core, at whatever frequency it runs",
    [HW_INSTRUCTIONS] = "instructions retired",
    [HW_CACHE_REFERENCES] = "accesses to the last cache, mostly; vendors differ",
    [HW_CACHE_MISSES] = "accesses to the last cache that missed it",
    [HW_BRANCHES] = "branches retired",
    [HW_BRANCH_MISSES] = "branches that were predicted wrong",
    [HW_BUS_CYCLES] = "cycles of the bus, at a constant frequency",
    [HW_STALLED_FRONTEND] = "cycles without an instruction to begin with",
    [HW_STALLED_BACKEND] = "cycles in which no instruction could go on",
    [HW_REF_CYCLES] = "cycles at a constant reference frequency",
};

static const char *const software[] = {
    [SW_CPU_CLOCK] = "time on the CPU, by a timer: what samples where there are no cycles",
    [SW_TASK_CLOCK] = "time that the program ran, on all of its CPUs",
    [SW_PAGE_FAULTS] = "page faults, minor and major",
    [SW_CONTEXT_SWITCHES] = "times that it was switched out",
    [SW_CPU_MIGRATIONS] = "times that it moved to another CPU",
    [SW_PAGE_FAULTS_MIN] = "page faults without input or output",
    [SW_PAGE_FAULTS_MAJ] = "page faults that read from a disk",
    [SW_ALIGNMENT_FAULTS] = "unaligned accesses that the kernel had to handle; never on x86",
    [SW_EMULATION_FAULTS] = "instructions that the kernel had to emulate",
    [SW_DUMMY] = "counts nothing; carries records of mappings and tasks",
    [SW_BPF_OUTPUT] = "what a BPF program writes for its reader",
    [SW_CGROUP_SWITCHES] = "switches to a task of another cgroup",
};

static const char *const caches[] = {"L1 data cache",     "L1 instruction cache", "last-level cache",
                                     "data TLB",          "instruction TLB",      "branch predictor",
                                     "this node's memory"};
static const char *const operations[] = {"loads", "stores", "prefetches"};
/* Operations that mean something, a bit for each: nothing is stored through an instruction cache. */
static const unsigned char meaningful[] = {7, 5, 7, 7, 1, 1, 7};

static const struct trial_place here = {.cpu = -1};

/* What sysfs calls them, where it has them. */
static const char *const aliases[] = {
    [HW_CYCLES] = "cpu-cycles",
    [HW_INSTRUCTIONS] = "instructions",
    [HW_CACHE_REFERENCES] = "cache-references",
    [HW_CACHE_MISSES] = "cache-misses",
    [HW_BRANCHES] = "branch-instructions",
    [HW_BRANCH_MISSES] = "branch-misses",
    [HW_BUS_CYCLES] = "bus-cycles",
    [HW_STALLED_FRONTEND] = "stalled-cycles-frontend",
    [HW_STALLED_BACKEND] = "stalled-cycles-backend",
    [HW_REF_CYCLES] = "ref-cycles",
};

/*
 * What it is on the core PMU, or on the first of several: by its fields where sysfs has an alias, else by its name. Costs
 * some files for each, and so is made only where it is shown. 0 or -errno.
 */
static int encode_core(struct gather *g, struct rk_list_entry *entry, const char *alias_name, char *to,
                       size_t size)
{
    struct host_pmu *const *cores;
    const struct pmu_alias *alias;
    int n = g->options.flags & RK_LIST_LONG ? host_cores(g->host, &cores) : 0;

    if (n <= 0)
        return host_transient(n) ? n : 0;
    int rc = alias_name ? host_pmu_alias(g->host, cores[0], alias_name, strlen(alias_name), &alias) : -ENOENT;
    if (host_transient(rc))
        return rc;
    snprintf(to, size, "%s/%s/", cores[0]->name, rc == 0 ? alias->terms : entry->name);
    entry->encoding = to;
    return 0;
}

/* Generic hardware events are what the core PMUs count. */
static bool cores_wanted(const struct gather *g)
{
    struct rk_pmu pmu = {.size = sizeof pmu};
    int n = g->options.pmu ? host_pmus(g->host) : 0;
    bool wanted = !g->options.pmu;

    for (int i = 0; i < n && !wanted; i++)
        wanted = rk_host_pmu_get(g->host, (size_t)i, &pmu) == 0 && pmu.core && gather_pmu(g, pmu.name);
    return wanted;
}

static int add(struct gather *g, struct rk_list_entry *entry, uint32_t type, uint64_t config)
{
    entry->unit = name_unit(type, config);
    entry_encode(entry, type, config);
    if (!gather_wanted(g, entry))
        return 0;
    trial_run(g, entry, &here);
    return gather_add(g, entry);
}

int gather_hardware(struct gather *g)
{
    char encoding[400];

    for (size_t i = 0; cores_wanted(g) && i < N(hardware); i++) {
        struct rk_list_entry entry = entry_new("hardware", abi_event_name(PERF_HARDWARE, i), hardware[i]);
        int rc = encode_core(g, &entry, aliases[i], encoding, sizeof encoding);
        if (rc >= 0)
            rc = add(g, &entry, PERF_HARDWARE, i);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int gather_cache(struct gather *g)
{
    char about[96], encoding[400];

    for (uint64_t i = 0; cores_wanted(g) && i < N(caches) * 6; i++) {
        uint64_t cache = i / 6, operation = i / 2 % 3, missed = i % 2;
        uint64_t config = cache | operation << 8 | missed << 16;
        if (!(meaningful[cache] >> operation & 1))
            continue;
        snprintf(about, sizeof about, "%s: %s%s", caches[cache], operations[operation],
                 missed ? " that missed" : "");
        struct rk_list_entry entry = entry_new("cache", abi_event_name(PERF_HW_CACHE, config), about);
        int rc = encode_core(g, &entry, NULL, encoding, sizeof encoding);
        if (rc >= 0)
            rc = add(g, &entry, PERF_HW_CACHE, config);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int gather_software(struct gather *g)
{
    char encoding[48];
    int rc;
    bool shown = host_pmu_find(g->host, "software", &rc); /* else sysfs is missing, and the name is none */

    for (size_t i = 0; gather_pmu(g, "software") && i < N(software); i++) {
        struct rk_list_entry entry = entry_new("software", abi_event_name(PERF_SOFTWARE, i), software[i]);
        snprintf(encoding, sizeof encoding, "software/config=%#zx/", i);
        entry.encoding = shown ? encoding : "";
        rc = add(g, &entry, PERF_SOFTWARE, i);
        if (rc < 0)
            return rc;
    }
    return 0;
}

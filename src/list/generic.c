/*
 * The names that every Linux has: generic hardware events, cache events, software events, with what they mean.
 */
#include "base/abi.h"
#include "event/names.h"
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

/* Generic hardware events are what the core PMUs count. */
static bool cores_wanted(const struct gather *g)
{
    struct rk_pmu pmu = {.size = sizeof pmu};
    int n = g->options.pmu ? rk_host_pmu_count(g->host) : 0;
    bool wanted = !g->options.pmu;

    for (int i = 0; i < n && !wanted; i++)
        wanted = rk_host_pmu(g->host, (size_t)i, &pmu) == 0 && pmu.core && gather_pmu(g, pmu.name);
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
    for (size_t i = 0; cores_wanted(g) && i < N(hardware); i++) {
        struct rk_list_entry entry = entry_new("hardware", name_of(PERF_HARDWARE, i), hardware[i]);
        int rc = add(g, &entry, PERF_HARDWARE, i);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int gather_cache(struct gather *g)
{
    char about[96];

    for (uint64_t i = 0; cores_wanted(g) && i < N(caches) * 6; i++) {
        uint64_t cache = i / 6, operation = i / 2 % 3, missed = i % 2;
        uint64_t config = cache | operation << 8 | missed << 16;
        if (!(meaningful[cache] >> operation & 1))
            continue;
        snprintf(about, sizeof about, "%s: %s%s", caches[cache], operations[operation],
                 missed ? " that missed" : "");
        struct rk_list_entry entry = entry_new("cache", name_of(PERF_HW_CACHE, config), about);
        int rc = add(g, &entry, PERF_HW_CACHE, config);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int gather_software(struct gather *g)
{
    char encoding[48];

    for (size_t i = 0; gather_pmu(g, "software") && i < N(software); i++) {
        struct rk_list_entry entry = entry_new("software", name_of(PERF_SOFTWARE, i), software[i]);
        snprintf(encoding, sizeof encoding, "software/config=%#zx/", i);
        entry.encoding = encoding;
        int rc = add(g, &entry, PERF_SOFTWARE, i);
        if (rc < 0)
            return rc;
    }
    return 0;
}

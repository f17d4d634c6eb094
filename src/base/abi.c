#include "base/abi.h"

#include <stddef.h>

#define N(array) (sizeof(array) / sizeof *(array))

static const char *const hardware[] = {
    [HW_CYCLES] = "cycles",
    [HW_INSTRUCTIONS] = "instructions",
    [HW_CACHE_REFERENCES] = "cache-references",
    [HW_CACHE_MISSES] = "cache-misses",
    [HW_BRANCHES] = "branches",
    [HW_BRANCH_MISSES] = "branch-misses",
    [HW_BUS_CYCLES] = "bus-cycles",
    [HW_STALLED_FRONTEND] = "stalled-cycles-frontend",
    [HW_STALLED_BACKEND] = "stalled-cycles-backend",
    [HW_REF_CYCLES] = "ref-cycles",
};

static const char *const software[] = {
    [SW_CPU_CLOCK] = "cpu-clock",
    [SW_TASK_CLOCK] = "task-clock",
    [SW_PAGE_FAULTS] = "page-faults",
    [SW_CONTEXT_SWITCHES] = "context-switches",
    [SW_CPU_MIGRATIONS] = "cpu-migrations",
    [SW_PAGE_FAULTS_MIN] = "minor-faults",
    [SW_PAGE_FAULTS_MAJ] = "major-faults",
    [SW_ALIGNMENT_FAULTS] = "alignment-faults",
    [SW_EMULATION_FAULTS] = "emulation-faults",
    [SW_DUMMY] = "dummy",
    [SW_BPF_OUTPUT] = "bpf-output",
    [SW_CGROUP_SWITCHES] = "cgroup-switches",
};

#define CACHE(name)                                                                   \
    {                                                                                 \
        {name "-loads", name "-load-misses"}, {name "-stores", name "-store-misses"}, \
        {                                                                             \
            name "-prefetches", name "-prefetch-misses"                               \
        }                                                                             \
    }
static const char *const caches[7][3][2] = {
    CACHE("L1-dcache"), CACHE("L1-icache"), CACHE("LLC"),  CACHE("dTLB"),
    CACHE("iTLB"),      CACHE("branch"),    CACHE("node"),
};
#undef CACHE

const char *abi_event_name(uint32_t type, uint64_t config)
{
    if (type == PERF_HARDWARE && config < N(hardware))
        return hardware[config];
    if (type == PERF_SOFTWARE && config < N(software))
        return software[config];
    uint64_t cache = config & 0xff, operation = config >> 8 & 0xff, result = config >> 16;
    if (type == PERF_HW_CACHE && cache < N(caches) && operation < N(*caches) && result < N(**caches))
        return caches[cache][operation][result];
    return NULL;
}

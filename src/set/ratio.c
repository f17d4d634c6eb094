/*
 * The one table of ratios. The kernel has the type of a hybrid CPU's PMU in the upper half of a generic event's config.
 */
#include "set/ratio.h"

#include "base/abi.h"

#define MODES (RK_EVENT_USER | RK_EVENT_KERNEL | RK_EVENT_HYPERVISOR | RK_EVENT_GUEST | RK_EVENT_HOST)
#define CACHES 7
#define OPERATIONS 3

#define MISSES(unit)                          \
    {                                         \
        100, "miss_percent", "% of all " unit \
    }
#define STALLED(unit)                \
    {                                \
        100, "stalled_percent", unit \
    }

static const struct {
    uint32_t above, below;
    struct ratio ratio;
} hardware[] = {
    {HW_INSTRUCTIONS, HW_CYCLES, {1, "ipc", "instructions per cycle"}},
    {HW_BRANCH_MISSES, HW_BRANCHES, MISSES("branches")},
    {HW_CACHE_MISSES, HW_CACHE_REFERENCES, MISSES("cache references")},
    {HW_STALLED_FRONTEND, HW_CYCLES, STALLED("% of all cycles, for want of instructions")},
    {HW_STALLED_BACKEND, HW_CYCLES, STALLED("% of all cycles, for want of resources")},
};

/* Misses of a cache's operation over its accesses. */
static const struct ratio caches[CACHES][OPERATIONS] = {
    {MISSES("L1-dcache loads"), MISSES("L1-dcache stores"), MISSES("L1-dcache prefetches")},
    {MISSES("L1-icache loads"), MISSES("L1-icache stores"), MISSES("L1-icache prefetches")},
    {MISSES("LLC loads"), MISSES("LLC stores"), MISSES("LLC prefetches")},
    {MISSES("dTLB loads"), MISSES("dTLB stores"), MISSES("dTLB prefetches")},
    {MISSES("iTLB loads"), MISSES("iTLB stores"), MISSES("iTLB prefetches")},
    {MISSES("branch loads"), MISSES("branch stores"), MISSES("branch prefetches")},
    {MISSES("node loads"), MISSES("node stores"), MISSES("node prefetches")},
};

uint32_t ratio_core(const struct rk_event *event)
{
    return event->type == PERF_HARDWARE || event->type == PERF_HW_CACHE ? (uint32_t)(event->config >> 32) : 0;
}

const struct ratio *ratio_of(const struct rk_event *above, const struct rk_event *below)
{
    uint32_t x = (uint32_t)above->config, y = (uint32_t)below->config;

    if (above->type != below->type || (above->flags & MODES) != (below->flags & MODES) ||
        ratio_core(above) != ratio_core(below))
        return NULL;
    if (above->type == PERF_HW_CACHE) { /* cache | operation << 8 | result << 16; 0 is access, 1 is miss */
        uint32_t cache = x & 0xff, operation = x >> 8 & 0xff;
        return x >> 16 == 1 && y == (x & 0xffff) && cache < CACHES && operation < OPERATIONS
                   ? &caches[cache][operation]
                   : NULL;
    }
    for (size_t i = 0; above->type == PERF_HARDWARE && i < sizeof hardware / sizeof *hardware; i++)
        if (hardware[i].above == x && hardware[i].below == y)
            return &hardware[i].ratio;
    return NULL;
}

#include "set/ratio.h"

#include "base/abi.h"

#define MODES (RK_EVENT_USER | RK_EVENT_KERNEL | RK_EVENT_HYPERVISOR | RK_EVENT_GUEST | RK_EVENT_HOST)

bool ratio_is(const struct rk_event *above, const struct rk_event *below)
{
    static const struct {
        uint32_t above, below;
    } pairs[] = {
        {HW_INSTRUCTIONS, HW_CYCLES},           {HW_BRANCH_MISSES, HW_BRANCHES},
        {HW_CACHE_MISSES, HW_CACHE_REFERENCES}, {HW_STALLED_FRONTEND, HW_CYCLES},
        {HW_STALLED_BACKEND, HW_CYCLES},
    };
    /* Hybrid CPUs have the PMU's type in the upper half: of different PMUs nothing is a ratio. */
    uint64_t x = above->config & UINT32_MAX, y = below->config & UINT32_MAX;

    if ((above->flags & MODES) != (below->flags & MODES) || above->type != below->type ||
        above->config >> 32 != below->config >> 32)
        return false;
    if (above->type == PERF_HW_CACHE)
        return x >> 16 == 1 && y == (x & 0xffff); /* misses of the same cache and operation's accesses */
    for (size_t i = 0; above->type == PERF_HARDWARE && i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i].above == x && pairs[i].below == y)
            return true;
    return false;
}

/*
 * What is not named but made: raw events, breakpoints, probes in the kernel and in programs. One form for each, tried
 * with an event of that kind that leaves nothing behind: a breakpoint on a variable of this process; a probe that can't
 * be, whose refusal comes behind the check of rights.
 */
#include "base/abi.h"
#include "host/host.h"
#include "list/list.h"

#include <errno.h>

static int add(struct gather *g, struct rk_list_entry *entry, const struct trial_place *place)
{
    entry->form = 1;
    if (!gather_wanted(g, entry))
        return 0;
    trial_run(g, entry, place);
    entry->encoded = 0;
    entry->type = 0;
    entry->config = entry->config1 = entry->config2 = 0;
    return gather_add(g, entry);
}

static int add_raw(struct gather *g)
{
    struct rk_list_entry entry =
        entry_new("raw", "rHEX", "an event of the core PMU by its number, as the processor's manual has it");

    if (g->options.pmu && !gather_pmu(g, "cpu"))
        return 0;
    entry_encode(&entry, PERF_RAW, 0);
    return add(g, &entry, &(struct trial_place){.cpu = -1});
}

static int add_breakpoint(struct gather *g)
{
    static const uint64_t watched = 0;
    struct rk_list_entry entry =
        entry_new("probe", "mem:ADDRESS[/LENGTH][:rwx]", "accesses to an address, by the debug registers");

    if (!gather_pmu(g, "breakpoint"))
        return 0;
    entry_encode(&entry, PERF_BREAKPOINT, 0);
    entry.config1 = (uint64_t)(uintptr_t)&watched;
    entry.config2 = 4;
    return add(g, &entry, &(struct trial_place){.cpu = -1, .bp_type = 2 /* written */});
}

/* A probe PMU. `what` is where attr.config1 points; `no` the errno of a probe that can't be. */
static int add_probe(struct gather *g, const char *pmu_name, const char *form, const char *about,
                     const char *what, int no)
{
    struct rk_list_entry entry = entry_new("probe", form, about);
    int rc;
    struct host_pmu *pmu = host_pmu_find(g->host, pmu_name, &rc);
    uint32_t type;

    if (!gather_pmu(g, pmu_name))
        return 0;
    if (!pmu || (rc = host_pmu_type(g->host, pmu, &type)) < 0) {
        if (host_transient(rc))
            return rc;
        entry.form = 1;
        entry.able = RK_ABLE_NO;
        entry.cause = RK_CAUSE_NO_PMU;
        entry.what = host_pmus(g->host) < 0
                         ? "sysfs is not there to tell of it"
                         : "this kernel has no such PMU: it was built without, or is too old";
        return gather_wanted(g, &entry) ? gather_add(g, &entry) : 0;
    }
    entry_encode(&entry, type, 0);
    entry.config1 = (uint64_t)(uintptr_t)what;
    return add(g, &entry, &(struct trial_place){.cpu = -1, .also = no});
}

int gather_probes(struct gather *g)
{
    int rc = add_raw(g);

    if (rc >= 0)
        rc = add_breakpoint(g);
    if (rc >= 0)
        rc = add_probe(g, "kprobe", "kprobe:FUNCTION[+OFFSET]", "a place in the kernel",
                       "reckon no such function", ENOENT);
    if (rc >= 0)
        rc = add_probe(g, "uprobe", "uprobe:PATH:FUNCTION", "a function of a program or library", "", EINVAL);
    return rc;
}

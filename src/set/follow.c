/*
 * Following the CPUs of a machine.
 *
 * When a CPU goes offline the kernel takes its events off it for good: they keep their counts, and count no more, even
 * when the CPU comes back. So a slot has parts: what its descriptors counted so far, and what they count now.
 *
 *     parts[slot]   absent: has no descriptors
 *     values        what earlier descriptors of the slot counted, one per event
 *
 * A CPU that went and came back between two looks is online in both. But the time for which its events were enabled
 * stands still then from one read to the next, which the time of a CPU's events does not do while they are enabled.
 */
#include "set/follow.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "host/host.h"
#include "set/opening.h"
#include "sys/file.h"
#include "sys/limit.h"
#include "sys/perf.h"

#include <errno.h>
#include <string.h>

struct set_part {
    uint64_t absent; /* a word, since values follow */
};

/* The array is one block: a part per slot, then the values, a row per slot. */
static struct rk_value *values_of(const struct rk_set *set, uint32_t slot)
{
    return (struct rk_value *)(void *)(set->parts + set->n_slots) + (size_t)slot * set->n_events;
}

bool follow_absent(struct rk_set *set, uint32_t slot)
{
    return set->parts[slot].absent;
}

void follow_add(struct rk_set *set, uint32_t slot, struct rk_value *ret)
{
    const struct rk_value *before = values_of(set, slot);
    bool absent = set->parts[slot].absent;

    for (uint32_t i = 0; i < set->n_events; i++) {
        struct rk_value now = {0};
        if (!absent)
            now = ret[i];
        ret[i] = (struct rk_value){now.value + before[i].value, now.enabled + before[i].enabled,
                                   now.running + before[i].running};
    }
}

/* Parts for so many slots, those that there are kept: 0 or -ENOMEM. The set's n_slots becomes `slots`. */
static int make_parts(struct rk_set *set, uint32_t slots)
{
    size_t row = set->n_events * sizeof(struct rk_value);
    struct set_part *parts = calloc(slots, sizeof *parts + row);

    if (!parts)
        return -ENOMEM;
    if (set->parts) {
        memcpy(parts, set->parts, set->n_slots * sizeof *parts);
        memcpy(parts + slots, values_of(set, 0), set->n_slots * row);
    }
    for (uint32_t slot = set->n_slots; slot < slots; slot++)
        parts[slot].absent = true;
    free(set->parts);
    set->parts = parts;
    set->n_slots = slots;
    set->plain = false;
    set->only_read = 0;
    return 0;
}

static bool has_cpu(const int32_t *cpus, size_t n, int32_t cpu)
{
    for (size_t i = 0; i < n; i++)
        if (cpus[i] == cpu)
            return true;
    return false;
}

/* Closes the slot's descriptors; their counts become the past's. */
static void close_slot(struct rk_set *set, uint32_t slot)
{
    struct rk_value *values = values_of(set, slot);

    if (rk_set_read(set, slot, set->row, set->n_events) == 0) /* with the past's added already */
        for (uint32_t i = 0; i < set->n_events; i++)
            if (!set->faults[(size_t)slot * set->n_events + i])
                values[i] = set->row[i];
    for (uint32_t i = 0; i < set->n_events; i++) {
        int *fd = &set->fds[(size_t)slot * set->n_events + i];
        if (*fd >= 0)
            sys_close(*fd);
        *fd = -1;
        set->faults[(size_t)slot * set->n_events + i] = 0;
    }
    set->parts[slot].absent = true;
}

/* Opens a slot that is absent: 1; 0 where the CPU is gone again, or its cgroup; -errno. */
static int open_slot(struct rk_set *set, uint32_t slot)
{
    int rc = opening_slot(set, slot);

    if (rc == -ENODEV || rc == -ENOENT || rc == -ENXIO)
        return 0;
    if (rc < 0)
        return rc;
    set->parts[slot].absent = false;
    for (uint32_t g = 0; set->enabled && g < set->n_groups; g++) {
        int fd = fd_of(set, slot, set->members[set->groups[g].first]); /* -1: not its PMU's CPU */
        rc = fd < 0 ? 0 : sys_perf_control(fd, IOC_ENABLE, 0);
        if (rc < 0)
            return rc;
    }
    return 1;
}

/* For how long the slot's first group that is open was enabled; 0 where it can't be read. */
static uint64_t enabled_for(struct rk_set *set, uint32_t slot)
{
    uint32_t g = 0;

    while (g + 1 < set->n_groups && fd_of(set, slot, set->members[set->groups[g].first]) < 0)
        g++;
    int fd = fd_of(set, slot, set->members[set->groups[g].first]);
    int n = fd < 0 ? fd : sys_perf_read(fd, set->words, 3 + 3 * (size_t)set->n_events);

    return n >= 3 * (int)sizeof(uint64_t) ? set->words[1] : 0; /* at the same place in both formats */
}

/* Whether the slot's events are on no CPU any more, though theirs is there: their time stands still. A cgroup's does so
 * whenever nobody runs in it, and tells nothing. */
static bool is_stale(struct rk_set *set, uint32_t slot)
{
    if (!set->enabled || set->n_cgroups)
        return false;
    uint64_t before = enabled_for(set, slot);
    return before && before == enabled_for(set, slot);
}

/* The slots that there are: how many came or went, or -errno. */
static int look_at_slots(struct rk_set *set, const int32_t *cpus, size_t n)
{
    int changed = 0;

    for (uint32_t slot = 0; slot < set->n_slots; slot++) {
        bool online = has_cpu(cpus, n, set->slots[slot].cpu);
        if (!set->parts[slot].absent && (!online || is_stale(set, slot))) {
            close_slot(set, slot);
            changed++;
        }
        if (!set->parts[slot].absent || !online)
            continue;
        int rc = open_slot(set, slot);
        if (rc < 0)
            return rc;
        changed += rc;
    }
    return changed;
}

/* Slots for CPUs that had none: none is open yet. */
static int add_slots(struct rk_set *set, const int32_t *cpus, size_t n)
{
    uint32_t cgroups = set->n_cgroups ? set->n_cgroups : 1, had = set->n_slots, at = had;
    size_t fresh = 0;

    for (size_t i = 0; i < n; i++) {
        bool known = false;
        for (uint32_t slot = 0; slot < had && !known; slot++)
            known = set->slots[slot].cpu == cpus[i];
        fresh += !known;
    }
    if (!fresh && set->parts)
        return 0;
    int rc = opening_room(set, had + fresh * cgroups);
    if (rc == 0)
        rc = make_parts(set, had + (uint32_t)fresh * cgroups);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        bool known = false;
        for (uint32_t slot = 0; slot < had && !known; slot++)
            known = set->slots[slot].cpu == cpus[i];
        for (uint32_t g = 0; !known && g < cgroups; g++)
            set->slots[at++] =
                (struct set_slot){.pid = -1, .cpu = cpus[i], .cgroup = set->n_cgroups ? g : SET_NO_CGROUP};
    }
    return rc;
}

int rk_set_refresh(struct rk_set *set, struct rk_error *e)
{
    _cleanup_free_ int32_t *cpus = NULL;
    size_t n;

    if (!set)
        return fail_null(e, RK_STAGE_OPEN, "rk_set_refresh", "set");
    if (is_forked(set))
        return set_fail(set, RK_STAGE_OPEN, UINT32_MAX, UINT32_MAX, -ESTALE, 0, e);
    if (!set->follows)
        return 0;
    int rc = host_cpus_now(set->host, &cpus, &n);
    if (rc == -ENOMEM)
        return fail_memory(e, RK_STAGE_OPEN);
    if (rc < 0)
        return fail(e, rc, RK_STAGE_HOST, rc == -EMFILE ? RK_CAUSE_DESCRIPTORS : RK_CAUSE_NO_FILE,
                    rc == -EMFILE ? sys_limit_more_descriptors() : NULL, "the online CPUs can't be read: %s",
                    strerror(-rc));
    rc = add_slots(set, cpus, n);
    if (rc == -ENOMEM)
        return fail_memory(e, RK_STAGE_OPEN);
    rc = look_at_slots(set, cpus, n);
    return rc < 0 ? set_fail(set, RK_STAGE_OPEN, UINT32_MAX, set->members[0], rc, 0, e) : rc;
}

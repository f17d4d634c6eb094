/*
 * Slots that come and go: the CPUs of a machine. Threads are in tasks.c.
 *
 * When a CPU goes offline the kernel takes its events off it for good: they keep their counts, and count no more, even
 * when the CPU comes back. So a slot has two parts: what its descriptors counted so far, and what they count now.
 *
 *     parts[slot]   absent: has no descriptors
 *     past          what earlier descriptors of the slot counted: a row per slot, a column per event
 *
 * A CPU that went and came back between two looks is online in both. But the time for which its events were enabled
 * stands still then from one read to the next, which the time of a CPU's events does not do while they are enabled. The
 * time of a cgroup's events stands still whenever nothing of it runs. So a set of cgroups has a watch on each CPU.
 */
#include "set/follow.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "host/host.h"
#include "set/opening.h"
#include "set/policy.h"
#include "set/slot.h"
#include "sys/file.h"
#include "sys/limit.h"
#include "sys/perf.h"

#include <errno.h>
#include <string.h>

static struct rk_value *past_of(const struct rk_set *set, uint32_t slot)
{
    return set->past + (size_t)slot * set->n_events;
}

void follow_add(struct rk_set *set, uint32_t slot, struct rk_value *ret)
{
    const struct rk_value *past = past_of(set, slot);
    bool absent = set->parts[slot].absent;

    for (uint32_t i = 0; i < set->n_events; i++) {
        struct rk_value now = {0};
        if (!absent)
            now = ret[i];
        ret[i] = (struct rk_value){now.value + past[i].value, now.enabled + past[i].enabled,
                                   now.running + past[i].running};
    }
}

int follow_room(struct rk_set *set, size_t slots)
{
    size_t have = set->parts ? set->n_slots : 0, row = set->n_events;
    int rc = opening_room(set, slots);

    if (rc < 0)
        return rc;
    struct rk_value *past = realloc(set->past, slots * row * sizeof *past);
    if (!past)
        return -ENOMEM;
    set->past = past;
    struct set_part *parts = realloc(set->parts, slots * sizeof *parts);
    if (!parts)
        return -ENOMEM; // cppcheck-suppress memleak ; the set has it
    set->parts = parts;
    memset(past + have * row, 0, (slots - have) * row * sizeof *past);
    for (size_t slot = have; slot < slots; slot++)
        parts[slot] = (struct set_part){.absent = slot >= set->n_slots};
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

void follow_close(struct rk_set *set, uint32_t slot)
{
    struct rk_value *past = past_of(set, slot);

    if (rk_set_read(set, slot, set->row, NULL, set->n_events) == 0) /* with the past's added already */
        for (uint32_t i = 0; i < set->n_events; i++)
            if (!set->faults[(size_t)slot * set->n_events + i])
                past[i] = set->row[i];
    slot_close(set, slot);
    memset(&set->faults[(size_t)slot * set->n_events], 0, set->n_events * sizeof *set->faults);
    set->parts[slot].absent = true;
}

int follow_open(struct rk_set *set, uint32_t slot)
{
    int rc = opening_slot(set, slot);

    if (rc == -ENODEV || rc == -ENOENT || rc == -ENXIO || rc == -ESRCH)
        return 0;
    if (rc < 0)
        return rc;
    set->parts[slot].absent = false;
    if (set->clocks && set->enabled)
        sys_perf_control(set->clocks[slot], IOC_ENABLE, 0);
    for (uint32_t g = 0; set->enabled && g < set->n_groups; g++) {
        int fd = fd_of(set, slot, set->members[set->groups[g].first]); /* -1: not its PMU's CPU */
        rc = fd < 0 ? 0 : sys_perf_control(fd, IOC_ENABLE, 0);
        if (rc < 0)
            return rc;
    }
    return 1;
}

/* ---- watches ---- */

static int open_watch(int32_t cpu)
{
    static const struct rk_set_options enabled = {.size = sizeof enabled, .flags = RK_SET_ENABLED};
    struct perf_attr attr;

    policy_clock(&enabled, TARGET_CPUS, false, &attr);
    int fd = sys_perf_open(&attr, -1, cpu, -1, 0);
    return fd < 0 ? -1 : fd;
}

static int add_watch(struct rk_set *set, int32_t cpu)
{
    struct set_watch *watch = vector_push(&set->watches);

    if (!watch)
        return -ENOMEM;
    *watch = (struct set_watch){.cpu = cpu, .fd = open_watch(cpu)};
    return 0;
}

int follow_watch(struct rk_set *set, const struct plan *plan)
{
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < plan->n_slots && plan->slots[i].cgroup == 0; i++)
        rc = add_watch(set, plan->slots[i].cpu);
    return rc;
}

void follow_unwatch(struct rk_set *set)
{
    for (size_t i = 0; i < set->watches.n; i++)
        if (set->watches.items[i].fd >= 0)
            sys_close(set->watches.items[i].fd);
    vector_free(&set->watches);
}

static struct set_watch *watch_of(const struct rk_set *set, int32_t cpu)
{
    for (size_t i = 0; i < set->watches.n; i++)
        if (set->watches.items[i].cpu == cpu)
            return &set->watches.items[i];
    return NULL;
}

/* For how long the event was enabled; 0: it can't be read. */
static uint64_t enabled_for(int fd, uint64_t *words, size_t n)
{
    int got = fd < 0 ? fd : sys_perf_read(fd, words, n);

    return got >= 3 * (int)sizeof(uint64_t) ? words[1] : 0; /* at the same place in both formats */
}

static bool stands_still(struct rk_set *set, int fd)
{
    size_t n = 3 + 3 * (size_t)set->n_events;
    uint64_t before = enabled_for(fd, set->words, n);

    return before && before == enabled_for(fd, set->words, n);
}

/* Looks at each watch, and renews those whose CPU was offline in between. Returns 0 or -ENOMEM. */
static int look_at_watches(struct rk_set *set, const int32_t *cpus, size_t n)
{
    int rc = 0;

    for (size_t i = 0; i < set->watches.n; i++) {
        struct set_watch *watch = &set->watches.items[i];
        bool online = has_cpu(cpus, n, watch->cpu);
        watch->returned = online && watch->fd >= 0 && stands_still(set, watch->fd);
        if (watch->fd >= 0 && (!online || watch->returned)) {
            sys_close(watch->fd);
            watch->fd = -1;
        }
        if (online && watch->fd < 0)
            watch->fd = open_watch(watch->cpu);
    }
    for (size_t i = 0; rc == 0 && i < n; i++)
        if (!watch_of(set, cpus[i]))
            rc = add_watch(set, cpus[i]);
    return rc;
}

/* ---- CPUs ---- */

/* Whether the slot's events are on no CPU any more, though theirs is online. */
static bool is_stale(struct rk_set *set, uint32_t slot)
{
    uint32_t g = 0;

    if (set->n_cgroups) {
        const struct set_watch *watch = watch_of(set, set->slots[slot].cpu);
        return watch && watch->returned;
    }
    while (g + 1 < set->n_groups && fd_of(set, slot, set->members[set->groups[g].first]) < 0)
        g++;
    return set->enabled && stands_still(set, fd_of(set, slot, set->members[set->groups[g].first]));
}

/* The slots that there are: how many came or went, or -errno. */
static int look_at_slots(struct rk_set *set, const int32_t *cpus, size_t n)
{
    int changed = 0;

    for (uint32_t slot = 0; slot < set->n_slots; slot++) {
        bool online = has_cpu(cpus, n, set->slots[slot].cpu);
        if (!set->parts[slot].absent && (!online || is_stale(set, slot))) {
            follow_close(set, slot);
            changed++;
        }
        if (!set->parts[slot].absent || !online)
            continue;
        int rc = follow_open(set, slot);
        if (rc < 0)
            return rc;
        changed += rc;
    }
    return changed;
}

/* Slots for CPUs without one: absent so far. */
static int add_slots(struct rk_set *set, const int32_t *cpus, size_t n)
{
    uint32_t cgroups = set->n_cgroups ? set->n_cgroups : 1, had = set->n_slots;
    int rc = set->parts ? 0 : follow_room(set, had);

    for (size_t i = 0; rc == 0 && i < n; i++) {
        bool known = false;
        for (uint32_t slot = 0; slot < had && !known; slot++)
            known = set->slots[slot].cpu == cpus[i];
        if (!known)
            rc = follow_room(set, (size_t)set->n_slots + cgroups);
        for (uint32_t g = 0; rc == 0 && !known && g < cgroups; g++)
            set->slots[set->n_slots++] =
                (struct set_slot){.pid = -1, .cpu = cpus[i], .cgroup = set->n_cgroups ? g : SET_NO_CGROUP};
    }
    return rc;
}

static int follow_cpus(struct rk_set *set, struct rk_error *e)
{
    _cleanup_free_ int32_t *cpus = NULL;
    size_t n;
    int rc = host_cpus_now(set->host, &cpus, &n);

    if (rc == -ENOMEM)
        return fail_memory(e, RK_STAGE_OPEN);
    if (rc < 0)
        return fail(e, rc, RK_STAGE_HOST, rc == -EMFILE ? RK_CAUSE_DESCRIPTORS : RK_CAUSE_NO_FILE,
                    rc == -EMFILE ? sys_limit_more_descriptors() : NULL, "cannot read the online CPUs: %s",
                    strerror(-rc));
    rc = add_slots(set, cpus, n);
    if (rc == 0 && set->n_cgroups)
        rc = look_at_watches(set, cpus, n);
    if (rc == -ENOMEM)
        return fail_memory(e, RK_STAGE_OPEN);
    rc = look_at_slots(set, cpus, n);
    return rc < 0 ? set_fail(set, RK_STAGE_OPEN, UINT32_MAX, set->members[0], rc, 0, e) : rc;
}

int rk_set_refresh(struct rk_set *set, struct rk_error *e)
{
    if (!set)
        return fail_null(e, RK_STAGE_OPEN, "rk_set_refresh", "set");
    if (is_forked(set))
        return set_fail(set, RK_STAGE_OPEN, UINT32_MAX, UINT32_MAX, -ESTALE, 0, e);
    return set->follows ? follow_cpus(set, e) : set->follows_tasks ? follow_tasks(set, e) : 0;
}

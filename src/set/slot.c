/*
 * Slots by themselves: room for more, and those that come when the set is open already (CPUs that come back).
 */
#include "set/slot.h"

#include "set/descriptor.h"
#include "set/here.h"
#include "set/opening.h"
#include "set/where.h"
#include "sys/perf.h"

void slot_close(struct rk_set *set, uint32_t slot)
{
    int *row = &set->fds[(size_t)slot * set->n_events];

    for (uint32_t i = 0; i < set->n_events; i++)
        descriptor_close(&row[i]);
    if (set->clocks)
        descriptor_close(&set->clocks[slot]);
}

int opening_room(struct rk_set *set, size_t slots)
{
    size_t cells = slots * set->n_events, have = (size_t)set->n_slots * set->n_events;
    struct set_slot *more_slots = realloc(set->slots, slots * sizeof *more_slots);
    set->slots = more_slots ? more_slots : set->slots;
    int *more_fds = realloc(set->fds, cells * sizeof *more_fds);
    set->fds = more_fds ? more_fds : set->fds;
    int32_t *more_faults = realloc(set->faults, cells * sizeof *more_faults);
    set->faults = more_faults ? more_faults : set->faults;

    if (!more_slots || !more_fds || !more_faults || (set->clocks && here_room(set, slots) < 0))
        return -ENOMEM;
    for (size_t i = have; i < cells; i++) {
        set->fds[i] = -1;
        set->faults[i] = 0;
    }
    return 0;
}

static int filter_again(const struct rk_set *set, uint32_t event, int fd)
{
    const char *filter = set->events[event].event.filter;

    return *filter ? sys_perf_control_at(fd, IOC_SET_FILTER, (void *)(uintptr_t)filter) : 0;
}

int opening_slot(struct rk_set *set, uint32_t slot)
{
    uint32_t cgroup = SET_NO_CGROUP;
    int directory = -1, rc = descriptor_cgroup(set, slot, &directory, &cgroup);

    if (rc == 0 && set->clocks)
        rc = here_open(set, slot);
    for (uint32_t g = 0; rc == 0 && g < set->n_groups; g++) {
        const uint32_t *members = &set->members[set->groups[g].first];
        if (!where_is_group(set, &set->groups[g], set->slots[slot].cpu)) {
            set->partial = true;
            continue;
        }
        for (uint32_t m = 0; rc == 0 && m < set->groups[g].n; m++) {
            struct perf_attr attr = set->events[members[m]].attr; /* the kernel writes into it */
            int fd;
            do
                fd = descriptor_call(set, &attr, slot, directory, m ? fd_of(set, slot, members[0]) : -1);
            while (fd == -EINTR);
            if (fd >= 0)
                set->fds[(size_t)slot * set->n_events + members[m]] = fd;
            rc = fd < 0 ? fd : filter_again(set, members[m], fd);
        }
    }
    descriptor_close(&directory);
    if (rc < 0)
        slot_close(set, slot);
    return rc;
}

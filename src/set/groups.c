#include "set/groups.h"

#include "set/where.h"

/* Whether the event is opened with the one that begins the group. */
static bool belongs(const struct set_event *first, const struct set_event *event)
{
    return !event->absent && first->event.group == event->event.group && first->split == event->split &&
           first->split != SPLIT_SINGLE && (first->split != SPLIT_RATIOS || first->part == event->part);
}

/* Groups of the events that are present; each event's leader. */
void groups_arrange(struct rk_set *set)
{
    uint32_t n = 0;

    set->n_groups = 0;
    for (uint32_t i = 0; i < set->n_events; i++)
        set->events[i].leader = UINT32_MAX;
    for (uint32_t i = 0; i < set->n_events; i++) {
        if (set->events[i].absent || set->events[i].leader != UINT32_MAX)
            continue;
        struct set_group *group = &set->groups[set->n_groups++];
        *group = (struct set_group){.first = n};
        for (uint32_t k = i; k < set->n_events; k++) {
            if (set->events[k].event.group != set->events[i].event.group) /* groups are contiguous */
                break;
            if (k != i && (set->events[k].leader != UINT32_MAX || !belongs(&set->events[i], &set->events[k])))
                continue;
            set->members[n++] = k;
            group->n++;
            set->events[k].leader = i;
        }
    }
}

struct policy_place groups_place(const struct rk_set *set, const struct set_group *group, uint32_t event,
                                 bool sampling)
{
    return (struct policy_place){
        .leads = set->members[group->first] == event,
        .carries = sampling && set->members[group->first] == event && where_carries(set, group),
        .members = group->n,
    };
}

/* What the hot calls would else have to find out each time. */
void groups_finish(struct rk_set *set)
{
    set->plain = !set->partial && !set->clocks;
    for (uint32_t i = 0; i < set->n_events; i++) /* and none moved by a group that was split */
        set->plain = set->plain && !set->events[i].absent && set->members[i] == i;
    for (uint32_t g = 0; g < set->n_groups; g++) {
        struct set_group *group = &set->groups[g];
        uint64_t format = set->events[set->members[group->first]].attr.read_format;
        group->together = format & FORMAT_GROUP;
        group->stride = (uint8_t)(1 + !!(format & FORMAT_ID) + !!(format & FORMAT_LOST));
        uint32_t words = group->together ? 3 + group->n * group->stride : 2u + group->stride;
        group->bytes = words * (uint32_t)sizeof *set->words;
        set->plain = set->plain && (group->together || group->n == 1);
    }
    if (set->plain && set->n_groups == 1 && set->groups[0].stride == 1)
        set->only_read = set->groups[0].bytes;
}

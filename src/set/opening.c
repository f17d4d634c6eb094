/*
 * From plan to descriptors.
 *
 * Opening is tried from the beginning, and begun anew whenever the shape changes: an event turns out absent
 * (another may have to lead its group), a weak group is split, or groups can't be read together. Each restart
 * takes something away for good, so that there are at most a few per event; nearly always the first slot already
 * tells, and its groups that the change does not touch stay open.
 *
 * A thread that ends while its process is being opened is no error: its slot is left out. One that is born meanwhile is
 * births.c's affair.
 */
#include "set/opening.h"

#include "base/error.h"
#include "set/descriptor.h"
#include "set/follow.h"
#include "set/here.h"
#include "set/slot.h"
#include "set/where.h"
#include "sys/file.h"
#include "sys/limit.h"
#include "sys/perf.h"
#include "sys/process.h"

#include <errno.h>
#include <string.h>

#define LOOKS 100 /* for threads that were born meanwhile */

void opening_undo(struct rk_set *set)
{
    for (uint32_t slot = 0; slot < set->n_slots; slot++)
        slot_close(set, slot);
    set->n_slots = 0;
}

static int open_group(struct opening *o, uint32_t slot, const struct set_group *group)
{
    struct rk_set *set = o->set;
    const uint32_t *members = &set->members[group->first];
    int leader_fd = -1;

    for (uint32_t m = 0; m < group->n; m++) {
        int rc =
            fd_of(set, slot, members[m]) < 0 ? descriptor_open(o, slot, group, members[m], leader_fd) : 0;
        if (rc != 0)
            return rc;
        if (m == 0)
            leader_fd = fd_of(set, slot, members[m]);
    }
    return 0;
}

#if defined(__aarch64__)
/* Whether the PMU would take the group (policy.c says why the kernel's word on a disabled leader is worth nothing):
 * tried on this very thread, where a leader that waits for an exec is harmless. 0; or what descriptor_open() gives for the
 * member that is too many. */
static int try_fit(struct opening *o, const struct set_group *group)
{
    struct rk_set *set = o->set;
    const uint32_t *members = &set->members[group->first];
    int fds[32], n = 0, code = 0;

    while (n < (int)group->n && n < 32) {
        struct perf_attr attr = set->events[members[n]].attr;
        attr.flags &= ~(ATTR_INHERIT | ATTR_INHERIT_THREAD | ATTR_REMOVE_ON_EXEC | ATTR_SIGTRAP);
        attr.flags |= n == 0 ? ATTR_DISABLED | ATTR_ENABLE_ON_EXEC : 0;
        code = sys_perf_open(&attr, 0, -1, n ? fds[0] : -1, 0);
        if (code < 0)
            break;
        fds[n++] = code;
    }
    int rc = 0;
    if (code == -EINVAL && n > 0)
        rc = descriptor_step_down(o, 0, group, members[n], -1, code);
    while (n > 0)
        sys_close(fds[--n]);
    return rc;
}
#endif

/* Groups whose leader is opened disabled, on what may exec: SELF without children, CPUs and commands are policy.c's. */
static int look_at_fit(struct opening *o, const struct set_group *group)
{
#if defined(__aarch64__)
    const struct rk_set_options *options = &o->set->options;

    if (group->n > 1 && !(options->flags & (RK_SET_ENABLED | RK_SET_ENABLE_ON_EXEC)) &&
        (o->policy.kind == TARGET_THREAD || target_attaches(o->policy.kind) ||
         (o->policy.kind == TARGET_SELF && o->policy.inherit) || options->flags & RK_SET_REMOVE_ON_EXEC))
        return try_fit(o, group);
#endif
    (void)o, (void)group;
    return 0;
}

static int open_slot(struct opening *o, uint32_t slot)
{
    struct rk_set *set = o->set;
    int rc = set->clocks ? here_open(set, slot) : 0;

    if (rc < 0)
        return rc == -ESRCH ? rc : set_fail(set, RK_STAGE_OPEN, slot, UINT32_MAX, rc, 0, o->e);
    for (uint32_t g = 0; rc == 0 && g < set->n_groups; g++) {
        const struct set_group *group = &set->groups[g];
        o->again = 0;
        if (!where_is_group(set, group, set->slots[slot].cpu)) {
            set->partial = true;
            continue;
        }
        if (slot == 0 && (rc = look_at_fit(o, group)) != 0)
            return rc;
        while ((rc = open_group(o, slot, group)) == AGAIN)
            for (uint32_t m = 0; m < group->n; m++)
                descriptor_close(&set->fds[(size_t)slot * set->n_events + set->members[group->first + m]]);
    }
    return rc;
}

/* The plan's slots from `first` on. */
static int open_slots(struct opening *o, uint32_t first)
{
    struct rk_set *set = o->set;
    int rc = 0;

    for (uint32_t i = first; i < o->plan->n_slots; i++) {
        uint32_t slot = set->n_slots++;
        set->slots[slot] = o->plan->slots[i];
        rc = open_slot(o, slot);
        if (rc == -ESRCH && o->plan->n_slots > 1) {
            slot_close(set, slot);
            set->n_slots--;
            continue;
        }
        if (rc != 0)
            return rc;
    }
    return set->n_slots ? 0 : rc; /* *e tells of the last thread that had ended */
}

static bool nobody_born(struct opening *o)
{
    return target_attaches(o->policy.kind) && births_none(&o->births, o->plan->mark);
}

/* A thread born while its parent's group was half open lacks members, and while it lives the group's read fails:
 * only a process that runs meanwhile can do that. */
static bool groups_are_whole(struct opening *o)
{
    struct rk_set *set = o->set;

    if (!o->policy.inherit || o->policy.no_together || set->n_groups == 0 || o->frozen ||
        (o->policy.kind != TARGET_THREAD && !target_attaches(o->policy.kind)) || nobody_born(o))
        return true;
    for (uint32_t slot = 0; slot < set->n_slots; slot++)
        for (uint32_t g = 0; g < set->n_groups; g++)
            if (set->groups[g].n > 1 && fd_of(set, slot, set->members[set->groups[g].first]) >= 0 &&
                descriptor_read_group(fd_of(set, slot, set->members[set->groups[g].first]), set->words,
                                      3 + 3 * (size_t)set->groups[g].n) == -ECHILD)
                return false;
    return true;
}

static bool is_open_as_wanted(const struct rk_set *set, uint32_t event)
{
    const struct set_event *at = &set->events[event];

    return fd_of(set, 0, event) >= 0 && at->opened_leader == at->leader &&
           memcmp(&at->opened_attr, &at->attr, sizeof at->attr) == 0;
}

/* Of the first slot, after a restart: closes the groups that are not open just as they are wanted now. */
static void close_changed(struct rk_set *set)
{
    for (uint32_t g = 0; g < set->n_groups; g++) {
        const uint32_t *members = &set->members[set->groups[g].first];
        bool same = true;
        for (uint32_t m = 0; m < set->groups[g].n; m++)
            same = same && is_open_as_wanted(set, members[m]);
        for (uint32_t m = 0; m < set->groups[g].n && !same; m++)
            descriptor_close(&set->fds[members[m]]);
    }
}

static int open_all(struct opening *o)
{
    struct rk_set *set = o->set;

    for (;;) {
        groups_arrange(set);
        if (!set->n_groups)
            return error_give(o->e, &o->first);
        descriptor_attrs(o);
        close_changed(set);
        int rc = open_slots(o, 0);
        if (rc < 0)
            return rc;
        if (rc == 0) {
            if (groups_are_whole(o))
                return 0;
            o->policy.no_together = true;
        }
        if (set->n_slots > 1)
            opening_undo(set);
        set->n_slots = 0;
    }
}

/* One more thread of the process: 0, or -errno with *e. One that has ended, or would change the shape, is let go. */
static int open_born(struct opening *o, int32_t tid, size_t *ambiguous)
{
    struct rk_set *set = o->set;
    uint32_t first = o->plan->n_slots, before = set->n_slots;

    if (o->policy.sampling && !o->plan->each_cpu) { /* its ring is one thread's */
        ++*ambiguous;
        return 0;
    }
    if (plan_add_thread(o->plan, tid) < 0 || opening_room(set, (size_t)before + o->plan->n_slots - first) < 0)
        return fail_memory(o->e, RK_STAGE_OPEN);
    int rc = open_slots(o, first);
    if (rc == RESTART) {
        for (; set->n_slots > before; set->n_slots--)
            slot_close(set, set->n_slots - 1);
        ++*ambiguous;
    }
    return rc < 0 ? rc : 0;
}

static int follow_births(struct opening *o)
{
    int rc = 0, found = 1;

    if (!target_attaches(o->policy.kind) || o->frozen || nobody_born(o))
        return 0;
    for (int look = 0; rc == 0 && look < LOOKS && found > 0; look++) {
        found = births_look(&o->births, o->target, o->began, o->policy.inherit);
        rc = found == -ENOMEM ? found : 0; /* else: it has ended, and what was opened holds */
        for (size_t i = 0; rc == 0 && found > 0 && i < o->births.missed.n; i++)
            rc = open_born(o, o->births.missed.items[i], &o->births.ambiguous);
    }
    if (rc == -ENOMEM)
        fail_memory(o->e, RK_STAGE_OPEN);
    if (rc == 0 && o->policy.inherit)
        o->births.ambiguous +=
            o->policy.kind == TARGET_TREE ? 0 : o->births.children; /* a tree's were listed */
    if (rc == 0 && o->births.ambiguous &&
        set_note_add(o->set, UINT32_MAX, RK_CAUSE_RACE, false, "freeze the process while it is opened",
                     "%zu threads or children were created while the counters were opened: it is unknown "
                     "which of them "
                     "are counted",
                     o->births.ambiguous) < 0)
        rc = fail_memory(o->e, RK_STAGE_OPEN);
    return rc;
}

static int refuse_senseless(struct opening *o)
{
    for (uint32_t i = 0; i < o->set->n_events; i++) {
        struct rk_error error = {.size = sizeof error};
        const struct rk_event *event = &o->set->events[i].event;
        bool absent = event->flags & RK_EVENT_ABSENT;
        if (absent)
            rk_events_explain(o->plan->events, i, &error);
        if (absent || policy_refuse(&o->set->options, event, &error) < 0 ||
            where_refuse(o->set->host, event, o->plan, &error) < 0) {
            int rc = descriptor_leave_out(o, i, &error);
            if (rc < 0)
                return rc;
        }
    }
    return 0;
}

/* :P and :S are about samples. */
static int note_needless(struct opening *o)
{
    for (uint32_t i = 0; !o->policy.sampling && i < o->set->n_events; i++) {
        const struct rk_event *event = &o->set->events[i].event;
        uint32_t needless = event->flags & (RK_EVENT_PRECISE_MAX | RK_EVENT_SAMPLE_READ);
        if (needless && set_note_add(o->set, i, RK_CAUSE_ARGUMENT, false, "leave it out",
                                     "%s: the modifier %s is about samples, and none are taken", event->name,
                                     needless & RK_EVENT_SAMPLE_READ ? "S" : "P") < 0)
            return fail_memory(o->e, RK_STAGE_OPEN);
    }
    return 0;
}

#define FEW 64 /* descriptors: less than any limit leaves, or the kernel says so (more_descriptors()) */

/* A plan that is small beside the limit is simply tried; not where there are clocks (here.c), which don't try again. */
static int look_after_descriptors(struct opening *o)
{
    int64_t soft = 0;
    uint64_t needed, allowed;

    o->began = sys_boot_ticks();
    if (o->plan->descriptors <= FEW && !o->plan->on_cpus)
        return 0;
    if (!o->plan->on_cpus && sys_limit_get(SYS_LIMIT_NOFILE, &soft, NULL) == 0 &&
        o->plan->descriptors < (uint64_t)soft / 8)
        return 0;
    o->raised = true;
    if (plan_descriptors(false, o->plan->descriptors, &needed, &allowed) == 0)
        return 0;
    return set_fail(o->set, RK_STAGE_OPEN, UINT32_MAX, UINT32_MAX, -EMFILE, needed, o->e);
}

int opening_run(struct rk_set *set, struct plan *plan, const struct rk_target *target, bool frozen,
                struct rk_error *e)
{
    struct rk_error error = {.size = sizeof error}; /* the caller's is filled on failure alone */
    struct opening o = {
        .set = set,
        .plan = plan,
        .target = target,
        .frozen = frozen,
        .directory = -1,
        .policy = {.host = set->host,
                   .options = &set->options,
                   .kind = target->kind,
                   .sampling = plan->sampling,
                   .inherit = plan->inherit},
        .e = &error,
    };

    int rc = look_after_descriptors(&o);
    if (rc == 0 && set->follows && set->n_cgroups && follow_watch(set, plan) < 0)
        rc = fail_memory(&error, RK_STAGE_OPEN);
    for (uint32_t i = 0; rc == 0 && target_attaches(target->kind) && i < plan->n_slots; i++)
        if (births_know(&o.births, plan->slots[i].pid) < 0)
            rc = fail_memory(&error, RK_STAGE_OPEN);
    if (rc == 0)
        rc = refuse_senseless(&o);
    if (rc == 0)
        rc = note_needless(&o);
    if (rc == 0)
        rc = open_all(&o);
    if (rc == 0)
        rc = follow_births(&o);
    descriptor_close(&o.directory);
    births_free(&o.births);
    if (rc < 0)
        return error_give(e, &error);
    groups_finish(set);
    return 0;
}

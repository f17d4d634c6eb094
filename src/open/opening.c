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
#include "open/opening.h"

#include "base/error.h"
#include "host/host.h"
#include "open/births.h"
#include "open/narrow.h"
#include "open/policy.h"
#include "open/where.h"
#include "sys/file.h"
#include "sys/limit.h"
#include "sys/perf.h"
#include "sys/process.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define AGAIN 2   /* the group, from its leader on */
#define AGAINS 20 /* … at most */
#define RESTART 1 /* begin again */
#define LOOKS 100 /* for threads that were born meanwhile */

struct opening {
    struct rk_set *set;
    struct plan *plan;
    const struct rk_target *target;
    struct policy policy;
    uint64_t began;        /* sys_boot_ticks() */
    int again;             /* tries of the group that is being opened */
    struct births births;  /* of what attaches: its threads are known from the beginning */
    bool frozen;           /* the target stands still */
    int directory;         /* of the cgroup that is being opened … */
    uint32_t cgroup;       /* … which is this */
    struct rk_error first; /* why the first absent event is absent */
    bool have_first;
    bool raised;        /* the descriptor limit was looked after */
    struct rk_error *e; /* never NULL */
};

static void close_one(int *fd)
{
    if (*fd >= 0)
        sys_close(*fd);
    *fd = -1;
}

/* Has the directory of the slot's cgroup open, if it has one, until another's is wanted: 0 or -errno. */
static int enter_cgroup(const struct rk_set *set, uint32_t slot, int *directory, uint32_t *cgroup)
{
    uint32_t wanted = set->slots[slot].cgroup;

    if (wanted == SET_NO_CGROUP || (*directory >= 0 && *cgroup == wanted))
        return 0;
    close_one(directory);
    *cgroup = wanted;
    int fd = sys_open_at(set->host->root, set->cgroups[wanted].path, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return fd;
    *directory = fd;
    return 0;
}

static int call_open(const struct rk_set *set, struct perf_attr *attr, uint32_t slot, int directory,
                     int leader_fd)
{
    const struct set_slot *where = &set->slots[slot];

    return sys_perf_open(attr, directory >= 0 ? directory : where->pid, where->cpu, leader_fd,
                         directory >= 0 ? OPEN_PID_CGROUP : 0);
}

void opening_undo(struct rk_set *set)
{
    for (size_t i = 0; i < (size_t)set->n_slots * set->n_events; i++)
        close_one(&set->fds[i]);
    set->n_slots = 0;
}

/* Whether the event is opened with the one that begins the group. */
static bool belongs(const struct set_event *first, const struct set_event *event)
{
    return !event->absent && first->event.group == event->event.group && first->split == event->split &&
           first->split != SPLIT_SINGLE && (first->split != SPLIT_RATIOS || first->part == event->part);
}

/* Groups of the events that are present; each event's leader. */
static void arrange(struct rk_set *set)
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

static struct policy_place place_of(const struct rk_set *set, const struct set_group *group, uint32_t event,
                                    bool sampling)
{
    return (struct policy_place){
        .leads = set->members[group->first] == event,
        .carries = sampling && set->members[group->first] == event && where_carries(set, group),
        .members = group->n,
    };
}

static void build_attrs(struct opening *o)
{
    struct rk_set *set = o->set;

    for (uint32_t g = 0; g < set->n_groups; g++)
        for (uint32_t m = 0; m < set->groups[g].n; m++) {
            uint32_t event = set->members[set->groups[g].first + m];
            struct policy_place place = place_of(set, &set->groups[g], event, o->policy.sampling);
            policy_attr(&o->policy, &set->events[event], &place, &set->events[event].attr);
        }
}

/* Errors that are about one event; the others would meet every event. */
static bool is_events_own(int code)
{
    switch (code) {
    case -ENOENT:
    case -EOPNOTSUPP:
    case -EINVAL:
    case -ENODEV:
    case -ENXIO:
    case -EACCES:
    case -EPERM:
    case -E2BIG:
    case -EBUSY:
    case -ENOSPC:
    case -EOVERFLOW:
        return true;
    default:
        return false;
    }
}

/* `error` says why the event can't be opened: leaves it out where that is wanted, else fails. */
static int leave_out(struct opening *o, uint32_t event, const struct rk_error *error)
{
    struct rk_set *set = o->set;

    if (!set->options.keep || !is_events_own(error->code))
        return error_give(o->e, error);
    if (!o->have_first) {
        o->first = *error;
        o->have_first = true;
    }
    set->events[event].absent = true;
    set->events[event].code = error->code;
    if (set_note_add(set, event, error->cause, true, error->remedy, "%s", error->what) < 0)
        return fail_memory(o->e, RK_STAGE_OPEN);
    return RESTART;
}

/* Out of descriptors although the plan seemed to fit: the process has many open. Once, look and raise the limit. */
static int more_descriptors(struct opening *o, uint32_t slot, uint32_t event)
{
    uint64_t more = o->plan->descriptors - (uint64_t)slot * o->set->n_events - event, needed = 0, allowed;

    if (!o->raised) {
        o->raised = true;
        if (plan_descriptors(more, &needed, &allowed) == 0)
            return 0;
    }
    return set_fail(o->set, RK_STAGE_OPEN, slot, event, -EMFILE, needed, o->e);
}

/* The kernel compares before it counts from now on; one that was to count at once has waited for it (policy.c). */
static int set_filter(struct opening *o, uint32_t slot, uint32_t event)
{
    struct set_event *at = &o->set->events[event];
    struct rk_error error = {.size = sizeof error};
    int *fd = &o->set->fds[(size_t)slot * o->set->n_events + event];
    int rc = sys_perf_control_at(*fd, IOC_SET_FILTER, (void *)(uintptr_t)at->event.filter);
    bool refused = rc == -EINVAL;

    if (rc == 0 && o->policy.options->enabled)
        rc = sys_perf_control(*fd, IOC_ENABLE, 0);
    if (rc == 0)
        return 0;
    set_fail(o->set, RK_STAGE_CONTROL, slot, event, rc, 0, &error);
    if (refused) {
        fail(&error, rc, RK_STAGE_CONTROL, RK_CAUSE_SYNTAX,
             "compare numbers by == != < <= > >= &, texts in quotes by == != ~; reckon list --long has the "
             "fields",
             "%s: the kernel refuses the filter %.120s", at->event.name, at->event.filter);
        fail_event(&error, at->event.name);
    }
    close_one(fd);
    return leave_out(o, event, &error);
}

static int cgroup_gone(const struct opening *o, uint32_t slot, int rc)
{
    return fail(o->e, rc, RK_STAGE_OPEN, rc == -EMFILE ? RK_CAUSE_DESCRIPTORS : RK_CAUSE_NO_FILE,
                rc == -EMFILE ? sys_limit_more_descriptors() : NULL, "the cgroup %.100s can't be opened: %s",
                o->set->cgroups[o->set->slots[slot].cgroup].name,
                rc == -ENOENT ? "it has been removed" : strerror(-rc));
}

/*
 * A leader whose thread has ended takes no siblings any more: ENODEV, or EINVAL. /proc may still show the thread; but
 * another leader there is refused for what is the matter.
 *
 * The same answer comes where the thread lives and has just borne another: the kernel may swap the contexts of two
 * threads that have the same events, and the leader is then its child's, or gone with it. Another try does it.
 */
static bool is_dying(const struct rk_set *set, uint32_t slot, const struct set_group *group)
{
    struct perf_attr attr = set->events[set->members[group->first]].attr;

    if (set->slots[slot].pid <= 0)
        return false;
    int fd = call_open(set, &attr, slot, -1, -1);
    if (fd >= 0)
        sys_close(fd);
    return fd == -ESRCH;
}

/* For narrow_field(): the event that was refused. */
struct refused {
    struct opening *o;
    uint32_t slot;
    int leader_fd;
};

static int open_less(void *context, struct perf_attr *attr, bool grouped)
{
    struct refused *r = context;

    attr->size = policy_attr_size(attr);
    return call_open(r->o->set, attr, r->slot, r->o->directory, grouped ? r->leader_fd : -1);
}

/* The kernel has refused the event: 0 it is to be tried again with less; RESTART; -errno with *e. */
static int step_down(struct opening *o, uint32_t slot, const struct set_group *group, uint32_t event,
                     int leader_fd, int code)
{
    struct rk_set *set = o->set;
    struct policy_place place = place_of(set, group, event, o->policy.sampling);
    struct rk_error error = {.size = sizeof error};
    const char *field = NULL;
    int rc = 0;
    enum policy_step step = policy_step(&o->policy, set, event, &place, code, &rc);

    if (rc < 0)
        return fail_memory(o->e, RK_STAGE_OPEN);
    if (step == STEP_RESTART)
        return RESTART;
    if (step == STEP_RETRY) {
        build_attrs(o);
        return 0;
    }
    if (code == -EINVAL && (leader_fd >= 0 || place.leads)) /* else it was only tried (try_fit) */
        field = narrow_field(&set->events[event].attr, leader_fd >= 0, open_less,
                             &(struct refused){o, slot, leader_fd});
    set_fail_field(set, RK_STAGE_OPEN, slot, event, code, 0, field, &error);
    return leave_out(o, event, &error);
}

static int open_event(struct opening *o, uint32_t slot, const struct set_group *group, uint32_t event,
                      int leader_fd)
{
    struct rk_set *set = o->set;
    struct set_event *at = &set->events[event];
    struct policy_place place = place_of(set, group, event, o->policy.sampling);
    int rc = 0;

    for (;;) {
        struct perf_attr attr = at->attr; /* the kernel writes into it */
        if ((rc = enter_cgroup(set, slot, &o->directory, &o->cgroup)) < 0)
            return cgroup_gone(o, slot, rc);
        int fd = call_open(set, &attr, slot, o->directory, leader_fd);
        if (fd >= 0) {
            set->fds[(size_t)slot * set->n_events + event] = fd;
            at->opened_attr = at->attr;
            at->opened_leader = at->leader;
            o->policy.lost_taken |= (attr.read_format & FORMAT_LOST) != 0;
            return *at->event.filter ? set_filter(o, slot, event) : 0;
        }
        if (fd == -EINTR)
            continue;
        if ((fd == -ENODEV || fd == -EINVAL) && !place.leads && set->slots[slot].pid > 0) {
            if (is_dying(set, slot, group))
                fd = -ESRCH;
            else if (o->policy.inherit && !o->frozen && o->policy.kind != TARGET_COMMAND &&
                     o->again++ < AGAINS)
                return AGAIN;
        }
        if (fd == -EMFILE) {
            if ((rc = more_descriptors(o, slot, event)) < 0)
                return rc;
            continue;
        }
        rc = step_down(o, slot, group, event, leader_fd, fd);
        if (rc != 0)
            return rc;
    }
}

static void close_slot(struct rk_set *set, uint32_t slot)
{
    int *row = &set->fds[(size_t)slot * set->n_events];

    for (uint32_t i = 0; i < set->n_events; i++)
        close_one(&row[i]);
}

static int open_group(struct opening *o, uint32_t slot, const struct set_group *group)
{
    struct rk_set *set = o->set;
    const uint32_t *members = &set->members[group->first];
    int leader_fd = -1;

    for (uint32_t m = 0; m < group->n; m++) {
        int rc = set_fd(set, slot, members[m]) < 0 ? open_event(o, slot, group, members[m], leader_fd) : 0;
        if (rc != 0)
            return rc;
        if (m == 0)
            leader_fd = set_fd(set, slot, members[m]);
    }
    return 0;
}

#if defined(__aarch64__)
/* Whether the PMU would take the group (policy.c says why the kernel's word on a disabled leader is worth nothing):
 * tried on this very thread, where a leader that waits for an exec is harmless. 0; or what open_event() gives for the
 * member that is too many. */
static int try_fit(struct opening *o, const struct set_group *group)
{
    struct rk_set *set = o->set;
    const uint32_t *members = &set->members[group->first];
    int fds[32], n = 0, code = 0;

    while (n < (int)group->n && n < 32) {
        struct perf_attr attr = set->events[members[n]].attr;
        attr.flags &= ~(ATTR_INHERIT | ATTR_INHERIT_THREAD | ATTR_REMOVE_ON_EXEC);
        attr.flags |= n == 0 ? ATTR_DISABLED | ATTR_ENABLE_ON_EXEC : 0;
        code = sys_perf_open(&attr, 0, -1, n ? fds[0] : -1, 0);
        if (code < 0)
            break;
        fds[n++] = code;
    }
    int rc = 0;
    if (code == -EINVAL && n > 0)
        rc = step_down(o, 0, group, members[n], -1, code);
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

    if (group->n > 1 && !options->enabled && !options->enable_on_exec &&
        (o->policy.kind == TARGET_THREAD || target_attaches(o->policy.kind) ||
         (o->policy.kind == TARGET_SELF && o->policy.inherit) || options->remove_on_exec))
        return try_fit(o, group);
#endif
    (void)o, (void)group;
    return 0;
}

static int open_slot(struct opening *o, uint32_t slot)
{
    struct rk_set *set = o->set;
    int rc = 0;

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
                close_one(&set->fds[(size_t)slot * set->n_events + set->members[group->first + m]]);
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
            close_slot(set, slot);
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
            if (set->groups[g].n > 1 && set_fd(set, slot, set->members[set->groups[g].first]) >= 0 &&
                sys_perf_read(set_fd(set, slot, set->members[set->groups[g].first]), set->words,
                              3 + 3 * (size_t)set->groups[g].n) == -ECHILD)
                return false;
    return true;
}

static bool is_open_as_wanted(const struct rk_set *set, uint32_t event)
{
    const struct set_event *at = &set->events[event];

    return set_fd(set, 0, event) >= 0 && at->opened_leader == at->leader &&
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
            close_one(&set->fds[members[m]]);
    }
}

static int open_all(struct opening *o)
{
    struct rk_set *set = o->set;

    for (;;) {
        arrange(set);
        if (!set->n_groups)
            return error_give(o->e, &o->first);
        build_attrs(o);
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

int opening_room(struct rk_set *set, size_t slots)
{
    size_t cells = slots * set->n_events, have = (size_t)set->n_slots * set->n_events;
    struct set_slot *more_slots = realloc(set->slots, slots * sizeof *more_slots);
    set->slots = more_slots ? more_slots : set->slots;
    int *more_fds = realloc(set->fds, cells * sizeof *more_fds);
    set->fds = more_fds ? more_fds : set->fds;
    int32_t *more_faults = realloc(set->faults, cells * sizeof *more_faults);
    set->faults = more_faults ? more_faults : set->faults;

    if (!more_slots || !more_fds || !more_faults)
        return -ENOMEM;
    for (size_t i = have; i < cells; i++) {
        set->fds[i] = -1;
        set->faults[i] = 0;
    }
    return 0;
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
    if (plan_add_thread(set->host, o->plan, tid) < 0 ||
        opening_room(set, (size_t)before + o->plan->n_slots - first) < 0)
        return fail_memory(o->e, RK_STAGE_OPEN);
    int rc = open_slots(o, first);
    if (rc == RESTART) {
        for (; set->n_slots > before; set->n_slots--)
            close_slot(set, set->n_slots - 1);
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
                     "%zu threads or children were born while the counters were opened: which of them are "
                     "counted can't be "
                     "told",
                     o->births.ambiguous) < 0)
        rc = fail_memory(o->e, RK_STAGE_OPEN);
    return rc;
}

static int filter_again(const struct rk_set *set, uint32_t event, int fd)
{
    const char *filter = set->events[event].event.filter;

    return *filter ? sys_perf_control_at(fd, IOC_SET_FILTER, (void *)(uintptr_t)filter) : 0;
}

int opening_slot(struct rk_set *set, uint32_t slot)
{
    uint32_t cgroup = SET_NO_CGROUP;
    int directory = -1, rc = enter_cgroup(set, slot, &directory, &cgroup);

    for (uint32_t g = 0; rc == 0 && g < set->n_groups; g++) {
        const uint32_t *members = &set->members[set->groups[g].first];
        for (uint32_t m = 0; rc == 0 && m < set->groups[g].n; m++) {
            struct perf_attr attr = set->events[members[m]].attr; /* the kernel writes into it */
            int fd;
            do
                fd = call_open(set, &attr, slot, directory, m ? set_fd(set, slot, members[0]) : -1);
            while (fd == -EINTR);
            if (fd >= 0)
                set->fds[(size_t)slot * set->n_events + members[m]] = fd;
            rc = fd < 0 ? fd : filter_again(set, members[m], fd);
        }
    }
    close_one(&directory);
    if (rc < 0)
        close_slot(set, slot);
    return rc;
}

/* What the hot calls would else have to find out each time. */
static void finish_groups(struct rk_set *set)
{
    set->plain = !set->partial;
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

static int refuse_senseless(struct opening *o)
{
    for (uint32_t i = 0; i < o->set->n_events; i++) {
        struct rk_error error = {.size = sizeof error};
        const struct rk_event *event = &o->set->events[i].event;
        if (policy_refuse(&o->set->options, event, &error) < 0 ||
            where_refuse(o->set->host, event, o->plan, &error) < 0) {
            int rc = leave_out(o, i, &error);
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

/* A plan that is small beside the limit is simply tried. */
static int look_after_descriptors(struct opening *o)
{
    int64_t soft = 0;
    uint64_t needed, allowed;

    o->began = sys_boot_ticks();
    if (sys_limit_get(SYS_LIMIT_NOFILE, &soft, NULL) == 0 && o->plan->descriptors < (uint64_t)soft / 8)
        return 0;
    o->raised = true;
    if (plan_descriptors(o->plan->descriptors, &needed, &allowed) == 0)
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
    close_one(&o.directory);
    births_free(&o.births);
    if (rc < 0)
        return error_give(e, &error);
    finish_groups(set);
    return 0;
}

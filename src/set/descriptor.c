#include "set/descriptor.h"

#include "base/error.h"
#include "host/host.h"
#include "set/narrow.h"
#include "sys/file.h"
#include "sys/limit.h"
#include "sys/perf.h"
#include "sys/process.h"

#include <errno.h>
#include <fcntl.h>

#define AGAINS 20                      /* tries of a group, at most */
#define READS_AT_ONCE 20               /* tries to read one, before it is slept between them, … */
#define SLEEP_NS UINT64_C(50000)       /* … so long at first, and twice as long each time, … */
#define SLEEP_NS_MAX UINT64_C(6400000) /* … up to this: 13 ms in all */

void descriptor_close(int *fd)
{
    if (*fd >= 0)
        sys_close(*fd);
    *fd = -1;
}

int descriptor_read_group(int fd, uint64_t *words, size_t n_words)
{
    uint64_t pause = SLEEP_NS;
    int got = sys_perf_read(fd, words, n_words);

    for (int i = 1; got == -ECHILD && pause <= SLEEP_NS_MAX; i++) {
        if (i >= READS_AT_ONCE) {
            sys_sleep_ns(pause);
            pause *= 2;
        }
        got = sys_perf_read(fd, words, n_words);
    }
    return got;
}

int descriptor_cgroup(const struct rk_set *set, uint32_t slot, int *directory, uint32_t *cgroup)
{
    uint32_t wanted = set->slots[slot].cgroup;

    if (wanted == SET_NO_CGROUP || (*directory >= 0 && *cgroup == wanted))
        return 0;
    descriptor_close(directory);
    *cgroup = wanted;
    int fd = sys_open_at(set->host->root, set->cgroups[wanted].path, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return fd;
    *directory = fd;
    return 0;
}

int descriptor_call(const struct rk_set *set, struct perf_attr *attr, uint32_t slot, int directory,
                    int leader_fd)
{
    const struct set_slot *where = &set->slots[slot];

    return sys_perf_open(attr, directory >= 0 ? directory : where->pid, where->cpu, leader_fd,
                         directory >= 0 ? OPEN_PID_CGROUP : 0);
}

void descriptor_attrs(struct opening *o)
{
    struct rk_set *set = o->set;

    for (uint32_t g = 0; g < set->n_groups; g++)
        for (uint32_t m = 0; m < set->groups[g].n; m++) {
            uint32_t event = set->members[set->groups[g].first + m];
            struct policy_place place = groups_place(set, &set->groups[g], event, o->policy.sampling);
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
int descriptor_leave_out(struct opening *o, uint32_t event, const struct rk_error *error)
{
    struct rk_set *set = o->set;

    bool unknown = set->events[event].event.flags & RK_EVENT_ABSENT;
    if (!(set->options.flags & RK_SET_KEEP) || !(unknown || is_events_own(error->code)))
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
        if (plan_descriptors(true, more, &needed, &allowed) == 0)
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

    if (rc == 0 && o->policy.options->flags & RK_SET_ENABLED)
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
    descriptor_close(fd);
    return descriptor_leave_out(o, event, &error);
}

static int cgroup_gone(const struct opening *o, uint32_t slot, int rc)
{
    return fail(o->e, rc, RK_STAGE_OPEN, rc == -EMFILE ? RK_CAUSE_DESCRIPTORS : RK_CAUSE_NO_FILE,
                rc == -EMFILE ? sys_limit_more_descriptors() : NULL, "cannot open the cgroup %.100s: %s",
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
    int fd = descriptor_call(set, &attr, slot, -1, -1);
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
    return descriptor_call(r->o->set, attr, r->slot, r->o->directory, grouped ? r->leader_fd : -1);
}

/* Whether it is the cgroup that the event can't be opened for: on the CPU alone it can be. */
static bool is_cgroups(const struct opening *o, uint32_t slot, uint32_t event)
{
    struct perf_attr attr = o->set->events[event].attr;

    if (o->set->slots[slot].cgroup == SET_NO_CGROUP)
        return false;
    int fd = descriptor_call(o->set, &attr, slot, -1, -1);
    if (fd >= 0)
        sys_close(fd);
    return fd >= 0;
}

/* The kernel has refused the event: 0 it is to be tried again with less; RESTART; -errno with *e. */
int descriptor_step_down(struct opening *o, uint32_t slot, const struct set_group *group, uint32_t event,
                         int leader_fd, int code)
{
    struct rk_set *set = o->set;
    struct policy_place place = groups_place(set, group, event, o->policy.sampling);
    struct rk_error error = {.size = sizeof error};
    const char *field = NULL;
    int rc = 0;
    enum policy_step step = policy_step(&o->policy, set, event, &place, code, &rc);

    if (rc < 0)
        return fail_memory(o->e, RK_STAGE_OPEN);
    if (step == STEP_RESTART)
        return RESTART;
    if (step == STEP_RETRY) {
        descriptor_attrs(o);
        return 0;
    }
    if ((code == -ENOENT || (code == -EINVAL && place.leads)) && is_cgroups(o, slot, event))
        field = "cgroup";
    else if (code == -EINVAL && (leader_fd >= 0 || place.leads)) /* else it was only tried (try_fit) */
        field = narrow_field(&set->events[event].attr, leader_fd >= 0, open_less,
                             &(struct refused){o, slot, leader_fd});
    set_fail_field(set, RK_STAGE_OPEN, slot, event, code, 0, field, &error);
    return descriptor_leave_out(o, event, &error);
}

int descriptor_open(struct opening *o, uint32_t slot, const struct set_group *group, uint32_t event,
                    int leader_fd)
{
    struct rk_set *set = o->set;
    struct set_event *at = &set->events[event];
    struct policy_place place = groups_place(set, group, event, o->policy.sampling);
    int rc = 0;

    for (;;) {
        struct perf_attr attr = at->attr; /* the kernel writes into it */
        if ((rc = descriptor_cgroup(set, slot, &o->directory, &o->cgroup)) < 0)
            return cgroup_gone(o, slot, rc);
        int fd = descriptor_call(set, &attr, slot, o->directory, leader_fd);
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
        rc = descriptor_step_down(o, slot, group, event, leader_fd, fd);
        if (rc != 0)
            return rc;
    }
}

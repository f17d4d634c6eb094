/*
 * The set as a handle: made, asked, closed. How it is opened is in opening.c, how it is read in count/.
 */
#include "set/private.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "event/event.h"
#include "host/host.h"
#include "set/explain.h"
#include "set/follow.h"
#include "set/here.h"
#include "set/opening.h"
#include "set/plan.h"
#include "set/policy.h"
#include "set/where.h"
#include "sys/file.h"
#include "sys/perf.h"
#include "sys/process.h"
#include "target/freeze.h"

#include <errno.h>
#include <reckon/record.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

CLEANUP_FUNCTION(set, struct rk_set, rk_set_free)
CLEANUP_FUNCTION(host, struct rk_host, rk_host_free)
CLEANUP_FUNCTION(target, struct rk_target, rk_target_free)

struct rk_set *set_keep(struct rk_set *set)
{
    __atomic_fetch_add(&set->others, 1, __ATOMIC_RELAXED);
    return set;
}

struct rk_set *rk_set_free(struct rk_set *set)
{
    if (!set || __atomic_fetch_sub(&set->others, 1, __ATOMIC_ACQ_REL) > 0)
        return NULL;
    /* In a forked child the pages are not mapped, and something else may be where they were. */
    if (set->pages && !is_forked(set))
        for (uint32_t i = 0; i < set->n_events; i++)
            sys_perf_unmap(set->pages[i], 0);
    if (set->fds)
        opening_undo(set);
    sys_fork_drop(set->fork);
    free(set->events);
    free(set->slots);
    free(set->cgroups);
    free(set->whom.ids);
    free(set->parts);
    free(set->past);
    free(set->roots_born);
    free(set->cpus);
    free(set->clocks);
    for (uint32_t i = 0; i < set->n_guards; i++)
        sys_close(set->guards[i]);
    free(set->guards);
    follow_unwatch(set);
    free(set->fds);
    free(set->ids);
    free(set->faults);
    free(set->groups);
    free(set->members);
    free(set->rings);
    free(set->pages);
    free(set->words);
    free(set->row);
    free(set->states);
    free(set->sums);
    free(set->sum_states);
    vector_free(&set->notes);
    arena_free(&set->texts);
    rk_events_free(set->asked);
    rk_host_free(set->own_host);
    rk_host_free(set->host);
    free(set);
    return NULL;
}

static void take_events(struct rk_set *set, const struct rk_events *events)
{
    set->asked = events_keep(events);
    for (uint32_t i = 0; i < set->n_events; i++) {
        const struct event_item *from = &events->list.items[i];
        struct set_event *to = &set->events[i];
        to->event = from->event;
        to->event.size = sizeof to->event;
        to->number = from->number;
        to->names[SET_NAME_SHOWN] = from->event.name;
        to->names[SET_NAME_CANONICAL] = from->canonical;
        to->canonical_n = from->canonical_n;
        to->names[SET_NAME_FULL] = from->full;
        to->names[SET_NAME_GENERIC] = from->generic;
        to->names[SET_NAME_TEXT] = from->text;
        to->bound = where_is_bound(set->host, &to->event);
        if (to->event.flags & RK_EVENT_PRECISE_MAX)
            to->event.precise = set->sampling ? 3 : 0; /* policy_step() goes down from there */
    }
}

static int make_room(struct rk_set *set, const struct plan *plan)
{
    size_t n = plan->n_events, cells = n * plan->n_slots;

    set->n_events = plan->n_events;
    set->events = calloc(n, sizeof *set->events);
    set->slots = calloc(plan->n_slots, sizeof *set->slots);
    set->fds = malloc(cells * sizeof *set->fds);
    set->faults = calloc(cells, sizeof *set->faults);
    set->groups = calloc(n, sizeof *set->groups);
    set->members = calloc(n, sizeof *set->members);
    set->words = calloc(3 + 3 * n, sizeof *set->words);
    set->row = calloc(n, sizeof *set->row);
    set->states = calloc(n, sizeof *set->states);
    set->sums = calloc(n, sizeof *set->sums);
    set->sum_states = calloc(n, sizeof *set->sum_states);
    if (!set->events || !set->slots || !set->fds || !set->faults || !set->groups || !set->members ||
        !set->words || !set->row || !set->states || !set->sums || !set->sum_states)
        return -ENOMEM;
    for (size_t i = 0; i < cells; i++)
        set->fds[i] = -1;
    return 0;
}

/* The kernel's number of each event, by which a record in a shared ring says whose it is. */
static int ask_ids(struct rk_set *set, struct rk_error *e)
{
    set->ids = calloc((size_t)set->n_slots * set->n_events, sizeof *set->ids);
    if (!set->ids)
        return fail_memory(e, RK_STAGE_OPEN);
    for (uint32_t slot = 0; slot < set->n_slots; slot++)
        for (uint32_t event = 0; event < set->n_events; event++) {
            int fd = fd_of(set, slot, event);
            int rc =
                fd < 0 ? 0 : sys_perf_control_at(fd, IOC_ID, &set->ids[(size_t)slot * set->n_events + event]);
            if (rc < 0)
                return set_fail(set, RK_STAGE_CONTROL, slot, event, rc, 0, e);
        }
    return 0;
}

/* The first descriptor on each CPU owns the CPU's ring. */
static int choose_rings(struct rk_set *set, uint32_t at_most, struct rk_error *e)
{
    set->rings = calloc(at_most, sizeof *set->rings);
    if (!set->rings)
        return fail_memory(e, RK_STAGE_OPEN);
    for (uint32_t slot = 0; slot < set->n_slots; slot++) {
        uint32_t r = 0, m = 0, present = 0;
        for (uint32_t g = 0; g < set->n_groups; g++)
            present += set->groups[g].n;
        while (m < present && fd_of(set, slot, set->members[m]) < 0)
            m++;
        while (r < set->n_rings && set->rings[r].cpu != set->slots[slot].cpu)
            r++;
        if (m < present && r == set->n_rings && r < at_most)
            set->rings[set->n_rings++] = (struct set_ring){.cpu = set->slots[slot].cpu,
                                                           .slot = slot,
                                                           .event = set->members[m],
                                                           .fd = fd_of(set, slot, set->members[m])};
    }
    return 0;
}

/* Whether pages that don't say so yet may become readable. */
static bool readable_later(const struct rk_set *set)
{
    int64_t access;

    return PMC_PAGE_LATE && rk_host_limit(set->host, RK_LIMIT_USER_ACCESS, &access) == 0 && access > 0;
}

/* Pages for reading in user space: of core PMU events of the calling thread, not inherited (the kernel maps no
 * others). Whatever the kernel has against it, read(2) does it too. */
static int map_pages(struct rk_set *set, struct rk_error *e)
{
    set->pages = calloc(set->n_events, sizeof *set->pages);
    if (!set->pages)
        return fail_memory(e, RK_STAGE_OPEN);
    for (uint32_t g = 0; g < set->n_groups; g++) {
        struct set_group *group = &set->groups[g];
        uint32_t mapped = 0;
        for (; mapped < group->n; mapped++) {
            uint32_t event = set->members[group->first + mapped];
            if (!policy_is_core(set->host, set->events[event].event.type) ||
                sys_perf_map(fd_of(set, 0, event), 0, 0, &set->pages[event]) < 0)
                break;
            if (!set_page_readable(set->pages[event]) && !readable_later(set))
                break;
        }
        group->user = mapped == group->n;
        set->user_read |= group->user;
        set->plain &= !group->user;
        set->only_read = set->plain ? set->only_read : 0;
        for (uint32_t m = 0; !group->user && m < group->n; m++) {
            uint32_t event = set->members[group->first + m];
            sys_perf_unmap(set->pages[event], 0);
            set->pages[event] = NULL;
        }
    }
    set_choose_page(set);
    return 0;
}

static int copy_cgroups(struct rk_set *set, const struct rk_target *target)
{
    set->cgroups = target->n_cgroups ? calloc(target->n_cgroups, sizeof *set->cgroups) : NULL;
    if (target->n_cgroups && !set->cgroups)
        return -ENOMEM;
    for (; set->n_cgroups < target->n_cgroups; set->n_cgroups++) {
        const struct target_cgroup *from = &target->cgroups[set->n_cgroups];
        struct set_cgroup *to = &set->cgroups[set->n_cgroups];
        to->name = arena_text(&set->texts, from->name, strlen(from->name));
        to->path = arena_text(&set->texts, from->path, strlen(from->path));
        if (!to->name || !to->path)
            return -ENOMEM;
    }
    return 0;
}

static int copy_whom(struct rk_set *set, const struct rk_target *target)
{
    size_t n = target->n_several ? target->n_several : 1;

    set->whom.kind = target->kind;
    if (target_by_cpu(target->kind) || target->kind == TARGET_SELF)
        return 0;
    set->whom.ids = malloc(n * sizeof *set->whom.ids);
    if (!set->whom.ids)
        return -ENOMEM;
    memcpy(set->whom.ids, target->n_several ? target->several : &target->pid, n * sizeof *set->whom.ids);
    set->whom.n = n;
    return 0;
}

/*
 * For READ records. Where a thread and one that it created have the same events, the kernel lets them swap these when one
 * follows the other on a CPU. A thread that then ends with its creator's events writes no record. An event on the creator
 * that is not inherited makes the two differ.
 */
static int set_guard(struct rk_set *set, struct rk_error *e)
{
    static const struct rk_set_options disabled = {.size = sizeof disabled};
    struct perf_attr attr;

    set->guards = malloc(set->n_slots * sizeof *set->guards);
    if (!set->guards)
        return fail_memory(e, RK_STAGE_OPEN);
    for (uint32_t slot = 0; slot < set->n_slots; slot++) {
        int32_t pid = set->slots[slot].pid;
        if (slot && pid == set->slots[slot - 1].pid)
            continue;
        policy_clock(&disabled, TARGET_THREAD, false, &attr);
        int fd = sys_perf_open(&attr, pid, -1, -1, 0);
        if (fd >= 0)
            set->guards[set->n_guards++] = fd;
        else if (fd != -ESRCH) /* it has ended */
            return fail(e, fd, RK_STAGE_OPEN,
                        fd == -EMFILE || fd == -ENFILE ? RK_CAUSE_DESCRIPTORS : RK_CAUSE_UNKNOWN, NULL,
                        "RK_RECORDS_READS takes one more event for each thread: %s", strerror(-fd));
    }
    return 0;
}

static int open_planned(struct rk_set *set, struct plan *plan, const struct rk_events *events,
                        const struct rk_target *target, bool frozen, struct rk_error *e)
{
    static const uint32_t never = 0;
    int rc;

    set->sampling = plan->sampling;
    set->inherit = plan->inherit;
    set->family = plan->inherit && target->kind != TARGET_SELF;
    set->mark = plan->mark;
    set->follows = target_by_cpu(target->kind) && !target->cpus && !set->sampling;
    set->enabled = set->was_enabled = set->options.flags & RK_SET_ENABLED;
    set->ring_bytes = (struct set_ring_bytes){
        .now = plan->ring_bytes, .wanted = plan->ring_wanted, .fixed = set->options.ring_bytes != 0};
    if (set->options.sample & RK_SAMPLE_STACK_USER && !set->options.wakeup_bytes &&
        !set->options.wakeup_samples)
        set->options.wakeup_bytes = plan->ring_bytes / 4; /* stacks fill the rest in no time */
    set->thread = pmc_thread();
    rc = host_fork(set->host, &set->fork);
    set->fork_word = set->fork ? set->fork->word : &never;
    set->pid = set->fork ? 0 : sys_process_id();
    if (rc == 0)
        rc = make_room(set, plan);
    if (rc == 0) {
        take_events(set, events);
        rc = copy_cgroups(set, target);
    }
    if (rc == 0)
        rc = copy_whom(set, target);
    if (rc == 0 && plan->on_cpus)
        rc = here_begin(set, plan);
    if (rc < 0)
        return fail_memory(e, RK_STAGE_OPEN);
    rc = opening_run(set, plan, target, frozen, e);
    if (rc < 0)
        return rc;
    if (target_attaches(target->kind) && !set->inherit && !set->sampling && follow_tasks_begin(set) < 0)
        return fail_memory(e, RK_STAGE_OPEN);
    if (set->family && vector_reserve(&set->notes, 1) < 0) /* for set/toggle.c, which allocates nothing */
        return fail_memory(e, RK_STAGE_OPEN);
    if (set->options.records & RK_RECORDS_READS && (rc = set_guard(set, e)) < 0)
        return rc;
    if (set->sampling) {
        rc = ask_ids(set, e);
        return rc < 0 ? rc : choose_rings(set, plan->n_rings, e);
    }
    if (target->kind == TARGET_SELF && !set->inherit && !set->on_cpus &&
        !(set->options.flags & RK_SET_NO_USER_READ))
        return map_pages(set, e);
    return 0;
}

int rk_set_open(struct rk_host *host, const struct rk_events *events, const struct rk_target *target,
                const struct rk_set_options *options, struct rk_set **ret, struct rk_error *e)
{
    struct plan plan = {0};
    struct freeze *freeze = NULL;
    int rc;

    if (!ret)
        return fail_null(e, RK_STAGE_OPEN, "rk_set_open", "ret");
    _cleanup_(set_cleanup) struct rk_set *set = calloc(1, sizeof *set);
    if (!set)
        return fail_memory(e, RK_STAGE_OPEN);
    set->host = host_keep(host);
    rc = options_check(&set->options, sizeof set->options, options, "rk_set_options", RK_STAGE_OPEN, e);
    if (rc == 0 && set->options.flags & RK_SET_FREEZE && target &&
        (target_attaches(target->kind) || target->kind == TARGET_THREAD))
        rc = freeze_target(target, &freeze, e);
    if (rc == 0)
        rc = plan_make(host, events, target, &set->options, &plan, e);
    if (rc == 0)
        rc = open_planned(set, &plan, events, target, freeze != NULL, e);
    freeze_end(freeze);
    plan_free(&plan);
    if (rc < 0)
        return rc;
    *ret = TAKE_PTR(set);
    return 0;
}

int rk_set_self(const char *text, struct rk_set **ret, struct rk_error *e)
{
    _cleanup_(host_cleanup) struct rk_host *host = NULL;
    _cleanup_(events_cleanup) struct rk_events *events = NULL;
    _cleanup_(target_cleanup) struct rk_target *target = NULL;
    struct rk_set_options options = {.size = sizeof options, .flags = RK_SET_NO_INHERIT};
    struct rk_set *set = NULL;
    int rc;

    if (!ret)
        return fail_null(e, RK_STAGE_OPEN, "rk_set_self", "ret");
    if ((rc = rk_host_open(NULL, &host, e)) < 0 || (rc = rk_events_parse(host, text, &events, e)) < 0 ||
        (rc = rk_target_self(&target, e)) < 0 ||
        (rc = rk_set_open(host, events, target, &options, &set, e)) < 0 || !set)
        return rc;
    set->own_host = TAKE_PTR(host);
    *ret = set;
    return 0;
}

int rk_set_process(int32_t pid, const char *text, const struct rk_set_options *options, struct rk_set **ret,
                   struct rk_error *e)
{
    _cleanup_(host_cleanup) struct rk_host *host = NULL;
    _cleanup_(events_cleanup) struct rk_events *events = NULL;
    _cleanup_(target_cleanup) struct rk_target *target = NULL;
    struct rk_set *set = NULL;
    int rc;

    if (!ret || !text)
        return fail_null(e, RK_STAGE_OPEN, "rk_set_process", text ? "ret" : "events");
    if ((rc = rk_host_open(NULL, &host, e)) < 0 || (rc = rk_events_parse(host, text, &events, e)) < 0 ||
        (rc = rk_target_process(pid, &target, e)) < 0 ||
        (rc = rk_set_open(host, events, target, options, &set, e)) < 0 || !set)
        return rc;
    set->own_host = TAKE_PTR(host);
    *ret = set;
    return 0;
}

size_t rk_set_event_count(const struct rk_set *set)
{
    return set ? set->n_events : 0;
}

int rk_set_event_get(const struct rk_set *set, size_t event, struct rk_event *ret)
{
    if (!set)
        return -EINVAL;
    return event < set->n_events ? result_give(ret, &set->events[event].event, sizeof *ret) : -ERANGE;
}

size_t rk_set_slot_count(const struct rk_set *set)
{
    return set ? set->n_slots : 0;
}

const char *set_slot_cgroup(const struct rk_set *set, size_t slot)
{
    uint32_t cgroup = set->slots[slot].cgroup;

    return cgroup == SET_NO_CGROUP ? NULL : set->cgroups[cgroup].name;
}

int rk_set_slot_get(const struct rk_set *set, size_t slot, struct rk_slot *ret)
{
    if (!set)
        return -EINVAL;
    if (slot >= set->n_slots)
        return -ERANGE;
    const struct rk_slot one = {.size = sizeof one,
                                .pid = set->slots[slot].pid,
                                .cpu = set->slots[slot].cpu,
                                .cgroup = set_slot_cgroup(set, slot)};
    return result_give(ret, &one, sizeof one);
}

int set_note_add(struct rk_set *set, uint32_t event, uint32_t cause, bool absent, const char *remedy,
                 const char *format, ...)
{
    char text[sizeof((struct rk_error *)0)->what];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    const char *what = arena_text(&set->texts, text, strlen(text));
    remedy = remedy && *remedy ? arena_text(&set->texts, remedy, strlen(remedy)) : "";
    struct set_note *note = what && remedy ? vector_push(&set->notes) : NULL;
    if (!note)
        return -ENOMEM;
    *note = (struct set_note){event, cause, absent, what, remedy};
    return 0;
}

size_t rk_set_note_count(const struct rk_set *set)
{
    return set ? set->notes.n : 0;
}

int rk_set_note_get(const struct rk_set *set, size_t index, struct rk_note *ret)
{
    if (!set)
        return -EINVAL;
    if (index >= set->notes.n)
        return -ERANGE;
    const struct set_note *note = &set->notes.items[index];
    struct rk_note result = {
        .event = note->event,
        .cause = note->cause,
        .absent = note->absent,
        .what = note->what,
        .remedy = note->remedy,
    };
    return result_give(ret, &result, sizeof result);
}

int set_ring_redirect(struct rk_set *set, uint32_t ring, uint32_t *ret_slot, uint32_t *ret_event)
{
    const struct set_ring *to = &set->rings[ring];

    for (uint32_t slot = 0; slot < set->n_slots; slot++) {
        if (set->slots[slot].cpu != to->cpu)
            continue;
        for (uint32_t event = 0; event < set->n_events; event++) {
            int fd = fd_of(set, slot, event);
            if (fd < 0 || fd == to->fd)
                continue;
            int rc = sys_perf_control(fd, IOC_SET_OUTPUT, (uintptr_t)to->fd);
            if (rc < 0) {
                if (ret_slot)
                    *ret_slot = slot;
                if (ret_event)
                    *ret_event = event;
                return rc;
            }
        }
    }
    return 0;
}

int set_fail(const struct rk_set *set, uint32_t stage, uint32_t slot, uint32_t event, int code,
             uint64_t needed, struct rk_error *e)
{
    return set_fail_field(set, stage, slot, event, code, needed, NULL, e);
}

int set_fail_field(const struct rk_set *set, uint32_t stage, uint32_t slot, uint32_t event, int code,
                   uint64_t needed, const char *field, struct rk_error *e)
{
    struct rk_attempt attempt = {.size = sizeof attempt,
                                 .stage = stage,
                                 .code = code,
                                 .pid = -1,
                                 .cpu = -1,
                                 .needed = needed,
                                 .field = field};
    struct rk_error error = {.size = sizeof error};

    if (slot < set->n_slots) {
        attempt.flags = set->slots[slot].cgroup != SET_NO_CGROUP ? RK_ATTEMPT_CGROUP : 0;
        attempt.pid = set->slots[slot].pid;
        attempt.cpu = set->slots[slot].cpu;
    }
    if (event < set->n_events) {
        const struct set_event *at = &set->events[event];
        const struct perf_attr *attr = &at->attr;
        attempt.type = attr->type;
        attempt.config = attr->config;
        attempt.event = at->event.name;
        attempt.frequency = attr->flags & ATTR_FREQ ? attr->sample_period : 0;
        attempt.flags |= (attr->flags & ATTR_EXCLUDE_KERNEL ? 0 : RK_ATTEMPT_KERNEL) |
                         (attr->sample_period ? RK_ATTEMPT_SAMPLING : 0) |
                         (attr->flags & ATTR_PRECISE_MASK ? RK_ATTEMPT_PRECISE : 0) |
                         (attr->branch_sample_type ? RK_ATTEMPT_BRANCHES : 0) |
                         (attr->sample_type & RK_SAMPLE_PHYS_ADDR ? RK_ATTEMPT_PHYSICAL : 0) |
                         (attr->flags & ATTR_PINNED ? RK_ATTEMPT_PINNED : 0) |
                         (attr->flags & ATTR_EXCLUDES ? RK_ATTEMPT_MODES : 0) |
                         (at->leader != event ? RK_ATTEMPT_GROUP : 0);
    }
    if (event < set->n_events && stage == RK_STAGE_OPEN && (code == -EINVAL || code == -E2BIG))
        attempt.lacks = (uint32_t)(1 + host_feature_lacking(set->host, &set->events[event].attr));
    explain(set->host, &attempt, &error);
    error_give(e, &error);
    return code;
}

/*
 * A part of a profile. What is asked of a row's thread, event, cgroup is decided once for each of those; what is asked of
 * its stack once for each node, outer before inner; then samples are gone through.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "profile/copy.h"

#include <errno.h>
#include <regex.h>
#include <stdbool.h>

/* Of a frame, and of a node: the frame's own, those of frames further out too. */
enum {
    HAS_MODULE = 1,
    HAS_SYMBOL = 2,
    IS_SELF = 4, /* the frame may be the sampled one */
    IS_CALLEE = 8,
    IS_CALLER = 16,
};

struct selection {
    const struct rk_profile *profile;
    const struct rk_profile_filter *filter;
    uint8_t *texts;                      /* scratch, by text: whether it matches */
    uint8_t *frames;                     /* by frame: the above */
    uint8_t *threads, *events, *cgroups; /* by each: 1, wanted */
    uint8_t *nodes;                      /* by node: HAS_… of it and all further out; IS_SELF of itself */
    uint8_t *begins;                     /* by frame: IS_CALLEE; NULL: stacks begin where they do */
    uint32_t *end; /* by node: where its stack ends now, RK_NO_NODE: it is not wanted; NULL: where it does */
    bool dropped;  /* some sample was not wanted */
};

static void selection_free(struct selection *s)
{
    free(s->texts);
    free(s->frames);
    free(s->threads);
    free(s->events);
    free(s->cgroups);
    free(s->nodes);
    free(s->end);
    free(s->begins);
}

/* Marks each of the n texts of a column (by `bit` in `marks`) that matches; NULL matches all. */
static int match(struct selection *s, const char *pattern, const uint32_t *column, size_t n, uint8_t *marks,
                 uint8_t bit, struct rk_error *e)
{
    const struct rk_profile_columns *c = &s->profile->columns;
    regex_t regex;

    if (!pattern) {
        for (size_t i = 0; i < n; i++)
            marks[i] |= bit;
        return 0;
    }
    int rc = regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB);
    if (rc) {
        char why[100];
        regerror(rc, &regex, why, sizeof why);
        return rc == REG_ESPACE ? fail_memory(e, RK_STAGE_PROFILE)
                                : fail(e, -EINVAL, RK_STAGE_PROFILE, RK_CAUSE_SYNTAX,
                                       "put a \\ before characters that stand for themselves: .[{}()*+?|^$",
                                       "'%.80s' is no regular expression: %s", pattern, why);
    }
    memset(s->texts, 0, c->text_n); /* 0: not tried, 1: no, 2: yes */
    for (size_t i = 0; i < n; i++) {
        uint8_t *known = &s->texts[column[i]];
        if (!*known)
            *known = regexec(&regex, c->text[column[i]], 0, NULL, 0) == 0 ? 2 : 1;
        marks[i] |= *known == 2 ? bit : 0;
    }
    regfree(&regex);
    return 0;
}

/* A mark for each thread's source, through its name. */
static int match_sources(struct selection *s, uint8_t *wanted, struct rk_error *e)
{
    const struct rk_profile_columns *c = &s->profile->columns;
    _cleanup_free_ uint8_t *marks = zeroed(c->source_n, 1);

    if (!marks)
        return fail_memory(e, RK_STAGE_PROFILE);
    int rc = match(s, s->filter->source, c->source_name, c->source_n, marks, 1, e);
    for (size_t i = 0; rc == 0 && i < c->thread_n; i++)
        wanted[i] |= marks[c->thread_source[i]] ? 2 : 0;
    return rc;
}

static bool among(const int32_t *list, size_t n, int32_t number)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == number)
            return true;
    return n == 0;
}

static int choose_threads(struct selection *s, struct rk_error *e)
{
    const struct rk_profile_columns *c = &s->profile->columns;
    const struct rk_profile_filter *f = s->filter;
    int rc = match(s, f->name, c->thread_name, c->thread_n, s->threads, 1, e);

    if (rc == 0)
        rc = match_sources(s, s->threads, e);
    for (size_t i = 0; rc == 0 && i < c->thread_n; i++)
        s->threads[i] = s->threads[i] == 3 && among(f->processes, f->process_n, c->thread_pid[i]) &&
                        among(f->threads, f->thread_n, c->thread_tid[i]);
    return rc;
}

static int choose_frames(struct selection *s, struct rk_error *e)
{
    const struct rk_profile_columns *c = &s->profile->columns;
    const struct rk_profile_filter *f = s->filter;
    size_t n = c->frame_n;
    _cleanup_free_ uint8_t *self = zeroed(n, 1);
    int rc;

    if (!self)
        return fail_memory(e, RK_STAGE_PROFILE);
    if ((rc = match(s, f->module, c->frame_module, n, s->frames, HAS_MODULE, e)) < 0 ||
        (rc = match(s, f->symbol, c->frame_symbol, n, s->frames, HAS_SYMBOL, e)) < 0 ||
        (rc = match(s, f->callees, c->frame_symbol, n, s->frames, IS_CALLEE, e)) < 0 ||
        (rc = match(s, f->callers, c->frame_symbol, n, s->frames, IS_CALLER, e)) < 0 ||
        (rc = match(s, f->self_module, c->frame_module, n, self, 1, e)) < 0 ||
        (rc = match(s, f->self_symbol, c->frame_symbol, n, self, 2, e)) < 0)
        return rc;
    for (size_t i = 0; i < n; i++) {
        s->frames[i] |= self[i] == 3 ? IS_SELF : 0;
        if (f->flags & RK_SELECT_NO_INLINE && c->frame_flags[i] & RK_FRAME_INLINE)
            s->frames[i] = 0; /* it is not there */
    }
    return 0;
}

/* What each node's stack has, and where it ends. */
static void choose_nodes(struct selection *s)
{
    const struct rk_profile_columns *c = &s->profile->columns;
    const struct rk_profile_filter *f = s->filter;

    for (size_t i = 0; i < c->node_n; i++) {
        uint32_t outer = c->node_parent[i];
        uint8_t frame = s->frames[c->node_frame[i]], before = outer == RK_NO_NODE ? 0 : s->nodes[outer];
        bool gone = f->flags & RK_SELECT_NO_INLINE && c->frame_flags[c->node_frame[i]] & RK_FRAME_INLINE;
        s->nodes[i] = gone ? before : (uint8_t)((before & ~IS_SELF) | frame);
        if (s->end)
            s->end[i] = !gone && frame & IS_CALLER ? (uint32_t)i
                        : outer == RK_NO_NODE      ? RK_NO_NODE
                                                   : s->end[outer];
    }
}

/* Whether the sample is wanted. */
static bool wanted(const struct selection *s, size_t i)
{
    const struct rk_profile_columns *c = &s->profile->columns;
    const struct rk_profile_filter *f = s->filter;
    uint64_t slice = s->profile->summary.slice_ns, time = c->sample_time[i];
    uint8_t all = HAS_MODULE | HAS_SYMBOL | IS_SELF | IS_CALLEE | IS_CALLER;

    if (!s->threads[c->sample_thread[i]] || !s->events[c->sample_event[i]] ||
        !s->cgroups[c->sample_cgroup[i]] || (s->nodes[c->sample_node[i]] & all) != all)
        return false;
    if ((f->from && time < (slice ? f->from / slice * slice : f->from)) || (f->to && time >= f->to))
        return false;
    for (size_t k = 0; k < f->cpu_n; k++)
        if (f->cpus[k] == c->sample_cpu[i])
            return true;
    return f->cpu_n == 0;
}

static int choose(struct selection *s, struct rk_error *e)
{
    const struct rk_profile_columns *c = &s->profile->columns;
    int rc;

    s->texts = zeroed(c->text_n, 1);
    s->frames = zeroed(c->frame_n, 1);
    s->threads = zeroed(c->thread_n, 1);
    s->events = zeroed(c->event_n, 1);
    s->cgroups = zeroed(c->cgroup_n, 1);
    s->nodes = zeroed(c->node_n, 1);
    s->end = s->filter->callers ? zeroed(c->node_n, sizeof *s->end) : NULL;
    s->begins = s->filter->callees ? zeroed(c->frame_n, 1) : NULL;
    if (!s->texts || !s->frames || !s->threads || !s->events || !s->cgroups || !s->nodes ||
        (s->filter->callers && !s->end) || (s->filter->callees && !s->begins))
        return fail_memory(e, RK_STAGE_PROFILE);
    for (size_t i = 0; i < c->event_n; i++)
        s->events[i] = !s->filter->event || strcmp(c->text[c->event_name[i]], s->filter->event) == 0;
    if ((rc = choose_threads(s, e)) < 0 || (rc = choose_frames(s, e)) < 0 ||
        (rc = match(s, s->filter->cgroup, c->cgroup_path, c->cgroup_n, s->cgroups, 1, e)) < 0)
        return rc;
    for (size_t i = 0; s->begins && i < c->frame_n; i++)
        s->begins[i] = s->frames[i] & IS_CALLEE;
    choose_nodes(s);
    return 0;
}

/* What the rows that are left say of times and losses. */
static void summarise(const struct selection *s, uint64_t first, uint64_t last,
                      struct rk_profile_summary *ret)
{
    *ret = s->profile->summary;
    if (s->filter->event) {
        uint64_t records_lost = ret->loss.records_lost;
        ret->loss = (struct rk_loss){.size = sizeof ret->loss};
        for (size_t i = 0; i < s->profile->columns.event_n; i++)
            if (s->events[i])
                loss_add(&ret->loss, &s->profile->event_loss[i]);
        ret->loss.records_lost = records_lost;
    }
    if (s->dropped && ret->slice_ns) {
        uint64_t end = last + ret->slice_ns - 1;
        ret->first_time = first > ret->first_time ? first : ret->first_time;
        ret->last_time = end < ret->last_time ? end : ret->last_time;
        uint64_t span = ret->last_time > ret->first_time ? ret->last_time - ret->first_time : 0;
        ret->duration = span < ret->duration ? span : ret->duration;
    }
    if (s->filter->flags & RK_SELECT_NO_TIMES)
        ret->slice_ns = 0;
}

static int copy_selected(struct selection *s, struct copy *copy, struct rk_profile_summary *ret)
{
    const struct rk_profile_columns *c = &s->profile->columns;
    _cleanup_free_ uint8_t *rows = zeroed(c->sample_n, 1);
    uint64_t first = UINT64_MAX, last = 0;
    int rc = rows ? 0 : -ENOMEM;

    for (size_t i = 0; rc == 0 && i < c->sample_n; i++) {
        rows[i] = wanted(s, i);
        if (rows[i]) {
            first = c->sample_time[i] < first ? c->sample_time[i] : first;
            last = c->sample_time[i] > last ? c->sample_time[i] : last;
        }
        s->dropped |= !rows[i];
    }
    for (uint32_t i = 0; rc >= 0 && i < c->event_n; i++)
        if (s->events[i])
            rc = copy_event(copy, i) < 0 ? -ENOMEM : 0;
    if (rc == 0)
        rc = copy_threads(copy, rows);
    for (size_t i = 0; rc == 0 && i < c->sample_n; i++)
        if (rows[i])
            rc = copy_sample(copy, i, s->end ? s->end[c->sample_node[i]] : c->sample_node[i]);
    if (rc == 0)
        rc = copy_places(copy);
    summarise(s, first == UINT64_MAX ? 0 : first, last, ret);
    return rc;
}

/* Lists that are not there, and times that nothing can be in. */
static int check_filter(const struct rk_profile_filter *f, struct rk_error *e)
{
    const struct {
        const char *name;
        const void *list;
        size_t n;
    } lists[] = {{"processes", f->processes, f->process_n},
                 {"threads", f->threads, f->thread_n},
                 {"cpus", f->cpus, f->cpu_n}};

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (lists[i].n && !lists[i].list)
            return fail_null(e, RK_STAGE_PROFILE, "rk_profile_select", lists[i].name);
    if (f->to && f->from > f->to)
        return fail_argument(e, RK_STAGE_PROFILE, "rk_profile_filter: from is %ju, after to, which is %ju",
                             (uintmax_t)f->from, (uintmax_t)f->to);
    return 0;
}

int rk_profile_select(const struct rk_profile *profile, const struct rk_profile_filter *filter,
                      struct rk_profile **ret, struct rk_error *e)
{
    struct rk_profile_filter ours;
    struct rk_profile_summary summary;
    struct copy copy;
    struct maker m;

    if (!profile || !ret)
        return fail_null(e, RK_STAGE_PROFILE, "rk_profile_select", profile ? "ret" : "profile");
    int rc = options_check(&ours, sizeof ours, filter, "rk_profile_filter", RK_STAGE_PROFILE, e);
    if (rc < 0)
        return rc;
    const uint32_t known =
        RK_SELECT_NO_INLINE | RK_SELECT_NO_LINES | RK_SELECT_NO_TIMES | RK_SELECT_REVERSE | RK_SELECT_COUNTS;
    if (ours.flags & ~known)
        return fail_argument(e, RK_STAGE_PROFILE, "rk_profile_filter: an unknown flag, %#x",
                             ours.flags & ~known);
    if ((rc = check_filter(&ours, e)) < 0)
        return rc;
    struct selection s = {.profile = profile, .filter = &ours};
    rc = choose(&s, e);
    if (rc < 0) {
        selection_free(&s);
        return rc;
    }
    rc = maker_begin(&m);
    if (rc == 0) {
        rc = copy_begin(&copy, profile, &m);
        copy.flags = ours.flags;
        copy.begins = s.begins;
        if (ours.flags & RK_SELECT_NO_TIMES)
            copy.slice_ns = 0;
        if (rc == 0)
            rc = copy_selected(&s, &copy, &summary);
        copy_free(&copy);
    }
    selection_free(&s);
    if (rc == 0)
        rc = maker_end(&m, &summary, ret);
    else
        maker_free(&m);
    return rc == 0         ? 0
           : rc == -ENOMEM ? fail_memory(e, RK_STAGE_PROFILE)
                           : fail(e, rc, RK_STAGE_PROFILE, RK_CAUSE_UNKNOWN, NULL, "rk_profile_select: %s",
                                  strerror(-rc));
}

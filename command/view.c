#include "view.h"

#include "command.h"
#include "handles.h"
#include "print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void view_begin(struct view *view)
{
    *view = (struct view){.how = recording_options(), .filter = {.size = sizeof view->filter}};
}

void view_free(struct view *view)
{
    free(view->pids);
    free(view->tids);
    free(view->cpus);
    free(view->again);
}

/* "1,2,5-7" into new memory: how many, -1: it is no such list, -2: out of memory. */
static int64_t numbers(const char *text, uint32_t **ret)
{
    uint32_t *list = NULL;
    int64_t n = 0;

    for (const char *at = text; *at || at == text;) {
        char *end;
        unsigned long first = strtoul(at, &end, 10), last = first;
        bool good = end != at && *at >= '0' && *at <= '9' && first <= INT32_MAX;
        if (good && *end == '-') {
            at = end + 1;
            last = strtoul(at, &end, 10);
            good = end != at && *at >= '0' && *at <= '9' && last >= first && last - first < 65536 &&
                   last <= INT32_MAX;
        }
        if (!good || (*end && (*end != ',' || !end[1]))) {
            free(list);
            return -1;
        }
        uint32_t *longer = realloc(list, (size_t)(n + (int64_t)(last - first) + 1) * sizeof *list);
        if (!longer) {
            free(list);
            return -2;
        }
        list = longer;
        for (unsigned long i = first; i <= last; i++)
            list[n++] = (uint32_t)i;
        at = *end ? end + 1 : end;
    }
    *ret = list;
    return n;
}

static int take_list(const struct options *o, const char *what, uint32_t **ret, size_t *ret_n)
{
    uint32_t *list = NULL;
    int64_t n = numbers(o->value, &list);

    if (n == -2) {
        fprintf(stderr, "reckon %s: out of memory\n", o->verb);
        return OPTIONS_BAD;
    }
    if (n < 0) {
        options_wrong(o, "%s wants numbers: 4711,4713-4715; not '%s'", what, o->value);
        return OPTIONS_BAD;
    }
    free(*ret);
    *ret = list;
    *ret_n = (size_t)n;
    return 0;
}

/* A point in time: seconds, or per cent. False: it is none. */
static bool point(const char *text, size_t n, double span, double *ret)
{
    char copy[64], *end;

    if (n >= sizeof copy)
        return false;
    memcpy(copy, text, n);
    copy[n] = '\0';
    double value = strtod(copy, &end);
    if (end == copy || !(value >= 0) || value > 1e12)
        return false;
    if (*end == '%' && !end[1])
        value = value / 100 * span;
    else if (*end)
        return false;
    *ret = value;
    return true;
}

/* FROM,TO in seconds behind the first of `span`; either may be missing. False: it is no such thing. */
static bool span_of(const char *text, double span, double *ret_from, double *ret_to)
{
    const char *comma = strchr(text, ',');
    size_t n = comma ? (size_t)(comma - text) : strlen(text);

    *ret_from = 0;
    *ret_to = -1;
    if (!comma || (n == 0 && !comma[1]))
        return false;
    return (n == 0 || point(text, n, span, ret_from)) &&
           (!comma[1] || (point(comma + 1, strlen(comma + 1), span, ret_to) && *ret_to > *ret_from));
}

int view_take(const struct options *o, struct view *view, int id)
{
    struct rk_profile_filter *f = &view->filter;
    double from, to;

    switch (id) {
    case 'e':
        f->event = o->value;
        break;
    case VIEW_TIME:
        if (!span_of(o->value, 1, &from, &to)) {
            options_wrong(o, "--time wants FROM,TO in seconds or per cent: 0.5,2 or 10%%,20%%; not '%s'",
                          o->value);
            return OPTIONS_BAD;
        }
        view->time = o->value;
        break;
    case 'p': {
        int rc = take_list(o, "--pid", (uint32_t **)&view->pids, &f->process_n);
        f->processes = view->pids;
        return rc;
    }
    case VIEW_THREAD: {
        int rc = take_list(o, "--thread", (uint32_t **)&view->tids, &f->thread_n);
        f->threads = view->tids;
        return rc;
    }
    case 'C': {
        int rc = take_list(o, "--cpu", &view->cpus, &f->cpu_n);
        f->cpus = view->cpus;
        return rc;
    }
    case 'c':
        f->name = o->value;
        break;
    case VIEW_SYMFS:
        view->how.symfs = o->value;
        break;
    case VIEW_VMLINUX:
        view->how.vmlinux = o->value;
        break;
    case VIEW_KALLSYMS:
        view->how.kallsyms = o->value;
        break;
    case VIEW_CGROUP:
        f->cgroup = o->value;
        break;
    case VIEW_SOURCE:
        f->source = o->value;
        break;
    case 'd':
        f->self_module = o->value;
        break;
    case 'S':
        f->symbol = o->value;
        break;
    case VIEW_WEIGHT:
        if (strcmp(o->value, "samples") != 0 && strcmp(o->value, "event") != 0) {
            options_wrong(o, "--weight: '%s' is none of event, samples", o->value);
            return OPTIONS_BAD;
        }
        f->flags &= ~RK_SELECT_COUNTS;
        f->flags |= strcmp(o->value, "samples") == 0 ? RK_SELECT_COUNTS : 0;
        return 0;
    case VIEW_NO_INLINE:
        view->how.flags |= RK_PROFILE_NO_INLINE;
        f->flags |= RK_SELECT_NO_INLINE;
        break;
    case VIEW_RAW:
        view->how.flags |= RK_PROFILE_RAW;
        break;
    default:
        return 1;
    }
    return 0;
}

int view_per(const char *word)
{
    static const struct {
        const char *word;
        int per;
    } words[] = {
        {"function", RK_PER_FUNCTION}, {"sym", RK_PER_FUNCTION},  {"symbol", RK_PER_FUNCTION},
        {"line", RK_PER_LINE},         {"srcline", RK_PER_LINE},  {"module", RK_PER_MODULE},
        {"dso", RK_PER_MODULE},        {"thread", RK_PER_THREAD}, {"tid", RK_PER_THREAD},
        {"process", RK_PER_PROCESS},   {"pid", RK_PER_PROCESS},   {"comm", RK_PER_NAME},
        {"cgroup", RK_PER_CGROUP},     {"cpu", RK_PER_CPU},       {"event", RK_PER_EVENT},
        {"source", RK_PER_SOURCE},
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].word, word) == 0)
            return words[i].per;
    return -1;
}

static int no_such_event(const char *verb, const struct rk_profile *all, const char *event)
{
    struct rk_profile_columns c = {.size = sizeof c};
    char name[200];

    rk_profile_columns(all, &c);
    fprintf(stderr, "reckon %s: the recording has no event '%s'; it has:", verb, event);
    for (size_t i = 0; i < c.event_n; i++)
        fprintf(stderr, "%s %s", i ? "," : "", print_safe(c.text[c.event_name[i]], name, sizeof name));
    fputc('\n', stderr);
    return STATUS_USAGE;
}

static bool has_event(const struct rk_profile *all, const char *event)
{
    struct rk_profile_columns c = {.size = sizeof c};

    rk_profile_columns(all, &c);
    for (size_t i = 0; i < c.event_n; i++)
        if (strcmp(c.text[c.event_name[i]], event) == 0)
            return true;
    return false;
}

/* The filter, with times as they are in this profile. */
static struct rk_profile_filter filter_for(const struct view *view, const struct rk_profile *all)
{
    struct rk_profile_summary s = {.size = sizeof s};
    struct rk_profile_filter f = view->filter;
    double from, to;

    rk_profile_summary(all, &s);
    if (view->time && span_of(view->time, (double)(s.last_time - s.first_time) / 1e9, &from, &to)) {
        /* Rounded: seconds and back again may be a nanosecond less, which would cost the last sample. */
        f.from = s.first_time + (uint64_t)(from * 1e9 + 0.5);
        f.to = to < 0 ? 0 : s.first_time + (uint64_t)(to * 1e9 + 0.5) + (strchr(view->time, '%') ? 1 : 0);
    }
    return f;
}

static bool has_inlined(const struct rk_profile_columns *c)
{
    for (size_t i = 0; i < c->frame_n; i++)
        if (c->frame_flags[i] & RK_FRAME_INLINE)
            return true;
    return false;
}

/* Whether the filter leaves all as it is. A recording that was read without inlined functions has none left to leave out;
 * other files may. */
static bool is_all(const struct view *view, const struct rk_profile_columns *c)
{
    const struct rk_profile_filter *f = &view->filter;

    return !(f->flags & ~RK_SELECT_NO_INLINE) && !(f->flags && has_inlined(c)) && !f->event && !view->time &&
           !f->process_n && !f->thread_n && !f->cpu_n && !f->name && !f->cgroup && !f->source &&
           !f->self_module && !f->symbol && !f->callers && !f->callees;
}

/* A profile for each event of `all` that has samples; of the first one where none has. */
static int split(const char *verb, const struct rk_profile *all, const struct view *view,
                 struct recording *ret)
{
    struct rk_profile_filter f = filter_for(view, all);
    struct rk_profile_columns c = {.size = sizeof c};
    struct rk_error e = {.size = sizeof e};

    rk_profile_columns(all, &c);
    for (size_t i = 0; i < c.event_n; i++) {
        const char *event = c.text[c.event_name[i]];
        if (view->filter.event ? strcmp(event, view->filter.event) != 0 || ret->n
                               : !c.event_samples[i] && (i + 1 < c.event_n || ret->n))
            continue;
        f.event = event;
        if (rk_profile_select(all, &f, &ret->profiles[ret->n], &e) < 0)
            return print_error(verb, &e) + (e.cause == RK_CAUSE_SYNTAX);
        ret->n++;
    }
    return 0;
}

static int take_parts(const char *verb, struct rk_profile *all, const struct view *view, bool each,
                      struct recording *ret)
{
    struct rk_profile_columns c = {.size = sizeof c};
    struct rk_error e = {.size = sizeof e};
    int status = 0;

    rk_profile_columns(all, &c);
    ret->profiles = calloc(c.event_n + 1, sizeof(struct rk_profile *));
    if (!ret->profiles) {
        fprintf(stderr, "reckon %s: out of memory\n", verb);
        status = STATUS_FAILED;
    } else if (view->filter.event && !has_event(all, view->filter.event)) {
        status = no_such_event(verb, all, view->filter.event);
    } else if (is_all(view, &c) && (!each || c.event_n <= 1)) { /* most recordings: no copy */
        ret->profiles[ret->n++] = all;
        return 0;
    } else if (each) {
        status = split(verb, all, view, ret);
    } else {
        struct rk_profile_filter f = filter_for(view, all);
        if (rk_profile_select(all, &f, &ret->profiles[0], &e) < 0)
            status = print_error(verb, &e) + (e.cause == RK_CAUSE_SYNTAX);
        else
            ret->n = 1;
    }
    rk_profile_free(all);
    return status;
}

/* Why there is nothing: all that was asked for. */
static void print_nothing(const char *verb, const struct view *view, uint64_t samples)
{
    const struct rk_profile_filter *f = &view->filter;
    const struct {
        const char *name, *value;
        bool given;
    } words[] = {
        {"--event", f->event, f->event},
        {"--time", view->time, view->time},
        {"--pid", NULL, f->process_n},
        {"--thread", NULL, f->thread_n},
        {"--cpu", NULL, f->cpu_n},
        {"--comm", f->name, f->name},
        {"--cgroup", f->cgroup, f->cgroup},
        {"--source", f->source, f->source},
        {"--module", f->self_module, f->self_module},
        {"--symbol", f->symbol, f->symbol},
        {"--callers", f->callers, f->callers},
        {"--callees", f->callees, f->callees},
    };
    char shown[200], count[40];
    bool more = false;

    fprintf(stderr, "reckon %s: nothing matches", verb);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!words[i].given)
            continue;
        fprintf(stderr, "%s %s", more ? " and" : "", words[i].name);
        if (words[i].value)
            fprintf(stderr, " '%s'", print_safe(words[i].value, shown, sizeof shown));
        more = true;
    }
    fprintf(stderr, "; the recording has %s\n", print_some(samples, "sample", count, sizeof count));
}

/* Samples that are left. */
static uint64_t samples_of(const struct recording *recording)
{
    struct rk_profile_summary s = {.size = sizeof s};
    uint64_t sum = 0;

    for (size_t i = 0; i < recording->n; i++)
        if (rk_profile_summary(recording->profiles[i], &s) == 0)
            sum += s.samples;
    return sum;
}

int view_read(const char *verb, const char *path, const struct view *view, bool each, struct recording *ret)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_profile_summary s = {.size = sizeof s};
    struct rk_profile *all = NULL;
    uint64_t damaged = 0;

    if (rk_profile_file(path ? path : RECORDING_DEFAULT, &view->how, &all, &damaged, &e) < 0)
        return print_error(verb, &e);
    if (damaged || e.code == -EDOM) /* EDOM: a difference's sample types that no report can show */
        print_error(verb, &e);      /* the first in full; what else can be read is still shown */
    if (damaged > 1)
        fprintf(stderr, "reckon %s: %ju damaged records were left out\n", verb, (uintmax_t)damaged);
    ret->damaged = damaged > 0;
    ret->again = view->again;
    rk_profile_summary(all, &s);
    if (s.trace_bytes) {
        char name[300];
        fprintf(stderr,
                "reckon %s: %s holds %ju bytes of a trace (%s), which reckon does not decode: only samples "
                "are shown\n",
                verb, print_safe(path ? path : RECORDING_DEFAULT, name, sizeof name),
                (uintmax_t)s.trace_bytes, s.trace);
    }
    if (s.cut) {
        char name[300];
        fprintf(stderr, "reckon %s: %s was cut off before its end; this is what it holds\n", verb,
                print_safe(path ? path : RECORDING_DEFAULT, name, sizeof name));
        ret->damaged = true;
    }
    int status = take_parts(verb, all, view, each, ret);
    if (status == 0 && s.samples && samples_of(ret) == 0) {
        ret->filtered = s.samples;
        print_nothing(verb, view, s.samples);
    }
    return status;
}

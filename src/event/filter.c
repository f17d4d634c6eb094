/*
 * The kernel answers a filter that it does not like with EINVAL alone, so that what can be wrong is looked for here,
 * where there is a place to point at: a field that is not there, a text without quotes. One pass, predicate by
 * predicate; the kernel has the last word when it is set (set/opening.c).
 *
 *     filter    = predicate { ( "&&" | "||" ) predicate }, with parentheses, and "!" before any of it
 *     predicate = field [ ".function" ] operator value
 *     value     = number | "text" | 'text' | a word that newer kernels may know, as CPUS{0-3}
 */
#include "event/filter.h"

#include "base/abi.h"
#include "base/error.h"
#include "base/text.h"
#include "event/nearest.h"
#include "event/print.h"
#include "event/tracepoint.h"
#include "record/format.h"

#include <errno.h>
#include <stdio.h>

#define FIELDS_MAX 128 /* the kernel's largest has some 40 */

struct scan {
    struct parser *p;
    const char *at, *end;
    char *to; /* what is at `at` in the copy */
    const char *names[FIELDS_MAX + 8];
    struct format_field fields[FIELDS_MAX];
    size_t n_fields, n_names; /* names: the fields', and what can be compared everywhere. None: not known */
};

bool filter_possible(const struct event_item *item)
{
    const struct rk_event *event = &item->event;

    return event->type == PERF_TRACEPOINT || strcmp(event->pmu, "kprobe") == 0 ||
           strcmp(event->pmu, "uprobe") == 0;
}

static void step(struct scan *s, size_t n)
{
    s->at += n;
    s->to += n;
}

static bool is_at(const struct scan *s, const char *word)
{
    size_t n = strlen(word);

    return (size_t)(s->end - s->at) >= n && memcmp(s->at, word, n) == 0;
}

static void skip_blank(struct scan *s)
{
    while (s->at < s->end && strchr(" \t\r\n", *s->at))
        step(s, 1);
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static size_t name_length(const char *at, const char *end)
{
    size_t n = 0;

    while (at + n < end && is_name(at[n]))
        n++;
    return n;
}

/* The names of the fields, each with a NUL: from the format, which may not be readable, or those of every probe. */
static int learn(struct scan *s, const struct event_item *item)
{
    static const char *const everywhere[] = {"cpu", "CPU", "comm", "COMM", "stacktrace", "STACKTRACE"};
    static const char *const probes[] = {"common_type", "common_flags", "common_preempt_count", "common_pid",
                                         "__probe_ip",  "__probe_func", "__probe_ret_ip"};
    struct arena *arena = &s->p->events->arena;

    if (item->event.type == PERF_TRACEPOINT) {
        char *text = NULL;
        size_t n = 0;
        uint64_t id;
        int rc = tracepoint_format(s->p, item->body, &text, &n);
        if (rc < 0)
            return rc == -ENOMEM ? fail_memory(s->p->e, RK_STAGE_EVENT) : 0;
        rc = format_parse(text, n, s->fields, FIELDS_MAX, &id);
        s->n_fields = rc < 0 ? 0 : rc < FIELDS_MAX ? (size_t)rc : FIELDS_MAX;
        for (size_t i = 0; i < s->n_fields; i++) {
            const struct format_field *field = &s->fields[i];
            if (!(s->names[s->n_names++] = arena_text(arena, field->name, field->name_n)))
                return fail_memory(s->p->e, RK_STAGE_EVENT);
        }
        if (s->n_names == 0)
            return 0;
    } else {
        for (size_t i = 0; i < sizeof probes / sizeof *probes; i++)
            s->names[s->n_names++] = probes[i];
    }
    for (size_t i = 0; i < sizeof everywhere / sizeof *everywhere; i++)
        s->names[s->n_names++] = everywhere[i];
    return 0;
}

static int take_field(struct scan *s, const struct format_field **ret)
{
    char shown[60], remedy[256];
    struct nearest nearest;
    size_t n = name_length(s->at, s->end);
    bool known = s->n_names == 0;

    if (n == 0)
        return parse_fail(s->p, s->at, "expected a field of the tracepoint, as in prev_pid==1");
    *ret = NULL;
    for (size_t i = 0; i < s->n_fields; i++)
        if (s->fields[i].name_n == n && memcmp(s->fields[i].name, s->at, n) == 0)
            *ret = &s->fields[i];
    for (size_t i = 0; !known && i < s->n_names; i++)
        known = strlen(s->names[i]) == n && memcmp(s->names[i], s->at, n) == 0;
    if (!known) {
        nearest_start(&nearest, s->at, n);
        for (size_t i = 0; i < s->n_names; i++)
            nearest_offer(&nearest, s->names[i]);
        return parse_refuse(
            s->p, s->at, -EINVAL, RK_CAUSE_SYNTAX, nearest_remedy(&nearest, remedy, sizeof remedy),
            "%s: the event has no such field to filter by", text_show(shown, sizeof shown, s->at, n));
    }
    step(s, n);
    if (is_at(s, ".")) /* field.function, field.ustring: what there is, the kernel knows */
        step(s, 1 + name_length(s->at + 1, s->end));
    return 0;
}

static int take_operator(struct scan *s)
{
    static const char *const operators[] = {"==", "!=", "<=", ">=", "<", ">", "~", "&"};

    skip_blank(s);
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (is_at(s, operators[i]) && !is_at(s, "&&")) {
            step(s, strlen(operators[i]));
            skip_blank(s);
            return 0;
        }
    return parse_fail(s->p, s->at, "expected == != < <= > >= ~ or & after the field");
}

static bool is_value_end(const struct scan *s)
{
    return s->at == s->end || strchr(" \t\r\n()", *s->at) || is_at(s, "&&") || is_at(s, "||");
}

/* In quotes of either kind; in the copy they are double. */
static int take_text(struct scan *s, const struct format_field *field)
{
    char quote = *s->at;
    size_t n = 1;

    while (s->at + n < s->end && s->at[n] != quote)
        n++;
    if (s->at + n == s->end)
        return parse_fail(s->p, s->at, "the quote is not closed");
    if (memchr(s->at + 1, '"', n - 1) || memchr(s->at + 1, '\'', n - 1))
        return parse_fail(s->p, s->at, "a text of a filter can't have a quote in it");
    if (field && field->kind == FORMAT_PLAIN && !memchr(field->type, '*', field->type_n))
        return parse_fail(s->p, s->at, "%.*s is a number", (int)field->name_n, field->name);
    s->to[0] = s->to[n] = '"';
    step(s, n + 1);
    return 0;
}

static int take_value(struct scan *s, const struct format_field *field)
{
    if (is_at(s, "\"") || is_at(s, "'"))
        return take_text(s, field);
    if (is_value_end(s))
        return parse_fail(s->p, s->at, "expected a number, or a text in quotes");
    if (field && field->is_text)
        return parse_fail(s->p, s->at, "%.*s is a text: it wants quotes, as in %.*s==\"bash\"",
                          (int)field->name_n, field->name, (int)field->name_n, field->name);
    while (!is_value_end(s)) {
        if (*s->at == '"' || *s->at == '\'')
            return parse_fail(s->p, s->at, "a quote stands around a whole text");
        step(s, 1);
    }
    return 0;
}

static int take_all(struct scan *s)
{
    const struct format_field *field = NULL;
    size_t depth = 0;
    int rc;

    for (;;) {
        for (skip_blank(s); is_at(s, "(") || is_at(s, "!"); skip_blank(s)) {
            depth += *s->at == '(';
            step(s, 1);
        }
        if ((rc = take_field(s, &field)) < 0 || (rc = take_operator(s)) < 0 ||
            (rc = take_value(s, field)) < 0)
            return rc;
        for (skip_blank(s); is_at(s, ")"); skip_blank(s)) {
            if (depth-- == 0)
                return parse_fail(s->p, s->at, "')' without '('");
            step(s, 1);
        }
        if (s->at == s->end)
            return depth ? parse_fail(s->p, s->at, "expected ')' at the filter's end") : 0;
        if (!is_at(s, "&&") && !is_at(s, "||"))
            return parse_fail(s->p, s->at, "expected && or || in the filter");
        step(s, 2);
    }
}

int filter_read(struct parser *p, const char *text, size_t n, struct event_item *item)
{
    struct scan s = {.p = p, .at = text, .end = text + n};

    if (!filter_possible(item))
        return parse_refuse(p, text, -EINVAL, RK_CAUSE_UNSUPPORTED, "filter a tracepoint or a probe",
                            "this event has no fields that a filter could compare");
    if (n > FILTER_MAX)
        return parse_fail(p, text + FILTER_MAX, "a filter has at most %d bytes", FILTER_MAX);
    char *copy = arena_text(&p->events->arena, text, n);
    if (!copy)
        return fail_memory(p->e, RK_STAGE_EVENT);
    s.to = copy;
    int rc = learn(&s, item);
    if (rc == 0)
        rc = take_all(&s);
    if (rc == 0)
        item->event.filter = copy;
    return rc;
}

int rk_events_filter(struct rk_host *host, struct rk_events *events, size_t index, const char *filter,
                     struct rk_error *e)
{
    if (!host || !events || !filter)
        return fail_null(e, RK_STAGE_EVENT, "rk_events_filter",
                         !host     ? "host"
                         : !events ? "events"
                                   : "filter");
    if (index >= events->list.n)
        return fail(e, -ERANGE, RK_STAGE_EVENT, RK_CAUSE_ARGUMENT, NULL,
                    "rk_events_filter: there are %zu events, and no number %zu", events->list.n, index);
    struct parser p = {.host = host, .text = filter, .at = filter, .events = events, .e = e};
    struct event_item *item = &events->list.items[index];
    const char *before = item->event.filter;
    int rc = filter_read(&p, filter, strlen(filter), item);

    if (rc == 0 && *before) {
        const char *both = parse_text(&p, "(%s) && (%s)", before, item->event.filter);
        rc = !both ? -ENOMEM
             : strlen(both) > FILTER_MAX
                 ? parse_fail(&p, filter, "with the one it has the filter has more than %d bytes", FILTER_MAX)
                 : 0;
        item->event.filter = both;
    }
    if (rc == 0 && print_events(events) < 0)
        rc = fail_memory(e, RK_STAGE_EVENT);
    if (rc < 0)
        item->event.filter = before;
    return rc;
}

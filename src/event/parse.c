/*
 * The grammar, by descent; one pass over the text, no step back, so that any text costs linear time:
 *
 *     events   = item { "," item }
 *     item     = event | group
 *     group    = "{" event { "," event } "}" [ ":" modifiers ]
 *     event    = name [ ":" modifiers ]
 *     name     = anything but white space and , { } : /
 *
 * White space may stand around events and groups. A group's modifiers are added to those of each member: flags
 * are united, p's summed, as in perf. The readers of names are tried in the order of `readers`.
 */
#include "event/parse.h"

#include "base/abi.h"
#include "base/error.h"
#include "base/text.h"
#include "event/modifier.h"
#include "event/names.h"
#include "event/nearest.h"
#include "event/print.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

static void set_position(const struct parser *p, const char *at)
{
    size_t position = (size_t)(at - p->text);
    fail_position(p->e, position < UINT32_MAX ? (uint32_t)position : UINT32_MAX);
}

int parse_fail(struct parser *p, const char *at, const char *format, ...)
{
    char what[192];
    va_list list;

    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    fail(p->e, -EINVAL, RK_STAGE_EVENT, RK_CAUSE_SYNTAX,
         "write events as in cycles,instructions:u,{branches,branch-misses}", "byte %zu: %s",
         (size_t)(at - p->text), what);
    set_position(p, at);
    return -EINVAL;
}

/* What stands at a place, for a message. */
static const char *thing_at(const char *at, char buffer[static 16])
{
    char one[8];

    if (*at == '\0')
        return "the end";
    size_t n = utf8_length((const unsigned char *)at, strnlen(at, 4));
    snprintf(buffer, 16, "'%s'", text_show(one, sizeof one, at, n ? n : 1));
    return buffer;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_space(struct parser *p)
{
    while (is_space(*p->at))
        p->at++;
}

int parse_builtin(struct parser *p, const char *text, size_t n, struct rk_event *ret)
{
    char folded[NAME_MAX_FOLDED];

    (void)p;
    if (!name_fold(folded, text, n) || !name_find(folded, &ret->type, &ret->config))
        return 0;
    ret->unit = name_unit(ret->type, ret->config);
    return 1;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'                     ? c - '0'
           : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                    : -1;
}

/* r1a8, r0x1a8: config in hexadecimal. */
int parse_raw(struct parser *p, const char *text, size_t n, struct rk_event *ret)
{
    size_t first = n > 3 && text[1] == '0' && (text[2] | 0x20) == 'x' ? 3 : 1;

    if (n < 2 || text[0] != 'r')
        return 0;
    for (size_t i = first; i < n; i++)
        if (hex_digit(text[i]) < 0)
            return 0;
    if (n - first > 16)
        return parse_fail(p, text + first + 16, "a raw event has 64 bits: 16 hexadecimal digits at most");
    ret->type = PERF_RAW;
    for (size_t i = first; i < n; i++)
        ret->config = ret->config << 4 | (uint64_t)hex_digit(text[i]);
    return 1;
}

static int no_such_event(struct parser *p, const char *name, size_t n)
{
    char shown[100], remedy[256];
    struct nearest nearest;
    size_t prefix = strlen("PERF_COUNT_HW_"), skip = 0;

    if (n > prefix &&
        (strncmp(name, "PERF_COUNT_HW_", prefix) == 0 || strncmp(name, "PERF_COUNT_SW_", prefix) == 0))
        skip = prefix;
    nearest_start(&nearest, name + skip, n - skip);
    for (size_t i = 0; name_at(i); i++)
        nearest_offer(&nearest, name_at(i));
    text_show(shown, sizeof shown, name, n);
    fail(p->e, -ENOENT, RK_STAGE_EVENT, RK_CAUSE_NO_EVENT, nearest_remedy(&nearest, remedy, sizeof remedy),
         "%s: no such event", shown);
    fail_event(p->e, shown);
    set_position(p, name);
    return -ENOENT;
}

/* At a ':': the letters behind it. Nothing there: no modifiers. */
static int take_modifiers(struct parser *p, struct modifiers *ret)
{
    char one[16];
    size_t n = 0, wrong;

    if (*p->at != ':')
        return 0;
    const char *letters = ++p->at;
    while (letters[n] && !is_space(letters[n]) && letters[n] != ',' && letters[n] != '{' && letters[n] != '}')
        n++;
    if (n == 0)
        return parse_fail(p, letters, "expected modifiers (" MODIFIER_LETTERS ") after ':', got %s",
                          thing_at(letters, one));
    if (modifiers_parse(letters, n, ret, &wrong) < 0) {
        const char *at = letters + wrong;
        if (*at == 'p')
            return parse_fail(p, at, "more than three p");
        if (memchr(letters, *at, wrong))
            return parse_fail(p, at, "the modifier %s is there twice", thing_at(at, one));
        return parse_fail(p, at, "no such modifier: %s; there are " MODIFIER_LETTERS, thing_at(at, one));
    }
    p->at += n;
    return 0;
}

static int take_event(struct parser *p)
{
    static int (*const readers[])(struct parser *, const char *, size_t, struct rk_event *) = {
        parse_builtin,
        parse_raw,
    };
    struct rk_event event = {.size = sizeof event, .scale = 1.0, .unit = "", .group = p->group};
    struct modifiers modifiers = {0};
    const char *name = p->at;
    char one[16];
    int rc = 0;

    size_t n = strcspn(name, ",{}:/ \t\r\n");
    if (n == 0)
        return parse_fail(p, name, "expected an event, got %s", thing_at(name, one));
    if (p->events->list.n == EVENTS_MAX) {
        fail(p->e, -E2BIG, RK_STAGE_EVENT, RK_CAUSE_SYNTAX, NULL, "more than %d events in one text",
             EVENTS_MAX);
        set_position(p, name);
        return -E2BIG;
    }
    for (size_t i = 0; rc == 0 && i < sizeof readers / sizeof *readers; i++)
        rc = readers[i](p, name, n, &event);
    if (rc < 0)
        return rc;
    if (rc == 0)
        return no_such_event(p, name, n);
    p->at += n;
    rc = take_modifiers(p, &modifiers);
    if (rc < 0)
        return rc;
    event.flags = modifiers.flags;
    event.precise = modifiers.precise;
    event.name = arena_text(&p->events->arena, name, (size_t)(p->at - name));
    struct rk_event *at = event.name ? vector_push(&p->events->list) : NULL;
    if (!at)
        return fail_memory(p->e, RK_STAGE_EVENT);
    *at = event;
    return 0;
}

/* The group's modifiers onto its members, from `first` on. */
static int add_modifiers(struct parser *p, size_t first, const char *at, const struct modifiers *more)
{
    for (size_t i = first; i < p->events->list.n; i++) {
        struct rk_event *event = &p->events->list.items[i];
        if (event->precise + more->precise > PRECISE_MAX)
            return parse_fail(p, at, "with the group's modifiers %.60s has more than three p", event->name);
        event->flags |= more->flags;
        event->precise += more->precise;
    }
    return 0;
}

static int take_group(struct parser *p)
{
    size_t first = p->events->list.n;
    struct modifiers modifiers = {0};
    char one[16];

    for (;;) { /* at the '{', or at a ',' */
        p->at++;
        skip_space(p);
        if (*p->at == '{')
            return parse_fail(p, p->at, "a group can't stand in a group");
        int rc = take_event(p);
        if (rc < 0)
            return rc;
        skip_space(p);
        if (*p->at == '}')
            break;
        if (*p->at != ',')
            return parse_fail(p, p->at, "expected ',' or '}' in a group, got %s", thing_at(p->at, one));
    }
    const char *colon = ++p->at;
    int rc = take_modifiers(p, &modifiers);
    return rc < 0 ? rc : add_modifiers(p, first, colon, &modifiers);
}

static int take_events(struct parser *p)
{
    char one[16];

    skip_space(p);
    if (*p->at == '\0')
        return parse_fail(p, p->at, "no event is named; expected at least one, as in cycles,instructions:u");
    for (;;) {
        int rc = *p->at == '{' ? take_group(p) : take_event(p);
        if (rc < 0)
            return rc;
        p->group++;
        skip_space(p);
        if (*p->at == '\0')
            return 0;
        if (*p->at == '}')
            return parse_fail(p, p->at, "'}' without '{'");
        if (*p->at != ',')
            return parse_fail(p, p->at, "expected ',' or the end, got %s", thing_at(p->at, one));
        p->at++;
        skip_space(p);
    }
}

int rk_events_parse(struct rk_host *host, const char *text, struct rk_events **ret, struct rk_error *e)
{
    if (!host || !text || !ret)
        return fail_argument(e, RK_STAGE_EVENT, "rk_events_parse: %s is NULL",
                             !host   ? "host"
                             : !text ? "text"
                                     : "ret");
    _cleanup_(events_cleanup) struct rk_events *events = calloc(1, sizeof *events);
    if (!events)
        return fail_memory(e, RK_STAGE_EVENT);
    struct parser p = {.text = text, .at = text, .events = events, .e = e};
    int rc = take_events(&p);
    if (rc < 0)
        return rc;
    if (print_events(events) < 0)
        return fail_memory(e, RK_STAGE_EVENT);
    *ret = TAKE_PTR(events);
    return 0;
}

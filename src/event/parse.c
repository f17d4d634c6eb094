/*
 * The grammar, by descent; one pass over the text, no step back over more than a name, so that any text costs linear
 * time:
 *
 *     events   = item { "," item }
 *     item     = event | group
 *     group    = "{" event { "," event } "}" [ ":" modifiers ]
 *     event    = what [ "/" terms "/" ] [ ":" ] modifiers
 *     what     = name | pmu | system ":" name | "mem:" … | "kprobe:" … | "uprobe:" … | a name of libpfm4
 *
 * White space may stand around events and groups. A group's modifiers are added to those of each member: flags
 * are united, p's summed, as in perf. The readers of names are tried in the order of `readers`, the cheap and the
 * certain first.
 *
 * One text may become several events: a pattern, a generic name on a hybrid CPU. Alone, each is then a group of its
 * own. A group in which that happens becomes one group for each PMU, in the order in which they come up, since the
 * kernel lets a group have one hardware PMU only; what was not spread is in the first.
 */
#include "event/parse.h"

#include "base/error.h"
#include "base/text.h"
#include "event/modifier.h"
#include "event/print.h"
#include "event/suggest.h"
#include "event/term.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

struct event_item *parse_add(struct parser *p, int *ret_rc)
{
    if (p->events->list.n == EVENTS_MAX) {
        fail(p->e, -E2BIG, RK_STAGE_EVENT, RK_CAUSE_SYNTAX, NULL, "more than %d events in one text",
             EVENTS_MAX);
        parse_position(p, p->at);
        *ret_rc = -E2BIG;
        return NULL;
    }
    struct event_item *item = vector_push(&p->events->list);
    if (!item) {
        *ret_rc = fail_memory(p->e, RK_STAGE_EVENT);
        return NULL;
    }
    item->event = (struct rk_event){.size = sizeof item->event,
                                    .group = p->group,
                                    .scale = 1.0,
                                    .unit = "",
                                    .pmu = "",
                                    .probe = "",
                                    .filter = ""};
    return item;
}

int parse_spread(struct parser *p, struct event_item *item, const struct host_pmu *pmu, const char *shown)
{
    item->spread = true;
    item->shown = shown;
    item->event.pmu = arena_text(&p->events->arena, pmu->name, strlen(pmu->name));
    return item->event.pmu ? 0 : fail_memory(p->e, RK_STAGE_EVENT);
}

char *parse_text(struct parser *p, const char *format, ...)
{
    char small[256], *text = NULL;
    va_list list, again;

    va_start(list, format);
    va_copy(again, list);
    int n = vsnprintf(small, sizeof small, format, list);
    if (n >= 0 && (size_t)n < sizeof small)
        text = arena_text(&p->events->arena, small, (size_t)n);
    else if (n >= 0 && (text = arena_alloc(&p->events->arena, (size_t)n + 1)))
        vsnprintf(text, (size_t)n + 1, format, again);
    if (!text)
        fail_memory(p->e, RK_STAGE_EVENT);
    va_end(again);
    va_end(list);
    return text;
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

size_t name_bytes(const char *at)
{
    return strcspn(at, ",{}:/ \t\r\n");
}

/* At a ':', or right behind a '/' that closes terms: the letters. Nothing there: no modifiers. */
static int take_modifiers(struct parser *p, struct modifiers *ret)
{
    char one[16];
    size_t n = 0, wrong;
    bool colon = *p->at == ':';
    const char *letters = p->at + colon;

    while (letters[n] && !is_space(letters[n]) && letters[n] != ',' && letters[n] != '{' && letters[n] != '}')
        n++;
    if (!colon && (n == 0 || p->at == p->text || p->at[-1] != '/'))
        return 0;
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
    p->at = letters + n;
    return 0;
}

/* /period=…,freq=…,name=…/ behind what has no fields. */
static int take_terms(struct parser *p, size_t first)
{
    if (*p->at != '/' || p->at[-1] == '/') /* a PMU's event has had its terms */
        return 0;
    int64_t n = terms_bytes(p, p->at);
    if (n < 0)
        return (int)n;
    for (size_t i = first; i < p->events->list.n; i++) {
        int rc = terms_read(p, p->at + 1, (size_t)n, NULL, &p->events->list.items[i]);
        if (rc < 0)
            return rc;
    }
    p->at += n + 2;
    return 0;
}

/* Each of the events from `first` on gets its modifiers and its name: [name, letters) [letters, p->at). */
static int give_names(struct parser *p, size_t first, const char *name, const char *letters,
                      const struct modifiers *modifiers)
{
    size_t n = (size_t)(p->at - letters);

    if (n && *letters == ':') {
        letters++;
        n--;
    }
    for (size_t i = first; i < p->events->list.n; i++) {
        struct event_item *item = &p->events->list.items[i];
        item->event.flags |= modifiers->flags;
        item->event.precise += modifiers->precise;
        item->modified = n > 0;
        item->number = p->n_texts;
        item->full = item->text = arena_text(&p->events->arena, name, (size_t)(p->at - name));
        if (!item->text)
            return fail_memory(p->e, RK_STAGE_EVENT);
        if (item->named)
            continue;
        if (item->shown) {
            size_t length = strlen(item->shown);
            bool slash = length > 0 && item->shown[length - 1] == '/';
            item->event.name =
                parse_text(p, "%s%s%.*s", item->shown, n && !slash ? ":" : "", (int)n, letters);
        } else {
            item->event.name = item->text;
        }
        if (!item->event.name)
            return fail_memory(p->e, RK_STAGE_EVENT);
    }
    p->n_texts++;
    return 0;
}

/* Whether a slash of this event may be one of a path, or stand before a breakpoint's length. */
static bool has_slashes(const char *at)
{
    static const char *const kinds[] = {"mem:", "uprobe:", "uretprobe:"};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(at, kinds[i], strlen(kinds[i])) == 0)
            return true;
    return false;
}

/* "name=" */
static bool is_term(const char *at)
{
    size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyz_");

    return n > 0 && at[n] == '=';
}

/* Bytes of an event whose name is unknown: up to what ends it, terms and modifiers included. -EINVAL: the terms don't
 * end. */
static int64_t event_bytes(struct parser *p, const char *at)
{
    bool slashes = has_slashes(at);
    size_t n = 0;

    while (at[n] && !is_space(at[n]) && !strchr(",{}", at[n])) {
        if (at[n] == '/' && (!slashes || is_term(at + n + 1))) {
            int64_t terms = terms_bytes(p, at + n);
            if (terms < 0)
                return terms;
            n += (size_t)terms + 1;
        }
        n++;
    }
    return (int64_t)n;
}

/* Keeps the unknown event at `name` in the list, absent, with the reason in p->e. */
static int keep_absent(struct parser *p, size_t first, const char *name)
{
    int rc = 0;

    p->events->list.n = first;
    struct rk_error *why = arena_alloc(&p->events->arena, sizeof *why);
    struct event_item *item = why ? parse_add(p, &rc) : NULL;
    if (!item)
        return why ? rc : fail_memory(p->e, RK_STAGE_EVENT);
    *why = *p->e;
    int64_t n = event_bytes(p, name);
    if (n < 0)
        return (int)n;
    item->why = why;
    item->event.type = UINT32_MAX;
    item->event.flags = RK_EVENT_ABSENT;
    p->at = name + n;
    item->event.name = item->body = arena_text(&p->events->arena, name, (size_t)(p->at - name));
    item->number = p->n_texts++;
    item->full = item->text = item->body;
    return item->body ? 0 : fail_memory(p->e, RK_STAGE_EVENT);
}

/* Mistakes of the writer and want of memory stay errors; all else depends on the machine. */
static bool depends_on_the_machine(int rc)
{
    return rc != -EINVAL && rc != -E2BIG && rc != -ENOMEM;
}

static int take_known(struct parser *p)
{
    static int (*const readers[])(struct parser *) = {
        read_probe, read_breakpoint, read_pmu,        read_builtin,
        read_raw,   read_alias,      read_tracepoint, read_vendor,
    };
    struct modifiers modifiers = {0};
    size_t first = p->events->list.n;
    const char *name = p->at;
    char one[16];
    int rc = 0;

    if (name_bytes(name) == 0)
        return parse_fail(p, name, "expected an event, got %s", thing_at(name, one));
    for (size_t i = 0; rc == 0 && i < sizeof readers / sizeof *readers; i++)
        rc = readers[i](p);
    if (rc < 0)
        return rc;
    if (rc == 0)
        return no_such_event(p);
    rc = take_terms(p, first);
    const char *letters = p->at;
    if (rc == 0)
        rc = take_modifiers(p, &modifiers);
    return rc < 0 ? rc : give_names(p, first, name, letters, &modifiers);
}

static int take_event(struct parser *p)
{
    size_t first = p->events->list.n;
    const char *name = p->at;
    int rc = take_known(p);

    return rc < 0 && p->keep && depends_on_the_machine(rc) ? keep_absent(p, first, name) : rc;
}

/* "cycles" becomes "cycles:u" in a group :u, "cycles:k" becomes "cycles:ku": what it has, its name shows. */
static int add_letters(struct parser *p, struct event_item *item, const struct modifiers *more)
{
    const struct modifiers missing = {more->flags & ~item->event.flags, more->precise};
    char letters[MODIFIERS_ROOM];
    const char *name = item->event.name, *text = item->text;

    if (modifiers_print(&missing, letters) == 0)
        return 0;
    bool behind = item->modified || text[strlen(text) - 1] == '/';
    if (!(item->full = parse_text(p, "%s%s%s", text, behind ? "" : ":", letters)))
        return -ENOMEM;
    if (item->named)
        return 0;
    behind = item->modified || name[strlen(name) - 1] == '/';
    return (item->event.name = parse_text(p, "%s%s%s", name, behind ? "" : ":", letters)) ? 0 : -ENOMEM;
}

/* The group's modifiers onto its members, from `first` on. */
static int add_modifiers(struct parser *p, size_t first, const char *at, const struct modifiers *more)
{
    for (size_t i = first; i < p->events->list.n; i++) {
        struct event_item *item = &p->events->list.items[i];
        struct rk_event *event = &item->event;
        if (item->why)
            continue;
        if (event->precise + more->precise > PRECISE_MAX)
            return parse_fail(p, at, "with the group's modifiers %.60s has more than three p", event->name);
        int rc = add_letters(p, item, more);
        if (rc < 0)
            return rc;
        event->flags |= more->flags;
        event->precise += more->precise;
    }
    return 0;
}

/* The events from `first` on were written alone: each is a group. */
static void group_each(struct parser *p, size_t first)
{
    for (size_t i = first; i < p->events->list.n; i++)
        p->events->list.items[i].event.group = p->group++;
}

/* … were written as a group: one, or one for each PMU that some were spread to. */
static int group_all(struct parser *p, size_t first)
{
    struct event_item *items = p->events->list.items + first;
    size_t n = p->events->list.n - first, n_pmus = 0, at = 0;
    _cleanup_free_ const char **pmus = NULL;
    _cleanup_free_ struct event_item *sorted = NULL;
    bool spread = false;

    for (size_t i = 0; i < n; i++)
        spread |= items[i].spread;
    if (!spread) {
        p->group++;
        return 0;
    }
    pmus = calloc(n, sizeof *pmus);
    sorted = calloc(n, sizeof *sorted);
    if (!pmus || !sorted)
        return fail_memory(p->e, RK_STAGE_EVENT);
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        if (!items[i].spread)
            continue;
        while (k < n_pmus && strcmp(pmus[k], items[i].event.pmu) != 0)
            k++;
        if (k == n_pmus)
            pmus[n_pmus++] = items[i].event.pmu;
    }
    for (size_t k = 0; k < n_pmus; k++)
        for (size_t i = 0; i < n; i++) {
            size_t of = 0; /* software and the like: anywhere, so in the first */
            while (of < n_pmus && strcmp(pmus[of], items[i].event.pmu) != 0)
                of++;
            if (of == k || (of == n_pmus && k == 0)) {
                sorted[at] = items[i];
                sorted[at++].event.group = p->group + (uint32_t)k;
            }
        }
    memcpy(items, sorted, n * sizeof *items);
    p->group += (uint32_t)n_pmus;
    return 0;
}

/* The kernel has these of a whole group, by its first event: on another alone they would mean nothing. */
static int check_first(struct parser *p, size_t first, const char *at)
{
    const uint32_t whole = RK_EVENT_PINNED | RK_EVENT_EXCLUSIVE;
    const struct event_item *items = p->events->list.items, *leader = &items[first];

    for (size_t i = first; i < p->events->list.n; i++) {
        if (items[i].why)
            continue;
        if (leader->why || items[i].event.group != leader->event.group)
            leader = &items[i];
        if (items[i].event.flags & whole & ~leader->event.flags)
            return parse_fail(p, at, "%.60s: D and e are of a whole group, as in {cycles,instructions}:D",
                              items[i].event.name);
    }
    return 0;
}

static int take_group(struct parser *p)
{
    size_t first = p->events->list.n;
    struct modifiers modifiers = {0};
    const char *brace = p->at;
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
    if (rc == 0)
        rc = add_modifiers(p, first, colon, &modifiers);
    if (rc == 0)
        rc = group_all(p, first);
    return rc < 0 ? rc : check_first(p, first, brace);
}

static int take_events(struct parser *p)
{
    char one[16];

    skip_space(p);
    if (*p->at == '\0')
        return parse_fail(p, p->at, "no event is named; expected at least one, as in cycles,instructions:u");
    for (;;) {
        size_t first = p->events->list.n;
        bool group = *p->at == '{';
        int rc = group ? take_group(p) : take_event(p);
        if (rc < 0)
            return rc;
        if (!group)
            group_each(p, first);
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

/* The first reason, where no event is known; else NULL. */
static const struct rk_error *nothing_known(const struct rk_events *events)
{
    for (size_t i = 0; i < events->list.n; i++)
        if (!events->list.items[i].why)
            return NULL;
    return events->list.items[0].why;
}

static int parse(struct rk_host *host, const char *text, bool keep, struct rk_events **ret,
                 struct rk_error *e)
{
    _cleanup_(events_cleanup) struct rk_events *events = calloc(1, sizeof *events);
    if (!events)
        return fail_memory(e, RK_STAGE_EVENT);
    struct parser p = {.host = host, .text = text, .at = text, .events = events, .e = e, .keep = keep};
    int rc = take_events(&p);
    if (rc < 0)
        return rc;
    if (nothing_known(events))
        return error_give(e, nothing_known(events));
    if (print_events(events) < 0)
        return fail_memory(e, RK_STAGE_EVENT);
    *ret = TAKE_PTR(events);
    return 0;
}

int rk_events_parse(struct rk_host *host, const char *text, struct rk_events **ret, struct rk_error *e)
{
    if (!host || !text || !ret)
        return fail_null(e, RK_STAGE_EVENT, "rk_events_parse", !host ? "host" : !text ? "text" : "ret");
    return parse(host, text, false, ret, e);
}

int rk_events_parse_keep(struct rk_host *host, const char *text, struct rk_events **ret, struct rk_error *e)
{
    struct rk_error error =
        RK_INIT(error); /* the reasons on the way, which the caller's may have no room for */

    if (!host || !text || !ret)
        return fail_null(e, RK_STAGE_EVENT, "rk_events_parse_keep", !host ? "host" : !text ? "text" : "ret");
    int rc = parse(host, text, true, ret, &error);
    return rc < 0 ? error_give(e, &error) : rc;
}

/*
 * Events → text, such that parsing it gives the same events: the canonical name, then modifiers in a fixed order;
 * groups of two and more in braces, a group's modifiers at each member. An event that has terms has
 * its modifiers right behind the closing slash.
 */
#include "event/print.h"

#include "base/abi.h"
#include "event/modifier.h"
#include "event/names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

struct text {
    VECTOR(char) bytes;
};

static int add(struct text *text, const char *bytes, size_t n)
{
    if (vector_reserve(&text->bytes, n) < 0)
        return -ENOMEM;
    memcpy(text->bytes.items + text->bytes.n, bytes, n);
    text->bytes.n += n;
    return 0;
}

/* A value that stands as it is; others stand in quotes. None has quotes of both kinds: it could not have been
 * written. */
static bool is_plain(const char *name)
{
    for (; *name; name++)
        if (!(*name >= '0' && *name <= '9') && !(*name >= 'a' && *name <= 'z') &&
            !(*name >= 'A' && *name <= 'Z') && !strchr("_.-", *name))
            return false;
    return true;
}

static int add_value(struct text *text, const char *separator, const char *term, const char *value)
{
    const char *quote = is_plain(value) ? "" : strchr(value, '\'') ? "\"" : "'";

    return add(text, separator, strlen(separator)) < 0 || add(text, term, strlen(term)) < 0 ||
                   add(text, quote, strlen(quote)) < 0 || add(text, value, strlen(value)) < 0 ||
                   add(text, quote, strlen(quote)) < 0
               ? -ENOMEM
               : 0;
}

/* Those terms that the event has. `separator` stands before the first. */
static int add_terms(struct text *text, const struct event_item *item, const char *separator)
{
    char number[48];
    int rc = 0;

    if (item->extra) {
        rc = add_value(text, separator, item->extra, "");
        separator = ",";
    }
    if (rc < 0)
        return rc;
    if (item->event.period || item->event.frequency) {
        int n = snprintf(number, sizeof number, "%s%s=%" PRIu64, separator,
                         item->event.period ? "period" : "freq",
                         item->event.period ? item->event.period : item->event.frequency);
        rc = add(text, number, (size_t)n);
        separator = ",";
    }
    if (rc == 0 && *item->event.filter) {
        rc = add_value(text, separator, "filter=", item->event.filter);
        separator = ",";
    }
    return rc == 0 && item->named ? add_value(text, separator, "name=", item->event.name) : rc;
}

static int add_event(struct text *text, const struct event_item *item, const char *body)
{
    const struct rk_event *event = &item->event;
    struct modifiers modifiers = {event->flags, event->precise};
    char raw[24], letters[MODIFIERS_ROOM];
    const char *name = body ? body : abi_event_name(event->type, event->config);
    bool terms =
        item->terms || item->extra || event->period || event->frequency || *event->filter || item->named;

    if (!name) { /* a raw event: the only kind without a name */
        snprintf(raw, sizeof raw, "r%" PRIx64, event->config);
        name = raw;
    }
    size_t n = modifiers_print(&modifiers, letters);
    if (add(text, name, strlen(name)) < 0 || add_terms(text, item, item->terms ? "," : "/") < 0)
        return -ENOMEM;
    if (terms && add(text, "/", 1) < 0)
        return -ENOMEM;
    return n == 0 ? 0 : !terms && add(text, ":", 1) < 0 ? -ENOMEM : add(text, letters, n);
}

int print_events(struct rk_events *events)
{
    struct text text = {0};
    size_t n = events->list.n;
    const struct event_item *list = events->list.items;
    int rc = vector_reserve(&text.bytes, n * 24 + 1);

    for (size_t i = 0; rc == 0 && i < n; i++) {
        bool with_last = i > 0 && list[i - 1].event.group == list[i].event.group;
        bool with_next = i + 1 < n && list[i + 1].event.group == list[i].event.group;
        if (i > 0)
            rc = add(&text, ",", 1);
        if (rc == 0 && !with_last && with_next)
            rc = add(&text, "{", 1);
        if (rc == 0)
            rc = add_event(&text, &list[i], list[i].body);
        if (rc == 0 && with_last && !with_next)
            rc = add(&text, "}", 1);
    }
    if (rc == 0)
        rc = add(&text, "", 1);
    if (rc < 0) {
        vector_free(&text.bytes);
        return rc;
    }
    events->canonical = text.bytes.items;
    return 0;
}

static char *spell(const struct event_item *item, const char *body)
{
    struct text text = {0};

    if (add_event(&text, item, body) < 0 || add(&text, "", 1) < 0)
        vector_free(&text.bytes);
    return text.bytes.items;
}

int events_names(const struct rk_events *events, size_t index, struct event_names *ret)
{
    const struct event_item *item = &events->list.items[index];
    const struct rk_event *event = &item->event;
    struct event_item alone = *item;
    const char *generic = item->spread && (event->type == PERF_HARDWARE || event->type == PERF_HW_CACHE)
                              ? abi_event_name(event->type, event->config & UINT32_MAX)
                              : NULL;

    *ret = (struct event_names){.number = item->number, .text = item->text, .full = item->full};
    alone.terms = false;
    ret->canonical = spell(item, item->body);
    ret->generic = generic ? spell(&alone, generic) : NULL;
    if (!ret->canonical || (generic && !ret->generic)) {
        free(ret->canonical);
        free(ret->generic);
        return -ENOMEM;
    }
    return 0;
}

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
    if (n == 0)
        return 0;
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

/* What events of a hybrid CPU that one text became all are; NULL for others. */
static const char *generic_name(const struct event_item *item)
{
    const struct rk_event *event = &item->event;

    return item->spread && (event->type == PERF_HARDWARE || event->type == PERF_HW_CACHE)
               ? abi_event_name(event->type, event->config & UINT32_MAX)
               : NULL;
}

/* Where an event stands in the text: its canonical spelling and the generic one. */
struct place {
    size_t canonical, canonical_n, generic;
};

static int add_all(struct text *text, const struct rk_events *events, struct place *places)
{
    const struct event_item *list = events->list.items;
    size_t n = events->list.n;
    int rc = vector_reserve(&text->bytes, n * 24 + 1);

    for (size_t i = 0; rc == 0 && i < n; i++) {
        bool with_last = i > 0 && list[i - 1].event.group == list[i].event.group;
        bool with_next = i + 1 < n && list[i + 1].event.group == list[i].event.group;
        if (i > 0)
            rc = add(text, ",", 1);
        if (rc == 0 && !with_last && with_next)
            rc = add(text, "{", 1);
        places[i].canonical = text->bytes.n;
        if (rc == 0)
            rc = add_event(text, &list[i], list[i].body);
        places[i].canonical_n = text->bytes.n - places[i].canonical;
        if (rc == 0 && with_last && !with_next)
            rc = add(text, "}", 1);
    }
    return rc == 0 ? add(text, "", 1) : rc;
}

/* Behind all of that, each with its NUL. */
static int add_generic(struct text *text, const struct rk_events *events, struct place *places)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < events->list.n; i++) {
        struct event_item alone = events->list.items[i];
        if (!generic_name(&alone))
            continue;
        alone.terms = false;
        places[i].generic = text->bytes.n;
        rc = add_event(text, &alone, generic_name(&alone)) < 0 ? -ENOMEM : add(text, "", 1);
    }
    return rc;
}

int print_events(struct rk_events *events)
{
    struct text text = {0};
    struct place *places = calloc(events->list.n + 1, sizeof *places);
    int rc = places ? add_all(&text, events, places) : -ENOMEM;

    if (rc == 0)
        rc = add_generic(&text, events, places);
    const char *at = rc == 0 ? arena_text(&events->arena, text.bytes.items, text.bytes.n) : NULL;
    for (size_t i = 0; at && i < events->list.n; i++) {
        struct event_item *item = &events->list.items[i];
        item->canonical = at + places[i].canonical;
        item->canonical_n = places[i].canonical_n;
        item->generic = places[i].generic ? at + places[i].generic : NULL;
    }
    if (at)
        events->canonical = at;
    free(places);
    vector_free(&text.bytes);
    return at ? 0 : -ENOMEM;
}

/*
 * Events → text, such that parsing it gives the same events: the canonical name, then modifiers in a fixed order;
 * groups of two and more in braces, a group's modifiers at each member.
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

static int add_event(struct text *text, const struct rk_event *event)
{
    struct modifiers modifiers = {event->flags, event->precise};
    char raw[24], letters[MODIFIERS_ROOM];
    const char *name = name_of(event->type, event->config);

    if (!name) { /* a raw event: the only kind without a name */
        snprintf(raw, sizeof raw, "r%" PRIx64, event->config);
        name = raw;
    }
    size_t n = modifiers_print(&modifiers, letters);
    if (add(text, name, strlen(name)) < 0)
        return -ENOMEM;
    return n == 0 ? 0 : add(text, ":", 1) < 0 ? -ENOMEM : add(text, letters, n);
}

int print_events(struct rk_events *events)
{
    struct text text = {0};
    size_t n = events->list.n;
    const struct rk_event *list = events->list.items;
    int rc = vector_reserve(&text.bytes, n * 24 + 1);

    for (size_t i = 0; rc == 0 && i < n; i++) {
        bool with_last = i > 0 && list[i - 1].group == list[i].group;
        bool with_next = i + 1 < n && list[i + 1].group == list[i].group;
        if (i > 0)
            rc = add(&text, ",", 1);
        if (rc == 0 && !with_last && with_next)
            rc = add(&text, "{", 1);
        if (rc == 0)
            rc = add_event(&text, &list[i]);
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

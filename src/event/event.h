/*
 * Events from inside: what parsing made.
 *
 * `list` holds the public structs, each with what is needed to print it; their strings are in `arena` or in the
 * tables of names.c. `canonical` is made with the rest, so that printing can't fail. A set keeps the events that it was
 * opened with, and so their strings; what rk_events_filter() replaces stays in `arena`.
 */
#ifndef EVENT_EVENT_H
#define EVENT_EVENT_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/vector.h"

#include <reckon/event.h>
#include <stdbool.h>

#define EVENTS_MAX 4096 /* in one text */

struct event_item {
    struct rk_event event;
    const char *body;  /* canonical, without modifiers; NULL: a generic or a raw event, by type and config */
    const char *extra; /* a term of its own besides those that all have, "ref_ctr_offset=0x20"; or NULL */
    bool terms;        /* `body` is "pmu/…" and wants its '/' */
    bool named;        /* event.name was given with name= */
    bool modified;     /* event.name ends with modifiers of its own */
    bool spread;       /* one of several that one text became, each on its own PMU: event.pmu */
    const char *shown; /* … and is called so, without modifiers; NULL: as written */
    uint32_t number;   /* of the text that it was made from: others that it became have the same */
    const char *text;  /* … that text, with its modifiers, and … */
    const char *full;  /* … with its group's too */
    const struct rk_error *why; /* RK_EVENT_ABSENT: why it is unknown here; else NULL */
    const char *canonical;      /* as rk_events_print() spells it: … */
    size_t canonical_n;         /* … so many bytes of that text, no NUL */
    const char *generic;        /* what all that `spread` are, each on its PMU; NULL: nothing */
};

struct rk_events {
    uint32_t others;                /* sets that keep them beside their owner: events_keep() */
    VECTOR(struct event_item) list; /* by event.group, which ascends */
    struct arena arena;
    const char *canonical;
};

/* The same events; rk_events_free() once more. */
struct rk_events *events_keep(const struct rk_events *events);

CLEANUP_FUNCTION(events, struct rk_events, rk_events_free)

#endif

/*
 * Events from inside: what parsing made.
 *
 * `list` holds the public structs as they are; their strings are in `arena` or in the tables of names.c.
 * `canonical` is made with the rest, so that printing can't fail.
 */
#ifndef EVENT_EVENT_H
#define EVENT_EVENT_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/vector.h"

#include <reckon/event.h>
#include <stdbool.h>

#define EVENTS_MAX 4096 /* in one text */

struct rk_events {
    VECTOR(struct rk_event) list; /* by `group`, which ascends */
    struct arena arena;
    char *canonical;
};

CLEANUP_FUNCTION(events, struct rk_events, rk_events_free)

#endif

/*
 * Events whose quotient people want: they have to be counted at the same time.
 */
#ifndef SET_RATIO_H
#define SET_RATIO_H

#include <reckon/event.h>
#include <stdbool.h>

/* Whether `above` over `below` is a figure: instructions per cycle, misses of accesses … in the same modes. */
bool ratio_is(const struct rk_event *above, const struct rk_event *below);

#endif

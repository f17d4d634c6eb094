/*
 * Events whose quotient is a figure: they are counted at the same time where that can be, and reckon/metric.h derives
 * the figure.
 */
#ifndef SET_RATIO_H
#define SET_RATIO_H

#include <reckon/event.h>

struct ratio {
    double times;     /* above / below × this */
    const char *name; /* stable: "ipc", "miss_percent" … */
    const char *unit; /* for people */
};

/*
 * The figure of `above` over `below`, or NULL: there is none. Both count in the same modes, on the same PMU: over
 * another kind of core's events nothing is a ratio.
 */
const struct ratio *ratio_of(const struct rk_event *above, const struct rk_event *below);

/* Which kind of core of a hybrid CPU a generic event counts on: its PMU's type; 0: there is one kind. */
uint32_t ratio_core(const struct rk_event *event);

#endif

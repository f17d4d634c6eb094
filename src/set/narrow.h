/*
 * Which field it is that the kernel refuses.
 */
#ifndef SET_NARROW_H
#define SET_NARROW_H

#include "base/abi.h"

#include <stdbool.h>

/* perf_event_open(2) for what is being narrowed: a descriptor or -errno. `grouped` false: without its leader. */
typedef int narrow_open(void *context, struct perf_attr *attr, bool grouped);

/*
 * The kernel has refused `attr`, and does not say why. Each thing that was asked for is left out in turn; the first
 * without which it opens is what is refused: its name in the kernel's words ("inherit_thread", "clockid"), "group" for
 * the leader, or NULL: it is none alone.
 */
const char *narrow_field(const struct perf_attr *attr, bool grouped, narrow_open *open, void *context);

#endif

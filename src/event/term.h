/*
 * What stands between the slashes: terms, separated by commas.
 *
 *     event=0x3c      a field that the PMU's format/ has; a value of 1 where none is written
 *     config1=7       a whole word: config, config1 … config4
 *     cas_count_read  an alias of the PMU's events/, which stands for its own terms, and has a scale and a unit
 *     cycles, r3c     on a core PMU: the generic and raw events
 *     period=, freq=  how often this event is sampled
 *     name=           what it is called; in '…' where it has a comma, a slash or a blank
 *
 * Later terms change what earlier ones set.
 */
#ifndef EVENT_TERM_H
#define EVENT_TERM_H

#include "event/parse.h"

/* At a '/': bytes up to the '/' that closes it, outside of quotes; -EINVAL with p->e filled where none does. */
int64_t terms_bytes(struct parser *p, const char *slash);

/* The n bytes between the slashes, for an item on a PMU, or on none (pmu NULL: period, freq and name only). Makes the
 * item's body. 0 or -errno with p->e filled. */
int terms_read(struct parser *p, const char *text, size_t n, struct host_pmu *pmu, struct event_item *item);

/* A generic event on one of several core PMUs, blamed at `at`, with its body. The kernel is told the PMU in config's
 * upper half where it knows that; else the PMU's own event of that meaning is taken. 0 or -errno with p->e filled. */
int terms_generic(struct parser *p, const char *at, uint32_t type, uint64_t config, struct host_pmu *pmu,
                  struct event_item *item);

#endif

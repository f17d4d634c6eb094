/*
 * Filters: what the kernel compares in a tracepoint's record before it counts it.
 *
 *     prev_pid == 1 && (next_comm ~ "kworker*" || !(prev_prio < 100))
 *
 * Fields are those of the tracepoint's format, and cpu and comm; a probe has common_… and __probe_ip alone.
 */
#ifndef EVENT_FILTER_H
#define EVENT_FILTER_H

#include "event/parse.h"

#define FILTER_MAX 4095 /* bytes: the kernel takes a page with its NUL */

/* The n bytes at `text`, a place in p->text: checks them against the event's fields and gives the item its filter, with
 * its texts in double quotes. 0 or -errno with p->e filled. */
int filter_read(struct parser *p, const char *text, size_t n, struct event_item *item);

/* Whether such an event can have one. */
bool filter_possible(const struct event_item *item);

#endif

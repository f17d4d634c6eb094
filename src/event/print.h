/*
 * The canonical spelling.
 */
#ifndef EVENT_PRINT_H
#define EVENT_PRINT_H

#include "event/event.h"

/* Fills events->canonical. 0 or -ENOMEM. */
int print_events(struct rk_events *events);

#endif

/*
 * Tracepoints from inside.
 */
#ifndef EVENT_TRACEPOINT_H
#define EVENT_TRACEPOINT_H

#include "event/parse.h"

/* Fills p->e for a system:event at p->at that read_tracepoint() did not find: there is none, or tracefs does not
 * tell, and why. Returns the -errno. */
int tracepoint_missing(struct parser *p);

#endif

/*
 * Tracepoints from inside.
 */
#ifndef EVENT_TRACEPOINT_H
#define EVENT_TRACEPOINT_H

#include "event/parse.h"

/* Fills p->e for a system:event at p->at that read_tracepoint() did not find: there is none, or tracefs does not
 * tell, and why. Returns the -errno. */
int tracepoint_missing(struct parser *p);

/* Whether the name at p->at is a system of tracepoints. */
bool tracepoint_system(struct parser *p);

/* The text of the format of "system:event", in the parser's arena: 0, or -errno; p->e is not filled. */
int tracepoint_format(struct parser *p, const char *name, char **ret, size_t *ret_n);

#endif

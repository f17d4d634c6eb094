/*
 * What is said of a name that is not there.
 */
#ifndef EVENT_SUGGEST_H
#define EVENT_SUGGEST_H

#include "event/parse.h"

/* Fills p->e for the name at p->at that no reader took: -ENOENT, or why it can't be told. */
int no_such_event(struct parser *p);

#endif

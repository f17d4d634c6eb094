/*
 * The vendors' names, from inside.
 */
#ifndef EVENT_VENDOR_H
#define EVENT_VENDOR_H

#include "event/parse.h"

/* Whether what stands at p->at looks like a vendor's name and libpfm4 is missing. */
bool vendor_missing(const struct parser *p);

#endif

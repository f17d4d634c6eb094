/*
 * The vendors' names, from inside.
 */
#ifndef EVENT_VENDOR_H
#define EVENT_VENDOR_H

#include "event/parse.h"

/* A name that libpfm4 knows, on a machine without the PMU: the reason and the fix. */
#define VENDOR_NO_PMU "libpfm4 knows it, and this machine shows no PMU for it"
#define VENDOR_NO_PMU_FIX "measure time instead: -e task-clock or -e cpu-clock"

/* Whether what stands at p->at looks like a vendor's name and libpfm4 is missing. */
bool vendor_missing(const struct parser *p);

#endif

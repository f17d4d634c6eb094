/*
 * The vendors' names, from inside.
 */
#ifndef EVENT_VENDOR_H
#define EVENT_VENDOR_H

#include "event/nearest.h"
#include "event/parse.h"

/* A name that libpfm4 knows, on a machine without the PMU: the reason and the fix. */
#define VENDOR_NO_PMU "libpfm4 knows it, and this machine shows no PMU for it"
#define VENDOR_NO_PMU_FIX "measure time instead: -e task-clock or -e cpu-clock"

/* Offers the names that libpfm4 has for this machine to what is written at p->at, where that may be a vendor's. */
void vendor_offer(const struct parser *p, struct nearest *nearest);

/* "pmu::…" at p->at that read_vendor() did not take: fills p->e and returns the -errno; 0: it is not of that form. */
int vendor_unknown(struct parser *p);

/* Whether what stands at p->at looks like a vendor's name and libpfm4 is missing. */
bool vendor_missing(const struct parser *p);

#endif

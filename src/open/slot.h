/*
 * One slot: a thread, a CPU, or both, with a descriptor for each event.
 */
#ifndef OPEN_SLOT_H
#define OPEN_SLOT_H

#include "open/set.h"

void slot_close(struct rk_set *set, uint32_t slot);

#endif

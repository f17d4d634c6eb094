/*
 * One slot: a thread, a CPU, or both, with a descriptor for each event.
 */
#ifndef SET_SLOT_H
#define SET_SLOT_H

#include "set/private.h"

void slot_close(struct rk_set *set, uint32_t slot);

#endif

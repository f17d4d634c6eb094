/*
 * Slots whose CPUs came and went: what reading has to know of them.
 */
#ifndef SET_FOLLOW_H
#define SET_FOLLOW_H

#include "set/private.h"

/* Whether the slot's CPU is gone, so that nothing is open there. Of a set that has `parts`. */
bool follow_absent(struct rk_set *set, uint32_t slot);

/* Adds what the slot counted before its CPU went: to what is there now, or in place of it. */
void follow_add(struct rk_set *set, uint32_t slot, struct rk_value *ret);

#endif

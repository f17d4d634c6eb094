/*
 * Reading descriptors of a set beyond rk_set_read(): what samplers ask.
 */
#ifndef COUNT_READ_H
#define COUNT_READ_H

#include "open/set.h"

/* Samples of an event that the kernel had to drop, all slots summed (FORMAT_LOST, Linux 6.0). 0 and *ret,
 * -EOPNOTSUPP where this kernel does not count them, or -errno. */
int count_lost(struct rk_set *set, uint32_t event, uint64_t *ret);

#endif

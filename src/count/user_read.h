/*
 * A counter read by the thread that owns it, from its page and one instruction, without the kernel.
 */
#ifndef COUNT_USER_READ_H
#define COUNT_USER_READ_H

#include "base/abi.h"

#include <reckon/set.h>
#include <stdbool.h>

/*
 * What read(2) would give, for an event that is enabled. True and *ret; false, with *ret untouched, where the page
 * does not tell it all (no permission, no clock, no such counter) or the kernel rewrites it all the time.
 */
bool user_read(const struct perf_page *page, struct rk_value *ret);

/* The count alone: of a group's siblings, whose times are their leader's. */
bool user_read_count(const struct perf_page *page, uint64_t *ret);

#endif

/*
 * A sample's call chain as plain addresses to look up.
 *
 * The kernel writes, innermost first:  KERNEL k0 k1 k2 USER u0 u1 u2
 * The markers say the mode of what follows. k0 and u0 are where the mode was left; the others are return
 * addresses, which point behind their call and, where that call was a function's last instruction, into
 * the next function: they are looked up one byte earlier.
 *
 * The sampled address is the innermost frame whatever the chain says: a precise event's address differs
 * from the interrupted one that the chain begins with, and a chain without a kernel part
 * (exclude_callchain_kernel) leaves out a sampled kernel address.
 *
 * A user part that was unwound (`unwound`) has no return addresses: all of it is ready to be looked up. With `raw`
 * return addresses are given as they are, too.
 */
#ifndef PROFILE_CHAIN_H
#define PROFILE_CHAIN_H

#include <reckon/record.h>

#include <stdbool.h>

/* The chain of a sample whose branches are its callers (LBR), as the kernel would write one that was unwound: its own part
 * for the kernel, and behind USER where user code was, then the calls that led there. Writes up to chain_n + branch_n + 2
 * words. 0: there are no branches. */
size_t chain_of_branches(const struct rk_sample *sample, uint64_t *ret);

/* Writes up to sample->chain_n + 1 addresses, innermost first; returns how many. `misc` is the record's. */
size_t chain_addresses(const struct rk_sample *sample, uint16_t misc, bool unwound, bool raw, uint64_t *ret);

#endif

/*
 * The built-in names: generic hardware, software and cache events, in every spelling in use.
 *
 * Spellings are compared folded: lower case, '_' as '-'. That makes one of CPU_CYCLES and cpu-cycles, and no
 * two events the same.
 */
#ifndef EVENT_NAMES_H
#define EVENT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAME_MAX_FOLDED 64 /* no built-in name is as long */

/* Folds n bytes into `to`, with a NUL; false where they don't fit. */
bool name_fold(char to[static NAME_MAX_FOLDED], const char *text, size_t n);

/* The event of a folded name: true, attr.type and attr.config. */
bool name_find(const char *folded, uint32_t *ret_type, uint64_t *ret_config);

/* The ABI's own name, PERF_COUNT_HW_…, of a generic hardware or cache event: `to`. No sysfs has an alias of that
 * name. "" for what is none. */
const char *name_of_abi(uint32_t type, uint64_t config, char to[static NAME_MAX_FOLDED]);

/* What PMUs call the same in their own events/: the index-th name, or NULL behind the last. */
const char *name_of_alias(uint32_t type, uint64_t config, size_t index);

/* r1a8, r0x1a8: 1 and the number, 0 it is none, -ERANGE more than 64 bits. */
int raw_parse(const char *text, size_t n, uint64_t *ret);

/* "ns" for the clocks, else "". */
const char *name_unit(uint32_t type, uint64_t config);

/* Every name worth proposing: the index-th, or NULL behind the last. */
const char *name_at(size_t index);

#endif

/*
 * What perf.data has around the kernel's records, written on a machine of the other byte order, turned in place.
 */
#ifndef PERFDATA_SWAP_H
#define PERFDATA_SWAP_H

#include "perfdata/format.h"

#include <stdbool.h>
#include <stddef.h>

/* The header's words. A machine of 32 bits writes the features as words of its own. */
void swap_file_header(struct perfdata_header *header);

/* The body of a tool's record (type 64 and above) whose header was turned. */
void swap_tool_record(struct perf_header *record);

/* The bytes of a feature. */
void swap_feature(unsigned bit, void *bytes, size_t n);

#endif

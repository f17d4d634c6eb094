/*
 * What tracefs says of the tracepoints of a recording, in trace-cmd's form, which perf wants in a file with tracepoints
 * (perfdata/tracing.c has it drawn): the formats of those that were recorded, and no others.
 */
#ifndef CAPTURE_TRACING_H
#define CAPTURE_TRACING_H

#include "base/vector.h"

#include <stdint.h>

struct rk_host;

typedef VECTOR(unsigned char) tracing_bytes;

/* `names`: "system:event", each perhaps with modifiers behind a second colon. 0, or -errno: tracefs can't be read, out
 * of memory. */
int tracing_collect(struct rk_host *host, const char *const *names, size_t n, tracing_bytes *ret);

#endif

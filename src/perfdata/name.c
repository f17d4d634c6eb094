/*
 * Names for events whose recording has none: perf's words for the kernel's own, numbers for the rest.
 */
#include "perfdata/contents.h"

#include <inttypes.h>
#include <stdio.h>

const char *contents_event_name(const struct perf_attr *attr, char *buffer)
{
    const char *name = abi_event_name(attr->type, attr->config);

    if (name)
        return name;
    switch (attr->type) {
    case PERF_RAW:
        snprintf(buffer, 64, "r%" PRIx64, attr->config);
        return buffer;
    case PERF_BREAKPOINT:
        snprintf(buffer, 64, "mem:0x%" PRIx64, attr->config1);
        return buffer;
    case PERF_TRACEPOINT:
        snprintf(buffer, 64, "tracepoint-%" PRIu64, attr->config);
        return buffer;
    default:
        break;
    }
    snprintf(buffer, 64, "pmu-%u/0x%" PRIx64, attr->type, attr->config);
    return buffer;
}

/*
 * Names for events whose recording has none: perf's words for the kernel's own, numbers for the rest, and the modifiers
 * that their attrs show.
 */
#include "perfdata/contents.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ":u", ":kpp" …, as perf prints them; "": none. */
static void write_modifiers(const struct perf_attr *attr, char *to)
{
    uint64_t flags = attr->flags;
    unsigned precise = (unsigned)((flags & ATTR_PRECISE_MASK) >> ATTR_PRECISE_SHIFT);
    char *at = to + 1;

    if (flags & (ATTR_EXCLUDE_USER | ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV)) {
        if (!(flags & ATTR_EXCLUDE_KERNEL))
            *at++ = 'k';
        if (!(flags & ATTR_EXCLUDE_USER))
            *at++ = 'u';
        if (!(flags & ATTR_EXCLUDE_HV))
            *at++ = 'h';
    }
    while (precise--)
        *at++ = 'p';
    if ((flags & ATTR_EXCLUDE_HOST) && !(flags & ATTR_EXCLUDE_GUEST))
        *at++ = 'G';
    *at = '\0';
    *to = at > to + 1 ? ':' : '\0';
}

const char *contents_event_name(const struct perf_attr *attr, char *buffer)
{
    const char *name = abi_event_name(attr->type, attr->config);

    if (name)
        snprintf(buffer, EVENT_NAME_BYTES, "%s", name);
    else if (attr->type == PERF_RAW)
        snprintf(buffer, EVENT_NAME_BYTES, "r%" PRIx64, attr->config);
    else if (attr->type == PERF_BREAKPOINT)
        snprintf(buffer, EVENT_NAME_BYTES, "mem:0x%" PRIx64, attr->config1);
    else if (attr->type == PERF_TRACEPOINT)
        snprintf(buffer, EVENT_NAME_BYTES, "tracepoint-%" PRIu64, attr->config);
    else
        snprintf(buffer, EVENT_NAME_BYTES, "pmu-%u/0x%" PRIx64, attr->type, attr->config);
    if (attr->type != PERF_TRACEPOINT)
        write_modifiers(attr, buffer + strlen(buffer));
    return buffer;
}

/*
 * What is said of a mistake in a text, with its place.
 */
#include "base/error.h"
#include "base/text.h"
#include "event/parse.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

void parse_position(const struct parser *p, const char *at)
{
    size_t position = (size_t)(at - p->text);
    fail_position(p->e, position < UINT32_MAX ? (uint32_t)position : UINT32_MAX);
}

int parse_fail(struct parser *p, const char *at, const char *format, ...)
{
    char what[192];
    va_list list;

    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    fail(p->e, -EINVAL, RK_STAGE_EVENT, RK_CAUSE_SYNTAX,
         "write events as in cycles,instructions:u,{branches,branch-misses}", "byte %zu: %s",
         (size_t)(at - p->text), what);
    parse_position(p, at);
    return -EINVAL;
}

int parse_refuse(struct parser *p, const char *at, int code, uint32_t cause, const char *remedy,
                 const char *format, ...)
{
    char what[256], shown[100];
    size_t n = 0;
    va_list list;

    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    while (at[n] && !strchr(",{} \t\r\n", at[n]))
        n++;
    fail(p->e, code, RK_STAGE_EVENT, cause, remedy, "%s", what);
    fail_event(p->e, text_show(shown, sizeof shown, at, n));
    parse_position(p, at);
    return code;
}

int parse_unreadable(struct parser *p, const char *at, const struct host_pmu *pmu, const char *file, int rc)
{
    if (rc == -ENOMEM)
        return fail_memory(p->e, RK_STAGE_EVENT);
    if (rc == -EBADMSG || rc == -EFBIG)
        return parse_refuse(p, at, -EBADMSG, RK_CAUSE_BAD_FILE, NULL,
                            "what /sys/bus/event_source/devices/%.60s says of %.60s is not understood",
                            pmu->name, file);
    return parse_refuse(p, at, rc, RK_CAUSE_NO_FILE, NULL,
                        "cannot read what /sys/bus/event_source/devices/%.60s says of %.60s: %s", pmu->name,
                        file, strerror(-rc));
}

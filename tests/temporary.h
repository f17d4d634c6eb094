/*
 * Where tests put their files: below $TMPDIR, or /tmp where that is not set or too long for the buffers that tests have.
 * tools/check looks there for what is left.
 *
 *     char path[TEMPORARY];
 *     int fd = mkstemp(temporary(path, "reckon-plan-XXXXXX"));
 */
#ifndef TEMPORARY_H
#define TEMPORARY_H

#include <stdio.h>
#include <stdlib.h>

#define TEMPORARY 128

static inline char *temporary(char path[TEMPORARY], const char *name)
{
    const char *directory = getenv("TMPDIR");

    if (!directory || !*directory || snprintf(path, TEMPORARY, "%s/%s", directory, name) >= TEMPORARY)
        snprintf(path, TEMPORARY, "/tmp/%s", name);
    return path;
}

/* A cgroup is reckon-MARK-…: tools/leftovers knows its own run's by that. */
static inline const char *test_mark(void)
{
    const char *mark = getenv("RECKON_MARK");
    return mark && *mark ? mark : "test";
}

#endif

/*
 * What was exported, as a text; and whether it is JSON by a schema (python3, where there is one).
 */
#ifndef SINK_H
#define SINK_H

#include <reckon/export.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>

#include "../../temporary.h"

static char written[1 << 20];
static size_t written_n;

static int write_text(void *context, const void *data, size_t n)
{
    (void)context;
    if (written_n + n >= sizeof written)
        return -ENOSPC;
    memcpy(written + written_n, data, n);
    written_n += n;
    written[written_n] = '\0';
    return 0;
}

static inline int write_nothing(void *context, const void *data, size_t n)
{
    (void)data, (void)n;
    return *(int *)context;
}

static const struct rk_sink text_sink = {sizeof text_sink, 0, write_text, NULL};

static inline void forget(void)
{
    written_n = 0;
    written[0] = '\0';
}

/* What was written must be JSON by tests/data/schema/SCHEMA.json. */
static inline void validate(const char *schema)
{
    const char *source = getenv("SOURCE");
    char command[600];

    if (system("python3 -c 'import json' 2>/dev/null") != 0)
        return;
    snprintf(command, sizeof command, "'%s/tests/unit/export/validate.py' %s", source ? source : ".", schema);
    FILE *pipe = popen(command, "w");
    assert_non_null(pipe);
    assert_int_equal(fwrite(written, 1, written_n, pipe), written_n);
    if (pclose(pipe) != 0)
        fail_msg("not JSON by the schema %s:\n%s", schema, written);
}

static inline void contains(const char *part)
{
    if (!strstr(written, part))
        fail_msg("'%s' is not in:\n%s", part, written);
}

static inline void lacks(const char *part)
{
    if (strstr(written, part))
        fail_msg("'%s' should not be in:\n%s", part, written);
}

/* A file of so many bytes is what was written to the sink. */
static inline void same_as_written(const char *path)
{
    static char file[sizeof written];
    FILE *from = fopen(path, "re");

    assert_non_null(from);
    size_t n = fread(file, 1, sizeof file, from);
    fclose(from);
    assert_int_equal(n, written_n);
    assert_memory_equal(file, written, n);
}

/* NAME_fd() and NAME_path() write what NAME(…, &text_sink, e) has just written; the latter in place of what the file had. */
#define SAME_BY_TWINS(name, ...) SAME_BY(name, (NULL), __VA_ARGS__)
#define SAME_BY_OPTION_TWINS(name, ...) SAME_BY(name, (NULL, NULL), __VA_ARGS__)
#define SAME_BY_REST(...) __VA_ARGS__
#define SAME_BY(name, rest, ...)                                                      \
    do {                                                                              \
        char twin_path_[TEMPORARY];                                                   \
        int twin_ = mkstemp(temporary(twin_path_, "reckon-twin-XXXXXX"));             \
        assert_true(twin_ >= 0);                                                      \
        assert_int_equal(name##_fd(__VA_ARGS__, twin_, SAME_BY_REST rest), 0);        \
        same_as_written(twin_path_);                                                  \
        assert_true(write(twin_, "more than before", 16) == 16);                      \
        close(twin_);                                                                 \
        assert_int_equal(name##_path(__VA_ARGS__, twin_path_, SAME_BY_REST rest), 0); \
        same_as_written(twin_path_);                                                  \
        unlink(twin_path_);                                                           \
    } while (0)

#endif

/*
 * A recording's tracing data: what tracefs said of tracepoints, in trace-cmd's form.
 *
 *     0x17 0x08 'D' "tracing" | version\0 | u8 big-endian, u8 long's bytes | u32 page size
 *     "header_page\0" u64 n, n bytes | "header_event\0" u64 n, n bytes
 *     u32 n | n × { u64 bytes, a format }                                       ftrace's own
 *     u32 n | n × { system\0 | u32 k | k × { u64 bytes, a format } }            by system
 *     …
 */
#include "perfdata/contents.h"

#include "base/cursor.h"
#include "record/format.h"

#include <errno.h>
#include <string.h>

/* The next format of the list; true: it is the one, in *ret. */
static bool take_format(struct cursor *c, uint64_t number, const char **ret, size_t *ret_n)
{
    uint64_t n = cursor_u64(c), id;
    const char *text = (const char *)cursor_bytes(c, n);

    if (!text || format_parse(text, (size_t)n, NULL, 0, &id) < 0 || id != number)
        return false;
    *ret = text;
    *ret_n = (size_t)n;
    return true;
}

/* Over what stands before the formats; false: not this form. */
static bool skip_head(struct cursor *c)
{
    const unsigned char *magic = cursor_bytes(c, 10);

    if (!magic ||
        memcmp(magic,
               "\x17\x08"
               "Dtracing",
               10) != 0 ||
        !cursor_text(c) || cursor_u8(c) != 0)
        return false;
    cursor_u8(c);
    cursor_u32(c);
    for (int i = 0; i < 2; i++) { /* header_page, header_event */
        cursor_text(c);
        cursor_bytes(c, cursor_u64(c));
    }
    return !c->bad;
}

/* The format, and the system that it is of. */
static const char *find_format(const struct contents *contents, uint64_t number, size_t *ret_n,
                               const char **ret_system)
{
    const char *found;

    if (!contents->tracing)
        return NULL;
    struct cursor c = cursor_of(contents->tracing, contents->tracing_n);
    if (!skip_head(&c))
        return NULL;
    *ret_system = "ftrace";
    for (uint32_t n = cursor_u32(&c); n && !c.bad; n--)
        if (take_format(&c, number, &found, ret_n))
            return found;
    for (uint32_t systems = cursor_u32(&c); systems && !c.bad; systems--) {
        *ret_system = cursor_text(&c);
        for (uint32_t n = cursor_u32(&c); n && !c.bad; n--)
            if (take_format(&c, number, &found, ret_n))
                return found;
    }
    return NULL;
}

const char *contents_format(const struct contents *contents, uint64_t number, size_t *ret_n)
{
    const char *system;

    return find_format(contents, number, ret_n, &system);
}

int contents_tracepoint(struct contents *contents, uint64_t number, const char **ret)
{
    static const char key[] = "name: ";
    const char *system;
    size_t n = 0;
    const char *format = find_format(contents, number, &n, &system);

    if (!format || n < sizeof key || memcmp(format, key, sizeof key - 1) != 0)
        return -ENOENT;
    const char *name = format + sizeof key - 1, *end = memchr(name, '\n', n - (sizeof key - 1));
    if (!end)
        return -ENOENT;
    size_t system_n = strlen(system), name_n = (size_t)(end - name);
    char *text = arena_alloc(&contents->arena, system_n + 1 + name_n + 1);
    if (!text)
        return -ENOMEM;
    memcpy(text, system, system_n);
    text[system_n] = ':';
    memcpy(text + system_n + 1, name, name_n);
    text[system_n + 1 + name_n] = '\0';
    *ret = text;
    return 0;
}

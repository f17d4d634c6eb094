#include "sys/maps.h"

#include "base/text.h"

#include <errno.h>
#include <string.h>

static bool take(const char **at, char c)
{
    bool there = **at == c;
    *at += there;
    return there;
}

static bool take_protection(const char **at, struct maps_line *ret)
{
    const char *p = *at;

    if (strnlen(p, 5) < 5 || p[4] != ' ')
        return false;
    ret->protection = (p[0] == 'r' ? 1u : 0) | (p[1] == 'w' ? 2u : 0) | (p[2] == 'x' ? 4u : 0);
    ret->shared = p[3] == 's';
    *at += 5;
    return true;
}

static void unescape(char *path)
{
    char *from = strstr(path, "\\012"), *to = from;

    if (!from)
        return;
    while (*from)
        if (strncmp(from, "\\012", 4) == 0) {
            *to++ = '\n';
            from += 4;
        } else {
            *to++ = *from++;
        }
    *to = '\0';
}

int maps_next(char **text, struct maps_line *ret)
{
    char *line = *text, *end = strchr(line, '\n');
    const char *at = line;
    uint64_t major, minor;

    if (!*line)
        return 0;
    if (end)
        *end = '\0';
    else
        end = line + strlen(line) - 1; /* the last line has no newline */
    *text = end + 1;

    if (!text_number(&at, 16, UINT64_MAX, &ret->start) || !take(&at, '-') ||
        !text_number(&at, 16, UINT64_MAX, &ret->end) || !take(&at, ' ') || ret->end <= ret->start ||
        !take_protection(&at, ret) || !text_number(&at, 16, UINT64_MAX, &ret->offset) || !take(&at, ' ') ||
        !text_number(&at, 16, UINT32_MAX, &major) || !take(&at, ':') ||
        !text_number(&at, 16, UINT32_MAX, &minor) || !take(&at, ' ') ||
        !text_number(&at, 10, UINT64_MAX, &ret->inode) || (*at && *at != ' '))
        return -EBADMSG;
    ret->major = (uint32_t)major;
    ret->minor = (uint32_t)minor;
    char *path = line + (at - line);
    path += strspn(path, " ");
    unescape(path);
    ret->path = *path ? path : "//anon";
    return 1;
}

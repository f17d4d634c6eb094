#include "perfdata/parts.h"

#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>

#define PARTS_MOST 65536u

static int open_file(const struct parts *parts, size_t index)
{
    char name[32];

    snprintf(name, sizeof name, "data.%zu", index);
    return sys_open_regular(parts->dir, name);
}

int parts_find(struct parts *parts, int dir, uint64_t behind)
{
    bool regular;

    parts->dir = dir;
    parts->fd = -1;
    for (size_t i = 0; i < PARTS_MOST; i++) {
        uint64_t size = 0;
        _cleanup_close_ int fd = open_file(parts, i);
        if (fd == -ENOENT)
            break;
        int rc = fd < 0 ? fd : sys_file_size(fd, &size, &regular);
        if (rc < 0)
            return rc;
        struct part *part = vector_push(&parts->items);
        if (!part)
            return -ENOMEM;
        part->begin = (behind + 7) & ~UINT64_C(7); /* records stay aligned */
        part->size = size;
        behind = part->begin + size;
    }
    return 0;
}

void parts_free(struct parts *parts)
{
    if (!parts->items.n && parts->dir <= 0)
        return;
    sys_close_cleanup(&parts->fd);
    sys_close_cleanup(&parts->dir);
    vector_free(&parts->items);
}

int parts_open(struct parts *parts, size_t index)
{
    if (parts->fd >= 0 && parts->open == index)
        return parts->fd;
    int fd = open_file(parts, index);
    if (fd < 0)
        return fd;
    sys_close_cleanup(&parts->fd);
    parts->fd = fd;
    parts->open = index;
    return fd;
}

/* The part that a place lies in, or that begins next behind it. */
static size_t find(const struct parts *parts, uint64_t offset)
{
    size_t i = 0;

    while (i < parts->items.n && parts->items.items[i].begin + parts->items.items[i].size <= offset)
        i++;
    return i;
}

int64_t parts_read_at(struct parts *parts, int fd, uint64_t size, void *buffer, size_t n, uint64_t offset)
{
    unsigned char *to = buffer;
    size_t done = 0;

    if (!parts->items.n)
        return sys_read_at(fd, buffer, n, offset);
    while (done < n) {
        uint64_t at = offset + done, begin = 0, bytes = size;
        int from = fd;
        if (at >= size) {
            size_t i = find(parts, at);
            if (i == parts->items.n)
                break;
            begin = parts->items.items[i].begin;
            bytes = parts->items.items[i].size;
            from = parts_open(parts, i);
            if (from < 0)
                return from;
        }
        if (at < begin) { /* between two */
            to[done++] = 0;
            continue;
        }
        size_t want = n - done < begin + bytes - at ? n - done : (size_t)(begin + bytes - at);
        int64_t got = sys_read_at(from, to + done, want, at - begin);
        if (got <= 0)
            return got < 0 ? got : (int64_t)done;
        done += (size_t)got;
    }
    return (int64_t)done;
}

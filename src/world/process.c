/*
 * Processes, their threads' names and their mappings, from /proc.
 */
#include "base/text.h"
#include "record/encode.h"
#include "sys/file.h"
#include "sys/maps.h"
#include "world/world.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MODE_USER 2
#define MAPS_LIMIT ((size_t)64 << 20)

static int put_maps(struct world *w, int32_t pid)
{
    _cleanup_free_ char *text = NULL;
    struct maps_line line;
    char path[48];
    size_t n;
    int r, got;

    snprintf(path, sizeof path, "proc/%" PRId32 "/maps", pid);
    r = sys_file_load(w->root, path, MAPS_LIMIT, &text, &n);
    if (r < 0)
        return world_unless_hidden(r);
    for (char *at = text; r == 0 && (got = maps_next(&at, &line)) != 0;) {
        bool code = got > 0 && line.protection & 4;
        if (got < 0 || (!code && !w->data_maps))
            continue;
        struct rk_record from = {
            .misc = code ? MODE_USER : MODE_USER | RK_MISC_MMAP_DATA, .pid = pid, .tid = pid};
        struct rk_mapping mapping = {.size = sizeof mapping,
                                     .pid = pid,
                                     .tid = pid,
                                     .protection = line.protection,
                                     .flags = line.shared ? 1 : 2,
                                     .major = line.major,
                                     .minor = line.minor,
                                     .start = line.start,
                                     .length = line.end - line.start,
                                     .file_offset = line.offset,
                                     .inode = line.inode,
                                     .path = line.path};
        r = world_put(w, encode_mapping(w->layout, &from, &mapping, w->buffer, sizeof w->buffer));
    }
    return r;
}

static int put_comm(struct world *w, int32_t pid, int32_t tid)
{
    char path[64], name[64];

    snprintf(path, sizeof path, "proc/%" PRId32 "/task/%" PRId32 "/comm", pid, tid);
    int r = sys_file_text(w->root, path, name, sizeof name);
    if (r < 0)
        return world_unless_hidden(r);
    struct rk_record from = {.misc = MODE_USER, .pid = pid, .tid = tid};
    struct rk_comm comm = {.size = sizeof comm, .pid = pid, .tid = tid, .name = name};
    return world_put(w, encode_comm(w->layout, &from, &comm, w->buffer, sizeof w->buffer));
}

/* The process that a thread belongs to; 0: it has ended; or -errno. */
static int32_t process_of(int root, int32_t id)
{
    char path[48], text[16 << 10];
    uint64_t pid = 0;

    snprintf(path, sizeof path, "proc/%" PRId32 "/status", id);
    int r = sys_file_text(root, path, text, sizeof text);
    if (r < 0)
        return world_unless_hidden(r);
    const char *at = strstr(text, "\nTgid:");
    if (!at)
        return 0;
    at += strlen("\nTgid:");
    while (*at == '\t' || *at == ' ')
        at++;
    return text_number(&at, 10, INT32_MAX, &pid) ? (int32_t)pid : 0;
}

struct threads {
    struct world *world;
    int32_t pid;
};

static int each_thread(void *context, const char *name)
{
    struct threads *threads = context;
    uint64_t tid;

    if (!text_number(&name, 10, INT32_MAX, &tid) || *name)
        return 0;
    return put_comm(threads->world, threads->pid, (int32_t)tid);
}

static int put_process(struct world *w, int32_t pid)
{
    struct threads threads = {w, pid};
    char path[48];

    snprintf(path, sizeof path, "proc/%" PRId32 "/task", pid);
    int r = sys_dir_each(w->root, path, each_thread, &threads);
    return w->error ? w->error : r < 0 ? world_unless_hidden(r) : put_maps(w, pid);
}

int world_task(struct world *w, int32_t id)
{
    int32_t pid = process_of(w->root, id);

    if (pid <= 0)
        return pid;
    if (pid == id)
        return put_process(w, pid);
    int r = put_comm(w, pid, pid);
    if (r == 0)
        r = put_comm(w, pid, id);
    return r < 0 ? r : put_maps(w, pid);
}

int world_leader(struct world *w, int32_t id)
{
    int32_t pid = process_of(w->root, id);

    return pid == id ? put_process(w, id) : pid < 0 ? pid : 0;
}

static int each_process(void *context, const char *name)
{
    uint64_t pid;

    if (!text_number(&name, 10, INT32_MAX, &pid) || *name)
        return 0;
    return put_process(context, (int32_t)pid);
}

int world_all(struct world *w)
{
    int r = sys_dir_each(w->root, "proc", each_process, w);
    return w->error ? w->error : world_unless_hidden(r);
}

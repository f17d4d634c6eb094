#include "capture/tracing.h"

#include "base/cleanup.h"
#include "host/host.h"
#include "sys/file.h"
#include "sys/perf.h"

#include <errno.h>
#include <stdio.h>

#define FILE_BYTES_MAX ((size_t)1 << 20)

static int put(tracing_bytes *to, const void *bytes, size_t n)
{
    if (vector_reserve(to, n) < 0)
        return -ENOMEM;
    if (n)
        memcpy(to->items + to->n, bytes, n);
    to->n += n;
    return 0;
}

static int put_u32(tracing_bytes *to, uint32_t value)
{
    return put(to, &value, sizeof value);
}

/* A file of tracefs: u64 n, n bytes. */
static int put_file(tracing_bytes *to, int root, const char *directory, const char *path)
{
    _cleanup_free_ char *text = NULL;
    char whole[4800];
    size_t n;

    snprintf(whole, sizeof whole, "%s/%s", directory, path);
    int r = sys_file_load(root, whole, FILE_BYTES_MAX, &text, &n);
    if (r < 0)
        return r;
    uint64_t size = n;
    r = put(to, &size, sizeof size);
    return r < 0 ? r : put(to, text, n);
}

static int put_head(tracing_bytes *to, int root, const char *directory)
{
    static const char magic[] = "\x17\x08"
                                "Dtracing"
                                "0.6";
    static const unsigned char machine[2] = {0, sizeof(long)};
    int r = put(to, magic, sizeof magic);

    if (r == 0)
        r = put(to, machine, sizeof machine);
    if (r == 0)
        r = put_u32(to, (uint32_t)sys_page_size());
    if (r == 0)
        r = put(to, "header_page", 12);
    if (r == 0)
        r = put_file(to, root, directory, "header_page");
    if (r == 0)
        r = put(to, "header_event", 13);
    return r < 0 ? r : put_file(to, root, directory, "header_event");
}

/* One system with one event: systems may come more than once. */
static int put_event(tracing_bytes *to, int root, const char *directory, const char *name)
{
    size_t system_n = strcspn(name, ":");
    char path[512];

    if (!name[system_n])
        return -EINVAL;
    size_t event_n = strcspn(name + system_n + 1, ":");
    snprintf(path, sizeof path, "%.*s/%.*s/format", (int)system_n, name, (int)event_n, name + system_n + 1);
    int r = put(to, name, system_n);
    if (r == 0)
        r = put(to, "", 1);
    if (r == 0)
        r = put_u32(to, 1);
    return r < 0 ? r : put_file(to, root, directory, path);
}

static int collect(int root, const char *directory, const char *const *names, size_t n, tracing_bytes *to)
{
    static const unsigned char nothing[16] = {0}; /* u32 kallsyms, u32 printk formats, u64 names of threads */
    int r = put_head(to, root, directory);

    if (r == 0)
        r = put_u32(to, 0); /* ftrace's own */
    if (r == 0)
        r = put_u32(to, (uint32_t)n);
    for (size_t i = 0; r == 0 && i < n; i++)
        r = put_event(to, root, directory, names[i]);
    return r < 0 ? r : put(to, nothing, sizeof nothing);
}

int tracing_collect(struct rk_host *host, const char *const *names, size_t n, tracing_bytes *ret)
{
    tracing_bytes bytes = {0};
    const char *place;
    char directory[4200];
    int r = rk_host_mount(host, RK_MOUNT_TRACEFS, &place);

    if (r < 0)
        return r;
    if ((size_t)snprintf(directory, sizeof directory, "%s/events", place) >= sizeof directory)
        return -ENAMETOOLONG;
    r = collect(host->root, directory, names, n, &bytes);
    if (r < 0)
        vector_free(&bytes);
    else
        *ret = bytes;
    return r;
}

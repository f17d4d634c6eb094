/*
 * Regions as a program sees them: this file has the process's one `struct regions`, the threads' pointers into it, and the
 * exit hook. All of it comes to be at the first region, and only if the environment asks for it.
 *
 * Three states: `asked` not done; done and `regions` NULL: off; done and set: armed, until `over`.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/sink.h"
#include "region/regions.h"
#include "sys/file.h"
#include "sys/library.h"
#include "sys/process.h"
#include "sys/signal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pthread_once_t asked;
    struct regions *regions;
    bool over;              /* the report was written */
    pthread_key_t key;      /* its destructor sees threads end */
    int error_fd;           /* stderr, as it was then; -1: closed */
    uint64_t error_file[2]; /* … and which file that is: the number may be another's by the end */
    char *path;             /* of the JSON; NULL: text to error_fd */
} armed = {.asked = PTHREAD_ONCE_INIT, .error_fd = -1};

static __thread struct region_thread *self;

/* A program that closes what it did not open (closefrom(3)) may have a file of its own there now. */
static bool has_error_fd(void)
{
    uint64_t now[2];

    return armed.error_fd >= 0 && sys_file_identity(armed.error_fd, now) == 0 &&
           memcmp(now, armed.error_file, sizeof now) == 0;
}

static void tell(const char *what, const char *why, const char *remedy)
{
    char line[1200];
    int n = snprintf(line, sizeof line, "reckon: %s: %s%s%s\n", what, why, *remedy ? "; " : "", remedy);

    if (n > 0 && has_error_fd())
        rk_sink_write_fd((void *)(intptr_t)armed.error_fd, line, strlen(line));
}

static int write_file(const char *path, struct rk_error *e)
{
    _cleanup_close_ int fd = -1;
    int rc = rk_sink_open_file(path, 0, &fd, e);

    if (rc < 0)
        return rc;
    const struct rk_sink sink = {sizeof sink, 0, rk_sink_write_fd, (void *)(intptr_t)fd};
    return regions_export(armed.regions, "json", &sink, e);
}

/* At exit(), or where this library is unloaded. */
static void report(void)
{
    struct rk_error e = {.size = sizeof e};
    const struct rk_sink text = {sizeof text, 0, rk_sink_write_fd, (void *)(intptr_t)armed.error_fd};
    struct sys_hold hold;

    if (armed.over || regions_forked(armed.regions))
        return;
    __atomic_store_n(&armed.over, true, __ATOMIC_RELEASE);
    pthread_key_delete(armed.key);
    sys_pipe_hold(&hold); /* a reader that has gone is no reason to die here */
    bool written = false;
    if (armed.path) {
        written = write_file(armed.path, &e) == 0;
        if (!written)
            tell(armed.path, e.what, "here is what was counted:");
    }
    if (!written && has_error_fd() && regions_export(armed.regions, "text", &text, &e) < 0)
        tell("regions", e.what, e.remedy);
    sys_pipe_release(&hold);
}

static void thread_ends(void *thread)
{
    self = NULL;
    if (!regions_forked(armed.regions))
        regions_leave(thread);
}

/* The path with %p replaced, and made absolute; NULL: no memory. */
static char *output_path(const char *pattern)
{
    int rc = 0;
    _cleanup_free_ char *directory = pattern[0] == '/' ? NULL : sys_directory(&rc);
    size_t n = strlen(pattern), room = n + (directory ? strlen(directory) : 0) + 2;
    char id[16], *path, *to;

    snprintf(id, sizeof id, "%d", (int)sys_process_id());
    for (const char *at = pattern; (at = strstr(at, "%p")); at += 2)
        room += strlen(id);
    to = path = malloc(room);
    if (!path)
        return NULL;
    if (directory)
        to += sprintf(to, "%s/", directory);
    for (const char *at = pattern; *at;)
        if (at[0] == '%' && at[1] == 'p') {
            to += sprintf(to, "%s", id);
            at += 2;
        } else {
            *to++ = *at++;
        }
    *to = 0;
    return path;
}

static int arm(const char *events, const char *output, struct regions **ret, struct rk_error *e)
{
    int rc = regions_new(events, ret, e);

    if (rc < 0)
        return rc;
    if (output && *output && !(armed.path = output_path(output)))
        return fail_memory(e, RK_STAGE_OPEN);
    rc = -pthread_key_create(&armed.key, thread_ends);
    if (rc < 0)
        return fail(e, rc, RK_STAGE_OPEN, RK_CAUSE_UNKNOWN, NULL, "cannot follow threads: %s", strerror(-rc));
    sys_library_pin((void *)(uintptr_t)arm); /* threads will call thread_ends() */
    if (atexit(report) != 0) {
        pthread_key_delete(armed.key);
        return fail_memory(e, RK_STAGE_OPEN);
    }
    return 0;
}

static void ask(void)
{
    const char *events = secure_getenv("RECKON_REGIONS"), *output = secure_getenv("RECKON_REGIONS_OUTPUT");
    struct rk_error e = {.size = sizeof e};
    struct regions *regions = NULL;

    if (!events || !*events)
        return;
    armed.error_fd = sys_duplicate(STDERR_FILENO);
    if (armed.error_fd >= 0 && sys_file_identity(armed.error_fd, armed.error_file) < 0) {
        sys_close(armed.error_fd);
        armed.error_fd = -1;
    }
    if (arm(events, output, &regions, &e) == 0) {
        armed.regions = regions;
        return;
    }
    if (e.cause == RK_CAUSE_NO_EVENT) /* RECKON_REGIONS=1, maybe */
        snprintf(e.remedy, sizeof e.remedy,
                 "`reckon list` shows what there is; RECKON_REGIONS=default will do");
    tell("RECKON_REGIONS", e.what, e.remedy);
    regions_free(regions);
    free(armed.path);
    if (armed.error_fd >= 0)
        sys_close(armed.error_fd);
    armed.path = NULL;
    armed.error_fd = -1;
}

static struct regions *regions_if_armed(void)
{
    pthread_once(&armed.asked, ask);
    return armed.regions;
}

int rk_region_armed(void)
{
    struct regions *regions = regions_if_armed();

    return regions && !regions_forked(regions) && !__atomic_load_n(&armed.over, __ATOMIC_ACQUIRE);
}

struct rk_region *rk_region_named(const char *name)
{
    struct regions *regions = regions_if_armed();

    if (!regions || !name || regions_forked(regions))
        return RK_REGION_OFF;
    struct rk_region *region = regions_get(regions, name);
    return region ? region : RK_REGION_OFF;
}

static __attribute__((noinline, cold)) int join(void)
{
    if (__atomic_load_n(&armed.over, __ATOMIC_ACQUIRE))
        return -ESHUTDOWN;
    struct region_thread *thread = regions_join(armed.regions);
    if (!thread)
        return -ENOMEM;
    if (pthread_setspecific(armed.key, thread) != 0) {
        regions_leave(thread); /* it would not be seen to end */
        return -ENOMEM;
    }
    self = thread;
    return 0;
}

int rk_region_begin(struct rk_region *region)
{
    if (region == RK_REGION_OFF || !region)
        return region ? 0 : -EINVAL;
    if (regions_forked(armed.regions))
        return -ESTALE;
    if (__builtin_expect(!self, 0)) {
        int rc = join();
        if (rc < 0)
            return rc;
    }
    return region_thread_begin(self, region);
}

int rk_region_end(struct rk_region *region)
{
    if (region == RK_REGION_OFF || !region)
        return region ? 0 : -EINVAL;
    if (regions_forked(armed.regions))
        return -ESTALE;
    return self ? region_thread_end(self, region) : -EINVAL;
}

struct rk_region *rk_region_enter(struct rk_region **site, const char *name)
{
    struct rk_region *region = site ? __atomic_load_n(site, __ATOMIC_ACQUIRE) : NULL;

    if (!region) {
        region = rk_region_named(name);
        if (site)
            __atomic_store_n(site, region, __ATOMIC_RELEASE);
    }
    rk_region_begin(region);
    return region;
}

int rk_region_export(const char *format, const struct rk_sink *sink, struct rk_error *e)
{
    struct regions *regions = regions_if_armed();

    if (!regions)
        return fail(e, -ENODATA, RK_STAGE_EXPORT, RK_CAUSE_ARGUMENT,
                    "set RECKON_REGIONS to the events to count", "regions are off");
    if (regions_forked(regions))
        return fail(e, -ESTALE, RK_STAGE_EXPORT, RK_CAUSE_FORKED, NULL,
                    "a forked child's regions are not counted");
    return regions_export(regions, format, sink, e);
}

int rk_region_export_fd(const char *format, int fd, struct rk_error *e)
{
    const struct rk_sink sink = sink_fd(fd);

    return rk_region_export(format, &sink, e);
}

int rk_region_export_path(const char *format, const char *path, struct rk_error *e)
{
    struct sink_file file;
    int rc = sink_file_open(&file, path, e);

    return rc < 0 ? rc : sink_file_close(&file, rk_region_export(format, &file.sink, e), e);
}

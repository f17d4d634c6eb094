/*
 * What a command-line test finds around it, so that all find it in one way:
 *
 *     room self      this process may measure itself
 *     room all       … and everything: the kernel, whole CPUs, other users' processes
 *     room lock      … and may lock as much memory for rings as it likes
 *     room nobody    this is root, and can become a plain user
 *     room tracefs   prints where tracefs is; this user can read it
 *     room cgroup    prints where the cgroups are that reckon counts
 *
 * Exit status 0, or 77 with the reason: as the test's own, where all of it depends on that.
 */
#include "../rights.h"

#include <reckon/reckon.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noreturn, format(printf, 1, 2))) static void no(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vprintf(format, ap);
    putchar('\n');
    va_end(ap);
    exit(77);
}

/* With kernel.perf_event_paranoid below 0 nobody's memory is limited. */
static void may_lock(void)
{
    struct rk_host *host = NULL;
    int64_t level = 0;

    if (rk_host_open(NULL, &host, NULL) < 0 ||
        (rk_host_fact(host, RK_FACT_CAP_IPC_LOCK) != 1 &&
         (rk_host_limit(host, RK_LIMIT_PARANOID, &level) < 0 || level >= 0)))
        no("what this user may lock is limited");
    rk_host_free(host);
}

static int mounted(const char *what, uint32_t first, uint32_t second)
{
    struct rk_host *host = NULL;
    const char *path = NULL;
    int rc = rk_host_open(NULL, &host, NULL);

    if (rc == 0)
        rc = rk_host_mount(host, first, &path);
    if (rc == -ENOENT && host)
        rc = rk_host_mount(host, second, &path);
    if (rc < 0)
        no("%s: %s", what, rc == -ENOENT ? "not mounted" : strerror(-rc));
    puts(path);
    rk_host_free(host);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (!strcmp(what, "self")) {
        int rc = try_clock(0, -1, false);
        if (rc < 0)
            no("perf_event_open is refused here: %s", strerror(-rc));
    } else if (!strcmp(what, "all")) {
        int rc = try_clock(-1, 0, true);
        if (rc < 0)
            no("this user may not measure a whole CPU: %s", strerror(-rc));
    } else if (!strcmp(what, "lock")) {
        may_lock();
    } else if (!strcmp(what, "nobody")) {
        if (!can_become(65534))
            no(geteuid() == 0 ? "this root can't become a plain user" : "this is a plain user already");
    } else if (!strcmp(what, "tracefs")) {
        return mounted(what, RK_MOUNT_TRACEFS, RK_MOUNT_TRACEFS);
    } else if (!strcmp(what, "cgroup")) {
        return mounted(what, RK_MOUNT_CGROUP1, RK_MOUNT_CGROUP2);
    } else {
        fprintf(stderr, "room: no question '%s'\n", what);
        return 2;
    }
    return 0;
}

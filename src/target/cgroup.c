/*
 * cgroups as a target: directories below the mount point of the hierarchy that perf counts by.
 *
 * That is cgroup v1's where its perf_event controller is mounted, since the controller is in one hierarchy only; else
 * v2's, which has it built in. perf_event_open(2) wants a descriptor of the directory; only the path is kept here, and
 * the directory is opened when a set is, so that a plan for many takes no descriptors.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "host/host.h"
#include "sys/file.h"
#include "sys/limit.h"
#include "target/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

static int find_mount(struct rk_host *host, const char **ret, struct rk_error *e)
{
    int rc = rk_host_mount(host, RK_MOUNT_CGROUP1, ret);

    if (rc == -ENOENT)
        rc = rk_host_mount(host, RK_MOUNT_CGROUP2, ret);
    if (rc == -ENOENT)
        return fail(e, rc, RK_STAGE_TARGET, RK_CAUSE_NO_FILE, "sudo mount -t cgroup2 none /sys/fs/cgroup",
                    "no cgroups here: neither cgroup v2 nor v1's perf_event controller is mounted");
    if (rc == -ENOMEM)
        return fail_memory(e, RK_STAGE_TARGET);
    if (rc < 0)
        return fail(e, rc, RK_STAGE_TARGET, rc == -EMFILE ? RK_CAUSE_DESCRIPTORS : RK_CAUSE_NO_FILE,
                    rc == -EMFILE ? sys_limit_more_descriptors() : NULL,
                    "cannot read from /proc/self/mountinfo where cgroups are mounted: %s", strerror(-rc));
    return 0;
}

/* `name` as a path from the root on: below the mount, unless it says so itself. To be freed; NULL: no memory. */
static char *join(const char *mount, const char *name)
{
    size_t n = strlen(mount);
    bool whole = n > 1 && strncmp(name, mount, n) == 0 && (name[n] == '/' || name[n] == '\0');
    size_t room = n + strlen(name) + 2;
    char *path = malloc(room);

    if (!path)
        return NULL;
    snprintf(path, room, "%s%s%s", whole ? "" : mount, whole || name[0] == '/' ? "" : "/", name);
    return path;
}

/* A ".." would lead out of the hierarchy. */
static bool leads_up(const char *name)
{
    for (const char *at = name; (at = strstr(at, "..")); at += 2)
        if ((at == name || at[-1] == '/') && (at[2] == '/' || at[2] == '\0'))
            return true;
    return false;
}

static int take(struct rk_host *host, const char *mount, const char *name, struct target_cgroup *ret,
                struct rk_error *e)
{
    char shown[128], remedy[160];

    if (!name || !*name || leads_up(name))
        return fail_argument(e, RK_STAGE_TARGET, "a cgroup's path is %s",
                             !name   ? "NULL"
                             : *name ? "to go down, without .."
                                     : "empty; / is the topmost");
    ret->name = strdup(name);
    ret->path = join(mount, name);
    if (!ret->name || !ret->path)
        return fail_memory(e, RK_STAGE_TARGET);
    int fd = sys_open_at(host->root, ret->path, O_RDONLY | O_DIRECTORY, 0);
    if (fd >= 0) {
        sys_close(fd);
        return 0;
    }
    text_show(shown, sizeof shown, name, strlen(name));
    snprintf(remedy, sizeof remedy, "find %.100s -type d lists them", mount);
    return fail(e, fd, RK_STAGE_TARGET,
                fd == -EMFILE   ? RK_CAUSE_DESCRIPTORS
                : fd == -EACCES ? RK_CAUSE_NOT_YOURS
                                : RK_CAUSE_NO_FILE,
                fd == -EMFILE   ? sys_limit_more_descriptors()
                : fd == -EACCES ? "run as root"
                                : remedy,
                "%s: %s below %.60s", shown,
                fd == -ENOENT || fd == -ENOTDIR ? "no such cgroup" : strerror(-fd), mount);
}

int rk_target_cgroups(struct rk_host *host, const char *const *paths, size_t n, const char *cpus,
                      struct rk_target **ret, struct rk_error *e)
{
    const char *mount = NULL;

    if (!host || !paths || !ret)
        return fail_null(e, RK_STAGE_TARGET, "rk_target_cgroups", !host ? "host" : !paths ? "paths" : "ret");
    if (n == 0 || n > UINT16_MAX)
        return fail_argument(e, RK_STAGE_TARGET, "rk_target_cgroups: %zu cgroups; 1 to 65535 can be measured",
                             n);
    int rc = find_mount(host, &mount, e);
    if (rc < 0)
        return rc;
    struct rk_target *target = target_new(TARGET_CGROUPS, -1);
    if (!target)
        return fail_memory(e, RK_STAGE_TARGET);
    target->cgroups = calloc(n, sizeof *target->cgroups);
    rc = target->cgroups ? target_cpus_take(target, host, cpus, e) : fail_memory(e, RK_STAGE_TARGET);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        target->n_cgroups++;
        rc = take(host, mount, paths[i], &target->cgroups[i], e);
    }
    if (rc < 0) {
        rk_target_free(target);
        return rc;
    }
    *ret = target;
    return 0;
}

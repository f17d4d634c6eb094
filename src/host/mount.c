/*
 * Where the kernel's own file systems are mounted.
 *
 * tracefs is looked for at its usual places first, which is one open; /proc/self/mountinfo is read when it is at
 * neither, and for cgroups. A line of it:
 *
 *     36 35 98:0 /root /mount/point rw,noatime master:1 - tracefs device rw,perf_event
 *      1  2    3     4            5          6   (any)  -    type          options of the file system
 *
 * The mount point has spaces and the like as \040. The first mount of a kind is taken.
 */
#include "base/cleanup.h"
#include "host/host.h"
#include "sys/file.h"

#include <fcntl.h>
#include <stdio.h>

#define MOUNTINFO_MOST (4 << 20)

/* \ooo → the byte, in place. */
static void unescape(char *text)
{
    char *to = text;

    for (const char *from = text; *from; to++) {
        if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' && from[2] <= '7' &&
            from[3] >= '0' && from[3] <= '7') {
            *to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

struct mount_line {
    char *point;
    const char *type, *options;
};

/* Takes a line apart, in place. False where it is not of that shape. */
static bool take_apart(char *line, struct mount_line *ret)
{
    char *word, *rest = line;

    *ret = (struct mount_line){0};
    for (int field = 1; (word = strsep(&rest, " ")); field++) {
        if (field == 5)
            ret->point = word;
        if (field > 6 && strcmp(word, "-") == 0)
            break;
    }
    if (!word || !ret->point || ret->point[0] != '/')
        return false;
    ret->type = strsep(&rest, " ");
    (void)strsep(&rest, " "); /* the device */
    ret->options = rest ? rest : "";
    unescape(ret->point);
    return ret->type != NULL;
}

static bool has_option(const char *options, const char *wanted)
{
    size_t n = strlen(wanted);

    for (const char *at = options; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, wanted, n) == 0 && (at[n] == ',' || at[n] == '\0'))
            return true;
    return false;
}

/* The path of the first mount of a type (and with an option), with `below` added; 0, -ENOENT, or -errno. */
static int find(struct rk_host *host, const char *type, const char *option, const char *below, char **ret)
{
    _cleanup_free_ char *text = NULL;
    struct mount_line mount;
    char *line, *rest;
    size_t n;
    int rc = sys_file_load(host->root, "proc/self/mountinfo", MOUNTINFO_MOST, &text, &n);

    if (rc < 0)
        return rc;
    rest = text;
    while ((line = strsep(&rest, "\n"))) {
        if (!take_apart(line, &mount) || strcmp(mount.type, type) != 0 ||
            (option && !has_option(mount.options, option)))
            continue;
        size_t room = strlen(mount.point) + strlen(below) + 1;
        char *path = malloc(room);
        if (!path)
            return -ENOMEM;
        snprintf(path, room, "%s%s", mount.point, below);
        *ret = path;
        return 0;
    }
    return -ENOENT;
}

/* Whether PATH/below can be read: 0 or -errno. */
static int readable(const struct rk_host *host, const char *path, const char *below)
{
    char full[4200];

    if ((size_t)snprintf(full, sizeof full, "%s/%s", path, below) >= sizeof full)
        return -ENAMETOOLONG;
    int fd = sys_open_at(host->root, full, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return fd;
    sys_close(fd);
    return 0;
}

static int find_tracefs(struct rk_host *host, char **ret)
{
    static const char *const usual[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

    for (size_t i = 0; i < 2; i++) {
        int rc = readable(host, usual[i], "events");
        if (rc == -ENOENT)
            continue;
        *ret = strdup(usual[i]);
        return *ret ? rc : -ENOMEM;
    }
    int rc = find(host, "tracefs", NULL, "", ret);
    if (rc == -ENOENT)
        rc = find(host, "debugfs", NULL, "/tracing", ret);
    return rc < 0 ? rc : readable(host, *ret, "events");
}

static int find_mount(struct rk_host *host, uint32_t mount, char **ret)
{
    if (mount == RK_MOUNT_TRACEFS)
        return find_tracefs(host, ret);
    int rc = mount == RK_MOUNT_CGROUP2 ? find(host, "cgroup2", NULL, "", ret)
                                       : find(host, "cgroup", "perf_event", "", ret);
    return rc < 0 ? rc : readable(host, *ret, ".");
}

int rk_host_mount(struct rk_host *host, uint32_t mount, const char **ret)
{
    if (!host || !ret || mount >= HOST_MOUNTS)
        return -EINVAL;
    struct host_answer *answer = &host->mounts[mount];
    if (!answer->asked) {
        char *path = NULL;
        answer->rc = find_mount(host, mount, &path);
        if (host_transient(answer->rc)) {
            free(path);
            return answer->rc;
        }
        if (answer->rc == -EACCES && !path) /* not of the mount: the list of them can't be read */
            answer->rc = -EPERM;
        answer->asked = true;
        host->mount_paths[mount] = path;
    }
    if (answer->rc == 0 || answer->rc == -EACCES)
        *ret = host->mount_paths[mount];
    return answer->rc;
}

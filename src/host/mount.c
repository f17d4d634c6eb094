/*
 * Where the kernel's own file systems are mounted.
 *
 * tracefs is looked for at its usual places first, which is one open; /proc/self/mountinfo is read when it is at
 * neither, and for cgroups. A line of it:
 *
 *     36 35 98:0 /root /mount/point rw,noatime master:1 - tracefs device rw,perf_event
 *      1  2    3     4            5          6   (any)  -    type          options of the file system
 *
 * 1 is the mount's number, 2 that of the mount it lies on. The mount point has spaces and the like as \040.
 *
 * The first mount of a kind that this process can reach is used. The kernel lists no mount outside of the process's
 * root. A mount is hidden where another one covers its mount point, or a directory above it. A mount of a part of a
 * file system (4 is not "/") is used only where there is no whole one: a container may have no other.
 */
#include "base/cleanup.h"
#include "base/vector.h"
#include "host/host.h"
#include "sys/file.h"

#include <fcntl.h>
#include <stdio.h>

#define MOUNTINFO_MOST (4 << 20)
#define STACK_MOST 64 /* mounts upon one another; one above more of them counts as hidden */

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
    int64_t id, parent;
    char *root, *point;
    const char *type, *options;
};

struct mount_list { /* a VECTOR */
    struct mount_line *items;
    size_t n, room;
};

/* Takes a line apart, in place. False where it is not of that shape. */
static bool take_apart(char *line, struct mount_line *ret)
{
    char *word, *rest = line;

    *ret = (struct mount_line){0};
    for (int field = 1; (word = strsep(&rest, " ")); field++) {
        if (field == 1)
            ret->id = strtoll(word, NULL, 10);
        if (field == 2)
            ret->parent = strtoll(word, NULL, 10);
        if (field == 4)
            ret->root = word;
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

/* Whether a mount at `point` is at `path` or above it. */
static bool covers(const char *point, const char *path)
{
    size_t n = strlen(point);

    if (n == 1) /* "/" */
        return true;
    return strncmp(point, path, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

/*
 * Whether a mount is what its path leads to: every mount at or above its mount point is one that it lies on, directly
 * or through others. Any other was mounted over it.
 */
static bool visible(const struct mount_list *list, const struct mount_line *mount)
{
    const struct mount_line *at = mount;
    size_t covering = 0, below = 0;

    for (size_t i = 0; i < list->n; i++)
        covering += covers(list->items[i].point, mount->point);
    while (at && below < covering && below < STACK_MOST) {
        const struct mount_line *parent = NULL;
        for (size_t i = 0; i < list->n && !parent; i++)
            if (list->items[i].id == at->parent && covers(list->items[i].point, mount->point))
                parent = &list->items[i];
        at = parent;
        below++;
    }
    return below == covering;
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

/*
 * Tries a place. It becomes *ret where it can be read (0), and where this user can't and no place before was such
 * (-EACCES). Else the answer is that of the places before, rc, unless that is only -ENOENT.
 */
static int try_place(const struct rk_host *host, const char *point, const char *below, const char *wanted,
                     int rc, char **ret)
{
    size_t room = strlen(point) + strlen(below) + 1;
    char *path = malloc(room);

    if (!path)
        return -ENOMEM;
    snprintf(path, room, "%s%s", point, below);
    int tried = readable(host, path, wanted);
    if (tried == 0 || (tried == -EACCES && !*ret)) {
        free(*ret);
        *ret = path;
        return tried;
    }
    free(path);
    return host_transient(tried) || (rc == -ENOENT && tried != -ENOTDIR) ? tried : rc;
}

/* The mounts of a type (and with an option) in turn, as try_place(). `wanted` is a directory that it must have. */
static int try_mounts(const struct rk_host *host, const struct mount_list *list, const char *type,
                      const char *option, const char *below, const char *wanted, int rc, char **ret)
{
    for (int part = 0; part <= 1; part++) {
        for (size_t i = 0; i < list->n; i++) {
            const struct mount_line *mount = &list->items[i];
            if (strcmp(mount->type, type) != 0 || (option && !has_option(mount->options, option)) ||
                (strcmp(mount->root, "/") != 0) != part || !visible(list, mount))
                continue;
            rc = try_place(host, mount->point, below, wanted, rc, ret);
            if (rc == 0 || host_transient(rc))
                return rc;
        }
    }
    return rc;
}

/* The lines of `text`, which they point into. */
static int read_list(char *text, struct mount_list *ret)
{
    struct mount_line mount;
    char *line;

    while ((line = strsep(&text, "\n"))) {
        if (!take_apart(line, &mount))
            continue;
        struct mount_line *to = vector_push(ret);
        if (!to)
            return -ENOMEM;
        *to = mount;
    }
    return 0;
}

static int find_mount(struct rk_host *host, uint32_t mount, char **ret)
{
    static const char *const usual[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
    _cleanup_free_ char *text = NULL;
    struct mount_list list = {0};
    int rc = -ENOENT;
    size_t n;

    for (size_t i = 0; mount == RK_MOUNT_TRACEFS && i < 2; i++) {
        rc = try_place(host, usual[i], "", "events", rc, ret);
        if (rc == 0 || host_transient(rc))
            return rc;
    }
    int loaded = sys_file_load(host->root, "proc/self/mountinfo", MOUNTINFO_MOST, &text, &n);
    if (loaded < 0)
        return rc == -EACCES && !host_transient(loaded) ? rc : loaded;
    if (read_list(text, &list) < 0)
        rc = -ENOMEM;
    else if (mount == RK_MOUNT_CGROUP2)
        rc = try_mounts(host, &list, "cgroup2", NULL, "", ".", rc, ret);
    else if (mount == RK_MOUNT_CGROUP1)
        rc = try_mounts(host, &list, "cgroup", "perf_event", "", ".", rc, ret);
    else {
        rc = try_mounts(host, &list, "tracefs", NULL, "", "events", rc, ret);
        if (rc < 0 && !host_transient(rc))
            rc = try_mounts(host, &list, "debugfs", NULL, "/tracing", "events", rc, ret);
    }
    vector_free(&list);
    return rc;
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

/*
 * A process that runs already, from /proc/PID/maps, ns/, comm and task/.
 */
#include "image/process.h"
#include "sys/file.h"
#include "sys/maps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { MAPS_MAX = 1 << 26 };

int maps_parse(struct rk_image *image, int32_t pid, uint64_t mounts, char *text, struct space **space)
{
    struct maps_line line;
    int rc;

    while ((rc = maps_next(&text, &line)) > 0) {
        const struct rk_mapping mapping = {.size = sizeof mapping,
                                           .pid = pid,
                                           .major = line.major,
                                           .minor = line.minor,
                                           .start = line.start,
                                           .length = line.end - line.start,
                                           .file_offset = line.offset,
                                           .inode = line.inode,
                                           .path = line.path};
        rc = line.protection & 4 ? image_map(image, space, &mapping, mounts) : 0;
        if (rc < 0)
            break;
    }
    return rc;
}

struct walk {
    struct rk_image *image;
    int root;
    int32_t pid;
    uint64_t mounts, pids;
};

static int read_comm(const struct walk *walk, int32_t tid)
{
    char path[64], name[64];

    snprintf(path, sizeof path, "proc/%d/task/%d/comm", walk->pid, tid);
    int rc = sys_file_text(walk->root, path, name, sizeof name);
    if (rc == -ENOMEM)
        return rc;
    return rc < 0 ? 0 : image_set_comm(walk->image, walk->pid, tid, name); /* it may have ended meanwhile */
}

static int each_thread(void *context, const char *name)
{
    char *end;
    long tid = strtol(name, &end, 10);

    return *end || tid <= 0 || tid > INT32_MAX ? 0 : read_comm(context, (int32_t)tid);
}

/* The inode of "mnt:[4026531841]"; 0 where it can't be read: it is not ours to look at. */
static uint64_t read_namespace(const struct walk *walk, const char *kind)
{
    char path[64], text[64];

    snprintf(path, sizeof path, "proc/%d/ns/%s", walk->pid, kind);
    int n = sys_link_at(walk->root, path, text, sizeof text);
    const char *bracket = n < 0 ? NULL : strchr(text, '[');
    return bracket ? strtoull(bracket + 1, NULL, 10) : 0;
}

static int read_process(struct walk *walk, struct space **space)
{
    char path[64];
    _cleanup_free_ char *maps = NULL;
    size_t n;

    snprintf(path, sizeof path, "proc/%d/maps", walk->pid);
    int rc = sys_file_load(walk->root, path, MAPS_MAX, &maps, &n);
    if (rc == 0)
        rc = maps_parse(walk->image, walk->pid, walk->mounts, maps, space);
    if (rc < 0)
        return rc == -ENOENT ? -ESRCH : rc;
    snprintf(path, sizeof path, "proc/%d/task", walk->pid);
    rc = sys_dir_each(walk->root, path, each_thread, walk);
    return rc == -ENOENT ? -ESRCH : rc;
}

int image_feed_process(struct rk_image *image, int root, int32_t pid)
{
    struct walk walk = {.image = image, .root = root, .pid = pid};
    walk.mounts = read_namespace(&walk, "mnt");
    walk.pids = read_namespace(&walk, "pid");
    struct space *space = NULL;
    int rc = read_process(&walk, &space);
    struct process *process = rc == 0 ? image_process(image, pid) : NULL;
    if (!process) {
        space_drop(space);
        return rc < 0 ? rc : -ENOMEM;
    }
    space_drop(process->space);
    process->space = space;
    process->mounts = walk.mounts;
    process->pids = walk.pids;
    process->known = true;
    process->ended = false;
    return 0;
}

int rk_image_feed_process(struct rk_image *image, const char *root, int32_t pid)
{
    if (!image || pid <= 0)
        return -EINVAL;
    _cleanup_close_ int fd = sys_root_open(root);
    return fd < 0 ? fd : image_feed_process(image, fd, pid);
}

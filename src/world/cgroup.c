/*
 * cgroups that exist: a CGROUP record for each, as the kernel writes one when a cgroup is made. A sample's id of its cgroup is
 * the inode of its directory. Level by level, so that where there are more than are told those further up are.
 */
#include "base/vector.h"
#include "record/encode.h"
#include "sys/file.h"
#include "world/world.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 4096

struct walk {
    struct world *world;
    const char *mount;
    VECTOR(char *) paths; /* below the mount, each from '/' on; those that were read, and those to come */
    const char *above;
};

static int add(struct walk *walk, const char *above, const char *name)
{
    size_t n = strlen(above) + strlen(name) + 2;
    char *path = n <= PATH_BYTES && walk->paths.n < WORLD_CGROUPS_MOST ? malloc(n) : NULL;
    char **row = path ? vector_push(&walk->paths) : NULL;

    if (!row) {
        free(path);
        return n > PATH_BYTES || walk->paths.n >= WORLD_CGROUPS_MOST ? 0 : -ENOMEM;
    }
    snprintf(path, n, "%s/%s", strcmp(above, "/") == 0 ? "" : above, name);
    *row = path;
    return 0;
}

static int each_below(void *context, const char *name)
{
    struct walk *walk = context;

    return add(walk, walk->above, name);
}

static int put_cgroup(struct walk *walk, const char *path)
{
    struct world *w = walk->world;
    char full[2 * PATH_BYTES];
    struct sys_status status;

    snprintf(full, sizeof full, "%s%s", walk->mount, path);
    int fd = sys_open_at(w->root, full, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return fd == -ENOTDIR ? 0 : world_unless_hidden(fd);
    int r = sys_file_status(fd, &status);
    sys_close(fd);
    if (r < 0)
        return r;
    struct rk_record from = {.pid = -1};
    struct rk_cgroup cgroup = {.size = sizeof cgroup, .id = status.inode, .path = path};
    if ((r = world_put(w, encode_cgroup(w->layout, &from, &cgroup, w->buffer, sizeof w->buffer))) < 0)
        return r;
    walk->above = path;
    r = sys_dir_each_below(w->root, full, each_below, walk);
    return world_unless_hidden(r);
}

int world_cgroups(struct world *w, const char *mount)
{
    struct walk walk = {.world = w, .mount = mount};
    int r = add(&walk, "/", "");

    for (size_t i = 0; r == 0 && i < walk.paths.n; i++)
        r = put_cgroup(&walk, walk.paths.items[i]);
    for (size_t i = 0; i < walk.paths.n; i++)
        free(walk.paths.items[i]);
    vector_free(&walk.paths);
    return r;
}

#include "capture/keep.h"

#include "elf/object.h"
#include "sys/file.h"
#include "sys/limit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define LINK_BYTES 64

/* The number of the mount namespace that /proc/NAME/ns/mnt is: "mnt:[4026531841]". 0: not to be had. */
static uint64_t mounts_of(int root, const char *name)
{
    char path[LINK_BYTES], text[LINK_BYTES];
    uint64_t number = 0;

    snprintf(path, sizeof path, "proc/%s/ns/mnt", name);
    if (sys_link_at(root, path, text, sizeof text) < 0 || sscanf(text, "mnt:[%" SCNu64 "]", &number) != 1)
        return 0;
    return number;
}

int keep_process(struct keep *keep, int root, int32_t pid)
{
    char name[16], path[LINK_BYTES];

    if (pid <= 0 || keep->roots.n >= KEEP_ROOTS)
        return 0;
    if (!keep->own_mounts)
        keep->own_mounts = mounts_of(root, "self");
    snprintf(name, sizeof name, "%" PRId32, pid);
    uint64_t mounts = mounts_of(root, name);
    if (!mounts || mounts == keep->own_mounts)
        return 0;
    for (size_t i = 0; i < keep->roots.n; i++)
        if (keep->roots.items[i].mounts == mounts)
            return 0;
    snprintf(path, sizeof path, "proc/%" PRId32 "/root", pid);
    int fd = sys_open_at(root, path, O_PATH | O_DIRECTORY, 0);
    if (fd < 0)
        return 0;
    struct kept_root *row = vector_push(&keep->roots);
    if (!row) {
        sys_close(fd);
        return -ENOMEM;
    }
    *row = (struct kept_root){mounts, fd};
    return 0;
}

/* Below the roots of namespaces, where a file must prove to be it. */
static int open_below_roots(const struct keep *keep, const struct rk_module *module, struct elf **ret)
{
    struct rk_module wanted = *module;
    char path[OBJECT_PATH_MAX];
    struct build_id id;

    wanted.pid = 0; /* its process is gone */
    for (size_t i = 0; i < keep->roots.n; i++) {
        struct elf *elf = NULL;
        int rc = object_open(keep->roots.items[i].fd, &wanted, NULL, path, &elf, &id);
        if (rc == 1) {
            *ret = elf;
            return 1;
        }
        if (rc == 0)
            elf_close(elf);
        if (rc == -ENOMEM)
            return rc;
    }
    return -ENOENT;
}

int keep_file(struct keep *keep, int root, uint32_t number, const struct rk_module *module)
{
    _cleanup_elf_ struct elf *elf = NULL;
    char path[OBJECT_PATH_MAX];
    struct build_id id;

    if (!keep->limit) {
        int64_t most = 0;
        sys_limit_get(SYS_LIMIT_NOFILE, &most, NULL);
        keep->limit = most / 4 < KEEP_FILES ? (uint32_t)(most / 4) + 1 : KEEP_FILES;
    }
    if (module->kind != RK_MODULE_FILE || keep->files.n >= keep->limit)
        return 0;
    int rc = object_open(root, module, NULL, path, &elf, &id);
    if (rc <= 0 && keep->roots.n && (module->inode || module->build_id_bytes)) {
        struct elf *below = NULL;
        int found = open_below_roots(keep, module, &below);
        if (found == 1) {
            elf_close(elf);
            elf = below;
            rc = 1;
        } else if (found == -ENOMEM) {
            return found;
        }
    }
    if (rc < 0 || elf->fd < 0)
        return rc == -ENOMEM ? rc : 0;
    int fd = sys_duplicate(elf->fd);
    if (fd < 0)
        return 0;
    struct kept_file *row = vector_push(&keep->files);
    if (!row) {
        sys_close(fd);
        return -ENOMEM;
    }
    *row = (struct kept_file){number, fd};
    return 0;
}

int keep_find(const struct keep *keep, uint32_t number)
{
    for (size_t i = 0; i < keep->files.n; i++)
        if (keep->files.items[i].module == number)
            return keep->files.items[i].fd;
    return -1;
}

void keep_close(struct keep *keep)
{
    for (size_t i = 0; i < keep->files.n; i++)
        sys_close(keep->files.items[i].fd);
    for (size_t i = 0; i < keep->roots.n; i++)
        sys_close(keep->roots.items[i].fd);
    vector_free(&keep->files);
    vector_free(&keep->roots);
    *keep = (struct keep){0};
}

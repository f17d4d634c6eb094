#include "elf/object.h"

#include "elf/section.h"
#include "sys/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct build_id object_build_id(const struct rk_module *module)
{
    struct build_id id = {.bytes = module->build_id_bytes};

    if (id.bytes > sizeof id.id)
        id.bytes = sizeof id.id;
    memcpy(id.id, module->build_id, id.bytes);
    return id;
}

/* Whether that is about this process, not about the file: there is no use in looking elsewhere. Nor is there once the
 * budget is spent. */
static bool is_own_trouble(int rc)
{
    return rc == -ENOMEM || rc == -EMFILE || rc == -ENFILE || rc == -EDQUOT;
}

/* 1: it is the file that was mapped; 0: that can't be known; -ESTALE: it is another; -errno. */
static int prove(struct elf *elf, const struct rk_module *module, struct build_id *ret_id)
{
    struct build_id asked = object_build_id(module), own = {0};
    struct sys_status status;
    int rc = elf_build_id(elf, &own);

    if (is_own_trouble(rc) || (rc < 0 && rc != -ENODATA && asked.bytes))
        return rc;
    if (rc < 0)
        own.bytes = 0;
    *ret_id = own;
    if (asked.bytes)
        return build_id_same(&asked, &own) ? 1 : -ESTALE;
    if (!module->inode || elf->fd < 0)
        return 0;
    rc = sys_file_status(elf->fd, &status);
    if (rc < 0)
        return rc;
    return status.inode == module->inode ? 1 : -ESTALE;
}

static int open_proved(int root, const char *path, const struct rk_module *module, struct budget *budget,
                       struct elf **ret, struct build_id *ret_id)
{
    _cleanup_elf_ struct elf *elf = NULL;
    struct build_id id = {0};
    int rc = elf_open_paid(root, path, budget, &elf, NULL);

    if (rc == 0)
        rc = prove(elf, module, &id);
    if (rc <= 0)
        return rc < 0 ? rc : -ESTALE;
    *ret = TAKE_PTR(elf);
    *ret_id = id;
    return 1;
}

/* Through the process that has it, while it lives. 1, -ENOENT, or what is about this process. */
static int open_through(int root, const struct rk_module *module, struct budget *budget,
                        char path[OBJECT_PATH_MAX], struct elf **ret, struct build_id *ret_id)
{
    for (int way = 0; module->pid > 0 && way < 3; way++) {
        int n;
        if (way == 0)
            n = snprintf(path, OBJECT_PATH_MAX, "/proc/%" PRId32 "/root%s", module->pid, module->path);
        else if (way == 1)
            n = snprintf(path, OBJECT_PATH_MAX, "/proc/%" PRId32 "/map_files/%" PRIx64 "-%" PRIx64,
                         module->pid, module->start, module->end);
        else
            n = snprintf(path, OBJECT_PATH_MAX, "/proc/%" PRId32 "/exe", module->pid);
        if (n >= OBJECT_PATH_MAX)
            continue;
        int rc = open_proved(root, path, module, budget, ret, ret_id);
        if (rc > 0 || is_own_trouble(rc))
            return rc;
    }
    return -ENOENT;
}

static int open_vdso(const struct rk_module *module, struct elf **ret, struct build_id *ret_id)
{
    _cleanup_elf_ struct elf *elf = NULL;
    int rc = elf_open_vdso(&elf);

    if (rc == 0)
        rc = prove(elf, module, ret_id);
    if (rc >= 0)
        *ret = TAKE_PTR(elf);
    return rc;
}

int object_open(int root, const struct rk_module *module, struct budget *budget,
                char ret_path[OBJECT_PATH_MAX], struct elf **ret, struct build_id *ret_id)
{
    _cleanup_elf_ struct elf *own = NULL;
    struct build_id id = {0};
    int proof = 0;

    if (module->kind == RK_MODULE_VDSO) {
        snprintf(ret_path, OBJECT_PATH_MAX, "[vdso]");
        return open_vdso(module, ret, ret_id);
    }
    int rc = elf_open_paid(root, module->path, budget, &own, NULL);
    if (rc == 0)
        proof = prove(own, module, &id);
    if (is_own_trouble(rc) || is_own_trouble(proof))
        return rc < 0 ? rc : proof;
    bool sure = rc == 0 && (proof > 0 || (proof == 0 && !module->deleted));
    if (!sure) {
        int through = open_through(root, module, budget, ret_path, ret, ret_id);
        if (through > 0 || is_own_trouble(through))
            return through;
        if (rc == 0 && module->build_id_bytes && proof < 0)
            return proof;
        if (rc == 0 && module->deleted)
            return -ENOENT;
    }
    if (rc < 0)
        return rc;
    if (snprintf(ret_path, OBJECT_PATH_MAX, "%s", module->path) >= OBJECT_PATH_MAX)
        return -ENAMETOOLONG;
    *ret = TAKE_PTR(own);
    *ret_id = id;
    return proof > 0;
}

int object_open_kept(int fd, const struct rk_module *module, struct budget *budget,
                     char ret_path[OBJECT_PATH_MAX], struct elf **ret, struct build_id *ret_id)
{
    _cleanup_elf_ struct elf *elf = NULL;
    struct build_id id = {0};
    int copy = sys_duplicate(fd);
    int rc = copy < 0 ? copy : elf_open_fd_paid(copy, module->path, budget, &elf, NULL);

    if (rc == 0)
        rc = prove(elf, module, &id);
    if (rc < 0)
        return rc;
    if (snprintf(ret_path, OBJECT_PATH_MAX, "%s", module->path) >= OBJECT_PATH_MAX)
        return -ENAMETOOLONG;
    *ret = TAKE_PTR(elf);
    *ret_id = id;
    return rc;
}

int object_find_build_id(int root, const struct rk_module *module, struct build_id *ret)
{
    _cleanup_elf_ struct elf *elf = NULL;
    struct build_id id = object_build_id(module);
    char path[OBJECT_PATH_MAX];

    if (!id.bytes) {
        int rc = object_open(root, module, NULL, path, &elf, &id);
        if (rc < 0)
            return rc;
        if (rc == 0 && module->inode && elf->fd >= 0)
            return -ESTALE; /* another file is there now */
    }
    if (!id.bytes)
        return -ENODATA;
    *ret = id;
    return 0;
}

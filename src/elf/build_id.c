/*
 * The build-id of a file that a caller names.
 */
#include "base/error.h"
#include "elf/note.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static int give(struct elf *elf, const char *name, unsigned char *ret, struct rk_error *e)
{
    struct build_id id;
    int rc = elf_build_id(elf, &id);

    if (rc == -ENOMEM)
        return fail_memory(e, RK_STAGE_SYMBOL);
    if (rc < 0)
        return fail(e, rc, RK_STAGE_SYMBOL, RK_CAUSE_BAD_FILE, NULL, "%s: %s", name,
                    rc == -ENODATA   ? "it has no build-id"
                    : rc == -EBADMSG ? "its notes are damaged"
                                     : strerror(-rc));
    memcpy(ret, id.id, id.bytes);
    return (int)id.bytes;
}

int rk_module_build_id(const char *path, unsigned char *ret, struct rk_error *e)
{
    _cleanup_elf_ struct elf *elf = NULL;

    if (!path || !ret)
        return fail_null(e, RK_STAGE_SYMBOL, "rk_module_build_id", path ? "ret" : "path");
    int rc = elf_open_at(AT_FDCWD, path, &elf, e);
    return rc < 0 ? rc : give(elf, path, ret, e);
}

int rk_module_build_id_fd(int fd, unsigned char *ret, struct rk_error *e)
{
    _cleanup_elf_ struct elf *elf = NULL;

    if (!ret)
        return fail_null(e, RK_STAGE_SYMBOL, "rk_module_build_id_fd", "ret");
    int copy = sys_duplicate(fd);
    if (copy < 0)
        return fail(e, copy, RK_STAGE_SYMBOL, copy == -EMFILE ? RK_CAUSE_DESCRIPTORS : RK_CAUSE_ARGUMENT,
                    NULL, "descriptor %d: %s", fd, strerror(-copy));
    int rc = elf_open_fd(copy, "the descriptor", &elf, e);
    return rc < 0 ? rc : give(elf, "the descriptor", ret, e);
}

/*
 * Names into a recording.
 */
#include "base/error.h"
#include "perfdata/names.h"
#include "symbol/stored.h"
#include "sys/file.h"

#include <reckon/names.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static const char *why(int rc)
{
    switch (rc) {
    case -ENOTSUP:
        return "it has no room for names; recordings of this reckon have";
    case -EBADMSG:
        return "not a complete recording in a file";
    case -EFBIG:
        return "too many names";
    default:
        return strerror(-rc);
    }
}

int rk_names_store(const char *path, const void *data, size_t bytes, struct rk_error *e)
{
    struct stored *stored = NULL;

    if (!path || !data)
        return fail_null(e, RK_STAGE_SYMBOL, "rk_names_store", path ? "data" : "path");
    int rc = stored_open(data, bytes, &stored);
    stored_close(stored);
    if (rc == -ENOMEM)
        return fail_memory(e, RK_STAGE_SYMBOL);
    if (rc < 0)
        return fail(e, -EBADMSG, RK_STAGE_SYMBOL, RK_CAUSE_ARGUMENT, NULL,
                    "%s: the bytes are no names that this reckon reads", path);
    _cleanup_close_ int fd = sys_open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    rc = fd < 0 ? fd : names_append(fd, data, bytes);
    if (rc < 0)
        return fail(e, rc, RK_STAGE_SYMBOL,
                    rc == -ENOSPC || rc == -EDQUOT ? RK_CAUSE_NO_SPACE
                    : fd < 0                       ? RK_CAUSE_NO_FILE
                                                   : RK_CAUSE_BAD_FILE,
                    NULL, "%s: names were not stored: %s", path, why(rc));
    return 0;
}

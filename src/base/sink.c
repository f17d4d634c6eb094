#include "base/sink.h"

#include "base/error.h"
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int rk_sink_write_fd(void *context, const void *data, size_t n)
{
    int fd = (int)(intptr_t)context;
    const char *at = data;

    while (n > 0) {
        ssize_t written = write(fd, at, n);
        if (written < 0) {
            if (errno == EINTR)
                continue;
            return -errno;
        }
        at += written;
        n -= (size_t)written;
    }
    return 0;
}

static int write_file(void *context, const void *data, size_t n)
{
    struct sink_file *file = context;

    if (!file->begun && file->regular && !file->fresh && ftruncate(file->fd, 0) < 0)
        return -errno;
    file->begun = true;
    return rk_sink_write_fd((void *)(intptr_t)file->fd, data, n);
}

static int open_retried(const char *path, int flags)
{
    int fd;

    do
        fd = open(path, flags | O_WRONLY | O_CLOEXEC | O_NOCTTY, 0600);
    while (fd < 0 && errno == EINTR);
    return fd < 0 ? -errno : fd;
}

static int cannot(int code, const char *path, struct rk_error *e)
{
    uint32_t cause = code == -ENOSPC || code == -EDQUOT   ? RK_CAUSE_NO_SPACE
                     : code == -EMFILE || code == -ENFILE ? RK_CAUSE_DESCRIPTORS
                                                          : RK_CAUSE_NO_FILE;

    return fail(e, code, RK_STAGE_EXPORT, cause,
                cause == RK_CAUSE_NO_FILE ? "name a file that you can write" : NULL, "%s: %s", path,
                strerror(-code));
}

/* Neither we nor root, who may do everything anyway. */
static bool strange(const struct stat *about)
{
    return about->st_uid != 0 && about->st_uid != geteuid();
}

static int not_ours(const char *path, const char *what, const struct stat *about, struct rk_error *e)
{
    return fail(e, S_ISLNK(about->st_mode) ? -ELOOP : -EPERM, RK_STAGE_EXPORT, RK_CAUSE_NOT_YOURS,
                "name another file, or remove that one", "%s: %s that belongs to user %u, not to you (%u)",
                path, what, about->st_uid, geteuid());
}

/* Whether writing to what is open here may be somebody else's wish. A device is no disguise: only root makes one. */
static int examine(const char *path, const struct stat *about, bool linked, struct rk_error *e)
{
    if (S_ISREG(about->st_mode) && strange(about))
        return not_ours(path, "a file", about, e);
    if (S_ISREG(about->st_mode) && about->st_nlink > 1)
        return fail(e, -EPERM, RK_STAGE_EXPORT, RK_CAUSE_NOT_YOURS, "name another file, or remove that one",
                    "%s: a file that has other names too (hard links)", path);
    if (S_ISFIFO(about->st_mode) && !linked && strange(about))
        return not_ours(path, "a pipe", about, e);
    return 0;
}

/* A descriptor, or -errno with the error filled in. What stands at the path may be exchanged between any two calls:
 * what was opened decides. */
static int open_output(const char *path, int flags, struct stat *about, bool *fresh, struct rk_error *e)
{
    bool linked = false;
    int fd = open_retried(path, flags | O_CREAT | O_EXCL);

    *fresh = fd >= 0;
    if (fd == -EEXIST) {
        if (lstat(path, about) < 0)
            return cannot(-errno, path, e);
        linked = S_ISLNK(about->st_mode);
        if (linked && strange(about))
            return not_ours(path, "a link", about, e);
        int rc = linked ? 0 : examine(path, about, false, e); /* somebody else's pipe would be waited for */
        if (rc < 0)
            return rc;
        fd = open_retried(path,
                          flags | (linked ? O_CREAT /* it may lead to what does not exist */ : O_NOFOLLOW));
    }
    if (fd < 0)
        return cannot(fd, path, e);
    int rc = fstat(fd, about) < 0 ? cannot(-errno, path, e) : *fresh ? 0 : examine(path, about, linked, e);
    if (rc < 0) {
        close(fd);
        return rc;
    }
    return fd;
}

int rk_sink_open_file(const char *path, uint32_t flags, int *ret_fd, struct rk_error *e)
{
    struct stat about;
    bool fresh;

    if (!path || !ret_fd || flags & ~(uint32_t)RK_SINK_APPEND)
        return fail_argument(e, RK_STAGE_EXPORT,
                             !path     ? "no path to write to"
                             : !ret_fd ? "no place for the result"
                                       : "unknown flags");
    int fd = open_output(path, flags & RK_SINK_APPEND ? O_APPEND : 0, &about, &fresh, e);
    if (fd < 0)
        return fd;
    if (!flags && !fresh && S_ISREG(about.st_mode) && ftruncate(fd, 0) < 0) {
        int rc = cannot(-errno, path, e);
        close(fd);
        return rc;
    }
    *ret_fd = fd;
    return 0;
}

int sink_file_open(struct sink_file *file, const char *path, struct rk_error *e)
{
    struct stat about;
    bool fresh;

    if (!path)
        return fail_argument(e, RK_STAGE_EXPORT, "no path to write to");
    int fd = open_output(path, 0, &about, &fresh, e);
    if (fd < 0)
        return fd;
    *file = (struct sink_file){.sink = {sizeof file->sink, 0, write_file, file},
                               .path = path,
                               .fd = fd,
                               .fresh = fresh,
                               .regular = S_ISREG(about.st_mode)};
    return 0;
}

int sink_file_close(struct sink_file *file, int rc, struct rk_error *e)
{
    /* EINTR: Linux has closed it all the same. */
    int closed = close(file->fd) < 0 && errno != EINTR ? -errno : 0;

    if ((rc < 0 || closed < 0) && file->regular && (file->fresh || file->begun))
        unlink(file->path);
    return rc < 0 ? rc : closed < 0 ? cannot(closed, file->path, e) : rc;
}

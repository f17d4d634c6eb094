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
        fd = open(path, flags | O_WRONLY | O_CLOEXEC | O_NOCTTY, 0666);
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

int sink_file_open(struct sink_file *file, const char *path, struct rk_error *e)
{
    struct stat about;
    bool fresh = true;

    if (!path)
        return fail_argument(e, RK_STAGE_EXPORT, "no path to write to");
    int fd = open_retried(path, O_CREAT | O_EXCL);
    if (fd == -EEXIST) {
        fresh = false;
        fd = open_retried(path, O_CREAT); /* a link may lead to what does not exist */
    }
    if (fd < 0)
        return cannot(fd, path, e);
    *file = (struct sink_file){
        .sink = {sizeof file->sink, 0, write_file, file}, .path = path, .fd = fd, .fresh = fresh};
    file->regular = fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
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

#include "sys/file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int sys_root_open(const char *path)
{
    int fd = open(path ? path : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static const char *below_root(const char *path)
{
    while (*path == '/')
        path++;
    return *path ? path : ".";
}

int sys_open_at(int root, const char *path, int flags, unsigned mode)
{
    for (;;) {
        int fd = openat(root, below_root(path), flags | O_CLOEXEC, mode);
        if (fd >= 0)
            return fd;
        if (errno != EINTR)
            return -errno;
    }
}

int sys_open(const char *path, int flags, unsigned mode)
{
    for (;;) {
        int fd = open(path, flags | O_CLOEXEC, mode);
        if (fd >= 0)
            return fd;
        if (errno != EINTR)
            return -errno;
    }
}

int sys_memory_file(const char *name)
{
    int fd = memfd_create(name, MFD_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

bool sys_is_directory(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool same_file(int a, int b)
{
    uint64_t one[2] = {0}, other[2] = {0};

    return sys_file_identity(a, one) == 0 && sys_file_identity(b, other) == 0 && one[0] == other[0] &&
           one[1] == other[1];
}

/* O_PATH looks without opening; /proc/self/fd opens what was looked at. */
int sys_open_regular(int root, const char *path)
{
    enum { LOOK = O_PATH, READ = O_RDONLY | O_NONBLOCK | O_NOCTTY };
    int look = root == AT_FDCWD ? sys_open(path, LOOK, 0) : sys_open_at(root, path, LOOK, 0);
    char again[32];
    struct stat st;

    if (look < 0)
        return look;
    int rc = fstat(look, &st) < 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -ENODEV;
    if (rc == 0) {
        snprintf(again, sizeof again, "/proc/self/fd/%d", look);
        rc = sys_open(again, READ, 0);
    }
    if (rc == -ENOENT) { /* no /proc here */
        rc = root == AT_FDCWD ? sys_open(path, READ, 0) : sys_open_at(root, path, READ, 0);
        if (rc >= 0 && !same_file(rc, look)) {
            close(rc);
            rc = -ENODEV;
        }
    }
    close(look);
    return rc;
}

int sys_duplicate(int fd)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);

    return copy < 0 ? -errno : copy;
}

int sys_file_identity(int fd, uint64_t ret[static 2])
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return -errno;
    ret[0] = (uint64_t)st.st_dev;
    ret[1] = (uint64_t)st.st_ino;
    return 0;
}

void sys_close(int fd)
{
    int saved = errno;

    close(fd);
    errno = saved;
}

int64_t sys_read_some(int fd, void *buffer, size_t n)
{
    for (;;) {
        ssize_t got = read(fd, buffer, n);
        if (got >= 0)
            return got;
        if (errno != EINTR)
            return -errno;
    }
}

int64_t sys_read(int fd, void *buffer, size_t n)
{
    size_t got = 0;

    while (got < n) {
        ssize_t some = read(fd, (char *)buffer + got, n - got);
        if (some == 0)
            break;
        if (some > 0)
            got += (size_t)some;
        else if (errno != EINTR)
            return -errno;
    }
    return (int64_t)got;
}

int64_t sys_read_at(int fd, void *buffer, size_t n, uint64_t offset)
{
    size_t got = 0;

    while (got < n) {
        ssize_t some = pread(fd, (char *)buffer + got, n - got, (off_t)(offset + got));
        if (some == 0)
            break;
        if (some > 0)
            got += (size_t)some;
        else if (errno != EINTR)
            return -errno;
    }
    return (int64_t)got;
}

int sys_write(int fd, const void *bytes, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t some = write(fd, (const char *)bytes + done, n - done);
        if (some >= 0)
            done += (size_t)some;
        else if (errno != EINTR)
            return -errno;
    }
    return 0;
}

int sys_write_at(int fd, const void *bytes, size_t n, uint64_t offset)
{
    for (size_t done = 0; done < n;) {
        ssize_t some = pwrite(fd, (const char *)bytes + done, n - done, (off_t)(offset + done));
        if (some >= 0)
            done += (size_t)some;
        else if (errno != EINTR)
            return -errno;
    }
    return 0;
}

int sys_file_text(int root, const char *path, char *buffer, size_t size)
{
    _cleanup_close_ int fd = sys_open_at(root, path, O_RDONLY, 0);

    if (fd < 0)
        return fd;
    int64_t n = sys_read(fd, buffer, size);
    if (n < 0)
        return (int)n;
    if ((size_t)n == size)
        return -EFBIG;
    while (n > 0 && isspace((unsigned char)buffer[n - 1]))
        n--;
    buffer[n] = '\0';
    return (int)n;
}

int sys_file_number(int root, const char *path, int64_t *ret)
{
    char text[64], *end;
    int n = sys_file_text(root, path, text, sizeof text);

    if (n < 0)
        return n;
    errno = 0;
    long long value = strtoll(text, &end, 0);
    if (errno || end == text || *end)
        return -EBADMSG;
    *ret = value;
    return 0;
}

int sys_file_load(int root, const char *path, size_t limit, char **ret, size_t *ret_n)
{
    _cleanup_close_ int fd = sys_open_at(root, path, O_RDONLY, 0);
    _cleanup_free_ char *text = NULL;
    size_t n = 0, room = 0;

    if (fd < 0)
        return fd;
    do { /* files of /proc and /sys don't know their size: read until the end */
        room = room ? room * 2 : 4096;
        char *moved = realloc(text, room + 1);
        if (!moved)
            return -ENOMEM;
        text = moved;
        int64_t got = sys_read(fd, text + n, room - n);
        if (got < 0)
            return (int)got;
        n += (size_t)got;
        if (n > limit)
            return -EFBIG;
    } while (n == room);
    text[n] = '\0';
    *ret = TAKE_PTR(text);
    *ret_n = n;
    return 0;
}

static int each_entry(int root, const char *path, bool directories,
                      int (*each)(void *context, const char *name), void *context)
{
    int fd = sys_open_at(root, path, O_RDONLY | O_DIRECTORY, 0), rc = 0;
    const struct dirent *entry;

    if (fd < 0)
        return fd;
    DIR *dir = fdopendir(fd);
    if (!dir) {
        rc = -errno;
        sys_close(fd);
        return rc;
    }
    while (rc == 0 && (errno = 0, entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            (!directories || entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN))
            rc = each(context, entry->d_name);
        else
            continue;
    if (rc == 0 && errno)
        rc = -errno;
    closedir(dir);
    return rc;
}

int sys_dir_each(int root, const char *path, int (*each)(void *context, const char *name), void *context)
{
    return each_entry(root, path, false, each, context);
}

int sys_dir_each_below(int root, const char *path, int (*each)(void *context, const char *name),
                       void *context)
{
    return each_entry(root, path, true, each, context);
}

int sys_file_status(int fd, struct sys_status *ret)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return -errno;
    bool regular = S_ISREG(st.st_mode);
    *ret = (struct sys_status){regular ? (uint64_t)st.st_size : 0, st.st_ino, st.st_uid, regular};
    return 0;
}

int sys_file_stamp(int root, const char *path, uint64_t ret[static 4])
{
    struct stat st;

    if (fstatat(root, below_root(path), &st, 0) < 0)
        return -errno;
    ret[0] = (uint64_t)st.st_dev;
    ret[1] = (uint64_t)st.st_ino;
    ret[2] = (uint64_t)st.st_size;
    ret[3] = (uint64_t)st.st_ctim.tv_sec * 1000000000 + (uint64_t)st.st_ctim.tv_nsec;
    return 0;
}

int sys_file_size(int fd, uint64_t *ret_size, bool *ret_regular)
{
    struct sys_status status;
    int rc = sys_file_status(fd, &status);

    if (rc == 0) {
        *ret_size = status.size;
        *ret_regular = status.regular;
    }
    return rc;
}

int sys_link_at(int root, const char *path, char *buffer, size_t size)
{
    ssize_t n = readlinkat(root, path, buffer, size);

    if (n < 0)
        return -errno;
    if ((size_t)n >= size)
        return -ENAMETOOLONG;
    buffer[n] = '\0';
    return (int)n;
}

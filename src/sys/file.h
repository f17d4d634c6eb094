/*
 * Files under a root directory: the machine's /proc and /sys, or a fake tree in tests. Paths are relative
 * to the root; a leading '/' is skipped. Everything is bounded.
 */
#ifndef SYS_FILE_H
#define SYS_FILE_H

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Opens a root (NULL: "/"): a directory descriptor or -errno. */
int sys_root_open(const char *path);

/* openat(2), close-on-exec, EINTR retried: a descriptor or -errno. */
int sys_open_at(int root, const char *path, int flags, unsigned mode);
/* open(2) of a path that a user gave, below no root: the same. */
int sys_open(const char *path, int flags, unsigned mode);
/* Opens a regular file for reading. `path` comes from outside (a recording, another process): whatever else lies there (a device,
 * a pipe) is not opened, since that may do something, or wait, and it can't be exchanged for one meanwhile. `root`: a root's
 * descriptor, or AT_FDCWD for a path as a user gave it. A descriptor; -ENODEV: not a regular file; or -errno. */
int sys_open_regular(int root, const char *path);
/* Where a symbolic link below `root` points to, NUL-terminated: its length, -ENAMETOOLONG, or -errno. */
int sys_link_at(int root, const char *path, char *buffer, size_t size);
void sys_close(int fd);
/* A file in memory alone, empty; `name` is for /proc. A descriptor or -errno. */
int sys_memory_file(const char *name);
/* Another descriptor for the same, close-on-exec and above 2; or -errno. */
int sys_duplicate(int fd);
/* Which file it is: device and inode. 0 or -errno. */
int sys_file_identity(int fd, uint64_t ret[static 2]);
static inline void sys_close_cleanup(int *fd)
{
    if (*fd >= 0)
        sys_close(*fd);
}
#define _cleanup_close_ _cleanup_(sys_close_cleanup)

/* A small file's text into `buffer`, its trailing white space cut, with a NUL: its length, or -errno (-EFBIG where
 * it does not fit). */
int sys_file_text(int root, const char *path, char *buffer, size_t size);

/* A file that holds one number, decimal or 0x…: 0, -errno, or -EBADMSG where it is none. */
int sys_file_number(int root, const char *path, int64_t *ret);

/* A whole file of at most `limit` bytes, with a NUL behind it; the caller frees it. 0 or -errno, -EFBIG. */
int sys_file_load(int root, const char *path, size_t limit, char **ret, size_t *ret_n);

/* Calls `each` with every name of a directory but . and .., in the directory's own order, until it returns non-zero,
 * which is then returned. 0 or -errno. */
int sys_dir_each(int root, const char *path, int (*each)(void *context, const char *name), void *context);
/* The same without what is known to be no directory. */
int sys_dir_each_below(int root, const char *path, int (*each)(void *context, const char *name),
                       void *context);

/* read(2)/pread(2)/write(2)/pwrite(2) in full, EINTR retried. Reads: bytes got, less only at the end of the file. */
int64_t sys_read_some(int fd, void *buffer, size_t n); /* one read(2): what a pipe has now, 0 at its end */
int64_t sys_read(int fd, void *buffer, size_t n);
int64_t sys_read_at(int fd, void *buffer, size_t n, uint64_t offset);
int sys_write(int fd, const void *bytes, size_t n);
int sys_write_at(int fd, const void *bytes, size_t n, uint64_t offset);

/* What fstat(2) says, in short. size is 0 for what is no regular file. 0 or -errno. */
struct sys_status {
    uint64_t size, inode;
    uint32_t owner;
    bool regular;
};
int sys_file_status(int fd, struct sys_status *ret);

/* Which file a path below the root names, and since when it is so: device, inode, size, time of the last change in ns. 0
 * or -errno. */
int sys_file_stamp(int root, const char *path, uint64_t ret[static 4]);

/* Whether it is a directory. */
bool sys_is_directory(int fd);

/* The file's size alone: 0 or -errno; *ret_regular false for pipes and the like. */
int sys_file_size(int fd, uint64_t *ret_size, bool *ret_regular);

#endif

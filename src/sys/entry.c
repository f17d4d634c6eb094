#include "sys/entry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int sys_entry_look(const char *path, struct sys_entry *ret)
{
    struct stat st;

    if (lstat(path, &st) < 0)
        return -errno;
    *ret = (struct sys_entry){S_ISREG(st.st_mode), S_ISLNK(st.st_mode), (uint32_t)st.st_uid};
    return 0;
}

int sys_entry_make(const char *path)
{
    for (;;) {
        int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0)
            return fd;
        if (errno != EINTR)
            return -errno;
    }
}

int sys_entry_rename(const char *from, const char *to)
{
    return rename(from, to) < 0 ? -errno : 0;
}

int sys_entry_remove(const char *path)
{
    return unlink(path) < 0 ? -errno : 0;
}

uint32_t sys_user(void)
{
    return (uint32_t)geteuid();
}

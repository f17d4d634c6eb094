#include "symbol/owner.h"

#include "sys/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

bool owner_is_trusted(int root, int32_t pid, uint32_t owner)
{
    char path[32];
    struct sys_status process;

    if (owner == 0 || owner == geteuid())
        return true;
    snprintf(path, sizeof path, "proc/%d", pid);
    _cleanup_close_ int fd = sys_open_at(root, path, O_PATH | O_DIRECTORY, 0);
    return fd >= 0 && sys_file_status(fd, &process) == 0 && process.owner == owner;
}

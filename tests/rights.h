/*
 * tests/rights.h: what this process may do, by trying. User number 0 says little: root of a container or of a user
 * namespace has few of root's rights, and a plain user has some where kernel.perf_event_paranoid is low.
 */
#ifndef RIGHTS_H
#define RIGHTS_H

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Becomes this user, without root's groups, for good. Not in a user namespace that has no such user. */
__attribute__((unused)) static bool become(uid_t user)
{
    return setresgid(user, user, user) == 0 && setresuid(user, user, user) == 0 &&
           prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0; /* as after an exec */
}

/* Whether this process is root and can become another user. */
__attribute__((unused)) static bool can_become(uid_t user)
{
    int status = 1;
    pid_t child = geteuid() == 0 ? fork() : -1;

    if (child == 0)
        _exit(!become(user));
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* Whether a clock can be opened: 0 or -errno. */
__attribute__((unused)) static int try_clock(int pid, int cpu, bool kernel)
{
    struct perf_event_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.size = PERF_ATTR_SIZE_VER0;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_CPU_CLOCK;
    attr.exclude_kernel = attr.exclude_hv = !kernel;
    long fd = syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return -errno;
    close((int)fd);
    return 0;
}

/* Whether this process may measure itself: not where a container takes perf_event_open away. */
__attribute__((unused)) static bool can_measure_self(void)
{
    return try_clock(0, -1, false) == 0;
}

/* Whether everything may be measured: a whole CPU, and with it the kernel and other users' processes. */
__attribute__((unused)) static bool can_measure_all(void)
{
    return try_clock(-1, 0, true) == 0;
}

#endif

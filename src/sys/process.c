#include "sys/process.h"

#include "sys/file.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_pidfd_send_signal /* the numbers are the same on every architecture */
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#define PIDFD_OF_THREAD O_EXCL /* PIDFD_THREAD */

uint64_t sys_clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t sys_cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t sys_tick(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void sys_sleep_ns(uint64_t ns)
{
    struct timespec time = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

    nanosleep(&time, NULL);
}

uint64_t sys_boot_ticks(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    uint64_t ticks = (uint64_t)sysconf(_SC_CLK_TCK);
    return (uint64_t)now.tv_sec * ticks + (uint64_t)now.tv_nsec / (1000000000 / ticks);
}

uint64_t sys_wall_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec < 0 ? 0 : (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int32_t sys_process_id(void)
{
    return getpid();
}

int32_t sys_thread_id(void)
{
    return gettid();
}

/* What exec does to handlers, done at once: the caller's code must not run in the child. */
static void forget_handlers(void)
{
    struct sigaction now, plain = {.sa_handler = SIG_DFL};

    for (int signal = 1; signal < NSIG; signal++)
        if (sigaction(signal, NULL, &now) == 0 && now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN)
            sigaction(signal, &plain, NULL);
}

int32_t sys_fork(void)
{
    sigset_t all, before;

    sigfillset(&all);
    int rc = pthread_sigmask(SIG_SETMASK, &all, &before);
    if (rc)
        return -rc;
    pid_t pid = fork();
    int32_t result = pid < 0 ? -errno : pid;
    if (pid == 0)
        forget_handlers();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

int sys_execute(const char *path, char *const argv[], char *const environment[])
{
    execve(path, argv, environment ? environment : environ);
    return -errno;
}

int sys_executable(const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return errno == EACCES ? -EPERM : -errno;
    if (S_ISDIR(st.st_mode))
        return -EISDIR;
    if (!S_ISREG(st.st_mode))
        return -EACCES;
    return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 ? -errno : 0;
}

static bool begins_as(const char *path, const char *magic)
{
    char begin[4] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0)
        return false;
    ssize_t n = read(fd, begin, sizeof begin);
    close(fd);
    return n == (ssize_t)sizeof begin && memcmp(begin, magic, sizeof begin) == 0;
}

enum sys_file_kind sys_file_kind(const char *path)
{
    struct stat st;
    char begin[4] = "";

    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
        return SYS_FILE_UNKNOWN;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return SYS_FILE_UNKNOWN;
    ssize_t n = read(fd, begin, sizeof begin);
    close(fd);
    if (n < 0)
        return SYS_FILE_UNKNOWN;
    if (memcmp(begin, "#!", 2) != 0 && memcmp(begin, "\177ELF", 4) != 0)
        return SYS_FILE_OTHER;
    return st.st_uid == geteuid() || geteuid() == 0 ? SYS_FILE_OWN_PROGRAM : SYS_FILE_PROGRAM;
}

/* The permitted capabilities that the file brings beyond the caller's: struct vfs_cap_data, little-endian. */
static bool brings_capabilities(const char *path)
{
    struct {
        uint32_t magic, words[5]; /* permitted, inheritable; again for the upper 32; a root id */
    } file = {0};
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct own[2] = {{0}};

    ssize_t n = getxattr(path, "security.capability", &file, sizeof file);
    if (n < (ssize_t)(3 * sizeof(uint32_t)) || syscall(SYS_capget, &header, own) < 0)
        return false;
    return (le32toh(file.words[0]) & ~own[0].permitted) || (le32toh(file.words[2]) & ~own[1].permitted);
}

/* Whether rights of the file take effect at all. */
static bool rights_count(const char *path)
{
    struct statvfs mount;

    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 &&
           !(statvfs(path, &mount) == 0 && (mount.f_flag & ST_NOSUID));
}

enum sys_exec_hides sys_exec_hides(const char *path)
{
    struct stat st;
    char text[8] = "";

    if (stat(path, &st) < 0)
        return SYS_EXEC_SEEN;
    bool unreadable = faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) < 0 && errno == EACCES;
    bool user = (st.st_mode & S_ISUID) && st.st_uid != geteuid();
    bool group = (st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) && st.st_gid != getegid();
    bool rights = (user || group || brings_capabilities(path)) && rights_count(path);
    if (!unreadable && (!rights || !begins_as(path, "\177ELF")))
        return SYS_EXEC_SEEN;
    int root = sys_root_open(NULL);
    if (root >= 0) {
        sys_file_text(root, "proc/sys/fs/suid_dumpable", text, sizeof text);
        close(root);
    }
    return text[0] == '1' ? SYS_EXEC_SEEN : unreadable ? SYS_EXEC_UNREADABLE : SYS_EXEC_RIGHTS;
}

char *sys_directory(int *ret_rc)
{
    char *path = getcwd(NULL, 0);

    if (!path)
        *ret_rc = -errno;
    return path;
}

/* Moves a descriptor above 2; the old one is closed either way. */
static int above_standard(int fd)
{
    if (fd > 2)
        return fd;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (moved < 0)
        moved = -errno;
    close(fd);
    return moved;
}

int sys_socket_pair(int ret[2])
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return -errno;
    int one = above_standard(pair[0]), other = above_standard(pair[1]);
    if (one < 0 || other < 0) {
        if (one >= 0)
            sys_close(one);
        if (other >= 0)
            sys_close(other);
        return one < 0 ? one : other;
    }
    ret[0] = one;
    ret[1] = other;
    return 0;
}

int sys_send(int fd, const void *bytes, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t some = send(fd, (const char *)bytes + done, n - done, MSG_NOSIGNAL);
        if (some >= 0)
            done += (size_t)some;
        else if (errno != EINTR)
            return -errno;
    }
    return 0;
}

int sys_standard_fds(const int fds[3])
{
    int moved[3] = {-1, -1, -1};

    /* First all out of the way, so that no dup2 overwrites what a later one needs. */
    for (int i = 0; i < 3; i++)
        if (fds[i] >= 0 && (moved[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 3)) < 0)
            return -errno;
    for (int i = 0; i < 3; i++)
        if (moved[i] >= 0 && dup2(moved[i], i) < 0)
            return -errno;
    return 0;
}

int sys_directory_open(const char *path)
{
    int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int sys_change_directory(int fd)
{
    return fchdir(fd) < 0 ? -errno : 0;
}

int sys_fd_check(int fd)
{
    return fcntl(fd, F_GETFD) < 0 ? -errno : 0;
}

int sys_pidfd_open(int32_t pid)
{
    long fd = syscall(SYS_pidfd_open, pid, 0U);
    return fd < 0 ? -errno : (int)fd;
}

int sys_pidfd_open_thread(int32_t tid)
{
    long fd = syscall(SYS_pidfd_open, tid, (unsigned)PIDFD_OF_THREAD);
    return fd < 0 ? -errno : (int)fd;
}

int sys_signal(int32_t pid, int pidfd, int signal)
{
    long rc = pidfd >= 0 ? syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0U) : kill(pid, signal);
    return rc < 0 ? -errno : 0;
}

int sys_thread_counters(int enable)
{
    int what = enable ? PR_TASK_PERF_EVENTS_ENABLE : PR_TASK_PERF_EVENTS_DISABLE;

    return prctl(what, 0, 0, 0, 0) < 0 ? -errno : 0;
}

static uint64_t timeval_ns(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_usec * 1000;
}

int sys_wait(int32_t pid, int block, struct sys_end *ret)
{
    struct rusage usage;
    int status;
    pid_t got;

    do
        got = wait4(pid, &status, block ? 0 : WNOHANG, &usage);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return -errno;
    if (got == 0)
        return 0;
    *ret = (struct sys_end){.status = status,
                            .user_ns = timeval_ns(usage.ru_utime),
                            .system_ns = timeval_ns(usage.ru_stime),
                            .peak_rss = (uint64_t)usage.ru_maxrss * 1024};
    return 1;
}

int sys_poll_in(int fd, int timeout_ms)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};
    uint64_t end = timeout_ms > 0 ? sys_clock_ns() + (uint64_t)timeout_ms * 1000000 : 0;

    for (;;) {
        int n = poll(&one, 1, timeout_ms);
        if (n >= 0)
            return n;
        if (errno != EINTR)
            return -errno;
        if (timeout_ms > 0) { /* rounded up: a wait may be long by less than 1 ms, never short */
            uint64_t now = sys_clock_ns();
            timeout_ms = now >= end ? 0 : (int)((end - now + 999999) / 1000000);
        }
    }
}

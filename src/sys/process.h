/*
 * Processes and clocks: thin, -errno, no policy.
 */
#ifndef SYS_PROCESS_H
#define SYS_PROCESS_H

#include <stddef.h>
#include <stdint.h>

/* CLOCK_MONOTONIC, ns. */
uint64_t sys_clock_ns(void);
/* CPU that this process has used, with all its threads, ns. */
uint64_t sys_cpu_ns(void);
void sys_sleep_ns(uint64_t ns);

/* CLOCK_BOOTTIME in the ticks that /proc/ID/stat has start times in: 100 a second. */
uint64_t sys_boot_ticks(void);

/* Nanoseconds since 1970. */
uint64_t sys_wall_ns(void);

int32_t sys_process_id(void);
int32_t sys_thread_id(void);

/*
 * fork(2) such that the child runs no signal handler of the caller's: it starts with handled signals at their
 * default (as they will be after exec), ignored ones ignored, and the caller's mask. 0 in the child, its id in
 * the parent, or -errno. The child may only make async-signal-safe calls.
 */
int32_t sys_fork(void);

/* execve(2): returns only with -errno. */
int sys_execute(const char *path, char *const argv[], char *const environment[]);

/* What may be done with a path, under the effective ids: 0 where it is a regular file that can be executed,
 * -EISDIR for a directory, -EPERM where a directory on the way can't be entered, else -errno. */
int sys_executable(const char *path);

/* What a file that can't be executed is: SYS_FILE_PROGRAM begins like one (ELF, #!) … and _OWN is the caller's to
 * chmod; SYS_FILE_OTHER does not; SYS_FILE_UNKNOWN can't be looked into. */
enum sys_file_kind { SYS_FILE_UNKNOWN, SYS_FILE_OTHER, SYS_FILE_PROGRAM, SYS_FILE_OWN_PROGRAM };
enum sys_file_kind sys_file_kind(const char *path);

/*
 * Whether the kernel ends the counters of a process that executes this file (begin_new_exec(): not dumpable): since the
 * file brings other rights, a set-user-ID or set-group-ID bit or capabilities that the caller does not have; or since it
 * may not be read. Not in scripts, whose bits count for nothing, nor where the mount or no_new_privs takes the rights away,
 * nor where fs.suid_dumpable is 1.
 */
enum sys_exec_hides { SYS_EXEC_SEEN, SYS_EXEC_RIGHTS, SYS_EXEC_UNREADABLE };
enum sys_exec_hides sys_exec_hides(const char *path);

/* The calling process's directory, to be freed; NULL with -errno in *ret_rc. */
char *sys_directory(int *ret_rc);

/* A stream socket pair, close-on-exec, both ends above 2 so that they survive what is done to stdio. */
int sys_socket_pair(int ret[2]);

/* A message of n bytes, without SIGPIPE: 0 or -errno. */
int sys_send(int fd, const void *bytes, size_t n);

/* dup2(2) onto 0, 1 and 2 of the three descriptors, where ≥ 0, in any mixture of the same numbers. */
int sys_standard_fds(const int fds[3]);

/* A directory to change to, which need not be readable: a descriptor or -errno. */
int sys_directory_open(const char *path);

/* fchdir(2). */
int sys_change_directory(int fd);

/* Whether a descriptor is open: 0 or -EBADF. */
int sys_fd_check(int fd);

/* pidfd_open(2): a descriptor (close-on-exec) or -errno (-ENOSYS before Linux 5.3). */
int sys_pidfd_open(int32_t pid);

/* The same for one thread: -EINVAL before Linux 6.9. */
int sys_pidfd_open_thread(int32_t tid);

/* Signals the process: through pidfd where that is ≥ 0, so that a reused id can't be hit. */
int sys_signal(int32_t pid, int pidfd, int signal);

/* prctl(2): all counters that the calling thread has opened, on or off. 0 or -errno. */
int sys_thread_counters(int enable);

struct sys_end {
    int status; /* wait(2)'s */
    uint64_t user_ns, system_ns, peak_rss;
};

/* wait4(2) for one child, EINTR retried: 1 reaped, 0 still running (block 0 only), or -errno. */
int sys_wait(int32_t pid, int block, struct sys_end *ret);

/* Readable or at its end within timeout_ms (-1: for ever)? 1, 0 or -errno; EINTR is retried with what is left. */
int sys_poll_in(int fd, int timeout_ms);

/* The kernel's tick, in ns: cheaper than a system call, and new every few milliseconds. */
uint64_t sys_tick(void);

#endif

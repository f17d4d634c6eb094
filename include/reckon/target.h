/*
 * reckon/target.h: what to measure.
 *
 * A target is one of:
 *
 *     rk_target_self()          the calling thread
 *     rk_target_thread()        another thread           rk_target_threads()    several
 *     rk_target_process()       a process                rk_target_processes()  several
 *     rk_target_tree()          a process and its descendants
 *     rk_target_command()       a command that has not started yet
 *     rk_target_cpus()          CPUs, or the whole machine
 *     rk_target_cgroups()       cgroups
 *
 * rk_target_on_cpus() splits threads by CPU.
 *
 * Options of the set say whether threads and children created later are measured (RK_SET_NO_INHERIT), and
 * whether the process stands still while its counters are opened (RK_SET_FREEZE).
 *
 * A command is forked at once. It waits before its exec, so that counters can be opened on it:
 *
 *     struct rk_target *t;
 *     char *argv[] = {"sleep", "1", NULL};
 *     rk_target_command(argv, NULL, &t, NULL);
 *     … open a set on t …
 *     rk_target_start(t, NULL);
 *     struct rk_exit x = {.size = sizeof x};
 *     rk_target_wait(t, -1, &x);
 *     rk_target_free(t);
 *
 * A set copies what it needs of its target. Free the target whenever you like.
 */
#ifndef RECKON_TARGET_H
#define RECKON_TARGET_H

#include <reckon/error.h>
#include <reckon/host.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rk_target;

/* The thread that opens the set. */
RK_API int rk_target_self(struct rk_target **ret, struct rk_error *e);

/* One thread, by its id. */
RK_API int rk_target_thread(int32_t tid, struct rk_target **ret, struct rk_error *e);

/* All threads that the process has when a set is opened. With inheritance, later threads and children too.
 * `pid` may be the id of any thread of the process. Returns -ESRCH if there is no such process, or if it
 * has ended. */
RK_API int rk_target_process(int32_t pid, struct rk_target **ret, struct rk_error *e);

/* The process and its descendants, as /proc shows them when a set is opened. */
RK_API int rk_target_tree(int32_t pid, struct rk_target **ret, struct rk_error *e);

/* Several processes, or several threads, as one target. It ends when the last of them ends. An id that is
 * given twice counts once. A process that ends before a set is opened is left out. rk_target_fd() returns
 * -ENOSYS for them. */
RK_API int rk_target_processes(const int32_t *pids, size_t n, struct rk_target **ret, struct rk_error *e);
RK_API int rk_target_threads(const int32_t *tids, size_t n, struct rk_target **ret, struct rk_error *e);

/* CPUs as a list ("0-3,8"), whatever runs there. NULL: the whole machine. That is all CPUs which are
 * online when a set is opened; rk_set_refresh() follows them. Needs privilege, or
 * kernel.perf_event_paranoid of 0 or less. */
RK_API int rk_target_cpus(struct rk_host *host, const char *list, struct rk_target **ret, struct rk_error *e);

/*
 * All that runs in these cgroups and in those below them, on a list of CPUs (NULL: all, followed by
 * rk_set_refresh()).
 *
 * A path begins below the mount point ("system.slice/cron.service"). "/" is the topmost cgroup. The whole
 * path, from the file system's root on, is accepted too. The mount point is that of cgroup v1's perf_event
 * controller. If that is not mounted, it is that of cgroup v2.
 *
 * Returns -ENOENT if there is no such cgroup, or no cgroup file system. Needs what CPUs need.
 */
RK_API int rk_target_cgroups(struct rk_host *host, const char *const *paths, size_t n, const char *cpus,
                             struct rk_target **ret, struct rk_error *e);

/*
 * Splits a target of threads by CPU: each thread is counted on each CPU of the list apart, and on no other.
 * NULL: on each CPU that is online when a set is opened. The set then has a slot for each thread on each CPU,
 * and rows by CPU, core or socket (reckon/rows.h). Such a slot is enabled only while its thread is on its
 * CPU.
 *
 * The cost: threads × CPUs × (events + 1) descriptors. The one beside the events measures how long the thread
 * is on the CPU. rk_set_plan() knows the number.
 *
 * Works for every target but CPUs and cgroups, which have their own list: -EINVAL. Returns -ENODEV if a CPU
 * is not online. A second call replaces the list. Sets that are open don't change.
 */
RK_API int rk_target_on_cpus(struct rk_target *target, struct rk_host *host, const char *list,
                             struct rk_error *e);

/* rk_command_options.flags. Unknown bits are refused with -EINVAL. */
enum rk_command_flag {
    RK_COMMAND_STD_FDS = 0x01, /* `in`, `out` and `err` replace descriptors 0, 1 and 2 */
};

struct rk_command_options {
    uint32_t size;  /* sizeof(struct rk_command_options), set by the caller */
    uint32_t flags; /* RK_COMMAND_… */

    /* Descriptors for the command, with RK_COMMAND_STD_FDS. -1: the caller's own. */
    int32_t in, out, err;
    int32_t reserved;

    char *const *environment; /* NULL: the caller's */
    const char *directory;    /* NULL: the caller's */
};

/*
 * A command. argv[0] is looked up now, in the caller's PATH and working directory, whatever the options say.
 * A name with a '/' is a path. No shell is involved. Returns -ENOENT or -EACCES if there is no such program,
 * or no permission to run it.
 *
 * The command inherits the caller's signal mask and ignored signals. No handler of the caller ever runs in
 * it. If the caller dies before the start, the child ends and runs nothing.
 *
 * rk_target_free() ends a command that was never started. One that runs is left alone: it stays the caller's
 * child, to be waited for.
 *
 * Some programs can be run and not measured: the kernel ends counters at the exec of a program that is
 * set-user-ID, set-group-ID, has capabilities, or is unreadable. rk_set_open() refuses those with
 * RK_CAUSE_NOT_YOURS.
 */
RK_API int rk_target_command(char *const argv[], const struct rk_command_options *options,
                             struct rk_target **ret, struct rk_error *e);

/* Lets the command exec. If exec fails, returns its error, and the child is gone. A second call returns
 * -EALREADY. */
RK_API int rk_target_start(struct rk_target *target, struct rk_error *e);

/* How a command ended and what it used, with the children that it waited for. */
struct rk_exit {
    uint32_t size;       /* sizeof(struct rk_exit), set by the caller */
    int32_t status;      /* exit status; 128 + signal if a signal ended it, as a shell says it */
    int32_t signal;      /* the signal that ended it, or 0 */
    int32_t core_dumped; /* 1: yes */
    uint64_t wall_ns;    /* from rk_target_start() until rk_target_wait() saw the end */
    uint64_t user_ns;    /* CPU time in user space */
    uint64_t system_ns;  /* CPU time in the kernel */

    /* The most memory that was resident, in bytes. Fork copies the caller: it is at least what the caller
     * used when it made the target. */
    uint64_t peak_rss;
};

/*
 * Waits for the end, up to timeout_ms. -1: for ever; 0: doesn't wait. `ret` may be NULL.
 *
 * Returns 1 if the command has ended, and fills *ret, at each call anew. Returns 0 if it still runs. Returns
 * -EINVAL before rk_target_start(), and -ECHILD if another wait(2) has reaped the child, or if SIGCHLD is
 * ignored.
 *
 * Threads, processes and trees can be waited for too. A tree ends with its first process. Only a parent
 * learns how a process ended: *ret is all zeros. CPUs and cgroups don't end: -EINVAL.
 */
RK_API int rk_target_wait(struct rk_target *target, int timeout_ms, struct rk_exit *ret);

/* Returns a descriptor that is readable once the command, process or thread has ended. The target owns it.
 * Returns -ENOSYS before Linux 5.3 (thread: 6.9), and for several targets; rk_target_wait() works there
 * too. Returns -EINVAL for self, CPUs and cgroups. */
RK_API int rk_target_fd(const struct rk_target *target);

/* Returns the id of the command, process or thread. 0: the calling thread; -1: CPUs and cgroups. */
RK_API int32_t rk_target_pid(const struct rk_target *target);

/* Takes NULL; returns NULL. */
RK_API struct rk_target *rk_target_free(struct rk_target *target);

#ifdef __cplusplus
}
#endif
#endif

/*
 * reckon/target.h: who is measured.
 *
 * A target is the calling thread, another thread, a process with all its threads, a process with all that descend
 * from it, a command that is yet to start, a list of CPUs, the whole machine, or cgroups. Whether threads and children
 * born later are included is decided when a set is opened (rk_set_options.no_inherit), and so is what happens to those
 * that are born just then (rk_set_options.freeze).
 *
 * A command is forked at once and waits before its exec, so that counters can be opened on it; it
 * runs from rk_target_start() on. It is found through PATH; no shell is involved.
 *
 *     struct rk_target *t;
 *     char *argv[] = {"sleep", "1", NULL};
 *     rk_target_command(argv, NULL, &t, NULL);
 *     … open a set on t …
 *     rk_target_start(t, NULL);
 *     struct rk_exit x = {.size = sizeof x};
 *     rk_target_wait(t, -1, &x);
 *     rk_target_free(t);
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

/* All threads that the process has when a set is opened; with inheritance also those it will have. A thread's
 * id stands for its process. -ESRCH: it has ended or never was. */
RK_API int rk_target_process(int32_t pid, struct rk_target **ret, struct rk_error *e);

/* The same for the process and for all that descend from it, as /proc shows them when a set is opened. */
RK_API int rk_target_tree(int32_t pid, struct rk_target **ret, struct rk_error *e);

/* Several processes, each with all its threads, or several threads, as one target, which ends when the last of them has.
 * The same id twice counts once. One that ends before a set is opened is left out. rk_target_fd() has none for them. */
RK_API int rk_target_processes(const int32_t *pids, size_t n, struct rk_target **ret, struct rk_error *e);
RK_API int rk_target_threads(const int32_t *tids, size_t n, struct rk_target **ret, struct rk_error *e);

/* CPUs as a list ("0-3,8"), whoever runs there. NULL: the whole machine, that is all CPUs which are online when a set
 * is opened, and rk_set_refresh() follows them as they come and go. Needs privilege or paranoid ≤ 0. `host` must
 * outlive the target. */
RK_API int rk_target_cpus(struct rk_host *host, const char *list, struct rk_target **ret, struct rk_error *e);

/*
 * Whoever runs in these cgroups (and in those below them), on a list of CPUs (NULL: all, followed). A path is one
 * below the mount point ("system.slice/cron.service"), which /proc/self/mountinfo tells: of cgroup v1 where its
 * perf_event controller is mounted, else of v2; the whole path from the root on is taken too. "/" is the topmost.
 * -ENOENT: there is no such cgroup, or no such file system. Needs what CPUs need. `host` must outlive the target.
 */
RK_API int rk_target_cgroups(struct rk_host *host, const char *const *paths, size_t n, const char *cpus,
                             struct rk_target **ret, struct rk_error *e);

struct rk_command_options {
    uint32_t size;       /* set by the caller */
    int32_t std_fds_set; /* 1: the three descriptors below replace 0, 1, 2 where they are ≥ 0 */
    int32_t in, out, err;
    int32_t reserved;
    char *const *environment; /* NULL: the caller's */
    const char *directory;    /* NULL: the caller's */
};

/*
 * argv[0] is looked up now, in the caller's PATH and directory whatever the options say; with a '/' it is
 * taken as it is. -ENOENT or -EACCES tells before anything is measured. The command gets the caller's signal
 * mask and ignored signals, and no handler of the caller's ever runs in it.
 * Should the caller die before the start, the child ends without running anything. Freeing a target whose command was never started ends that child; one that runs is left alone,
 * and stays the caller's child to wait for.
 * A program whose exec ends what is opened on it (set-user-ID and the like, or unreadable) can be run but not measured:
 * rk_set_open() refuses it (RK_CAUSE_NOT_YOURS).
 */
RK_API int rk_target_command(char *const argv[], const struct rk_command_options *options,
                             struct rk_target **ret, struct rk_error *e);

/* Lets the command exec. Fails with exec's own error (and the child is gone). Once: then -EALREADY. */
RK_API int rk_target_start(struct rk_target *target, struct rk_error *e);

/* How a command ended, and what it used (children it waited for included). */
struct rk_exit {
    uint32_t size;  /* set by the caller */
    int32_t status; /* exit status, or 128 + signal, as a shell would say it */
    int32_t signal; /* 0, or the signal that ended it */
    int32_t core_dumped;
    uint64_t wall_ns; /* from rk_target_start() until rk_target_wait() saw its end */
    uint64_t user_ns, system_ns;
    uint64_t
        peak_rss; /* bytes; at least what the caller had resident when it made the target, as fork copies it */
};

/* Waits up to timeout_ms (-1: for ever, 0: asks). 1 ended and *ret (may be NULL) filled, again at each call;
 * 0 still running; -EINVAL before its start; -ECHILD where another wait(2) has taken its end, or SIGCHLD is
 * ignored; -errno.
 * A thread, a process or the first of a tree can be waited for too: *ret is then all zeros, since only a parent learns
 * more. Other targets don't end: -EINVAL. */
RK_API int rk_target_wait(struct rk_target *target, int timeout_ms, struct rk_exit *ret);

/* A descriptor that polls readable once the command, process or thread has ended, owned by the target; -ENOSYS before
 * Linux 5.3 (a thread: 6.9) and for several, where rk_target_wait() does it too; -EINVAL for other targets. */
RK_API int rk_target_fd(const struct rk_target *target);

/* The command's, process's or thread's id, 0 for self, -1 for CPUs and cgroups. */
RK_API int32_t rk_target_pid(const struct rk_target *target);

RK_API struct rk_target *rk_target_free(struct rk_target *target);

#ifdef __cplusplus
}
#endif
#endif

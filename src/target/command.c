/*
 * A command: forked at once, started later.
 *
 *     parent                                child
 *     search PATH, fork           →         descriptors and directory as the options say
 *       … counters are opened on it …       waits on its end of a socket pair
 *     rk_target_start: one byte   →         execve
 *                                 ←         end of file: exec closed the socket (it is close-on-exec)
 *                                 ←         or 8 bytes: which step failed, errno; then _exit
 *
 * A parent that dies before the start closes its end, and the child ends without running anything.
 *
 * The end of file may be late: another thread that forked between our socketpair() and close() holds a copy of
 * the child's end until it execs. So the wait for it asks from time to time whether the exec is done.
 */
#include "target/command.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/limit.h"
#include "sys/process.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_RUN 127 /* exit status of a child that could not or must not exec */

enum step { STEP_EXEC, STEP_STANDARD, STEP_DIRECTORY };

struct failure { /* what the child says */
    int32_t step;
    int32_t error; /* -errno */
};

struct plan {
    char *path;
    char *const *argv;
    char *const *environment;
    int standard[3];
    int directory; /* -1: stay */
    enum sys_exec_hides hides;
};

static void plan_free(struct plan *plan)
{
    free(plan->path);
    if (plan->directory >= 0)
        sys_close(plan->directory);
}

/* In the child; only async-signal-safe calls. */
static void __attribute__((noreturn)) child(const struct plan *plan, int channel)
{
    struct failure failure = {.step = STEP_STANDARD};
    char released;

    failure.error = sys_standard_fds(plan->standard);
    if (failure.error == 0 && plan->directory >= 0) {
        failure.step = STEP_DIRECTORY;
        failure.error = sys_change_directory(plan->directory);
    }
    int64_t n = sys_read(channel, &released, 1);
    if (n == 0) /* nobody will start it */
        _exit(NOT_RUN);
    if (n < 0 && failure.error == 0) {
        failure.step = STEP_EXEC;
        failure.error = (int32_t)n;
    }
    if (failure.error == 0) {
        failure.step = STEP_EXEC;
        failure.error = sys_execute(plan->path, plan->argv, plan->environment);
    }
    sys_send(channel, &failure, sizeof failure);
    _exit(NOT_RUN);
}

static int make_plan(char *const argv[], const struct rk_command_options *options, struct plan *plan,
                     struct rk_error *e)
{
    char shown[100];
    int rc = options_reserved((uint32_t)options->reserved, "rk_command_options", RK_STAGE_TARGET, e);

    if (rc < 0)
        return rc;
    if (options->flags & ~(uint32_t)RK_COMMAND_STD_FDS)
        return fail_argument(e, RK_STAGE_TARGET,
                             "rk_command_options: flags is %#x; it is made of RK_COMMAND_…", options->flags);
    plan->argv = argv;
    plan->environment = options->environment;
    for (int i = 0; i < 3; i++) {
        int fd = i == 0 ? options->in : i == 1 ? options->out : options->err;
        bool replaces = options->flags & RK_COMMAND_STD_FDS;
        if (fd > 0 && !replaces)
            return fail_argument(e, RK_STAGE_TARGET,
                                 "rk_command_options: descriptor %d has no effect without RK_COMMAND_STD_FDS",
                                 fd);
        plan->standard[i] = replaces && fd >= 0 ? fd : -1;
        if (replaces && (fd < -1 || (fd >= 0 && sys_fd_check(fd) < 0)))
            return fail_argument(e, RK_STAGE_TARGET, "descriptor %d, to replace %d, is not open", fd, i);
    }
    rc = command_search(argv[0], options->directory != NULL, &plan->path, e);
    if (rc < 0)
        return rc;
    plan->hides = sys_exec_hides(plan->path);
    if (!options->directory)
        return 0;
    plan->directory = rc = sys_directory_open(options->directory);
    if (rc >= 0)
        return 0;
    return fail(e, rc, RK_STAGE_TARGET, RK_CAUSE_NO_FILE, NULL, "cannot enter %s: %s",
                text_show(shown, sizeof shown, options->directory, strlen(options->directory)),
                strerror(-rc));
}

static int cannot_fork(int rc, const char *what, struct rk_error *e)
{
    bool descriptors = rc == -EMFILE || rc == -ENFILE;

    return fail(e, rc, RK_STAGE_TARGET,
                descriptors     ? RK_CAUSE_DESCRIPTORS
                : rc == -ENOMEM ? RK_CAUSE_MEMORY
                                : RK_CAUSE_UNKNOWN,
                descriptors     ? sys_limit_more_descriptors()
                : rc == -EAGAIN ? "ulimit -u, or the cgroup's pids.max, limits the number of processes"
                                : NULL,
                "%s: %s", what, strerror(-rc));
}

static int fork_command(struct rk_target *target, const struct plan *plan, struct rk_error *e)
{
    int pair[2];
    int rc = sys_socket_pair(pair);

    if (rc < 0)
        return cannot_fork(rc, "no socket pair to the command", e);
    int32_t pid = sys_fork();
    if (pid == 0) {
        sys_close(pair[0]);
        child(plan, pair[1]);
    }
    sys_close(pair[1]);
    target->channel = pair[0];
    if (pid < 0)
        return cannot_fork(pid, "can't fork", e);
    target->pid = pid;
    target->owner = sys_process_id();
    target->state = TARGET_WAITING;
    target->pidfd = sys_pidfd_open(target->pid);
    if (target->pidfd == -EMFILE || target->pidfd == -ENFILE)
        return cannot_fork(target->pidfd, "no descriptor for the command", e);
    return 0;
}

int rk_target_command(char *const argv[], const struct rk_command_options *options, struct rk_target **ret,
                      struct rk_error *e)
{
    struct rk_command_options own;
    _cleanup_(plan_free) struct plan plan = {.directory = -1};

    if (!argv || !argv[0] || !ret)
        return fail_argument(e, RK_STAGE_TARGET, "rk_target_command: %s",
                             ret ? "argv is empty" : "ret is NULL");
    int rc = options_check(&own, sizeof own, options, "rk_command_options", RK_STAGE_TARGET, e);
    if (rc == 0)
        rc = make_plan(argv, &own, &plan, e);
    if (rc < 0)
        return rc;
    struct rk_target *target = target_new(TARGET_COMMAND, -1);
    if (target) {
        target->state = TARGET_FAILED; /* until there is a child */
        target->hides = (int)plan.hides;
    }
    if (!target || !(target->name = strdup(argv[0])))
        rc = fail_memory(e, RK_STAGE_TARGET);
    else
        rc = fork_command(target, &plan, e);
    if (rc < 0) {
        rk_target_free(target);
        return rc;
    }
    *ret = target;
    return 0;
}

void command_end(struct rk_target *target)
{
    struct sys_end end;

    /* A forked copy of this handle must not end what the original owns. */
    if (target->state != TARGET_WAITING || target->owner != sys_process_id())
        return;
    sys_signal(target->pid, target->pidfd, SIGKILL);
    sys_wait(target->pid, 1, &end);
    target->state = TARGET_FAILED;
}

/* `format` (NULL: nothing) with its %s, if any, replaced. */
static void insert_name(char *to, size_t size, const char *format, const char *name)
{
    const char *at = format ? strstr(format, "%s") : NULL;

    if (at)
        snprintf(to, size, "%.*s%s%s", (int)(at - format), format, name, at + 2);
    else if (format)
        snprintf(to, size, "%s", format);
}

static int exec_failed(const struct rk_target *target, struct failure failure, struct rk_error *e)
{
    static const struct {
        int error;
        const char *why, *remedy; /* %s: its name */
    } known[] = {
        {-ENOEXEC, "not a program that this machine runs, nor a script with a #! line",
         "a script without a #! line runs through its interpreter: sh %s"},
        {-ENOENT, "its interpreter (the #! line's or the dynamic loader) does not exist", "file %s"},
        {-EACCES, "it or its interpreter may not be executed, or its file system is mounted noexec", NULL},
        {-E2BIG, "its arguments and environment are too long", "pass less, or raise ulimit -s"},
        {-ETXTBSY, "it is open for writing", "wait until it is written"},
        {-ELIBBAD, "its ELF interpreter is broken", NULL},
        {-EINVAL, "it names more than one interpreter", NULL},
    };
    const char *why = strerror(-failure.error);
    char shown[100], remedy[200] = "";

    text_show(shown, sizeof shown, target->name, strlen(target->name));
    if (failure.step == STEP_STANDARD)
        return fail(e, failure.error, RK_STAGE_TARGET, RK_CAUSE_UNKNOWN, NULL,
                    "%s: cannot set its standard descriptors: %s", shown, why);
    if (failure.step == STEP_DIRECTORY)
        return fail(e, failure.error, RK_STAGE_TARGET, RK_CAUSE_NO_FILE, NULL,
                    "%s: cannot enter its directory: %s", shown, why);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].error == failure.error) {
            why = known[i].why;
            insert_name(remedy, sizeof remedy, known[i].remedy, shown);
        }
    return fail(e, failure.error, RK_STAGE_TARGET, RK_CAUSE_NO_COMMAND, remedy, "cannot run %s: %s", shown,
                why);
}

/* Whether the child has come through execve: the kernel clears PF_FORKNOEXEC there. An exact answer where /proc
 * shows it, else no. */
static bool exec_done(int32_t pid)
{
    _cleanup_close_ int root = sys_root_open(NULL);
    char path[32], text[512];
    unsigned flags;

    snprintf(path, sizeof path, "proc/%d/stat", pid);
    if (root < 0 || sys_file_text(root, path, text, sizeof text) < 0)
        return false;
    const char *name_end = strrchr(text, ')'); /* the name may hold anything */
    return name_end && sscanf(name_end, ") %*c %*d %*d %*d %*d %*d %10u", &flags) == 1 && !(flags & 0x40);
}

/* 0: it runs. 1: it could not, *ret says why. -errno; -EPIPE: it ended while it waited. */
static int release(const struct rk_target *target, struct failure *ret)
{
    int rc = sys_send(target->channel, "", 1);

    while (rc == 0 && (rc = sys_poll_in(target->channel, 50)) == 0)
        if (exec_done(target->pid))
            return 0;
    if (rc < 0)
        return rc;
    int64_t n = sys_read(target->channel, ret, sizeof *ret);
    return n == sizeof *ret   ? 1
           : n >= 0           ? 0
           : n == -ECONNRESET ? -EPIPE
                              : (int)n; /* reset: our byte was not read */
}

int rk_target_start(struct rk_target *target, struct rk_error *e)
{
    struct failure failure;
    char shown[100];

    if (!target || target->kind != TARGET_COMMAND)
        return fail_argument(e, RK_STAGE_TARGET, "rk_target_start: only a command can be started");
    text_show(shown, sizeof shown, target->name, strlen(target->name));
    if (target->owner != sys_process_id())
        return fail(e, -ESTALE, RK_STAGE_TARGET, RK_CAUSE_FORKED, NULL,
                    "%s: its target belongs to the process that this one was forked from", shown);
    if (target->state != TARGET_WAITING)
        return fail(e, -EALREADY, RK_STAGE_TARGET, RK_CAUSE_ARGUMENT, NULL, "%s: was started before", shown);
    target->started_ns = sys_clock_ns();
    int rc = release(target, &failure);
    if (rc == 0) {
        target->state = TARGET_RUNNING;
        sys_close(TAKE_FD(target->channel));
        return 0;
    }
    command_end(target);
    if (rc == 1)
        return exec_failed(target, failure, e);
    if (rc == -EPIPE)
        return fail(e, -ESRCH, RK_STAGE_TARGET, RK_CAUSE_NO_PROCESS, NULL,
                    "%s: was killed before it was started", shown);
    return fail(e, rc, RK_STAGE_TARGET, RK_CAUSE_UNKNOWN, NULL, "cannot start %s: %s", shown, strerror(-rc));
}

/* 1 ended, 0 still running, -errno. */
static int await(const struct rk_target *target, int timeout_ms, struct sys_end *ret)
{
    if (target->pidfd >= 0 && timeout_ms != 0) {
        int rc = sys_poll_in(target->pidfd, timeout_ms);
        return rc <= 0 ? rc : sys_wait(target->pid, timeout_ms < 0, ret);
    }
    if (timeout_ms < 0)
        return sys_wait(target->pid, 1, ret);
    for (uint64_t end = sys_clock_ns() + (uint64_t)timeout_ms * 1000000;;) {
        int rc = sys_wait(target->pid, 0, ret);
        if (rc != 0 || timeout_ms == 0 || sys_clock_ns() >= end)
            return rc;
        sys_sleep_ns(1000000); /* a kernel before 5.3: nothing to poll */
    }
}

int command_wait(struct rk_target *target, int timeout_ms, struct rk_exit *ret)
{
    struct sys_end end;

    if (target->state == TARGET_WAITING)
        return -EINVAL;
    if (target->owner != sys_process_id())
        return -ESTALE;
    if (target->state == TARGET_FAILED)
        return -ECHILD;
    if (target->state == TARGET_RUNNING) {
        int rc = await(target, timeout_ms, &end);
        if (rc == -ECHILD)
            target->state = TARGET_FAILED; /* someone else has taken its end */
        if (rc <= 0)
            return rc;
        bool killed = WIFSIGNALED(end.status);
        target->state = TARGET_ENDED;
        target->end = (struct rk_exit){
            .size = sizeof target->end,
            .status = killed ? 128 + WTERMSIG(end.status) : WEXITSTATUS(end.status),
            .signal = killed ? WTERMSIG(end.status) : 0,
            .core_dumped = killed && WCOREDUMP(end.status),
            .wall_ns = sys_clock_ns() - target->started_ns,
            .user_ns = end.user_ns,
            .system_ns = end.system_ns,
            .peak_rss = end.peak_rss,
        };
    }
    return ret && result_give(ret, &target->end, sizeof target->end) < 0 ? -EINVAL : 1;
}

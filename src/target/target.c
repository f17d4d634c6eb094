/*
 * Threads and processes, and what all kinds of target share. Commands are in command.c, CPUs in cpus.c.
 *
 * /proc/ID/status tells whether a thread is there, whether it has ended, and whose leader it has: "State:" and
 * "Tgid:". Where /proc does not show it, because it is mounted with hidepid or not at all, kill(2) with signal
 * 0 tells whether it exists.
 */
#include "target/target.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "sys/file.h"
#include "sys/process.h"
#include "target/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

struct rk_target *target_new(enum target_kind kind, int32_t pid)
{
    struct rk_target *target = calloc(1, sizeof *target);

    if (target)
        *target = (struct rk_target){.kind = kind, .pid = pid, .pidfd = -1, .channel = -1};
    return target;
}

struct rk_target *rk_target_free(struct rk_target *target)
{
    if (!target)
        return NULL;
    if (target->kind == TARGET_COMMAND)
        command_end(target);
    if (target->channel >= 0)
        sys_close(target->channel);
    if (target->pidfd >= 0)
        sys_close(target->pidfd);
    free(target->name);
    free(target->cpus);
    free(target);
    return NULL;
}

int32_t rk_target_pid(const struct rk_target *target)
{
    return target ? target->pid : -EINVAL;
}

int rk_target_fd(const struct rk_target *target)
{
    if (!target || (target->kind != TARGET_COMMAND && target->kind != TARGET_PROCESS))
        return -EINVAL;
    return target->pidfd >= 0 ? target->pidfd : -ENOSYS;
}

int rk_target_self(struct rk_target **ret, struct rk_error *e)
{
    if (!ret)
        return fail_argument(e, RK_STAGE_TARGET, "rk_target_self: ret is NULL");
    struct rk_target *target = target_new(TARGET_SELF, 0);
    if (!target)
        return fail_memory(e, RK_STAGE_TARGET);
    *ret = target;
    return 0;
}

static int gone(const char *noun, int32_t id, struct rk_error *e)
{
    fail(e, -ESRCH, RK_STAGE_TARGET, RK_CAUSE_NO_PROCESS, "ps -eLo pid,tid,comm lists what runs",
         "no %s %d; it has ended or never was", noun, id);
    fail_slot(e, id, -1);
    return -ESRCH;
}

/* A failure of the system that says nothing of the process. */
static int unread(int rc, const char *noun, int32_t id, struct rk_error *e)
{
    fail(e, rc, RK_STAGE_TARGET,
         rc == -EMFILE   ? RK_CAUSE_DESCRIPTORS
         : rc == -ENOMEM ? RK_CAUSE_MEMORY
                         : RK_CAUSE_NO_FILE,
         NULL, "%s %d: /proc can't be read: %s", noun, id, strerror(-rc));
    fail_slot(e, id, -1);
    return rc;
}

/* The thread without /proc's help. */
static int probe(const char *noun, int32_t id, struct rk_error *e)
{
    int rc = sys_signal(id, -1, 0);

    if (rc == -EPERM) {
        fail(e, -EPERM, RK_STAGE_TARGET, RK_CAUSE_NOT_YOURS, "run as that user or as root",
             "%s %d belongs to another user, and /proc hides it", noun, id);
        fail_slot(e, id, -1);
        return rc;
    }
    return rc < 0 ? gone(noun, id, e) : 0;
}

/* 0 and the leader of a thread that lives; -errno with *e filled. */
static int look_up(const char *noun, int32_t id, int32_t *ret_leader, struct rk_error *e)
{
    _cleanup_close_ int root = sys_root_open(NULL);
    char path[64], status[4096], state = '?';
    int leader = id;

    if (root < 0)
        return unread(root, noun, id, e);
    snprintf(path, sizeof path, "proc/%d/status", id);
    _cleanup_close_ int fd = sys_open_at(root, path, O_RDONLY, 0);
    int64_t n = fd < 0 ? fd : sys_read(fd, status, sizeof status - 1);
    if (n == -ENOENT) {
        *ret_leader = id;
        return probe(noun, id, e);
    }
    if (n == -ESRCH)
        return gone(noun, id, e);
    if (n < 0)
        return unread((int)n, noun, id, e);
    status[n] = '\0';
    const char *line = strstr(status, "\nState:");
    if (line)
        sscanf(line, "\nState: %c", &state);
    if (state == 'Z' || state == 'X')
        return gone(noun, id, e);
    line = strstr(status, "\nTgid:");
    if (line)
        sscanf(line, "\nTgid: %10d", &leader);
    *ret_leader = leader;
    return 0;
}

static int open_task(enum target_kind kind, const char *noun, int32_t id, struct rk_target **ret,
                     struct rk_error *e)
{
    int32_t leader;

    if (!ret)
        return fail_argument(e, RK_STAGE_TARGET, "rk_target_%s: ret is NULL", noun);
    if (id <= 0)
        return fail_argument(e, RK_STAGE_TARGET, "%s %d: a %s's id is above 0", noun, id, noun);
    int rc = look_up(noun, id, &leader, e);
    if (rc < 0)
        return rc;
    struct rk_target *target = target_new(kind, kind == TARGET_PROCESS ? leader : id);
    if (!target)
        return fail_memory(e, RK_STAGE_TARGET);
    if (kind == TARGET_PROCESS) {
        target->pidfd = sys_pidfd_open(target->pid);
        if (target->pidfd == -ESRCH || target->pidfd == -EMFILE || target->pidfd == -ENFILE) {
            rc = target->pidfd;
            free(target);
            return rc == -ESRCH ? gone(noun, id, e) : unread(rc, noun, id, e);
        }
    }
    *ret = target;
    return 0;
}

int rk_target_thread(int32_t tid, struct rk_target **ret, struct rk_error *e)
{
    return open_task(TARGET_THREAD, "thread", tid, ret, e);
}

int rk_target_process(int32_t pid, struct rk_target **ret, struct rk_error *e)
{
    return open_task(TARGET_PROCESS, "process", pid, ret, e);
}

struct ids {
    VECTOR(int32_t) list;
};

static int add_id(void *context, const char *name)
{
    struct ids *ids = context;
    int id;

    if (sscanf(name, "%10d", &id) != 1 || id <= 0)
        return 0;
    int32_t *at = vector_push(&ids->list);
    if (!at)
        return -ENOMEM;
    *at = id;
    return 0;
}

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The threads of a process as /proc shows them now. */
static int list_threads(int32_t pid, struct ids *ids, struct rk_error *e)
{
    _cleanup_close_ int root = sys_root_open(NULL);
    char path[64];

    if (root < 0)
        return unread(root, "process", pid, e);
    snprintf(path, sizeof path, "proc/%d/task", pid);
    int rc = sys_dir_each(root, path, add_id, ids);
    if (rc == -ENOENT || rc == -ESRCH) { /* ended, or not shown */
        rc = probe("process", pid, e);
        if (rc == 0 && !ids->list.n)
            rc = add_id(ids, path + strlen("proc/"));
        return rc == -ENOMEM ? fail_memory(e, RK_STAGE_TARGET) : rc;
    }
    if (rc < 0)
        return unread(rc, "process", pid, e);
    if (ids->list.n == 0)
        return gone("process", pid, e);
    qsort(ids->list.items, ids->list.n, sizeof *ids->list.items, by_number);
    return 0;
}

int target_ids(const struct rk_target *target, int32_t **ret, size_t *ret_n, struct rk_error *e)
{
    struct ids ids = {0};
    bool cpus = target->kind == TARGET_CPUS;

    if (target->kind == TARGET_PROCESS) {
        /* The id may have gone to another process since: the descriptor knows. */
        int rc = target->pidfd >= 0 && sys_poll_in(target->pidfd, 0) > 0 ? gone("process", target->pid, e)
                                                                         : list_threads(target->pid, &ids, e);
        if (rc < 0) {
            vector_free(&ids.list);
            return rc;
        }
    } else {
        size_t n = cpus ? target->n_cpus : 1;
        if (vector_reserve(&ids.list, n) < 0)
            return fail_memory(e, RK_STAGE_TARGET);
        memcpy(ids.list.items, cpus ? target->cpus : &target->pid, n * sizeof(int32_t));
        ids.list.n = n;
    }
    *ret = ids.list.items;
    *ret_n = ids.list.n;
    return 0;
}

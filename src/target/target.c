/*
 * Threads and processes, and what all kinds of target share. Commands are in command.c, CPUs in cpus.c, cgroups in
 * cgroup.c; which threads and CPUs there are at a moment is found by ids.c.
 */
#include "target/target.h"

#include "base/error.h"
#include "sys/file.h"
#include "sys/process.h"
#include "target/command.h"

#include <errno.h>

#define LOOK_NS 10000000 /* between two looks at a thread that can't be polled */

struct rk_target *target_new(enum target_kind kind, int32_t pid)
{
    struct rk_target *target = calloc(1, sizeof *target);

    if (target)
        *target = (struct rk_target){.kind = kind, .pid = pid, .pidfd = -1, .channel = -1};
    return target;
}

struct rk_target *target_keep(struct rk_target *target)
{
    if (target)
        __atomic_fetch_add(&target->others, 1, __ATOMIC_RELAXED);
    return target;
}

struct rk_target *rk_target_free(struct rk_target *target)
{
    if (!target || __atomic_fetch_sub(&target->others, 1, __ATOMIC_ACQ_REL) > 0)
        return NULL;
    if (target->kind == TARGET_COMMAND)
        command_end(target);
    if (target->channel >= 0)
        sys_close(target->channel);
    if (target->pidfd >= 0)
        sys_close(target->pidfd);
    free(target->name);
    free(target->several);
    free(target->cpus);
    for (size_t i = 0; i < target->n_cgroups; i++) {
        free(target->cgroups[i].name);
        free(target->cgroups[i].path);
    }
    free(target->cgroups);
    rk_host_free(target->host);
    free(target);
    return NULL;
}

int32_t rk_target_pid(const struct rk_target *target)
{
    return target ? target->pid : -EINVAL;
}

int rk_target_fd(const struct rk_target *target)
{
    if (!target || target->kind == TARGET_SELF || target_by_cpu(target->kind))
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

static bool some_live(const struct rk_target *target)
{
    for (size_t i = 0; i < target->n_several; i++)
        if (target_lives(target->several[i]))
            return true;
    return target->n_several == 0 && target_lives(target->pid);
}

/* A task that is not ours to reap: 1 ended, 0 not yet, -errno. */
static int await_task(const struct rk_target *target, int timeout_ms)
{
    if (target->pidfd >= 0)
        return sys_poll_in(target->pidfd, timeout_ms);
    for (uint64_t end = sys_clock_ns() + (uint64_t)(timeout_ms > 0 ? timeout_ms : 0) * 1000000;;) {
        if (!some_live(target))
            return 1;
        if (timeout_ms >= 0 && sys_clock_ns() >= end)
            return 0;
        sys_sleep_ns(LOOK_NS);
    }
}

int rk_target_wait(struct rk_target *target, int timeout_ms, struct rk_exit *ret)
{
    const struct rk_exit unknown = {0};

    if (!target || target->kind == TARGET_SELF || target_by_cpu(target->kind) ||
        (ret && ret->size < sizeof ret->size)) /* before its end is taken and lost */
        return -EINVAL;
    if (target->kind == TARGET_COMMAND)
        return command_wait(target, timeout_ms, ret);
    int rc = await_task(target, timeout_ms);
    if (rc > 0 && ret)
        result_give(ret, &unknown, sizeof unknown);
    return rc;
}

/* Its descriptor: none where this kernel can't (then it is looked for), or an error that is this process's. */
static int open_pidfd(struct rk_target *target, const char *noun, int32_t id, struct rk_error *e)
{
    int fd = target->kind == TARGET_THREAD ? sys_pidfd_open_thread(target->pid) : sys_pidfd_open(target->pid);

    target->pidfd = fd;
    if (fd == -ESRCH)
        return target_gone(noun, id, e);
    return fd == -EMFILE || fd == -ENFILE ? target_unread(fd, noun, id, e) : 0;
}

static int open_task(enum target_kind kind, const char *function, const char *noun, int32_t id,
                     struct rk_target **ret, struct rk_error *e)
{
    int32_t leader;

    if (!ret)
        return fail_null(e, RK_STAGE_TARGET, function, "ret");
    if (id <= 0)
        return fail_argument(e, RK_STAGE_TARGET, "%s %d: a %s's id is above 0", noun, id, noun);
    int rc = target_look_up(noun, id, &leader, e);
    if (rc < 0)
        return rc;
    struct rk_target *target = target_new(kind, target_attaches(kind) ? leader : id);
    if (!target)
        return fail_memory(e, RK_STAGE_TARGET);
    rc = open_pidfd(target, noun, id, e);
    if (rc < 0) {
        rk_target_free(target);
        return rc;
    }
    *ret = target;
    return 0;
}

int rk_target_thread(int32_t tid, struct rk_target **ret, struct rk_error *e)
{
    return open_task(TARGET_THREAD, "rk_target_thread", "thread", tid, ret, e);
}

int rk_target_process(int32_t pid, struct rk_target **ret, struct rk_error *e)
{
    return open_task(TARGET_PROCESS, "rk_target_process", "process", pid, ret, e);
}

int rk_target_tree(int32_t pid, struct rk_target **ret, struct rk_error *e)
{
    return open_task(TARGET_TREE, "rk_target_tree", "process", pid, ret, e);
}

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Each is looked up as if it were alone; its leader, or itself, is remembered. */
static int open_several(bool threads, const int32_t *ids, size_t n, struct rk_target **ret,
                        struct rk_error *e)
{
    const char *noun = threads ? "thread" : "process";
    const char *function = threads ? "rk_target_threads" : "rk_target_processes";
    int rc = 0;

    if (!ret || !ids || n == 0)
        return fail_null(e, RK_STAGE_TARGET, function, !ret ? "ret" : "ids");
    if (n == 1)
        return threads ? rk_target_thread(*ids, ret, e) : rk_target_process(*ids, ret, e);
    struct rk_target *target = target_new(threads ? TARGET_THREAD : TARGET_PROCESS, 0);
    if (!target || !(target->several = calloc(n, sizeof *target->several))) {
        rk_target_free(target);
        return fail_memory(e, RK_STAGE_TARGET);
    }
    for (size_t i = 0; i < n && rc == 0; i++) {
        int32_t leader = 0;
        rc = ids[i] <= 0
                 ? fail_argument(e, RK_STAGE_TARGET, "%s %d: a %s's id is above 0", noun, ids[i], noun)
                 : target_look_up(noun, ids[i], &leader, e);
        target->several[i] = threads ? ids[i] : leader;
    }
    if (rc < 0) {
        rk_target_free(target);
        return rc;
    }
    qsort(target->several, n, sizeof *target->several, by_number);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || target->several[i] != target->several[i - 1])
            target->several[target->n_several++] = target->several[i];
    target->pid = target->several[0];
    *ret = target;
    return 0;
}

int rk_target_processes(const int32_t *pids, size_t n, struct rk_target **ret, struct rk_error *e)
{
    return open_several(false, pids, n, ret, e);
}

int rk_target_threads(const int32_t *tids, size_t n, struct rk_target **ret, struct rk_error *e)
{
    return open_several(true, tids, n, ret, e);
}

/*
 * Which threads and CPUs a target has at this moment.
 *
 * /proc/ID/status tells whether a thread is there, whether it has ended, and whose leader it has: "State:" and
 * "Tgid:". Where /proc does not show it, because it is mounted with hidepid or not at all, kill(2) with signal
 * 0 tells whether it exists. /proc/PID/task lists a process's threads. A tree is found from the parents that
 * /proc/PID/stat names, all read once: a process whose parent has ended belongs to the tree no more.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "host/host.h"
#include "sys/file.h"
#include "sys/limit.h"
#include "sys/process.h"
#include "target/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

int target_gone(const char *noun, int32_t id, struct rk_error *e)
{
    fail(e, -ESRCH, RK_STAGE_TARGET, RK_CAUSE_NO_PROCESS, "ps -eLo pid,tid,comm lists what runs",
         "no %s %d; it has ended or never was", noun, id);
    fail_slot(e, id, -1);
    return -ESRCH;
}

int target_unread(int rc, const char *noun, int32_t id, struct rk_error *e)
{
    fail(e, rc, RK_STAGE_TARGET,
         rc == -EMFILE   ? RK_CAUSE_DESCRIPTORS
         : rc == -ENOMEM ? RK_CAUSE_MEMORY
                         : RK_CAUSE_NO_FILE,
         NULL, "%s %d: cannot read /proc: %s", noun, id, strerror(-rc));
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
    return rc < 0 ? target_gone(noun, id, e) : 0;
}

int target_look_up(const char *noun, int32_t id, int32_t *ret_leader, struct rk_error *e)
{
    _cleanup_close_ int root = sys_root_open(NULL);
    char path[64], status[4096], state = '?';
    int leader = id;

    if (root < 0)
        return target_unread(root, noun, id, e);
    snprintf(path, sizeof path, "proc/%d/status", id);
    _cleanup_close_ int fd = sys_open_at(root, path, O_RDONLY, 0);
    int64_t n = fd < 0 ? fd : sys_read(fd, status, sizeof status - 1);
    if (n == -ENOENT) {
        *ret_leader = id;
        return probe(noun, id, e);
    }
    if (n == -ESRCH)
        return target_gone(noun, id, e);
    if (n < 0)
        return target_unread((int)n, noun, id, e);
    status[n] = '\0';
    const char *line = strstr(status, "\nState:");
    if (line)
        sscanf(line, "\nState: %c", &state);
    if (state == 'Z' || state == 'X')
        return target_gone(noun, id, e);
    line = strstr(status, "\nTgid:");
    if (line)
        sscanf(line, "\nTgid: %10d", &leader);
    *ret_leader = leader;
    return 0;
}

bool target_lives(int32_t tid)
{
    int32_t leader;

    return target_look_up("thread", tid, &leader, NULL) != -ESRCH;
}

/* What of /proc/ID/stat matters here. */
struct stat_line {
    int32_t parent;
    uint64_t born;
};

static int read_stat(int root, int32_t id, struct stat_line *ret)
{
    char path[64], text[1024];
    int parent;
    unsigned long long born;

    snprintf(path, sizeof path, "proc/%d/stat", id);
    int rc = sys_file_text(root, path, text, sizeof text);
    if (rc < 0)
        return rc;
    const char *at = strrchr(text, ')'); /* the name may hold anything */
    if (!at ||
        sscanf(at, ") %*c %10d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %20llu",
               &parent, &born) != 2)
        return -EBADMSG;
    *ret = (struct stat_line){parent, born};
    return 0;
}

/* A value of /proc/ID/status, by its key with the colon. */
static int32_t status_number(int root, int32_t id, const char *key)
{
    char path[64], text[4096];
    int value = 0;

    snprintf(path, sizeof path, "proc/%d/status", id);
    if (sys_file_text(root, path, text, sizeof text) < 0)
        return 0;
    const char *line = strstr(text, key);
    return line && sscanf(line + strlen(key), "%10d", &value) == 1 ? value : 0;
}

int32_t target_parent(int32_t pid)
{
    _cleanup_close_ int root = sys_root_open(NULL);

    return root >= 0 && status_number(root, pid, "\nTgid:") == pid ? status_number(root, pid, "\nPPid:") : 0;
}

bool target_relations(int32_t tid, int32_t *ret_leader, int32_t *ret_parent)
{
    _cleanup_close_ int root = sys_root_open(NULL);

    if (root < 0)
        return false;
    *ret_leader = status_number(root, tid, "\nTgid:");
    *ret_parent = *ret_leader ? status_number(root, tid, "\nPPid:") : 0;
    return *ret_leader > 0;
}

uint64_t target_born(int32_t tid)
{
    _cleanup_close_ int root = sys_root_open(NULL);
    struct stat_line line;

    return root >= 0 && read_stat(root, tid, &line) == 0 ? line.born : 0;
}

struct ids {
    VECTOR(int32_t) list;
};

static int add_id(void *context, const char *name)
{
    struct ids *ids = context;
    int32_t id = 0;

    for (const char *c = name; *c >= '0' && *c <= '9' && id < 100000000; c++)
        id = id * 10 + (*c - '0');
    if (id == 0)
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

/* Adds the threads of a process as /proc shows them now: 0, -ENOENT or -ESRCH where it does not, -errno. */
static int add_threads(int root, int32_t pid, struct ids *ids)
{
    char path[64];

    snprintf(path, sizeof path, "proc/%d/task", pid);
    return sys_dir_each(root, path, add_id, ids);
}

static int list_threads(int root, int32_t pid, struct ids *ids, struct rk_error *e)
{
    int rc = add_threads(root, pid, ids);

    if (rc == -ENOENT || rc == -ESRCH) { /* ended, or not shown */
        char text[16];
        rc = probe("process", pid, e);
        snprintf(text, sizeof text, "%d", pid);
        if (rc == 0 && !ids->list.n)
            rc = add_id(ids, text);
        return rc == -ENOMEM ? fail_memory(e, RK_STAGE_TARGET) : rc;
    }
    if (rc < 0)
        return target_unread(rc, "process", pid, e);
    return ids->list.n == 0 ? target_gone("process", pid, e) : 0;
}

struct pair {
    int32_t parent, pid;
};

struct parents {
    VECTOR(struct pair) list;
};

static int by_parent(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    return (x->parent > y->parent) - (x->parent < y->parent);
}

/* Every process of the machine with its parent, by parent. */
static int list_parents(int root, struct parents *ret)
{
    struct ids all = {0};
    struct stat_line line;
    int rc = sys_dir_each(root, "proc", add_id, &all);

    for (size_t i = 0; rc == 0 && i < all.list.n; i++) {
        rc = read_stat(root, all.list.items[i], &line);
        if (rc == -ENOENT || rc == -ESRCH || rc == -EBADMSG || rc == -EACCES || rc == -EPERM) {
            rc = 0; /* ended since, or not for us to see */
            continue;
        }
        struct pair *at = rc == 0 ? vector_push(&ret->list) : NULL;
        if (rc == 0 && !at)
            rc = -ENOMEM;
        if (at)
            *at = (struct pair){line.parent, all.list.items[i]};
    }
    vector_free(&all.list);
    if (rc == 0 && ret->list.n)
        qsort(ret->list.items, ret->list.n, sizeof *ret->list.items, by_parent);
    return rc;
}

/* Adds the threads of all that descend from those processes: a queue, each looked up by its parent. */
static int list_descendants(int root, const int32_t *pids, size_t n, struct ids *ids)
{
    struct parents parents = {0};
    struct ids queue = {0};
    int rc = list_parents(root, &parents);

    if (rc == 0)
        rc = vector_reserve(&queue.list, n);
    for (; rc == 0 && queue.list.n < n; queue.list.n++)
        queue.list.items[queue.list.n] = pids[queue.list.n];
    for (size_t i = 0; rc == 0 && i < queue.list.n; i++) {
        size_t low = 0, high = parents.list.n;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (parents.list.items[middle].parent < queue.list.items[i])
                low = middle + 1;
            else
                high = middle;
        }
        for (; rc == 0 && low < parents.list.n && parents.list.items[low].parent == queue.list.items[i];
             low++) {
            int32_t *at = vector_push(&queue.list);
            if (!at) {
                rc = -ENOMEM;
                break;
            }
            *at = parents.list.items[low].pid;
            rc = add_threads(root, *at, ids);
            rc = rc == -ENOENT || rc == -ESRCH ? 0 : rc;
        }
    }
    vector_free(&parents.list);
    vector_free(&queue.list);
    return rc;
}

/* The threads of those that still run; at least one must. */
static int list_several(const struct rk_target *target, int root, struct ids *ids, struct rk_error *e)
{
    int rc = -ESRCH;

    for (size_t i = 0; i < target->n_several; i++) {
        rc = add_threads(root, target->several[i], ids);
        if (rc < 0 && rc != -ENOENT && rc != -ESRCH)
            return rc == -ENOMEM ? fail_memory(e, RK_STAGE_TARGET)
                                 : target_unread(rc, "process", target->several[i], e);
    }
    return ids->list.n ? 0 : target_gone("process", target->pid, e);
}

static int list_tasks(const struct rk_target *target, struct ids *ids, struct rk_error *e)
{
    _cleanup_close_ int root = -1;

    /* The id may have gone to another process since: the descriptor knows. */
    if (target->pidfd >= 0 && sys_poll_in(target->pidfd, 0) > 0)
        return target_gone("process", target->pid, e);
    root = sys_root_open(NULL);
    if (root < 0)
        return target_unread(root, "process", target->pid, e);
    int rc = target->n_several ? list_several(target, root, ids, e) : list_threads(root, target->pid, ids, e);
    if (rc == 0 && target->kind == TARGET_TREE) {
        rc = list_descendants(root, &target->pid, 1, ids);
        if (rc < 0)
            return rc == -ENOMEM ? fail_memory(e, RK_STAGE_TARGET)
                                 : target_unread(rc, "process", target->pid, e);
    }
    if (rc == 0)
        qsort(ids->list.items, ids->list.n, sizeof *ids->list.items, by_number);
    return rc;
}

int target_tasks(const int32_t *pids, size_t n, bool tree, int32_t **ret, size_t *ret_n)
{
    _cleanup_close_ int root = sys_root_open(NULL);
    struct ids ids = {0};
    int rc = root < 0 ? root : 0;
    size_t kept = 0;

    for (size_t i = 0; rc == 0 && i < n; i++) {
        rc = add_threads(root, pids[i], &ids);
        rc = rc == -ENOENT || rc == -ESRCH ? 0 : rc;
    }
    if (rc == 0 && tree)
        rc = list_descendants(root, pids, n, &ids);
    if (rc < 0) {
        vector_free(&ids.list);
        return rc;
    }
    if (ids.list.n)
        qsort(ids.list.items, ids.list.n, sizeof *ids.list.items, by_number);
    for (size_t i = 0; i < ids.list.n; i++)
        if (i == 0 || ids.list.items[i] != ids.list.items[i - 1])
            ids.list.items[kept++] = ids.list.items[i];
    *ret = ids.list.items;
    *ret_n = kept;
    return 0;
}

static int all_cpus(const struct rk_target *target, int32_t **ret, size_t *ret_n, struct rk_error *e)
{
    int rc = host_cpus_now(target->host, ret, ret_n);

    if (rc == 0)
        return 0;
    return rc == -ENOMEM
               ? fail_memory(e, RK_STAGE_TARGET)
               : fail(e, rc, RK_STAGE_TARGET, rc == -EMFILE ? RK_CAUSE_DESCRIPTORS : RK_CAUSE_NO_FILE,
                      rc == -EMFILE ? sys_limit_more_descriptors() : NULL,
                      "cannot read from /sys or /proc which CPUs are online: %s", strerror(-rc));
}

int target_ids(const struct rk_target *target, int32_t **ret, size_t *ret_n, struct rk_error *e)
{
    struct ids ids = {0};
    bool cpus = target_by_cpu(target->kind);

    if (cpus && !target->cpus)
        return all_cpus(target, ret, ret_n, e);
    if (target_attaches(target->kind)) {
        int rc = list_tasks(target, &ids, e);
        if (rc < 0) {
            vector_free(&ids.list);
            return rc;
        }
    } else {
        size_t n = cpus ? target->n_cpus : target->n_several ? target->n_several : 1;
        if (vector_reserve(&ids.list, n) < 0)
            return fail_memory(e, RK_STAGE_TARGET);
        memcpy(ids.list.items,
               cpus                ? target->cpus
               : target->n_several ? target->several
                                   : &target->pid,
               n * sizeof(int32_t));
        ids.list.n = n;
    }
    *ret = ids.list.items;
    *ret_n = ids.list.n;
    return 0;
}

/*
 * Opening a host, its limits and the kernel's name. The other parts: cpus.c, pmu.c, fact.c.
 */
#include "host/host.h"

#include "base/error.h"
#include "sys/file.h"
#include "sys/limit.h"

#include <errno.h>
#include <string.h>

int rk_host_open(const char *root, struct rk_host **ret, struct rk_error *e)
{
    if (!ret)
        return fail_argument(e, RK_STAGE_HOST, "rk_host_open: ret is NULL");
    struct rk_host *host = calloc(1, sizeof *host);
    if (!host)
        return fail_memory(e, RK_STAGE_HOST);
    host->root = sys_root_open(root);
    if (host->root < 0) {
        int rc = host->root;
        free(host);
        if (rc == -EMFILE)
            return fail(e, rc, RK_STAGE_HOST, RK_CAUSE_DESCRIPTORS, sys_limit_more_descriptors(),
                        "%s: this process has no descriptor left", root ? root : "/");
        return fail(e, rc, RK_STAGE_HOST, RK_CAUSE_NO_FILE, NULL, "cannot open %s as a root directory: %s",
                    root ? root : "/", strerror(-rc));
    }
    *ret = host;
    return 0;
}

struct rk_host *host_keep(struct rk_host *host)
{
    if (host)
        __atomic_fetch_add(&host->others, 1, __ATOMIC_RELAXED);
    return host;
}

struct rk_host *rk_host_free(struct rk_host *host)
{
    if (!host || __atomic_fetch_sub(&host->others, 1, __ATOMIC_ACQ_REL) > 0)
        return NULL;
    host_pmus_free(host);
    host_memos_free(&host->memos);
    sys_fork_drop(host->fork);
    free(host->cpus.items);
    free(host->possible.items);
    free(host->places);
    for (size_t i = 0; i < HOST_MOUNTS; i++)
        free(host->mount_paths[i]);
    if (host->root >= 0)
        sys_close(host->root);
    free(host);
    return NULL;
}

int host_fork(struct rk_host *host, struct sys_fork **ret)
{
    int rc = 0;

    if (host->fork && *host->fork->word == 0) {
        sys_fork_drop(host->fork);
        host->fork = NULL;
    }
    if (!host->fork)
        rc = sys_fork_new(&host->fork);
    if (rc == 0)
        *ret = sys_fork_hold(host->fork);
    return rc;
}

/* The process's own: it may raise them, so they are asked for each time. */
static int own_limit(uint32_t limit, int64_t *ret)
{
    switch (limit) {
    case RK_LIMIT_NOFILE:
        return sys_limit_get(SYS_LIMIT_NOFILE, ret, NULL);
    case RK_LIMIT_NOFILE_HARD:
        return sys_limit_get(SYS_LIMIT_NOFILE, NULL, ret);
    default:
        return sys_limit_get(SYS_LIMIT_MEMLOCK, ret, NULL);
    }
}

int rk_host_limit(struct rk_host *host, uint32_t limit, int64_t *ret)
{
    static const char *const files[] = {
        [RK_LIMIT_PARANOID] = "proc/sys/kernel/perf_event_paranoid",
        [RK_LIMIT_MLOCK_KB] = "proc/sys/kernel/perf_event_mlock_kb",
        [RK_LIMIT_SAMPLE_RATE] = "proc/sys/kernel/perf_event_max_sample_rate",
        [RK_LIMIT_MAX_STACK] = "proc/sys/kernel/perf_event_max_stack",
        [RK_LIMIT_KPTR] = "proc/sys/kernel/kptr_restrict",
        [RK_LIMIT_USER_ACCESS] = "proc/sys/kernel/perf_user_access",
        [RK_LIMIT_NMI_WATCHDOG] = "proc/sys/kernel/nmi_watchdog",
        [RK_LIMIT_NOFILE] = NULL,
        [RK_LIMIT_NOFILE_HARD] = NULL,
        [RK_LIMIT_MEMLOCK] = NULL,
        [RK_LIMIT_ATTR_SIZE] = NULL,
        [RK_LIMIT_LAST_CAP] = "proc/sys/kernel/cap_last_cap",
    };

    if (!host || !ret || limit >= HOST_LIMITS)
        return -EINVAL;
    if (limit == RK_LIMIT_ATTR_SIZE)
        return host_attr_size(host, ret);
    if (!files[limit])
        return own_limit(limit, ret);
    struct host_answer *answer = &host->limits[limit];
    if (!answer->asked) {
        answer->rc = sys_file_number(host->root, files[limit], &answer->value);
        answer->asked = !host_transient(answer->rc);
    }
    if (answer->rc == 0)
        *ret = answer->value;
    return answer->rc;
}

const char *rk_host_kernel(struct rk_host *host)
{
    if (!host)
        return "";
    if (!host->kernel_read) {
        if (sys_file_text(host->root, "proc/sys/kernel/osrelease", host->kernel, sizeof host->kernel) < 0)
            host->kernel[0] = '\0';
        host->kernel_read = true;
    }
    return host->kernel;
}

/*
 * Which CPUs are online: sysfs says it in one line; where a container hides /sys, /proc/stat has one line for
 * each.
 */
#include "base/cleanup.h"
#include "host/host.h"
#include "host/list.h"
#include "sys/file.h"

#include <errno.h>
#include <string.h>

static int cpus_from_sysfs(const struct rk_host *host, int32_t **ret, size_t *ret_n)
{
    _cleanup_free_ char *text = NULL;
    size_t n;
    int rc = sys_file_load(host->root, "sys/devices/system/cpu/online", 1 << 16, &text, &n);

    if (rc < 0)
        return rc;
    rc = cpu_list_parse(text, ret, ret_n, NULL);
    return rc == -EINVAL || rc == -ERANGE ? -EBADMSG : rc;
}

/* Lines "cpu0 …" after the sum's "cpu …"; the other lines come behind them. */
static int cpus_from_stat(const struct rk_host *host, int32_t **ret, size_t *ret_n)
{
    _cleanup_free_ char *text = NULL;
    VECTOR(int32_t) found = {0};
    size_t n;
    int rc = sys_file_load(host->root, "proc/stat", 16 << 20, &text, &n);

    if (rc < 0)
        return rc;
    for (const char *line = text; line && strncmp(line, "cpu", 3) == 0;) {
        bool numbered = line[3] >= '0' && line[3] <= '9';
        unsigned long cpu = numbered ? strtoul(line + 3, NULL, 10) : 0;
        bool next = found.n == 0 || cpu > (unsigned long)found.items[found.n - 1];
        if (numbered && next && cpu < CPU_MAX) {
            int32_t *at = vector_push(&found);
            if (!at) {
                vector_free(&found);
                return -ENOMEM;
            }
            *at = (int32_t)cpu;
        }
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    if (found.n == 0)
        return -EBADMSG;
    *ret = found.items;
    *ret_n = found.n;
    return 0;
}

int host_cpus_now(const struct rk_host *host, int32_t **ret, size_t *ret_n)
{
    int rc = cpus_from_sysfs(host, ret, ret_n);

    if (rc < 0 && !host_transient(rc)) {
        int other = cpus_from_stat(host, ret, ret_n);
        rc = other == 0 || host_transient(other) ? other : rc;
    }
    return rc;
}

int rk_host_cpus(struct rk_host *host, const int32_t **ret, size_t *ret_n)
{
    if (!host || !ret || !ret_n)
        return -EINVAL;
    if (!host->cpus_read.asked) {
        int rc = host_cpus_now(host, &host->cpus.items, &host->cpus.n);
        if (host_transient(rc))
            return rc;
        host->cpus_read.asked = true;
        host->cpus_read.rc = rc;
    }
    if (host->cpus_read.rc < 0)
        return host->cpus_read.rc;
    *ret = host->cpus.items;
    *ret_n = host->cpus.n;
    return 0;
}

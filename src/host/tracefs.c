/*
 * What to do where tracepoints can't be looked up: the same words for whoever asks.
 */
#include "host/host.h"

#include <stdio.h>

int host_tracefs_remedy(struct rk_host *host, int rc, int level, char *buffer, size_t size)
{
    const char *path = "/sys/kernel/tracing";
    int64_t now;

    rk_host_mount(host, RK_MOUNT_TRACEFS, &path);
    if (rc == -EACCES || rc == -EPERM) {
        bool lower = rk_host_limit(host, RK_LIMIT_PARANOID, &now) == 0 && now > level &&
                     rk_host_fact(host, RK_FACT_CAP_PERFMON) != 1;
        /* Without the group the files stay root's alone. */
        int n = snprintf(buffer, size, "%ssudo mount -o remount,mode=755,gid=$(id -g) %.100s",
                         host_outside(host), path);
        if (lower && n > 0 && (size_t)n < size)
            n += snprintf(buffer + n, size - (size_t)n, " && sudo sysctl -w kernel.perf_event_paranoid=%d",
                          level);
        return n;
    }
    /* Root of a container can mount it only with that capability, whatever this user has. */
    if (rk_host_fact(host, RK_FACT_CONTAINER) == 1 && host_may_mount(host) != 1)
        return snprintf(buffer, size, "docker run -v /sys/kernel/tracing:/sys/kernel/tracing:ro …");
    return snprintf(buffer, size, "%ssudo mount -t tracefs tracefs /sys/kernel/tracing", host_outside(host));
}

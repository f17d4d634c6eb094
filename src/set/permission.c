/*
 * Why the kernel says no: the seccomp filter before the system call, then the paranoid level, then the process, in
 * the order in which the kernel checks.
 */
#include "base/abi.h"
#include "host/host.h"
#include "set/explain.h"
#include "sys/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define CAP_PERFMON_NUMBER 38 /* Linux 5.8 */
#define CAP_SYS_ADMIN_BIT 21
#define PATCHED_LEVEL \
    3               /* from here on Debian's kernels, from 4 on Ubuntu's, refuse all without CAP_SYS_ADMIN */
#define PMU_FIRST 6 /* attr.type beyond the fixed ones: a PMU from sysfs */

/* A number behind `key` in /proc/WHO/status, or -1. */
static int64_t status_number(const struct attempt *a, const char *who, const char *key, int base)
{
    char path[64];
    _cleanup_free_ char *text = NULL;
    size_t n;
    long long value = -1;

    snprintf(path, sizeof path, "proc/%s/status", who);
    if (sys_file_load(a->host->root, path, 1 << 16, &text, &n) < 0)
        return -1;
    for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (strncmp(line, key, strlen(key)) == 0 && line[strlen(key)] == ':') {
            value = strtoll(line + strlen(key) + 1, NULL, base);
            break;
        }
    return value;
}

bool explain_filtered(const struct attempt *a)
{
    return status_number(a, "self", "Seccomp", 10) == 2;
}

const char *explain_capability(struct rk_host *host)
{
    int64_t last;

    if (rk_host_limit(host, RK_LIMIT_LAST_CAP, &last) == 0 && last < CAP_PERFMON_NUMBER)
        return "cap_sys_admin";
    return "cap_perfmon";
}

/* Which file to give a capability: this program where it is reckon, else whichever reckon a shell finds. */
static const char *program(const struct attempt *a, char *path, size_t size)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-";
    int n = sys_link_at(a->host->root, "proc/self/exe", path, size);
    const char *last = n > 0 ? strrchr(path, '/') : NULL;

    if (!last || strcmp(last, "/reckon") != 0 || path[strspn(path, plain)])
        return "\"$(command -v reckon)\"";
    return path;
}

/* Whether root may write below /proc/sys here: container managers mount it read-only. False where it can't be told.
 * A line of mountinfo: id parent device root POINT OPTIONS …; the longest point that covers it counts, the last of
 * the same. */
static bool sysctl_writable(const struct attempt *a)
{
    _cleanup_free_ char *text = NULL;
    size_t n, best = 0;
    bool writable = false;

    if (sys_file_load(a->host->root, "proc/self/mountinfo", 4 << 20, &text, &n) < 0)
        return false;
    for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        char point[64], options[8];
        if (sscanf(line, "%*s %*s %*s %*s %63s %7s", point, options) != 2)
            continue;
        size_t length = strlen(point);
        if (strcmp(point, "/proc") != 0 && strcmp(point, "/proc/sys") != 0 &&
            strcmp(point, "/proc/sys/kernel") != 0)
            continue;
        if (length >= best) {
            best = length;
            writable = strncmp(options, "rw", 2) == 0;
        }
    }
    return writable;
}

static int paranoid(const struct attempt *a, int64_t level, int wanted, const char *what)
{
    char remedy[sizeof a->ret->remedy], path[96];
    const char *capability = level >= PATCHED_LEVEL ? "cap_sys_admin" : explain_capability(a->host);

    if (explain_is(a, RK_FACT_USER_NAMESPACE) && !explain_is(a, RK_FACT_CONTAINER))
        snprintf(remedy, sizeof remedy,
                 "outside of this user namespace, whose capabilities don't count: sudo sysctl -w "
                 "kernel.perf_event_paranoid=%d",
                 wanted);
    else if (explain_is(a, RK_FACT_CONTAINER) &&
             (explain_is(a, RK_FACT_USER_NAMESPACE) || !sysctl_writable(a)))
        snprintf(remedy, sizeof remedy,
                 "on the container's host: sudo sysctl -w kernel.perf_event_paranoid=%d   # or start the "
                 "container with --cap-add %s",
                 wanted, capability[4] == 'p' ? "PERFMON" : "SYS_ADMIN");
    else
        snprintf(remedy, sizeof remedy,
                 "sudo sysctl -w kernel.perf_event_paranoid=%d   # or for reckon alone: sudo setcap %s+ep %s",
                 wanted, capability, program(a, path, sizeof path));
    return explain_say(a, RK_CAUSE_PARANOID, remedy, "%s: kernel.perf_event_paranoid is %d", what,
                       (int)level);
}

static int no_capability(const struct attempt *a, int64_t level, const char *what)
{
    char remedy[sizeof a->ret->remedy], path[96];

    if (explain_is(a, RK_FACT_USER_NAMESPACE))
        snprintf(remedy, sizeof remedy, "%srun it as root", host_outside(a->host));
    else
        snprintf(remedy, sizeof remedy, "sudo setcap %s+ep %s",
                 level >= PATCHED_LEVEL ? "cap_sys_admin" : explain_capability(a->host),
                 program(a, path, sizeof path));
    return explain_say(a, RK_CAUSE_CAPABILITY, remedy, "%s", what);
}

static int seccomp(const struct attempt *a)
{
    return explain_say(a, RK_CAUSE_SECCOMP,
                       "docker run --cap-add PERFMON --security-opt seccomp=unconfined …   # systemd: "
                       "SystemCallFilter=perf_event_open",
                       "a seccomp filter takes perf_event_open away from this process%s",
                       explain_is(a, RK_FACT_CONTAINER) ? ", as containers do" : "");
}

/* Whether the filter is what refused. The kernel itself says EPERM to tracepoints and breakpoints alone: there the
 * answer to an attr of a size that no kernel takes shows whether the call arrives at all. */
static bool filter_refused(const struct attempt *a)
{
    int64_t size;

    if ((a->asked.code != -EPERM && a->asked.code != -ENOSYS) || !explain_filtered(a))
        return false;
    return (a->asked.type != PERF_TRACEPOINT && a->asked.type != PERF_BREAKPOINT) ||
           host_attr_size(a->host, &size) == a->asked.code;
}

/* Another user's process, or one that hides (setuid, prctl PR_SET_DUMPABLE). */
static int not_yours(const struct attempt *a)
{
    char pid[16], remedy[sizeof a->ret->remedy], path[96];
    int64_t mine = status_number(a, "self", "Uid", 10), theirs;

    snprintf(pid, sizeof pid, "%d", a->asked.pid);
    theirs = status_number(a, pid, "Uid", 10);
    if (explain_is(a, RK_FACT_USER_NAMESPACE))
        snprintf(remedy, sizeof remedy, "%srun it as root", host_outside(a->host));
    else
        snprintf(remedy, sizeof remedy, "run it with sudo, or: sudo setcap %s,cap_sys_ptrace+ep %s",
                 explain_capability(a->host), program(a, path, sizeof path));
    if (theirs >= 0 && mine >= 0 && theirs != mine)
        return explain_say(a, RK_CAUSE_NOT_YOURS, remedy,
                           "process %s belongs to user %d, and this is user %d", pid, (int)theirs, (int)mine);
    return explain_say(a, RK_CAUSE_NOT_YOURS, remedy,
                       "process %s may not be looked into: it is not dumpable (setuid, or protected itself)",
                       pid);
}

int explain_denied(const struct attempt *a)
{
    int64_t level = explain_limit(a, RK_LIMIT_PARANOID, INT64_MIN);
    bool kernel = a->asked.flags & RK_ATTEMPT_KERNEL, tracepoint = a->asked.type == PERF_TRACEPOINT;

    if (filter_refused(a))
        return seccomp(a);
    /* The right would not help: the kernel asks for it before it looks for a PMU, and there is none. */
    if (explain_is_hardware(a->asked.type) && rk_host_fact(a->host, RK_FACT_CORE_PMU) == 0)
        return explain_no_hardware(a);
    if (explain_is(a, RK_FACT_CAP_PERFMON)) {
        int64_t effective = status_number(a, "self", "CapEff", 16);
        if (level >= PATCHED_LEVEL && a->asked.code == -EACCES && effective >= 0 &&
            !(effective >> CAP_SYS_ADMIN_BIT & 1))
            return paranoid(a, level, 2, "CAP_PERFMON is not enough for this kernel");
        if (tracepoint && a->asked.config == TRACEPOINT_FUNCTION)
            return explain_say(a, RK_CAUSE_UNSUPPORTED,
                               "probe one function, kprobe:NAME, or use the tracer itself: "
                               "/sys/kernel/tracing/current_tracer",
                               "this kernel gives the function tracer's event to nobody by perf_event_open");
        return explain_say(a, RK_CAUSE_CAPABILITY, "look into: sudo dmesg | grep -iE 'lockdown|denied'",
                           "refused although the capability is there: kernel lockdown or a security module");
    }
    if (explain_is_probe(a)) /* before any level: lowering that would not help */
        return no_capability(a, level, "probes are for privileged users");
    if (level >= PATCHED_LEVEL && !kernel && a->asked.pid >= 0)
        return paranoid(a, level, 2, "this kernel lets no plain user measure");
    /* Their fields are behind a check of their own (EPERM); counting them is counting in the kernel. */
    if (tracepoint && level >= 0 && (a->asked.code == -EPERM || (a->asked.flags & RK_ATTEMPT_SAMPLING)))
        return paranoid(a, level, -1, "a plain user may not use tracepoints");
    if (a->asked.pid < 0 && level >= 1)
        return paranoid(a, level, 0, "a plain user may not measure a whole CPU");
    if (kernel && level >= 2)
        return paranoid(a, level, 1, "a plain user may not count in the kernel");
    if ((a->asked.flags & RK_ATTEMPT_PHYSICAL) && level >= 2)
        return paranoid(a, level, 1, "a plain user may not see physical addresses");
    if (a->asked.pid > 0)
        return not_yours(a);
    return no_capability(a, level,
                         a->asked.type >= PMU_FIRST ? "this PMU is for privileged users"
                                                    : "a capability is missing");
}

/*
 * Facts: yes, no, or why it can't be told. One row per fact in the table at the end; all of them only read
 * files below the root, so that a fake tree answers as a machine would.
 */
#include "host/host.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

/* The first bytes of a file, with a NUL: how many, or -errno. */
static int64_t read_prefix(const struct rk_host *host, const char *path, char *buffer, size_t size)
{
    _cleanup_close_ int fd = sys_open_at(host->root, path, O_RDONLY, 0);

    if (fd < 0)
        return fd;
    int64_t n = sys_read(fd, buffer, size - 1);
    if (n >= 0)
        buffer[n] = '\0';
    return n;
}

/* 1 where one of the paths can be opened for reading, else 0; -errno where that says nothing of them. */
static int any_readable(const struct rk_host *host, const char *const paths[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        _cleanup_close_ int fd = sys_open_at(host->root, paths[i], O_RDONLY, 0);
        if (fd >= 0)
            return 1;
        if (host_transient(fd))
            return fd;
    }
    return 0;
}

/* 1 where the text has one of the words. */
static int any_word(const char *text, const char *const words[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strstr(text, words[i]))
            return 1;
    return 0;
}

#define N(array) (sizeof(array) / sizeof *(array))

static int ask_core_pmu(struct rk_host *host, uint64_t unused)
{
    struct host_pmu *const *cores;
    int n = host_pmus(host);

    (void)unused;
    if (n >= 0)
        n = host_cores(host, &cores);
    return n < 0 ? n : n > 0;
}

/* Bits of the effective capabilities. */
#define CAP_BIT(number) (UINT64_C(1) << (number))
#define CAP_BIT_IPC_LOCK CAP_BIT(14)
#define CAP_BIT_SYS_PTRACE CAP_BIT(19)
#define CAP_BIT_SYS_ADMIN CAP_BIT(21)
#define CAP_BIT_SYSLOG CAP_BIT(34)
#define CAP_BIT_PERFMON CAP_BIT(38)

/* Whether a set of /proc/self/status, "CapEff" or "CapBnd", has one of them. */
static int has_capability(struct rk_host *host, const char *set, uint64_t any_of)
{
    char status[8192];
    int64_t n = read_prefix(host, "proc/self/status", status, sizeof status);
    unsigned long long bits;

    if (n < 0)
        return (int)n;
    const char *line = strstr(status, set);
    if (!line || sscanf(line + strlen(set), ": %16llx", &bits) != 1)
        return -EBADMSG;
    return (bits & any_of) != 0;
}

static int ask_capability(struct rk_host *host, uint64_t any_of)
{
    return has_capability(host, "\nCapEff", any_of);
}

/* Those that the kernel wants of the first user namespace: any other's root has the bit, and it does not count. */
static int ask_first_capability(struct rk_host *host, uint64_t any_of)
{
    int has = ask_capability(host, any_of);

    return has == 1 && rk_host_fact(host, RK_FACT_USER_NAMESPACE) == 1 ? 0 : has;
}

int host_may_mount(struct rk_host *host)
{
    int has = has_capability(host, "\nCapBnd", CAP_BIT_SYS_ADMIN);

    return has == 1 && rk_host_fact(host, RK_FACT_USER_NAMESPACE) == 1 ? 0 : has;
}

const char *host_outside(struct rk_host *host)
{
    if (rk_host_fact(host, RK_FACT_USER_NAMESPACE) != 1)
        return "";
    return rk_host_fact(host, RK_FACT_CONTAINER) == 1 ? "on the container's host: "
                                                      : "outside of this user namespace: ";
}

/*
 * x86 says it itself: a hypervisor sets a flag of the processor. Elsewhere Xen's /sys/hypervisor, the device
 * tree and the firmware's product name tell.
 */
static int ask_virtual(struct rk_host *host, uint64_t unused)
{
    static const char *const guests[] = {"sys/hypervisor/type", "proc/device-tree/hypervisor/compatible"};
    static const char *const files[] = {"sys/class/dmi/id/sys_vendor", "sys/class/dmi/id/product_name"};
    static const char *const products[] = {"Virtual Machine", "KVM", "QEMU", "VMware", "VirtualBox", "Bochs"};
    char text[8192]; /* the first processor's flags lie within */
    bool told = false;

    (void)unused;
    int64_t n = read_prefix(host, "proc/cpuinfo", text, sizeof text);
    char *flags = n > 0 ? strstr(text, "\nflags\t") : NULL;
    if (flags) {
        flags[1 + strcspn(flags + 1, "\n")] = '\0';
        return strstr(flags, " hypervisor") != NULL;
    }
    int rc = host_transient((int)n) ? (int)n : any_readable(host, guests, N(guests));
    for (size_t i = 0; rc == 0 && i < N(files); i++) {
        n = read_prefix(host, files[i], text, sizeof text);
        told = told || n > 0;
        rc = n > 0 ? any_word(text, products, N(products)) : host_transient((int)n) ? (int)n : 0;
    }
    return rc != 0 || told ? rc : -ENOENT;
}

/* The marks that container managers leave; a hint, since a container can hide that it is one. */
static int ask_container(struct rk_host *host, uint64_t unused)
{
    static const char *const marks[] = {".dockerenv", "run/.containerenv", "run/systemd/container"};
    static const char *const managers[] = {"docker", "kubepods", "libpod", "lxc"};
    char text[4096];

    (void)unused;
    int rc = any_readable(host, marks, N(marks));
    if (rc != 0)
        return rc;
    int64_t n = read_prefix(host, "proc/1/cgroup", text, sizeof text);
    if (n > 0 && any_word(text, managers, N(managers)))
        return 1;
    if (!host_transient((int)n))
        n = read_prefix(host, "proc/1/environ", text, sizeof text);
    for (int64_t at = 0; at < n; at += (int64_t)strlen(text + at) + 1)
        if (strncmp(text + at, "container=", 10) == 0)
            return 1;
    return host_transient((int)n) ? (int)n : 0;
}

static int ask_tracefs(struct rk_host *host, uint64_t unused)
{
    const char *path;
    int rc = rk_host_mount(host, RK_MOUNT_TRACEFS, &path);

    (void)unused;
    return rc == 0 ? 1 : host_transient(rc) ? rc : 0;
}

/* The first namespace maps every number to itself: "0 0 4294967295". */
static int ask_user_namespace(struct rk_host *host, uint64_t unused)
{
    unsigned long long inside, outside, length;
    char text[256];
    int64_t n = read_prefix(host, "proc/self/uid_map", text, sizeof text);

    (void)unused;
    if (n < 0) /* a kernel without namespaces has no such file */
        return n == -ENOENT ? 0 : (int)n;
    if (sscanf(text, "%llu %llu %llu", &inside, &outside, &length) != 3)
        return 1; /* nobody is mapped yet */
    return inside || outside || length != UINT32_MAX;
}

/* On x86 the first symbols may be of per-CPU data and really at zero; hidden addresses are zero throughout: so
 * look at some thousand lines before saying no. */
static int ask_kernel_symbols(struct rk_host *host, uint64_t unused)
{
    char text[4096];
    _cleanup_close_ int fd = sys_open_at(host->root, "proc/kallsyms", O_RDONLY, 0);
    bool line_start = true;

    (void)unused;
    if (fd < 0)
        return fd;
    for (int round = 0; round < 16; round++) {
        int64_t n = sys_read(fd, text, sizeof text);
        if (n < 0)
            return (int)n;
        /* An address is what stands before a line's first blank. */
        for (int64_t i = 0; i < n; i++) {
            if (text[i] == '\n')
                line_start = true;
            else if (text[i] == ' ')
                line_start = false;
            else if (line_start && text[i] != '0')
                return 1;
        }
        if (n < (int64_t)sizeof text)
            break;
    }
    return 0;
}

int rk_host_fact(struct rk_host *host, uint32_t fact)
{
    static const struct {
        int (*ask)(struct rk_host *host, uint64_t argument);
        uint64_t argument;
    } facts[HOST_FACTS] = {
        [RK_FACT_CORE_PMU] = {ask_core_pmu, 0},
        [RK_FACT_CAP_PERFMON] = {ask_first_capability, CAP_BIT_PERFMON | CAP_BIT_SYS_ADMIN},
        [RK_FACT_CAP_SYS_PTRACE] = {ask_capability, CAP_BIT_SYS_PTRACE},
        [RK_FACT_CAP_IPC_LOCK] = {ask_first_capability, CAP_BIT_IPC_LOCK},
        [RK_FACT_CAP_SYSLOG] = {ask_first_capability, CAP_BIT_SYSLOG},
        [RK_FACT_VIRTUAL] = {ask_virtual, 0},
        [RK_FACT_CONTAINER] = {ask_container, 0},
        [RK_FACT_TRACEFS] = {ask_tracefs, 0},
        [RK_FACT_KERNEL_SYMBOLS] = {ask_kernel_symbols, 0},
        [RK_FACT_USER_NAMESPACE] = {ask_user_namespace, 0},
    };

    if (!host || fact >= HOST_FACTS)
        return -EINVAL;
    struct host_answer *answer = &host->facts[fact];
    if (!answer->asked) {
        answer->rc = facts[fact].ask(host, facts[fact].argument);
        answer->asked = !host_transient(answer->rc);
    }
    return answer->rc;
}

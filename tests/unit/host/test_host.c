/* The host on fake machines: what is read, when, and what is said where it can't be. */
#include "../fake_root.h"
#include "host/host.h"

#include <sys/resource.h>

static struct rk_host *host;

static void open_host(void)
{
    struct rk_error e = {.size = sizeof e};
    assert_int_equal(rk_host_open(fake_path, &host, &e), 0);
}

static int set_up(void **state)
{
    (void)state;
    fake_root();
    open_host();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    host = rk_host_free(host);
    fake_end();
    return 0;
}

/* Forget what was read. */
static void again(void)
{
    rk_host_free(host);
    open_host();
}

static void opening_says_why_not(void **state)
{
    (void)state;
    struct rk_host *none = (struct rk_host *)1;
    struct rk_error e = {.size = sizeof e};
    assert_int_equal(rk_host_open("/nonexistent/root", &none, &e), -ENOENT);
    assert_ptr_equal(none, (struct rk_host *)1);
    assert_int_equal(e.stage, RK_STAGE_HOST);
    assert_int_equal(e.cause, RK_CAUSE_NO_FILE);
    assert_non_null(strstr(e.what, "/nonexistent/root"));
    fake_file("plain", "");
    char path[TEMPORARY + 16];
    snprintf(path, sizeof path, "%s/plain", fake_path);
    assert_int_equal(rk_host_open(path, &none, NULL), -ENOTDIR);
    assert_int_equal(rk_host_open(NULL, NULL, &e), -EINVAL);
    assert_null(rk_host_free(NULL));
    assert_int_equal(rk_host_limit(NULL, 0, &(int64_t){0}), -EINVAL);
    assert_int_equal(rk_host_fact(NULL, 0), -EINVAL);
    assert_int_equal(rk_host_pmu_count(NULL), 0);
    assert_string_equal(rk_host_kernel(NULL), "");
}

static void limits_are_read_once_and_late(void **state)
{
    (void)state;
    int64_t value = 77;
    fake_file("proc/sys/kernel/perf_event_paranoid", "-1\n"); /* after the open: it has not been read yet */
    assert_int_equal(rk_host_limit(host, RK_LIMIT_PARANOID, &value), 0);
    assert_int_equal(value, -1);
    fake_file("proc/sys/kernel/perf_event_paranoid", "4\n");
    assert_int_equal(rk_host_limit(host, RK_LIMIT_PARANOID, &value), 0);
    assert_int_equal(value, -1);
    again();
    assert_int_equal(rk_host_limit(host, RK_LIMIT_PARANOID, &value), 0);
    assert_int_equal(value, 4);

    value = 77;
    assert_int_equal(rk_host_limit(host, RK_LIMIT_USER_ACCESS, &value), -ENOENT);
    fake_file("proc/sys/kernel/nmi_watchdog", "yes\n");
    assert_int_equal(rk_host_limit(host, RK_LIMIT_NMI_WATCHDOG, &value), -EBADMSG);
    fake_file("proc/sys/kernel/kptr_restrict", "");
    assert_int_equal(rk_host_limit(host, RK_LIMIT_KPTR, &value), -EBADMSG);
    assert_int_equal(rk_host_limit(host, 99, &value), -EINVAL);
    assert_int_equal(value, 77);
}

static void every_limit_has_its_file(void **state)
{
    (void)state;
    static const struct {
        uint32_t limit;
        const char *file;
    } rows[] = {
        {RK_LIMIT_PARANOID, "perf_event_paranoid"},
        {RK_LIMIT_MLOCK_KB, "perf_event_mlock_kb"},
        {RK_LIMIT_SAMPLE_RATE, "perf_event_max_sample_rate"},
        {RK_LIMIT_MAX_STACK, "perf_event_max_stack"},
        {RK_LIMIT_KPTR, "kptr_restrict"},
        {RK_LIMIT_USER_ACCESS, "perf_user_access"},
        {RK_LIMIT_NMI_WATCHDOG, "nmi_watchdog"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[128], text[16];
        int64_t value;
        snprintf(path, sizeof path, "proc/sys/kernel/%s", rows[i].file);
        snprintf(text, sizeof text, "%zu\n", 100 + i);
        fake_file(path, text);
        assert_int_equal(rk_host_limit(host, rows[i].limit, &value), 0);
        assert_int_equal(value, 100 + i);
    }
}

static void own_limits_follow_the_process(void **state)
{
    (void)state;
    struct rlimit before, lower;
    int64_t value;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    lower = before;
    lower.rlim_cur = before.rlim_cur - 1;
    assert_int_equal(rk_host_limit(host, RK_LIMIT_NOFILE, &value), 0);
    assert_int_equal(value, before.rlim_cur);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &lower), 0);
    assert_int_equal(rk_host_limit(host, RK_LIMIT_NOFILE, &value), 0);
    assert_int_equal(value, before.rlim_cur - 1);
    assert_int_equal(rk_host_limit(host, RK_LIMIT_NOFILE_HARD, &value), 0);
    assert_true(before.rlim_max == RLIM_INFINITY ? value == INT64_MAX : value == (int64_t)before.rlim_max);
    setrlimit(RLIMIT_NOFILE, &before);
    assert_int_equal(rk_host_limit(host, RK_LIMIT_MEMLOCK, &value), 0);
    assert_true(value >= 0);
}

static void the_kernel_has_a_name(void **state)
{
    (void)state;
    assert_string_equal(rk_host_kernel(host), "");
    again();
    fake_file("proc/sys/kernel/osrelease", "6.18.44-test\n");
    assert_string_equal(rk_host_kernel(host), "6.18.44-test");
    fake_file("proc/sys/kernel/osrelease", "0\n");
    assert_string_equal(rk_host_kernel(host), "6.18.44-test");
}

static void cpus_from_sysfs_or_proc(void **state)
{
    (void)state;
    const int32_t *cpus = NULL;
    size_t n = 77;
    assert_int_equal(rk_host_cpus(host, &cpus, &n), -ENOENT);
    assert_int_equal(n, 77);
    again();
    fake_file("sys/devices/system/cpu/online", "0-1,4\n");
    fake_file("proc/stat", "cpu  1 2 3\ncpu0 1 2\ncpu3 4 5\ncpu11 1\nintr 1 2\ncpu5 hidden\n");
    assert_int_equal(rk_host_cpus(host, &cpus, &n), 0);
    assert_int_equal(n, 3);
    assert_int_equal(cpus[2], 4);
    /* Where /sys is hidden or damaged, /proc/stat knows. */
    fake_file("sys/devices/system/cpu/online", "zero\n");
    again();
    assert_int_equal(rk_host_cpus(host, &cpus, &n), 0);
    assert_int_equal(n, 3);
    assert_int_equal(cpus[0], 0);
    assert_int_equal(cpus[1], 3);
    assert_int_equal(cpus[2], 11);
    fake_file("proc/stat", "intr 1\n");
    again();
    assert_int_equal(rk_host_cpus(host, &cpus, &n), -EBADMSG);
}

#define DEVICES "sys/bus/event_source/devices/"

static void pmus_are_sorted_and_lazy(void **state)
{
    (void)state;
    struct rk_pmu pmu = {.size = sizeof pmu};
    int rc = 0;
    assert_int_equal(rk_host_pmu_count(host), 0);
    assert_int_equal(rk_host_pmu_get(host, 0, &pmu), -ENOENT);
    assert_int_equal(rk_host_fact(host, RK_FACT_CORE_PMU), -ENOENT);
    assert_null(host_pmu_find(host, "cpu", &rc));
    assert_int_equal(rc, -ENOENT);
    again();
    fake_file(DEVICES "software/type", "1\n");
    fake_file(DEVICES "cpu/type", "4\n");
    fake_file(DEVICES "broken/type", "none\n");
    fake_file(DEVICES "huge/type", "4294967296\n");
    fake_file(DEVICES "uncore_imc_0/type", "17\n");
    fake_file(DEVICES "uncore_imc_0/cpumask", "0\n");
    assert_int_equal(rk_host_pmu_count(host), 5);
    assert_int_equal(rk_host_pmu_get(host, 0, &pmu), -EBADMSG); /* broken */
    assert_int_equal(rk_host_pmu_get(host, 2, &pmu), -EBADMSG); /* huge */
    assert_int_equal(rk_host_pmu_get(host, 5, &pmu), -ERANGE);
    assert_int_equal(rk_host_pmu_get(host, 1, &pmu), 0);
    assert_string_equal(pmu.name, "cpu");
    assert_int_equal(pmu.type, 4);
    assert_int_equal(pmu.core, 1);
    assert_int_equal(rk_host_pmu_get(host, 4, &pmu), 0);
    assert_string_equal(pmu.name, "uncore_imc_0");
    assert_int_equal(pmu.type, 17);
    assert_int_equal(pmu.core, 0);
    struct host_pmu *found = host_pmu_find(host, "software", &rc);
    uint32_t type;
    assert_non_null(found);
    fake_file(DEVICES "software/type", "8\n"); /* not read before it is asked for */
    assert_int_equal(host_pmu_type(host, found, &type), 0);
    assert_int_equal(type, 8);
    assert_null(host_pmu_find(host, "soft", &rc));
    assert_int_equal(rc, -ENOENT);
    assert_int_equal(rk_host_fact(host, RK_FACT_CORE_PMU), 1);
}

static void core_pmus_of_every_kind(void **state)
{
    (void)state;
    static const struct {
        const char *name, *file;
        int core;
    } rows[] = {
        {"cpu", "type", 1},          {"cpum_cf", "type", 1},       {"cpu_core", "cpus", 1},
        {"cpu_atom", "cpus", 1},     {"armv8_pmuv3_0", "cpus", 1}, {"apple_icestorm_pmu", "cpus", 1},
        {"arm_dsu_0", "cpumask", 0}, {"arm_spe_0", "cpumask", 0},  {"msr", "type", 0},
        {"cpu2", "type", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[128];
        snprintf(path, sizeof path, DEVICES "%s/type", rows[i].name);
        fake_file(path, "30\n");
        snprintf(path, sizeof path, DEVICES "%s/%s", rows[i].name, rows[i].file);
        fake_file(path, "4\n");
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int rc = 0;
        struct host_pmu *pmu = host_pmu_find(host, rows[i].name, &rc);
        assert_non_null(pmu);
        if (host_pmu_core(host, pmu) != rows[i].core)
            fail_msg("%s: core is not %d", rows[i].name, rows[i].core);
    }
}

static void no_core_pmu_in_a_plain_vm(void **state)
{
    (void)state;
    fake_file(DEVICES "software/type", "1\n");
    fake_file(DEVICES "msr/type", "9\n");
    assert_int_equal(rk_host_fact(host, RK_FACT_CORE_PMU), 0);
}

static void capabilities_by_bit(void **state)
{
    (void)state;
    static const struct {
        const char *effective;
        int perfmon, ptrace, ipc_lock, syslog;
    } rows[] = {
        {"0000000000000000", 0, 0, 0, 0}, {"0000004000000000", 1, 0, 0, 0}, /* CAP_PERFMON */
        {"0000000000200000", 1, 0, 0, 0},                                   /* CAP_SYS_ADMIN */
        {"0000000000080000", 0, 1, 0, 0}, {"0000000000004000", 0, 0, 1, 0},
        {"0000000400000000", 0, 0, 0, 1}, {"000001ffffffffff", 1, 1, 1, 1},
    };
    assert_int_equal(rk_host_fact(host, RK_FACT_CAP_PERFMON), -ENOENT);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[200];
        snprintf(text, sizeof text,
                 "Name:\tCapEff: ffffffffffffffff\nCapPrm:\tffffffffffffffff\nCapEff:\t%s\nCapBnd:\tffff\n",
                 rows[i].effective);
        fake_file("proc/self/status", text);
        again();
        assert_int_equal(rk_host_fact(host, RK_FACT_CAP_PERFMON), rows[i].perfmon);
        assert_int_equal(rk_host_fact(host, RK_FACT_CAP_SYS_PTRACE), rows[i].ptrace);
        assert_int_equal(rk_host_fact(host, RK_FACT_CAP_IPC_LOCK), rows[i].ipc_lock);
        assert_int_equal(rk_host_fact(host, RK_FACT_CAP_SYSLOG), rows[i].syslog);
    }
    fake_file("proc/self/status", "Name:\tx\n");
    again();
    assert_int_equal(rk_host_fact(host, RK_FACT_CAP_PERFMON), -EBADMSG);
}

static void virtual_machines(void **state)
{
    (void)state;
    assert_int_equal(rk_host_fact(host, RK_FACT_VIRTUAL), -ENOENT);
    fake_file("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu sse hypervisor lahf_lm\nbugs\t: none\n");
    again();
    assert_int_equal(rk_host_fact(host, RK_FACT_VIRTUAL), 1);
    fake_file("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu sse\nbugs\t: hypervisor hypervisor\n");
    fake_file("sys/class/dmi/id/sys_vendor", "QEMU\n"); /* x86 answers for itself */
    again();
    assert_int_equal(rk_host_fact(host, RK_FACT_VIRTUAL), 0);
    fake_file("proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd\n");
    again();
    assert_int_equal(rk_host_fact(host, RK_FACT_VIRTUAL), 1);
    fake_file("sys/class/dmi/id/sys_vendor", "Dell Inc.\n");
    again();
    assert_int_equal(rk_host_fact(host, RK_FACT_VIRTUAL), 0);
    fake_file("sys/hypervisor/type", "xen\n");
    again();
    assert_int_equal(rk_host_fact(host, RK_FACT_VIRTUAL), 1);
}

static void containers(void **state)
{
    (void)state;
    assert_int_equal(rk_host_fact(host, RK_FACT_CONTAINER), 0);
    fake_file(".dockerenv", "");
    assert_int_equal(rk_host_fact(host, RK_FACT_CONTAINER), 0); /* fixed at the first question */
    again();
    assert_int_equal(rk_host_fact(host, RK_FACT_CONTAINER), 1);
    fake_end();
    fake_root();
    fake_bytes("proc/1/environ", "HOME=/\0container=lxc\0X", 23);
    again();
    assert_int_equal(rk_host_fact(host, RK_FACT_CONTAINER), 1);
    fake_bytes("proc/1/environ", "HOME=/\0mycontainer=lxc", 22);
    again();
    assert_int_equal(rk_host_fact(host, RK_FACT_CONTAINER), 0);
    fake_file("proc/1/cgroup", "0::/kubepods/besteffort/pod1\n");
    again();
    assert_int_equal(rk_host_fact(host, RK_FACT_CONTAINER), 1);
}

static void tracefs_in_both_places(void **state)
{
    (void)state;
    assert_int_equal(rk_host_fact(host, RK_FACT_TRACEFS), 0);
    fake_file("sys/kernel/debug/tracing/events/", "");
    again();
    assert_int_equal(rk_host_fact(host, RK_FACT_TRACEFS), 1);
}

static void kernel_symbols_hidden_or_not(void **state)
{
    (void)state;
    static const char per_cpu[] = "0000000000000000 A fixed_percpu_data\n";
    static char text[200000];
    assert_int_equal(rk_host_fact(host, RK_FACT_KERNEL_SYMBOLS), -ENOENT);
    /* Some first symbols are really at zero. */
    snprintf(text, sizeof text, "%s%s0000000000001000 A cpu_debug_store\n", per_cpu, per_cpu);
    fake_file("proc/kallsyms", text);
    again();
    assert_int_equal(rk_host_fact(host, RK_FACT_KERNEL_SYMBOLS), 1);
    /* All zero, with names that could be taken for addresses: hidden. */
    for (size_t at = 0; at + 64 < sizeof text;)
        at += (size_t)snprintf(text + at, 64, "0000000000000000 t fade_face%zu\tfeed [ext4]\n", at);
    fake_file("proc/kallsyms", text);
    again();
    assert_int_equal(rk_host_fact(host, RK_FACT_KERNEL_SYMBOLS), 0);
    fake_file("proc/kallsyms", "");
    again();
    assert_int_equal(rk_host_fact(host, RK_FACT_KERNEL_SYMBOLS), 0);
    assert_int_equal(rk_host_fact(host, 99), -EINVAL);
}

static void mounts(void **state)
{
    (void)state;
    const char *path = "untouched";
    assert_int_equal(rk_host_mount(host, RK_MOUNT_TRACEFS, &path), -ENOENT);
    assert_int_equal(rk_host_mount(host, RK_MOUNT_CGROUP2, &path), -ENOENT);
    assert_int_equal(rk_host_mount(host, 99, &path), -EINVAL);
    assert_string_equal(path, "untouched");
    fake_file("proc/self/mountinfo",
              "21 1 0:5 / /proc rw - proc proc rw\n"
              "nonsense\n"
              "22 1 0:6 /\n"
              "23 1 0:7 / /sys/fs/cgroup/cpu rw,nosuid shared:4 - cgroup cgroup rw,cpu,cpuacct\n"
              "24 1 0:8 / /sys/fs/cgroup/perf_eventful rw - cgroup cgroup rw,perf_eventful\n"
              "25 1 0:9 / /my\\040groups/perf rw shared:5 master:6 - cgroup cgroup rw,perf_event\n"
              "26 1 0:10 / /unified rw - cgroup2 cgroup2 rw,nsdelegate\n"
              "27 1 0:11 / /dbg rw - debugfs debugfs rw\n"
              "28 1 0:12 / /else\\134where rw - tracefs tracefs rw");
    fake_file("my groups/perf/tasks", "");
    fake_file("unified/cgroup.procs", "");
    fake_file("else\\where/events/sched/enable", "0\n");
    again();
    assert_int_equal(rk_host_mount(host, RK_MOUNT_CGROUP1, &path), 0);
    assert_string_equal(path, "/my groups/perf");
    assert_int_equal(rk_host_mount(host, RK_MOUNT_CGROUP2, &path), 0);
    assert_string_equal(path, "/unified");
    assert_int_equal(rk_host_mount(host, RK_MOUNT_TRACEFS, &path), 0);
    assert_string_equal(path, "/else\\where");
    assert_int_equal(rk_host_fact(host, RK_FACT_TRACEFS), 1);
    fake_file("sys/kernel/debug/tracing/events/sched/enable", "0\n"); /* the usual places come first */
    again();
    assert_int_equal(rk_host_mount(host, RK_MOUNT_TRACEFS, &path), 0);
    assert_string_equal(path, "/sys/kernel/debug/tracing");
    fake_file("sys/kernel/tracing/events/sched/enable", "0\n");
    again();
    assert_int_equal(rk_host_mount(host, RK_MOUNT_TRACEFS, &path), 0);
    assert_string_equal(path, "/sys/kernel/tracing");
}

/* Which of several mounts is used: the first that can be reached, whole ones before parts. */
static void several_mounts(void **state)
{
    (void)state;
    static const struct {
        const char *mounts, *cgroup2, *tracefs; /* NULL: none */
    } rows[] = {
        /* a chroot's bind mounts beside this root's, in either order */
        {"20 1 8:1 / / rw - ext4 disk rw\n"
         "30 20 0:9 / /a rw - cgroup2 none rw\n"
         "31 20 0:9 / /jail/a rw - cgroup2 none rw\n",
         "/a", NULL},
        {"20 1 8:1 / / rw - ext4 disk rw\n"
         "31 20 0:9 / /jail/a rw - cgroup2 none rw\n"
         "30 20 0:9 / /a rw - cgroup2 none rw\n",
         "/jail/a", NULL},
        /* another mount at the same place is over it: a tmpfs, or the same again */
        {"30 20 0:9 / /a rw - cgroup2 none rw\n"
         "31 30 0:3 / /a rw - tmpfs none rw\n"
         "32 20 0:9 / /b rw - cgroup2 none rw\n",
         "/b", NULL},
        {"30 20 0:9 / /a rw - cgroup2 none rw\n"
         "31 30 0:9 / /a rw - cgroup2 none rw\n",
         "/a", NULL},
        /* ... or above it */
        {"20 1 8:1 / / rw - ext4 disk rw\n"
         "30 20 0:9 / /jail/a rw - cgroup2 none rw\n"
         "31 20 0:3 / /jail rw - tmpfs none rw\n",
         NULL, NULL},
        /* what it lies on itself is not over it; nor is a neighbour whose name begins alike */
        {"20 1 8:1 / / rw - ext4 disk rw\n"
         "21 20 0:3 / /jail rw - tmpfs none rw\n"
         "22 21 0:4 / /jail rw - tmpfs none rw\n"
         "30 22 0:9 / /jail/a rw - cgroup2 none rw\n"
         "31 22 0:3 / /jail/a1 rw - tmpfs none rw\n"
         "32 30 0:3 / /jail/a/below rw - tmpfs none rw\n",
         "/jail/a", NULL},
        /* a part of the hierarchy only where there is no whole one */
        {"30 20 0:9 /docker/12 /a rw - cgroup2 none rw\n"
         "31 20 0:9 / /b rw - cgroup2 none rw\n",
         "/b", NULL},
        {"30 20 0:9 /docker/12 /a rw - cgroup2 none rw\n", "/a", NULL},
        /* a mount point that was deleted */
        {"30 20 0:9 / /gone//deleted rw - cgroup2 none rw\n"
         "31 20 0:9 / /b rw - cgroup2 none rw\n",
         "/b", NULL},
        /* tracefs: the next one where the first has no events; debugfs' where there is no other */
        {"30 20 0:9 /per_cpu /a rw - tracefs none rw\n"
         "31 20 0:9 / /trace rw - tracefs none rw\n",
         NULL, "/trace"},
        {"30 20 0:9 / /a rw - tracefs none rw\n"
         "31 20 0:8 / /dbg rw - debugfs none rw\n",
         NULL, "/dbg/tracing"},
        {"30 20 0:8 / /dbg rw - debugfs none rw\n"
         "31 20 0:3 / /dbg rw - tmpfs none rw\n",
         NULL, NULL},
        /* what no kernel writes: mounts that lie on one another */
        {"30 31 0:9 / /a rw - cgroup2 none rw\n"
         "31 30 0:9 / /a rw - cgroup2 none rw\n",
         "/a", NULL},
    };
    static const uint32_t kinds[] = {RK_MOUNT_CGROUP2, RK_MOUNT_TRACEFS};

    fake_file("a/", "");
    fake_file("b/", "");
    fake_file("jail/a/", "");
    fake_file("trace/events/", "");
    fake_file("dbg/tracing/events/", "");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const wanted[] = {rows[i].cgroup2, rows[i].tracefs};
        fake_file("proc/self/mountinfo", rows[i].mounts);
        again();
        for (size_t kind = 0; kind < 2; kind++) {
            const char *path = NULL;
            int rc = rk_host_mount(host, kinds[kind], &path);
            if (rc != (wanted[kind] ? 0 : -ENOENT) ||
                strcmp(path ? path : "", wanted[kind] ? wanted[kind] : "") != 0)
                fail_msg("row %zu: %d %s, not %s", i, rc, path ? path : "",
                         wanted[kind] ? wanted[kind] : "none");
        }
    }
}

/* A mount that this user can't read is the answer only where there is no other. */
static void mounts_of_others(void **state)
{
    (void)state;
    const char *path = NULL;
    char closed[sizeof fake_path + 8];
    bool root = geteuid() == 0; /* reads everything: not as root */
    snprintf(closed, sizeof closed, "%s/closed", fake_path);
    assert_int_equal(chmod(fake_path, 0777), 0);
    if (root && seteuid(65534) < 0) {
        print_message("can't become a plain user here: %s\n", strerror(errno));
        skip();
    }
    fake_file("proc/self/mountinfo", "30 20 0:9 / /closed rw - tracefs none rw\n"
                                     "31 20 0:9 / /open rw - tracefs none rw\n");
    fake_file("closed/events/", "");
    assert_int_equal(chmod(closed, 0), 0);
    assert_int_equal(rk_host_mount(host, RK_MOUNT_TRACEFS, &path), -EACCES);
    assert_string_equal(path, "/closed");
    fake_file("open/events/", "");
    again();
    assert_int_equal(rk_host_mount(host, RK_MOUNT_TRACEFS, &path), 0);
    assert_string_equal(path, "/open");
    assert_int_equal(chmod(closed, 0700), 0);
    assert_true(!root || seteuid(0) == 0);
}

static void user_namespaces(void **state)
{
    (void)state;
    assert_int_equal(rk_host_fact(host, RK_FACT_USER_NAMESPACE), 0);
    fake_file("proc/self/uid_map", "         0          0 4294967295\n");
    again();
    assert_int_equal(rk_host_fact(host, RK_FACT_USER_NAMESPACE), 0);
    fake_file("proc/self/uid_map", "         0     100000      65536\n");
    again();
    assert_int_equal(rk_host_fact(host, RK_FACT_USER_NAMESPACE), 1);
    fake_file("proc/self/uid_map", "");
    again();
    assert_int_equal(rk_host_fact(host, RK_FACT_USER_NAMESPACE), 1);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(opening_says_why_not),
        TEST(limits_are_read_once_and_late),
        TEST(every_limit_has_its_file),
        TEST(own_limits_follow_the_process),
        TEST(the_kernel_has_a_name),
        TEST(cpus_from_sysfs_or_proc),
        TEST(pmus_are_sorted_and_lazy),
        TEST(core_pmus_of_every_kind),
        TEST(no_core_pmu_in_a_plain_vm),
        TEST(capabilities_by_bit),
        TEST(virtual_machines),
        TEST(containers),
        TEST(tracefs_in_both_places),
        TEST(kernel_symbols_hidden_or_not),
        TEST(mounts),
        TEST(several_mounts),
        TEST(mounts_of_others),
        TEST(user_namespaces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

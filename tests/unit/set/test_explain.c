/* Every errno, on machines that differ: cause, sentence, fix. */
#include "set/explain.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../fake_root.h"

#include <sys/resource.h>

#define OPEN RK_STAGE_OPEN
#define MAP RK_STAGE_MAP
#define READ RK_STAGE_READ
#define CONTROL RK_STAGE_CONTROL

static const struct expected {
    const char *host;
    uint32_t stage;
    int code;
    uint32_t type, flags;
    int32_t pid, cpu;
    uint64_t config, frequency, needed;
    uint32_t lacks, cause;
    const char *what, *remedy; /* parts of them */
    const char *field;
} table[] = {
    /* the paranoid level, by what was asked */
    {"paranoid-2-user", OPEN, EACCES, 0, RK_ATTEMPT_KERNEL, 0, -1, .cause = RK_CAUSE_PARANOID,
     .what = "kernel.perf_event_paranoid is 2", .remedy = "sudo sysctl -w kernel.perf_event_paranoid=1 "},
    {"paranoid-2-user", OPEN, EACCES, 0, RK_ATTEMPT_KERNEL, 0, -1, .cause = RK_CAUSE_PARANOID,
     .what = "in the kernel", .remedy = "sudo setcap cap_perfmon+ep \"$(command -v reckon)\""},
    {"paranoid-2-user", OPEN, EACCES, 0, RK_ATTEMPT_KERNEL, -1, 2, .cause = RK_CAUSE_PARANOID,
     .what = "whole CPU", .remedy = "perf_event_paranoid=0 "},
    {"paranoid-2-user", OPEN, EPERM, 2, RK_ATTEMPT_KERNEL, 0, -1, .cause = RK_CAUSE_PARANOID,
     .what = "tracepoints", .remedy = "perf_event_paranoid=-1 "},
    {"paranoid-4", OPEN, EACCES, 1, 0, 0, -1, .cause = RK_CAUSE_PARANOID, .what = "no plain user",
     .remedy = "perf_event_paranoid=2 "},
    {"paranoid-4", OPEN, EACCES, 1, RK_ATTEMPT_KERNEL, 0, -1, .cause = RK_CAUSE_PARANOID, .what = "is 4",
     .remedy = "setcap cap_sys_admin+ep"},
    /* another's process */
    {"paranoid-2-user", OPEN, EACCES, 0, 0, 77, -1, .cause = RK_CAUSE_NOT_YOURS,
     .what = "belongs to user 1001", .remedy = "cap_sys_ptrace"},
    {"paranoid-2-user", OPEN, EACCES, 0, 0, 78, -1, .cause = RK_CAUSE_NOT_YOURS, .what = "not dumpable"},
    /* capabilities */
    {"paranoid-2-user", OPEN, EACCES, 8, 0, 0, -1, .cause = RK_CAUSE_CAPABILITY, .what = "privileged",
     .remedy = "setcap"},
    {"bare-metal", OPEN, EACCES, 0, RK_ATTEMPT_KERNEL, 0, -1, .cause = RK_CAUSE_CAPABILITY,
     .what = "lockdown"},
    /* seccomp */
    {"container", OPEN, EPERM, 0, 0, 0, -1, .cause = RK_CAUSE_SECCOMP, .what = "seccomp",
     .remedy = "--cap-add PERFMON"},
    {"container", OPEN, ENOSYS, 0, 0, 0, -1, .cause = RK_CAUSE_SECCOMP, .what = "seccomp"},
    {"container", OPEN, EACCES, 1, RK_ATTEMPT_KERNEL, 0, -1, .cause = RK_CAUSE_PARANOID,
     .remedy = "on the container's host"},
    /* no right, and nothing to have it for: the level is not blamed */
    {"container", OPEN, EACCES, 0, RK_ATTEMPT_KERNEL, 0, -1, .cause = RK_CAUSE_NO_PMU,
     .what = "no hardware PMU"},
    {"container", OPEN, EACCES, 4, 0, 0, -1, .cause = RK_CAUSE_NO_PMU, .what = "no hardware PMU"},
    {"bare-metal", OPEN, ENOSYS, 0, 0, 0, -1, .cause = RK_CAUSE_KERNEL_OLD, .what = "no perf_event_open",
     .remedy = "CONFIG_PERF_EVENTS"},
    /* what is not there */
    {"vm-no-pmu", OPEN, ENOENT, 0, 0, 0, -1, .cause = RK_CAUSE_NO_PMU,
     .what = "no hardware PMU: this is a virtual machine", .remedy = "task-clock"},
    {"vm-no-pmu", OPEN, EOPNOTSUPP, 4, 0, 0, -1, .cause = RK_CAUSE_NO_PMU, .what = "virtual machine"},
    {"vm-no-pmu", OPEN, ENODEV, 3, 0, 0, -1, .cause = RK_CAUSE_NO_PMU, .what = "virtual machine"},
    {"bare-metal", OPEN, ENOENT, 0, 0, 0, -1, .cause = RK_CAUSE_UNSUPPORTED, .what = "does not count it",
     .remedy = "cycles"},
    {"bare-metal", OPEN, ENOENT, 1, 0, 0, -1, .config = 11, .cause = RK_CAUSE_KERNEL_OLD,
     .what = "software event"},
    {"bare-metal", OPEN, ENOENT, 1, RK_ATTEMPT_CGROUP, -1, 0, .cause = RK_CAUSE_UNSUPPORTED,
     .field = "cgroup", .what = "its hierarchy has no perf_event controller", .remedy = "subtree_control"},
    {"bare-metal", OPEN, EINVAL, 1, RK_ATTEMPT_CGROUP, -1, 0, .cause = RK_CAUSE_UNSUPPORTED,
     .field = "cgroup", .what = "counts for no cgroup", .remedy = "CONFIG_CGROUP_PERF"},
    {"bare-metal", OPEN, ENOENT, 1, RK_ATTEMPT_CGROUP, -1, 0, .cause = RK_CAUSE_KERNEL_OLD,
     .what = "software event"},
    {"bare-metal", OPEN, ENOENT, 2, 0, 0, -1, .config = 4711, .cause = RK_CAUSE_NO_EVENT, .what = "4711"},
    {"bare-metal", OPEN, ENOENT, 24, 0, 0, -1, .config = 0x99, .cause = RK_CAUSE_UNSUPPORTED,
     .what = "uncore_imc has no event 0x99"},
    {"bare-metal", OPEN, ENOENT, 99, 0, 0, -1, .cause = RK_CAUSE_NO_PMU, .what = "no PMU of type 99"},
    {"bare-metal", OPEN, ENODEV, 1, 0, -1, 8, .cause = RK_CAUSE_NO_CPU, .what = "CPU 8 is not online"},
    {"bare-metal", OPEN, ENODEV, 24, 0, -1, 3, .cause = RK_CAUSE_UNSUPPORTED,
     .what = "not there for this CPU"},
    /* what can't be done */
    {"bare-metal", OPEN, EOPNOTSUPP, 0, RK_ATTEMPT_PRECISE | RK_ATTEMPT_SAMPLING, 0, -1,
     .cause = RK_CAUSE_UNSUPPORTED, .what = "precisely", .remedy = "p modifier"},
    {"bare-metal", OPEN, EOPNOTSUPP, 0, RK_ATTEMPT_BRANCHES, 0, -1, .cause = RK_CAUSE_UNSUPPORTED,
     .what = "this processor's PMU does not record branches", .remedy = "leave branches out"},
    {"bare-metal", OPEN, EOPNOTSUPP, 1, RK_ATTEMPT_BRANCHES, 0, -1, .cause = RK_CAUSE_UNSUPPORTED,
     .what = "only a processor's own PMU records branches", .remedy = "sample cycles"},
    {"paranoid-2-user", OPEN, EACCES, 1, RK_ATTEMPT_PHYSICAL | RK_ATTEMPT_SAMPLING, 1, -1,
     .cause = RK_CAUSE_PARANOID, .what = "physical addresses", .remedy = "perf_event_paranoid=1"},
    {"bare-metal", OPEN, EOPNOTSUPP, 8, RK_ATTEMPT_SAMPLING, 0, -1, .cause = RK_CAUSE_UNSUPPORTED,
     .what = "not sample", .remedy = "cpu-clock"},
    {"bare-metal", OPEN, EOPNOTSUPP, 8, 0, 0, -1, .cause = RK_CAUSE_UNSUPPORTED},
    /* what an uncore PMU can't */
    {"bare-metal", OPEN, EINVAL, 24, 0, 0, -1, .cause = RK_CAUSE_UNSUPPORTED,
     .what = "uncore_imc counts for the machine, not for a process", .remedy = "-a"},
    {"bare-metal", OPEN, EOPNOTSUPP, 24, RK_ATTEMPT_SAMPLING, 4711, -1, .cause = RK_CAUSE_UNSUPPORTED,
     .what = "for the machine, not for a process", .remedy = "-a"},
    {"bare-metal", OPEN, EINVAL, 24, RK_ATTEMPT_SAMPLING, -1, 0, .cause = RK_CAUSE_UNSUPPORTED,
     .what = "count but not sample", .remedy = "reckon stat -a"},
    {"bare-metal", OPEN, EINVAL, 24, RK_ATTEMPT_MODES | RK_ATTEMPT_SAMPLING, -1, 0,
     .cause = RK_CAUSE_UNSUPPORTED, .what = "can't tell user space, kernel and guests apart",
     .remedy = "leave its modifiers out"},
    {"bare-metal", OPEN, EINVAL, 24, 0, -1, 0, .config = 0x100, .cause = RK_CAUSE_UNSUPPORTED,
     .what = "has no event 0x100", .remedy = "reckon list --pmu uncore_imc"},
    {"bare-metal", OPEN, EINVAL, 5, 0, 0, -1, .cause = RK_CAUSE_UNSUPPORTED, .what = "can't watch so",
     .remedy = "reckon-events(7)"},
    {"bare-metal", OPEN, EPERM, 2, 0, 0, -1, .config = 1, .cause = RK_CAUSE_UNSUPPORTED,
     .what = "function tracer's event", .remedy = "kprobe:NAME"},
    {"bare-metal", OPEN, EINVAL, 24, RK_ATTEMPT_GROUP, -1, 0, .cause = RK_CAUSE_UNSUPPORTED,
     .what = "too few counters"},
    /* what a kernel lacks, by the table of features */
    {"bare-metal", OPEN, EINVAL, 1, 0, 0, -1, .lacks = 1 + RK_FEATURE_CGROUP, .cause = RK_CAUSE_KERNEL_OLD,
     .what = "knows nothing of cgroup (records of cgroups): Linux 5.7 brought it"},
    {"bare-metal", OPEN, E2BIG, 1, 0, 0, -1, .lacks = 1 + RK_FEATURE_CONFIG4, .cause = RK_CAUSE_KERNEL_OLD,
     .what = "Linux 6.19 brought it"},
    {"bare-metal", OPEN, EINVAL, 1, 0, 0, -1, .lacks = 4711, .cause = RK_CAUSE_KERNEL_OLD,
     .what = "refuses this combination"},
    {"bare-metal", OPEN, EINVAL, 0, 0, -1, -1, .cause = RK_CAUSE_ARGUMENT,
     .what = "neither a thread nor a CPU"},
    {"bare-metal", OPEN, EINVAL, 0, RK_ATTEMPT_SAMPLING, 0, -1, .frequency = 200000, .cause = RK_CAUSE_RATE,
     .what = "100000", .remedy = "sudo sysctl -w kernel.perf_event_max_sample_rate=200000"},
    {"bare-metal", OPEN, EINVAL, 0, RK_ATTEMPT_GROUP, 0, -1, .cause = RK_CAUSE_UNSUPPORTED,
     .what = "watchdog holds", .remedy = "nmi_watchdog=0"},
    {"paranoid-4", OPEN, EINVAL, 0, RK_ATTEMPT_GROUP, 0, -1, .cause = RK_CAUSE_UNSUPPORTED,
     .what = "too few counters", .remedy = "split the group"},
    {"bare-metal", OPEN, EINVAL, 1, 0, 0, -1, .cause = RK_CAUSE_KERNEL_OLD,
     .what = "refuses this combination"},
    {"bare-metal", OPEN, E2BIG, 1, 0, 0, -1, .cause = RK_CAUSE_KERNEL_OLD, .what = "too old"},
    {"bare-metal", OPEN, EOVERFLOW, 1, 0, 0, -1, .cause = RK_CAUSE_ARGUMENT, .what = "127",
     .remedy = "perf_event_max_stack"},
    /* what is used up */
    {"bare-metal", OPEN, EMFILE, 1, 0, 0, -1, .needed = UINT64_C(1) << 40, .cause = RK_CAUSE_DESCRIPTORS,
     .what = "1099511627776 file descriptors are needed",
     .remedy = "prlimit --pid $$ --nofile=1099511627776"},
    {"bare-metal", OPEN, EMFILE, 1, 0, 0, -1, .needed = 3, .cause = RK_CAUSE_DESCRIPTORS,
     .what = "3 file descriptors", .remedy = "ulimit -n 3"},
    {"bare-metal", OPEN, EMFILE, 1, 0, 0, -1, .cause = RK_CAUSE_DESCRIPTORS,
     .what = "out of file descriptors"},
    {"bare-metal", OPEN, ENFILE, 1, 0, 0, -1, .cause = RK_CAUSE_DESCRIPTORS, .what = "whole system",
     .remedy = "fs.file-max"},
    {"bare-metal", OPEN, ESRCH, 1, 0, 4711, -1, .cause = RK_CAUSE_NO_PROCESS, .what = "no such process"},
    {"bare-metal", OPEN, EBUSY, 0, 0, 0, -1, .cause = RK_CAUSE_BUSY, .what = "another program"},
    {"bare-metal", OPEN, ENOSPC, 5, 0, 0, -1, .cause = RK_CAUSE_BUSY, .what = "debug registers"},
    {"bare-metal", OPEN, ENOSPC, 0, 0, 0, -1, .cause = RK_CAUSE_BUSY, .what = "no room"},
    {"bare-metal", OPEN, EAGAIN, 0, 0, 0, -1, .cause = RK_CAUSE_BUSY, .remedy = "try again"},
    {"bare-metal", OPEN, EINTR, 0, 0, 0, -1, .cause = RK_CAUSE_UNKNOWN, .what = "interrupted"},
    {"bare-metal", OPEN, EFAULT, 0, 0, 0, -1, .cause = RK_CAUSE_ARGUMENT, .what = "bad address"},
    {"bare-metal", OPEN, EBADF, 0, 0, 0, -1, .cause = RK_CAUSE_ARGUMENT, .what = "descriptor"},
    {"bare-metal", OPEN, ENOMEM, 0, 0, 0, -1, .cause = RK_CAUSE_MEMORY, .what = "memory"},
    {"bare-metal", OPEN, EXDEV, 0, 0, 0, -1, .cause = RK_CAUSE_UNKNOWN, .what = "Invalid cross-device link"},
    /* mmap */
    {"paranoid-2-user", MAP, EPERM, 0, 0, 0, 0, .needed = 1 << 20, .cause = RK_CAUSE_MLOCK,
     .what = "516 KiB for each of 4 CPUs", .remedy = "sudo sysctl -w kernel.perf_event_mlock_kb=1540"},
    {"paranoid-2-user", MAP, EINVAL, 0, 0, 0, 0, .cause = RK_CAUSE_ARGUMENT, .what = "power of two"},
    {"paranoid-2-user", MAP, ENOMEM, 0, 0, 0, 0, .cause = RK_CAUSE_MEMORY},
    {"paranoid-2-user", MAP, EACCES, 0, 0, 0, 0, .cause = RK_CAUSE_ARGUMENT, .what = "shared"},
    {"paranoid-2-user", MAP, ENODEV, 0, 0, 0, 0, .cause = RK_CAUSE_NO_PROCESS},
    /* read */
    {"bare-metal", READ, 0, 0, RK_ATTEMPT_PINNED, 0, -1, .cause = RK_CAUSE_STARVED, .what = "no counter free",
     .remedy = "nmi_watchdog=0"},
    {"paranoid-4", READ, 0, 0, RK_ATTEMPT_PINNED, 0, -1, .cause = RK_CAUSE_STARVED, .remedy = "fewer events"},
    {"bare-metal", READ, ENOSPC, 0, 0, 0, -1, .cause = RK_CAUSE_ARGUMENT, .what = "buffer is too small"},
    {"bare-metal", READ, ECHILD, 0, 0, 0, -1, .cause = RK_CAUSE_BUSY, .what = "thread was created"},
    {"bare-metal", READ, ESTALE, 0, 0, 0, -1, .cause = RK_CAUSE_FORKED, .what = "fork"},
    {"bare-metal", READ, ENODEV, 0, 0, -1, 2, .cause = RK_CAUSE_NO_CPU, .what = "offline"},
    /* ioctl */
    {"bare-metal", CONTROL, EINVAL, 0, 0, 0, -1, .cause = RK_CAUSE_ARGUMENT, .what = "refuses"},
    {"bare-metal", CONTROL, ENOTTY, 0, 0, 0, -1, .cause = RK_CAUSE_KERNEL_OLD, .what = "does not know"},
    {"bare-metal", CONTROL, ESRCH, 0, 0, 0, -1, .cause = RK_CAUSE_NO_PROCESS, .what = "ended"},
};

static struct rk_host *open_host(const char *name)
{
    char path[4096];
    struct rk_host *host;

    snprintf(path, sizeof path, "%s/host/%s", getenv("DATA"), name);
    assert_int_equal(rk_host_open(path, &host, NULL), 0);
    return host;
}

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct expected *x = &table[i];
        struct rk_host *host = open_host(x->host);
        struct rk_attempt a = {.size = sizeof a,
                               .stage = x->stage,
                               .code = -x->code,
                               .pid = x->pid,
                               .cpu = x->cpu,
                               .type = x->type,
                               .flags = x->flags,
                               .lacks = x->lacks,
                               .field = x->field,
                               .config = x->config,
                               .frequency = x->frequency,
                               .needed = x->needed,
                               .event = "the-event"};
        struct rk_error e = {.size = sizeof e};

        assert_int_equal(rk_explain(host, &a, &e), 0);
        if (e.cause != x->cause || (x->what && !strstr(e.what, x->what)) ||
            (x->remedy && !strstr(e.remedy, x->remedy)))
            fail_msg("%s, errno %d, row %zu: %s: \"%s\", \"%s\"", x->host, x->code, i, rk_cause_name(e.cause),
                     e.what, e.remedy);
        assert_int_equal(e.code, -x->code);
        assert_int_equal(e.stage, x->stage);
        assert_int_equal(e.pid, x->pid);
        assert_int_equal(e.cpu, x->cpu);
        assert_string_equal(e.event, "the-event");
        assert_memory_equal(e.what, "the-event: ", 11);
        /* whole sentences: nothing was cut */
        assert_true(strlen(e.what) < sizeof e.what - 1);
        assert_true(strlen(e.remedy) < sizeof e.remedy - 1);
        rk_host_free(host);
    }
}

/* Whatever the kernel says there is a sentence, also without an event's name. */
static void test_all_errnos(void **state)
{
    static const uint32_t stages[] = {OPEN, MAP, READ, CONTROL};
    struct rk_host *host = open_host("paranoid-2-user");

    (void)state;
    for (size_t s = 0; s < 4; s++)
        for (int code = 0; code < 140; code++) {
            struct rk_attempt a = {.size = sizeof a, .stage = stages[s], .code = -code, .pid = 0, .cpu = -1};
            struct rk_error e = {.size = sizeof e};
            assert_int_equal(rk_explain(host, &a, &e), 0);
            assert_true(e.what[0] != '\0');
            assert_int_equal(e.code, -code);
        }
    rk_host_free(host);
}

static void test_arguments(void **state)
{
    struct rk_host *host = open_host("bare-metal");
    struct rk_attempt a = {.size = 0}, good = {.size = sizeof good, .stage = OPEN, .code = -ENOENT};
    struct rk_error e = {.size = sizeof e};

    (void)state;
    assert_int_equal(rk_explain(host, &a, &e), -EINVAL);
    assert_int_equal(rk_explain(host, &good, NULL), -EINVAL);
    assert_int_equal(rk_explain(NULL, &good, &e), -EINVAL);
    rk_host_free(host);
}

static struct rk_error explained(int code, uint32_t type)
{
    struct rk_host *host;
    struct rk_attempt a = {
        .size = sizeof a, .stage = OPEN, .code = -code, .cpu = -1, .type = type, .flags = RK_ATTEMPT_KERNEL};
    struct rk_error e = {.size = sizeof e};

    assert_int_equal(rk_host_open(fake_path, &host, NULL), 0);
    assert_int_equal(rk_explain(host, &a, &e), 0);
    rk_host_free(host);
    return e;
}

/* The limit's own room first; where there is none, the hard limit. */
static void test_descriptors(void **state)
{
    struct rlimit saved, now;
    struct rk_error e;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &saved), 0);
    fake_root();
    now = saved;
    now.rlim_cur = saved.rlim_max - 1;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
    e = explained(EMFILE, 1);
    assert_string_equal(e.remedy, "ulimit -n \"$(ulimit -Hn)\"");
    now.rlim_cur = saved.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
    e = explained(EMFILE, 1);
    assert_string_equal(e.remedy, "sudo prlimit --pid $$ --nofile=65536");
    fake_end();
    setrlimit(RLIMIT_NOFILE, &saved);
}

/* What can't be known is not asserted. */
static void test_without_proc(void **state)
{
    struct rk_error e;

    (void)state;
    fake_root();
    e = explained(ENOENT, 0);
    assert_non_null(strstr(e.what, "is unknown without /sys"));
    fake_file("sys/bus/event_source/devices/software/type", "1\n");
    e = explained(ENOENT, 0);
    assert_non_null(strstr(e.what, "the reason is unknown without /proc"));
    assert_int_equal(e.cause, RK_CAUSE_NO_PMU);
    fake_file("proc/sys/kernel/osrelease", "6.1.0\n");
    e = explained(ENOENT, 0);
    assert_non_null(strstr(e.what, "perhaps"));
    fake_end();
}

/* In a container the level is the host's to change, unless /proc/sys can be written here. */
static void test_container_sysctl(void **state)
{
    static const struct {
        const char *mounts;
        bool here;
    } cases[] = {
        {"", false},
        {"1 0 0:1 / / rw - overlay o rw\n", false},
        {"2 1 0:2 / /proc rw,nosuid - proc proc rw\n", true},
        {"2 1 0:2 / /proc rw - proc proc rw\n3 2 0:2 /sys /proc/sys ro,nosuid - proc proc rw\n", false},
        {"3 2 0:2 /sys /proc/sys ro - proc proc rw\n2 1 0:2 / /proc rw - proc proc rw\n", false},
        {"2 1 0:2 / /proc rw - proc proc rw\n3 2 0:2 /sys /proc/systematic ro - proc proc rw\n", true},
    };

    (void)state;
    fake_root();
    fake_file(".dockerenv", "");
    fake_file("proc/sys/kernel/perf_event_paranoid", "2\n");
    fake_file("proc/sys/kernel/cap_last_cap", "40\n");
    fake_file("proc/self/status", "CapEff:\t0000000000000000\nSeccomp:\t0\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fake_file("proc/self/mountinfo", cases[i].mounts);
        struct rk_error e = explained(EACCES, 1);
        assert_int_equal(e.cause, RK_CAUSE_PARANOID);
        assert_int_equal(strncmp(e.remedy, "sudo sysctl -w", 14) == 0, cases[i].here);
        assert_int_equal(strncmp(e.remedy, "on the container's host", 23) == 0, !cases[i].here);
    }
    fake_end();
}

/* The capability is for the program that runs, where that is reckon. */
static void test_program(void **state)
{
    static const struct {
        const char *exe, *shown;
    } cases[] = {
        {"/opt/a-b/bin/reckon", "setcap cap_perfmon+ep /opt/a-b/bin/reckon"},
        {"/usr/bin/other", "setcap cap_perfmon+ep \"$(command -v reckon)\""},
        {"/opt/two words/reckon", "setcap cap_perfmon+ep \"$(command -v reckon)\""},
        {"/opt/reckon (deleted)", "setcap cap_perfmon+ep \"$(command -v reckon)\""},
    };
    char link[TEMPORARY + 16];

    (void)state;
    fake_root();
    fake_file("proc/sys/kernel/perf_event_paranoid", "2\n");
    fake_file("proc/self/status", "CapEff:\t0000000000000000\nSeccomp:\t0\n");
    snprintf(link, sizeof link, "%s/proc/self/exe", fake_path);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unlink(link);
        assert_int_equal(symlink(cases[i].exe, link), 0);
        struct rk_error e = explained(EACCES, 1);
        assert_non_null(strstr(e.remedy, cases[i].shown));
    }
    fake_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),        cmocka_unit_test(test_all_errnos),
        cmocka_unit_test(test_arguments),    cmocka_unit_test(test_descriptors),
        cmocka_unit_test(test_without_proc), cmocka_unit_test(test_container_sysctl),
        cmocka_unit_test(test_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

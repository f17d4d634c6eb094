/*
 * The doctor in a made-up machine: files below a fake root, and a kernel that is a few functions here, in place
 * of src/sys/perf.c: it refuses by the paranoid level, the mlock limit and the PMU that the test says.
 */
#include "../export/sink.h"
#include "../fake_root.h"

#include "base/abi.h"
#include "sys/perf.h"

#include <reckon/doctor.h>
#include <reckon/record.h>

static struct {
    int level;        /* perf_event_paranoid */
    bool capable;     /* CAP_PERFMON */
    bool pmu;         /* there is a hardware PMU */
    bool user_read;   /* … that programs may read */
    size_t mlock;     /* bytes that a ring may have */
    bool silent;      /* nothing is ever counted or sampled */
    bool no_syscall;  /* a filter takes it away */
    int32_t own_cpus; /* CPUs there are */
} kernel;

static unsigned char page_and_ring[(512 << 10) + 4096] __attribute__((aligned(4096)));
static bool sampling_kernel;

int sys_perf_open(struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd, unsigned flags)
{
    bool in_kernel = !(attr->flags & ATTR_EXCLUDE_KERNEL);
    (void)group_fd, (void)flags;
    if (kernel.no_syscall)
        return -EPERM;
    if (!kernel.capable) {
        if (kernel.level >= 3 || (in_kernel && kernel.level >= 2) || (pid < 0 && kernel.level >= 1))
            return -EACCES;
        if (attr->type == PERF_TRACEPOINT && attr->sample_type & RK_SAMPLE_RAW && kernel.level >= 0)
            return -EPERM;
        if (pid > 0)
            return -EACCES;
    }
    if (pid == 7777)
        return -ESRCH;
    if (attr->type == PERF_HARDWARE && !kernel.pmu)
        return -ENOENT;
    if (cpu >= kernel.own_cpus)
        return -ENODEV;
    if (attr->sample_period)
        sampling_kernel = in_kernel;
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int sys_perf_control(int fd, unsigned request, uintptr_t argument)
{
    (void)fd, (void)request, (void)argument;
    return 0;
}

int sys_perf_control_at(int fd, unsigned request, void *argument)
{
    (void)fd, (void)request, (void)argument;
    return 0;
}

int sys_perf_read(int fd, uint64_t *words, size_t n_words)
{
    (void)fd;
    for (size_t i = 0; i < n_words; i++)
        words[i] = kernel.silent ? 0 : 1000 + i;
    return (int)(n_words * 8);
}

int sys_perf_map(int fd, size_t ring_bytes, int writable, struct perf_page **ret)
{
    struct perf_page *page = (struct perf_page *)(void *)page_and_ring;
    struct perf_header sample = {RK_RECORD_SAMPLE, 2, 24};
    (void)fd, (void)writable;
    if (ring_bytes > kernel.mlock)
        return -EPERM;
    memset(page_and_ring, 0, sizeof page_and_ring);
    page->data_offset = 4096;
    page->data_size = ring_bytes;
    page->capabilities = kernel.user_read ? PAGE_CAP_USER_RDPMC : 0;
    for (int i = 0; !kernel.silent && ring_bytes && i < 10; i++) {
        sample.misc = sampling_kernel && i % 2 ? 1 : 2;
        memcpy(page_and_ring + 4096 + i * 24, &sample, sizeof sample);
        page->data_head += 24;
    }
    *ret = page;
    return 0;
}

void sys_perf_unmap(struct perf_page *page, size_t ring_bytes)
{
    (void)page, (void)ring_bytes;
}

size_t sys_page_size(void)
{
    return 4096;
}

uint32_t *sys_fork_word(void)
{
    return NULL;
}

void sys_fork_word_free(uint32_t *word)
{
    (void)word;
}

static struct rk_host *host;
static struct rk_doctor *doctor;

static int set_up(void **state)
{
    (void)state;
    memset(&kernel, 0, sizeof kernel);
    kernel.own_cpus = 2;
    kernel.mlock = SIZE_MAX;
    fake_root();
    fake_file("sys/devices/system/cpu/online", "0-1\n");
    fake_file("proc/self/status",
              "Name:\tme\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\nSeccomp:\t0\n");
    fake_file("proc/1/status", "Name:\tinit\nUid:\t0\t0\t0\t0\n");
    fake_file("proc/12/status", "Name:\tmine\nUid:\t1000\t1000\t1000\t1000\n");
    fake_file("proc/sys/kernel/kptr_restrict", "0\n");
    fake_file("proc/sys/kernel/cap_last_cap", "40\n");
    fake_file("proc/sys/kernel/perf_event_mlock_kb", "516\n");
    fake_file("proc/kallsyms", "ffffffff81000000 T _stext\n");
    fake_file("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu\n");
    fake_file("sys/kernel/tracing/events/sched/sched_switch/id", "314\n");
    return 0;
}

static void level_is(int level)
{
    char text[16];
    kernel.level = level;
    snprintf(text, sizeof text, "%d\n", level);
    fake_file("proc/sys/kernel/perf_event_paranoid", text);
}

static void root_user(void)
{
    kernel.capable = true;
    fake_file("proc/self/status", "Name:\tme\nUid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\nSeccomp:\t0\n");
    fake_file("proc/12/status", "Name:\tother\nUid:\t1000\t1000\t1000\t1000\n");
}

static void with_pmu(void)
{
    kernel.pmu = true;
    fake_file("sys/bus/event_source/devices/cpu/type", "4\n");
    fake_file("sys/bus/event_source/devices/cpu/format/event", "config:0-7\n");
    fake_file("sys/bus/event_source/devices/cpu/events/cycles", "event=0x3c\n");
    fake_file("sys/bus/event_source/devices/cpu/rdpmc", "1\n");
}

static void diagnose(void)
{
    struct rk_error e = {.size = sizeof e};
    doctor = rk_doctor_free(doctor); /* what an earlier look found */
    host = rk_host_free(host);
    assert_int_equal(rk_host_open(fake_path, &host, &e), 0);
    assert_int_equal(rk_doctor_run(host, &doctor, &e), 0);
}

static int tear_down(void **state)
{
    (void)state;
    doctor = rk_doctor_free(doctor);
    host = rk_host_free(host);
    fake_end();
    return 0;
}

static struct rk_check check(const char *name)
{
    struct rk_check c = {.size = sizeof c};
    for (size_t i = 0; i < rk_doctor_check_count(doctor); i++) {
        assert_int_equal(rk_doctor_check_get(doctor, i, &c), 0);
        if (strcmp(c.name, name) == 0)
            return c;
    }
    fail_msg("no check %s", name);
    return c;
}

static void expect(const char *name, uint32_t verdict, uint32_t cause, const char *what, const char *remedy)
{
    struct rk_check c = check(name);
    if (c.verdict != verdict || c.cause != cause || !strstr(c.what, what) || !strstr(c.remedy, remedy) ||
        (!*remedy && *c.remedy))
        fail_msg("%s: verdict %u, cause %s\n%s\n%s", name, c.verdict, rk_cause_name(c.cause), c.what,
                 c.remedy);
}

static void yes(const char *name)
{
    expect(name, RK_VERDICT_YES, RK_CAUSE_UNKNOWN, "", "");
}

static void root_on_bare_metal(void **state)
{
    (void)state;
    root_user();
    with_pmu();
    level_is(2);
    diagnose();
    static const char *const order[] = {"count",    "sample",    "kernel",      "others", "machine",
                                        "hardware", "user-read", "tracepoints", "symbols"};
    assert_int_equal(rk_doctor_check_count(doctor), 9);
    for (size_t i = 0; i < 9; i++) {
        struct rk_check c = {.size = sizeof c};
        assert_int_equal(rk_doctor_check_get(doctor, i, &c), 0);
        assert_string_equal(c.name, order[i]);
        if (i != 6)
            yes(c.name);
    }
    struct rk_check c = {.size = sizeof c};
    assert_int_equal(rk_doctor_check_get(doctor, 9, &c), -ERANGE);
    assert_non_null(strstr(check("kernel").what, "5 of 10 samples"));
    assert_non_null(strstr(check("others").what, "process 12"));
}

static void a_plain_user(void **state)
{
    (void)state;
    level_is(2);
    fake_file("proc/kallsyms", "0000000000000000 T _stext\n");
    diagnose();
    yes("count");
    yes("sample");
    expect("kernel", RK_VERDICT_NO, RK_CAUSE_PARANOID, "is 2", "kernel.perf_event_paranoid=1");
    expect("hardware", RK_VERDICT_NO, RK_CAUSE_NO_PMU, "no hardware PMU", "cpu-clock");
    expect("user-read", RK_VERDICT_NO, RK_CAUSE_NO_PMU, "no hardware PMU", "cpu-clock");
    expect("others", RK_VERDICT_NO, RK_CAUSE_NOT_YOURS, "user 0", "sudo");
    expect("machine", RK_VERDICT_NO, RK_CAUSE_PARANOID, "whole CPU", "kernel.perf_event_paranoid=0");
    expect("tracepoints", RK_VERDICT_NO, RK_CAUSE_PARANOID, "sched:sched_switch",
           "kernel.perf_event_paranoid=-1");
    expect("symbols", RK_VERDICT_NO, RK_CAUSE_PARANOID, "hides", "sysctl -w kernel.perf_event_paranoid=1");
}

static void a_plain_user_on_bare_metal(void **state)
{
    (void)state;
    with_pmu();
    level_is(2);
    diagnose();
    expect("hardware", RK_VERDICT_PARTLY, RK_CAUSE_PARANOID,
           "only in user space: ", "kernel.perf_event_paranoid=1");
    level_is(1);
    fake_file("proc/self/status", "Name:\tme\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\n");
    doctor = rk_doctor_free(doctor);
    host = rk_host_free(host);
    diagnose();
    yes("kernel");
    yes("hardware");
}

/* Every level that kernels have, as a user without rights: what is left, and the smallest step to the rest. */
static void every_level(void **state)
{
    static const struct {
        const char *name;
        int most;           /* the highest level at which it goes */
        const char *remedy; /* beyond */
    } rows[] = {
        {"count", 2, "kernel.perf_event_paranoid=2 "},        {"sample", 2, "kernel.perf_event_paranoid=2 "},
        {"kernel", 1, "kernel.perf_event_paranoid=1 "},       {"machine", 0, "kernel.perf_event_paranoid=0 "},
        {"tracepoints", -1, "kernel.perf_event_paranoid=-1"},
    };
    (void)state;
    for (int level = -1; level <= 4; level++) {
        level_is(level);
        doctor = rk_doctor_free(doctor);
        host = rk_host_free(host);
        diagnose();
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            if (level <= rows[i].most) {
                yes(rows[i].name);
                continue;
            }
            char what[64], keep[128];
            snprintf(what, sizeof what, "kernel.perf_event_paranoid is %d", level);
            expect(rows[i].name, RK_VERDICT_NO, RK_CAUSE_PARANOID, what, rows[i].remedy);
            snprintf(keep, sizeof keep,
                     "printf 'kernel.perf_event_paranoid = %d\\n' | sudo tee -a /etc/sysctl.d/",
                     rows[i].most);
            assert_int_equal(strncmp(check(rows[i].name).keep, keep, strlen(keep)), 0);
        }
    }
}

/* Before 5.8 there is no CAP_PERFMON to give. */
static void an_old_kernel(void **state)
{
    (void)state;
    level_is(2);
    fake_file("proc/sys/kernel/cap_last_cap", "37\n");
    diagnose();
    expect("kernel", RK_VERDICT_NO, RK_CAUSE_PARANOID, "is 2", "sudo setcap cap_sys_admin+ep");
}

/* Root of a user namespace of its own has every capability there, and none that counts. */
static void a_user_namespace(void **state)
{
    (void)state;
    level_is(2);
    fake_file("proc/self/status", "Name:\tme\nUid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\nSeccomp:\t0\n");
    fake_file("proc/self/uid_map", "0 1000 1\n");
    fake_file("proc/kallsyms", "0000000000000000 T _stext\n");
    diagnose();
    yes("count");
    expect("kernel", RK_VERDICT_NO, RK_CAUSE_PARANOID, "is 2", "outside of this user namespace");
    assert_null(strstr(check("kernel").remedy, "setcap"));
    expect("symbols", RK_VERDICT_NO, RK_CAUSE_PARANOID, "is 2",
           "outside of this user namespace: sudo sysctl -w");
    fake_file("proc/12/status", "Name:\tother\nUid:\t1001\t1001\t1001\t1001\n");
    diagnose();
    expect("others", RK_VERDICT_NO, RK_CAUSE_NOT_YOURS, "user 1001",
           "outside of this user namespace: run it as root");
}

static void a_container_without_sysfs(void **state)
{
    char path[200];
    (void)state;
    level_is(2);
    snprintf(path, sizeof path, "rm -rf '%s/sys'", fake_path);
    assert_int_equal(system(path), 0);
    fake_file(".dockerenv", "");
    fake_file("proc/stat", "cpu  1 2 3\ncpu0 1 2 3\ncpu1 1 2 3\nintr 5\n");
    diagnose();
    yes("count");
    yes("sample");
    expect("machine", RK_VERDICT_NO, RK_CAUSE_PARANOID, "whole CPU", "--cap-add PERFMON");
    expect("hardware", RK_VERDICT_NO, RK_CAUSE_NO_PMU, "no hardware PMU", "cpu-clock");
    expect("tracepoints", RK_VERDICT_NO, RK_CAUSE_NO_FILE, "not mounted", "docker run -v");
}

/* Not even /proc: nothing is known, and what can be tried is. */
static void an_empty_root(void **state)
{
    char path[2 * TEMPORARY + 32];
    (void)state;
    snprintf(path, sizeof path, "rm -rf '%s/sys' '%s/proc'", fake_path, fake_path);
    assert_int_equal(system(path), 0);
    kernel.level = 2;
    diagnose();
    yes("count");
    expect("kernel", RK_VERDICT_NO, RK_CAUSE_CAPABILITY, "capability is missing", "setcap cap_perfmon+ep");
    expect("machine", RK_VERDICT_NO, RK_CAUSE_NO_FILE, "cannot read", "");
}

static void nothing_goes(void **state)
{
    (void)state;
    level_is(4); /* Debian's and Ubuntu's own */
    diagnose();
    expect("count", RK_VERDICT_NO, RK_CAUSE_PARANOID, "is 4", "kernel.perf_event_paranoid=2");
    expect("sample", RK_VERDICT_NO, RK_CAUSE_PARANOID, "is 4", "kernel.perf_event_paranoid=2");
    /* CAP_PERFMON does not lift it: capable(CAP_SYS_ADMIN) is what their patch asks for. */
    expect("count", RK_VERDICT_NO, RK_CAUSE_PARANOID, "is 4", "sudo setcap cap_sys_admin+ep");
    expect("kernel", RK_VERDICT_NO, RK_CAUSE_PARANOID, "is 4", "sudo setcap cap_sys_admin+ep");
    fake_file("proc/self/status",
              "Name:\tme\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t0000004000000000\nSeccomp:\t0\n");
    doctor = rk_doctor_free(doctor);
    host = rk_host_free(host);
    diagnose();
    expect(
        "count", RK_VERDICT_NO, RK_CAUSE_PARANOID, "CAP_PERFMON is not enough for this kernel: ",
        "sudo sysctl -w kernel.perf_event_paranoid=2   # or for reckon alone: sudo setcap cap_sys_admin+ep");
}

static void a_container_filters(void **state)
{
    (void)state;
    level_is(2);
    kernel.no_syscall = true;
    fake_file("proc/self/status", "Name:\tme\nUid:\t0\t0\t0\t0\nCapEff:\t0000000000000000\nSeccomp:\t2\n");
    fake_file(".dockerenv", "");
    diagnose();
    expect("count", RK_VERDICT_NO, RK_CAUSE_SECCOMP, "seccomp", "seccomp=unconfined");
    expect("machine", RK_VERDICT_NO, RK_CAUSE_SECCOMP, "seccomp", "seccomp=unconfined");
}

static void little_locked_memory(void **state)
{
    (void)state;
    level_is(1);
    kernel.mlock = 100 << 10;
    diagnose();
    expect("sample", RK_VERDICT_PARTLY, RK_CAUSE_MLOCK, "only with rings of 64 KiB",
           "kernel.perf_event_mlock_kb=");
    kernel.mlock = 0;
    doctor = rk_doctor_free(doctor);
    host = rk_host_free(host);
    diagnose();
    expect("sample", RK_VERDICT_NO, RK_CAUSE_MLOCK, "locked memory", "kernel.perf_event_mlock_kb=");
    expect("kernel", RK_VERDICT_PARTLY, RK_CAUSE_MLOCK, "counted, but not sampled",
           "kernel.perf_event_mlock_kb=");
}

/* It opens, and yet nothing comes: a verdict by opening alone would be wrong. */
static void a_silent_kernel(void **state)
{
    (void)state;
    root_user();
    with_pmu();
    level_is(2);
    kernel.silent = true;
    diagnose();
    expect("count", RK_VERDICT_NO, RK_CAUSE_UNKNOWN, "counted nothing", "");
    expect("sample", RK_VERDICT_NO, RK_CAUSE_UNKNOWN, "no sample came", "");
    expect("kernel", RK_VERDICT_PARTLY, RK_CAUSE_UNKNOWN, "none of 0 samples", "");
    expect("hardware", RK_VERDICT_NO, RK_CAUSE_BUSY, "counted nothing", "nmi_watchdog");
}

static void counters_that_programs_may_not_read(void **state)
{
    (void)state;
    root_user();
    with_pmu();
    level_is(2);
    fake_file("sys/bus/event_source/devices/cpu/rdpmc", "0\n");
    diagnose();
    expect("user-read", RK_VERDICT_NO, RK_CAUSE_UNSUPPORTED, "by itself",
           "echo 1 | sudo tee /sys/bus/event_source/devices/cpu/rdpmc");
    fake_file("proc/sys/kernel/perf_user_access", "0\n");
    doctor = rk_doctor_free(doctor);
    host = rk_host_free(host);
    diagnose();
    expect("user-read", RK_VERDICT_NO, RK_CAUSE_UNSUPPORTED, "by itself", "kernel.perf_user_access=1");
}

static void processes_come_and_go(void **state)
{
    (void)state;
    level_is(2);
    root_user();
    char path[200];
    snprintf(path, sizeof path, "%s/proc/12/status", fake_path);
    unlink(path);
    diagnose();
    expect("others", RK_VERDICT_YES, RK_CAUSE_UNKNOWN, "nobody to try on", "");
    fake_file("proc/7777/status", "Name:\tgone\nUid:\t5\t5\t5\t5\n"); /* ends before it is opened */
    doctor = rk_doctor_free(doctor);
    host = rk_host_free(host);
    diagnose();
    expect("others", RK_VERDICT_YES, RK_CAUSE_UNKNOWN, "nobody to try on", "");
    fake_file("proc/12/status", "Name:\tother\nUid:\t9\t9\t9\t9\n");
    doctor = rk_doctor_free(doctor);
    host = rk_host_free(host);
    diagnose();
    expect("others", RK_VERDICT_YES, RK_CAUSE_UNKNOWN, "process 12", "");
}

static void hidden_processes(void **state)
{
    (void)state;
    char path[200];
    level_is(2);
    snprintf(path, sizeof path, "%s/proc/1/status", fake_path);
    unlink(path);
    diagnose();
    expect("others", RK_VERDICT_PARTLY, RK_CAUSE_UNKNOWN, "none could be tried", "");
}

static void a_cpu_that_is_not_there(void **state)
{
    (void)state;
    root_user();
    level_is(2);
    fake_file("sys/devices/system/cpu/online", "0-2\n");
    diagnose();
    expect("machine", RK_VERDICT_PARTLY, RK_CAUSE_UNSUPPORTED, "only some CPUs", "");
}

static void tracefs(void **state)
{
    char path[200];
    (void)state;
    root_user();
    level_is(2);
    snprintf(path, sizeof path, "rm -rf '%s/sys/kernel/tracing'", fake_path);
    assert_int_equal(system(path), 0);
    diagnose();
    expect("tracepoints", RK_VERDICT_NO, RK_CAUSE_NO_FILE, "not mounted", "sudo mount -t tracefs");
    fake_file("sys/kernel/debug/tracing/events/sched/sched_switch/id", "314\n");
    doctor = rk_doctor_free(doctor);
    host = rk_host_free(host);
    diagnose();
    yes("tracepoints");
}

static void kernel_symbols(void **state)
{
    (void)state;
    level_is(1);
    fake_file("proc/kallsyms", "0000000000000000 T _stext\n");
    fake_file("proc/sys/kernel/kptr_restrict", "2\n");
    diagnose();
    expect("symbols", RK_VERDICT_NO, RK_CAUSE_CAPABILITY, "kptr_restrict is 2",
           "sysctl -w kernel.kptr_restrict=0");
    level_is(2);
    doctor = rk_doctor_free(doctor);
    host = rk_host_free(host);
    diagnose();
    expect("symbols", RK_VERDICT_NO, RK_CAUSE_CAPABILITY, "paranoid is 2",
           "sysctl -w kernel.kptr_restrict=0 kernel.perf_event_paranoid=1");
    char path[200];
    snprintf(path, sizeof path, "%s/proc/kallsyms", fake_path);
    unlink(path);
    doctor = rk_doctor_free(doctor);
    host = rk_host_free(host);
    diagnose();
    expect("symbols", RK_VERDICT_NO, RK_CAUSE_NO_FILE, "cannot read", "");
}

static void json(void **state)
{
    struct rk_error e = {.size = sizeof e};
    int code = -EPIPE;
    struct rk_sink broken = {sizeof broken, 0, write_nothing, &code};
    (void)state;
    level_is(2);
    diagnose();
    forget();
    assert_int_equal(rk_doctor_export(doctor, "json", &text_sink, &e), 0);
    validate("doctor");
    SAME_BY_TWINS(rk_doctor_export, doctor, "json");
    contains("{\"name\":\"count\",\"title\":\"count what my program "
             "does\",\"verdict\":\"yes\",\"what\":\"counted ");
    contains("\"verdict\":\"no\",\"what\":\"cycles: no hardware PMU");
    contains("\"cause\":\"no-pmu\"");
    assert_int_equal(rk_doctor_export(doctor, "xml", &text_sink, &e), -EINVAL);
    assert_non_null(strstr(e.what, "json"));
    assert_int_equal(rk_doctor_export(doctor, "json", &broken, &e), -EPIPE);
    assert_int_equal(rk_doctor_export(NULL, "json", &text_sink, &e), -EINVAL);
    assert_int_equal(rk_doctor_run(NULL, &doctor, &e), -EINVAL);
    assert_int_equal(rk_doctor_check_count(NULL), 0);
    assert_null(rk_doctor_free(NULL));
}

#define DOCTOR_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DOCTOR_TEST(root_on_bare_metal),
        DOCTOR_TEST(a_plain_user),
        DOCTOR_TEST(a_plain_user_on_bare_metal),
        DOCTOR_TEST(every_level),
        DOCTOR_TEST(an_old_kernel),
        DOCTOR_TEST(a_user_namespace),
        DOCTOR_TEST(a_container_without_sysfs),
        DOCTOR_TEST(an_empty_root),
        DOCTOR_TEST(nothing_goes),
        DOCTOR_TEST(a_container_filters),
        DOCTOR_TEST(little_locked_memory),
        DOCTOR_TEST(a_silent_kernel),
        DOCTOR_TEST(counters_that_programs_may_not_read),
        DOCTOR_TEST(processes_come_and_go),
        DOCTOR_TEST(hidden_processes),
        DOCTOR_TEST(a_cpu_that_is_not_there),
        DOCTOR_TEST(tracefs),
        DOCTOR_TEST(kernel_symbols),
        DOCTOR_TEST(json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

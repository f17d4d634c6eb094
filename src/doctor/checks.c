/*
 * The checks, in the order of what people want. Each tries the thing itself; YES says what came of it, NO and
 * PARTLY say why (rk_explain) and what to do. PARTLY: a step down works, and what it leaves out is said.
 *
 * Your own program in user space is what `count` and `sample` ask about; what the kernel does for it is a
 * question of its own, so that one sysctl is advised once.
 */
#include "base/abi.h"
#include "base/cleanup.h"
#include "doctor/doctor.h"
#include "doctor/others.h"
#include "doctor/trial.h"
#include "host/host.h"
#include "set/set.h"
#include "sys/file.h"
#include "sys/perf.h"

#include <errno.h>
#include <reckon/record.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define RING_BYTES (512u << 10) /* what rk_set_open() asks for */
#define PERIOD_NS 500000

static const struct trial task_clock = {"task-clock", PERF_SOFTWARE, SW_TASK_CLOCK, 0, -1, false, 0, 0};
static const struct trial page_faults = {"page-faults", PERF_SOFTWARE, SW_PAGE_FAULTS, 0, -1, false, 0, 0};
static const struct trial cpu_clock = {
    "cpu-clock", PERF_SOFTWARE, SW_CPU_CLOCK, 0, -1, false, PERIOD_NS, RK_SAMPLE_IP | RK_SAMPLE_TID};
static const struct trial cycles = {"cycles", PERF_HARDWARE, HW_CYCLES, 0, -1, true, 0, 0};

__attribute__((format(printf, 3, 4))) static void say(struct doctor_check *check, uint32_t verdict,
                                                      const char *format, ...)
{
    va_list list;

    check->verdict = verdict;
    va_start(list, format);
    vsnprintf(check->what, sizeof check->what, format, list);
    va_end(list);
}

/* The verdict with a reason that was found; `but` (may be "") is what works all the same. */
static void blame(struct doctor_check *check, uint32_t verdict, const char *but, const struct rk_error *why)
{
    say(check, verdict, "%s%s", but, why->what);
    check->cause = why->cause;
    snprintf(check->remedy, sizeof check->remedy, "%s", why->remedy);
}

/* Opens, counts over some work, closes: 0 and *ret, or -errno and *why. */
static int count(struct rk_host *host, const struct trial *trial, uint64_t *ret, struct rk_error *why)
{
    _cleanup_close_ int fd = trial_open(host, trial, why);

    return fd < 0 ? fd : trial_count(host, trial, fd, trial_work_brief, ret, why);
}

static void check_count(struct rk_host *host, struct doctor_check *check)
{
    struct rk_error why;
    uint64_t ns = 0, faults = 0;

    if (count(host, &task_clock, &ns, &why) < 0 || count(host, &page_faults, &faults, &why) < 0) {
        blame(check, RK_VERDICT_NO, "", &why);
        return;
    }
    if (ns == 0 || faults == 0) {
        say(check, RK_VERDICT_NO, "the events opened and counted nothing (task-clock %ju, page-faults %ju)",
            (uintmax_t)ns, (uintmax_t)faults);
        return;
    }
    say(check, RK_VERDICT_YES, "counted %.0f µs of task-clock and %ju page-faults of this process",
        (double)ns / 1e3, (uintmax_t)faults);
}

static void check_sample(struct rk_host *host, struct doctor_check *check)
{
    struct rk_error why;
    struct trial_samples got;
    _cleanup_close_ int fd = trial_open(host, &cpu_clock, &why);

    if (fd < 0 || trial_sample(host, &cpu_clock, fd, RING_BYTES, trial_work_user, &got, &why) < 0) {
        blame(check, RK_VERDICT_NO, "", &why);
        return;
    }
    uint64_t n = got.user + got.kernel;
    if (n == 0) {
        say(check, RK_VERDICT_NO, "cpu-clock opened and its ring was mapped, yet no sample came");
        return;
    }
    if (got.ring_bytes < RING_BYTES) {
        char but[64];
        snprintf(but, sizeof but, "only with rings of %zu KiB: ", got.ring_bytes >> 10);
        blame(check, RK_VERDICT_PARTLY, but, &got.why);
        return;
    }
    say(check, RK_VERDICT_YES, "%ju samples of cpu-clock came through a ring of %zu KiB", (uintmax_t)n,
        got.ring_bytes >> 10);
}

static void check_kernel(struct rk_host *host, struct doctor_check *check)
{
    struct trial counted = task_clock, sampled = cpu_clock;
    struct trial_samples got;
    struct rk_error why;
    uint64_t ns = 0;

    counted.kernel = sampled.kernel = true;
    if (count(host, &counted, &ns, &why) < 0) {
        blame(check, RK_VERDICT_NO, "", &why);
        return;
    }
    _cleanup_close_ int fd = trial_open(host, &sampled, &why);
    if (fd < 0 || trial_sample(host, &sampled, fd, 16 * sys_page_size(), trial_work_kernel, &got, &why) < 0) {
        blame(check, RK_VERDICT_PARTLY, "counted, but not sampled: ", &why);
        return;
    }
    if (got.kernel == 0) {
        say(check, RK_VERDICT_PARTLY, "counted, but none of %ju samples lay in the kernel",
            (uintmax_t)got.user);
        return;
    }
    say(check, RK_VERDICT_YES, "%ju of %ju samples lay in the kernel", (uintmax_t)got.kernel,
        (uintmax_t)(got.kernel + got.user));
}

static void check_hardware(struct rk_host *host, struct doctor_check *check)
{
    struct trial user = cycles;
    struct rk_error why, refused;
    uint64_t n = 0;
    bool partly = false;

    int rc = count(host, &cycles, &n, &why);
    if (rc == -EACCES || rc == -EPERM) {
        refused = why;
        partly = true;
        user.kernel = false;
        rc = count(host, &user, &n, &why);
    }
    if (rc < 0) {
        blame(check, RK_VERDICT_NO, "", &why);
    } else if (n == 0) {
        say(check, RK_VERDICT_NO, "cycles opened and counted nothing: others hold all of the counters");
        check->cause = RK_CAUSE_BUSY;
        snprintf(check->remedy, sizeof check->remedy, "sudo sysctl -w kernel.nmi_watchdog=0");
    } else if (partly) {
        blame(check, RK_VERDICT_PARTLY, "only in user space: ", &refused);
    } else {
        say(check, RK_VERDICT_YES, "counted %ju cycles of this process", (uintmax_t)n);
    }
}

/* The kernel gives the page but forbids the instruction: the switch differs by architecture. */
static void no_user_read(struct rk_host *host, struct doctor_check *check)
{
    const char *rdpmc = "sys/bus/event_source/devices/cpu/rdpmc";
    int64_t value;

    say(check, RK_VERDICT_NO, "the kernel lets no program read hardware counters by itself");
    check->cause = RK_CAUSE_UNSUPPORTED;
    if (rk_host_limit(host, RK_LIMIT_USER_ACCESS, &value) == 0 && value == 0)
        snprintf(check->remedy, sizeof check->remedy, "sudo sysctl -w kernel.perf_user_access=1");
    else if (sys_file_number(host->root, rdpmc, &value) == 0 && value == 0)
        snprintf(check->remedy, sizeof check->remedy, "echo 1 | sudo tee /%s", rdpmc);
}

static void check_user_read(struct rk_host *host, struct doctor_check *check)
{
    struct rk_set_options options = {.size = sizeof options, .flags = RK_SET_NO_INHERIT};
    struct rk_error why = {.size = sizeof why};
    struct rk_events *events = NULL;
    struct rk_target *target = NULL;
    struct rk_set *set = NULL;
    struct rk_value value = {0};

    int rc = rk_events_parse(host, "cycles:u", &events, &why);
    if (rc >= 0)
        rc = rk_target_self(&target, &why);
    if (rc >= 0)
        rc = rk_set_open(host, events, target, &options, &set, &why);
    if (rc < 0) {
        blame(check, RK_VERDICT_NO, "", &why);
    } else if (rk_set_enable(set) == 0 && !set_reads_in_user_space(set)) {
        no_user_read(host, check);
    } else if (rk_set_read(set, 0, &value, NULL, 1) < 0 || value.value == 0) {
        say(check, RK_VERDICT_NO, "a counter's page was mapped and reading it gave nothing");
    } else {
        say(check, RK_VERDICT_YES, "read cycles of this thread in user space");
    }
    rk_set_free(set);
    rk_target_free(target);
    rk_events_free(events);
}

static void check_others(struct rk_host *host, struct doctor_check *check)
{
    struct trial trial = task_clock;
    struct rk_error why;
    int32_t pids[8];
    size_t n = others_find(host, pids, sizeof pids / sizeof *pids);

    for (size_t i = 0; i < n; i++) {
        trial.pid = pids[i];
        _cleanup_close_ int fd = trial_open(host, &trial, &why);
        if (fd >= 0) {
            say(check, RK_VERDICT_YES, "task-clock of process %d, another user's", pids[i]);
            return;
        }
        if (fd != -ESRCH) {
            blame(check, RK_VERDICT_NO, "", &why);
            return;
        }
    }
    trial.pid = 0; /* nobody to try on: the right to it is worth something where this thread can be opened */
    _cleanup_close_ int own = trial_open(host, &trial, &why);
    if (own < 0) {
        blame(check, RK_VERDICT_NO, "", &why);
        return;
    }
    if (rk_host_fact(host, RK_FACT_CAP_PERFMON) == 1) {
        say(check, RK_VERDICT_YES, "the right is there (CAP_PERFMON or CAP_SYS_ADMIN), and nobody to try on");
        return;
    }
    say(check, RK_VERDICT_PARTLY, "no process of another user can be seen, so that none could be tried");
}

static void check_machine(struct rk_host *host, struct doctor_check *check)
{
    struct trial trial = cpu_clock;
    struct rk_error why, first = {0};
    const int32_t *cpus;
    size_t n = 0, opened = 0;

    int rc = rk_host_cpus(host, &cpus, &n);
    if (rc < 0) {
        say(check, RK_VERDICT_NO, "cannot read the online CPUs: %s", strerror(-rc));
        check->cause = RK_CAUSE_NO_FILE;
        return;
    }
    trial.pid = -1;
    trial.kernel = true;
    for (size_t i = 0; i < n; i++) {
        trial.cpu = cpus[i];
        _cleanup_close_ int fd = trial_open(host, &trial, &why);
        if (fd >= 0)
            opened++;
        else if (opened == i)
            first = why;
    }
    if (opened == n)
        say(check, RK_VERDICT_YES, "cpu-clock of every CPU, %zu of them", n);
    else if (opened > 0)
        blame(check, RK_VERDICT_PARTLY, "only some CPUs: ", &first);
    else
        blame(check, RK_VERDICT_NO, "", &first);
}

static void check_symbols(struct rk_host *host, struct doctor_check *check)
{
    int64_t kptr = 0, level = 0;
    int shown = rk_host_fact(host, RK_FACT_KERNEL_SYMBOLS);

    if (shown == 1) {
        say(check, RK_VERDICT_YES, "/proc/kallsyms shows addresses");
        return;
    }
    if (shown < 0) {
        say(check, RK_VERDICT_NO, "cannot read /proc/kallsyms: %s", strerror(-shown));
        check->cause = RK_CAUSE_NO_FILE;
        return;
    }
    rk_host_limit(host, RK_LIMIT_KPTR, &kptr);
    rk_host_limit(host, RK_LIMIT_PARANOID, &level);
    /* To those without CAP_SYSLOG the kernel shows them only where both are low; to nobody at 2. */
    bool lower = level > 1 && rk_host_fact(host, RK_FACT_CAP_SYSLOG) != 1;
    check->cause = kptr > 0 ? RK_CAUSE_CAPABILITY : lower ? RK_CAUSE_PARANOID : RK_CAUSE_UNKNOWN;
    say(check, RK_VERDICT_NO,
        "/proc/kallsyms hides its addresses: kernel.kptr_restrict is %d, kernel.perf_event_paranoid is %d",
        (int)kptr, (int)level);
    if (kptr > 0 || lower)
        snprintf(check->remedy, sizeof check->remedy, "%ssudo sysctl -w%s%s", host_outside(host),
                 kptr > 0 ? " kernel.kptr_restrict=0" : "", lower ? " kernel.perf_event_paranoid=1" : "");
}

/* Reads a tracepoint's number: 0, or -errno with the check answered. */
static int tracepoint_id(struct rk_host *host, struct doctor_check *check, int64_t *ret)
{
    const char *where = "/sys/kernel/tracing";
    char path[4200];
    int rc = rk_host_mount(host, RK_MOUNT_TRACEFS, &where);

    if (rc == 0) {
        snprintf(path, sizeof path, "%.4000s/events/sched/sched_switch/id", where);
        rc = sys_file_number(host->root, path, ret);
    }
    if (rc == 0)
        return 0;
    check->cause = RK_CAUSE_NO_FILE;
    if (rc != -EACCES && rc != -EPERM) {
        say(check, RK_VERDICT_NO,
            "sched:sched_switch: tracefs is not mounted, or the kernel has no such tracepoint");
    } else {
        say(check, RK_VERDICT_NO, "sched:sched_switch: this user can't read %.100s", where);
    }
    host_tracefs_remedy(host, rc, -1, check->remedy, sizeof check->remedy);
    return rc;
}

static void check_tracepoints(struct rk_host *host, struct doctor_check *check)
{
    struct trial trial = {"sched:sched_switch", PERF_TRACEPOINT, 0, 0, -1, true, 1, RK_SAMPLE_RAW};
    struct rk_error why;
    int64_t id = 0;

    if (tracepoint_id(host, check, &id) < 0)
        return;
    trial.config = (uint64_t)id;
    _cleanup_close_ int fd = trial_open(host, &trial, &why);
    if (fd < 0)
        blame(check, RK_VERDICT_NO, "", &why);
    else
        say(check, RK_VERDICT_YES, "opened sched:sched_switch with its fields");
}

const struct doctor_trying doctor_tryings[] = {
    {"count", "count what my program does", check_count},
    {"sample", "sample where its time goes", check_sample},
    {"kernel", "see what the kernel does for it", check_kernel},
    {"others", "look into other users' processes", check_others},
    {"machine", "measure the whole machine", check_machine},
    {"hardware", "use the processor's counters", check_hardware},
    {"user-read", "read them without a system call", check_user_read},
    {"tracepoints", "use tracepoints", check_tracepoints},
    {"symbols", "name the kernel's functions", check_symbols},
};
const size_t doctor_tryings_n = sizeof doctor_tryings / sizeof *doctor_tryings;

/*
 * The kernel's short word → cause, sentence and smallest fix.
 *
 * One errno has many reasons. They are told apart by asking the host, in the order in which the kernel itself
 * checks: the seccomp filter before the system call, then the paranoid level, then the process, then the PMU.
 * What is always the same is in the table `rows`; what depends on the machine has a function of its own.
 */
#include "set/explain.h"

#include "base/abi.h"
#include "base/error.h"
#include "host/host.h"
#include "host/pmu.h"
#include "sys/limit.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int explain_say(const struct attempt *a, uint32_t cause, const char *remedy, const char *format, ...)
{
    char text[sizeof a->ret->what];
    const char *what = a->asked.event;
    va_list ap;

    if (!what || !*what)
        what = a->asked.stage == RK_STAGE_MAP       ? "mmap"
               : a->asked.stage == RK_STAGE_READ    ? "read"
               : a->asked.stage == RK_STAGE_CONTROL ? "ioctl"
                                                    : "perf_event_open";
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    fail(a->ret, a->asked.code, a->asked.stage, cause, remedy, "%s: %s", what, text);
    fail_event(a->ret, a->asked.event ? a->asked.event : "");
    fail_slot(a->ret, a->asked.pid, a->asked.cpu);
    return 0;
}

int64_t explain_limit(const struct attempt *a, uint32_t limit, int64_t otherwise)
{
    int64_t value;
    return rk_host_limit(a->host, limit, &value) == 0 ? value : otherwise;
}

bool explain_is(const struct attempt *a, uint32_t fact)
{
    return rk_host_fact(a->host, fact) == 1;
}

static const char *pmu_name(const struct attempt *a, uint32_t type)
{
    struct rk_pmu pmu = {.size = sizeof pmu};
    int n = host_pmus(a->host);

    for (int i = 0; i < n; i++)
        if (rk_host_pmu_get(a->host, (size_t)i, &pmu) == 0 && pmu.type == type)
            return pmu.name;
    return NULL;
}

bool explain_is_hardware(uint32_t type)
{
    return type == PERF_HARDWARE || type == PERF_HW_CACHE || type == PERF_RAW;
}

int explain_no_hardware(const struct attempt *a)
{
    const char *time = "measure time instead: -e task-clock or -e cpu-clock";
    int virtual = rk_host_fact(a->host, RK_FACT_VIRTUAL);

    if (rk_host_fact(a->host, RK_FACT_CORE_PMU) < 0)
        return explain_say(
            a, RK_CAUSE_NO_PMU, time,
            "no hardware PMU, or it does not count this: which of them is unknown without /sys");
    if (virtual < 0)
        return explain_say(a, RK_CAUSE_NO_PMU, time, "no hardware PMU; the reason is unknown%s",
                           *rk_host_kernel(a->host) ? ": a virtual machine perhaps" : " without /proc");
    if (virtual == 1)
        return explain_say(
            a, RK_CAUSE_NO_PMU,
            "ask whoever runs the host for a virtual PMU, or measure time: -e task-clock or -e cpu-clock",
            "no hardware PMU: this is a virtual machine");
    return explain_say(a, RK_CAUSE_NO_PMU, time,
                       "no hardware PMU: the kernel has no driver for this processor's counters");
}

bool explain_is_probe(const struct attempt *a)
{
    const char *pmu = a->asked.type > PERF_BREAKPOINT ? pmu_name(a, a->asked.type) : NULL;

    return pmu && (strcmp(pmu, "kprobe") == 0 || strcmp(pmu, "uprobe") == 0);
}

/* The kernel's word on a place where it can't put a probe, or NULL: it is no probe. */
static const char *no_probe(const struct attempt *a)
{
    const char *pmu = a->asked.type > PERF_BREAKPOINT ? pmu_name(a, a->asked.type) : NULL;

    if (pmu && strcmp(pmu, "kprobe") == 0)
        return "the kernel has no such function, or none may be probed there: see /proc/kallsyms and "
               "/sys/kernel/debug/kprobes/blacklist";
    return pmu && strcmp(pmu, "uprobe") == 0 ? "no instruction to probe at this place of the file" : NULL;
}

/* The event opens, but not for this cgroup. */
static int no_cgroup(const struct attempt *a)
{
    if (a->asked.code == -EINVAL)
        return explain_say(a, RK_CAUSE_UNSUPPORTED, "use a kernel built with CONFIG_CGROUP_PERF=y",
                           "this kernel counts for no cgroup");
    return explain_say(a, RK_CAUSE_UNSUPPORTED,
                       "name a cgroup of the hierarchy that has it: grep perf_event /proc/self/mountinfo, "
                       "else that of cgroup2, whose root must have some controller on: "
                       "echo +pids >/sys/fs/cgroup/cgroup.subtree_control",
                       "no counter for this cgroup: its hierarchy has no perf_event controller");
}

static bool is_cgroups(const struct attempt *a)
{
    return a->asked.field && strcmp(a->asked.field, "cgroup") == 0;
}

static int no_entry(const struct attempt *a)
{
    uint32_t type = a->asked.type;
    const char *name;

    if (is_cgroups(a))
        return no_cgroup(a);
    if (no_probe(a))
        return explain_say(a, RK_CAUSE_NO_EVENT, NULL, "%s", no_probe(a));
    if (explain_is_hardware(type)) {
        if (!explain_is(a, RK_FACT_CORE_PMU))
            return explain_no_hardware(a);
        return explain_say(a, RK_CAUSE_UNSUPPORTED, "use another event, such as cycles or instructions",
                           "this processor's PMU does not count it");
    }
    if (type == PERF_TRACEPOINT)
        return explain_say(a, RK_CAUSE_NO_EVENT, NULL, "this kernel has no tracepoint with number %ju",
                           (uintmax_t)a->asked.config);
    if (type == PERF_SOFTWARE)
        return explain_say(a, RK_CAUSE_KERNEL_OLD, NULL, "Linux %s does not know this software event",
                           rk_host_kernel(a->host));
    if ((name = pmu_name(a, type)))
        return explain_say(a, RK_CAUSE_UNSUPPORTED, NULL, "the PMU %s has no event %#jx", name,
                           (uintmax_t)a->asked.config);
    return explain_say(a, RK_CAUSE_NO_PMU, "ls /sys/bus/event_source/devices",
                       "this machine has no PMU of type %u", type);
}

static bool cpu_online(const struct attempt *a)
{
    const int32_t *cpus;
    size_t n;

    if (rk_host_cpus(a->host, &cpus, &n) < 0)
        return true;
    for (size_t i = 0; i < n; i++)
        if (cpus[i] == a->asked.cpu)
            return true;
    return false;
}

static int no_device(const struct attempt *a)
{
    if (a->asked.cpu >= 0 && !cpu_online(a))
        return explain_say(a, RK_CAUSE_NO_CPU, "cat /sys/devices/system/cpu/online", "CPU %d is not online",
                           a->asked.cpu);
    if (explain_is_hardware(a->asked.type) && !explain_is(a, RK_FACT_CORE_PMU))
        return explain_no_hardware(a);
    return explain_say(a, RK_CAUSE_UNSUPPORTED, NULL,
                       "the PMU is not there for this CPU, or lacks the feature");
}

/* What a PMU that is no core's can't do, and the kernel answers with EINVAL or EOPNOTSUPP: its sentence, or false. */
static bool no_core(const struct attempt *a)
{
    const int32_t *cpus;
    size_t n;
    struct host_pmu *pmu = a->asked.type > PERF_BREAKPOINT ? host_pmu_of_type(a->host, a->asked.type) : NULL;

    if (!pmu || host_pmu_core(a->host, pmu) != 0 || no_probe(a))
        return false;
    bool uncore = host_pmu_cpus(a->host, pmu, &cpus, &n) == 0;
    if (uncore && a->asked.pid >= 0)
        explain_say(a, RK_CAUSE_UNSUPPORTED, "measure the whole machine: -a",
                    "%s counts for the machine, not for a process", pmu->name);
    else if (a->asked.flags & RK_ATTEMPT_MODES)
        explain_say(a, RK_CAUSE_UNSUPPORTED, "leave its modifiers out",
                    "%s can't tell user space, kernel and guests apart", pmu->name);
    else if (uncore && (a->asked.flags & RK_ATTEMPT_SAMPLING))
        explain_say(a, RK_CAUSE_UNSUPPORTED, "count it: reckon stat -a",
                    "%s can count but not sample: it has no overflow interrupt", pmu->name);
    else
        return false;
    return true;
}

static int unsupported(const struct attempt *a)
{
    uint32_t flags = a->asked.flags;

    if (explain_is_hardware(a->asked.type) && !explain_is(a, RK_FACT_CORE_PMU))
        return explain_no_hardware(a);
    if (no_core(a))
        return 0;
    if (flags & RK_ATTEMPT_PRECISE)
        return explain_say(a, RK_CAUSE_UNSUPPORTED, "leave the p modifier out",
                           "this PMU can't sample so precisely");
    if (flags & RK_ATTEMPT_BRANCHES)
        return explain_say(a, RK_CAUSE_UNSUPPORTED,
                           explain_is_hardware(a->asked.type) ? "leave branches out" : "sample cycles",
                           explain_is_hardware(a->asked.type)
                               ? "this processor's PMU does not record branches"
                               : "only a processor's own PMU records branches");
    if (flags & RK_ATTEMPT_SAMPLING)
        return explain_say(a, RK_CAUSE_UNSUPPORTED, "sample cpu-clock, or count only",
                           "this PMU can count but not sample: it has no overflow interrupt");
    return explain_say(a, RK_CAUSE_UNSUPPORTED, NULL, "this PMU can't do what was asked");
}

/* An option that this kernel has never heard of. */
static int too_old(const struct attempt *a)
{
    struct rk_feature_text text = {.size = sizeof text};

    if (a->asked.lacks && rk_feature_describe(a->asked.lacks - 1, &text) == 0)
        return explain_say(a, RK_CAUSE_KERNEL_OLD, NULL,
                           "this kernel knows nothing of %s (%s): Linux %s brought it", text.name, text.about,
                           text.since);
    if (a->asked.code == -E2BIG)
        return explain_say(a, RK_CAUSE_KERNEL_OLD, NULL, "this kernel is too old for an option that is set");
    return explain_say(a, RK_CAUSE_KERNEL_OLD, NULL, "Linux %s refuses this combination of event and options",
                       rk_host_kernel(a->host));
}

/* A PMU of sysfs that says EINVAL, with nothing else to blame, does not know the number. */
static bool no_such_config(const struct attempt *a)
{
    const char *pmu = a->asked.type > PERF_BREAKPOINT ? pmu_name(a, a->asked.type) : NULL;
    char remedy[sizeof a->ret->remedy];

    if (!pmu)
        return false;
    snprintf(remedy, sizeof remedy, "reckon list --pmu %.60s", pmu);
    explain_say(a, RK_CAUSE_UNSUPPORTED, remedy, "the PMU %s has no event %#jx", pmu,
                (uintmax_t)a->asked.config);
    return true;
}

static int invalid(const struct attempt *a)
{
    char remedy[sizeof a->ret->remedy];
    int64_t rate = explain_limit(a, RK_LIMIT_SAMPLE_RATE, INT64_MAX);

    if (is_cgroups(a))
        return no_cgroup(a);
    if (a->asked.pid < 0 && a->asked.cpu < 0 && !(a->asked.flags & RK_ATTEMPT_CGROUP))
        return explain_say(a, RK_CAUSE_ARGUMENT, NULL, "neither a thread nor a CPU was said");
    if (a->asked.frequency > (uint64_t)rate) {
        snprintf(remedy, sizeof remedy, "sudo sysctl -w kernel.perf_event_max_sample_rate=%ju",
                 (uintmax_t)a->asked.frequency);
        return explain_say(
            a, RK_CAUSE_RATE, remedy,
            "%ju samples a second are more than kernel.perf_event_max_sample_rate, which is %jd",
            (uintmax_t)a->asked.frequency, (intmax_t)rate);
    }
    if (no_probe(a))
        return explain_say(a, RK_CAUSE_NO_EVENT, NULL, "%s", no_probe(a));
    if (no_core(a))
        return 0;
    if (a->asked.field && strcmp(a->asked.field, "group") != 0) {
        struct rk_feature_text lacks = {.size = sizeof lacks};
        bool old = a->asked.lacks && rk_feature_describe(a->asked.lacks - 1, &lacks) == 0;
        snprintf(remedy, sizeof remedy, "leave %s out", a->asked.field);
        return explain_say(a, old ? RK_CAUSE_KERNEL_OLD : RK_CAUSE_UNSUPPORTED, remedy,
                           "Linux %s refuses %s for this event, and opens it without%s%s%s%s",
                           rk_host_kernel(a->host), a->asked.field, old ? "; " : "", old ? lacks.name : "",
                           old ? " came with Linux " : "", old ? lacks.since : "");
    }
    if (a->asked.lacks)
        return too_old(a);
    if (a->asked.flags & RK_ATTEMPT_GROUP) {
        bool watchdog = explain_limit(a, RK_LIMIT_NMI_WATCHDOG, 0) == 1;
        return explain_say(a, RK_CAUSE_UNSUPPORTED,
                           watchdog
                               ? "split the group, or free a counter: sudo sysctl -w kernel.nmi_watchdog=0"
                               : "split the group",
                           "the group does not fit: the PMU has too few counters for it%s",
                           watchdog ? " (the NMI watchdog holds one)" : "");
    }
    if (a->asked.flags & (RK_ATTEMPT_PRECISE | RK_ATTEMPT_BRANCHES))
        return unsupported(a);
    if (a->asked.type == PERF_BREAKPOINT)
        return explain_say(a, RK_CAUSE_UNSUPPORTED, "see \"Breakpoints\" in reckon-events(7)",
                           "the processor can't watch so: not this address, length or kind of access");
    return no_such_config(a) ? 0 : too_old(a);
}

static int descriptors(const struct attempt *a)
{
    char remedy[sizeof a->ret->remedy];
    int64_t soft = explain_limit(a, RK_LIMIT_NOFILE, 0), hard = explain_limit(a, RK_LIMIT_NOFILE_HARD, soft);
    uint64_t needed = a->asked.needed;

    if (!needed)
        return explain_say(a, RK_CAUSE_DESCRIPTORS, sys_limit_more_descriptors(),
                           "out of file descriptors: %jd are allowed (RLIMIT_NOFILE; hard limit %jd)",
                           (intmax_t)soft, (intmax_t)hard);
    if (needed > (uint64_t)hard)
        snprintf(remedy, sizeof remedy,
                 "sudo prlimit --pid $$ --nofile=%ju, or measure fewer events, threads or CPUs",
                 (uintmax_t)needed);
    else
        snprintf(remedy, sizeof remedy, "ulimit -n %ju", (uintmax_t)needed);
    return explain_say(a, RK_CAUSE_DESCRIPTORS, remedy,
                       "%ju file descriptors are needed and %jd are allowed (RLIMIT_NOFILE's hard limit)",
                       (uintmax_t)needed, (intmax_t)hard);
}

static int no_syscall(const struct attempt *a)
{
    if (explain_filtered(a))
        return explain_denied(a);
    return explain_say(a, RK_CAUSE_KERNEL_OLD, "use a kernel built with CONFIG_PERF_EVENTS=y",
                       "this kernel has no perf_event_open");
}

static int deep_stack(const struct attempt *a)
{
    return explain_say(a, RK_CAUSE_ARGUMENT,
                       "ask for fewer frames, or: sudo sysctl -w kernel.perf_event_max_stack=1024",
                       "more frames per call chain than kernel.perf_event_max_stack allows, which is %jd",
                       (intmax_t)explain_limit(a, RK_LIMIT_MAX_STACK, 127));
}

static int no_space(const struct attempt *a)
{
    if (a->asked.type == PERF_BREAKPOINT)
        return explain_say(a, RK_CAUSE_BUSY, "set fewer breakpoints, or end the debugger that uses them",
                           "all of the processor's debug registers are in use");
    return explain_say(a, RK_CAUSE_BUSY, NULL, "the PMU has no room for another event");
}

static int locked_memory(const struct attempt *a)
{
    char remedy[sizeof a->ret->remedy];
    int64_t per_cpu = explain_limit(a, RK_LIMIT_MLOCK_KB, 0), memlock = explain_limit(a, RK_LIMIT_MEMLOCK, 0);
    const int32_t *cpus;
    size_t n_cpus = 1;

    rk_host_cpus(a->host, &cpus, &n_cpus);
    uint64_t more = (a->asked.needed + 1023) / 1024;
    snprintf(remedy, sizeof remedy, "sudo sysctl -w kernel.perf_event_mlock_kb=%ju   # or smaller rings",
             (uintmax_t)((uint64_t)per_cpu + (more ? more : (uint64_t)per_cpu)));
    return explain_say(a, RK_CAUSE_MLOCK, remedy,
                       "rings need more locked memory than this user may have: %jd KiB for each of %zu CPUs "
                       "(kernel.perf_event_mlock_kb), and %jd KiB beside (RLIMIT_MEMLOCK)",
                       (intmax_t)per_cpu, n_cpus, (intmax_t)(memlock / 1024));
}

static int starved(const struct attempt *a)
{
    bool watchdog = explain_limit(a, RK_LIMIT_NMI_WATCHDOG, 0) == 1;

    return explain_say(
        a, RK_CAUSE_STARVED,
        watchdog ? "leave the D modifier out, count fewer events, or: sudo sysctl -w kernel.nmi_watchdog=0"
                 : "leave the D modifier out, or count fewer events",
        "pinned, and the PMU had no counter free: the kernel stopped counting it");
}

static int other(const struct attempt *a)
{
    return explain_say(a, RK_CAUSE_UNKNOWN, NULL, "%s failed: %s", rk_stage_name(a->asked.stage),
                       a->asked.code < 0 ? strerror(-a->asked.code) : "no reason was given");
}

#define ANY_STAGE UINT32_MAX

/* The first row that fits is taken. */
static const struct row {
    uint32_t stage;
    int code; /* errno */
    int (*explain)(const struct attempt *a);
    uint32_t cause; /* where `explain` is NULL */
    const char *what, *remedy;
} rows[] = {
    {ANY_STAGE, ESTALE, NULL, RK_CAUSE_FORKED, "opened before a fork: counters stay with the parent",
     "open it again in the child"},
    {RK_STAGE_MAP, ENOMEM, NULL, RK_CAUSE_MEMORY, "the kernel has no memory for a ring of this size",
     "ask for smaller rings"},
    {ANY_STAGE, ENOMEM, NULL, RK_CAUSE_MEMORY, "the kernel is out of memory for it", NULL},
    {ANY_STAGE, EINTR, NULL, RK_CAUSE_UNKNOWN, "interrupted by a signal", "try again"},
    {ANY_STAGE, EFAULT, NULL, RK_CAUSE_ARGUMENT, "a bad address was passed to the kernel", NULL},
    {ANY_STAGE, EBADF, NULL, RK_CAUSE_ARGUMENT, "a descriptor (group leader, cgroup or event) is not open",
     NULL},

    {RK_STAGE_OPEN, EACCES, explain_denied, 0, NULL, NULL},
    {RK_STAGE_OPEN, EPERM, explain_denied, 0, NULL, NULL},
    {RK_STAGE_OPEN, ENOENT, no_entry, 0, NULL, NULL},
    {RK_STAGE_OPEN, ENODEV, no_device, 0, NULL, NULL},
    {RK_STAGE_OPEN, ENXIO, no_device, 0, NULL, NULL},
    {RK_STAGE_OPEN, EOPNOTSUPP, unsupported, 0, NULL, NULL},
    {RK_STAGE_OPEN, EINVAL, invalid, 0, NULL, NULL},
    {RK_STAGE_OPEN, E2BIG, too_old, 0, NULL, NULL},
    {RK_STAGE_OPEN, EMFILE, descriptors, 0, NULL, NULL},
    {RK_STAGE_OPEN, ENFILE, NULL, RK_CAUSE_DESCRIPTORS, "the whole system is out of file descriptors",
     "sudo sysctl -w fs.file-max=1000000"},
    {RK_STAGE_OPEN, ESRCH, NULL, RK_CAUSE_NO_PROCESS, "no such process or thread, or it has ended", NULL},
    {RK_STAGE_OPEN, EBUSY, NULL, RK_CAUSE_BUSY, "another program has the PMU for itself",
     "end the other profiler, or try again later"},
    {RK_STAGE_OPEN, ENOSPC, no_space, 0, NULL, NULL},
    {RK_STAGE_OPEN, ENOSYS, no_syscall, 0, NULL, NULL},
    {RK_STAGE_OPEN, EOVERFLOW, deep_stack, 0, NULL, NULL},
    {RK_STAGE_OPEN, EAGAIN, NULL, RK_CAUSE_BUSY, "the kernel was busy with it", "try again"},

    {RK_STAGE_MAP, EPERM, locked_memory, 0, NULL, NULL},
    {RK_STAGE_MAP, EAGAIN, locked_memory, 0, NULL, NULL},
    {RK_STAGE_MAP, EACCES, NULL, RK_CAUSE_ARGUMENT, "a ring must be mapped shared, and readable", NULL},
    {RK_STAGE_MAP, EINVAL, NULL, RK_CAUSE_ARGUMENT,
     "a ring is a power of two of pages, the same at each mapping, and an inherited event needs a CPU", NULL},
    {RK_STAGE_MAP, ENODEV, NULL, RK_CAUSE_NO_PROCESS,
     "the event is no longer attached: what it measured has ended", NULL},

    {RK_STAGE_READ, 0, starved, 0, NULL, NULL},
    {RK_STAGE_READ, ENOSPC, NULL, RK_CAUSE_ARGUMENT, "the buffer is too small for the group's values", NULL},
    {RK_STAGE_READ, ECHILD, NULL, RK_CAUSE_BUSY,
     "a thread was created while the group was opened; the kernel does not read the group as one while it "
     "lives",
     "read the events singly, or open the set again"},
    {RK_STAGE_READ, ENODEV, NULL, RK_CAUSE_NO_CPU, "its CPU has gone offline", NULL},

    {RK_STAGE_CONTROL, EINVAL, NULL, RK_CAUSE_ARGUMENT, "the kernel refuses this for the event", NULL},
    {RK_STAGE_CONTROL, ENOTTY, NULL, RK_CAUSE_KERNEL_OLD, "this kernel does not know the request", NULL},
    {RK_STAGE_CONTROL, ESRCH, NULL, RK_CAUSE_NO_PROCESS, "what it measured has ended", NULL},
};

int explain(struct rk_host *host, const struct rk_attempt *attempt, struct rk_error *ret)
{
    struct attempt a = {host, *attempt, ret};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *row = &rows[i];
        if (attempt->code != -row->code || (row->stage != ANY_STAGE && row->stage != attempt->stage))
            continue;
        return row->explain ? row->explain(&a) : explain_say(&a, row->cause, row->remedy, "%s", row->what);
    }
    return other(&a);
}

#define ATTEMPT_ALL 0x3ffu

int rk_explain(struct rk_host *host, const struct rk_attempt *attempt, struct rk_error *ret)
{
    struct rk_attempt taken;
    int rc = options_take(&taken, sizeof taken, attempt);

    if (rc < 0 || !host || !attempt || !ret)
        return -EINVAL;
    if (taken.flags & ~ATTEMPT_ALL || taken.code > 0 || taken.stage < RK_STAGE_OPEN ||
        taken.stage > RK_STAGE_READ)
        return -EINVAL;
    return explain(host, &taken, ret);
}

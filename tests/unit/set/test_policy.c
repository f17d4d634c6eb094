/*
 * What each word of the grammar becomes in the attr, on which CPUs a PMU's events are opened, what is asked for on
 * hybrid CPUs: on the machines of tests/data/host, with a kernel that does as it is told.
 */
#include "../fake_tree.h"
#include "fake_kernel.h"
#include "host/host.h"
#include "target/target.h"

#include <reckon/explain.h>
#include <reckon/record.h>

static struct scene s;

static const struct perf_attr *attr_of(int index)
{
    return &kernel.opened[index].attr;
}

static struct rk_target *cpus(int first, int n)
{
    struct rk_target *target = target_new(TARGET_CPUS, -1);

    target->cpus = malloc((size_t)n * sizeof *target->cpus);
    for (int i = 0; i < n; i++)
        target->cpus[i] = first + i;
    target->n_cpus = (size_t)n;
    return target;
}

static struct rk_target *self(void)
{
    return target_new(TARGET_SELF, 0);
}

/* The machine made of files: unpacked once for tests that follow one another. */
static struct rk_host *machine(const char *name)
{
    static char current[64];
    struct rk_host *host = NULL;

    if (strcmp(current, name) == 0) {
        assert_int_equal(rk_host_open(fake_path, &host, NULL), 0);
        return host;
    }
    if (*current)
        fake_end();
    snprintf(current, sizeof current, "%s", name);
    if (!*name)
        return NULL;
    host = fake_machine(name);
    fake_file("sys/kernel/tracing/events/sched/sched_switch/id", "372\n");
    return host;
}

/* Opens on a machine; close_it() ends it, whether it could be opened or not. */
static int open_it(const char *name, const char *events, struct rk_target *target,
                   const struct rk_set_options *options)
{
    s = (struct scene){.target = target, .e = {.size = sizeof s.e}};
    s.host = machine(name);
    int rc = rk_events_parse(s.host, events, &s.events, &s.e);
    return rc < 0 ? rc : rk_set_open(s.host, s.events, target, options, &s.set, &s.e);
}

static void close_it(void)
{
    scene_close(&s);
}

/* Every modifier, alone and of a group, for counting and for sampling. */
static void modifiers_have_an_effect(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool samples;
        uint64_t flags, not_flags; /* of the last event opened */
        uint64_t sample_type, read_format;
    } rows[] = {
        {"cycles:u", false, ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV, ATTR_EXCLUDE_USER, 0, 0},
        {"cycles:k", false, ATTR_EXCLUDE_USER | ATTR_EXCLUDE_HV, ATTR_EXCLUDE_KERNEL, 0, 0},
        {"cycles:h", false, ATTR_EXCLUDE_USER | ATTR_EXCLUDE_KERNEL, ATTR_EXCLUDE_HV, 0, 0},
        {"cycles:uk", false, ATTR_EXCLUDE_HV, ATTR_EXCLUDE_USER | ATTR_EXCLUDE_KERNEL, 0, 0},
        {"cycles:G", false, ATTR_EXCLUDE_HOST, ATTR_EXCLUDE_GUEST, 0, 0},
        {"cycles:H", false, ATTR_EXCLUDE_GUEST, ATTR_EXCLUDE_HOST, 0, 0},
        {"page-faults:GH", false, 0, ATTR_EXCLUDES, 0, 0},
        {"page-faults:H", false, ATTR_EXCLUDE_GUEST, ATTR_EXCLUDE_HOST, 0, 0},
        {"cycles:GH", false, 0, ATTR_EXCLUDES, 0, 0},
        {"cycles:I", false, ATTR_EXCLUDE_IDLE, 0, 0, 0},
        {"cycles:p", false, UINT64_C(1) << ATTR_PRECISE_SHIFT, UINT64_C(2) << ATTR_PRECISE_SHIFT, 0, 0},
        {"cycles:pp", true, UINT64_C(2) << ATTR_PRECISE_SHIFT, UINT64_C(1) << ATTR_PRECISE_SHIFT, 0, 0},
        {"cycles:ppp", true, UINT64_C(3) << ATTR_PRECISE_SHIFT, 0, 0, 0},
        {"cycles:P", true, UINT64_C(3) << ATTR_PRECISE_SHIFT, 0, 0, 0},
        {"cycles:D", false, ATTR_PINNED, ATTR_EXCLUSIVE, 0, 0},
        {"cycles:e", false, ATTR_EXCLUSIVE, ATTR_PINNED, 0, 0},
        {"cycles:S", true, 0, 0, RK_SAMPLE_READ, FORMAT_ID},
        {"{cycles,instructions}:u", false, ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV, ATTR_EXCLUDE_USER, 0, 0},
        {"{cycles,instructions:k}:u", false, ATTR_EXCLUDE_HV, ATTR_EXCLUDE_USER | ATTR_EXCLUDE_KERNEL, 0, 0},
        {"{cycles,instructions}:pp", true, UINT64_C(2) << ATTR_PRECISE_SHIFT, 0, 0, 0},
        {"{cycles,instructions}:S", true, 0, 0, 0, FORMAT_ID},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kernel_reset();
        if (open_it("intel-server", rows[i].text, self(),
                    rows[i].samples ? OPTIONS(.period = 1000, .flags = RK_SET_NO_INHERIT) : NULL) < 0)
            fail_msg("%s: %s", rows[i].text, s.e.what);
        const struct perf_attr *attr = attr_of(kernel.n - 1);
        if ((attr->flags & rows[i].flags) != rows[i].flags || (attr->flags & rows[i].not_flags) ||
            (attr->sample_type & rows[i].sample_type) != rows[i].sample_type ||
            (attr->read_format & rows[i].read_format) != rows[i].read_format)
            fail_msg("%s: flags %#llx", rows[i].text, (unsigned long long)attr->flags);
        assert_int_equal(s.set->notes.n, 0);
        close_it();
    }
    /* What the kernel takes and does not do. */
    static const char *const blind[] = {"page-faults:G", "{cycles,cpu-clock}:G", "mem:0x1000:w:G"};
    for (size_t i = 0; i < 3; i++) {
        kernel_reset();
        assert_int_equal(open_it("intel-server", blind[i], self(), NULL), -EOPNOTSUPP);
        assert_int_equal(s.e.cause, RK_CAUSE_UNSUPPORTED);
        assert_non_null(strstr(s.e.what, "does not distinguish what guests do"));
        assert_int_equal(kernel.n, 0);
        close_it();
    }
    kernel_reset();
    assert_int_equal(open_it("intel-server", "page-faults", self(), OPTIONS(.exclude = RK_EXCLUDE_HOST)),
                     -EOPNOTSUPP);
    assert_string_equal(s.e.remedy, "don't exclude the host");
    close_it();
    /* {…}:S: only the first is sampled, and its samples carry the counts. */
    kernel_reset();
    assert_int_equal(open_it("intel-server", "{cycles,instructions}:S", self(),
                             OPTIONS(.period = 9, .flags = RK_SET_NO_INHERIT)),
                     0);
    assert_true(attr_of(0)->sample_type & RK_SAMPLE_READ && attr_of(0)->sample_period == 9);
    assert_true(!(attr_of(1)->sample_type & RK_SAMPLE_READ) && attr_of(1)->sample_period == 0);
    close_it();
    /* Of a group, pinned and exclusive are the first's. */
    kernel_reset();
    assert_int_equal(open_it("intel-server", "{cycles,instructions}:De", self(), NULL), 0);
    assert_true((attr_of(0)->flags & (ATTR_PINNED | ATTR_EXCLUSIVE)) == (ATTR_PINNED | ATTR_EXCLUSIVE));
    assert_false(attr_of(1)->flags & (ATTR_PINNED | ATTR_EXCLUSIVE));
    close_it();
    /* What is about samples, where none are taken, is said to be for nothing. */
    kernel_reset();
    assert_int_equal(open_it("intel-server", "cycles:P,{cycles,instructions}:S", self(), NULL), 0);
    assert_int_equal(s.set->notes.n, 3);
    assert_non_null(strstr(s.set->notes.items[0].what, "cycles:P: the modifier P is about samples"));
    assert_non_null(strstr(s.set->notes.items[2].what, "instructions:S: the modifier S is about samples"));
    close_it();
}

/* A frequency is for what goes on all the time, where that is asked for; its own word or a period goes first. */
static void each_time(void **state)
{
    (void)state;
    static const struct {
        const char *event;
        uint64_t period;
        bool frequency;
    } rows[] = {
        {"cycles", 99, true},
        {"cpu-clock", 99, true},
        {"page-faults", 99, true},
        {"sched:sched_switch", 1, false},
        {"kprobe:vfs_read", 1, false},
        {"uretprobe:/x:16", 1, false},
        {"mem:0x1000/8:w", 1, false},
        {"sched:sched_switch/period=7/", 7, false},
        {"sched:sched_switch/freq=50/", 50, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (uint32_t each = 0; each < 2; each++) {
            kernel_reset();
            assert_int_equal(
                open_it("intel-server", rows[i].event, self(),
                        OPTIONS(.flags = RK_SET_NO_INHERIT | (each ? RK_SET_EACH : 0), .frequency = 99)),
                0);
            bool plain = each || strchr(rows[i].event, '=');
            assert_int_equal(attr_of(0)->sample_period, plain ? rows[i].period : 99);
            assert_int_equal(!!(attr_of(0)->flags & ATTR_FREQ), plain ? rows[i].frequency : true);
            close_it();
        }
    }
}

/* Terms of every kind of event reach the attr. */
static void terms_have_an_effect(void **state)
{
    (void)state;
    static const char *const events[] = {"cycles",       "sched:sched_switch", "kprobe:vfs_read",
                                         "uprobe:/x:16", "mem:0x1000/8:w",     "cs",
                                         "mem:0x1000"};
    char text[128];
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        for (int frequency = 0; frequency < 2; frequency++) {
            kernel_reset();
            snprintf(text, sizeof text, "%s/%s=77,name=mine/", events[i], frequency ? "freq" : "period");
            if (open_it("intel-server", text, self(), OPTIONS(.flags = RK_SET_NO_INHERIT)) < 0)
                fail_msg("%s: %s", text, s.e.what);
            assert_int_equal(attr_of(0)->sample_period, 77);
            assert_int_equal(!!(attr_of(0)->flags & ATTR_FREQ), frequency);
            assert_string_equal(s.set->events[0].event.name, "mine");
            close_it();
        }
    }
    /* With PERIOD in its samples each hit of a probe would be one, whatever the period. */
    for (size_t i = 1; i < 5; i++) {
        for (uint64_t period = 1; period < 8; period += 6) {
            kernel_reset();
            assert_int_equal(open_it("intel-server", events[i], self(),
                                     OPTIONS(.flags = RK_SET_NO_INHERIT, .period = period)),
                             0);
            bool weighs = period == 1 && attr_of(0)->type != PERF_BREAKPOINT;
            assert_int_equal(!!(attr_of(0)->sample_type & RK_SAMPLE_PERIOD), weighs);
            close_it();
        }
    }
    kernel_reset();
    assert_int_equal(
        open_it("intel-server", "uretprobe:/x:16/ref_ctr_offset=0x4010/,kretprobe:vfs_read+4", self(), NULL),
        0);
    assert_int_equal(attr_of(0)->config, UINT64_C(0x401000000001));
    assert_string_equal((const char *)(uintptr_t)attr_of(0)->config1, "/x");
    assert_int_equal(attr_of(0)->config2, 16);
    assert_int_equal(attr_of(1)->config, 1);
    assert_string_equal((const char *)(uintptr_t)attr_of(1)->config1, "vfs_read");
    assert_int_equal(attr_of(1)->config2, 4);
    close_it();
}

static int dislike(const char *text)
{
    return strstr(text, "bad") ? -EINVAL : 0;
}

static void filters(void **state)
{
    (void)state;
    kernel_reset();
    kernel.filter = dislike;
    assert_int_equal(
        open_it("intel-server", "{cycles,sched:sched_switch/filter='a==1'/},cs", cpus(0, 2), NULL), 0);
    assert_int_equal(kernel.n, 6);
    for (int i = 0; i < 6; i++)
        assert_string_equal(kernel.opened[i].filter, i % 3 == 1 ? "a==1" : "");
    close_it();
    /* One that counts from the beginning waits for its filter; its group does not. */
    kernel_reset();
    assert_int_equal(open_it("intel-server",
                             "sched:sched_switch/filter='a==1'/,{cycles,sched:sched_switch/filter='b==1'/}",
                             self(), OPTIONS(.flags = RK_SET_ENABLED)),
                     0);
    assert_true(kernel.opened[0].enables == 1 && !kernel.opened[0].enabled_before_filter);
    assert_true(kernel.opened[1].enables == 0 && !(attr_of(1)->flags & ATTR_DISABLED));
    assert_true(kernel.opened[2].enables == 1 && !kernel.opened[2].enabled_before_filter);
    close_it();
    /* What the kernel refuses is said with the filter, or left out. */
    kernel_reset();
    kernel.filter = dislike;
    assert_int_equal(open_it("intel-server", "sched:sched_switch/filter='bad==1'/,cs", self(), NULL),
                     -EINVAL);
    assert_int_equal(s.e.cause, RK_CAUSE_SYNTAX);
    assert_non_null(strstr(s.e.what, "refuses the filter bad==1"));
    close_it();
    kernel_reset();
    kernel.filter = dislike;
    assert_int_equal(open_it("intel-server", "sched:sched_switch/filter='bad==1'/,cs", self(),
                             OPTIONS(.flags = RK_SET_KEEP)),
                     0);
    assert_true(s.set->events[0].absent && !s.set->events[1].absent && fd_of(s.set, 0, 0) < 0);
    close_it();
}

static int paranoid(const struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd)
{
    (void)pid, (void)cpu, (void)group_fd;
    return attr->flags & ATTR_EXCLUDE_KERNEL ? 0 : -EACCES;
}

/* Kernel counting is given up only by what can leave the kernel out and means something without it. */
static void who_steps_down(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int rc;
        const char *what;
    } rows[] = {
        {"cycles", 0, ""},
        {"page-faults", 0, ""},
        {"mem:0x1000:w", 0, ""},
        {"cpu/event=0x3c/", 0, ""},
        {"cs", -EACCES, "paranoid"},
        {"sched:sched_switch", -EACCES, ""},
        {"kprobe:vfs_read", -EACCES, ""},
        {"uprobe:/x:16", -EACCES, ""},
        {"msr/tsc/", -EACCES, ""},
        {"power/energy-pkg/", -EACCES, ""},
        {"cycles:k", -EACCES, ""},
        {"cs:u", -EOPNOTSUPP, "happens in the kernel alone"},
        {"sched:sched_switch:u", -EOPNOTSUPP, "happens in the kernel alone"},
        {"kprobe:vfs_read:u", -EOPNOTSUPP, "happens in the kernel alone"},
        {"kretprobe:vfs_read:h", -EOPNOTSUPP, "happens in the kernel alone"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kernel_reset();
        kernel.open = paranoid;
        int rc = open_it("intel-server", rows[i].text, self(), NULL);
        if (rc != rows[i].rc || !strstr(s.e.what, rows[i].what))
            fail_msg("%s: %d %s", rows[i].text, rc, s.e.what);
        assert_int_equal(s.set ? s.set->notes.n : 0, rc == 0);
        close_it();
    }
    kernel_reset(); /* what a probe in the kernel may be asked */
    assert_int_equal(
        open_it("intel-server", "kprobe:vfs_read:k,kprobe:vfs_read:uk,uprobe:/x:16:u", self(), NULL), 0);
    close_it();
}

/* Of a PMU that is read through one CPU of a socket, and of cores of two kinds. */
static int only_where_it_is(const struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd)
{
    (void)group_fd;
    uint32_t type = attr->type == PERF_HARDWARE ? (uint32_t)(attr->config >> 32) : attr->type;
    struct host_pmu *pmu = type > PERF_BREAKPOINT || type == 4 ? host_pmu_of_type(s.host, type) : NULL;
    const int32_t *list;
    size_t n;
    if (!pmu || host_pmu_cpus(s.host, pmu, &list, &n) < 0)
        return 0;
    if (host_pmu_core(s.host, pmu) == 0 && (pid >= 0 || cpu < 0))
        return -EINVAL;
    for (size_t i = 0; i < n; i++)
        if (cpu < 0 || list[i] == cpu)
            return 0;
    return -ENOENT;
}

static void on_their_cpus(void **state)
{
    (void)state;
    struct rk_value v[4];
    struct rk_error e = {.size = sizeof e};
    const int32_t *list;
    size_t n;
    int rc;

    kernel_reset();
    kernel.open = only_where_it_is;
    assert_int_equal(open_it("intel-server", "cs,imc_0/cas_count_read/", cpus(0, 8), NULL), 0);
    struct host_pmu *pmu = host_pmu_find(s.host, "uncore_imc_0", &rc);
    assert_int_equal(host_pmu_cpus(s.host, pmu, &list, &n), 0);
    assert_int_equal(list[0], 0); /* and others beyond 8 */
    assert_int_equal(kernel.n, 8 + 1);
    assert_true(s.set->partial && !s.set->plain);
    assert_int_equal(rk_set_enable(s.set), 0);
    assert_int_equal(rk_set_total(s.set, v, NULL, 2), 0);
    assert_int_equal(rk_set_read(s.set, 3, v, NULL, 2), 0);
    assert_int_equal(v[1].enabled, 0);
    assert_int_equal(rk_set_explain(s.set, 3, 1, &e), 0);
    assert_int_equal(e.cause, RK_CAUSE_NO_CPU);
    assert_non_null(strstr(e.what, "is not counted on CPU 3"));
    assert_int_equal(rk_set_disable(s.set), 0);
    close_it();

    /* Nowhere: which CPUs have it is said. */
    kernel_reset();
    kernel.open = only_where_it_is;
    assert_int_equal(open_it("intel-server", "imc_0/cas_count_read/", cpus(1, 2), NULL), -ENODEV);
    assert_int_equal(s.e.cause, RK_CAUSE_NO_CPU);
    assert_non_null(strstr(s.e.what, "uncore_imc_0 is counted on CPU 0"));
    assert_int_equal(kernel.n, 0);
    close_it();

    /* A process has no uncore. */
    kernel_reset();
    kernel.open = only_where_it_is;
    assert_int_equal(open_it("intel-server", "imc_0/cas_count_read/", self(), NULL), -EINVAL);
    assert_int_equal(s.e.cause, RK_CAUSE_UNSUPPORTED);
    assert_non_null(strstr(s.e.what, "counts for the machine, not for a process"));
    assert_non_null(strstr(s.e.remedy, "-a"));
    close_it();

    /* cycles on the whole of a hybrid: each kind on its cores, and each carries the side-band of its own. */
    kernel_reset();
    kernel.open = only_where_it_is;
    assert_int_equal(open_it("intel-hybrid", "cycles,instructions", cpus(14, 4),
                             OPTIONS(.period = 1000, .records = RK_RECORDS_TASKS)),
                     0);
    assert_int_equal(kernel.n, 4 * 2 + 1); /* and the question whether a PMU can be said */
    int carriers = 0;
    for (int i = 0; i < kernel.n; i++)
        if (kernel.opened[i].pid == -1 && attr_of(i)->type == PERF_HARDWARE) {
            assert_int_equal(attr_of(i)->config >> 32, kernel.opened[i].cpu < 16 ? 4 : 10);
            carriers += (attr_of(i)->flags & ATTR_TASK) != 0;
        }
    assert_int_equal(carriers, 4);
    assert_int_equal(s.set->n_rings, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(s.set->rings[i].fd >= FIRST_FD);
    close_it();
    /* What is open everywhere carries alone, wherever it stands. */
    kernel_reset();
    kernel.open = only_where_it_is;
    assert_int_equal(open_it("intel-hybrid", "cycles,dummy", cpus(14, 4),
                             OPTIONS(.period = 1000, .records = RK_RECORDS_TASKS)),
                     0);
    for (int i = 0; i < kernel.n; i++)
        assert_int_equal(!!(attr_of(i)->flags & ATTR_TASK), attr_of(i)->type == PERF_SOFTWARE);
    close_it();
}

/* Kernels that don't take a PMU's type in config: before 5.13, and arm64's driver before 6.6. */
static int no_type_in_config(const struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd)
{
    (void)pid, (void)cpu, (void)group_fd;
    return attr->type <= PERF_RAW && attr->type != PERF_SOFTWARE && attr->config >> 32 ? -EINVAL : 0;
}

static int no_type_in_driver(const struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd)
{
    int rc = no_type_in_config(attr, pid, cpu, group_fd);
    return rc < 0 ? -ENOENT : 0;
}

static int nothing_at_all(const struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd)
{
    (void)pid, (void)cpu, (void)group_fd;
    return attr->type == PERF_SOFTWARE ? 0 : -ENOENT;
}

static void generic_on_hybrid(void **state)
{
    (void)state;
    static const struct {
        int (*open)(const struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd);
        int feature;
        const char *machine, *text, *canonical;
    } rows[] = {
        {NULL, 1, "arm64-two", "cycles",
         "armv8_cortex_a53/PERF_COUNT_HW_CPU_CYCLES/,armv8_cortex_a72/PERF_COUNT_HW_CPU_CYCLES/"},
        {no_type_in_driver, 0, "arm64-two", "cycles,armv8_cortex_a53/instructions,name=i/u",
         "armv8_cortex_a53/cpu_cycles/,armv8_cortex_a72/cpu_cycles/,armv8_cortex_a53/inst_retired,name=i/u"},
        {no_type_in_config, 0, "intel-hybrid", "{cycles,instructions}",
         "{cpu_core/cpu-cycles/,cpu_core/instructions/},{cpu_atom/cpu-cycles/,cpu_atom/instructions/}"},
        {nothing_at_all, -ENODEV, "arm64-two", "cycles",
         "armv8_cortex_a53/PERF_COUNT_HW_CPU_CYCLES/,armv8_cortex_a72/PERF_COUNT_HW_CPU_CYCLES/"},
        {no_type_in_config, 0, "intel-server", "cycles", "cycles"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rk_events *events = NULL, *again = NULL;
        struct rk_error e = {.size = sizeof e};
        kernel_reset();
        kernel.open = rows[i].open;
        struct rk_host *host = machine(rows[i].machine);
        if (rk_events_parse(host, rows[i].text, &events, &e) < 0)
            fail_msg("%s on %s: %s", rows[i].text, rows[i].machine, e.what);
        assert_string_equal(rk_events_print(events), rows[i].canonical);
        assert_int_equal(rk_host_feature(host, RK_FEATURE_PMU_TYPE), rows[i].feature);
        assert_int_equal(rk_events_parse(host, rows[i].canonical, &again, &e), 0);
        assert_string_equal(rk_events_print(again), rows[i].canonical);
        rk_events_free(again);
        rk_events_free(events);
        rk_host_free(host);
    }
    /* Without an event of its own for it, it is refused with the reason. */
    struct rk_events *events = NULL;
    struct rk_error e = {.size = sizeof e};
    kernel_reset();
    kernel.open = no_type_in_driver;
    struct rk_host *host = machine("arm64-two");
    assert_int_equal(rk_events_parse(host, "cs,node-loads", &events, &e), -EOPNOTSUPP);
    assert_int_equal(e.cause, RK_CAUSE_KERNEL_OLD);
    assert_int_equal(e.position, 3);
    assert_non_null(strstr(e.what, "arm64 6.6"));
    assert_int_equal(rk_events_parse(host, "armv8_cortex_a72/node-loads/", &events, &e), -EOPNOTSUPP);
    rk_host_free(host);
}

/* What the kernel says to a probe, and to what it has never heard of. */
static int no_place(const struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd)
{
    (void)pid, (void)cpu, (void)group_fd;
    return attr->type == 6 ? -ENOENT : attr->type == 7 ? -EINVAL : 0;
}

static int old_kernel(const struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd)
{
    (void)pid, (void)cpu, (void)group_fd;
    return attr->flags & ATTR_CONTEXT_SWITCH || attr->read_format & FORMAT_LOST ? -EINVAL : 0;
}

static void what_is_said(void **state)
{
    (void)state;
    static const struct {
        const char *text, *what;
        uint32_t cause;
    } rows[] = {
        {"kprobe:no_such", "no such function, or none may be probed there", RK_CAUSE_NO_EVENT},
        {"kretprobe:no_such", "/proc/kallsyms", RK_CAUSE_NO_EVENT},
        {"uprobe:/x:16", "no instruction to probe at this place", RK_CAUSE_NO_EVENT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kernel_reset();
        kernel.open = no_place;
        assert_true(open_it("intel-server", rows[i].text, self(), NULL) < 0);
        assert_int_equal(s.e.cause, rows[i].cause);
        assert_string_equal(s.e.event, rows[i].text);
        if (!strstr(s.e.what, rows[i].what))
            fail_msg("%s: %s", rows[i].text, s.e.what);
        close_it();
    }
    kernel_reset();
    kernel.open = old_kernel;
    assert_int_equal(
        open_it("intel-server", "cpu-clock", self(),
                OPTIONS(.period = 1000, .records = RK_RECORDS_SWITCHES, .flags = RK_SET_NO_INHERIT)),
        -EINVAL);
    assert_int_equal(s.e.cause, RK_CAUSE_KERNEL_OLD);
    assert_non_null(strstr(s.e.what, "context-switch came with Linux 4.3"));
    close_it();
}

static int tear_down(void **state)
{
    (void)state;
    machine("");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modifiers_have_an_effect), cmocka_unit_test(each_time),
        cmocka_unit_test(terms_have_an_effect),     cmocka_unit_test(filters),
        cmocka_unit_test(who_steps_down),           cmocka_unit_test(on_their_cpus),
        cmocka_unit_test(generic_on_hybrid),        cmocka_unit_test(what_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}

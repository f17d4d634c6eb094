/*
 * The list of a made-up machine: files below a fake root, and a kernel that is one function here, in place of
 * src/sys/perf.c.
 */
#include "../export/sink.h"
#include "../fake_root.h"

#include "base/abi.h"
#include "sys/perf.h"

#include <reckon/event.h>
#include <reckon/explain.h>
#include <reckon/list.h>

static struct {
    int level; /* perf_event_paranoid, of a user without rights; INT_MIN: root */
    bool pmu;
    int opens;
} kernel;

int sys_perf_open(struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd, unsigned flags)
{
    bool in_kernel = !(attr->flags & ATTR_EXCLUDE_KERNEL);
    (void)group_fd, (void)flags;
    kernel.opens++;
    assert_true(attr->size >= 64 && attr->flags & ATTR_DISABLED);
    assert_true((pid == 0) == (cpu == -1));
    if (kernel.level >= 3 || (in_kernel && kernel.level >= 2) || (pid < 0 && kernel.level >= 1))
        return -EACCES;
    switch (attr->type) {
    case PERF_HARDWARE:
    case PERF_HW_CACHE:
    case PERF_RAW:
        if (!kernel.pmu || attr->config == HW_BUS_CYCLES)
            return -ENOENT;
        break;
    case PERF_TRACEPOINT:
        return -EINVAL; /* no tracepoint has the number that is asked for */
    case 24:            /* outside the cores: on a CPU, and never without the kernel */
        if (pid == 0 || cpu != 3 || !in_kernel)
            return -EINVAL;
        break;
    case 9: /* uprobe */
        return kernel.level >= -1 ? -EACCES : -EINVAL;
    default:
        break;
    }
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

size_t sys_page_size(void)
{
    return 4096;
}

/* The rest of sys/perf.h, which is never called: so that the library's is not linked. */
#define NEVER(type, name, ...) \
    type name(__VA_ARGS__)     \
    {                          \
        abort();               \
    }
NEVER(int, sys_perf_control, int fd __attribute__((unused)), unsigned request __attribute__((unused)),
      uintptr_t argument __attribute__((unused)))
NEVER(int, sys_perf_control_at, int fd __attribute__((unused)), unsigned request __attribute__((unused)),
      void *argument __attribute__((unused)))
NEVER(int, sys_perf_read, int fd __attribute__((unused)), uint64_t *words __attribute__((unused)),
      size_t n_words __attribute__((unused)))
NEVER(int, sys_perf_map, int fd __attribute__((unused)), size_t ring_bytes __attribute__((unused)),
      int writable __attribute__((unused)), struct perf_page **ret __attribute__((unused)))
NEVER(void, sys_perf_unmap, struct perf_page *page __attribute__((unused)),
      size_t ring_bytes __attribute__((unused)))
NEVER(uint32_t *, sys_fork_word, void)
NEVER(void, sys_fork_word_free, uint32_t *word __attribute__((unused)))

static struct rk_host *host;
static struct rk_list *list;

static void machine(void)
{
    fake_file("proc/self/status", "Name:\tme\nUid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\nSeccomp:\t0\n");
    fake_file("proc/sys/kernel/osrelease", "6.18.0\n");
    fake_file("proc/sys/kernel/perf_event_paranoid", "2\n");
    fake_file("sys/bus/event_source/devices/software/type", "1\n");
    fake_file("sys/bus/event_source/devices/tracepoint/type", "2\n");
    fake_file("sys/bus/event_source/devices/breakpoint/type", "5\n");
    fake_file("sys/bus/event_source/devices/uprobe/type", "9\n");
    for (int i = 0; i < 12; i++) {
        char path[100];
        snprintf(path, sizeof path, "sys/bus/event_source/devices/uncore_imc_%d/type", i);
        fake_file(path, "24\n");
        snprintf(path, sizeof path, "sys/bus/event_source/devices/uncore_imc_%d/cpumask", i);
        fake_file(path, "3\n");
        snprintf(path, sizeof path, "sys/bus/event_source/devices/uncore_imc_%d/format/event", i);
        fake_file(path, "config:0-7\n");
        snprintf(path, sizeof path, "sys/bus/event_source/devices/uncore_imc_%d/format/umask", i);
        fake_file(path, "config:8-15\n");
        snprintf(path, sizeof path, "sys/bus/event_source/devices/uncore_imc_%d/events/cas_count_read", i);
        fake_file(path, "event=0x04,umask=0x03\n");
        snprintf(path, sizeof path, "sys/bus/event_source/devices/uncore_imc_%d/events/cas_count_read.unit",
                 i);
        fake_file(path, "MiB\n");
    }
    fake_file("sys/kernel/tracing/events/enable", "0\n");
    fake_file("sys/kernel/tracing/events/sched/enable", "0\n");
    fake_file("sys/kernel/tracing/events/sched/sched_switch/format",
              "name: sched_switch\nID: 314\nformat:\n"
              "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
              "\n"
              "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
              "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
              "\tfield:const char *next;\toffset:32;\tsize:8;\tsigned:0;\n\nprint fmt: \"x\"\n");
    fake_file("sys/kernel/tracing/events/sched/sched_wakeup/format", "name: sched_wakeup\nnothing\n");
    fake_file("sys/kernel/tracing/events/irq/irq_handler_entry/id", "12\n");
}

static int set_up(void **state)
{
    (void)state;
    memset(&kernel, 0, sizeof kernel);
    kernel.level = -99;
    fake_root();
    machine();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    list = rk_list_free(list);
    host = rk_host_free(host);
    fake_end();
    return 0;
}

static void a_user(int level)
{
    char text[16];
    kernel.level = level;
    snprintf(text, sizeof text, "%d\n", level);
    fake_file("proc/sys/kernel/perf_event_paranoid", text);
    fake_file("proc/self/status",
              "Name:\tme\nUid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\nSeccomp:\t0\n");
}

static void gather(uint32_t flags, const char *pmu, size_t n, const char *const *words)
{
    struct rk_list_options o = {.size = sizeof o, .flags = flags, .words = words, .words_n = n, .pmu = pmu};
    struct rk_error e = {.size = sizeof e};

    rk_list_free(list);
    rk_host_free(host);
    assert_int_equal(rk_host_open(fake_path, &host, &e), 0);
    if (rk_list_open(host, &o, &list, &e) < 0)
        fail_msg("%s", e.what);
}
#define WORDS(...)                                                             \
    (sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)), (const char *[]) \
    {                                                                          \
        __VA_ARGS__                                                            \
    }

static struct rk_list_entry at(size_t index)
{
    struct rk_list_entry entry = {.size = sizeof entry};
    assert_int_equal(rk_list_get(list, index, &entry), 0);
    return entry;
}

static struct rk_list_entry find(const char *name)
{
    for (size_t i = 0; i < rk_list_count(list); i++)
        if (strcmp(at(i).name, name) == 0)
            return at(i);
    fail_msg("%s is not listed", name);
    return (struct rk_list_entry){0};
}

static bool listed(const char *name)
{
    for (size_t i = 0; i < rk_list_count(list); i++)
        if (strcmp(at(i).name, name) == 0)
            return true;
    return false;
}

static void everything_has_a_place(void **state)
{
    static const char *const order[] = {"hardware",   "cache", "software", "pmu uncore_imc_*",
                                        "tracepoint", "raw",   "probe"};
    size_t group = 0;
    (void)state;
    kernel.pmu = true;
    gather(0, NULL, 0, NULL);
    for (size_t i = 0; i < rk_list_count(list); i++) {
        struct rk_list_entry entry = at(i);
        while (group < 7 && strcmp(order[group], entry.group) != 0)
            group++;
        assert_in_range(group, 0, 6); /* in that order */
        assert_true(entry.name[0] && entry.about[0]);
        assert_int_equal(entry.able == RK_ABLE_YES, !entry.what[0]);
    }
    assert_int_equal(group, 6);
    assert_int_equal(find("bus-cycles").able, RK_ABLE_NO);
    assert_int_equal(find("bus-cycles").cause, RK_CAUSE_NO_PMU); /* no core PMU in sysfs */
    assert_int_equal(find("cycles").able, RK_ABLE_YES);
    assert_string_equal(find("task-clock").unit, "ns");
    assert_string_equal(find("task-clock").encoding, "software/config=0x1/");
    assert_int_equal(find("L1-dcache-load-misses").config, 0x10000);
    assert_false(listed("iTLB-stores"));
    assert_int_equal(find("rHEX").form, 1);
    assert_int_equal(find("uprobe:PATH:FUNCTION").able, RK_ABLE_YES);
    assert_int_equal(find("kprobe:FUNCTION[+OFFSET]").cause, RK_CAUSE_NO_PMU);
    struct rk_list_entry entry = {.size = sizeof entry};
    assert_int_equal(rk_list_get(list, rk_list_count(list), &entry), -ERANGE);
}

/* What is listed with an encoding is what the grammar makes of the name. */
static void names_are_events(void **state)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_event event = {.size = sizeof event};
    struct rk_events *events;
    (void)state;
    kernel.pmu = true;
    gather(0, NULL, 0, NULL);
    size_t checked = 0;
    for (size_t i = 0; i < rk_list_count(list); i++) {
        struct rk_list_entry entry = at(i);
        if (!entry.encoded || entry.type > PERF_BREAKPOINT)
            continue;
        if (rk_events_parse(host, entry.name, &events, &e) < 0)
            fail_msg("%s: %s", entry.name, e.what);
        assert_int_equal(rk_events_get(events, 0, &event), 0);
        assert_int_equal(event.type, entry.type);
        assert_int_equal(event.config, entry.config);
        assert_string_equal(event.unit, entry.unit);
        rk_events_free(events);
        checked++;
    }
    assert_int_equal(checked, 10 + 32 + 12);
}

static void words(void **state)
{
    (void)state;
    gather(0, NULL, WORDS("CACHE", "miss"));
    assert_true(listed("cache-misses") && listed("L1-dcache-load-misses") && listed("LLC-store-misses"));
    assert_false(listed("cycles") || listed("cache-references") || listed("branch-misses"));
    gather(0, NULL, WORDS("page_faults")); /* '_' for '-'; in the description too */
    assert_true(listed("page-faults"));
    gather(0, NULL, WORDS("no event has this"));
    assert_int_equal(rk_list_count(list), 0);
    kernel.opens = 0;
    gather(0, NULL, WORDS("cpu-clock"));
    assert_int_equal(rk_list_count(list), 1);
    assert_int_equal(kernel.opens, 2); /* it, and the right to tracepoints */
}

static void instances_are_one(void **state)
{
    (void)state;
    gather(0, NULL, 0, NULL);
    struct rk_list_entry entry = find("uncore_imc_*/cas_count_read/");
    assert_non_null(strstr(entry.about, "reads from memory"));
    assert_non_null(strstr(entry.about, "12 instances"));
    assert_string_equal(entry.encoding, "uncore_imc_*/event=0x04,umask=0x03/");
    assert_string_equal(entry.unit, "MiB");
    assert_int_equal(find("uncore_imc_*/event=…,umask=…/").form, 1);
    assert_false(listed("uncore_imc_0/cas_count_read/"));
    gather(RK_LIST_ALL, NULL, 0, NULL);
    assert_true(listed("uncore_imc_0/cas_count_read/") && listed("uncore_imc_11/cas_count_read/"));
    gather(0, "uncore_imc_7", 0, NULL);
    assert_true(listed("uncore_imc_7/cas_count_read/"));
    assert_int_equal(rk_list_count(list), 2);
}

static void one_pmu(void **state)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_list_options o = {.size = sizeof o, .pmu = "nonsense"};
    struct rk_list *none = (struct rk_list *)1;
    (void)state;
    gather(0, "software", 0, NULL);
    assert_int_equal(rk_list_count(list), 12);
    gather(0, "tracep*", 0, NULL);
    assert_true(listed("sched:*"));
    assert_false(listed("cycles"));
    gather(0, "breakpoint", 0, NULL);
    assert_int_equal(rk_list_count(list), 1);
    assert_int_equal(rk_list_open(host, &o, &none, &e), -ENOENT);
    assert_int_equal(e.cause, RK_CAUSE_NO_PMU);
    assert_non_null(strstr(e.what, "nonsense"));
    assert_ptr_equal(none, (struct rk_list *)1);
}

static void tracepoints(void **state)
{
    (void)state;
    gather(0, NULL, 0, NULL);
    assert_string_equal(find("sched:*").about, "2 tracepoints");
    assert_string_equal(find("irq:*").about, "1 tracepoint");
    assert_int_equal(find("irq:*").able, RK_ABLE_YES);
    gather(0, NULL, WORDS("sched_"));
    assert_true(listed("sched:sched_switch") && listed("sched:sched_wakeup"));
    assert_false(listed("irq:irq_handler_entry"));
    assert_string_equal(find("sched:sched_switch").about, "prev_comm, prev_pid, next");
    gather(RK_LIST_LONG, NULL, WORDS("sched_"));
    assert_string_equal(find("sched:sched_switch").about, "prev_comm, prev_pid, next");
    assert_int_equal(find("sched:sched_switch").config, 314);
    assert_string_equal(find("sched:sched_switch").encoding, "tracepoint/config=0x13a/");
    assert_int_equal(find("sched:sched_wakeup").encoded, 0); /* its format is none */
    gather(RK_LIST_ALL, NULL, 0, NULL);
    assert_true(listed("irq:irq_handler_entry") && listed("sched:sched_switch"));
    assert_string_equal(find("sched:sched_switch").about, ""); /* a thousand files are not read unasked */
}

/* The one file where it can be read; of the system ftrace, which is not in it, what has a number. */
static void tracepoints_from_one_file(void **state)
{
    (void)state;
    fake_file("sys/kernel/tracing/available_events", "sched:sched_switch\nfib6:fib6_lookup\n\nnonsense\n:no_"
                                                     "system\nno_name:\nsched:a_first\nfib:fib_lookup\n"
                                                     "irq:cut_off");
    fake_file("sys/kernel/tracing/events/ftrace/print/id", "5\n");
    fake_file("sys/kernel/tracing/events/ftrace/bprint/format", "name: bprint\nID: 6\n");
    gather(0, "tracepoint", 0, NULL);
    static const char *const systems[] = {"fib:*", "fib6:*", "ftrace:*", "irq:*", "sched:*"};
    assert_int_equal(rk_list_count(list), 5);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(at(i).name, systems[i]);
    assert_string_equal(find("sched:*").about, "2 tracepoints");
    assert_string_equal(find("ftrace:*").about, "1 tracepoint");
    gather(RK_LIST_ALL, "tracepoint", 0, NULL);
    assert_int_equal(rk_list_count(list), 6);
    assert_true(listed("irq:cut_off") && listed("ftrace:print") && listed("sched:sched_switch"));
    assert_string_equal(at(4).name, "sched:a_first");
    fake_file("sys/kernel/tracing/available_events", "");
    gather(0, "tracepoint", 0, NULL);
    assert_int_equal(rk_list_count(list), 1); /* ftrace:* */
    char path[200];
    snprintf(path, sizeof path, "rm '%s/sys/kernel/tracing/available_events'", fake_path);
    assert_int_equal(system(path), 0);
    gather(RK_LIST_ALL, "tracepoint", 0, NULL);
    assert_true(listed("ftrace:print") && listed("sched:sched_wakeup") && !listed("ftrace:bprint"));
}

static void no_tracefs(void **state)
{
    char path[200];
    (void)state;
    snprintf(path, sizeof path, "rm -rf '%s/sys/kernel'", fake_path);
    assert_int_equal(system(path), 0);
    gather(0, NULL, 0, NULL);
    assert_int_equal(find("SYSTEM:NAME").able, RK_ABLE_NO);
    assert_non_null(strstr(find("SYSTEM:NAME").remedy, "mount -t tracefs"));
    gather(0, NULL, WORDS("sched_switch")); /* what could not be searched is said, whatever the word */
    assert_int_equal(rk_list_count(list), 1);
    assert_true(at(0).form && at(0).cause == RK_CAUSE_NO_FILE);
}

/* The right is missing for the kernel: what can be counted without it can be opened. */
static void a_plain_user(void **state)
{
    (void)state;
    kernel.pmu = true;
    a_user(2);
    gather(0, NULL, 0, NULL);
    assert_int_equal(find("page-faults").able, RK_ABLE_YES);
    assert_int_equal(find("cycles").able, RK_ABLE_YES);
    static const char *const kernels[] = {"context-switches", "cpu-migrations", "cgroup-switches", "sched:*"};
    for (size_t i = 0; i < 4; i++) {
        struct rk_list_entry entry = find(kernels[i]);
        assert_int_equal(entry.able, RK_ABLE_NO);
        assert_int_equal(entry.cause, RK_CAUSE_PARANOID);
        assert_non_null(strstr(entry.remedy, "kernel.perf_event_paranoid=1 "));
    }
    assert_int_equal(find("uprobe:PATH:FUNCTION").cause, RK_CAUSE_CAPABILITY);
    /* As stat asks, with the kernel: no level lets a plain user place probes, and none is advised. */
    struct rk_attempt attempt = {.size = sizeof attempt,
                                 .stage = RK_STAGE_OPEN,
                                 .code = -EACCES,
                                 .cpu = -1,
                                 .type = 9,
                                 .flags = RK_ATTEMPT_KERNEL};
    struct rk_error e = {.size = sizeof e};
    rk_explain(host, &attempt, &e);
    assert_int_equal(e.cause, RK_CAUSE_CAPABILITY);
    assert_non_null(strstr(e.what, "probes are for privileged users"));
    assert_null(strstr(e.remedy, "sysctl"));
    a_user(4);
    gather(0, NULL, 0, NULL);
    assert_int_equal(find("page-faults").cause, RK_CAUSE_PARANOID);
    assert_non_null(strstr(find("page-faults").remedy, "kernel.perf_event_paranoid=2 "));
    assert_ptr_equal(find("page-faults").what, find("task-clock").what); /* kept once */
}

static void a_container_without_sysfs(void **state)
{
    char path[200];
    (void)state;
    snprintf(path, sizeof path, "rm -rf '%s/sys'", fake_path);
    assert_int_equal(system(path), 0);
    gather(0, NULL, 0, NULL);
    assert_int_equal(find("page-faults").able, RK_ABLE_YES);
    assert_int_equal(find("cycles").able, RK_ABLE_NO);
    assert_non_null(strstr(find("uprobe:PATH:FUNCTION").what, "sysfs"));
    struct rk_list_options o = {.size = sizeof o, .pmu = "cpu"};
    struct rk_error e = {.size = sizeof e};
    struct rk_list *none;
    assert_int_equal(rk_list_open(host, &o, &none, &e), -ENOENT);
    assert_non_null(strstr(e.what, "cannot list the PMUs"));
}

static void nothing_is_opened(void **state)
{
    (void)state;
    gather(RK_LIST_UNTRIED, NULL, 0, NULL);
    assert_int_equal(kernel.opens, 0);
    assert_int_equal(find("cycles").able, RK_ABLE_UNTRIED);
    assert_non_null(strstr(find("cycles").what, "not tried"));
}

static void json(void **state)
{
    struct rk_error e = {.size = sizeof e};
    int code = -EPIPE;
    struct rk_sink broken = {sizeof broken, 0, write_nothing, &code};
    (void)state;
    gather(RK_LIST_LONG, NULL, 0, NULL);
    forget();
    assert_int_equal(rk_list_export(list, "json", &text_sink, &e), 0);
    validate("list");
    SAME_BY_TWINS(rk_list_export, list, "json");
    contains("{\"name\":\"task-clock\",\"group\":\"software\",");
    contains("\"openable\":false,\"cause\":\"no-pmu\",\"reason\":\"no hardware PMU");
    assert_int_equal(rk_list_export(list, "xml", &text_sink, &e), -EINVAL);
    assert_int_equal(rk_list_export(list, "json", &broken, &e), -EPIPE);
    assert_int_equal(rk_list_export(NULL, "json", &text_sink, &e), -EINVAL);
}

/* Files of sysfs that are empty, huge, no text, or can't be read: the event is listed with the reason, the others too. */
static void wrong_files(void **state)
{
#define UNCORE "sys/bus/event_source/devices/odd/"
    static const char *const unread[] = {"odd/empty/", "odd/huge/", "odd/directory/", "odd/bytes/",
                                         "odd/field/"};
    struct rk_error e = {.size = sizeof e};
    char *huge = malloc((1 << 20) + 1);
    (void)state;
    assert_non_null(huge);
    memset(huge, 'x', 1 << 20);
    huge[1 << 20] = '\0';
    fake_file(UNCORE "type", "30\n");
    fake_file(UNCORE "format/event", "config:0-7\n");
    fake_file(UNCORE "events/good", "event=1\n");
    fake_file(UNCORE "events/empty", "");
    fake_file(UNCORE "events/huge", huge);
    fake_file(UNCORE "events/bytes", "\xff\x1b[31m=1\n");
    fake_file(UNCORE "events/field", "event=1,nothing=1\n");
    fake_file(UNCORE "events/directory/file", "event=1\n");
    fake_file("sys/bus/event_source/devices/typeless/format/event", "config:0-7\n");
    fake_file("sys/bus/event_source/devices/worded/type", "a word\n");
    free(huge);
    gather(RK_LIST_LONG, NULL, 0, NULL);
    assert_int_equal(find("odd/good/").able, RK_ABLE_YES);
    assert_int_equal(find("page-faults").able, RK_ABLE_YES);
    for (size_t i = 0; i < sizeof unread / sizeof *unread; i++) {
        struct rk_list_entry entry = find(unread[i]);
        if (entry.able == RK_ABLE_YES || !entry.what[0])
            fail_msg("%s: %u '%s'", entry.name, entry.able, entry.what);
    }
    forget();
    assert_int_equal(rk_list_export(list, "json", &text_sink, &e), 0);
    validate("list");
    assert_null(strchr(written, '\x1b'));
}

static void arguments(void **state)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_list_options o = {.size = sizeof o, .words_n = 1};
    const char *hole[] = {NULL};
    struct rk_list *none;
    (void)state;
    gather(0, NULL, WORDS("cpu-clock"));
    assert_int_equal(rk_list_open(NULL, NULL, &none, &e), -EINVAL);
    assert_int_equal(rk_list_open(host, NULL, NULL, &e), -EINVAL);
    assert_int_equal(rk_list_open(host, &o, &none, &e), -EINVAL);
    o.words = hole;
    assert_int_equal(rk_list_open(host, &o, &none, &e), -EINVAL);
    o = (struct rk_list_options){0};
    assert_int_equal(rk_list_open(host, &o, &none, &e), -EINVAL);
    assert_int_equal(rk_list_count(NULL), 0);
    assert_int_equal(rk_list_get(NULL, 0, &(struct rk_list_entry){0}), -EINVAL);
    assert_null(rk_list_free(NULL));
}

#define LIST_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIST_TEST(everything_has_a_place),
        LIST_TEST(names_are_events),
        LIST_TEST(words),
        LIST_TEST(instances_are_one),
        LIST_TEST(one_pmu),
        LIST_TEST(tracepoints),
        LIST_TEST(tracepoints_from_one_file),
        LIST_TEST(no_tracefs),
        LIST_TEST(a_plain_user),
        LIST_TEST(a_container_without_sysfs),
        LIST_TEST(nothing_is_opened),
        LIST_TEST(json),
        LIST_TEST(wrong_files),
        LIST_TEST(arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

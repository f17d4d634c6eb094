/* Tracepoints, probes and breakpoints on a machine made of files. */
#include "../fake_tree.h"
#include "event/event.h"
#include "event/glob.h"
#include "mistakes.h"

#include <inttypes.h>
#include <time.h>

static struct rk_host *host;

static int set_up(void **state)
{
    (void)state;
    size_t n;
    host = rk_host_free(host);
    host = fake_machine("intel-server");
    fake_file("sys/kernel/tracing/events/enable", "0\n");
    fake_file("sys/kernel/tracing/events/sched/enable", "0\n");
    fake_file("sys/kernel/tracing/events/sched/sched_switch/id", "372\n");
    fake_file("sys/kernel/tracing/events/sched/sched_wakeup/id", "375\n");
    fake_file("sys/kernel/tracing/events/sched/sched_bad/id", "many\n");
    fake_file("sys/kernel/tracing/events/sched/sched_swoop/format", "name: sched_swoop\n"); /* no number */
    fake_file("sys/kernel/tracing/events/irq/irq_handler_entry/id", "90\n");
    fake_file("proc/kallsyms",
              "ffffffff81000000 T _text\nffffffff81234560 T vfs_read\nffffffff82000010 D jiffies\n"
              "ffffffffc0001000 t ext4_sync\t[ext4]\n0000000000000000 T hidden\n");
    unsigned char *elf = fixture("elf/labels", &n), *pie = fixture("elf/gnu-pie", &(size_t){0});
    fake_bytes("opt/my prog,v2", elf, n);
    fake_bytes("opt/labels", elf, n);
    free(pie);
    pie = fixture("elf/gnu-pie", &n);
    fake_bytes("opt/pie", pie, n);
    free(elf);
    free(pie);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    host = rk_host_free(host);
    fake_end();
    return 0;
}

static void what_they_mean(void **state)
{
    (void)state;
    static const struct {
        const char *text, *canonical, *probe;
        uint32_t type;
        uint64_t config, config1, config2;
        uint32_t bp_type;
    } rows[] = {
        {"sched:sched_switch", "sched:sched_switch", "", 2, 372, 0, 0, 0},
        {"sched:sched_switch:k", "sched:sched_switch:k", "", 2, 372, 0, 0, 0},
        {"sched:sched_[sw]*", "sched:sched_switch,sched:sched_wakeup", "", 2, 372, 0, 0, 0},
        {"*:sched_switch", "sched:sched_switch", "", 2, 372, 0, 0, 0},
        {"i?q:*", "irq:irq_handler_entry", "", 2, 90, 0, 0, 0},
        {"{sched:sched_*,cycles}:k", "{sched:sched_switch:k,sched:sched_wakeup:k,cycles:k}", "", 2, 372, 0, 0,
         0},
        {"sched:sched_switch/period=7,name='a,b'/", "sched:sched_switch/period=7,name='a,b'/", "", 2, 372, 0,
         0, 0},
        {"kprobe:vfs_read", "kprobe:vfs_read", "vfs_read", 6, 0, 0, 0, 0},
        {"kprobe:vfs_read+16:k", "kprobe:vfs_read+0x10:k", "vfs_read", 6, 0, 0, 16, 0},
        {"kretprobe:vfs_read", "kretprobe:vfs_read", "vfs_read", 6, 1, 0, 0, 0},
        {"kprobe:0xffffffff81234560", "kprobe:0xffffffff81234560", "", 6, 0, 0, UINT64_C(0xffffffff81234560),
         0},
        {"kprobe:a+b", "kprobe:a+b+0", "a+b", 6, 0, 0, 0, 0},
        {"kprobe:a+5+0", "kprobe:a+5+0", "a+5", 6, 0, 0, 0, 0},
        {"kprobe:0x1d+3", "kprobe:0x20", "", 6, 0, 0, 0x20, 0},
        {"kprobe:'odd, name'", "kprobe:'odd, name'", "odd, name", 6, 0, 0, 0, 0},
        {"kprobe:'odd, name+4'", "kprobe:'odd, name+0x4'", "odd, name", 6, 0, 0, 4, 0},
        {"uprobe:/opt/labels:0x1234:u", "uprobe:/opt/labels:0x1234:u", "/opt/labels", 7, 0, 0, 0x1234, 0},
        {"uretprobe:'/opt/my prog,v2':16", "uretprobe:'/opt/my prog,v2':0x10", "/opt/my prog,v2", 7, 1, 0, 16,
         0},
        {"mem:0x1000", "mem:0x1000/4:rw", "", 5, 0, 0x1000, 4, 3},
        {"mem:4096/8:w:u", "mem:0x1000/8:w:u", "", 5, 0, 0x1000, 8, 2},
        {"mem:0x1000:x", "mem:0x1000/8:x", "", 5, 0, 0x1000, 8, 4},
        {"mem:0x1000:wr", "mem:0x1000/4:rw", "", 5, 0, 0x1000, 4, 3},
        {"mem:0x1000:u", "mem:0x1000/4:rw:u", "", 5, 0, 0x1000, 4, 3},
        {"mem:jiffies:w", "mem:0xffffffff82000010/4:w", "", 5, 0, UINT64_C(0xffffffff82000010), 4, 2},
        {"mem:jiffies+4/1", "mem:0xffffffff82000014/1:rw", "", 5, 0, UINT64_C(0xffffffff82000014), 1, 3},
        {"mem:ext4_sync:x", "mem:0xffffffffc0001000/8:x", "", 5, 0, UINT64_C(0xffffffffc0001000), 8, 4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rk_events *events = NULL, *again = NULL;
        struct rk_event event = {.size = sizeof event}, same = {.size = sizeof same};
        struct rk_error e = {.size = sizeof e};
        if (rk_events_parse(host, rows[i].text, &events, &e) < 0)
            fail_msg("%s: %s", rows[i].text, e.what);
        assert_int_equal(rk_events_get(events, 0, &event), 0);
        if (event.type != rows[i].type || event.config != rows[i].config ||
            event.config1 != rows[i].config1 || event.config2 != rows[i].config2 ||
            event.bp_type != rows[i].bp_type)
            fail_msg("%s: %u %#" PRIx64 " %#" PRIx64 " %#" PRIx64 " %u", rows[i].text, event.type,
                     event.config, event.config1, event.config2, event.bp_type);
        assert_string_equal(event.probe, rows[i].probe);
        assert_string_equal(rk_events_print(events), rows[i].canonical);
        if (rk_events_parse(host, rk_events_print(events), &again, &e) < 0)
            fail_msg("%s: printed %s: %s", rows[i].text, rk_events_print(events), e.what);
        assert_string_equal(rk_events_print(again), rows[i].canonical);
        assert_int_equal(rk_events_get(again, 0, &same), 0);
        assert_true(same.config2 == event.config2 && same.bp_type == event.bp_type &&
                    same.flags == event.flags);
        assert_string_equal(same.probe, event.probe);
        rk_events_free(events);
        rk_events_free(again);
    }
}

static void what_is_said_of_mistakes(void **state)
{
    (void)state;
    static const struct mistake rows[] = {
        {"sched:sched_swich", -ENOENT, RK_CAUSE_NO_EVENT, 6, "no such tracepoint", "sched_switch"},
        {"shed:sched_switch", -ENOENT, RK_CAUSE_NO_EVENT, 0, "no tracepoints of that system", "sched"},
        {"sched:x*", -ENOENT, RK_CAUSE_NO_EVENT, 6, "no such tracepoint", ""},
        {"sched:sched_bad", -EBADMSG, RK_CAUSE_NO_FILE, 0, "sched_bad", ""},
        {"sched:..", -ENOENT, RK_CAUSE_NO_EVENT, 0, "no such event", ""},
        {"../sched:id", -ENOENT, RK_CAUSE_NO_PMU, 0, "no PMU", ""},
        {"sched:sched_switch:q", -EINVAL, RK_CAUSE_SYNTAX, 19, "no such modifier", ""},
        {"kprobe:", -EINVAL, RK_CAUSE_SYNTAX, 7, "expected a function", ""},
        {"kprobe:'x", -EINVAL, RK_CAUSE_SYNTAX, 7, "quote is not closed", ""},
        {"uprobe:/opt/labels", -EINVAL, RK_CAUSE_SYNTAX, 18, "expected ':'", ""},
        {"uprobe:/opt/labels:", -EINVAL, RK_CAUSE_SYNTAX, 19, "expected a function", ""},
        {"uprobe:/opt/none:main", -ENOENT, RK_CAUSE_NO_FILE, 7, "/opt/none", ""},
        {"uprobe:/proc/kallsyms:main", -ENOEXEC, RK_CAUSE_BAD_FILE, 7, "not an ELF file", ""},
        {"uprobe:/opt/labels:not_there_at_all", -ENOENT, RK_CAUSE_NO_EVENT, 19, "no such symbol", ""},
        {"mem:", -EINVAL, RK_CAUSE_SYNTAX, 4, "expected an address", ""},
        {"mem:0x1000/9", -EINVAL, RK_CAUSE_SYNTAX, 11, "1 to 8 bytes", ""},
        {"mem:0x1000/0", -EINVAL, RK_CAUSE_SYNTAX, 11, "1 to 8 bytes", ""},
        {"mem:0x10000000000000000", -EINVAL, RK_CAUSE_SYNTAX, 4, "64 bits", ""},
        {"mem:0x1000:rr", -EINVAL, RK_CAUSE_SYNTAX, 11, "once", ""},
        {"mem:0x1000:q", -EINVAL, RK_CAUSE_SYNTAX, 11,
         "expected r, w, x or modifiers (ukhGHIpPSDWe), got 'q'", ""},
        {"mem:0x1000:wq", -EINVAL, RK_CAUSE_SYNTAX, 12, "got 'q'", ""},
        {"mem:0x1000:rx", -EINVAL, RK_CAUSE_SYNTAX, 12, "x stands alone", ""},
        {"mem:0x1000:w:q", -EINVAL, RK_CAUSE_SYNTAX, 13, "no such modifier", ""},
#if defined(__x86_64__)
        {"mem:0x1001/8", -EINVAL, RK_CAUSE_SYNTAX, 11, "not a multiple of the length, 8", ""},
        {"mem:0x1001", -EINVAL, RK_CAUSE_SYNTAX, 4, "mem:0x1001/1", ""},
        {"mem:0x1000/3", -EINVAL, RK_CAUSE_SYNTAX, 11, "1, 2, 4 or 8", ""},
        {"mem:0x1000/4:x", -EINVAL, RK_CAUSE_SYNTAX, 11, "to execute, the length is 8", ""},
        {"mem:0x1000:r", -EINVAL, RK_CAUSE_SYNTAX, 11, "reads alone", ""},
#endif
        {"sched:", -EINVAL, RK_CAUSE_SYNTAX, 6, "expected the name of a tracepoint after 'sched:'", ""},
        {"sched:,cycles", -EINVAL, RK_CAUSE_SYNTAX, 6, "the name of a tracepoint", ""},
        {"cycels:", -ENOENT, RK_CAUSE_NO_EVENT, 0, "no such event", "cycles"},
        {"sched:sched_swoop", -EOPNOTSUPP, RK_CAUSE_UNSUPPORTED, 6, "no number", ""},
        {"uprobe:/opt/labels:not_there_at_all", -ENOENT, RK_CAUSE_NO_EVENT, 19, "no such symbol",
         "`readelf -Ws /opt/labels`"},
        {"mem:nowhere", -ENOENT, RK_CAUSE_NO_EVENT, 4, "no such symbol", ""},
        {"mem:hidden", -EACCES, RK_CAUSE_CAPABILITY, 4, "hides", "kptr_restrict"},
    };
    expect_mistakes(host, rows, sizeof rows / sizeof *rows);
}

static void long_patterns(void **state)
{
    (void)state;
    char text[600] = "sched:";
    struct rk_events *events = NULL;
    struct rk_error e = {.size = sizeof e};
    memset(text + 6, '*', 255);
    assert_int_equal(rk_events_parse(host, text, &events, &e), 0);
    assert_int_equal(rk_events_count(events), 2);
    events = rk_events_free(events);
    memset(text + 6, '*', 300);
    assert_int_equal(rk_events_parse(host, text, &events, &e), -EINVAL);
    assert_int_equal(e.position, 6);
    assert_non_null(strstr(e.what, "the pattern is too long"));
}

static uint64_t offset_of(const char *text, int *ret_rc)
{
    struct rk_events *events = NULL;
    struct rk_event event = {.size = sizeof event};
    *ret_rc = rk_events_parse(host, text, &events, NULL);
    if (*ret_rc == 0)
        rk_events_get(events, 0, &event);
    rk_events_free(events);
    return event.config2;
}

/* What has no number can't be opened, and so is not proposed. */
static void nothing_that_cant_be_opened_is_proposed(void **state)
{
    (void)state;
    struct rk_events *events = NULL;
    struct rk_error e = {.size = sizeof e};
    assert_int_equal(rk_events_parse(host, "sched:sched_swopp", &events, &e), -ENOENT);
    assert_string_equal(e.remedy, "`reckon list` shows what there is");
    assert_int_equal(rk_events_parse(host, "sched:enabel", &events, &e), -ENOENT);
    assert_string_equal(e.remedy, "`reckon list` shows what there is");
}

/* What a name cost a file for is remembered: a tracepoint's number for good, a symbol as long as the file is the same. */
static void what_is_remembered(void **state)
{
    (void)state;
    struct rk_events *events = NULL;
    struct rk_event event = {.size = sizeof event};
    size_t n;
    int rc;
    fake_file("sys/kernel/tracing/events/sched/sched_wakeup/id", "999\n");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rk_events_parse(host, "sched:sched_wakeup", &events, NULL), 0);
        rk_events_get(events, 0, &event);
        assert_int_equal(event.config, 999);
        events = rk_events_free(events);
        fake_file("sys/kernel/tracing/events/sched/sched_wakeup/id", "375\n");
    }
    uint64_t first = offset_of("uprobe:/opt/labels:outer", &rc);
    assert_int_equal(rc, 0);
    assert_int_equal(offset_of("uprobe:/opt/labels:outer", &rc), first);
    assert_int_equal(rc, 0);
    unsigned char *elf = fixture("elf/gnu-pie", &n);
    fake_bytes("opt/labels", elf, n);
    free(elf);
    struct timespec tick = {0, 50000000}; /* some ticks of the kernel's */
    nanosleep(&tick, NULL);
    offset_of("uprobe:/opt/labels:outer", &rc);
    assert_int_equal(rc, -ENOENT);
    assert_int_equal(offset_of("uprobe:/opt/labels:function_26", &rc),
                     offset_of("uprobe:/opt/pie:function_26", &rc));
    assert_int_equal(rc, 0);
}

/* What can't be told is not said to be missing. */
static void tracefs_that_does_not_tell(void **state)
{
    (void)state;
    struct rk_host *bare = NULL;
    struct rk_events *events = NULL;
    struct rk_error e = {.size = sizeof e};
    char path[FIXTURE_PATH];
    assert_int_equal(rk_host_open(fixture_path("host/vm-no-pmu", path), &bare, NULL), 0);
    assert_int_equal(rk_events_parse(bare, "sched:sched_switch", &events, &e), -ENOENT);
    assert_int_equal(e.cause, RK_CAUSE_NO_FILE);
    assert_non_null(strstr(e.what, "not mounted"));
    assert_string_equal(e.remedy, "sudo mount -t tracefs tracefs /sys/kernel/tracing");
    assert_int_equal(rk_events_parse(bare, "kprobe:vfs_read", &events, &e), -ENOENT);
    assert_int_equal(e.cause, RK_CAUSE_NO_PMU);
    /* letters that are modifiers: then it is the name that is wrong */
    assert_int_equal(rk_events_parse(bare, "cycels:u", &events, &e), -ENOENT);
    assert_int_equal(e.cause, RK_CAUSE_NO_EVENT);
    rk_host_free(bare);
}

/* A container mounts nothing itself without the capability; one that has it is told as any other machine. */
static void where_tracefs_is_missing(void **state)
{
    (void)state;
    static const struct {
        const char *mark, *bounds, *remedy;
    } rows[] = {
        {".dockerenv", "00000000a80425fb", "docker run -v /sys/kernel/tracing:/sys/kernel/tracing:ro …"},
        {".dockerenv", "000001ffffffffff", "sudo mount -t tracefs tracefs /sys/kernel/tracing"},
        {"elsewhere", "00000000a80425fb", "sudo mount -t tracefs tracefs /sys/kernel/tracing"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rk_events *events = NULL;
        struct rk_error e = {.size = sizeof e};
        struct rk_host *bare = NULL;
        char status[128], before[TEMPORARY];
        snprintf(before, sizeof before, "%s", fake_path);
        fake_root();
        snprintf(status, sizeof status, "Name:\tx\nCapEff:\t0000000000000000\nCapBnd:\t%s\n", rows[i].bounds);
        fake_file(rows[i].mark, "");
        fake_file("proc/self/status", status);
        fake_file("proc/self/uid_map", "0 0 4294967295\n");
        fake_file("proc/self/mountinfo", "");
        assert_int_equal(rk_host_open(fake_path, &bare, NULL), 0);
        assert_int_equal(rk_events_parse(bare, "sched:sched_switch", &events, &e), -ENOENT);
        assert_string_equal(e.remedy, rows[i].remedy);
        rk_host_free(bare);
        fake_end();
        snprintf(fake_path, sizeof fake_path, "%s", before);
    }
}

/* A filter of a megabyte, as other texts of that length in test_parse.c. */
static void a_long_filter(void **state)
{
    (void)state;
    static const char begin[] = "sched:sched_switch/filter='", unit[] = "prev_pid==1||",
                      end[] = "prev_pid==1'/";
    struct rk_events *events = NULL;
    struct rk_error e = {.size = sizeof e};
    char *text = malloc((1 << 20) + 200), *at = text + sprintf(text, "%s", begin);
    assert_non_null(text);
    while (at < text + (1 << 20))
        at += sprintf(at, "%s", unit);
    strcpy(at, end);
    assert_int_equal(rk_events_parse(host, text, &events, &e), -EINVAL);
    assert_int_equal(e.cause, RK_CAUSE_SYNTAX);
    free(text);
}

static void patterns(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *text;
        bool fits;
    } rows[] = {
        {"", "", true},         {"", "a", false},         {"*", "", true},       {"*", "abc", true},
        {"a*", "abc", true},    {"*c", "abc", true},      {"a*c", "abc", true},  {"a*b", "abc", false},
        {"a?c", "abc", true},   {"a?c", "ac", false},     {"[ab]c", "bc", true}, {"[!ab]c", "bc", false},
        {"[a-c]x", "bx", true}, {"[]]", "]", true},       {"[", "[", true},      {"[a", "[a", true},
        {"**a**", "bab", true}, {"*a*b*", "xbxa", false}, {"[^0-9]", "a", true}, {"x[0-9", "x[0-9", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (glob_match(rows[i].pattern, strlen(rows[i].pattern), rows[i].text) != rows[i].fits)
            fail_msg("%s %s", rows[i].pattern, rows[i].text);
    char many[256], a[256];
    for (int i = 0; i < 254; i++)
        many[i] = i % 2 ? 'a' : '*';
    many[254] = 'b';
    memset(a, 'a', 255);
    a[255] = '\0';
    assert_false(glob_match(many, 255, a)); /* at once */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_they_mean, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_said_of_mistakes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tracefs_that_does_not_tell, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_that_cant_be_opened_is_proposed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_patterns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_remembered, set_up, tear_down),
        cmocka_unit_test_setup_teardown(where_tracefs_is_missing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_long_filter, set_up, tear_down),
        cmocka_unit_test(patterns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Filters of tracepoints and probes: what is taken, what is said of mistakes, the term and the call alike. */
#include "../fake_tree.h"
#include "event/event.h"
#include "event/filter.h"
#include "mistakes.h"

#include <reckon/event.h>

#define FORMAT "sys/kernel/tracing/events/sched/sched_switch/format"

static struct rk_host *host;

static int set_up(void **state)
{
    (void)state;
    host = fake_machine("intel-server");
    fake_file("sys/kernel/tracing/events/sched/sched_switch/id", "372\n");
    fake_file(FORMAT, "name: sched_switch\nID: 372\nformat:\n"
                      "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                      "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
                      "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
                      "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
                      "\tfield:const char * why;\toffset:32;\tsize:8;\tsigned:0;\n"
                      "\tfield:__data_loc char[] path;\toffset:40;\tsize:4;\tsigned:0;\n\n"
                      "print fmt: \"\"\n");
    fake_file("sys/kernel/tracing/events/sched/sched_odd/id", "373\n");
    fake_file("sys/kernel/tracing/events/sched/sched_odd/format", "not a format");
    fake_file("sys/kernel/tracing/events/sched/sched_bare/id", "374\n"); /* has none */
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    host = rk_host_free(host);
    fake_end();
    return 0;
}

#define SWITCH "sched:sched_switch/filter="

static void what_is_taken(void **state)
{
    (void)state;
    static const struct {
        const char *text, *filter, *canonical;
    } rows[] = {
        {SWITCH "prev_pid==1/", "prev_pid==1", SWITCH "'prev_pid==1'/"},
        {SWITCH "'prev_pid == 1'/k", "prev_pid == 1", SWITCH "'prev_pid == 1'/k"},
        {SWITCH "\"prev_comm=='a b'\",name=x/", "prev_comm==\"a b\"", SWITCH "'prev_comm==\"a b\"',name=x/"},
        {SWITCH "'prev_comm ~ \"k*,/{}\"'/", "prev_comm ~ \"k*,/{}\"", SWITCH "'prev_comm ~ \"k*,/{}\"'/"},
        {SWITCH "'(prev_pid<3||!(prev_pid>=0x10))&&common_pid!=7'/",
         "(prev_pid<3||!(prev_pid>=0x10))&&common_pid!=7",
         SWITCH "'(prev_pid<3||!(prev_pid>=0x10))&&common_pid!=7'/"},
        {SWITCH "'prev_pid & 1 && cpu==CPUS{0-3} && comm!=\"x\"'/",
         "prev_pid & 1 && cpu==CPUS{0-3} && comm!=\"x\"",
         SWITCH "'prev_pid & 1 && cpu==CPUS{0-3} && comm!=\"x\"'/"},
        {SWITCH "'why.ustring==\"a\" && path==\"/bin\"'/", "why.ustring==\"a\" && path==\"/bin\"",
         SWITCH "'why.ustring==\"a\" && path==\"/bin\"'/"},
        {SWITCH "'prev_pid==1',filter='prev_pid==2',period=3/", "prev_pid==2",
         "sched:sched_switch/period=3,filter='prev_pid==2'/"},
        {"sched:sched_odd/filter='anything==1'/", "anything==1", "sched:sched_odd/filter='anything==1'/"},
        {"sched:sched_bare/filter='anything==1'/", "anything==1", "sched:sched_bare/filter='anything==1'/"},
        {"kprobe:vfs_read/filter='common_pid==1'/", "common_pid==1",
         "kprobe:vfs_read/filter='common_pid==1'/"},
        {"uretprobe:/bin/x:0x10/filter='__probe_ret_ip>0',ref_ctr_offset=16/u", "__probe_ret_ip>0",
         "uretprobe:/bin/x:0x10/ref_ctr_offset=0x10,filter='__probe_ret_ip>0'/u"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rk_events *events = NULL, *again = NULL;
        struct rk_error e = {.size = sizeof e};
        struct rk_event event = {.size = sizeof event}, same = {.size = sizeof same};
        if (rk_events_parse(host, rows[i].text, &events, &e) < 0)
            fail_msg("%s: %s", rows[i].text, e.what);
        assert_int_equal(rk_events_get(events, 0, &event), 0);
        assert_string_equal(event.filter, rows[i].filter);
        assert_string_equal(rk_events_print(events), rows[i].canonical);
        if (rk_events_parse(host, rows[i].canonical, &again, &e) < 0)
            fail_msg("%s: %s", rows[i].canonical, e.what);
        assert_int_equal(rk_events_get(again, 0, &same), 0);
        assert_string_equal(same.filter, event.filter);
        assert_int_equal(same.config, event.config);
        assert_string_equal(rk_events_print(again), rows[i].canonical);
        rk_events_free(events);
        rk_events_free(again);
    }
}

static void what_is_said_of_mistakes(void **state)
{
    (void)state;
    static const struct mistake rows[] = {
        {SWITCH "'prev_pidd==1'/", -EINVAL, RK_CAUSE_SYNTAX, 27, "prev_pidd: the event has no such field",
         "prev_pid"},
        {SWITCH "'prev_pid==1 && pref_comm==\"a\"'/", -EINVAL, RK_CAUSE_SYNTAX, 42, "pref_comm", "prev_comm"},
        {SWITCH "prev_comm==bash/", -EINVAL, RK_CAUSE_SYNTAX, 37, "wants quotes", ""},
        {SWITCH "'prev_pid==\"1\"'/", -EINVAL, RK_CAUSE_SYNTAX, 37, "prev_pid is a number", ""},
        {SWITCH "'prev_pid'/", -EINVAL, RK_CAUSE_SYNTAX, 35, "expected == != <", ""},
        {SWITCH "'prev_pid=1'/", -EINVAL, RK_CAUSE_SYNTAX, 35, "expected == != <", ""},
        {SWITCH "'prev_pid && 1'/", -EINVAL, RK_CAUSE_SYNTAX, 36, "expected == != <", ""},
        {SWITCH "'prev_pid=='/", -EINVAL, RK_CAUSE_SYNTAX, 37, "expected a number", ""},
        {SWITCH "'prev_pid==1 prev_pid==2'/", -EINVAL, RK_CAUSE_SYNTAX, 39, "expected && or ||", ""},
        {SWITCH "'prev_pid==1 &&'/", -EINVAL, RK_CAUSE_SYNTAX, 41, "expected a field", ""},
        {SWITCH "'(prev_pid==1'/", -EINVAL, RK_CAUSE_SYNTAX, 39, "expected ')'", ""},
        {SWITCH "'prev_pid==1)'/", -EINVAL, RK_CAUSE_SYNTAX, 38, "')' without '('", ""},
        {SWITCH "'prev_comm==\"a'/", -EINVAL, RK_CAUSE_SYNTAX, 38, "quote is not closed", ""},
        {SWITCH "'prev_pid==1\"2\"'/", -EINVAL, RK_CAUSE_SYNTAX, 38, "quote stands around", ""},
        {SWITCH "''/", -EINVAL, RK_CAUSE_SYNTAX, 25, "filter wants a text", ""},
        {SWITCH "/", -EINVAL, RK_CAUSE_SYNTAX, 25, "filter wants a text", ""},
        {"sched:sched_switch/filter/", -EINVAL, RK_CAUSE_SYNTAX, 25, "filter wants a text", ""},
        {"sched:sched_switch/fliter='a==1'/", -EINVAL, RK_CAUSE_SYNTAX, 19, "period, freq, filter and name",
         "filter"},
        {"cs/filter='a==1'/", -EINVAL, RK_CAUSE_UNSUPPORTED, 11, "no fields", "tracepoint"},
        {"mem:0x1000:w/filter='a==1'/", -EINVAL, RK_CAUSE_UNSUPPORTED, 21, "no fields", ""},
        {"msr/tsc,filter='a==1'/", -EINVAL, RK_CAUSE_SYNTAX, 8, "no such field", ""},
        {"kprobe:vfs_read/filter='prev_pid==1'/", -EINVAL, RK_CAUSE_SYNTAX, 24, "no such field", ""},
        {"uprobe:/bin/x:1/ref_ctr_offset=0x100000000/", -EINVAL, RK_CAUSE_SYNTAX, 31, "32 bits", ""},
        {"uprobe:/bin/x:1/ref_ctr_offset/", -EINVAL, RK_CAUSE_SYNTAX, 30, "wants a number", ""},
        {"kprobe:x/ref_ctr_offset=1/", -EINVAL, RK_CAUSE_SYNTAX, 9, "filter and name", ""},
        {"cs/name=a'b'/", -EINVAL, RK_CAUSE_SYNTAX, 9, "quote stands around the whole value", ""},
    };
    expect_mistakes(host, rows, sizeof rows / sizeof *rows);
    char long_one[FILTER_MAX + 64];
    snprintf(long_one, sizeof long_one, SWITCH "'prev_pid==%0*d'/", FILTER_MAX, 1);
    struct rk_events *events = NULL;
    assert_int_equal(rk_events_parse(host, long_one, &events, NULL), -EINVAL);
}

static void the_call(void **state)
{
    (void)state;
    struct rk_events *events = NULL;
    struct rk_error e = {.size = sizeof e};
    struct rk_event event = {.size = sizeof event};

    assert_int_equal(rk_events_parse(host, "{sched:sched_switch,cs}:k", &events, &e), 0);
    assert_int_equal(rk_events_filter(host, events, 0, "prev_pid==1", &e), 0);
    assert_string_equal(rk_events_print(events),
                        "{sched:sched_switch/filter='prev_pid==1'/k,context-switches:k}");
    /* What fails changes nothing. */
    assert_int_equal(rk_events_filter(host, events, 0, "prev_pid==1 &", &e), -EINVAL);
    assert_int_equal(e.position, 12);
    assert_int_equal(rk_events_filter(host, events, 0, "", &e), -EINVAL);
    assert_int_equal(rk_events_filter(host, events, 0, "prev_comm==\"it's\"", &e), -EINVAL);
    assert_non_null(strstr(e.what, "quote"));
    assert_int_equal(rk_events_filter(host, events, 1, "prev_pid==1", &e), -EINVAL);
    assert_int_equal(e.cause, RK_CAUSE_UNSUPPORTED);
    assert_int_equal(rk_events_filter(host, events, 2, "prev_pid==1", &e), -ERANGE);
    assert_int_equal(rk_events_filter(NULL, events, 0, "prev_pid==1", &e), -EINVAL);
    assert_int_equal(rk_events_filter(host, NULL, 0, "prev_pid==1", &e), -EINVAL);
    assert_int_equal(rk_events_filter(host, events, 0, NULL, NULL), -EINVAL);
    char most[FILTER_MAX + 1];
    snprintf(most, sizeof most, "prev_pid==%0*d", FILTER_MAX - 10, 1);
    assert_int_equal(rk_events_filter(host, events, 0, most, &e), -EINVAL);
    assert_non_null(strstr(e.what, "with the one it has"));
    assert_string_equal(rk_events_print(events),
                        "{sched:sched_switch/filter='prev_pid==1'/k,context-switches:k}");
    /* A second narrows the first. */
    assert_int_equal(rk_events_filter(host, events, 0, "prev_comm=='a' || prev_comm==\"b\"", &e), 0);
    assert_int_equal(rk_events_get(events, 0, &event), 0);
    assert_string_equal(event.filter, "(prev_pid==1) && (prev_comm==\"a\" || prev_comm==\"b\")");
    struct rk_events *again = NULL;
    assert_int_equal(rk_events_parse(host, rk_events_print(events), &again, &e), 0);
    assert_string_equal(rk_events_print(events), rk_events_print(again));
    rk_events_free(again);
    rk_events_free(events);
}

/* A kernel before 4.20. */
static void no_reference_counter(void **state)
{
    (void)state;
    struct rk_events *events = NULL;
    struct rk_error e = {.size = sizeof e};
    char path[256];
    snprintf(path, sizeof path, "%s/sys/bus/event_source/devices/uprobe/format/ref_ctr_offset", fake_path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rk_events_parse(host, "uprobe:/bin/x:1/ref_ctr_offset=16/", &events, &e), -EOPNOTSUPP);
    assert_int_equal(e.cause, RK_CAUSE_KERNEL_OLD);
    assert_int_equal(e.position, 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_said_of_mistakes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_call, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_reference_counter, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

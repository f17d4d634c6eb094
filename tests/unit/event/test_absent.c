/* rk_events_parse_keep(): what is unknown here stays, with its reason; mistakes of the writer stay errors. */
#include "event/event.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct rk_host *host;

static int set_up(void **state)
{
    (void)state;
    return rk_host_open(NULL, &host, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    host = rk_host_free(host);
    return 0;
}

static struct rk_event event_at(const struct rk_events *events, size_t i)
{
    struct rk_event event = RK_INIT(event);
    assert_int_equal(rk_events_get(events, i, &event), 0);
    return event;
}

/* The names of all events; '-' before those that are absent. */
static void expect(const char *text, const char *const *names)
{
    struct rk_events *events = NULL, *again = NULL;
    struct rk_error e = RK_INIT(e), why = RK_INIT(why);
    size_t n = 0;

    if (rk_events_parse_keep(host, text, &events, &e) < 0)
        fail_msg("%s: %s", text, e.what);
    for (; names[n]; n++) {
        struct rk_event event = event_at(events, n);
        bool absent = names[n][0] == '-';
        assert_string_equal(event.name, names[n] + absent);
        assert_int_equal(!!(event.flags & RK_EVENT_ABSENT), absent);
        if (absent) {
            assert_int_equal(event.type, UINT32_MAX);
            assert_int_equal(rk_events_explain(events, n, &why), 0);
            assert_true(why.code < 0 && why.what[0]);
        } else {
            assert_int_equal(rk_events_explain(events, n, &why), -ENOENT);
        }
    }
    assert_int_equal(rk_events_count(events), n);
    assert_int_equal(rk_events_explain(events, n, &why), -ERANGE);
    /* What is printed gives the same again. */
    if (rk_events_parse_keep(host, rk_events_print(events), &again, &e) < 0)
        fail_msg("%s: %s", rk_events_print(events), e.what);
    assert_string_equal(rk_events_print(again), rk_events_print(events));
    assert_int_equal(rk_events_count(again), n);
    rk_events_free(again);
    rk_events_free(events);
}
#define EXPECT(text, ...) expect(text, (const char *const[]){__VA_ARGS__, NULL})

static void unknown_names_stay(void **state)
{
    (void)state;
    EXPECT("task-clock,nosuchthing", "task-clock", "-nosuchthing");
    EXPECT("nosuchthing:u , task-clock:u", "-nosuchthing:u", "task-clock:u");
    EXPECT("nosuch/event=0x3c,name='a,b/c'/k,task-clock", "-nosuch/event=0x3c,name='a,b/c'/k", "task-clock");
    EXPECT("uprobe:/nosuch/file:main,task-clock/period=1000/", "-uprobe:/nosuch/file:main",
           "task-clock/period=1000/");
    EXPECT("uprobe:/nosuch:main/ref_ctr_offset=1,name=a/,page-faults",
           "-uprobe:/nosuch:main/ref_ctr_offset=1,name=a/", "page-faults");
    EXPECT("kprobe:no_such_function_anywhere,page-faults", "-kprobe:no_such_function_anywhere",
           "page-faults");
    EXPECT("nosuch:event,page-faults", "-nosuch:event", "page-faults");
    EXPECT("task-clock", "task-clock");
}

static void groups_keep_their_places(void **state)
{
    (void)state;
    EXPECT("{nosuch,task-clock,nosuch2:u},page-faults", "-nosuch", "task-clock", "-nosuch2:u", "page-faults");
    EXPECT("{nosuch,task-clock,page-faults}:D", "-nosuch", "task-clock:D", "page-faults:D");
    struct rk_events *events = NULL;
    assert_int_equal(rk_events_parse_keep(host, "{nosuch,task-clock},page-faults", &events, NULL), 0);
    assert_int_equal(event_at(events, 0).group, event_at(events, 1).group);
    assert_int_not_equal(event_at(events, 1).group, event_at(events, 2).group);
    rk_events_free(events);
}

static void reasons_are_those_of_parsing(void **state)
{
    struct rk_events *events = NULL;
    struct rk_error strict = RK_INIT(strict), kept = RK_INIT(kept);
    (void)state;

    assert_int_equal(rk_events_parse(host, "task-clock,page-fautls", &events, &strict), -ENOENT);
    assert_int_equal(rk_events_parse_keep(host, "task-clock,page-fautls", &events, NULL), 0);
    assert_int_equal(rk_events_explain(events, 1, &kept), 0);
    assert_memory_equal(&kept, &strict, sizeof kept);
    assert_int_equal(kept.position, 11);
    assert_non_null(strstr(kept.remedy, "page-faults"));
    rk_events_free(events);
}

static void refused(const char *text, int code, uint32_t cause)
{
    struct rk_events *events = NULL;
    struct rk_error e = RK_INIT(e);

    assert_int_equal(rk_events_parse_keep(host, text, &events, &e), code);
    assert_int_equal(e.code, code);
    assert_int_equal(e.cause, cause);
    assert_null(events);
}

static void mistakes_stay_errors(void **state)
{
    (void)state;
    refused("", -EINVAL, RK_CAUSE_SYNTAX);
    refused("task-clock,", -EINVAL, RK_CAUSE_SYNTAX);
    refused("nosuch,{task-clock", -EINVAL, RK_CAUSE_SYNTAX);
    refused("nosuch,task-clock:Q", -EINVAL, RK_CAUSE_SYNTAX);
    refused("nosuch,task-clock/period=x/", -EINVAL, RK_CAUSE_SYNTAX);
    refused("{nosuch,task-clock}:z", -EINVAL, RK_CAUSE_SYNTAX);
    refused("nosuch}", -EINVAL, RK_CAUSE_SYNTAX);
}

/* A text in which nothing is known is an error: the first one. */
static void nothing_known_is_an_error(void **state)
{
    (void)state;
    refused("nosuch", -ENOENT, RK_CAUSE_NO_EVENT);
    refused("{nosuch,nosuch2},nosuch/x=1/", -ENOENT, RK_CAUSE_NO_EVENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_names_stay),           cmocka_unit_test(groups_keep_their_places),
        cmocka_unit_test(reasons_are_those_of_parsing), cmocka_unit_test(mistakes_stay_errors),
        cmocka_unit_test(nothing_known_is_an_error),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

/*
 * Files of sysfs and tracefs that are not as they should be: empty, a megabyte long, unreadable, with a NUL or bytes that
 * are no text, gone between two looks. Each is told with its name, costs no leak (tools/check sanitize), and harms no
 * other event.
 */
#include "../fake_root.h"
#include "event/event.h"

#include <reckon/list.h>

#define PMU "sys/bus/event_source/devices/box/"
#define TRACING "sys/kernel/tracing/events/"
#define HUGE_BYTES (1 << 20)

static struct rk_host *host;

static int set_up(void **state)
{
    (void)state;
    fake_root();
    fake_file(PMU "type", "77\n");
    fake_file(PMU "format/event", "config:0-7\n");
    fake_file(PMU "format/umask", "config:8-15\n");
    fake_file(PMU "events/good", "event=1,umask=2\n");
    fake_file(PMU "events/bad", "event=3\n");
    fake_file(PMU "events/plain", "event=4\n");
    fake_file(PMU "events/bad.scale", "2.5\n");
    fake_file(PMU "events/bad.unit", "MiB\n");
    fake_file(TRACING "sched/good/id", "5\n");
    fake_file(TRACING "sched/bad/id", "6\n");
    fake_file(TRACING "sched/bad/format",
              "name: bad\nID: 6\nformat:\n\tfield:int pid;\toffset:8;\tsize:4;\tsigned:1;\n");
    fake_file("proc/self/status", "CapEff:\t0\n");
    return rk_host_open(fake_path, &host, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    host = rk_host_free(host);
    fake_end();
    return 0;
}

/* The host anew: it keeps what it has read. */
static void reopen(void)
{
    host = rk_host_free(host);
    assert_int_equal(rk_host_open(fake_path, &host, NULL), 0);
}

static int parse(const char *text, struct rk_error *e)
{
    struct rk_events *events = NULL;
    *e = (struct rk_error){.size = sizeof *e};
    int rc = rk_events_parse(host, text, &events, e);
    assert_true(rc == 0 || (!events && e->code == rc && e->what[0]));
    rk_events_free(events);
    return rc;
}

static void remove_file(const char *path)
{
    char full[512];
    snprintf(full, sizeof full, "%s/%s", fake_path, path);
    remove(full);
}

static const struct {
    const char *file, *event;
} files[] = {
    {PMU "type", "box/good/"},
    {PMU "format/umask", "box/umask=1/"},
    {PMU "format/umask", "box/good/"},
    {PMU "events/bad", "box/bad/"},
    {PMU "events/bad.scale", "box/bad/"},
    {TRACING "sched/bad/id", "sched:bad"},
    {TRACING "sched/bad/format", "sched:bad/filter='pid==1'/"},
};
#define N_FILES (sizeof files / sizeof *files)

static void each_with(const void *bytes, size_t n, bool may_pass_scale)
{
    struct rk_error e;
    for (size_t i = 0; i < N_FILES; i++) {
        tear_down(NULL);
        assert_int_equal(set_up(NULL), 0);
        assert_int_equal(parse(files[i].event, &e), 0);
        remove_file(files[i].file);
        fake_bytes(files[i].file, bytes, n);
        reopen();
        int rc = parse(files[i].event, &e);
        bool passes = strstr(files[i].file, ".scale")
                          ? may_pass_scale
                          : strstr(files[i].file, "/format") && strstr(files[i].file, TRACING);
        if (rc == 0 && !passes)
            fail_msg("%s: %s was taken", files[i].file, files[i].event);
        if (rc < 0 && e.cause != RK_CAUSE_BAD_FILE && e.cause != RK_CAUSE_NO_FILE &&
            e.cause != RK_CAUSE_SYNTAX && e.cause != RK_CAUSE_NO_EVENT)
            fail_msg("%s: %s", files[i].file, e.what);
        assert_int_equal(parse("page-faults", &e), 0);
    }
}

static void empty(void **state)
{
    (void)state;
    each_with("", 0, true);
}

static void huge(void **state)
{
    (void)state;
    char *bytes = malloc(HUGE_BYTES);
    assert_non_null(bytes);
    static const char *const units[] = {
        "7", "a", "config:0-7,", "event=1,", "\n", " ", "field:int a;\toffset:0;", "\xff"};
    for (size_t k = 0; k < sizeof units / sizeof *units; k++) {
        size_t n = strlen(units[k]);
        for (size_t i = 0; i < HUGE_BYTES; i++)
            bytes[i] = units[k][i % n];
        each_with(bytes, HUGE_BYTES, true);
    }
    free(bytes);
}

static void with_a_nul_or_no_text(void **state)
{
    (void)state;
    each_with("\0", 1, true);
    each_with("\xff\xfe\xc3(", 4, true);
    each_with("-1\n", 3, true);
}

/* As a directory, which root can't read either; and by its mode, for all others. */
static void unreadable(void **state)
{
    (void)state;
    struct rk_error e;
    char full[512];
    for (int directory = 0; directory < 2; directory++)
        for (size_t i = 0; i < N_FILES; i++) {
            if (!directory && geteuid() == 0)
                break;
            tear_down(NULL);
            assert_int_equal(set_up(NULL), 0);
            snprintf(full, sizeof full, "%s/%s", fake_path, files[i].file);
            if (directory) {
                remove(full);
                assert_int_equal(mkdir(full, 0755), 0);
            } else {
                assert_int_equal(chmod(full, 0), 0);
            }
            reopen();
            int rc = parse(files[i].event, &e);
            if (rc == 0 && !strstr(full, "sched/bad/format")) /* the kernel knows its fields anyway */
                fail_msg("%s: %s was taken", full, files[i].event);
            assert_int_equal(parse("page-faults", &e), 0);
        }
}

/* Named by its directory, and gone when it is read. */
static void vanished(void **state)
{
    (void)state;
    struct rk_error e;
    assert_int_equal(parse("box/plain/", &e), 0); /* the names are read, and no other's text */
    remove_file(PMU "events/bad");
    remove_file(PMU "format/umask");
    assert_true(parse("box/bad/", &e) < 0);
    assert_non_null(strstr(e.what, "bad"));
    assert_true(parse("box/umask=1/", &e) < 0);
    assert_true(parse("box/good/", &e) < 0); /* which needs the field */
    assert_int_equal(parse("box/event=1/", &e), 0);
    assert_int_equal(parse("sched:bad", &e), 0);
    remove_file(TRACING "sched/bad/format");
    assert_int_equal(parse("sched:bad/filter='pid==1'/", &e), 0); /* the kernel knows its fields anyway */
    remove_file(TRACING "sched/good/id");
    assert_true(parse("sched:good", &e) < 0);
}

/* A field that the alias names and the PMU has not, be it the last, is no event with 0 there. */
static void an_alias_with_a_field_that_is_not_there(void **state)
{
    (void)state;
    static const char *const texts[] = {"event=1,nothing", "nothing", "event=1,nothing=3",
                                        "nothing=?,event=1"};
    struct rk_error e;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        fake_file(PMU "events/bad", texts[i]);
        reopen();
        assert_int_equal(parse("box/bad/", &e), -EBADMSG);
        assert_int_equal(e.cause, RK_CAUSE_BAD_FILE);
        assert_non_null(strstr(e.what, "bad is not understood"));
    }
}

/* What can't be read is still listed, with the reason, and the others are as ever. */
static void listed(void **state)
{
    (void)state;
    char *bytes = malloc(HUGE_BYTES);
    assert_non_null(bytes);
    memset(bytes, 'x', HUGE_BYTES);
    fake_bytes(PMU "events/bad", bytes, HUGE_BYTES);
    fake_bytes(TRACING "sched/bad/format", bytes, HUGE_BYTES);
    free(bytes);
    reopen();
    struct rk_list_options options = {.size = sizeof options,
                                      .flags = RK_LIST_ALL | RK_LIST_LONG | RK_LIST_UNTRIED};
    struct rk_list *list = NULL;
    struct rk_error e = {.size = sizeof e};
    assert_int_equal(rk_list_open(host, &options, &list, &e), 0);
    int good = 0, bad = 0;
    for (size_t i = 0; i < rk_list_count(list); i++) {
        struct rk_list_entry entry = {.size = sizeof entry};
        assert_int_equal(rk_list_get(list, i, &entry), 0);
        good += !strcmp(entry.name, "box/good/") && entry.encoded;
        bad += !strcmp(entry.name, "box/bad/") && entry.able != RK_ABLE_YES && entry.what[0];
    }
    assert_int_equal(good, 1);
    assert_int_equal(bad, 1);
    rk_list_free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(empty, set_up, tear_down),
        cmocka_unit_test_setup_teardown(huge, set_up, tear_down),
        cmocka_unit_test_setup_teardown(with_a_nul_or_no_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unreadable, set_up, tear_down),
        cmocka_unit_test_setup_teardown(vanished, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_alias_with_a_field_that_is_not_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(listed, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

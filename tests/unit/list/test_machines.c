/*
 * The whole list, on the machines of tests/data/host: goldens are NAME.list, one event a line as `reckon list --long --json`
 * has it. GOLDEN=write makes them anew, to be read before they are kept. Nothing is opened: the machines are not this one.
 */
#include "../export/sink.h"
#include "../fake_root.h"
#include "../fake_tree.h"

#include "base/abi.h"

#include <reckon/event.h>
#include <reckon/list.h>

/* The events alone, each on a line of its own. */
static char *by_line(void)
{
    const char *at = strstr(written, "\"events\":[");
    char *text = malloc(2 * written_n + 1), *to = text;

    assert_non_null(at);
    assert_non_null(text);
    for (at += strlen("\"events\":["); *at; at++) {
        if (at[0] == ',' && strncmp(at + 1, "{\"name\"", 7) == 0)
            *to++ = '\n';
        else
            *to++ = *at;
    }
    *to = '\0';
    return text;
}

/* Every name that is no form is an event of the grammar, with that encoding where it has one. */
static void check_names(struct rk_host *host, const struct rk_list *list)
{
    for (size_t i = 0; i < rk_list_count(list); i++) {
        struct rk_list_entry entry = {.size = sizeof entry};
        struct rk_event event = {.size = sizeof event}, same = {.size = sizeof same};
        struct rk_error e = {.size = sizeof e};
        struct rk_events *events, *again;
        assert_int_equal(rk_list_get(list, i, &entry), 0);
        if (entry.form)
            continue;
        if (rk_events_parse(host, entry.name, &events, &e) < 0)
            fail_msg("%s: %s", entry.name, e.what);
        /* Generic events are the core PMU's by another number, which its alias says. */
        bool generic = entry.type == PERF_HARDWARE || entry.type == PERF_HW_CACHE;
        if (entry.encoding[0] && entry.encoded && !generic) {
            if (rk_events_parse(host, entry.encoding, &again, &e) < 0)
                fail_msg("%s: %s", entry.encoding, e.what);
            assert_int_equal(rk_events_get(events, 0, &event), 0);
            assert_int_equal(rk_events_get(again, 0, &same), 0);
            assert_true(event.type == same.type && event.config == same.config &&
                        event.config1 == same.config1 && event.config2 == same.config2);
            assert_true(event.type == entry.type && event.config == entry.config &&
                        event.config1 == entry.config1);
            rk_events_free(again);
        }
        rk_events_free(events);
    }
}

static void golden(const char *name)
{
    struct rk_list_options o = {.size = sizeof o, .flags = RK_LIST_LONG | RK_LIST_UNTRIED};
    struct rk_error e = {.size = sizeof e};
    struct rk_host *host = fake_machine(name);
    struct rk_list *list;
    char path[FIXTURE_PATH], file[64];
    size_t n;

    if (rk_list_open(host, &o, &list, &e) < 0)
        fail_msg("%s: %s", name, e.what);
    forget();
    assert_int_equal(rk_list_export(list, "json", &text_sink, &e), 0);
    validate("list");
    check_names(host, list);
    char *text = by_line();
    snprintf(file, sizeof file, "host/%s.list", name);
    if (getenv("GOLDEN")) {
        FILE *out = fopen(fixture_path(file, path), "we");
        assert_non_null(out);
        fputs(text, out);
        fclose(out);
    }
    char *expected = (char *)fixture(file, &n);
    for (size_t at = 0, line = 1, start = 0; at < n || text[at]; at++) {
        if (at >= n || text[at] != expected[at])
            fail_msg("%s:%zu: not the same: %.*s", file, line, (int)strcspn(text + start, "\n"),
                     text + start);
        if (text[at] == '\n') {
            line++;
            start = at + 1;
        }
    }
    free(expected);
    free(text);
    rk_list_free(list);
    rk_host_free(host);
    fake_end();
}

static void machines(void **state)
{
    static const char *const names[] = {"intel-hybrid", "intel-server", "amd-zen",
                                        "arm64-two",    "vm-no-pmu",    "no-sysfs"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        golden(names[i]);
}

/* Vendors' names: found by words, each with its numbers and the same as a PMU's fields. */
static void vendor(void **state)
{
    static const char *const words[] = {"skx::inst_retired"};
    struct rk_list_options o = {
        .size = sizeof o, .flags = RK_LIST_LONG | RK_LIST_UNTRIED, .words = words, .words_n = 1};
    struct rk_error e = {.size = sizeof e};
    struct rk_list_entry entry = {.size = sizeof entry};
    struct rk_host *host = fake_machine("intel-server");
    struct rk_list *list;
    bool missing = false;
    size_t n = 0;
    (void)state;

    if (rk_list_open(host, &o, &list, &e) < 0)
        fail_msg("%s", e.what);
    for (size_t i = 0; i < rk_list_count(list); i++) {
        assert_int_equal(rk_list_get(list, i, &entry), 0);
        if (entry.form) { /* tracepoints, which this machine shows none of; libpfm4, where it is missing */
            missing |= strcmp(entry.group, "libpfm4") == 0;
            continue;
        }
        assert_int_equal(strncmp(entry.name, "skx::INST_RETIRED", 17), 0);
        if (!entry.encoded)
            fail_msg("%s: %s", entry.name, entry.what);
        assert_int_equal(strncmp(entry.encoding, "cpu/config=0x", 13), 0);
        n++;
    }
    check_names(host, list);
    rk_list_free(list);
    rk_host_free(host);
    fake_end();
    if (missing) {
        print_message("libpfm4 is not installed: run tools/setup\n");
        skip();
    }
#if defined(__x86_64__) || defined(__i386__) /* a libpfm4 has the tables of one architecture */
    assert_in_range(n, 3, 20);
#else
    assert_int_equal(n, 0);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(machines), cmocka_unit_test(vendor)};
    setenv("LIBPFM_FORCE_PMU", "skx", 1); /* a table that fits the machine above, whatever runs this */
    return cmocka_run_group_tests(tests, NULL, NULL);
}

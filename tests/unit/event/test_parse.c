/* The grammar: every spelling, modifiers, groups, and what is said of mistakes. */
#include "event/event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mistakes.h"

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

static struct rk_events *parse(const char *text)
{
    struct rk_events *events = NULL;
    struct rk_error e = {.size = sizeof e};
    if (rk_events_parse(host, text, &events, &e) < 0)
        fail_msg("%.200s: %s", text, e.what);
    return events;
}

static struct rk_event event_at(const struct rk_events *events, size_t i)
{
    struct rk_event event = {.size = sizeof event};
    assert_int_equal(rk_events_get(events, i, &event), 0);
    return event;
}

static void expect(const char *text, uint32_t type, uint64_t config)
{
    struct rk_events *events = parse(text);
    struct rk_event event = event_at(events, 0);
    assert_int_equal(rk_events_count(events), 1);
    if (event.type != type || event.config != config)
        fail_msg("%s: type %u config %#llx, not %u %#llx", text, event.type, (unsigned long long)event.config,
                 type, (unsigned long long)config);
    assert_string_equal(event.name, text);
    assert_true(event.scale == 1.0);
    rk_events_free(events);
}

static void hardware_and_software_in_every_spelling(void **state)
{
    (void)state;
    static const struct {
        uint32_t type;
        uint64_t config;
        const char *names[6];
    } rows[] = {
        {PERF_TYPE_HARDWARE,
         PERF_COUNT_HW_CPU_CYCLES,
         {"cycles", "cpu-cycles", "CPU_CYCLES", "PERF_COUNT_HW_CPU_CYCLES", "Cycles"}},
        {PERF_TYPE_HARDWARE,
         PERF_COUNT_HW_INSTRUCTIONS,
         {"instructions", "INSTRUCTIONS", "PERF_COUNT_HW_INSTRUCTIONS"}},
        {PERF_TYPE_HARDWARE,
         PERF_COUNT_HW_CACHE_REFERENCES,
         {"cache-references", "CACHE_REFERENCES", "PERF_COUNT_HW_CACHE_REFERENCES"}},
        {PERF_TYPE_HARDWARE,
         PERF_COUNT_HW_CACHE_MISSES,
         {"cache-misses", "CACHE_MISSES", "PERF_COUNT_HW_CACHE_MISSES"}},
        {PERF_TYPE_HARDWARE,
         PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
         {"branches", "branch-instructions", "BRANCH_INSTRUCTIONS", "PERF_COUNT_HW_BRANCH_INSTRUCTIONS"}},
        {PERF_TYPE_HARDWARE,
         PERF_COUNT_HW_BRANCH_MISSES,
         {"branch-misses", "BRANCH_MISSES", "PERF_COUNT_HW_BRANCH_MISSES"}},
        {PERF_TYPE_HARDWARE,
         PERF_COUNT_HW_BUS_CYCLES,
         {"bus-cycles", "BUS_CYCLES", "PERF_COUNT_HW_BUS_CYCLES"}},
        {PERF_TYPE_HARDWARE,
         PERF_COUNT_HW_STALLED_CYCLES_FRONTEND,
         {"stalled-cycles-frontend", "idle-cycles-frontend", "STALLED_CYCLES_FRONTEND",
          "PERF_COUNT_HW_STALLED_CYCLES_FRONTEND"}},
        {PERF_TYPE_HARDWARE,
         PERF_COUNT_HW_STALLED_CYCLES_BACKEND,
         {"stalled-cycles-backend", "idle-cycles-backend", "STALLED_CYCLES_BACKEND",
          "PERF_COUNT_HW_STALLED_CYCLES_BACKEND"}},
        {PERF_TYPE_HARDWARE,
         PERF_COUNT_HW_REF_CPU_CYCLES,
         {"ref-cycles", "REF_CPU_CYCLES", "PERF_COUNT_HW_REF_CPU_CYCLES"}},
        {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, {"cpu-clock", "CPU_CLOCK", "PERF_COUNT_SW_CPU_CLOCK"}},
        {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, {"task-clock", "PERF_COUNT_SW_TASK_CLOCK"}},
        {PERF_TYPE_SOFTWARE,
         PERF_COUNT_SW_PAGE_FAULTS,
         {"page-faults", "faults", "PAGE_FAULTS", "PERF_COUNT_SW_PAGE_FAULTS"}},
        {PERF_TYPE_SOFTWARE,
         PERF_COUNT_SW_CONTEXT_SWITCHES,
         {"context-switches", "cs", "CONTEXT_SWITCHES", "PERF_COUNT_SW_CONTEXT_SWITCHES"}},
        {PERF_TYPE_SOFTWARE,
         PERF_COUNT_SW_CPU_MIGRATIONS,
         {"cpu-migrations", "migrations", "CPU_MIGRATIONS", "PERF_COUNT_SW_CPU_MIGRATIONS"}},
        {PERF_TYPE_SOFTWARE,
         PERF_COUNT_SW_PAGE_FAULTS_MIN,
         {"minor-faults", "PAGE_FAULTS_MIN", "PERF_COUNT_SW_PAGE_FAULTS_MIN"}},
        {PERF_TYPE_SOFTWARE,
         PERF_COUNT_SW_PAGE_FAULTS_MAJ,
         {"major-faults", "PAGE_FAULTS_MAJ", "PERF_COUNT_SW_PAGE_FAULTS_MAJ"}},
        {PERF_TYPE_SOFTWARE,
         PERF_COUNT_SW_ALIGNMENT_FAULTS,
         {"alignment-faults", "ALIGNMENT_FAULTS", "PERF_COUNT_SW_ALIGNMENT_FAULTS"}},
        {PERF_TYPE_SOFTWARE,
         PERF_COUNT_SW_EMULATION_FAULTS,
         {"emulation-faults", "EMULATION_FAULTS", "PERF_COUNT_SW_EMULATION_FAULTS"}},
        {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, {"dummy", "PERF_COUNT_SW_DUMMY"}},
        {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT, {"bpf-output", "PERF_COUNT_SW_BPF_OUTPUT"}},
        {PERF_TYPE_SOFTWARE, 11, {"cgroup-switches", "CGROUP_SWITCHES", "PERF_COUNT_SW_CGROUP_SWITCHES"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t k = 0; k < 6 && rows[i].names[k]; k++)
            expect(rows[i].names[k], rows[i].type, rows[i].config);
        /* The first is the canonical one. */
        struct rk_events *events = parse(rows[i].names[1]);
        assert_string_equal(rk_events_print(events), rows[i].names[0]);
        rk_events_free(events);
    }
}

static void caches_in_every_spelling(void **state)
{
    (void)state;
    static const char *const perf_caches[] = {"L1-dcache", "L1-icache", "LLC", "dTLB",
                                              "iTLB",      "branch",    "node"};
    static const char *const perf_operations[][2] = {
        {"loads", "load-misses"}, {"stores", "store-misses"}, {"prefetches", "prefetch-misses"}};
    static const char *const caches[] = {"L1D", "L1I", "LL", "DTLB", "ITLB", "BPU", "NODE"};
    static const char *const operations[] = {"READ", "WRITE", "PREFETCH"}, *const results[] = {"ACCESS",
                                                                                               "MISS"};
    char name[128];
    for (unsigned c = 0; c < 7; c++)
        for (unsigned o = 0; o < 3; o++)
            for (unsigned r = 0; r < 2; r++) {
                uint64_t config = c | o << 8 | r << 16;
                snprintf(name, sizeof name, "%s-%s", perf_caches[c], perf_operations[o][r]);
                expect(name, PERF_TYPE_HW_CACHE, config);
                struct rk_events *events = parse(name);
                assert_string_equal(rk_events_print(events), name); /* perf's spelling is the canonical one */
                rk_events_free(events);
                snprintf(name, sizeof name, "%s_%s_%s", caches[c], operations[o], results[r]);
                expect(name, PERF_TYPE_HW_CACHE, config);
                snprintf(name, sizeof name, "PERF_COUNT_HW_CACHE_%s_%s_%s", caches[c], operations[o],
                         results[r]);
                expect(name, PERF_TYPE_HW_CACHE, config);
            }
    /* perf's other words, either order, defaults */
    expect("L1-dcache", PERF_TYPE_HW_CACHE, 0);
    expect("l1-d-misses", PERF_TYPE_HW_CACHE, 0x10000);
    expect("L1-instruction-speculative-read-refs", PERF_TYPE_HW_CACHE, 0x201);
    expect("Data-TLB-misses-store", PERF_TYPE_HW_CACHE, 0x10103);
    expect("i-tlb-load-reference", PERF_TYPE_HW_CACHE, 4);
    expect("btb-read-miss", PERF_TYPE_HW_CACHE, 0x10005);
    expect("L2-ops", PERF_TYPE_HW_CACHE, 2);
}

static void raw_events(void **state)
{
    (void)state;
    expect("r1a8", PERF_TYPE_RAW, 0x1a8);
    expect("r0", PERF_TYPE_RAW, 0);
    expect("rFFFFFFFFFFFFFFFF", PERF_TYPE_RAW, UINT64_MAX);
    expect("r0x1A8", PERF_TYPE_RAW, 0x1a8);
    expect("r0000000000000001", PERF_TYPE_RAW, 1);
    struct rk_events *events = parse("r001A8:u");
    assert_string_equal(rk_events_print(events), "r1a8:u");
    rk_events_free(events);
}

static void modifiers(void **state)
{
    (void)state;
    static const struct {
        const char *text, *canonical;
        uint32_t flags, precise;
    } rows[] = {
        {"cycles", "cycles", 0, 0},
        {"cycles:u", "cycles:u", RK_EVENT_USER, 0},
        {"cycles:k", "cycles:k", RK_EVENT_KERNEL, 0},
        {"cycles:ku", "cycles:uk", RK_EVENT_USER | RK_EVENT_KERNEL, 0},
        {"cycles:h", "cycles:h", RK_EVENT_HYPERVISOR, 0},
        {"cycles:GH", "cycles:GH", RK_EVENT_GUEST | RK_EVENT_HOST, 0},
        {"cycles:I", "cycles:I", RK_EVENT_NO_IDLE, 0},
        {"cycles:p", "cycles:p", 0, 1},
        {"cycles:pup", "cycles:upp", RK_EVENT_USER, 2},
        {"cycles:ppp", "cycles:ppp", 0, 3},
        {"cycles:P", "cycles:P", RK_EVENT_PRECISE_MAX, 0},
        {"cycles:S", "cycles:S", RK_EVENT_SAMPLE_READ, 0},
        {"cycles:D", "cycles:D", RK_EVENT_PINNED, 0},
        {"cycles:W", "cycles:W", RK_EVENT_WEAK, 0},
        {"cycles:e", "cycles:e", RK_EVENT_EXCLUSIVE, 0},
        {"cycles:eWDSPpppIHGhku", "cycles:ukhGHIpppPSDWe", 0x7ff, 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rk_events *events = parse(rows[i].text);
        struct rk_event event = event_at(events, 0);
        assert_int_equal(event.flags, rows[i].flags);
        assert_int_equal(event.precise, rows[i].precise);
        assert_string_equal(event.name, rows[i].text);
        assert_string_equal(rk_events_print(events), rows[i].canonical);
        rk_events_free(events);
    }
}

static void groups_and_lists(void **state)
{
    (void)state;
    struct rk_events *events = parse(" cycles:u ,{ branches , branch-misses:k }:up,\n{cs},page-faults\t");
    static const uint32_t group[] = {0, 1, 1, 2, 3}, precise[] = {0, 1, 1, 0, 0};
    static const char *const names[] = {"cycles:u", "branches:up", "branch-misses:kup", "cs", "page-faults"};
    assert_int_equal(rk_events_count(events), 5);
    for (size_t i = 0; i < 5; i++) {
        struct rk_event event = event_at(events, i);
        assert_int_equal(event.group, group[i]);
        assert_int_equal(event.precise, precise[i]);
        assert_string_equal(event.name, names[i]);
    }
    /* As in perf: a group's modifiers are added to the member's. */
    assert_int_equal(event_at(events, 1).flags, RK_EVENT_USER);
    assert_int_equal(event_at(events, 2).flags, RK_EVENT_USER | RK_EVENT_KERNEL);
    assert_string_equal(rk_events_print(events),
                        "cycles:u,{branches:up,branch-misses:ukp},context-switches,page-faults");
    struct rk_event beyond = {.size = sizeof beyond, .type = 77};
    assert_int_equal(rk_events_get(events, 5, &beyond), -ERANGE);
    assert_int_equal(beyond.type, 77);
    beyond.size = 0;
    assert_int_equal(rk_events_get(events, 0, &beyond), -EINVAL);
    rk_events_free(events);

    /* A name shows what its event has: once, behind a slash without a colon, and not in a name of its own. */
    events = parse("{page-faults,cs:u,cs/name=mine/,cs/period=7/}:u,page-faults");
    assert_string_equal(event_at(events, 0).name, "page-faults:u");
    assert_string_equal(event_at(events, 1).name, "cs:u");
    assert_string_equal(event_at(events, 2).name, "mine");
    assert_string_equal(event_at(events, 3).name, "cs/period=7/u");
    assert_string_equal(event_at(events, 4).name, "page-faults");
    rk_events_free(events);

    /* Two groups side by side stay two. */
    events = parse("{cycles,cs},{cs,cycles}");
    assert_int_equal(event_at(events, 1).group, 0);
    assert_int_equal(event_at(events, 2).group, 1);
    assert_string_equal(rk_events_print(events), "{cycles,context-switches},{context-switches,cycles}");
    rk_events_free(events);
}

static void units(void **state)
{
    (void)state;
    struct rk_events *events = parse("task-clock,cycles,cpu-clock:u");
    assert_string_equal(event_at(events, 0).unit, "ns");
    assert_string_equal(event_at(events, 1).unit, "");
    assert_string_equal(event_at(events, 2).unit, "ns");
    rk_events_free(events);
}

static void mistakes_have_a_place_and_a_word(void **state)
{
    (void)state;
    static const struct mistake rows[] = {
        {"", -EINVAL, RK_CAUSE_SYNTAX, 0, "no event is named", "cycles,instructions:u"},
        {" \t\n ", -EINVAL, RK_CAUSE_SYNTAX, 4, "no event is named", ""},
        {"cycels", -ENOENT, RK_CAUSE_NO_EVENT, 0, "cycels: no such event",
         "did you mean cycles? `reckon list` shows what there is"},
        {"cycles,instrcutions:u", -ENOENT, RK_CAUSE_NO_EVENT, 7, "instrcutions: no such event",
         "did you mean instructions?"},
        {"PERF_COUNT_HW_INSTRUCTION", -ENOENT, RK_CAUSE_NO_EVENT, 0, "no such event",
         "did you mean instructions?"},
        {"PERF_COUNT_HW_PAGE_FAULTS", -ENOENT, RK_CAUSE_NO_EVENT, 0, "no such event", "page-faults"},
        {"PERF_COUNT_SW_CPU_CYCLES", -ENOENT, RK_CAUSE_NO_EVENT, 0, "no such event", ""},
        {"PERF_COUNT_HW_L1D_READ_MISS", -ENOENT, RK_CAUSE_NO_EVENT, 0, "no such event", ""},
        {"cache", -ENOENT, RK_CAUSE_NO_EVENT, 0, "cache: no such event", "cache-misses or cache-references"},
        {"L1-dcache-lod-misses", -ENOENT, RK_CAUSE_NO_EVENT, 0, "", "L1-dcache-load-misses"},
        {"L1-dcache-", -ENOENT, RK_CAUSE_NO_EVENT, 0, "no such event", ""},
        {"L1-dcache-load-load", -ENOENT, RK_CAUSE_NO_EVENT, 0, "no such event", ""},
        {"L1-dcache-miss-access", -ENOENT, RK_CAUSE_NO_EVENT, 0, "no such event", ""},
        {"qqqqqqqq", -ENOENT, RK_CAUSE_NO_EVENT, 0, "qqqqqqqq: no such event",
         "`reckon list` shows what there is"},
        {"r", -ENOENT, RK_CAUSE_NO_EVENT, 0, "r: no such event", ""},
        {"r0x", -ENOENT, RK_CAUSE_NO_EVENT, 0, "no such event", ""},
        {"r1g", -ENOENT, RK_CAUSE_NO_EVENT, 0, "no such event", ""},
        {"r11112222333344445", -EINVAL, RK_CAUSE_SYNTAX, 17, "16 hexadecimal digits at most", ""},
        {"cycles,", -EINVAL, RK_CAUSE_SYNTAX, 7, "expected an event, got the end", ""},
        {",cycles", -EINVAL, RK_CAUSE_SYNTAX, 0, "expected an event, got ','", ""},
        {"cycles,,cs", -EINVAL, RK_CAUSE_SYNTAX, 7, "expected an event, got ','", ""},
        {"cycles cs", -EINVAL, RK_CAUSE_SYNTAX, 7, "expected ',' or the end, got 'c'", ""},
        {"cycles:", -EINVAL, RK_CAUSE_SYNTAX, 7, "expected modifiers (ukhGHIpPSDWe) after ':', got the end",
         ""},
        {"cycles:,cs", -EINVAL, RK_CAUSE_SYNTAX, 7, "got ','", ""},
        {"cycles:ux", -EINVAL, RK_CAUSE_SYNTAX, 8, "no such modifier: 'x'; there are ukhGHIpPSDWe", ""},
        {"cycles:uku", -EINVAL, RK_CAUSE_SYNTAX, 9, "the modifier 'u' is there twice", ""},
        {"cycles:pppp", -EINVAL, RK_CAUSE_SYNTAX, 10, "more than three p", ""},
        {"cycles:u:k", -EINVAL, RK_CAUSE_SYNTAX, 8, "no such modifier: ':'", ""},
        {"{cycles:pp,cs}:pp", -EINVAL, RK_CAUSE_SYNTAX, 14, "cycles:pp has more than three p", ""},
        {"cs,{cycles,cs:D}", -EINVAL, RK_CAUSE_SYNTAX, 3, "cs:D: D and e are of a whole group", ""},
        {"{cycles:D,cs:e}", -EINVAL, RK_CAUSE_SYNTAX, 0, "cs:e: D and e are of a whole group", ""},
        {"{cycles", -EINVAL, RK_CAUSE_SYNTAX, 7, "expected ',' or '}' in a group, got the end", ""},
        {"{", -EINVAL, RK_CAUSE_SYNTAX, 1, "expected an event, got the end", ""},
        {"{}", -EINVAL, RK_CAUSE_SYNTAX, 1, "expected an event, got '}'", ""},
        {"{cycles,}", -EINVAL, RK_CAUSE_SYNTAX, 8, "expected an event, got '}'", ""},
        {"{cycles,{cs}}", -EINVAL, RK_CAUSE_SYNTAX, 8, "a group can't stand in a group", ""},
        {"{{cycles}}", -EINVAL, RK_CAUSE_SYNTAX, 1, "a group can't stand in a group", ""},
        {"cycles}", -EINVAL, RK_CAUSE_SYNTAX, 6, "'}' without '{'", ""},
        {"{cycles}}", -EINVAL, RK_CAUSE_SYNTAX, 8, "'}' without '{'", ""},
        {"{cycles}:", -EINVAL, RK_CAUSE_SYNTAX, 9, "expected modifiers", ""},
        {"{cycles}u", -EINVAL, RK_CAUSE_SYNTAX, 8, "expected ',' or the end, got 'u'", ""},
        {"{cycles} {cs}", -EINVAL, RK_CAUSE_SYNTAX, 9, "expected ',' or the end, got '{'", ""},
        {"cycles{cs}", -EINVAL, RK_CAUSE_SYNTAX, 6, "expected ',' or the end, got '{'", ""},
        {":u", -EINVAL, RK_CAUSE_SYNTAX, 0, "expected an event, got ':'", ""},
        {"cyc\x01les", -ENOENT, RK_CAUSE_NO_EVENT, 0, "cyc\\x01les: no such event", "cycles"},
        {"\xff\xfe", -ENOENT, RK_CAUSE_NO_EVENT, 0, "\\xff\\xfe: no such event", ""},
        {"zyklen\xc3\xa4", -ENOENT, RK_CAUSE_NO_EVENT, 0, "zyklen\xc3\xa4: no such event", ""},
        {"cycles:\xc3\xa4", -EINVAL, RK_CAUSE_SYNTAX, 7, "no such modifier: '\xc3\xa4'", ""},
        {"cycles:\xc3", -EINVAL, RK_CAUSE_SYNTAX, 7, "no such modifier: '\\xc3'", ""},
        {"cycles \x1b[2J", -EINVAL, RK_CAUSE_SYNTAX, 7, "got '\\x1b'", ""},
        {"%s%n", -ENOENT, RK_CAUSE_NO_EVENT, 0, "%s%n: no such event", ""},
    };
    expect_mistakes(host, rows, sizeof rows / sizeof *rows);
    struct rk_events *events;
    assert_int_equal(rk_events_parse(NULL, "cycles", &events, NULL), -EINVAL);
    assert_int_equal(rk_events_parse(host, NULL, &events, NULL), -EINVAL);
    assert_int_equal(rk_events_parse(host, "cycles", NULL, NULL), -EINVAL);
    assert_null(rk_events_free(NULL));
    assert_int_equal(rk_events_count(NULL), 0);
    assert_int_equal(rk_events_get(NULL, 0, &(struct rk_event){.size = 8}), -EINVAL);
}

/* `unit` again and again, `n` bytes of it, between two ends. */
static char *repeat(const char *begin, const char *unit, size_t n, const char *end)
{
    size_t step = strlen(unit), at = strlen(begin);
    char *text = malloc(at + n + step + strlen(end) + 1);
    assert_non_null(text);
    memcpy(text, begin, at);
    for (size_t got = 0; got < n; got += step, at += step)
        memcpy(text + at, unit, step);
    strcpy(text + at, end);
    return text;
}

static void a_megabyte_of_anything(void **state)
{
    (void)state;
    static const struct {
        const char *begin, *unit, *end;
        int rc;
    } rows[] = {
        {"", "a", "", -ENOENT},
        {"cycles:", "u", "", -EINVAL},
        {"cycles:", "p", "", -EINVAL},
        {"", "{", "", -EINVAL},
        {"", "}", "", -EINVAL},
        {"", ",", "", -EINVAL},
        {"", " ", "", -EINVAL},
        {"cycles", " ", ",cycles", 0},
        {"", "cycles,", "cycles", -E2BIG},
        {"{cycles", ",cycles", "}", -E2BIG},
        {"", "\xff", "", -ENOENT},
        {"r", "0", "", -EINVAL},
        {"L1-dcache", "-load", "", -ENOENT},
        {"cycles,", "l", "", -ENOENT},
        {"cpu/", "a", "/", -ENOENT},
        {"", "a", "/b/", -ENOENT},
        {"", "*", "/b/", -ENOENT},
        {"software/", "config=1,", "/", 0},
        {"software/name=", "n", "/", 0},
        {"software/config=", "9", "/", -EINVAL},
        {"software/name='", "x", "", -EINVAL},
        {"sched:", "*", "", -EINVAL},
        {"", "[", ":x", -EINVAL},
        {"mem:", "1", "", -EINVAL},
        {"mem:/", "a/", ":main", -ENAMETOOLONG},
        {"A_", "B:", "u", -ENOENT},
        {"uprobe:/bin/true:", "m", "", -ENOENT},
        {"\xc3\xbc", "\xc3\xbc", "", -ENOENT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text = repeat(rows[i].begin, rows[i].unit, 1 << 20, rows[i].end);
        struct rk_events *events = NULL;
        struct rk_error e = {.size = sizeof e};
        int rc = rk_events_parse(host, text, &events, &e);
        if (rc != rows[i].rc)
            fail_msg("%s%s…: %d (%s)", rows[i].begin, rows[i].unit, rc, e.what);
        rk_events_free(events);
        free(text);
    }
}

static void at_most_4096(void **state)
{
    (void)state;
    char *text = repeat("", "cs,", 3 * 4095, "cs");
    struct rk_events *events = parse(text);
    struct rk_error e = {.size = sizeof e};
    assert_int_equal(rk_events_count(events), 4096);
    assert_int_equal(event_at(events, 4095).group, 4095);
    rk_events_free(events);
    free(text);
    text = repeat("", "cs,", 3 * 4096, "cs");
    assert_int_equal(rk_events_parse(host, text, &events, &e), -E2BIG);
    assert_int_equal(e.position, 3 * 4096);
    assert_string_equal(e.what, "more than 4096 events in one text");
    free(text);
}

static void same(const struct rk_events *a, const struct rk_events *b)
{
    assert_int_equal(rk_events_count(a), rk_events_count(b));
    for (size_t i = 0; i < rk_events_count(a); i++) {
        struct rk_event x = event_at(a, i), y = event_at(b, i);
        assert_string_equal(x.unit, y.unit);
        x.name = y.name = x.unit = y.unit = NULL; /* the name is as it was written */
        assert_memory_equal(&x, &y, sizeof x);
    }
}

/* parse(print(e)) = e, and printing is stable, for made-up lists. */
static void printing_is_canonical(void **state)
{
    (void)state;
    static const char *const names[] = {
        "cycles", "CPU_CYCLES", "cs",   "faults",     "LL_READ_MISS",        "bpu-write-access",
        "r1",     "rdeadbeef",  "dTLB", "task-clock", "PERF_COUNT_SW_DUMMY", "L1-d"};
    static const char *const letters[] = {"", ":u", ":k", ":ukh", ":p", ":GHI", ":P", ":SW", ":hp"};
    unsigned random = 1;
#define PICK(n) ((random = random * 1103515245 + 12345) >> 16) % (n)
    for (int round = 0; round < 2000; round++) {
        char text[2048] = "";
        bool in_group = false;
        for (unsigned i = 0, n = 1 + PICK(9); i < n; i++) {
            strcat(text, i ? "," : "");
            if (!in_group && PICK(3) == 0) {
                in_group = true;
                strcat(text, "{");
            }
            strcat(text, names[PICK(12)]);
            strcat(text, letters[PICK(9)]);
            if (in_group && (i + 1 == n || PICK(3) == 0)) {
                in_group = false;
                strcat(strcat(text, "}"), letters[PICK(9)]);
            }
        }
        struct rk_events *first = parse(text), *second = parse(rk_events_print(first));
        same(first, second);
        assert_string_equal(rk_events_print(first), rk_events_print(second));
        rk_events_free(first);
        rk_events_free(second);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hardware_and_software_in_every_spelling),
        cmocka_unit_test(caches_in_every_spelling),
        cmocka_unit_test(raw_events),
        cmocka_unit_test(modifiers),
        cmocka_unit_test(groups_and_lists),
        cmocka_unit_test(units),
        cmocka_unit_test(mistakes_have_a_place_and_a_word),
        cmocka_unit_test(a_megabyte_of_anything),
        cmocka_unit_test(at_most_4096),
        cmocka_unit_test(printing_is_canonical),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

/*
 * Every spelling in use, made by a machine from its parts and held against what the kernel's header says of them: perf's
 * names of caches in all combinations and both orders, the ABI's PERF_COUNT_…, and those of the seed's programs. Each in
 * its own case, in lower and in upper, with '-' and with '_'.
 */
#include "../fixture.h"
#include "event/event.h"

#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct rk_host *host;
static unsigned checked;

static void check_one(const char *text, uint32_t type, uint64_t config)
{
    struct rk_events *events = NULL, *again = NULL;
    struct rk_event event = {.size = sizeof event}, same = {.size = sizeof same};
    struct rk_error e = {.size = sizeof e};
    if (rk_events_parse(host, text, &events, &e) < 0)
        fail_msg("%s: %s", text, e.what);
    assert_int_equal(rk_events_count(events), 1);
    assert_int_equal(rk_events_get(events, 0, &event), 0);
    if (event.type != type || event.config != config)
        fail_msg("%s: type %u config %#llx, not %u %#llx", text, event.type, (unsigned long long)event.config,
                 type, (unsigned long long)config);
    assert_string_equal(event.name, text);
    if (rk_events_parse(host, rk_events_print(events), &again, &e) < 0)
        fail_msg("%s is printed as %s: %s", text, rk_events_print(events), e.what);
    assert_int_equal(rk_events_get(again, 0, &same), 0);
    assert_true(same.type == type && same.config == config);
    rk_events_free(events);
    rk_events_free(again);
    checked++;
}

static void check(const char *text, uint32_t type, uint64_t config)
{
    char changed[80];
    check_one(text, type, config);
    for (int way = 0; way < 4; way++) { /* lower, upper; '-', '_' */
        size_t n = 0;
        for (; text[n]; n++) {
            unsigned char c = (unsigned char)text[n];
            c = (unsigned char)(way & 1 ? toupper(c) : tolower(c));
            changed[n] = (char)(c == '-' || c == '_' ? (way & 2 ? '_' : '-') : c);
        }
        changed[n] = '\0';
        check_one(changed, type, config);
    }
}

struct word {
    const char *name;
    uint64_t number;
};
#define N(array) (sizeof(array) / sizeof *(array))

/* As perf's tools/perf/util/evsel.c has them. */
static void caches_of_perf(void **state)
{
    (void)state;
    static const struct word caches[] = {
        {"L1-dcache", 0}, {"l1-d", 0}, {"l1d", 0},   {"L1-data", 0}, {"L1-icache", 1},       {"l1-i", 1},
        {"l1i", 1},       {"LLC", 2},  {"L2", 2},    {"dTLB", 3},    {"L1-instruction", 1},  {"d-tlb", 3},
        {"Data-TLB", 3},  {"iTLB", 4}, {"i-tlb", 4}, {"branch", 5},  {"Instruction-TLB", 4}, {"bpu", 5},
        {"btb", 5},       {"bpc", 5},  {"node", 6},
    };
    static const struct word operations[] = {
        {"load", 0},
        {"loads", 0},
        {"read", 0},
        {"store", 1},
        {"stores", 1},
        {"write", 1},
        {"prefetch", 2},
        {"prefetches", 2},
        {"speculative-read", 2},
        {"speculative-load", 2},
    };
    static const struct word results[] = {
        {"refs", 0}, {"Reference", 0}, {"ops", 0}, {"access", 0}, {"misses", 1}, {"miss", 1},
    };
    char text[80];
    for (size_t c = 0; c < N(caches); c++) {
        bool branch = strcmp(caches[c].name, "branch") == 0; /* branch-misses is the hardware event */
        if (!branch)
            check(caches[c].name, PERF_TYPE_HW_CACHE, caches[c].number);
        for (size_t r = 0; r < N(results) && !branch; r++) {
            snprintf(text, sizeof text, "%s-%s", caches[c].name, results[r].name);
            check(text, PERF_TYPE_HW_CACHE, caches[c].number | results[r].number << 16);
        }
        for (size_t o = 0; o < N(operations); o++) {
            uint64_t config = caches[c].number | operations[o].number << 8;
            snprintf(text, sizeof text, "%s-%s", caches[c].name, operations[o].name);
            check(text, PERF_TYPE_HW_CACHE, config);
            for (size_t r = 0; r < N(results); r++) {
                snprintf(text, sizeof text, "%s-%s-%s", caches[c].name, operations[o].name, results[r].name);
                check(text, PERF_TYPE_HW_CACHE, config | results[r].number << 16);
                snprintf(text, sizeof text, "%s-%s-%s", caches[c].name, results[r].name, operations[o].name);
                check(text, PERF_TYPE_HW_CACHE, config | results[r].number << 16);
            }
        }
    }
}

/* All {L1D,L1I,LL,DTLB,ITLB,BPU,NODE}_{READ,WRITE,PREFETCH}_{ACCESS,MISS}, and with the ABI's prefix. */
static void caches_of_the_abi(void **state)
{
    (void)state;
    static const struct word caches[] = {
        {"L1D", PERF_COUNT_HW_CACHE_L1D},   {"L1I", PERF_COUNT_HW_CACHE_L1I},
        {"LL", PERF_COUNT_HW_CACHE_LL},     {"DTLB", PERF_COUNT_HW_CACHE_DTLB},
        {"ITLB", PERF_COUNT_HW_CACHE_ITLB}, {"BPU", PERF_COUNT_HW_CACHE_BPU},
        {"NODE", PERF_COUNT_HW_CACHE_NODE},
    };
    static const struct word operations[] = {{"READ", PERF_COUNT_HW_CACHE_OP_READ},
                                             {"WRITE", PERF_COUNT_HW_CACHE_OP_WRITE},
                                             {"PREFETCH", PERF_COUNT_HW_CACHE_OP_PREFETCH}};
    static const struct word results[] = {{"ACCESS", PERF_COUNT_HW_CACHE_RESULT_ACCESS},
                                          {"MISS", PERF_COUNT_HW_CACHE_RESULT_MISS}};
    char text[80];
    for (size_t c = 0; c < N(caches); c++)
        for (size_t o = 0; o < N(operations); o++)
            for (size_t r = 0; r < N(results); r++) {
                uint64_t config = caches[c].number | operations[o].number << 8 | results[r].number << 16;
                snprintf(text, sizeof text, "%s_%s_%s", caches[c].name, operations[o].name, results[r].name);
                check(text, PERF_TYPE_HW_CACHE, config);
                snprintf(text, sizeof text, "PERF_COUNT_HW_CACHE_%s_%s_%s", caches[c].name,
                         operations[o].name, results[r].name);
                check(text, PERF_TYPE_HW_CACHE, config);
            }
}

/* The header's name makes three spellings: with its prefix, without, and perf's. */
#define HW(name)                                        \
    {                                                   \
#name, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##name \
    }
#define SW(name)                                        \
    {                                                   \
#name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##name \
    }

static void counts_of_the_abi(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t type;
        uint64_t config;
    } rows[] = {
        HW(CPU_CYCLES),
        HW(INSTRUCTIONS),
        HW(CACHE_REFERENCES),
        HW(CACHE_MISSES),
        HW(BRANCH_INSTRUCTIONS),
        HW(BRANCH_MISSES),
        HW(BUS_CYCLES),
        HW(STALLED_CYCLES_FRONTEND),
        HW(STALLED_CYCLES_BACKEND),
        HW(REF_CPU_CYCLES),
        SW(CPU_CLOCK),
        SW(TASK_CLOCK),
        SW(PAGE_FAULTS),
        SW(CONTEXT_SWITCHES),
        SW(CPU_MIGRATIONS),
        SW(PAGE_FAULTS_MIN),
        SW(PAGE_FAULTS_MAJ),
        SW(ALIGNMENT_FAULTS),
        SW(EMULATION_FAULTS),
        SW(DUMMY),
        SW(BPF_OUTPUT),
        {"CGROUP_SWITCHES", PERF_TYPE_SOFTWARE, 11},
    };
    char text[80];
    assert_int_equal(N(rows), PERF_COUNT_HW_MAX + 12);
    for (size_t i = 0; i < N(rows); i++) {
        check(rows[i].name, rows[i].type, rows[i].config);
        snprintf(text, sizeof text, "PERF_COUNT_%s_%s", rows[i].type == PERF_TYPE_HARDWARE ? "HW" : "SW",
                 rows[i].name);
        check(text, rows[i].type, rows[i].config);
    }
}

static void symbols_of_perf(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t type;
        uint64_t config;
    } rows[] = {
        {"cpu-cycles", 0, 0},
        {"cycles", 0, 0},
        {"instructions", 0, 1},
        {"cache-references", 0, 2},
        {"cache-misses", 0, 3},
        {"branch-instructions", 0, 4},
        {"branches", 0, 4},
        {"branch-misses", 0, 5},
        {"bus-cycles", 0, 6},
        {"stalled-cycles-frontend", 0, 7},
        {"idle-cycles-frontend", 0, 7},
        {"stalled-cycles-backend", 0, 8},
        {"idle-cycles-backend", 0, 8},
        {"ref-cycles", 0, 9},
        {"cpu-clock", 1, 0},
        {"task-clock", 1, 1},
        {"page-faults", 1, 2},
        {"faults", 1, 2},
        {"context-switches", 1, 3},
        {"cs", 1, 3},
        {"cpu-migrations", 1, 4},
        {"migrations", 1, 4},
        {"minor-faults", 1, 5},
        {"major-faults", 1, 6},
        {"alignment-faults", 1, 7},
        {"emulation-faults", 1, 8},
        {"dummy", 1, 9},
        {"bpf-output", 1, 10},
        {"cgroup-switches", 1, 11},
    };
    for (size_t i = 0; i < N(rows); i++)
        check(rows[i].name, rows[i].type, rows[i].config);
}

static int set_up(void **state)
{
    (void)state;
    char path[FIXTURE_PATH];
    return rk_host_open(fixture_path("host/bare-metal", path), &host,
                        NULL); /* no hybrid, wherever this runs */
}

static int tear_down(void **state)
{
    (void)state;
    print_message("%u spellings\n", checked);
    host = rk_host_free(host);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(caches_of_perf),
        cmocka_unit_test(caches_of_the_abi),
        cmocka_unit_test(counts_of_the_abi),
        cmocka_unit_test(symbols_of_perf),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

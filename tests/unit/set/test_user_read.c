/*
 * The user-space read on made-up pages. The counter and the clock are made up too: this file is built with the
 * source itself, under a sys/pmc.h of its own.
 */
#define SYS_PMC_H
#define PMC_CLOCK_SHORT 0
#define PMC_PAGE_LATE 1

#include <stdbool.h>
#include <stdint.h>

static struct {
    uint64_t counter, clock;
    uint32_t last; /* counter that was asked for */
    int reads;
    int moves; /* so many reads see the kernel write the page meanwhile */
    uint32_t *lock;
    uint64_t readable;
} cpu;

static inline bool pmc_read(uint32_t counter, uint64_t *ret)
{
    if (counter >= cpu.readable)
        return false;
    cpu.last = counter;
    cpu.reads++;
    if (cpu.moves > 0) {
        cpu.moves--;
        *cpu.lock += 2;
    }
    *ret = cpu.counter;
    return true;
}

static inline uint64_t pmc_clock(void)
{
    return cpu.clock;
}

#include "../../../src/set/user_read.c" // NOLINT(bugprone-suspicious-include)

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct perf_page page;

static void reset(void)
{
    memset(&cpu, 0, sizeof cpu);
    cpu.lock = &page.lock;
    cpu.readable = 64;
    page = (struct perf_page){
        .lock = 2,
        .index = 3,
        .offset = 1000,
        .time_enabled = 500,
        .time_running = 300,
        .capabilities = PAGE_CAP_USER_RDPMC | PAGE_CAP_USER_TIME,
        .pmc_width = 48,
        .time_mult = 1,
    };
}

static void check(uint64_t value, uint64_t enabled, uint64_t running)
{
    struct rk_value v = {0};

    assert_true(user_read(&page, &v));
    assert_int_equal(v.value, value);
    assert_int_equal(v.enabled, enabled);
    assert_int_equal(v.running, running);
}

static void refuse(void)
{
    struct rk_value v = {1, 2, 3};

    assert_false(user_read(&page, &v));
    assert_int_equal(v.value, 1); /* untouched */
}

/* The kernel starts the counter below zero: its bits are signed, at every width. */
static void test_sign(void **state)
{
    static const uint16_t widths[] = {32, 40, 48, 64};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        reset();
        uint64_t mask = widths[i] == 64 ? UINT64_MAX : (UINT64_C(1) << widths[i]) - 1;
        page.pmc_width = widths[i];
        cpu.counter = 5;
        check(1005, 500, 300);
        assert_int_equal(cpu.last, 2); /* index - 1 */
        cpu.counter = (uint64_t)-5 & mask;
        check(995, 500, 300);
        cpu.counter =
            ((uint64_t)-5 & mask) | (widths[i] == 64 ? 0 : UINT64_C(1) << widths[i]); /* garbage above */
        check(995, 500, 300);
        /* period armed at the half of the range, as arm64 does: offset 2^(w-1)-1, counter -(2^(w-1)-1) + n */
        uint64_t half = (mask >> 1);
        page.offset = (int64_t)half;
        cpu.counter = (0 - half + 123) & mask;
        check(123, 500, 300);
    }
}

/* Not on the PMU: the count is in the page; it is enabled all the same. */
static void test_index_0(void **state)
{
    (void)state;
    reset();
    page.index = 0;
    page.time_offset = 0;
    cpu.clock = 40;
    cpu.counter = 12345;
    check(1000, 540, 300);
    assert_int_equal(cpu.reads, 0);
}

static void test_capabilities(void **state)
{
    (void)state;
    reset();
    page.capabilities = PAGE_CAP_USER_TIME;
    refuse();
    assert_int_equal(cpu.reads, 0);
    page.capabilities = PAGE_CAP_USER_RDPMC; /* times would be old: as on KVM */
    refuse();
    assert_int_equal(cpu.reads, 0);
    uint64_t count = 0; /* a sibling needs no clock */
    assert_true(user_read_count(&page, &count));
    assert_int_equal(count, 1000);
    cpu.reads = 0;
    page.capabilities = 1; /* the deprecated bit 0 */
    refuse();
    reset();
    cpu.readable = 2; /* a counter that has no instruction */
    refuse();
    assert_int_equal(cpu.reads, 0);
}

static void test_lock(void **state)
{
    (void)state;
    reset();
    cpu.counter = 5;
    cpu.moves = 3;
    check(1005, 500, 300);
    assert_int_equal(cpu.reads, 4);
    reset();
    cpu.moves = 1 << 20; /* for ever: the kernel must be asked */
    refuse();
    assert_in_range(cpu.reads, 2, 1000);
    reset();
    page.lock = 3; /* being written */
    refuse();
}

static void test_clock(void **state)
{
    (void)state;
    reset();
    /* 3 GHz as x86 has it: ns = cycles × mult >> shift, and cycles × mult has more than 64 bits */
    page.time_shift = 31;
    page.time_mult = 715827883;
    cpu.clock = UINT64_C(3000000000) * 1000000; /* 11 days */
    page.time_offset = -(UINT64_C(1000000) * 1000000000 - 7);
    struct rk_value v = {0};
    assert_true(user_read(&page, &v));
    /* mult is rounded by 1.6e-10 of its value */
    assert_in_range(v.enabled, 507 + 0, 507 + 700000);
    assert_int_equal(v.enabled - 500, v.running - 300);

    /* a clock that stands a little before the page's time is no jump of 584 years */
    reset();
    page.time_offset = (uint64_t)-50;
    cpu.clock = 40;
    check(1000, 500, 300);
}

static void test_short_clock(void **state)
{
    (void)state;
    reset();
    page.capabilities |= PAGE_CAP_USER_TIME_SHORT;
    page.time_mask = 0xffffff;
    page.time_cycles = UINT64_C(0x123fffff0);
    page.time_offset = -UINT64_C(0x123fffff0);
    cpu.clock = 0x10; /* its 24 bits went round */
    check(1000, 500 + 0x20, 300 + 0x20);
}

/* A page that said nothing when it was mapped: no width, no bits. */
static void test_width(void **state)
{
    (void)state;
    reset();
    page.pmc_width = 0;
    refuse();
    page.pmc_width = 65;
    refuse();
    assert_int_equal(cpu.reads, 0);
    page.pmc_width = 64;
    cpu.counter = 7;
    check(1007, 500, 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sign),  cmocka_unit_test(test_index_0), cmocka_unit_test(test_capabilities),
        cmocka_unit_test(test_lock),  cmocka_unit_test(test_clock),   cmocka_unit_test(test_short_clock),
        cmocka_unit_test(test_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

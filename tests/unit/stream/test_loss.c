/* The sums of what was lost, from records alone; the period that an event really has. */
#include "stream/stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void fixed_periods(void **state)
{
    (void)state;
    const struct {
        struct perf_attr attr;
        uint64_t period;
    } cases[] = {
        {{.type = PERF_SOFTWARE, .config = SW_PAGE_FAULTS, .sample_period = 1}, 1},
        {{.type = PERF_SOFTWARE, .config = SW_PAGE_FAULTS, .sample_period = 100, .flags = ATTR_FREQ}, 0},
        {{.type = PERF_SOFTWARE, .config = SW_CPU_CLOCK, .sample_period = 1000, .flags = ATTR_FREQ}, 1000000},
        {{.type = PERF_SOFTWARE, .config = SW_TASK_CLOCK, .sample_period = 999, .flags = ATTR_FREQ}, 1001001},
        {{.type = PERF_SOFTWARE, .config = SW_CPU_CLOCK, .sample_period = 500000, .flags = ATTR_FREQ}, 10000},
        {{.type = PERF_SOFTWARE, .config = SW_CPU_CLOCK, .sample_period = 250000}, 250000},
        {{.type = PERF_SOFTWARE, .config = SW_CPU_CLOCK, .sample_period = 5}, 10000},
        {{.type = PERF_SOFTWARE, .config = SW_CPU_CLOCK, .sample_period = 0, .flags = ATTR_FREQ}, 0},
        {{.type = PERF_HARDWARE, .config = HW_CYCLES, .sample_period = 4000, .flags = ATTR_FREQ}, 0},
        {{.type = PERF_HARDWARE, .config = HW_CYCLES, .sample_period = 100003}, 100003},
        {{.type = PERF_SOFTWARE, .config = SW_DUMMY}, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(stream_fixed_period(&cases[i].attr), cases[i].period);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fixed_periods)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What can be asked of a processor without a PMU: who I am, and the clock. */
#include "sys/pmc.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void *ask(void *ret)
{
    *(uintptr_t *)ret = pmc_thread();
    return NULL;
}

static void test_thread(void **state)
{
    uintptr_t mine = pmc_thread(), other = 0;
    pthread_t thread;

    (void)state;
    assert_int_equal(mine, pmc_thread());
    assert_int_equal(pthread_create(&thread, NULL, ask, &other), 0);
    pthread_join(thread, NULL);
    assert_true(other != mine);
    assert_int_equal(mine, pmc_thread());
}

static void test_clock(void **state)
{
    uint64_t first = pmc_clock(), last = first;

    (void)state;
    for (int i = 0; i < 100000; i++)
        last = pmc_clock();
    assert_true(last > first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_thread),
        cmocka_unit_test(test_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

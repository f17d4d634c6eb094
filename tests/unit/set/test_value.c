/* Counts by name on a hybrid CPU, where one name is an event of each kind of core. */
#include "../fake_root.h"
#include "../fake_tree.h"
#include "fake_kernel.h"
#include "target/target.h"

/* Each performance core's counter (PMU 4) ran for 8 of 10, each efficient core's for 2 of 10. */
static int by_pmu(int index, uint64_t *w, size_t n)
{
    bool core = kernel.opened[index].attr.config >> 32 == 4;

    (void)n;
    w[0] = core ? 96 : 6;
    w[1] = 10;
    w[2] = core ? 8 : 2;
    return 24;
}

static void test_value(void **state)
{
    struct scene s = {.host = fake_machine("intel-hybrid"), .target = target_new(TARGET_SELF, 0)};
    struct rk_value v = {7, 7, 7};

    (void)state;
    kernel_reset();
    kernel.read = by_pmu;
    assert_int_equal(rk_events_parse(s.host, "cycles,instructions", &s.events, NULL), 0);
    assert_int_equal(rk_set_open(s.host, s.events, s.target, NULL, &s.set, NULL), 0);
    assert_int_equal(rk_set_value(s.set, "nothing", &v), -ENOENT);
    assert_true(v.value == 7 && v.enabled == 7 && v.running == 7);
    assert_int_equal(rk_set_value(s.set, "instructions", &v), 0);
    assert_true(v.value == 102 && v.enabled == 10 && v.running == 10);
    assert_int_equal(rk_set_value(s.set, "cpu_atom/instructions/", &v), 0);
    assert_true(v.value == 6 && v.enabled == 10 && v.running == 2);
    rk_set_free(s.set);
    rk_target_free(s.target);

    /* Of CPUs: 16 performance cores, 8 efficient ones, each PMU scaled by its own times. */
    assert_int_equal(rk_target_cpus(s.host, NULL, &s.target, NULL), 0);
    kernel_reset();
    kernel.read = by_pmu;
    assert_int_equal(rk_set_open(s.host, s.events, s.target, NULL, &s.set, NULL), 0);
    assert_int_equal(rk_set_value(s.set, "instructions", &v), 0);
    assert_true(v.value == 16 * 96 + 8 * 6 && v.enabled == 240);
    assert_true(rk_value_scale(&v, NULL, NULL) == 2160);
    scene_close(&s);
    fake_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_value)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * What is switched, how often, and under whose guard (src/set/toggle.c). That it helps is seen in live/target_kinds.
 */
#include "fake_kernel.h"
#include "target/target.h"

#define ROOT "bare-metal"

static int guards, enables_before; /* opens of a dummy; how often the leader was enabled by then */
static int guard_code;

static int guarding(const struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd)
{
    if (attr->type != PERF_SOFTWARE || attr->config != SW_DUMMY)
        return 0;
    assert_true(pid == 4242 && cpu == -1 && group_fd == -1);
    assert_int_equal(attr->flags & (ATTR_INHERIT | ATTR_DISABLED), ATTR_DISABLED);
    guards++;
    enables_before = kernel.opened[0].enables;
    return guard_code;
}

static void begin(struct scene *s, const char *events, struct rk_target *target,
                  const struct rk_set_options *options)
{
    kernel_reset();
    kernel.open = guarding;
    guards = enables_before = guard_code = 0;
    assert_int_equal(scene_open(s, ROOT, events, target, options), 0);
}

/* Inherited by a thread that may bear others: leaders are switched under a guard, and once more after it. */
static void test_family(void **state)
{
    struct scene s;

    (void)state;
    begin(&s, "{cycles,instructions},page-faults", target_new(TARGET_THREAD, 4242), NULL);
    assert_int_equal(rk_set_enable(s.set), 0);
    assert_true(guards == 1 && enables_before == 0);
    assert_int_equal(kernel.opened[0].enables, 2);
    assert_int_equal(kernel.opened[1].enables, 0);
    assert_int_equal(kernel.opened[2].enables, 2);
    assert_int_equal(rk_set_disable(s.set), 0);
    assert_int_equal(guards, 2);
    assert_int_equal(kernel.opened[0].disables, 2);
    guard_code = -ESRCH; /* it has ended: its children go on */
    assert_int_equal(rk_set_enable(s.set), 0);
    assert_int_equal(kernel.opened[0].enables, 3);
    scene_close(&s);
}

/* A thread that is opened on each CPU has one guard. */
static void test_each_cpu(void **state)
{
    struct scene s;

    (void)state;
    begin(&s, "cycles", target_new(TARGET_THREAD, 4242), OPTIONS(.period = 1000));
    size_t slots = rk_set_slot_count(s.set);
    assert_true(slots > 1);
    assert_int_equal(rk_set_enable(s.set), 0);
    assert_int_equal(guards, 1);
    for (size_t i = 0; i < slots; i++)
        assert_int_equal(kernel.opened[i].enables, 2);
    scene_close(&s);
}

/* Nobody inherits, or nobody bears but the thread that asks: one ioctl on each leader. */
static void test_alone(void **state)
{
    struct scene s;

    (void)state;
    begin(&s, "cycles", target_new(TARGET_THREAD, 4242), OPTIONS(.flags = RK_SET_NO_INHERIT));
    assert_int_equal(rk_set_enable(s.set), 0);
    assert_true(guards == 0 && kernel.opened[0].enables == 1);
    scene_close(&s);
    begin(&s, "cycles", target_new(TARGET_SELF, 0), NULL);
    assert_int_equal(rk_set_enable(s.set), 0);
    assert_true(guards == 0 && kernel.opened[0].enables == 1);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_family),
        cmocka_unit_test(test_each_cpu),
        cmocka_unit_test(test_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

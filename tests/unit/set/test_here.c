/*
 * Threads split by CPU (src/set/here.c): what is opened, and for how long each event could have counted. For real:
 * live/count_cpus.
 */
#include "fake_kernel.h"
#include "target/target.h"

#define MS UINT64_C(1000000)

/* The words of each descriptor: clock, two events; of CPU 0, then of CPU 1. */
static uint64_t words[6][3];

static int reads(int index, uint64_t *to, size_t n)
{
    assert_true(n >= 3 && index < 6);
    memcpy(to, words[index], sizeof words[index]);
    return (int)sizeof words[index];
}

static void begin(struct scene *s, const char *cpus, const struct rk_set_options *options)
{
    struct rk_target *target = target_new(TARGET_THREAD, 4242);
    struct rk_host *host;
    char path[4096];

    kernel_reset();
    kernel.read = reads;
    snprintf(path, sizeof path, "%s/host/bare-metal", getenv("DATA"));
    assert_int_equal(rk_host_open(path, &host, NULL), 0);
    assert_int_equal(rk_target_on_cpus(target, host, cpus, NULL), 0);
    rk_host_free(host);
    assert_int_equal(scene_open(s, "bare-metal", "cycles,instructions", target, options), 0);
}

static void test_opened(void **state)
{
    struct scene s;
    struct rk_plan plan = {.size = sizeof plan};

    (void)state;
    begin(&s, "0,1", NULL);
    assert_int_equal(rk_set_slot_count(s.set), 2);
    assert_int_equal(kernel.n, 6);
    for (int i = 0; i < 6; i++) {
        const struct fake_event *event = &kernel.opened[i];
        assert_int_equal(event->pid, 4242);
        assert_int_equal(event->cpu, i / 3);
        assert_int_equal(event->attr.type == PERF_SOFTWARE, i % 3 == 0);
        assert_int_equal(event->attr.flags & (ATTR_DISABLED | ATTR_INHERIT), ATTR_DISABLED | ATTR_INHERIT);
    }
    assert_int_equal(rk_set_plan(s.host, s.events, s.target, NULL, &plan, &s.e), 0);
    assert_int_equal(plan.slots, 2);
    assert_int_equal(plan.descriptors, 6);
    assert_int_equal(rk_set_enable(s.set), 0);
    for (int i = 0; i < 6; i++)
        assert_true(kernel.opened[i].enables > 0);
    assert_int_equal(rk_set_disable(s.set), 0);
    assert_true(kernel.opened[3].disables > 0);
    scene_close(&s);

    begin(&s, "1", OPTIONS(.flags = RK_SET_ENABLED | RK_SET_NO_INHERIT));
    assert_int_equal(kernel.n, 3);
    assert_int_equal(kernel.opened[0].attr.flags & (ATTR_DISABLED | ATTR_INHERIT), 0);
    scene_close(&s);
}

/* The clock counts whom the events count, when they do: set/policy.c makes both. */
static void test_alike(void **state)
{
    const uint64_t shared =
        ATTR_DISABLED | ATTR_INHERIT | ATTR_INHERIT_THREAD | ATTR_ENABLE_ON_EXEC | ATTR_REMOVE_ON_EXEC;
    const uint32_t flags[] = {0,
                              RK_SET_ENABLED,
                              RK_SET_NO_INHERIT,
                              RK_SET_THREADS_ONLY,
                              RK_SET_ENABLE_ON_EXEC,
                              RK_SET_REMOVE_ON_EXEC,
                              RK_SET_REMOVE_ON_EXEC | RK_SET_ENABLED | RK_SET_THREADS_ONLY};
    struct scene s;

    (void)state;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        begin(&s, "0", OPTIONS(.flags = flags[i]));
        assert_int_equal(kernel.n, 3);
        assert_int_equal(kernel.opened[0].attr.config, SW_DUMMY);
        assert_int_equal(kernel.opened[0].attr.flags & shared, kernel.opened[1].attr.flags & shared);
        scene_close(&s);
    }
}

static void check(struct scene *s, size_t slot, uint64_t first, uint64_t second)
{
    struct rk_value v[2];

    assert_int_equal(rk_set_read(s->set, slot, v, NULL, 2), 0);
    assert_int_equal(v[0].enabled, first);
    assert_int_equal(v[1].enabled, second);
}

static void test_time(void **state)
{
    /* The thread is on CPU 0 while it is read, and time passes; it was there for 400 ms, elsewhere for 600. */
    static const uint64_t here[3][3] = {{0, 1000 * MS, 400 * MS},
                                        {7, 1001 * MS, 401 * MS},  /* counted throughout */
                                        {7, 1002 * MS, 200 * MS}}; /* shared its counter */
    /* Of CPU 1, meanwhile: only the time elsewhere passes. */
    static const uint64_t there[3][3] = {
        {0, 1003 * MS, 500 * MS}, {9, 1004 * MS, 500 * MS}, {0, 1005 * MS, 0}}; /* starved */
    static const uint64_t never[3][3] = {{0, 1006 * MS, 0}, {0, 1007 * MS, 0}, {0, 1008 * MS, 0}};
    struct scene s;
    struct rk_value v[2];

    (void)state;
    begin(&s, "0,1", NULL);
    memcpy(words, here, sizeof here);
    memcpy(words + 3, there, sizeof there);
    check(&s, 0, 401 * MS, 401 * MS);
    check(&s, 1, 500 * MS, 500 * MS);
    assert_int_equal(rk_set_total(s.set, v, NULL, 2), 0);
    assert_int_equal(v[0].value, 16);
    assert_int_equal(v[0].enabled, 901 * MS); /* each slot has its own */
    assert_int_equal(v[0].running, 901 * MS);
    memcpy(words + 3, never, sizeof never);
    check(&s, 1, 0, 0);
    /* All share their counters: it is the clock that says how long. */
    words[1][2] = 100 * MS;
    check(&s, 0, 400 * MS, 400 * MS);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opened),
        cmocka_unit_test(test_alike),
        cmocka_unit_test(test_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

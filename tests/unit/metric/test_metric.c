/* Each figure, and each reason for none. */
#include "../set/fake_kernel.h"
#include "target/target.h"

#include <math.h>
#include <reckon/metric.h>

#define MS UINT64_C(1000000)
#define WALL (20 * MS)

/* The figure beside the index-th event, of counts that ran all the time. */
static int derive(const char *events, const uint64_t *counts, size_t index, struct rk_metric *ret)
{
    struct scene s;
    struct rk_value v[8];

    kernel_reset();
    assert_int_equal(scene_open(&s, "bare-metal", events, target_new(TARGET_SELF, 0), NULL), 0);
    size_t n = rk_set_event_count(s.set);
    for (size_t i = 0; i < n; i++)
        v[i] = (struct rk_value){counts[i], 10 * MS, counts[i] == UINT64_MAX ? 0 : 10 * MS};
    int rc = rk_metric_derive(s.set, v, n, WALL, index, ret);
    scene_close(&s);
    return rc;
}

static void test_figures(void **state)
{
    static const struct {
        const char *events;
        uint64_t counts[3];
        double value;
        const char *name, *unit;
    } table[] = {
        {"instructions,cycles", {300, 200}, 1.5, "ipc", "instructions per cycle"},
        {"instructions:u,cycles,cycles:u", {300, 1000, 150}, 2, "ipc", "instructions per cycle"},
        {"cycles,task-clock", {30 * MS, 10 * MS}, 3, "ghz", "GHz"},
        {"cycles,cpu-clock", {30 * MS, 10 * MS}, 3, "ghz", "GHz"},
        {"cycles:u,task-clock", {30 * MS, 10 * MS}, 3, "ghz", "GHz, user cycles only"},
        {"task-clock", {30 * MS}, 1.5, "cpus", "CPUs utilised"},
        {"cpu-clock", {10 * MS}, 0.5, "cpus", "CPUs utilised"},
        {"branch-misses,branches", {5, 200}, 2.5, "miss_percent", "% of all branches"},
        {"cache-misses,cache-references", {1, 4}, 25, "miss_percent", "% of all cache references"},
        {"L1-dcache-load-misses,L1-dcache-loads", {1, 10}, 10, "miss_percent", "% of all L1-dcache loads"},
        {"LLC-load-misses,LLC-loads", {1, 2}, 50, "miss_percent", "% of all LLC loads"},
        {"dTLB-store-misses,dTLB-loads,dTLB-stores", {1, 2, 4}, 25, "miss_percent", "% of all dTLB stores"},
        {"page-faults,task-clock", {7, 10 * MS}, 700, "per_second", "per second of task-clock"},
        {"page-faults", {7}, 350, "per_second", "per second of wall time"},
        {"context-switches", {2}, 100, "per_second", "per second of wall time"},
        {"cpu-migrations,task-clock", {1, 1 * MS}, 1000, "per_second", "per second of task-clock"},
        {"page-faults,task-clock", {7, UINT64_MAX}, 350, "per_second", "per second of wall time"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct rk_metric m = {.size = sizeof m};
        if (derive(table[i].events, table[i].counts, 0, &m) != 1)
            fail_msg("%s: no figure", table[i].events);
        if (fabs(m.value - table[i].value) > 1e-9)
            fail_msg("%s: %g, not %g", table[i].events, m.value, table[i].value);
        assert_string_equal(m.name, table[i].name);
        assert_string_equal(m.unit, table[i].unit);
    }
}

static void test_none(void **state)
{
    static const struct {
        const char *events;
        uint64_t counts[2];
    } table[] = {
        {"instructions", {300}},
        {"instructions,cycles", {300, 0}},          /* nothing below the line */
        {"instructions,cycles", {300, UINT64_MAX}}, /* not counted: never a made-up figure */
        {"instructions,cycles", {UINT64_MAX, 300}},
        {"instructions:u,cycles", {300, 200}}, /* counted in other modes */
        {"cycles", {300}},
        {"branches,branch-misses", {300, 2}},
        {"L1-dcache-loads,L1-dcache-load-misses", {300, 2}},
        {"r1a8", {300}},
        {"dummy", {300}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct rk_metric m = {.size = sizeof m, .value = -1};
        if (derive(table[i].events, table[i].counts, 0, &m) != 0)
            fail_msg("%s: %g %s", table[i].events, m.value, m.unit);
        assert_true(m.value == -1);
    }
}

/* Two groups that took turns: each instructions has its own cycles. */
static void test_same_group(void **state)
{
    struct rk_metric m = {.size = sizeof m};
    const uint64_t counts[] = {100, 100, 400, 100};

    (void)state;
    assert_int_equal(derive("{cycles,instructions},{instructions,cycles}", counts, 2, &m), 1);
    assert_true(m.value == 4);
    assert_int_equal(derive("{cycles,instructions},{instructions,cycles}", counts, 1, &m), 1);
    assert_true(m.value == 1);
}

static void test_scaled(void **state)
{
    struct scene s;
    struct rk_metric m = {.size = sizeof m};
    const struct rk_value v[] = {{100, 20, 10}, {200, 20, 20}};

    (void)state;
    kernel_reset();
    assert_int_equal(scene_open(&s, "bare-metal", "instructions,cycles", target_new(TARGET_SELF, 0), NULL),
                     0);
    assert_int_equal(rk_metric_derive(s.set, v, 2, WALL, 0, &m), 1);
    assert_true(m.value == 1);
    assert_int_equal(rk_metric_derive(s.set, v, 2, WALL, 2, &m), -ERANGE);
    m.size = 0;
    assert_int_equal(rk_metric_derive(s.set, v, 2, WALL, 0, &m), -EINVAL);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_same_group),
        cmocka_unit_test(test_scaled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

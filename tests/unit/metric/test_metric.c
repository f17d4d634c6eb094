/* Each figure, and each reason for none. */
#include "../fake_root.h"
#include "../fake_tree.h"
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
        {"stalled-cycles-frontend,cycles",
         {1, 4},
         25,
         "stalled_percent",
         "% of all cycles, for want of instructions"},
        {"stalled-cycles-backend,cycles",
         {2, 4},
         50,
         "stalled_percent",
         "% of all cycles, for want of resources"},
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

/* The events of a hybrid CPU: cycles and instructions of its performance cores (cpu_core, PMU 4) and of its efficient
 * ones (cpu_atom, 10), and a clock that runs on both. */
static struct scene hybrid_open(const char *events)
{
    struct scene s = {.host = fake_machine("intel-hybrid"), .target = target_new(TARGET_SELF, 0)};

    kernel_reset();
    assert_int_equal(rk_events_parse(s.host, events, &s.events, NULL), 0);
    assert_int_equal(rk_set_open(s.host, s.events, s.target, NULL, &s.set, NULL), 0);
    return s;
}

static size_t find(const struct rk_set *set, const char *name)
{
    struct rk_event event = {.size = sizeof event};

    for (size_t i = 0; rk_set_event_get(set, i, &event) == 0; i++)
        if (strcmp(event.name, name) == 0)
            return i;
    fail_msg("no %s", name);
    return 0;
}

static void test_hybrid(void **state)
{
    static const char *const names[] = {"cpu_core/instructions/", "cpu_core/cycles/",
                                        "cpu_atom/instructions/", "cpu_atom/cycles/", "task-clock"};
    /* 8 ms on performance cores, at 4 GHz and 3 instructions a cycle; 2 ms on efficient ones, at 2 GHz and 1.5. */
    const struct rk_value counts[] = {{96 * MS, 10 * MS, 8 * MS},
                                      {32 * MS, 10 * MS, 8 * MS},
                                      {6 * MS, 10 * MS, 2 * MS},
                                      {4 * MS, 10 * MS, 2 * MS},
                                      {10 * MS, 10 * MS, 10 * MS}};
    static const struct {
        const char *name;
        double value;
    } wanted[] = {{"ipc", 3}, {"ghz", 4}, {"ipc", 1.5}, {"ghz", 2}, {"cpus", 0.5}};
    static const char *const orders[] = {"cycles,instructions,task-clock", "instructions,task-clock,cycles",
                                         "{cycles,instructions},task-clock",
                                         "cpu_atom/cycles/,cpu_core/cycles/,task-clock,instructions"};

    (void)state;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct scene s = hybrid_open(orders[i]);
        struct rk_value v[5];
        assert_int_equal(rk_set_event_count(s.set), 5);
        for (size_t k = 0; k < 5; k++)
            v[find(s.set, names[k])] = counts[k];
        for (size_t k = 0; k < 5; k++) {
            struct rk_metric m = {.size = sizeof m};
            assert_int_equal(rk_metric_derive(s.set, v, 5, WALL, find(s.set, names[k]), &m), 1);
            assert_string_equal(m.name, wanted[k].name);
            if (fabs(m.value - wanted[k].value) > 1e-9)
                fail_msg("%s of %s: %g, not %g", names[k], orders[i], m.value, wanted[k].value);
        }
        scene_close(&s);
        fake_end();
    }
}

/* The cycles of the other kind of core are none to divide by. */
static void test_hybrid_none(void **state)
{
    struct scene s = hybrid_open("cpu_core/instructions/,cpu_atom/cycles/");
    const struct rk_value v[] = {{300, 10, 10}, {200, 10, 10}};
    struct rk_metric m = {.size = sizeof m, .value = -1};

    (void)state;
    assert_int_equal(rk_metric_derive(s.set, v, 2, WALL, 0, &m), 0);
    assert_int_equal(rk_metric_derive(s.set, v, 2, WALL, 1, &m), 0);
    assert_true(m.value == -1);
    scene_close(&s);
    fake_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures), cmocka_unit_test(test_none),   cmocka_unit_test(test_same_group),
        cmocka_unit_test(test_scaled),  cmocka_unit_test(test_hybrid), cmocka_unit_test(test_hybrid_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

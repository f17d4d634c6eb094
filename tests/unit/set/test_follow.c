/*
 * CPUs that go and come back (src/set/follow.c), on a machine made of files and a kernel that is made up: what each
 * counted is kept and gone on from. For real: live/target_machine, in a guest with two CPUs.
 */
#include "../fake_root.h"
#include "../fake_tree.h"
#include "fake_kernel.h"

#define ONLINE "sys/devices/system/cpu/online"

static uint64_t now; /* passes with each read */

/* Each descriptor has counted 100 × its number + 1, the second of a group ten times as much. */
static int counts(int index, uint64_t *words, size_t n)
{
    const struct fake_event *event = &kernel.opened[index];
    uint64_t value = 100 * (uint64_t)(index + 1);

    now += 10;
    if (!(event->attr.read_format & FORMAT_GROUP)) {
        assert_true(n >= 3);
        memcpy(words, (uint64_t[]){value, now, now}, 24);
        return 24;
    }
    assert_true(n >= 5);
    memcpy(words, (uint64_t[]){2, now, now, value, 10 * value}, 40);
    return 40;
}

static void begin(struct scene *s, const char *events)
{
    kernel_reset();
    kernel.read = counts;
    *s = (struct scene){.e = {.size = sizeof s->e}};
    assert_int_equal(rk_host_open(fake_path, &s->host, &s->e), 0);
    assert_int_equal(rk_target_cpus(s->host, NULL, &s->target, &s->e), 0);
    assert_int_equal(rk_events_parse(s->host, events, &s->events, &s->e), 0);
    assert_int_equal(rk_set_open(s->host, s->events, s->target, NULL, &s->set, &s->e), 0);
    assert_int_equal(rk_set_enable(s->set), 0);
}

static void check_slot(struct scene *s, size_t slot, uint64_t first, uint64_t second)
{
    struct rk_value v[2] = {{7, 7, 7}, {7, 7, 7}};

    assert_int_equal(rk_set_read(s->set, slot, v, NULL, 2), 0);
    assert_int_equal(v[0].value, first);
    assert_int_equal(v[1].value, second);
}

static void test_goes_and_comes(void **state)
{
    struct scene s;
    struct rk_value v[2];

    (void)state;
    fake_root();
    fake_file(ONLINE, "0-1\n");
    begin(&s, "{page-faults,task-clock}");
    assert_int_equal(kernel.n, 4); /* descriptors 0, 1 of CPU 0, 2, 3 of CPU 1 */
    check_slot(&s, 0, 100, 1000);
    check_slot(&s, 1, 300, 3000);
    assert_int_equal(rk_set_refresh(s.set, &s.e), 0);

    fake_file(ONLINE, "0\n");
    assert_int_equal(rk_set_refresh(s.set, &s.e), 1);
    check_slot(&s, 1, 300, 3000); /* gone: its counts are not */
    fake_file(ONLINE, "0-2\n");
    assert_int_equal(rk_set_refresh(s.set, &s.e), 2);
    assert_int_equal(rk_set_slot_count(s.set), 3);
    assert_int_equal(kernel.opened[4].cpu, 1);
    assert_int_equal(kernel.opened[4].enables, 1); /* the leader alone, as before */
    assert_int_equal(kernel.opened[5].enables, 0);
    check_slot(&s, 1, 300 + 500, 3000 + 5000);
    check_slot(&s, 2, 700, 7000);
    assert_int_equal(rk_set_total(s.set, v, NULL, 2), 0);
    assert_int_equal(v[0].value, 100 + 800 + 700);

    /* twice gone, and back between two looks: only the time of its events tells, which stands still */
    fake_file(ONLINE, "0,2\n");
    assert_int_equal(rk_set_refresh(s.set, &s.e), 1);
    fake_file(ONLINE, "0-2\n");
    assert_int_equal(rk_set_refresh(s.set, &s.e), 1);
    check_slot(&s, 1, 800 + 900, 8000 + 9000);
    scene_close(&s);
    fake_end();
}

/* The clock of the events on one CPU stands: they were taken off it while nobody looked. */
static int stands(int index, uint64_t *words, size_t n)
{
    int rc = counts(index, words, n);

    if (index == 1)
        words[1] = words[2] = 1000;
    return rc;
}

static void test_went_unseen(void **state)
{
    struct scene s;
    struct rk_value v[1];

    (void)state;
    fake_root();
    fake_file(ONLINE, "0-1\n");
    begin(&s, "page-faults");
    kernel.read = stands;
    assert_int_equal(rk_set_refresh(s.set, &s.e), 2); /* it went, and it came */
    assert_int_equal(kernel.n, 3);
    assert_int_equal(kernel.opened[2].cpu, 1);
    assert_int_equal(rk_set_read(s.set, 1, v, NULL, 1), 0);
    assert_int_equal(v[0].value, 200 + 300);
    scene_close(&s);
    fake_end();
}

/* A cgroup's events stand still whenever nothing of it runs. That its CPU was away is seen by the watch on it. */
static void test_cgroups(void **state)
{
    const char *const web[] = {"web", "db"};
    struct scene s = {.e = {.size = sizeof s.e}};
    struct rk_slot slot = {.size = sizeof slot};
    struct rk_value v[1];

    (void)state;
    kernel_reset();
    kernel.read = counts;
    fake_root();
    fake_file(ONLINE, "0-1\n");
    fake_file("proc/self/mountinfo", "36 35 98:0 / /sys/fs/cgroup rw,noatime - cgroup2 none rw\n");
    fake_file("sys/fs/cgroup/web/", "");
    fake_file("sys/fs/cgroup/db/", "");
    assert_int_equal(rk_host_open(fake_path, &s.host, &s.e), 0);
    assert_int_equal(rk_target_cgroups(s.host, web, 2, NULL, &s.target, &s.e), 0);
    assert_int_equal(rk_events_parse(s.host, "page-faults", &s.events, &s.e), 0);
    assert_int_equal(rk_set_open(s.host, s.events, s.target, NULL, &s.set, &s.e), 0);
    assert_int_equal(kernel.n, 6); /* watches 0, 1; web on CPU 0, 1: 2, 3; db: 4, 5 */
    assert_int_equal(kernel.opened[1].pid, -1);
    assert_int_equal(kernel.opened[1].cpu, 1);
    assert_int_equal(rk_set_enable(s.set), 0);
    assert_int_equal(rk_set_refresh(s.set, &s.e), 0);
    kernel.read = stands; /* event 1 is the watch on CPU 1 */
    assert_int_equal(rk_set_refresh(s.set, &s.e), 4);
    assert_int_equal(kernel.n, 9); /* 6: the watch; 7, 8: both cgroups on CPU 1 */
    assert_int_equal(rk_set_read(s.set, 1, v, NULL, 1), 0);
    assert_int_equal(v[0].value, 400 + 800);
    assert_int_equal(rk_set_refresh(s.set, &s.e), 0);
    fake_file(ONLINE, "0\n");
    assert_int_equal(rk_set_refresh(s.set, &s.e), 2);
    fake_file(ONLINE, "0-2\n");
    assert_int_equal(rk_set_refresh(s.set, &s.e), 4);
    assert_int_equal(rk_set_slot_count(s.set), 6);
    for (size_t i = 4; i < 6; i++) {
        assert_int_equal(rk_set_slot_get(s.set, i, &slot), 0);
        assert_int_equal(slot.cpu, 2);
        assert_string_equal(slot.cgroup, web[i - 4]);
    }
    assert_int_equal(rk_set_refresh(s.set, &s.e), 0);
    scene_close(&s);
    fake_end();
}

/* On a CPU with two kinds of cores each event is on one kind: a slot where one has no descriptor comes back all the same. */
static void test_two_kinds(void **state)
{
    struct scene s;

    (void)state;
    s.host = fake_machine("intel-hybrid");
    rk_host_free(s.host);
    begin(&s, "cpu_core/cycles/,cpu_atom/cycles/");
    assert_true(s.set->partial);
    size_t slots = rk_set_slot_count(s.set);
    fake_file(ONLINE, "0\n");
    assert_int_equal(rk_set_refresh(s.set, &s.e), slots - 1);
    char all[32];
    snprintf(all, sizeof all, "0-%zu\n", slots - 1);
    fake_file(ONLINE, all);
    assert_int_equal(rk_set_refresh(s.set, &s.e), slots - 1);
    for (uint32_t slot = 0; slot < slots; slot++) {
        int of_core = fd_of(s.set, slot, 0), of_atom = fd_of(s.set, slot, 1);
        assert_true((of_core < 0) != (of_atom < 0));
        assert_int_equal(kernel_event(of_core < 0 ? of_atom : of_core)->enables, 1);
    }
    scene_close(&s);
    fake_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goes_and_comes),
        cmocka_unit_test(test_went_unseen),
        cmocka_unit_test(test_cgroups),
        cmocka_unit_test(test_two_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

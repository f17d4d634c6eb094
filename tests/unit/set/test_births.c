/*
 * Threads that are born while their process is opened (src/set/births.c). The process is this one: the kernel that is
 * made up bears a thread when it is asked for a descriptor.
 */
#include "set/births.h"

#include "fake_kernel.h"

#include <pthread.h>
#include <unistd.h>

#define ROOT "bare-metal"

static pthread_t born[9];
static int n_born, at_open; /* the thread is born in this open; -1: none is */
static int hold[2];

static void *wait_for_the_end(void *unused)
{
    char c;

    (void)unused;
    return read(hold[0], &c, 1) == 0 ? NULL : hold;
}

static int bearing(const struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd)
{
    (void)attr, (void)pid, (void)cpu, (void)group_fd;
    if (kernel.n == at_open) {
        assert_int_equal(pthread_create(&born[n_born++], NULL, wait_for_the_end, NULL), 0);
        at_open = -1;
    }
    return 0;
}

static struct rk_target *myself(void)
{
    struct rk_target *target = NULL;

    assert_int_equal(rk_target_process(getpid(), &target, NULL), 0);
    return target;
}

static size_t threads(void)
{
    struct rk_target *target = myself();
    int32_t *ids;
    size_t n;

    assert_int_equal(target_ids(target, &ids, &n, NULL), 0);
    free(ids);
    rk_target_free(target);
    return n;
}

static void begin(struct scene *s, int at, const struct rk_set_options *options)
{
    kernel_reset();
    kernel.open = bearing;
    at_open = at;
    assert_int_equal(scene_open(s, ROOT, "page-faults,cpu-clock", myself(), options), 0);
}

/* It may have its parent's counters, or not: opened it would be counted twice. It is left, and told of. */
static void test_inherits(void **state)
{
    struct rk_note note = {.size = sizeof note};
    struct scene s;
    size_t before = threads();

    (void)state;
    begin(&s, 1, NULL);
    assert_int_equal(threads(), before + 1);
    assert_int_equal(rk_set_slot_count(s.set), before);
    assert_int_equal(rk_set_note_count(s.set), 1);
    assert_int_equal(rk_set_note_get(s.set, 0, &note), 0);
    assert_int_equal(note.cause, RK_CAUSE_RACE);
    assert_non_null(strstr(note.what, "1 threads or children were created"));
    assert_non_null(strstr(note.remedy, "freeze"));
    scene_close(&s);

    begin(&s, -1, NULL); /* nobody was born */
    assert_int_equal(rk_set_slot_count(s.set), before + 1);
    assert_int_equal(rk_set_note_count(s.set), 0);
    scene_close(&s);
}

/* Nothing is inherited, so that surely nobody counts it: it is opened, and nothing is doubtful. */
static void test_does_not_inherit(void **state)
{
    struct scene s;
    size_t before = threads();

    (void)state;
    begin(&s, 1, OPTIONS(.flags = RK_SET_NO_INHERIT));
    assert_int_equal(rk_set_slot_count(s.set), before + 1);
    assert_int_equal(rk_set_note_count(s.set), 0);
    for (size_t slot = 0; slot < before + 1; slot++)
        assert_true(fd_of(s.set, (uint32_t)slot, 0) >= 0 && fd_of(s.set, (uint32_t)slot, 1) >= 0);
    scene_close(&s);
}

/* One that was born before anything was opened, and after the threads were listed, has inherited nothing. */
static void test_when(void **state)
{
    struct rk_target *target = myself();
    size_t n = threads();

    (void)state;
    for (int later = 0; later < 2; later++) {
        struct births births = {0};
        assert_int_equal(births_look(&births, target, later ? UINT64_MAX : 1, true), n);
        assert_int_equal(births.missed.n, later ? n : 0);
        assert_int_equal(births.ambiguous, later ? 0 : n);
        assert_int_equal(births_look(&births, target, later ? UINT64_MAX : 1, true), 0); /* known by now */
        births_free(&births);
    }
    rk_target_free(target);
}

static void bear(void)
{
    assert_int_equal(pthread_create(&born[n_born++], NULL, wait_for_the_end, NULL), 0);
}

/* Counters that are switched (src/set/toggle.c): births meanwhile are guarded, but for those of threads that were
 * themselves born since the opening. Who bore a thread can't be told; that somebody may have been missed can. */
static void test_switched(void **state)
{
    struct rk_note note = {.size = sizeof note};
    struct scene s;

    (void)state;
    begin(&s, -1, NULL);
    assert_int_equal(rk_set_enable(s.set), 0);
    assert_int_equal(rk_set_note_count(s.set), 0);
    bear();
    assert_int_equal(rk_set_disable(s.set), 0); /* one was born since, none while it was switched */
    assert_int_equal(rk_set_note_count(s.set), 0);
    at_open = kernel.n; /* the guard's */
    assert_int_equal(rk_set_enable(s.set), 0);
    assert_int_equal(at_open, -1);
    assert_int_equal(rk_set_note_count(s.set), 1);
    assert_int_equal(rk_set_note_get(s.set, 0, &note), 0);
    assert_int_equal(note.cause, RK_CAUSE_RACE);
    assert_true(note.event == UINT32_MAX && !note.absent);
    assert_non_null(strstr(note.what, "while the counters were switched"));
    assert_non_null(strstr(note.remedy, "subtract a first reading"));
    at_open = kernel.n;
    assert_int_equal(rk_set_disable(s.set), 0); /* once is enough */
    assert_int_equal(rk_set_note_count(s.set), 1);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inherits),
        cmocka_unit_test(test_does_not_inherit),
        cmocka_unit_test(test_when),
        cmocka_unit_test(test_switched),
    };
    if (pipe(hold) < 0)
        return 1;
    /* ThreadSanitizer begins a thread of its own with the first one, which is this: both are there before any is counted. */
    if (pthread_create(&born[n_born++], NULL, wait_for_the_end, NULL) != 0)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    close(hold[1]);
    while (n_born > 0)
        pthread_join(born[--n_born], NULL);
    return failed;
}

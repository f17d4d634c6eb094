/* Times in bounded memory; off-CPU time by switches. */
#include "fake.h"

#include "profile/builder.h"
#include "profile/slices.h"

static uint64_t sum(const struct slices *s, bool samples)
{
    uint64_t all = 0;
    for (size_t i = 0; i < s->rows.n; i++)
        all += samples ? s->rows.items[i].amount.samples : s->rows.items[i].amount.weight;
    return all;
}

static void few_times_are_exact(void **state)
{
    struct slices s = {0};
    (void)state;
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(slices_add(&s, (uint32_t)(i % 3), 5000000 + i * 1001, (struct amount){7, 1}, 3), 0);
    assert_int_equal(s.shift, 0);
    assert_int_equal(s.rows.n, 1000);
    assert_int_equal(s.rows.items[999].time, 5000000 + 999 * 1001);
    assert_int_equal(slices_add(&s, 0, 0, (struct amount){7, 1}, 3),
                     0); /* without a time: apart from all others */
    assert_int_equal(slices_add(&s, 0, 0, (struct amount){7, 1}, 3), 0);
    assert_int_equal(s.rows.n, 1001);
    assert_int_equal(s.shift, 0);
    slices_free(&s);
}

static void many_times_are_slices(void **state)
{
    enum { N = 3000000, CELLS = 50 };
    struct slices s = {0};
    (void)state;
    for (uint64_t i = 0; i < N; i++)
        assert_int_equal(slices_add(&s, (uint32_t)(i % CELLS), 1 + i * 250000, (struct amount){2, 1}, CELLS),
                         0);
    assert_true(s.rows.n <= CELLS + SLICES_EXTRA);
    assert_true(s.rows.n > SLICES_EXTRA / 8); /* no coarser than need be */
    assert_int_equal(sum(&s, true), N);
    assert_int_equal(sum(&s, false), 2 * N);
    for (size_t i = 0; i < s.rows.n; i++)
        assert_int_equal(s.rows.items[i].time & ((UINT64_C(1) << s.shift) - 1), 0);
    slices_free(&s);
}

/* A cell each: rows are as many as cells whatever the slices are, and slices stay as they are. */
static void what_is_distinct_is_kept(void **state)
{
    enum { N = 600000 };
    struct slices s = {0};
    (void)state;
    for (uint64_t i = 0; i < N; i++)
        assert_int_equal(slices_add(&s, (uint32_t)i, 1 + i, (struct amount){1, 1}, i + 1), 0);
    assert_int_equal(s.rows.n, N);
    assert_int_equal(s.shift, 0);
    slices_free(&s);
}

/* Days between two samples, and times that go back. */
static void far_apart(void **state)
{
    struct slices s = {0};
    (void)state;
    const uint64_t day = UINT64_C(86400000000000),
                   times[] = {day, 9 * day, 2 * day, 400 * day, 1, UINT64_MAX};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(slices_add(&s, 0, times[i], (struct amount){1, 1}, 1), 0);
    assert_int_equal(sum(&s, true), 6);
    assert_int_equal(s.rows.n, 6); /* few: as they are, however far apart */
    assert_int_equal(s.shift, 0);
    slices_free(&s);
}

/* Very many stacks, each met again and again: slices become wide, but a time line is left. */
static void many_stacks_have_a_time_line(void **state)
{
    enum { N = 3000000, CELLS = 60000 };
    struct slices s = {0};
    uint64_t seen = 0;
    (void)state;
    for (uint64_t i = 0; i < N; i++)
        assert_int_equal(slices_add(&s, (uint32_t)(i * 48271 % CELLS), UINT64_C(1) << 40 | i * 250000,
                                    (struct amount){2, 1}, CELLS),
                         0);
    uint64_t slices = ((s.last - s.base) >> s.shift) + 1;
    assert_in_range(slices, SLICES_FEWEST, 2 * SLICES_FEWEST);
    assert_true(s.rows.n <= 2 * SLICES_FEWEST * CELLS);
    for (size_t i = 0; i < s.rows.n; i++)
        seen |= UINT64_C(1) << ((s.rows.items[i].time - (s.base >> s.shift << s.shift)) >> s.shift & 63);
    assert_int_equal(__builtin_popcountll(seen), slices > 64 ? 64 : slices);
    assert_int_equal(sum(&s, true), N);
    assert_int_equal(sum(&s, false), 2 * N);
    slices_free(&s);
}

static void other_ways(void **state)
{
    struct slices none = {.times = RK_TIMES_NONE}, each = {.times = RK_TIMES_EACH};
    (void)state;
    for (uint64_t i = 0; i < 100; i++) {
        assert_int_equal(slices_add(&none, 0, 5 + i, (struct amount){1, 1}, 1), 0);
        assert_int_equal(slices_add(&each, 0, 5, (struct amount){1, 1}, 1), 0);
    }
    assert_int_equal(none.rows.n, 1);
    assert_int_equal(each.rows.n, 100);
    slices_free(&none);
    slices_free(&each);
    struct rk_profile_options bad = {.size = sizeof bad, .times = 3};
    struct rk_profile_builder *b = NULL;
    struct rk_error e = {.size = sizeof e};
    assert_int_equal(rk_profile_builder_open(&bad, &b, &e), -EINVAL);
}

/* Leaves or comes back. */
static void change(struct rk_profile_builder *b, int32_t tid, uint64_t time, bool out)
{
    struct rk_record r = {.type = RK_RECORD_SWITCH,
                          .misc = out ? RK_MISC_SWITCH_OUT : 0,
                          .bytes = 8,
                          .present = RK_SAMPLE_TID | RK_SAMPLE_TIME,
                          .pid = 100,
                          .tid = tid,
                          .time = time,
                          .data = (const unsigned char[8]){0}};
    assert_true(rk_profile_builder_feed(b, a_stream, &r) >= 0);
}

static void leaves(struct rk_profile_builder *b, int32_t tid, uint64_t time, uint64_t function)
{
    const uint64_t chain[] = {RK_CHAIN_USER, AT(2, function, 1)};
    fake_sample.time = time - 5;
    fake_feed_in(b, 100, tid, 1, 1, chain, 2);
    change(b, tid, time, true);
}

static uint64_t self_of(const struct rk_profile *p, const char *name)
{
    struct rk_aggregate *a = NULL;
    uint64_t self = UINT64_MAX;
    assert_int_equal(rk_profile_aggregate(p, RK_PER_FUNCTION, &a, NULL), 0);
    for (size_t i = 0; i < a->n; i++)
        self = strcmp(a->name[i], name) == 0 ? a->self[i] : self;
    rk_aggregate_free(a);
    return self;
}

static void off_cpu_weighs_the_time_away(void **state)
{
    struct rk_profile_builder *b = fake_builder();
    struct rk_profile_summary s = {.size = sizeof s};
    (void)state;
    fake_events[1] = (struct rk_stream_event){.name = "off-cpu"};
    leaves(b, 101, 1000, 1);
    leaves(b, 102, 1500, 2);
    change(b, 101, 1700, false);
    change(b, 102, 9500, false);
    leaves(b, 101, 9600, 1);
    change(b, 101, 9650, false);
    leaves(b, 102, 10000, 3);
    change(b, 101, 12000, true); /* 102 is away still, when the recording ends */
    struct rk_profile *p = fake_finish(b);
    assert_int_equal(self_of(p, "m2_f1"), 700 + 50);
    assert_int_equal(self_of(p, "m2_f2"), 8000);
    assert_int_equal(self_of(p, "m2_f3"), 2000);
    rk_profile_summary(p, &s);
    assert_int_equal(s.samples, 4);
    assert_string_equal(s.unit, "ns");
    rk_profile_free(p);

    b = fake_builder(); /* no switches: each weighs 1 */
    const uint64_t chain[] = {RK_CHAIN_USER, AT(2, 1, 1)};
    fake_feed_in(b, 100, 101, 1, 1, chain, 2);
    fake_feed_in(b, 100, 101, 1, 1, chain, 2);
    p = fake_finish(b);
    assert_int_equal(self_of(p, "m2_f1"), 2);
    rk_profile_summary(p, &s);
    assert_string_equal(s.unit, "");
    rk_profile_free(p);
    fake_events[1] = (struct rk_stream_event){.name = "page-faults", .period = 10};
}

/* A call that is a function's last instruction, looked up as it is, is the next function's: what perf does. */
static void raw_addresses(void **state)
{
    struct rk_profile_options options = {.size = sizeof options, .flags = RK_PROFILE_RAW};
    struct rk_profile_builder *b = NULL;
    (void)state;
    assert_int_equal(rk_profile_builder_open(&options, &b, NULL), 0);
    FEED(b, AT(1, 8, 0), AT(1, 7, 0));
    struct rk_profile *p = fake_finish(b);
    assert_int_equal(self_of(p, "m1_f7"), 0);
    assert_int_equal(self_of(p, "m1_f6"), UINT64_MAX);
    rk_profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_times_are_exact),          cmocka_unit_test(many_times_are_slices),
        cmocka_unit_test(what_is_distinct_is_kept),     cmocka_unit_test(far_apart),
        cmocka_unit_test(many_stacks_have_a_time_line), cmocka_unit_test(other_ways),
        cmocka_unit_test(off_cpu_weighs_the_time_away), cmocka_unit_test(raw_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

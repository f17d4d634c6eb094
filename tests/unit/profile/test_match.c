/* Which functions of two profiles are the same, and what a difference says of them. */
#include "profile/maker.h"
#include "profile/match.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A function of a profile: its whole weight is its own. */
struct row {
    const char *path, *name;
    uint64_t samples;
    uint32_t miss;
};

static struct rk_profile *profile_of(const struct row *rows, uint64_t weight, uint64_t from, uint64_t to)
{
    struct rk_profile_summary s = {
        .size = sizeof s, .first_time = from, .last_time = to, .slice_ns = from ? 1 : 0};
    struct rk_profile *p = NULL;
    struct maker m;

    assert_int_equal(maker_begin(&m), 0);
    int64_t event = maker_event(&m, "cpu-clock", "ns", NULL);
    int64_t source = maker_source(&m, "here");
    int64_t thread = maker_thread(&m, (uint32_t)source, 1, 1, "prog");
    for (; rows->path; rows++) {
        const char *slash = strrchr(rows->path, '/');
        int64_t symbol = maker_text(&m, rows->name), path = maker_text(&m, rows->path);
        int64_t module = maker_text(&m, slash ? slash + 1 : rows->path);
        int64_t frame = maker_frame(&m, &(struct maker_frame){.symbol = (uint32_t)symbol,
                                                              .module = (uint32_t)module,
                                                              .path = (uint32_t)path,
                                                              .miss = rows->miss});
        uint32_t word = (uint32_t)frame;
        int64_t stack = stacks_add(&m.stacks, &word, 1);
        struct maker_sample sample = {.stack = (uint32_t)stack,
                                      .thread = (uint32_t)thread,
                                      .event = (uint32_t)event,
                                      .time = from,
                                      .amount = {rows->samples * weight, rows->samples}};
        assert_true(stack >= 0);
        assert_int_equal(maker_sample(&m, &sample), 0);
    }
    assert_int_equal(maker_end(&m, &s, &p), 0);
    return p;
}

#define PROFILE(...) profile_of((const struct row[]){__VA_ARGS__, {NULL}}, 1, 0, 0)

/* How many functions are in both, only before, only after; those in both don't differ, nor are they two in the page. */
static void assert_matched(struct rk_profile *before, struct rk_profile *after, uint64_t both,
                           uint64_t only_before, uint64_t only_after)
{
    struct rk_profile_diff *d = NULL;
    struct rk_profile *pair = NULL;
    struct rk_aggregate *a = NULL;

    assert_int_equal(rk_profile_diff(before, after, RK_PER_FUNCTION, RK_NORMALISE_NONE, &d, NULL), 0);
    assert_int_equal(d->matched, both);
    assert_int_equal(d->before_only, only_before);
    assert_int_equal(d->after_only, only_after);
    assert_int_equal(d->n, only_before + only_after);
    rk_profile_diff_free(d);
    assert_int_equal(profile_pair(before, after, &pair, NULL), 0);
    assert_int_equal(rk_profile_aggregate(pair, RK_PER_FUNCTION, &a, NULL), 0);
    assert_int_equal(a->n, both + only_before + only_after);
    rk_aggregate_free(a);
    rk_profile_free(pair);
    rk_profile_free(before);
    rk_profile_free(after);
}

static void by_module_and_name(void **state)
{
    (void)state;
    assert_matched(PROFILE({"/a/prog", "main", 3}, {"/a/prog", "f", 2}),
                   PROFILE({"/b/prog", "f", 2}, {"/b/prog", "main", 3}), 2, 0, 0);
    assert_matched(PROFILE({"/a/prog", "f", 3}), PROFILE({"/a/prog", "g", 3}), 0, 1, 1);
}

static void by_name_alone(void **state)
{
    (void)state;
    assert_matched(PROFILE({"/a/prog-1.2", "main", 3}, {"/lib/libc.so", "main", 1}),
                   PROFILE({"/a/prog-1.3", "main", 3}, {"/lib/libc.so", "main", 1}), 2, 0, 0);
    /* Which of two is it? */
    assert_matched(PROFILE({"/a/prog-1", "init", 3}), PROFILE({"/x.so", "init", 1}, {"/y.so", "init", 1}), 0,
                   1, 2);
    assert_matched(PROFILE({"/x.so", "init", 1}, {"/y.so", "init", 1}), PROFILE({"/a/prog-1", "init", 3}), 0,
                   2, 1);
}

static void by_what_a_compiler_leaves_of_it(void **state)
{
    (void)state;
    assert_matched(PROFILE({"/a/prog", "work", 1}), PROFILE({"/a/prog", "work.isra.0", 1}), 1, 0, 0);
    assert_matched(PROFILE({"/a/prog", "app::step(long) [clone .part.0]", 1}),
                   PROFILE({"/a/prog-2", "app::step(long)", 1}), 1, 0, 0);
    assert_matched(PROFILE({"/a/prog", "app::run::h0123456789abcdef", 1}),
                   PROFILE({"/a/prog", "app::run::hfedcba9876543210", 1}), 1, 0, 0);
    /* A function and its cold part are two, wherever both are. */
    assert_matched(PROFILE({"/a/prog", "f", 1}, {"/a/prog", "f.cold", 2}),
                   PROFILE({"/a/prog", "f.cold", 2}, {"/a/prog", "f", 1}), 2, 0, 0);
    assert_matched(PROFILE({"/a/prog", "f", 3}),
                   PROFILE({"/a/prog", "f.part.0", 1}, {"/a/prog", "f.part.1", 2}), 0, 1, 2);
    assert_matched(PROFILE({"/a/prog", "a::hotly", 1}), PROFILE({"/a/prog", "a", 1}), 0, 1, 1);
}

/* What has no name is the same in one module for one reason, and is never matched with what has one. */
static void without_a_name(void **state)
{
    (void)state;
    assert_matched(PROFILE({"/a/prog", "[unknown]", 3, 2}), PROFILE({"/b/prog", "[unknown]", 3, 2}), 1, 0, 0);
    assert_matched(PROFILE({"/a/prog", "[unknown]", 3, 2}), PROFILE({"/b/prog", "[unknown]", 3, 3}), 0, 1, 1);
    assert_matched(PROFILE({"/a/prog-1", "[unknown]", 3, 2}), PROFILE({"/b/prog-2", "[unknown]", 3, 2}), 0, 1,
                   1);
}

/* 100 and 121 samples: the difference of two such counts has the standard error √221. */
static void noise_is_what_chance_does(void **state)
{
    struct rk_profile *before = profile_of((const struct row[]){{"/a/p", "f", 100, 0}, {NULL}}, 5, 0, 0);
    struct rk_profile *after =
        profile_of((const struct row[]){{"/a/p", "f", 121, 0}, {"/a/p", "g", 4, 0}, {NULL}}, 5, 0, 0);
    struct rk_profile_diff *d = NULL;
    (void)state;
    assert_int_equal(rk_profile_diff(before, after, RK_PER_FUNCTION, RK_NORMALISE_NONE, &d, NULL), 0);
    assert_int_equal(d->n, 2);
    assert_true(d->change[0] == 105 && fabs(d->noise[0] - 5 * sqrt(221)) < 1e-6);
    assert_int_equal(d->before_samples[0], 100);
    assert_int_equal(d->after_samples[0], 121);
    assert_true(d->change[1] == 20 && fabs(d->noise[1] - 5 * sqrt(4)) < 1e-6);
    rk_profile_diff_free(d);
    rk_profile_free(before);
    rk_profile_free(after);
}

/* Two runs an hour apart, of a second each: two seconds, not an hour; a part of one of them is that one's. */
static void merged_runs_last_as_long_as_they_did(void **state)
{
    const struct row rows[] = {{"/a/p", "f", 10, 0}, {NULL}};
    const uint64_t second = 1000000000, hour = 3600 * second;
    struct rk_profile *one = profile_of(rows, 1, hour, hour + second);
    struct rk_profile *two = profile_of(rows, 1, 2 * hour, 2 * hour + second), *both = NULL, *part = NULL;
    struct rk_profile_summary s = {.size = sizeof s};
    (void)state;
    assert_int_equal(rk_profile_merge((const struct rk_profile *const[]){one, two}, NULL, 2, &both, NULL), 0);
    assert_int_equal(rk_profile_summary(both, &s), 0);
    assert_int_equal(s.duration, 2 * second);
    assert_int_equal(s.first_time, hour);
    assert_int_equal(s.last_time, 2 * hour + second);
    struct rk_profile_filter filter = {.size = sizeof filter, .from = hour, .to = hour + 2 * second};
    assert_int_equal(rk_profile_select(both, &filter, &part, NULL), 0);
    assert_int_equal(rk_profile_summary(part, &s), 0);
    assert_true(s.duration <= second);
    struct rk_profile_diff *d = NULL;
    assert_int_equal(rk_profile_diff(both, one, RK_PER_FUNCTION, RK_NORMALISE_TIME, &d, NULL), 0);
    assert_true(d->n == 0 && d->scale == 0.5);
    rk_profile_diff_free(d);
    rk_profile_free(one);
    rk_profile_free(two);
    rk_profile_free(both);
    rk_profile_free(part);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_module_and_name),
        cmocka_unit_test(by_name_alone),
        cmocka_unit_test(by_what_a_compiler_leaves_of_it),
        cmocka_unit_test(without_a_name),
        cmocka_unit_test(noise_is_what_chance_does),
        cmocka_unit_test(merged_runs_last_as_long_as_they_did),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

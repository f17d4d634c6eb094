/* rk_error and size-first structs: nothing beyond the caller's size, sizes of other releases. */
#include "base/error.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#undef fail /* cmocka has a macro of this name */

static void fills_all_fields(void **state)
{
    (void)state;
    struct rk_error e = {.size = sizeof e};
    assert_int_equal(fail(&e, -ENOENT, RK_STAGE_EVENT, RK_CAUSE_NO_EVENT, "list them", "no %s", "x"),
                     -ENOENT);
    assert_int_equal(e.code, -ENOENT);
    assert_int_equal(e.stage, RK_STAGE_EVENT);
    assert_int_equal(e.cause, RK_CAUSE_NO_EVENT);
    assert_int_equal(e.pid, -1);
    assert_int_equal(e.cpu, -1);
    assert_string_equal(e.what, "no x");
    assert_string_equal(e.remedy, "list them");
    fail_event(&e, "cycles");
    fail_slot(&e, 7, 3);
    fail_position(&e, 9);
    assert_string_equal(e.event, "cycles");
    assert_int_equal(e.pid, 7);
    assert_int_equal(e.cpu, 3);
    assert_int_equal(e.position, 9);
}

static void takes_null(void **state)
{
    (void)state;
    assert_int_equal(fail(NULL, -EIO, 0, 0, NULL, "x"), -EIO);
    fail_event(NULL, "x");
    fail_slot(NULL, 1, 1);
    fail_position(NULL, 1);
}

/* A program built against a shorter struct: not one byte beyond its size may change. */
static void never_beyond_the_callers_size(void **state)
{
    (void)state;
    for (uint32_t size = 4; size <= sizeof(struct rk_error); size++) {
        struct rk_error e;
        memset(&e, 0xa5, sizeof e);
        e.size = size;
        fail(&e, -EIO, RK_STAGE_READ, RK_CAUSE_BUSY, "remedy", "what");
        fail_event(&e, "event");
        fail_slot(&e, 1, 2);
        fail_position(&e, 3);
        assert_int_equal(e.size, size);
        for (size_t i = size; i < sizeof e; i++)
            assert_int_equal(((unsigned char *)&e)[i], 0xa5);
    }
}

/* Of a path of any length the reason is left. */
static void the_reason_stays(struct rk_error *e)
{
    static char path[8000];
    static const size_t lengths[] = {10, 200, 220, 235, 240, 241, 242, 243, 255, 256, 300, 4096};

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        memset(path, 'a', lengths[i]);
        path[lengths[i]] = '\0';
        fail(e, -ENAMETOOLONG, 0, 0, NULL, "/%s: the reason", path);
        assert_true(strlen(e->what) < sizeof e->what);
        assert_non_null(strstr(e->what, "a: the reason"));
        assert_true(e->what[0] == '/' && !!strstr(e->what, "…") == (lengths[i] > 242));
    }
    memset(path, 'a', sizeof path - 1);
    fail(e, -EIO, 0, 0, NULL, "%s: the reason", path); /* no path is so long: it is cut */
    assert_true(strlen(e->what) < sizeof e->what);
}

static void long_text_is_cut_at_a_character(void **state)
{
    (void)state;
    char text[400];
    struct rk_error e = {.size = sizeof e};
    for (size_t i = 0; i + 2 < sizeof text; i += 2)
        memcpy(text + i, "\xc3\xa4", 3);
    for (size_t shift = 0; shift < 2; shift++) {
        fail(&e, -EIO, 0, 0, text, "%s%s", shift ? "x" : "", text);
        size_t n = strlen(e.what);
        assert_true(n <= 255 && n >= 252);
        const char *gap = strstr(e.what, "…");
        assert_non_null(gap);
        assert_int_equal((gap - e.what) % 2, shift);
        assert_memory_equal(gap + strlen("…"), "\xc3\xa4", 2);
    }
    the_reason_stays(&e);
}

struct newer {
    uint32_t size, a, b, c;
};

static void options_of_other_releases(void **state)
{
    (void)state;
    struct {
        uint32_t size, a;
    } old = {8, 5}, got = {0};
    struct newer fresh = {16, 6, 0, 0}, ours;
    assert_int_equal(options_take(&got, sizeof got, NULL), 0);
    assert_int_equal(got.size, 8);
    assert_int_equal(options_take(&got, sizeof got, &fresh), 0); /* unknown tail, but zero */
    assert_int_equal(got.a, 6);
    fresh.c = 1;
    assert_int_equal(options_take(&got, sizeof got, &fresh), -E2BIG);
    assert_int_equal(options_take(&ours, sizeof ours, &old), 0); /* shorter: the rest is default */
    assert_int_equal(ours.a, 5);
    assert_int_equal(ours.c, 0);
    old.size = 0;
    assert_int_equal(options_take(&ours, sizeof ours, &old), -EINVAL);
    struct rk_error e = {.size = sizeof e};
    assert_int_equal(options_check(&ours, sizeof ours, &old, "newer", RK_STAGE_OPEN, &e), -EINVAL);
    assert_non_null(strstr(e.what, "struct newer"));
}

static void results_for_other_releases(void **state)
{
    (void)state;
    const struct newer from = {16, 1, 2, 3};
    struct newer to = {8, 9, 9, 9};
    assert_int_equal(result_give(&to, &from, sizeof from), 0);
    assert_int_equal(to.size, 8);
    assert_int_equal(to.a, 1);
    assert_int_equal(to.b, 9); /* beyond the caller's size */
    struct {
        struct newer known;
        uint32_t later;
    } longer = {{20, 0, 0, 0}, 7};
    assert_int_equal(result_give(&longer, &from, sizeof from), 0);
    assert_int_equal(longer.known.c, 3);
    assert_int_equal(longer.later, 0); /* what we don't know is zero */
    to.size = 0;
    assert_int_equal(result_give(&to, &from, sizeof from), -EINVAL);
    assert_int_equal(result_give(NULL, &from, sizeof from), -EINVAL);
}

/* Stack garbage in `size` is a size that nobody set: nothing is copied from there, and nothing zeroed. */
static void sizes_that_nobody_set(void **state)
{
    static const uint32_t sizes[] = {1, 2, 3, 4097, 65536, 0x7fffffff, UINT32_MAX};
    const struct newer from = {16, 1, 2, 3};
    (void)state;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct newer to = {sizes[i], 9, 9, 9}, ours = {0};
        struct rk_error e = RK_INIT(e), wild = {.size = sizes[i]};
        assert_int_equal(result_give(&to, &from, sizeof from), -EINVAL);
        assert_int_equal(to.a, 9);
        assert_int_equal(options_check(&ours, sizeof ours, &to, "newer", RK_STAGE_OPEN, &e), -EINVAL);
        assert_non_null(strstr(e.what, "set .size = sizeof(struct newer)"));
        if (sizes[i] > 4)
            assert_int_equal(fail(&wild, -EIO, RK_STAGE_READ, 0, NULL, "what"), -EIO);
        if (sizes[i] > 4) /* an error is told all the same */
            assert_string_equal(wild.what, "what");
    }
    unsigned char most[4096] = {0}; /* the longest that is taken */
    uint32_t size = sizeof most;
    memcpy(most, &size, sizeof size);
    assert_int_equal(result_give(most, &from, sizeof from), 0);
}

static void every_cause_and_stage_has_a_word(void **state)
{
    (void)state;
    for (uint32_t i = 1; i <= RK_CAUSE_RACE; i++)
        assert_string_not_equal(rk_cause_name(i), "unknown");
    for (uint32_t i = 0; i <= RK_STAGE_EXPORT; i++)
        assert_string_not_equal(rk_stage_name(i), "unknown");
    assert_string_equal(rk_cause_name(UINT32_MAX), "unknown");
    assert_string_equal(rk_stage_name(UINT32_MAX), "unknown");
    assert_string_equal(rk_version(), RK_VERSION);
    assert_int_equal(rk_version_number(), RK_VERSION_NUMBER);
}

/* What RK_INIT() is given is set, the size too, and all else is zero. */
static void structs_are_initialised(void **state)
{
    struct rk_error e = RK_INIT(e), some = RK_INIT(some, .code = -1, .what = "x"),
                    same = {.size = sizeof same};
    (void)state;
    assert_memory_equal(&e, &same, sizeof e);
    assert_int_equal(some.size, sizeof some);
    assert_int_equal(some.code, -1);
    assert_string_equal(some.what, "x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_all_fields),
        cmocka_unit_test(structs_are_initialised),
        cmocka_unit_test(takes_null),
        cmocka_unit_test(never_beyond_the_callers_size),
        cmocka_unit_test(long_text_is_cut_at_a_character),
        cmocka_unit_test(options_of_other_releases),
        cmocka_unit_test(results_for_other_releases),
        cmocka_unit_test(sizes_that_nobody_set),
        cmocka_unit_test(every_cause_and_stage_has_a_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

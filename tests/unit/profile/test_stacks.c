/* Stacks as one prefix tree of runs: numbers, splits, and the same answers as a list of all stacks gives. */
#include "profile/stacks.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int64_t add(struct stacks *s, const char *words)
{
    uint32_t list[64];
    size_t n = strlen(words);

    for (size_t i = 0; i < n; i++)
        list[i] = (uint32_t)words[i];
    return stacks_add(s, list, n);
}

static void is(const struct stacks *s, int64_t stack, const char *words)
{
    struct stacks_words path = {0};

    assert_int_equal(stacks_path(s, (uint32_t)stack, &path), 0);
    assert_int_equal(path.n, strlen(words));
    for (size_t i = 0; i < path.n; i++)
        assert_int_equal(path.items[i], words[i]);
    assert_int_equal(s->words.items[stacks_end(s, (uint32_t)stack)], words[path.n - 1]);
    vector_free(&path);
}

/* Every word once; a number holds, whatever is split. */
static void splits_keep_numbers(void **state)
{
    struct stacks s = {0};
    (void)state;

    int64_t abcd = add(&s, "abcd"), abx = add(&s, "abx"), ab = add(&s, "ab"), a = add(&s, "a");
    int64_t other = add(&s, "b"), longer = add(&s, "abcdef"), abc = add(&s, "abc");
    assert_true(abcd >= 0 && abx >= 0 && ab >= 0 && a >= 0 && other >= 0 && longer >= 0 && abc >= 0);
    is(&s, abcd, "abcd");
    is(&s, abx, "abx");
    is(&s, ab, "ab");
    is(&s, a, "a");
    is(&s, other, "b");
    is(&s, longer, "abcdef");
    is(&s, abc, "abc");
    assert_int_equal(add(&s, "abcd"), abcd);
    assert_int_equal(add(&s, "a"), a);
    assert_int_equal(add(&s, "abc"), abc);
    assert_int_equal(s.words.n, strlen("abcd") + strlen("x") + strlen("b") + strlen("ef"));
    assert_int_equal(s.runs.n, 7);
    assert_int_equal(s.deepest, 6);
    stacks_free(&s);
}

static void nothing_is_no_stack(void **state)
{
    struct stacks s = {0};
    (void)state;

    assert_int_equal(stacks_add(&s, NULL, 0), -EINVAL);
    assert_int_equal(s.runs.n, 0);
    stacks_free(&s);
}

/* A stack that is as deep as ten thousand calls, and one for each of its depths: each is one word more. */
static void deep_recursion(void **state)
{
    enum { DEEP = 10000 };
    static uint32_t words[DEEP];
    struct stacks s = {0};
    (void)state;

    int64_t deepest = stacks_add(&s, words, DEEP);
    for (uint32_t n = 1; n < DEEP; n++)
        assert_int_not_equal(stacks_add(&s, words, n), deepest);
    assert_int_equal(s.words.n, DEEP);
    assert_int_equal(s.runs.n, DEEP);
    for (uint32_t n = 1; n <= DEEP; n++)
        assert_int_equal(stacks_end(&s, (uint32_t)stacks_add(&s, words, n)), n - 1);
    stacks_free(&s);
}

/* 20,000 random stacks of few words: equal ones have equal numbers, different ones different ones; a parent lies before what
 * is inside of it. */
static void agrees_with_a_list(void **state)
{
    enum { STACKS = 20000, MOST = 24 };
    static char list[STACKS][MOST + 1];
    static int64_t numbers[STACKS];
    struct stacks s = {0};
    uint32_t seed = 7;
    size_t words = 0;
    (void)state;

    for (size_t i = 0; i < STACKS; i++) {
        size_t n = 1 + (seed = seed * 1103515245 + 12345) / 65536 % MOST;
        for (size_t k = 0; k < n; k++)
            list[i][k] = (char)('a' + (seed = seed * 1103515245 + 12345) / 65536 % (k < 3 ? 20 : 2));
        numbers[i] = add(&s, list[i]);
        assert_true(numbers[i] >= 0);
    }
    for (size_t i = 0; i < STACKS; i++) {
        is(&s, numbers[i], list[i]);
        assert_int_equal(add(&s, list[i]), numbers[i]);
    }
    for (size_t i = 0; i < s.runs.n; i++) {
        uint32_t outer = s.runs.items[i].outer;
        words += s.runs.items[i].n;
        assert_true(s.runs.items[i].n > 0);
        assert_true(outer == STACKS_NONE || stacks_end(&s, outer) < s.runs.items[i].first);
    }
    assert_int_equal(words, s.words.n);
    stacks_settle(&s); /* what finds them comes back when there is more */
    assert_int_equal(add(&s, list[0]), numbers[0]);
    stacks_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_keep_numbers),
        cmocka_unit_test(nothing_is_no_stack),
        cmocka_unit_test(deep_recursion),
        cmocka_unit_test(agrees_with_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Trees of regions on made-up counters: what nests, what recurs, what is left by a jump, and what can't be read. */
#include "region/tree.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { A, B, C };

static struct tree tree;
static uint64_t
    clock_now; /* counter 0 goes at the clock's pace, counter 1 ten times as fast, half the time */

static void read_counters(struct rk_value *ret)
{
    ret[0] = (struct rk_value){clock_now, clock_now, clock_now};
    ret[1] = (struct rk_value){10 * clock_now, clock_now, clock_now / 2};
}

static int start(void **state)
{
    (void)state;
    clock_now = 1000;
    return tree_init(&tree, 2);
}

static int finish(void **state)
{
    (void)state;
    tree_free(&tree);
    return 0;
}

static void begin(uint32_t region)
{
    struct rk_value *values = NULL;

    assert_int_equal(tree_begin(&tree, region, &values), 0);
    read_counters(values);
}

static void end(uint32_t region)
{
    struct rk_value now[2];

    read_counters(now);
    assert_int_equal(tree_end(&tree, region, now), 0);
}

/* The node of `region` below `parent`. */
static uint32_t node(uint32_t parent, uint32_t region)
{
    for (uint32_t i = 1; i < tree.nodes.n; i++)
        if (tree.nodes.items[i].parent == parent && tree.nodes.items[i].region == region)
            return i;
    fail_msg("no region %u below node %u", region, parent);
    return 0;
}

static void check(uint32_t at, uint64_t calls, uint64_t inclusive, uint64_t self)
{
    const struct rk_value *counts = tree_counts(&tree, at);

    assert_int_equal(tree.nodes.items[at].calls, calls);
    assert_int_equal(tree.nodes.items[at].open, 0);
    assert_int_equal(counts[0].value, inclusive);
    assert_int_equal(counts[0].running, inclusive);
    assert_int_equal(counts[1].value, 10 * inclusive);
    assert_int_equal(counts[1].enabled, inclusive);
    assert_int_equal(counts[2].value, self);
    assert_int_equal(counts[3].value, 10 * self);
    assert_int_equal(counts[3].enabled, self);
}

static void test_nested(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        begin(A);
        clock_now += 10;
        begin(B);
        clock_now += 100;
        begin(C);
        clock_now += 1000;
        end(C);
        end(B);
        begin(C);
        clock_now += 2;
        end(C);
        clock_now += 4;
        end(A);
        clock_now += 7777; /* nobody's */
    }
    uint32_t a = node(0, A), b = node(a, B);
    assert_int_equal(tree.nodes.n, 5);
    check(a, 3, 3 * 1116, 3 * 14);
    check(b, 3, 3 * 1100, 3 * 100);
    check(node(b, C), 3, 3000, 3000);
    check(node(a, C), 3, 6, 6); /* another place, apart */
    assert_int_equal(tree.unread + tree.unmatched + tree.dropped, 0);
}

/* Inclusive counts have each moment once; self counts add up to the whole. */
static void test_recursion(void **state)
{
    (void)state;
    for (int depth = 0; depth < 1000; depth++) {
        begin(A);
        clock_now += 1;
    }
    for (int depth = 0; depth < 1000; depth++) {
        clock_now += 1;
        end(A);
    }
    assert_int_equal(tree.nodes.n, 2);
    check(1, 1000, 2000, 2000);

    begin(B); /* B calls A calls B: the inner B is counted at the outer one */
    clock_now += 10;
    begin(A);
    clock_now += 100;
    begin(B);
    clock_now += 1000;
    begin(C);
    clock_now += 3;
    end(C);
    end(B);
    end(A);
    end(B);
    uint32_t b = node(0, B);
    assert_int_equal(tree.nodes.n, 5);
    check(b, 2, 1113, 1010);
    check(node(b, A), 1, 1103, 100);
    check(node(b, C), 1, 3, 3);
}

/* longjmp() over ends, and ends of what is not open. */
static void test_jump(void **state)
{
    struct rk_value now[2];

    (void)state;
    begin(A);
    clock_now += 1;
    begin(B);
    clock_now += 10;
    begin(C);
    clock_now += 100;
    end(A);
    uint32_t a = node(0, A), b = node(a, B);
    check(a, 1, 111, 1);
    check(b, 1, 110, 10);
    check(node(b, C), 1, 100, 100);
    assert_int_equal(tree.nodes.items[a].unended, 0);
    assert_int_equal(tree.nodes.items[b].unended, 1);
    assert_int_equal(tree.nodes.items[node(b, C)].unended, 1);

    read_counters(now);
    assert_int_equal(tree_end(&tree, B, now), -EINVAL);
    assert_int_equal(tree.unmatched, 1);
    begin(B);
    assert_int_equal(tree_end(&tree, A, now), -EINVAL);
    clock_now += 5;
    end(B);
    check(node(0, B), 1, 5, 5);
}

static void test_unread(void **state)
{
    struct rk_value now[2], *values;

    (void)state;
    begin(A);
    clock_now += 1;
    assert_int_equal(tree_begin(&tree, B, &values), 0); /* never read */
    clock_now += 10;
    end(B);
    assert_int_equal(tree.unread, 2);
    read_counters(now);
    now[1] = (struct rk_value){0};
    assert_int_equal(tree_end(&tree, A, now), 0);
    assert_int_equal(tree.unread, 3);
    const struct rk_value *a = tree_counts(&tree, node(0, A)), *b = tree_counts(&tree, node(1, B));
    assert_int_equal(a[0].value, 11);
    assert_int_equal(a[1].value, 0);
    assert_int_equal(a[1].running, 0);
    assert_int_equal(b[0].value, 0); /* not the whole of the thread's life */
    /* what a thread does not have is nothing that was missed */
    assert_int_equal(tree_begin(&tree, C, &values), 0);
    assert_int_equal(tree_end(&tree, C, (struct rk_value[2]){{0}}), 0);
    assert_int_equal(tree.unread, 3);
}

/* A copy with what is open ended as of now; the original goes on as if nothing had been. */
static void test_copy(void **state)
{
    struct rk_value now[2];
    struct tree copy, sum;

    (void)state;
    begin(A);
    clock_now += 10;
    begin(B);
    clock_now += 100;
    assert_int_equal(tree_copy(&tree, &copy), 0);
    read_counters(now);
    tree_end_all(&copy, now);
    const struct rk_value *a = tree_counts(&copy, 1);
    assert_int_equal(a[0].value, 110);
    assert_int_equal(a[2].value, 10);
    assert_int_equal(copy.nodes.items[1].unended, 1);
    assert_int_equal(copy.frames.n, 0);
    assert_int_equal(tree.frames.n, 2);
    clock_now += 1;
    end(B);
    end(A);
    check(1, 1, 111, 10);

    assert_int_equal(tree_init(&sum, 2), 0);
    assert_int_equal(tree_add(&sum, &tree), 0);
    assert_int_equal(tree_add(&sum, &copy), 0);
    assert_int_equal(sum.nodes.n, 3);
    assert_int_equal(tree_counts(&sum, 1)[0].value, 221);
    assert_int_equal(sum.nodes.items[1].calls, 2);
    tree_free(&sum);
    tree_free(&copy);
}

static void test_many(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 10000; i++) {
            begin(i);
            clock_now += i;
            end(i);
        }
    assert_int_equal(tree.nodes.n, 10001);
    check(node(0, 9999), 2, 2 * 9999, 2 * 9999);
    for (uint32_t i = 0; i < 10000; i++) /* and each inside the one before */
        begin(i);
    clock_now += 1;
    for (uint32_t i = 10000; i-- > 0;)
        end(i);
    assert_int_equal(tree.nodes.n, 10001 + 9999);
    check(node(0, 0), 3, 1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nested, start, finish),
        cmocka_unit_test_setup_teardown(test_recursion, start, finish),
        cmocka_unit_test_setup_teardown(test_jump, start, finish),
        cmocka_unit_test_setup_teardown(test_unread, start, finish),
        cmocka_unit_test_setup_teardown(test_copy, start, finish),
        cmocka_unit_test_setup_teardown(test_many, start, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

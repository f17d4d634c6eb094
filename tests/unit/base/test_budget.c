/*
 * Budgets: a module pays from its own and its session's, is spent once, and is whole again with each call unless it was.
 */
#include "base/budget.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { UNIT = 1 << 20 };

static void a_module_pays(void **state)
{
    (void)state;
    struct budget session, one, other;

    budget_session(&session, UNIT);
    budget_module(&one, &session);
    budget_module(&other, &session);
    assert_int_equal(budget_read(&one, 8 * UNIT), 0);
    assert_false(budget_spent(&one));
    assert_int_equal(budget_read(&one, 1), -EDQUOT);
    assert_true(budget_spent(&one));
    assert_int_equal(budget_step(&one, 1), -EDQUOT);    /* nothing more of it */
    assert_int_equal(budget_step(&other, 4 * UNIT), 0); /* the next one goes on */
    assert_int_equal(budget_step(&other, 1), -EDQUOT);
    assert_false(budget_spent(&session));
}

static void a_session_ends_all(void **state)
{
    (void)state;
    struct budget session, modules[5];

    budget_session(&session, UNIT);
    for (int i = 0; i < 5; i++) {
        budget_module(&modules[i], &session);
        assert_int_equal(budget_read(&modules[i], 8 * UNIT), i < 4 ? 0 : -EDQUOT);
    }
}

static void what_is_held(void **state)
{
    (void)state;
    struct budget session, one, other;

    budget_session(&session, UNIT);
    budget_module(&one, &session);
    budget_module(&other, &session);
    assert_int_equal(budget_room(&one), UNIT / 4 * 3);
    assert_int_equal(budget_hold(&one, UNIT / 2), 0);
    assert_int_equal(budget_room(&other), UNIT / 2);
    budget_give_back(&one, UNIT / 2);
    assert_int_equal(budget_room(&other), UNIT / 4 * 3);
    assert_int_equal(budget_fits(&other, UNIT), -EDQUOT);
    assert_int_equal(budget_hold(NULL, UINT64_MAX), 0); /* none: no end */
    assert_int_equal(budget_read(&one, UINT64_MAX), -EDQUOT);
}

static void whole_again(void **state)
{
    (void)state;
    struct budget session, one, spent;

    budget_session(&session, UNIT);
    budget_module(&one, &session);
    budget_module(&spent, &session);
    assert_int_equal(budget_read(&spent, 9 * UNIT), -EDQUOT);
    for (int i = 0; i < 100; i++) { /* a question is good for a quarter of a megabyte */
        budget_refill(&one, 32);
        assert_int_equal(budget_read(&one, 8 * UNIT), 0);
    }
    for (int i = 0; i < 4; i++) {
        budget_refill(&one, 1);
        budget_read(&one, 8 * UNIT);
    }
    assert_true(budget_spent(&one));
    budget_refill(&spent, 1000);
    assert_int_equal(budget_read(&spent, 1), -EDQUOT);
}

static void stopped(void **state)
{
    (void)state;
    atomic_bool stop = false;
    struct budget session, one;

    budget_session(&session, UNIT);
    budget_module(&one, &session);
    session.stop = &stop;
    assert_int_equal(budget_read(&one, 1), 0);
    stop = true;
    assert_int_equal(budget_read(&one, 1), -EDQUOT);
}

static void by_the_environment(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t mb;
    } rows[] = {{"1", 1},    {"4096", 4096},          {"0", 512}, {"x", 512}, {"", 512},
                {"7m", 512}, {"99999999999", 1 << 20}};
    struct budget session;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        setenv("RECKON_BUDGET", rows[i].text, 1);
        budget_session(&session, 0);
        assert_int_equal(session.unit, rows[i].mb << 20);
    }
    unsetenv("RECKON_BUDGET");
    budget_session(&session, 0);
    assert_int_equal(session.unit, UINT64_C(512) << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_module_pays), cmocka_unit_test(a_session_ends_all),
        cmocka_unit_test(what_is_held),  cmocka_unit_test(whole_again),
        cmocka_unit_test(stopped),       cmocka_unit_test(by_the_environment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Nearest names: order, number, limits; and the table of names is as its search needs it. */
#include "base/abi.h"
#include "event/names.h"
#include "event/nearest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *remedy(const char *wanted, const char *const names[])
{
    static char buffer[256];
    struct nearest nearest;
    nearest_start(&nearest, wanted, strlen(wanted));
    for (size_t i = 0; names[i]; i++)
        nearest_offer(&nearest, names[i]);
    return nearest_remedy(&nearest, buffer, sizeof buffer);
}

#define LIST "`reckon list` shows what there is"
#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

static void the_best_three_in_order(void **state)
{
    (void)state;
    assert_string_equal(
        remedy("abcdefghi", NAMES("abcdefxxx", "abcdefghx", "abcdefgxx", "abcdefghi1", "zzz")),
        "did you mean abcdefghx, abcdefghi1 or abcdefgxx? " LIST);
    assert_string_equal(remedy("abcdef", NAMES("abcdfe", "abcxyz")), "did you mean abcdfe? " LIST);
    assert_string_equal(remedy("abcdef", NAMES("abcdxx", "abcdeg")), "did you mean abcdeg or abcdxx? " LIST);
    assert_string_equal(remedy("abcdef", NAMES("uvwxyz")), LIST);
    /* two swapped are one mistake, not two */
    assert_string_equal(remedy("abc", NAMES("acb")), "did you mean acb? " LIST);
}

static void case_and_dashes_are_no_distance(void **state)
{
    (void)state;
    assert_string_equal(remedy("L1_DCACHE_LOADZ", NAMES("L1-dcache-loads")),
                        "did you mean L1-dcache-loads? " LIST);
}

static void a_beginning_is_near(void **state)
{
    (void)state;
    assert_string_equal(remedy("instr", NAMES("instructions")), "did you mean instructions? " LIST);
    assert_string_equal(remedy("in", NAMES("instructions")), LIST);
}

static void what_is_long_is_near_to_nothing(void **state)
{
    (void)state;
    char name[80];
    memset(name, 'a', sizeof name - 1);
    name[79] = '\0';
    assert_string_equal(remedy(name, NAMES(name)), LIST);
    assert_string_equal(remedy("abcd", NAMES(name)), LIST);
    assert_string_equal(remedy("", NAMES("a", "")), LIST);
}

static void every_proposed_name_is_one(void **state)
{
    (void)state;
    char folded[NAME_MAX_FOLDED];
    uint32_t type;
    uint64_t config;
    size_t n = 0;
    for (const char *name; (name = name_at(n)); n++) {
        assert_true(name_fold(folded, name, strlen(name)));
        if (!name_find(folded, &type, &config))
            fail_msg("%s is proposed and not found", name);
        const char *canonical = abi_event_name(type, config);
        assert_non_null(canonical);
        uint32_t type_again;
        uint64_t config_again;
        assert_true(name_fold(folded, canonical, strlen(canonical)));
        assert_true(name_find(folded, &type_again, &config_again));
        assert_true(type == type_again && config == config_again);
    }
    assert_true(n > 60);
    assert_null(abi_event_name(0, 10));
    assert_null(abi_event_name(1, 12));
    assert_null(abi_event_name(3, 7));
    assert_null(abi_event_name(3, 0x20000));
    assert_null(abi_event_name(4, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_three_in_order),    cmocka_unit_test(case_and_dashes_are_no_distance),
        cmocka_unit_test(a_beginning_is_near),        cmocka_unit_test(what_is_long_is_near_to_nothing),
        cmocka_unit_test(every_proposed_name_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

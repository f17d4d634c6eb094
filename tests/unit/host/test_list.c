/* CPU lists: bounds, order, repeats, and what is not one. */
#include "../fake_root.h"
#include "host/list.h"

#include <time.h>

static void lists_become_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text, *canonical;
    } rows[] = {
        {"0", "0"},         {"0-3,8\n", "0-3,8"},       {"8,0-3", "0-3,8"},
        {"1,2,3,2", "1-3"}, {" 0 - 1 , 5 ", "0-1,5"},   {"16383", "16383"},
        {"007", "7"},       {"0-1,1-2,3-3,2-4", "0-4"}, {"0,2,4", "0,2,4"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char buffer[64];
        int32_t *cpus;
        size_t n;
        assert_int_equal(cpu_list_parse(rows[i].text, &cpus, &n, NULL), 0);
        assert_string_equal(cpu_list_print(cpus, n, buffer, sizeof buffer), rows[i].canonical);
        free(cpus);
    }
}

static void mistakes_have_a_place(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int rc;
        size_t position;
    } rows[] = {
        {"", -EINVAL, 0},        {"x", -EINVAL, 0},
        {"0,", -EINVAL, 2},      {",0", -EINVAL, 0},
        {"0--1", -EINVAL, 2},    {"-1", -EINVAL, 0},
        {"3-1", -EINVAL, 2},     {"0-", -EINVAL, 2},
        {"0 1", -EINVAL, 2},     {"16384", -ERANGE, 0},
        {"0-99999", -ERANGE, 2}, {"1.5", -EINVAL, 1},
        {"0x1", -EINVAL, 1},     {"4294967296", -ERANGE, 0},
        {"0,,1", -EINVAL, 2},    {"99999999999999999999999", -ERANGE, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int32_t *cpus = (int32_t *)1;
        size_t n = 77, position = 77;
        if (cpu_list_parse(rows[i].text, &cpus, &n, &position) != rows[i].rc || position != rows[i].position)
            fail_msg("\"%s\": wrong code, or position %zu", rows[i].text, position);
        assert_ptr_equal(cpus, (int32_t *)1);
        assert_int_equal(n, 77);
    }
}

static void a_long_list_costs_little(void **state)
{
    (void)state;
    size_t n = 1 << 20, cpus_n;
    char *text = malloc(n + 16);
    int32_t *cpus;
    assert_non_null(text);
    text[0] = '\0';
    for (size_t at = 0; at < n; at += 8)
        memcpy(text + at, at + 8 < n ? "0-16383," : "0-16383", 8);
    clock_t before = clock();
    assert_int_equal(cpu_list_parse(text, &cpus, &cpus_n, NULL), 0);
    assert_true(clock() - before < 5 * CLOCKS_PER_SEC);
    assert_int_equal(cpus_n, 16384);
    free(cpus);
    free(text);
}

static void printing_is_cut_with_a_sign(void **state)
{
    (void)state;
    int32_t cpus[100];
    char buffer[16];
    for (int i = 0; i < 100; i++)
        cpus[i] = i * 2;
    assert_string_equal(cpu_list_print(cpus, 100, buffer, sizeof buffer), "0,2,4,6,8,…");
    assert_string_equal(cpu_list_print(cpus, 0, buffer, sizeof buffer), "");
    assert_string_equal(cpu_list_print(cpus, 3, buffer, sizeof buffer), "0,2,4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_become_numbers),
        cmocka_unit_test(mistakes_have_a_place),
        cmocka_unit_test(a_long_list_costs_little),
        cmocka_unit_test(printing_is_cut_with_a_sign),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

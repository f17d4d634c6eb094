/* Demangling: C++, both schemes of Rust, what is not mangled, and names made to be endless. */
#include "symbol/demangle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void expect(const char *name, const char *wanted)
{
    struct arena arena = {0};
    assert_string_equal(demangle(name, &arena), demangle_available() ? wanted : name);
    arena_free(&arena);
}

static void schemes(void **state)
{
    (void)state;
    expect("_ZN3foo3barEi", "foo::bar(int)");
    expect("_ZNSt6vectorIiSaIiEE9push_backERKi",
           "std::vector<int, std::allocator<int> >::push_back(int const&)");
    expect("_ZN3foo3barEi.cold", "foo::bar(int) [clone .cold]");
    expect("_ZN3foo3barEi.isra.0.constprop.1", "foo::bar(int) [clone .isra.0] [clone .constprop.1]");
    expect("_ZN3foo3barEi@plt", "foo::bar(int)@plt");
    expect("_ZN4core3ptr13drop_in_place17h0123456789abcdefE", "core::ptr::drop_in_place");
    expect("_RNvCskwGfYPst2Cb_3foo16example_function", "foo::example_function");
    expect("_RNvNtNtCs1234_7mycrate3foo3bar3baz", "mycrate::foo::bar::baz");
}

static void left_alone(void **state)
{
    (void)state;
    static const char *const names[] = {"",        "_",       "_Z",      "_R",   "main",
                                        "_Zwrong", "_Rwrong", "_ZN3foo", "_init"};
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_ptr_equal(demangle(names[i], &arena), names[i]);
    assert_int_equal(arena.bytes, 0);
    arena_free(&arena);
}

/* Each level names the last one twice: 2^60 texts in a few hundred bytes. */
static void endless(void **state)
{
    (void)state;
    char name[1024], *at;
    struct arena arena = {0};
    strcpy(name, "_Z1f1a");
    at = name + strlen(name);
    for (unsigned i = 0; i < 60; i++) { /* pair<last, last> */
        char seq[8];
        if (i == 0)
            strcpy(seq, "S_");
        else if (2 * i - 1 < 36)
            snprintf(seq, sizeof seq, "S%c_", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[2 * i - 1]);
        else
            snprintf(seq, sizeof seq, "S1%c_", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[(2 * i - 1) % 36]);
        at += snprintf(at, (size_t)(name + sizeof name - at), "1bI%s%sE", seq, seq);
    }
    assert_non_null(demangle(name, &arena));
    assert_true(arena.bytes <= DEMANGLED_MAX + 1);

    strcpy(name, "_RINvC1a1f");
    at = name + strlen(name);
    size_t last = 0;
    for (unsigned i = 0; i < 40; i++) { /* tuples of the last tuple, by back references */
        size_t here = (size_t)(at - name) - 2;
        if (i == 0) {
            strcpy(at, "TllE");
        } else {
            char digits[8] = "";
            size_t n = 0, value = last;
            for (value = last - 1; value; value /= 62)
                digits[n++] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[value % 62];
            char reference[16] = "B";
            for (size_t k = 0; k < n; k++)
                reference[1 + k] = digits[n - 1 - k];
            strcat(reference, "_");
            sprintf(at, "T%s%sE", reference, reference);
        }
        last = here;
        at += strlen(at);
    }
    strcpy(at, "E");
    assert_non_null(demangle(name, &arena));
    arena_free(&arena);
}

/* Longer than any real one. */
static void too_long(void **state)
{
    (void)state;
    static char name[4 * DEMANGLED_MAX];
    struct arena arena = {0};
    memset(name, 'a', sizeof name - 1);
    memcpy(name, "_Z60000", 7);
    assert_ptr_equal(demangle(name, &arena), name);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schemes),
        cmocka_unit_test(left_alone),
        cmocka_unit_test(endless),
        cmocka_unit_test(too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

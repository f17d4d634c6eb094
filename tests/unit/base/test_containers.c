/* Arrays, arenas, tables, interned texts, and the cursor that never leaves its bytes. */
#include "base/arena.h"
#include "base/cursor.h"
#include "base/intern.h"
#include "base/table.h"
#include "base/vector.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void vector_keeps_what_was_pushed(void **state)
{
    (void)state;
    VECTOR(int) v = {0};
    for (int i = 0; i < 10000; i++)
        *vector_push(&v) = i;
    assert_int_equal(v.n, 10000);
    for (int i = 0; i < 10000; i++)
        assert_int_equal(v.items[i], i);
    assert_int_equal(vector_reserve(&v, SIZE_MAX), -ENOMEM);
    assert_int_equal(v.n, 10000);
    vector_free(&v);
    assert_null(v.items);
}

static void arena_never_moves(void **state)
{
    (void)state;
    struct arena arena = {0};
    char *first = arena_text(&arena, "first", 5);
    for (size_t i = 1; i < 5000; i++) {
        char *at = arena_alloc(&arena, i);
        assert_int_equal((uintptr_t)at % 16, 0);
        memset(at, 0xff, i);
    }
    assert_string_equal(first, "first");
    assert_null(arena_alloc(&arena, SIZE_MAX));
    assert_string_equal(arena_text(&arena, NULL, 0), "");
    arena_free(&arena);
    arena_free(&arena);
}

static void table_finds_every_key(void **state)
{
    (void)state;
    struct table t = {0};
    assert_int_equal(table_get(&t, 1), TABLE_NONE);
    for (uint64_t i = 0; i < 50000; i++)
        assert_int_equal(table_put(&t, i << 32 | i, (uint32_t)i), 0);
    assert_int_equal(table_put(&t, 0, 77), 0);
    assert_int_equal(t.n, 50000);
    assert_int_equal(table_get(&t, 0), 77);
    for (uint64_t i = 1; i < 50000; i++)
        assert_int_equal(table_get(&t, i << 32 | i), i);
    assert_int_equal(table_get(&t, 12345), TABLE_NONE);
    table_free(&t);
}

static void intern_gives_each_text_one_number(void **state)
{
    (void)state;
    struct intern in = {0};
    char text[20];
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 5000; i++) {
            int n = snprintf(text, sizeof text, "name%d", i);
            assert_int_equal(intern_add(&in, text, (size_t)n), i);
            assert_string_equal(intern_text(&in, (uint32_t)i), text);
        }
    assert_int_equal(intern_add(&in, "", 0), 5000);
    assert_int_equal(intern_add(&in, "a\0b", 3), 5001); /* bytes, not C strings */
    assert_int_equal(intern_add(&in, "a\0c", 3), 5002);
    intern_free(&in);
}

/* Hides from the compiler what is known of the bytes: it would warn of the reads that the cursor refuses. */
static __attribute__((noinline)) struct cursor hidden(const void *bytes, size_t n)
{
    return cursor_of(bytes, n);
}

static void cursor_stays_inside(void **state)
{
    (void)state;
    const unsigned char bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 'h', 'i', 0, 9};
    struct cursor c = hidden(bytes, sizeof bytes);
    assert_int_equal(cursor_u32(&c), 0x04030201);
    assert_int_equal(cursor_u16(&c), 0x0605);
    assert_int_equal(cursor_u8(&c), 7);
    assert_int_equal(cursor_u8(&c), 8);
    assert_string_equal(cursor_text(&c), "hi");
    assert_false(c.bad);
    assert_int_equal(cursor_u64(&c), 0); /* one byte is left */
    assert_true(c.bad);
    assert_int_equal(cursor_left(&c), 0);
    assert_null(cursor_text(&c));

    c = hidden(bytes, sizeof bytes);
    assert_null(cursor_words(&c, UINT64_MAX / 8 + 2)); /* would wrap to a few bytes */
    assert_true(c.bad);
    c = hidden(bytes, 4);
    assert_null(cursor_text(&c)); /* no NUL inside */
    assert_true(c.bad);
    c = hidden(NULL, 0);
    assert_int_equal(cursor_u8(&c), 0);
    assert_true(c.bad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vector_keeps_what_was_pushed), cmocka_unit_test(arena_never_moves),
        cmocka_unit_test(table_finds_every_key),        cmocka_unit_test(intern_gives_each_text_one_number),
        cmocka_unit_test(cursor_stays_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

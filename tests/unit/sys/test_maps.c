/* The lines of /proc/PID/maps. */
#include "sys/maps.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static char text[4096];
static char *at;
static struct maps_line line;

static void read_text(const char *what)
{
    assert_true(strlen(what) < sizeof text);
    strcpy(text, what);
    at = text;
}

static void every_field(void **state)
{
    (void)state;
    read_text("55a000002000-55a000009000 r-xp 00001000 fe:1f 1234                       /usr/bin/my worker\n"
              "7f0000000000-7f0000001000 -w-s fffffffffffff000 00:00 18446744073709551615 /x\n");
    assert_int_equal(maps_next(&at, &line), 1);
    assert_int_equal(line.start, 0x55a000002000);
    assert_int_equal(line.end, 0x55a000009000);
    assert_int_equal(line.protection, 5);
    assert_false(line.shared);
    assert_int_equal(line.offset, 0x1000);
    assert_int_equal(line.major, 0xfe);
    assert_int_equal(line.minor, 0x1f);
    assert_int_equal(line.inode, 1234);
    assert_string_equal(line.path, "/usr/bin/my worker");
    assert_int_equal(maps_next(&at, &line), 1);
    assert_int_equal(line.protection, 2);
    assert_true(line.shared);
    assert_int_equal(line.offset, UINT64_C(0xfffffffffffff000));
    assert_int_equal(line.inode, UINT64_MAX);
    assert_string_equal(line.path, "/x");
    assert_int_equal(maps_next(&at, &line), 0);
    assert_int_equal(maps_next(&at, &line), 0);
}

/* As the kernel's own records have them. */
static void paths(void **state)
{
    static const struct {
        const char *written, *path;
    } cases[] = {
        {"0 ", "//anon"},
        {"0", "//anon"},
        {"0                          [vdso]", "[vdso]"},
        {"5 /a b  c", "/a b  c"},
        {"5 /new\\012line", "/new\nline"},
        {"5 /\\012\\012", "/\n\n"},
        {"5 /back\\slash\\", "/back\\slash\\"},
        {"5 /\\01", "/\\01"},
        {"5 /\\013\\01\\012", "/\\013\\01\n"},
        {"5 /tmp/gone (deleted)", "/tmp/gone (deleted)"},
        {"5 /memfd:jit\\012 (deleted)", "/memfd:jit\n (deleted)"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int newline = 0; newline < 2; newline++) {
            char one[256] = "1000-2000 r-xp 0 8:2 ";
            strcat(one, cases[i].written);
            strcat(one, newline ? "\n3000-4000 rw-p 0 0:0 0 \n" : "");
            read_text(one);
            assert_int_equal(maps_next(&at, &line), 1);
            assert_string_equal(line.path, cases[i].path);
            assert_int_equal(maps_next(&at, &line), newline);
            if (newline) {
                assert_int_equal(line.start, 0x3000);
                assert_string_equal(line.path, "//anon");
            }
        }
}

/* Each is refused, and the line behind it is read. */
static void other_lines(void **state)
{
    static const char *const bad[] = {
        "",
        "nonsense",
        "1-2",
        "1000-2000 r-xp",
        "1000-2000 r-x 0 8:2 1 /x",
        "1000-2000 r-xp 0 8",
        "1000-2000 r-xp 0 8:2",
        "1000-2000 r-xp 0 8:2 ",
        "1000-2000 r-xp 0 8:2 /x",
        "1000-2000 r-xp 0 8:2 1x /x",
        "1000-2000 r-xp  0 8:2 1 /x",
        "-2000 r-xp 0 8:2 1 /x",
        "2000-2000 r-xp 0 8:2 1 /x",
        "2000-1000 r-xp 0 8:2 1 /x",
        "1000-10000000000000000 r-xp 0 8:2 1 /x",
        "fffffffffffffffff-2000 r-xp 0 8:2 1 /x",
        "1000-2000 r-xp 123456789abcdef01 8:2 1 /x",
        "1000-2000 r-xp 0 100000000:2 1 /x",
        "1000-2000 r-xp 0 8:100000000 1 /x",
        "1000-2000 r-xp 0 8:2 18446744073709551616 /x",
        "1000-2000 r-xp 0 8:2 99999999999999999999 /x",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char two[256];
        strcpy(two, bad[i]);
        strcat(two, "\n5000-6000 r-xp 0 8:2 7 /good");
        read_text(two);
        assert_int_equal(maps_next(&at, &line), -EBADMSG);
        assert_int_equal(maps_next(&at, &line), 1);
        assert_string_equal(line.path, "/good");
        assert_int_equal(maps_next(&at, &line), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field),
        cmocka_unit_test(paths),
        cmocka_unit_test(other_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Text from outside in messages: one line, valid, bounded. */
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void shown_as_one_plain_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *shown;
    } rows[] = {
        {"plain text", "plain text"},
        {"", ""},
        {"a\nb\tc\x1b[0m\x7f", "a\\x0ab\\x09c\\x1b[0m\\x7f"},
        {"sch\xc3\xb6n \xe2\x82\xac \xf0\x9f\x99\x82", "sch\xc3\xb6n \xe2\x82\xac \xf0\x9f\x99\x82"},
        {"\xff\xc3", "\\xff\\xc3"},
        {"\xc0\xaf\xed\xa0\x80", "\\xc0\\xaf\\xed\\xa0\\x80"}, /* overlong; half a surrogate pair */
        {"\xc2\x9b", "\\xc2\\x9b"},                            /* a control character above ASCII's */
    };
    char buffer[64];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(text_show(buffer, sizeof buffer, rows[i].text, strlen(rows[i].text)),
                            rows[i].shown);
}

static void cut_between_characters(void **state)
{
    (void)state;
    char buffer[10];
    assert_string_equal(text_show(buffer, sizeof buffer, "123456789", 9), "123456789");
    assert_string_equal(text_show(buffer, sizeof buffer, "1234567890", 10), "123456\xe2\x80\xa6");
    assert_string_equal(text_show(buffer, sizeof buffer, "12345\xe2\x82\xac\xe2\x82\xac", 11),
                        "12345\xe2\x80\xa6");
    assert_string_equal(text_show(buffer, sizeof buffer, "\x01\x01\x01", 3), "\\x01\xe2\x80\xa6");
    /* whatever the length and the room, nothing is written beyond it */
    for (size_t size = 8; size < 24; size++)
        for (size_t n = 0; n < 24; n++) {
            char room[32], text[24];
            memset(room, 'Z', sizeof room);
            memset(text, n % 3 ? 'x' : '\x02', sizeof text);
            text_show(room, size, text, n);
            assert_true(strlen(room) < size);
            for (size_t i = size; i < sizeof room; i++)
                assert_int_equal(room[i], 'Z');
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shown_as_one_plain_line),
        cmocka_unit_test(cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A tracepoint's format: what tracefs writes, and what it should not. */
#include "record/format.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char text[] = "name: sched_process_exec\n"
                           "ID: 313\n"
                           "format:\n"
                           "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                           "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
                           "\n"
                           "\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n"
                           "\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n"
                           "\tfield:char comm[16];\toffset:16;\tsize:16;\tsigned:0;\n"
                           "\tfield:__rel_loc u8[] bytes;\toffset:32;\tsize:4;\tsigned:0;\n"
                           "\tfield:unsigned long args[6];\toffset:40;\tsize:48;\tsigned:0;\n"
                           "\tfield:const char * pointer;\toffset:88;\tsize:8;\tsigned:0;\n"
                           "\n"
                           "print fmt: \"field:int no;\toffset:0;\tsize:4;\tsigned:1;\", REC->pid\n";

static void every_kind_of_field(void **state)
{
    (void)state;
    static const struct {
        const char *name, *type;
        uint32_t offset, size, kind;
        bool is_signed, is_text, is_common;
    } rows[] = {
        {"common_type", "unsigned short", 0, 2, FORMAT_PLAIN, false, false, true},
        {"common_pid", "int", 4, 4, FORMAT_PLAIN, true, false, true},
        {"filename", "__data_loc char[]", 8, 4, FORMAT_DYNAMIC, false, true, false},
        {"pid", "pid_t", 12, 4, FORMAT_PLAIN, true, false, false},
        {"comm", "char", 16, 16, FORMAT_ARRAY, false, true, false},
        {"bytes", "__rel_loc u8[]", 32, 4, FORMAT_RELATIVE, false, false, false},
        {"args", "unsigned long", 40, 48, FORMAT_ARRAY, false, false, false},
        {"pointer", "const char *", 88, 8, FORMAT_PLAIN, false, false, false},
    };
    struct format_field fields[16];
    uint64_t id = 0;
    assert_int_equal(format_parse(text, strlen(text), fields, 16, &id), 8);
    assert_int_equal(id, 313);
    for (size_t i = 0; i < 8; i++) {
        const struct format_field *f = format_find(fields, 8, rows[i].name);
        assert_ptr_equal(f, &fields[i]);
        assert_int_equal(f->type_n, strlen(rows[i].type));
        assert_memory_equal(f->type, rows[i].type, f->type_n);
        assert_true(f->offset == rows[i].offset && f->size == rows[i].size && f->kind == rows[i].kind &&
                    f->is_signed == rows[i].is_signed && f->is_text == rows[i].is_text &&
                    f->is_common == rows[i].is_common);
    }
    assert_null(format_find(fields, 8, "no"));
    assert_null(format_find(fields, 8, "fil"));
    struct format_field two[2];
    assert_int_equal(format_parse(text, strlen(text), two, 2, &id), 8); /* how many there are */
    assert_int_equal(format_parse(text, strlen(text), NULL, 0, &id), 8);
}

static void damaged(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "name: x\n",
        "ID: 1\n",
        "format:\n",
        "ID: one\nformat:\n",
        "ID: 1\nID: 2\nformat:\n",
        "ID: 99999999999\nformat:\n",
        "ID: 1\nformat:\n\tfield:\n",
        "ID: 1\nformat:\n\tfield:int;\toffset:0;\tsize:4;\n",
        "ID: 1\nformat:\n\tfield:int x;\toffset:;\tsize:4;\n",
        "ID: 1\nformat:\n\tfield:int x;\toffset:0;\tsize:99999;\n",
        "ID: 1\nformat:\n\tfield:int x;\toffset:65530;\tsize:8;\n",
        "ID: 1\nformat:\n\tfield:int x;\toffset:0;\tsize:4;\tsigned:2;\n",
        "ID: 1\nformat:\n\tfield:__data_loc char[] x;\toffset:0;\tsize:8;\n",
        "ID: 1\nformat:\n\tfield:];\toffset:0;\tsize:8;\n",
        "ID: 1\nformat:\n\tfield:int x",
    };
    struct format_field fields[4];
    uint64_t id = 77;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (format_parse(texts[i], strlen(texts[i]), fields, 4, &id) != -EBADMSG || id != 77)
            fail_msg("%s", texts[i]);
    for (size_t n = 0; n < strlen(text); n++) { /* cut anywhere */
        int rc = format_parse(text, n, fields, 4, &id);
        assert_true(rc == -EBADMSG || (rc >= 0 && rc <= 8));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_kind_of_field), cmocka_unit_test(damaged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

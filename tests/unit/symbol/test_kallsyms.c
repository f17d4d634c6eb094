/* /proc/kallsyms: parsed, bounded, and the running kernel's own. */
#include "symbol/kallsyms.h"
#include "sys/file.h"

#include "../fake_root.h"

static int parse(const char *text, struct kallsyms *ret)
{
    char *copy = strdup(text);
    assert_non_null(copy);
    return kallsyms_parse(copy, strlen(copy), ret);
}

static const char *name_at(const struct kallsyms *kallsyms, uint64_t address)
{
    const struct index_entry *entry = kallsyms_find(kallsyms, address, &(const struct index *){NULL});
    return entry ? kallsyms->names + (entry->name & ~NAME_MANGLED) : "-";
}

static const char text[] = "ffffffff81000000 T _stext\n"
                           "ffffffff81000000 T _text\n"
                           "ffffffff81000000 t startup_64\n"
                           "ffffffff81000040 t helper\n"
                           "ffffffff81000080 W weak_alias\n"
                           "ffffffff81000080 T do_work\n"
                           "ffffffff810000c0 D a_datum\n"
                           "ffffffff81000100 T last_function\n"
                           "ffffffff81000140 T _etext\n"
                           "ffffffff82000000 B __bss_stop\n"
                           "ffffffffc0002000 t second_b\t[second]\n"
                           "ffffffffc0002100 t second_c\t[second]\n"
                           "ffffffffc0001040 t first_b\t[first]\n"
                           "ffffffffc0001000 t first_a\t[first]\n"
                           "ffffffffc0001080 d first_datum\t[first]\n"
                           "ffffffffc0009000 t bpf_prog_6deef7357e7b4530\t[bpf]\n";

static void functions(void **state)
{
    (void)state;
    struct kallsyms k;
    assert_int_equal(parse(text, &k), 0);
    assert_int_equal(k.text, 0xffffffff81000000);
    assert_int_equal(k.stext, 0xffffffff81000000);
    assert_string_equal(name_at(&k, 0xffffffff80ffffff), "-");
    assert_string_equal(name_at(&k, 0xffffffff8100003f), "_stext"); /* global, the longest */
    assert_string_equal(name_at(&k, 0xffffffff81000040), "helper");
    assert_string_equal(name_at(&k, 0xffffffff81000080), "do_work");
    assert_string_equal(name_at(&k, 0xffffffff810000c0), "-"); /* data ends a function */
    assert_string_equal(name_at(&k, 0xffffffff8100013f), "last_function");
    assert_string_equal(name_at(&k, 0xffffffff81000140), "-"); /* as does the end of the text */
    kallsyms_free(&k);
}

static void modules(void **state)
{
    (void)state;
    struct kallsyms k;
    assert_int_equal(parse(text, &k), 0);
    assert_string_equal(name_at(&k, 0xffffffffc0001000), "first_a");
    assert_string_equal(name_at(&k, 0xffffffffc0001041), "first_b");
    assert_string_equal(name_at(&k, 0xffffffffc0001080), "-");
    assert_string_equal(name_at(&k, 0xffffffffc0002fff), "second_c"); /* the last one's page … */
    assert_string_equal(name_at(&k, 0xffffffffc0003000), "-");        /* … and no further */
    assert_string_equal(name_at(&k, 0xffffffffc0009001), "bpf_prog_6deef7357e7b4530");
    assert_string_equal(name_at(&k, 0xffffffffff600000), "-");
    assert_string_equal(kallsyms_module(name_at(&k, 0xffffffffc0002fff)), "[second]");
    assert_string_equal(kallsyms_module(name_at(&k, 0xffffffff81000040)), "");
    kallsyms_free(&k);
}

static void not_without_end(void **state)
{
    (void)state;
    struct kallsyms k;
    assert_int_equal(parse("ffffffff81000000 T only\n", &k), 0);
    assert_string_equal(name_at(&k, 0xffffffff810fffff), "only");
    assert_string_equal(name_at(&k, 0xffffffff81100000), "-");
    kallsyms_free(&k);
    assert_int_equal(parse("fffffffffffffff0 T near_the_end\nfffffffffffffff8 t x\t[m]\n", &k), 0);
    assert_string_equal(name_at(&k, 0xfffffffffffffff5), "near_the_end");
    assert_string_equal(name_at(&k, 0xfffffffffffffffe), "near_the_end");
    kallsyms_free(&k);
}

static void hidden_or_empty(void **state)
{
    (void)state;
    struct kallsyms k;
    assert_int_equal(parse("0000000000000000 T _text\n0000000000000000 t other\t[mod]\n", &k), -EACCES);
    assert_int_equal(parse("", &k), -ENOENT);
    assert_int_equal(parse("nothing of the kind\n\n\n", &k), -ENOENT);

    int root = sys_root_open(fake_root());
    assert_int_equal(kallsyms_load(root, "proc/kallsyms", &k), -ENOENT);
    fake_file("proc/kallsyms", text);
    assert_int_equal(kallsyms_load(root, "proc/kallsyms", &k), 0);
    assert_string_equal(name_at(&k, 0xffffffff81000040), "helper");
    kallsyms_free(&k);
    sys_close(root);
    fake_end();
}

/* Cut anywhere, and with any byte replaced: never a byte beyond the end (a sanitizer looks). */
static void damaged(void **state)
{
    (void)state;
    size_t n = sizeof text - 1;
    struct kallsyms k;
    for (size_t cut = 0; cut <= n; cut++) {
        char *copy = strndup(text, cut);
        assert_non_null(copy);
        int rc = kallsyms_parse(copy, cut, &k);
        assert_true(rc == 0 || rc == -ENOENT);
        if (rc == 0) {
            assert_true(cut == n || cut > strcspn(text, "\n"));
            kallsyms_module(name_at(&k, 0xffffffffc0009001));
            kallsyms_free(&k);
        }
    }
    for (size_t at = 0; at < n; at++)
        for (size_t i = 0; i < sizeof "\n\t []T0z"; i++) { /* and the NUL */
            char *copy = strdup(text);
            assert_non_null(copy);
            copy[at] = "\n\t []T0z"[i];
            if (kallsyms_parse(copy, n, &k) == 0) {
                for (uint64_t a = 0xffffffff81000000; a < 0xffffffff81000180; a += 16)
                    kallsyms_module(name_at(&k, a));
                kallsyms_free(&k);
            }
        }
}

/* Every function of the running kernel has, at its beginning, one of the names listed there. */
static void this_kernel(void **state)
{
    (void)state;
    struct kallsyms k;
    char *lines;
    size_t n, compared = 0;
    int root = sys_root_open(NULL);
    if (kallsyms_load(root, "proc/kallsyms", &k) < 0) {
        sys_close(root);
        print_message("the kernel's symbols are hidden from this user\n");
        skip();
    }
    assert_int_equal(sys_file_load(root, "proc/kallsyms", 1 << 28, &lines, &n), 0);
    sys_close(root);
    uint64_t group = 0;
    const char *wanted = NULL;
    bool found = true;
    for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n")) {
        char *at;
        uint64_t address = strtoull(line, &at, 16);
        if (!strchr("TtWw", at[1]) || strchr(at, '['))
            continue;
        if (address != group) { /* the kernel's own are sorted */
            assert_true(found);
            group = address, found = false, compared++;
            wanted = name_at(&k, address);
        }
        found = found || strcmp(wanted, at + 3) == 0 || strcmp(at + 3, "_etext") == 0 ||
                strcmp(at + 3, "_einittext") == 0;
    }
    assert_true(found);
    assert_true(compared > 10000);
    free(lines);
    kallsyms_free(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions),       cmocka_unit_test(modules), cmocka_unit_test(not_without_end),
        cmocka_unit_test(hidden_or_empty), cmocka_unit_test(damaged), cmocka_unit_test(this_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

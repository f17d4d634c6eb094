/* perf-PID.map: the last line wins, bad lines are skipped, only what was appended is read, and only a file whose owner
 * may speak for the process is believed. */
#include "symbol/perfmap.h"

#include "../fake_root.h"

#include <reckon/reckon.h>

static struct rk_symbolizer *open_here(void)
{
    struct rk_symbolizer_options options = {.size = sizeof options, .root = fake_path};
    struct rk_symbolizer *symbolizer = NULL;
    assert_int_equal(rk_symbolizer_open(&options, &symbolizer, NULL), 0);
    return symbolizer;
}

static uint64_t distance; /* of the last answer */

static const char *name_at(struct rk_symbolizer *symbolizer, int32_t pid, uint64_t address)
{
    struct rk_module module = {
        .size = sizeof module, .kind = RK_MODULE_ANONYMOUS, .path = "//anon", .name = "//anon", .pid = pid};
    struct rk_symbol symbol = {.miss = 99};
    assert_int_equal(rk_symbolizer_resolve(symbolizer, &module, &address, 1, &symbol), 0);
    distance = symbol.distance;
    return symbol.name ? symbol.name : rk_miss_text(symbol.miss);
}

#define NO_MAP rk_miss_text(RK_MISS_ANONYMOUS)
#define NO_NAME rk_miss_text(RK_MISS_NO_SYMBOL)

static void append(const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s/%s", fake_path, path);
    FILE *file = fopen(full, "ae");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void grows(void **state)
{
    (void)state;
    fake_root();
    struct rk_symbolizer *s = open_here();
    assert_string_equal(name_at(s, 42, 0x1000), NO_MAP);
    fake_file("tmp/perf-42.map",
              "1000 100 first one\n0x2000 0x10 Second:~f /srv/a b.js:3\n3000 10 not yet whol");
    assert_string_equal(name_at(s, 42, 0x1000), "first one");
    const char *first = name_at(s, 42, 0x10ff);
    assert_int_equal(distance, 0xff);
    assert_string_equal(name_at(s, 42, 0x1100), NO_NAME);
    assert_string_equal(name_at(s, 42, 0x200f), "Second:~f /srv/a b.js:3");
    assert_string_equal(name_at(s, 42, 0x3000), NO_NAME);
    append("tmp/perf-42.map", "e\n1080 20 second\n4000 10 _ZN3foo3barEi\n");
    assert_string_equal(name_at(s, 42, 0x3000), "not yet whole");
    assert_string_equal(name_at(s, 42, 0x107f), "first one");
    assert_string_equal(name_at(s, 42, 0x1080), "second");
    assert_string_equal(name_at(s, 42, 0x10a0), "first one");
    assert_string_equal(name_at(s, 42, 0x4000),
                        rk_symbolizer_demangles() ? "foo::bar(int)" : "_ZN3foo3barEi");
    assert_string_equal(first, "first one"); /* an answer stays good */
    assert_string_equal(name_at(s, 43, 0x1000), NO_MAP);

    /* Begun anew by another program with that pid. */
    fake_file("tmp/perf-42.map", "1000 8 new\n");
    assert_string_equal(name_at(s, 42, 0x1000), "new");
    assert_string_equal(name_at(s, 42, 0x1080), NO_NAME);
    rk_symbolizer_free(s);
    fake_end();
}

/* What was read is not read again: a change in it is not seen. */
static void appended_only(void **state)
{
    (void)state;
    fake_root();
    struct rk_symbolizer *s = open_here();
    fake_file("tmp/perf-42.map", "1000 100 one\n");
    assert_string_equal(name_at(s, 42, 0x1000), "one");
    fake_file("tmp/perf-42.map", "1000 100 two\n2000 100 three\n");
    assert_string_equal(name_at(s, 42, 0x1000), "one");
    assert_string_equal(name_at(s, 42, 0x2000), "three");
    rk_symbolizer_free(s);
    fake_end();
}

static void bad_lines(void **state)
{
    (void)state;
    struct perfmap map = {0};
    struct intern names = {0};
    static const char text[] = "\n"
                               "1000\n"
                               "1000 10\n"
                               "1000 10 \n"
                               "1000 0 empty\n"
                               "xyz 10 no number\n"
                               "1000 -1 negative\n"
                               "1000 10000000000000000 too wide\n"
                               "1000 100000000 longer than any function\n"
                               "fffffffffffffff0 ff beyond the end\n"
                               "1000 10 a\0b\n"
                               "1000  10 two blanks\n"
                               "1000 10 good\n"
                               "fffffffffffffff0 f last\n"
                               "2000 10 unended";
    assert_int_equal(perfmap_parse(&map, text, sizeof text - 1, &names),
                     sizeof text - 1 - strlen("2000 10 unended"));
    assert_int_equal(map.lines.n, 2);
    assert_int_equal(perfmap_index(&map), 0);
    assert_string_equal(intern_text(&names, index_find(&map.index, 0x1000)->name), "good");
    assert_string_equal(intern_text(&names, index_find(&map.index, UINT64_MAX - 1)->name), "last");
    assert_null(index_find(&map.index, UINT64_MAX));
    perfmap_free(&map);
    intern_free(&names);
}

/* Random lines over few addresses against the plain rule. */
static void last_wins(void **state)
{
    (void)state;
    srand(7);
    for (int round = 0; round < 200; round++) {
        struct perfmap map = {0};
        struct intern names = {0};
        const char *wanted[64] = {NULL};
        char texts[40][16];
        for (int i = 0; i < 40; i++) {
            unsigned start = (unsigned)rand() % 60, bytes = 1 + (unsigned)rand() % (60 - start);
            char line[64];
            snprintf(texts[i], sizeof texts[i], "f%d", i);
            int n = snprintf(line, sizeof line, "%x %x %s\n", start, bytes, texts[i]);
            assert_int_equal(perfmap_parse(&map, line, (size_t)n, &names), n);
            for (unsigned k = start; k < start + bytes; k++)
                wanted[k] = texts[i];
            if (i % 13 == 0)
                assert_int_equal(perfmap_index(&map), 0);
        }
        assert_int_equal(perfmap_index(&map), 0);
        for (unsigned k = 0; k < 64; k++) {
            const struct index_entry *found = index_find(&map.index, k);
            assert_int_equal(!found, !wanted[k]);
            if (found)
                assert_string_equal(intern_text(&names, found->name), wanted[k]);
        }
        perfmap_free(&map);
        intern_free(&names);
    }
}

/* Its own /tmp and its own pid. */
static void container(void **state)
{
    (void)state;
    fake_root();
    struct rk_symbolizer *s = open_here();
    fake_file("proc/4242/status", "Name:\tnode\nNSpid:\t4242\t7\nTgid:\t4242\n");
    fake_file("proc/4242/root/tmp/perf-7.map", "1000 10 inside\n");
    fake_file("tmp/perf-4242.map", "1000 10 outside\n");
    assert_string_equal(name_at(s, 4242, 0x1000), "inside");
    fake_file("proc/4243/status",
              "Name:\tnode\nTgid:\t4243\n"); /* an old kernel; /proc/PID/root can't be followed */
    fake_file("tmp/perf-4243.map", "1000 10 outside\n");
    assert_string_equal(name_at(s, 4243, 0x1000), "outside");
    rk_symbolizer_free(s);
    fake_end();
}

static void owners(void **state)
{
    (void)state;
    fake_root();
    if (chown(fake_path, 65534, 65534) != 0 || chown(fake_path, geteuid(), getegid()) != 0) {
        print_message("this user can't give a file to another: %s\n", strerror(errno));
        fake_end();
        skip();
    }
    struct rk_symbolizer *s = open_here();
    char path[512];
    fake_file("tmp/perf-42.map", "1000 10 theirs\n");
    snprintf(path, sizeof path, "%s/tmp/perf-42.map", fake_path);
    assert_int_equal(chown(path, 65534, 65534), 0);
    assert_string_equal(name_at(s, 42, 0x1000), rk_miss_text(RK_MISS_NOT_YOURS));
    fake_file("proc/42/", "");
    assert_string_equal(name_at(s, 42, 0x1000), rk_miss_text(RK_MISS_NOT_YOURS));
    snprintf(path, sizeof path, "%s/proc/42", fake_path);
    assert_int_equal(chown(path, 65534, 65534), 0);
    assert_string_equal(name_at(s, 42, 0x1000), "theirs");

    /* Not a file, or a way to another one. */
    snprintf(path, sizeof path, "%s/tmp/perf-43.map", fake_path);
    assert_int_equal(symlink("perf-42.map", path), 0);
    assert_string_equal(name_at(s, 43, 0x1000), NO_MAP);
    snprintf(path, sizeof path, "%s/tmp/perf-44.map", fake_path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_string_equal(name_at(s, 44, 0x1000), NO_MAP);
    rk_symbolizer_free(s);
    fake_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows),     cmocka_unit_test(appended_only), cmocka_unit_test(bad_lines),
        cmocka_unit_test(last_wins), cmocka_unit_test(container),     cmocka_unit_test(owners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Debug information that stays open between calls: how much of it, and that what was closed answers as before. */
#include "../fixture.h"
#include "symbol/symbolizer.h"

#include <reckon/reckon.h>

#include <dirent.h>
#include <sys/resource.h>

enum { MANY = 200 };

static char paths[MANY][300];
static uint64_t offset;

static unsigned descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    unsigned n = 0;

    while (readdir(directory))
        n++;
    closedir(directory);
    return n;
}

/* So many programs that differ in name alone. */
static void make_programs(unsigned n)
{
    char command[2048], line[256];
    uint64_t address = 0;

    fake_root();
    fake_file("prog.c", "__attribute__((noinline)) int work(int x)\n"
                        "{\n"
                        "    return x * 3 + 1;\n"
                        "}\n"
                        "int main(int n, char **v) { (void)v; return work(n); }\n");
    snprintf(
        command, sizeof command,
        "cd '%s' && cc -g -O0 -o 0 prog.c && for i in $(seq 1 %u); do ln 0 $i; done && nm 0 | grep ' T work'",
        fake_path, n - 1);
    FILE *pipe = popen(command, "re");
    assert_non_null(pipe);
    assert_non_null(fgets(line, sizeof line, pipe));
    assert_int_equal(pclose(pipe), 0);
    assert_int_equal(sscanf(line, "%lx", &address), 1);
    offset = address;
    for (unsigned i = 0; i < n; i++)
        snprintf(paths[i], sizeof paths[i], "%s/%u", fake_path, i);
}

static struct rk_symbolizer *open_symbolizer(uint64_t bytes)
{
    struct rk_symbolizer_options options = {
        .size = sizeof options, .flags = RK_SYMBOLIZER_ADDRESSES, .lines_bytes = bytes};
    struct rk_symbolizer *s = NULL;

    assert_int_equal(rk_symbolizer_open(&options, &s, NULL), 0);
    return s;
}

static void ask(struct rk_symbolizer *s, unsigned program)
{
    struct rk_module module = {
        .size = sizeof module, .kind = RK_MODULE_FILE, .path = paths[program], .name = "prog"};
    struct rk_sources *sources = NULL;

    assert_int_equal(rk_symbolizer_sources(s, &module, &offset, 1, NULL, &sources, NULL), 0);
    assert_int_equal(sources->frame_n, 1);
    assert_string_equal(sources->function[0], "work");
    assert_int_equal(sources->line[0], 2);
    rk_sources_free(sources);
}

static unsigned open_now(const struct rk_symbolizer *s, uint64_t *ret_held)
{
    unsigned n = 0;

    *ret_held = 0;
    for (struct shelved *lines = s->shelf; lines; lines = lines->next, n++)
        *ret_held += dwarf_held(lines->dwarf);
    return n;
}

/* More files with lines than there may be descriptors. */
static void few_descriptors(void **state)
{
    (void)state;
    struct rlimit before, few;
    uint64_t held;

    make_programs(MANY);
    struct rk_symbolizer *s = open_symbolizer(0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = descriptors() + SHELF_FILES + 10;
    assert_true(few.rlim_cur < MANY);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    for (unsigned round = 0; round < 2; round++)
        for (unsigned i = 0; i < MANY; i++)
            ask(s, i);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(open_now(s, &held), SHELF_FILES);
    rk_symbolizer_free(s);
    fake_end();
}

/* Room for three: the one that was used longest ago goes, and comes back. */
static void few_bytes(void **state)
{
    (void)state;
    uint64_t one, held;

    make_programs(6);
    struct rk_symbolizer *s = open_symbolizer(0);
    ask(s, 0);
    assert_int_equal(open_now(s, &one), 1);
    assert_true(one > 0);
    ask(s, 0); /* the same blocks of it */
    assert_int_equal(open_now(s, &held), 1);
    assert_int_equal(held, one);
    rk_symbolizer_free(s);

    s = open_symbolizer(3 * one);
    static const unsigned order[] = {0, 1, 2, 0, 3, 0, 4, 5, 1, 0};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        unsigned expected = i < 3 ? (unsigned)i + 1 : 3;
        ask(s, order[i]);
        assert_int_equal(open_now(s, &held), expected);
        assert_true(held <= 3 * one);
        const struct cached *first =
            (const struct cached *)((const char *)s->shelf - offsetof(struct cached, module.lines));
        assert_string_equal(first->path, paths[order[i]]);
        if (i == 4) /* 1 went, not 0 */
            assert_null(s->modules.items[1]->module.lines.dwarf);
    }
    rk_symbolizer_free(s);

    s = open_symbolizer(1);
    unsigned before = descriptors();
    for (unsigned i = 0; i < 6; i++)
        ask(s, i);
    assert_int_equal(open_now(s, &held), 0); /* less than any one has: nothing stays */
    assert_int_equal(descriptors(), before);
    rk_symbolizer_free(s);
    fake_end();
}

/* One whose file is gone in the meantime has no lines any more; its name it has. */
static void gone(void **state)
{
    (void)state;
    struct rk_sources *sources = NULL;

    make_programs(1);
    struct rk_symbolizer *s = open_symbolizer(1);
    struct rk_module module = {
        .size = sizeof module, .kind = RK_MODULE_FILE, .path = paths[0], .name = "prog"};
    ask(s, 0);
    assert_int_equal(unlink(paths[0]), 0);
    assert_int_equal(rk_symbolizer_sources(s, &module, &offset, 1, NULL, &sources, NULL), 0);
    assert_int_equal(sources->miss[0], RK_MISS_NO_LINES);
    assert_string_equal(sources->function[0], "work");
    rk_sources_free(sources);
    rk_symbolizer_free(s);
    fake_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_descriptors),
        cmocka_unit_test(few_bytes),
        cmocka_unit_test(gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Eight threads ask one symbolizer, which loads, demangles and reads lines as it is asked: each gets what one alone gets. */
#include <reckon/reckon.h>

#include "../fixture.h"

#include <pthread.h>

enum { THREADS = 8, MODULES = 5, ROUNDS = 30, OFFSETS = 64 };

static struct rk_symbolizer *shared;
static struct rk_module modules[MODULES];
static uint64_t offsets[MODULES][OFFSETS];
static char paths[MODULES][FIXTURE_PATH];
static char wanted_names[MODULES][OFFSETS][128], wanted_lines[MODULES][OFFSETS][256];

static void name_text(const struct rk_symbol *symbol, char text[128])
{
    snprintf(text, 128, "%s+%ju", symbol->name ? symbol->name : rk_miss_text(symbol->miss),
             (uintmax_t)symbol->distance);
}

static void line_text(const struct rk_sources *s, size_t i, char text[256])
{
    size_t n = 0;

    text[0] = '\0';
    for (uint32_t f = s->first[i]; f < s->first[i + 1] && n < 200; f++)
        n += (size_t)snprintf(text + n, 256 - n, "%.30s@%u ", s->function[f] ? s->function[f] : "?",
                              s->line[f]);
}

/* One thread: the number of answers that differ. */
static void *ask(void *number)
{
    uintptr_t differ = 0, thread = (uintptr_t)number;

    for (unsigned round = 0; round < ROUNDS; round++) {
        size_t m = (thread + round) % MODULES;
        struct rk_symbol symbols[OFFSETS];
        struct rk_sources *sources = NULL;
        struct rk_sources_options how = {.size = sizeof how, .threads = 1 + round % 2};
        char text[256];
        if (rk_symbolizer_resolve(shared, &modules[m], offsets[m], OFFSETS, symbols) < 0 ||
            rk_symbolizer_sources(shared, &modules[m], offsets[m], OFFSETS, &how, &sources, NULL) < 0)
            return (void *)UINTPTR_MAX;
        for (size_t i = 0; i < OFFSETS; i++) {
            name_text(&symbols[i], text);
            differ += strcmp(text, wanted_names[m][i]) != 0;
            line_text(sources, i, text);
            differ += strcmp(text, wanted_lines[m][i]) != 0;
        }
        rk_sources_free(sources);
    }
    return (void *)differ;
}

static void make_modules(void)
{
    static const char *const files[] = {"elf/labels", "elf/lld-pie", "elf/gnu-pie"};

    for (size_t m = 0; m < MODULES; m++) {
        modules[m] = (struct rk_module){.size = sizeof modules[m], .path = paths[m], .name = paths[m]};
        for (uint64_t i = 0; i < OFFSETS; i++)
            offsets[m][i] = 0x1000 + i * 0x35;
    }
    for (size_t m = 0; m < 3; m++) {
        char path[FIXTURE_PATH], *full = realpath(fixture_path(files[m], path), NULL);
        assert_non_null(full);
        snprintf(paths[m], sizeof paths[m], "%s", full);
        free(full);
    }
    ssize_t n = readlink("/proc/self/exe", paths[3], sizeof paths[3] - 1); /* has lines */
    assert_true(n > 0);
    for (uint64_t i = 0; i < OFFSETS; i++)
        offsets[3][i] = 0x4000 + i * 0x135;
    snprintf(paths[4], sizeof paths[4],
             "[kernel]"); /* its names are hidden from most users: all get the reason */
    modules[4].kind = RK_MODULE_KERNEL;
    for (uint64_t i = 0; i < OFFSETS; i++)
        offsets[4][i] = UINT64_C(0xffffffff81000000) + i * 0x1000;
}

static void alone(void)
{
    for (size_t m = 0; m < MODULES; m++) {
        struct rk_symbol symbols[OFFSETS];
        struct rk_sources *sources = NULL;
        assert_int_equal(rk_symbolizer_resolve(shared, &modules[m], offsets[m], OFFSETS, symbols), 0);
        assert_int_equal(
            rk_symbolizer_sources(shared, &modules[m], offsets[m], OFFSETS, NULL, &sources, NULL), 0);
        for (size_t i = 0; i < OFFSETS; i++) {
            name_text(&symbols[i], wanted_names[m][i]);
            line_text(sources, i, wanted_lines[m][i]);
        }
        rk_sources_free(sources);
    }
}

static void as_one_alone(const struct rk_symbolizer_options *options)
{
    pthread_t threads[THREADS];

    make_modules();
    assert_int_equal(rk_symbolizer_open(NULL, &shared, NULL), 0);
    alone();
    rk_symbolizer_free(shared);
    assert_int_equal(rk_symbolizer_open(options, &shared, NULL), 0); /* a new one: they load it together */
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask, (void *)i), 0);
    for (size_t i = 0; i < THREADS; i++) {
        void *differ;
        assert_int_equal(pthread_join(threads[i], &differ), 0);
        assert_int_equal((uintptr_t)differ, 0);
    }
    rk_symbolizer_free(shared);
    assert_non_null(strstr(wanted_names[1][33], "function_")); /* something was named at all */
}

static void kept(void **state)
{
    (void)state;
    as_one_alone(NULL);
}

/* Debug information that one thread's call has opened is closed behind it. */
static void closed(void **state)
{
    (void)state;
    as_one_alone(
        &(struct rk_symbolizer_options){.size = sizeof(struct rk_symbolizer_options), .lines_bytes = 1});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kept), cmocka_unit_test(closed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Addresses of processes in one call, and what may be freed before the answer. */
#include "../fixture.h"

#include <reckon/reckon.h>

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) int named_here(int x);
int named_here(int x)
{
    __asm__ volatile("");
    return x + 1;
}
__attribute__((noinline)) int named_there(int x);
int named_there(int x)
{
    __asm__ volatile("");
    return x + 2;
}

#define AT(function) ((uint64_t)(uintptr_t)(function))

/* In an order that goes back and forth between modules. */
static void check(const struct rk_sources *s, const uint64_t *a)
{
    static const char *const wanted[] = {"named_there", NULL, "getppid", "named_here", "named_there"};
    assert_int_equal(s->size, sizeof *s);
    assert_int_equal(s->n, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(s->first[i + 1] - s->first[i], 1);
        if (!wanted[i]) {
            assert_null(s->symbol[i].name);
            assert_null(s->symbol[i].mangled);
            assert_null(s->module[i]);
            assert_null(s->function[s->first[i]]);
            assert_int_equal(s->symbol[i].miss, RK_MISS_NO_MODULE);
            assert_int_equal(s->miss[i], RK_MISS_NO_MODULE);
            continue;
        }
        assert_non_null(s->symbol[i].name);
        assert_non_null(strstr(s->symbol[i].name, wanted[i]));
        assert_string_equal(s->symbol[i].mangled, s->symbol[i].name);
        assert_int_equal(s->symbol[i].distance, i == 3);
        assert_true(s->symbol[i].bytes > 1 && s->symbol[i].bytes < 4096);
        assert_string_equal(s->function[s->first[i]], s->symbol[i].name);
        assert_non_null(s->module[i]);
        assert_int_equal(s->module[i]->kind, RK_MODULE_FILE);
        assert_non_null(strstr(s->module[i]->path, i == 2 ? "libc" : "process"));
        assert_true(s->offset[i] > 0 && s->offset[i] < a[i]);
    }
}

static void here(void **state)
{
    (void)state;
    uint64_t a[] = {AT(named_there), 16, AT(getppid), AT(named_here) + 1, AT(named_there)};
    struct rk_sources_options names = RK_INIT(names, .flags = RK_SOURCES_NO_LINES);
    struct rk_sources *s = NULL;
    assert_int_equal(rk_symbolizer_process(NULL, 0, a, 5, NULL, &s, NULL), 0);
    check(s, a);
    assert_int_equal(s->miss[0], RK_MISS_NONE); /* this is compiled with -g */
    assert_non_null(strstr(s->file[0], "test_process.c"));
    assert_int_equal(s->declared_line[0], s->declared_line[s->first[4]]);
    assert_true(s->declared_line[0] > 0 && s->declared_line[0] <= s->line[0]);
    rk_sources_free(s);
    assert_int_equal(rk_symbolizer_process(NULL, (int32_t)getpid(), a, 5, &names, &s, NULL), 0);
    check(s, a);
    assert_int_equal(s->miss[0], RK_MISS_NO_LINES);
    assert_null(s->file[0]);
    rk_sources_free(s);
    assert_int_equal(rk_symbolizer_process(NULL, 0, a, 0, NULL, &s, NULL), 0);
    assert_int_equal(s->n, 0);
    assert_int_equal(s->first[0], 0);
    assert_null(rk_sources_free(s));
}

/* Another process, which forked from this one and so has the same addresses. */
static void there(void **state)
{
    (void)state;
    uint64_t a[] = {AT(named_there), 16, AT(getppid), AT(named_here) + 1, AT(named_there)};
    struct rk_sources *s = NULL;
    struct rk_error e = RK_INIT(e);
    pid_t child = fork();
    if (child == 0)
        for (;;)
            pause();
    assert_true(child > 0);
    assert_int_equal(rk_symbolizer_process(NULL, (int32_t)child, a, 5, NULL, &s, &e), 0);
    check(s, a);
    s = rk_sources_free(s);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(rk_symbolizer_process(NULL, (int32_t)child, a, 5, NULL, &s, &e), -ESRCH);
    assert_int_equal(e.cause, RK_CAUSE_NO_PROCESS);
    assert_int_equal(e.pid, child);
    assert_null(s);
}

/* What an answer stands on is freed in any order. */
static void freed_before(void **state)
{
    (void)state;
    uint64_t a[] = {AT(named_there), 16, AT(getppid), AT(named_here) + 1, AT(named_there)};
    for (unsigned order = 0; order < 6; order++) {
        struct rk_symbolizer *sy = NULL;
        struct rk_image *image = NULL;
        struct rk_sources *s = NULL;
        assert_int_equal(rk_symbolizer_open(NULL, &sy, NULL), 0);
        assert_int_equal(rk_image_open(&image, NULL), 0);
        assert_int_equal(rk_image_feed_process(image, NULL, (int32_t)getpid()), 0);
        assert_int_equal(rk_symbolizer_image(sy, image, (int32_t)getpid(), a, 5, NULL, &s, NULL), 0);
        static const char orders[6][4] = {"sia", "ias", "asi", "sai", "isa", "ais"};
        for (const char *what = orders[order]; *what; what++) {
            if (s)
                check(s, a);
            if (*what == 's')
                sy = rk_symbolizer_free(sy);
            else if (*what == 'i')
                image = rk_image_free(image);
            else
                s = rk_sources_free(s);
        }
    }
}

static void refused(void **state)
{
    (void)state;
    uint64_t a = AT(named_here);
    struct rk_symbolizer_options addresses = RK_INIT(addresses, .flags = RK_SYMBOLIZER_ADDRESSES);
    struct rk_sources_options unknown = RK_INIT(unknown, .flags = 64);
    struct rk_symbolizer *sy = NULL;
    struct rk_image *image = NULL;
    struct rk_sources *s = NULL;
    struct rk_error e = RK_INIT(e);
    assert_int_equal(rk_symbolizer_process(NULL, -1, &a, 1, NULL, &s, &e), -EINVAL);
    assert_int_equal(rk_symbolizer_process(NULL, 0, NULL, 1, NULL, &s, &e), -EINVAL);
    assert_int_equal(rk_symbolizer_process(NULL, 0, &a, 1, NULL, NULL, &e), -EINVAL);
    assert_int_equal(rk_symbolizer_process(NULL, 0, &a, 1, &unknown, &s, &e), -EINVAL);
    assert_non_null(strstr(e.what, "0x40"));
    assert_int_equal(rk_symbolizer_open(&addresses, &sy, &e), 0);
    assert_int_equal(rk_symbolizer_process(sy, 0, &a, 1, NULL, &s, &e), -EINVAL);
    assert_non_null(strstr(e.what, "RK_SYMBOLIZER_ADDRESSES"));
    assert_int_equal(rk_image_open(&image, &e), 0);
    assert_int_equal(rk_symbolizer_image(NULL, image, 1, &a, 1, NULL, &s, &e), -EINVAL);
    assert_int_equal(rk_symbolizer_image(sy, NULL, 1, &a, 1, NULL, &s, &e), -EINVAL);
    assert_int_equal(rk_symbolizer_image(sy, image, 1, NULL, 1, NULL, &s, &e), -EINVAL);
    assert_int_equal(rk_symbolizer_image(sy, image, 1, &a, 1, NULL, NULL, &e), -EINVAL);
    assert_null(s);
    rk_image_free(image);
    rk_symbolizer_free(sy);
}

/* A thread with a stack of 64 KB, below which a neighbour's memory lies behind a guard page that a large frame would step
 * over: lines by as many threads as there may be. */
struct small {
    unsigned char *memory;
    int rc;
};
enum { STACK = 64 << 10, NEIGHBOUR = 256 << 10, GUARD = 4096 };

static void *on_small_stack(void *context)
{
    struct small *small = context;
    struct rk_sources_options how = RK_INIT(how, .threads = 64);
    uint64_t a[] = {AT(named_here), AT(getppid), AT(named_there)};
    struct rk_sources *s = NULL;
    small->rc = rk_symbolizer_process(NULL, 0, a, 3, &how, &s, NULL);
    if (small->rc == 0 && (!s->file[0] || !strstr(s->file[0], "test_process.c")))
        small->rc = -1;
    rk_sources_free(s);
    return NULL;
}

static void small_stack(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    print_message("a sanitizer makes frames larger\n");
    skip();
#endif
    struct small small = {.rc = -1};
    pthread_attr_t attributes;
    pthread_t thread;
    small.memory =
        mmap(NULL, NEIGHBOUR + GUARD + STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(small.memory != MAP_FAILED);
    memset(small.memory, 0x5a, NEIGHBOUR);
    assert_int_equal(mprotect(small.memory + NEIGHBOUR, GUARD, PROT_NONE), 0);
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstack(&attributes, small.memory + NEIGHBOUR + GUARD, STACK), 0);
    assert_int_equal(pthread_create(&thread, &attributes, on_small_stack, &small), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(small.rc, 0);
    for (size_t i = 0; i < NEIGHBOUR; i++)
        assert_int_equal(small.memory[i], 0x5a);
    pthread_attr_destroy(&attributes);
    munmap(small.memory, NEIGHBOUR + GUARD + STACK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(here), cmocka_unit_test(there),
                                       cmocka_unit_test(freed_before), cmocka_unit_test(refused),
                                       cmocka_unit_test(small_stack)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

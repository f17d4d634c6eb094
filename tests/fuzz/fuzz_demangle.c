/*
 * Mangled names: each line of the input is one. Whatever it says, the answer is a text that ends, of DEMANGLED_MAX bytes at
 * most, or the name itself; its short name is shorter, and not empty. Both take at most a second of this thread's time and
 * fit on the stack that it is given.
 */
#include "fuzz.h"

#include "symbol/demangle.h"

#include <reckon/symbol.h>

#include <pthread.h>
#include <string.h>
#include <time.h>

enum { STACK = 8 << 20, NAME_MAX_BYTES = 1 << 15 };

struct input {
    const uint8_t *data;
    size_t size;
};

static double thread_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void one_name(const char *name)
{
    struct arena arena = {0};
    double before = thread_seconds();
    const char *text = demangle(name, &arena);

    HOLDS(text);
    fuzz_touch_text(text);
    HOLDS(text == name || strlen(text) < DEMANGLED_MAX);
    const char *both[] = {text, name};
    for (int i = 0; i < 2; i++) {
        static char brief[DEMANGLED_MAX];
        const char *cut = rk_symbol_short(both[i], brief, sizeof brief);
        HOLDS(cut == both[i] || (*cut && strlen(cut) < strlen(both[i])));
        fuzz_touch_text(cut);
    }
    HOLDS(thread_seconds() - before < 1.0);
    arena_free(&arena);
}

static void *all_names(void *context)
{
    const struct input *in = context;
    static char name[NAME_MAX_BYTES];

    for (size_t at = 0; at < in->size;) {
        const uint8_t *end = memchr(in->data + at, '\n', in->size - at);
        size_t n = end ? (size_t)(end - (in->data + at)) : in->size - at,
               kept = n < sizeof name - 3 ? n : sizeof name - 3;
        memcpy(name, in->data + at, kept);
        name[kept] = '\0';
        one_name(name);
        memmove(name + 2, name, kept + 1); /* and what would not begin as one */
        name[0] = '_';
        name[1] = n % 2 ? 'Z' : 'R';
        one_name(name);
        at += n + 1;
    }
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    pthread_attr_t how;
    pthread_t thread;

    HOLDS(pthread_attr_init(&how) == 0 && pthread_attr_setstacksize(&how, STACK) == 0);
    HOLDS(pthread_create(&thread, &how, all_names, &in) == 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&how);
    return 0;
}

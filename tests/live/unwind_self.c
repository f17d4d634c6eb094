/*
 * Stacks of this very program, taken where a test wants them: as deep as it wants, cut, in signal handlers, on another
 * stack, behind a call that does not return, in a thread; and while eight threads unwind at once.
 */
#include "stack.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

enum { FRAMES = 512, STACK = 1 << 19 };

static struct rk_image *image;
static struct rk_symbolizer *symbolizer;
static struct rk_unwinder *unwinder;

/* What take() found. */
static struct {
    int n;
    uint64_t pcs[FRAMES];
    struct rk_unwind_status status;
} found;
static uint64_t dump = STACK;
static volatile int sink;
static sigjmp_buf back;
static volatile int *volatile nowhere = (volatile int *)16; /* not NULL, which a sanitizer knows */

/* Bytes from sp that can be read. */
static uint64_t readable(uint64_t sp)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];
    uint64_t from, to, n = 0;

    CHECK(maps);
    while (fgets(line, sizeof line, maps))
        if (sscanf(line, "%" SCNx64 "-%" SCNx64, &from, &to) == 2 && sp >= from && sp < to)
            n = to - sp;
    fclose(maps);
    return n;
}

/* A copy, made by the kernel: a sanitizer would object to reading the frames of others. */
static unsigned char stack_copy[STACK];
static uint64_t copy_stack(uint64_t sp)
{
    uint64_t n = readable(sp);
    int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    n = n < STACK ? n : STACK;
    CHECK(memory >= 0 && pread(memory, stack_copy, n, (off_t)sp) == (ssize_t)n);
    close(memory);
    return n;
}

__attribute__((noinline)) static int take(void)
{
    static struct taken t;
    ucontext_t context;

    CHECK(getcontext(&context) == 0);
    registers_of(&context.uc_mcontext, t.regs);
    sample_of(&t, getpid(), stack_copy, copy_stack(t.regs[stack_sp]), dump);
    found.status = (struct rk_unwind_status){.size = sizeof found.status};
    found.n = rk_unwinder_sample(unwinder, image, &t.sample, found.pcs, FRAMES, &found.status);
    CHECK(found.n > 0);
    return found.n;
}

/* How many of the frames are in a function; name NULL: prints them. */
static int frames_in(const char *name)
{
    int n = 0;

    for (int i = 0; i < found.n; i++) {
        struct rk_place place;
        struct rk_symbol symbol;
        struct rk_module module = {.size = sizeof module};
        if (rk_image_find(image, getpid(), &found.pcs[i], 1, &place) < 0 || place.module == RK_NO_MODULE ||
            rk_image_module_get(image, place.module, &module) < 0 ||
            rk_symbolizer_resolve(symbolizer, &module, &place.offset, 1, &symbol) < 0)
            continue;
        if (!name)
            printf("  %#" PRIx64 " %s %s\n", found.pcs[i], module.name, symbol.name ? symbol.name : "?");
        else
            n += symbol.name && !strcmp(symbol.name, name);
    }
    return n;
}

static void frames_are(const char *name, int n)
{
    if (frames_in(name) != n) {
        frames_in(NULL);
        FAIL("%d frames in %s instead of %d", frames_in(name), name, n);
    }
}

static void expect(uint32_t end, uint32_t reason)
{
    if (found.status.end != end || found.status.reason != reason)
        FAIL("%d frames, end %u instead of %u, %s", found.n, found.status.end, end,
             rk_unwind_reason_text(found.status.reason));
}

int descend(int depth, int (*bottom)(void));
__attribute__((noinline)) int descend(int depth, int (*bottom)(void))
{
    int n = depth > 1 ? descend(depth - 1, bottom) : bottom();
    sink += n;
    return n;
}

static void deep(void)
{
    static const int depths[] = {1, 25, 100, 400};
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        descend(depths[i], take);
        expect(RK_UNWIND_WHOLE, RK_UNWIND_FINE);
        frames_are("descend", depths[i]);
        frames_are("main", 1);
        EQUAL(found.status.guessed, 0);
    }
}

static void cut(void)
{
    dump = sizeof(ucontext_t) + 2048; /* take() has one in its frame; descend()'s have 16 bytes or more */
    descend(400, take);
    expect(RK_UNWIND_CUT, RK_UNWIND_FINE);
    frames_are("main", 0);
    CHECK(frames_in("descend") > 3);
    CHECK(found.status.module != RK_NO_MODULE);
    dump = STACK;
}

static int raise_it(void)
{
    return raise(SIGUSR1);
}

static void on_signal(int number)
{
    take();
    sink += number;
}

__attribute__((noinline)) static int fault_here(void) /* a leaf: nothing is saved where the signal comes */
{
    return *nowhere;
}

static void on_fault(int number)
{
    take();
    sink += number;
    siglongjmp(back, 1);
}

static int fault_it(void)
{
    int n = sigsetjmp(back, 1) ? 0 : fault_here();
    sink++;
    return n;
}

static void signals(void)
{
    struct sigaction action = {.sa_handler = on_signal}, fault = {.sa_handler = on_fault};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0 && sigaction(SIGSEGV, &fault, NULL) == 0);
    descend(25, raise_it);
    expect(RK_UNWIND_WHOLE, RK_UNWIND_FINE);
    frames_are("on_signal", 1);
    frames_are("descend", 25);
    frames_are("main", 1);
    descend(25, fault_it);
    expect(RK_UNWIND_WHOLE, RK_UNWIND_FINE);
    frames_are("fault_here", 1);
    frames_are("descend", 25);

    /* On another stack, what was interrupted is not in the dump. */
    static unsigned char far[1 << 17]; /* from the stack, wherever that is */
    stack_t other = {.ss_sp = far, .ss_size = sizeof far};
    action.sa_flags = SA_ONSTACK;
    CHECK(sigaltstack(&other, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
    descend(25, raise_it);
    EQUAL(found.status.end, RK_UNWIND_BROKEN);
    EQUAL(found.status.reason, RK_UNWIND_ELSEWHERE);
    frames_are("on_signal", 1);
    frames_are("main", 0);
}

/* A call that is the last instruction of its function: the return address is another's. */
__attribute__((noinline, noreturn)) static void never(void)
{
    take();
    siglongjmp(back, 1);
}
int tail(int n);
__attribute__((noinline)) int tail(int n)
{
    if (n)
        never();
    return sink;
}
static int no_return(void)
{
    int n = sigsetjmp(back, 0) ? 0 : tail(1);
    sink++;
    return n;
}

static void *in_thread(void *context)
{
    (void)context;
    descend(25, take);
    sink++;
    return NULL;
}

static void *unwind_often(void *context)
{
    const struct taken *t = context;
    struct rk_unwinder *own;
    uint64_t pcs[FRAMES];
    CHECK(rk_unwinder_open(NULL, &own, NULL) == 0);
    for (int i = 0; i < 200; i++) {
        struct rk_unwind_status status = {.size = sizeof status};
        int n = rk_unwinder_sample(own, image, &t->sample, pcs, FRAMES, &status);
        CHECK(n == found.n && status.end == RK_UNWIND_WHOLE &&
              !memcmp(pcs, found.pcs, (size_t)n * sizeof *pcs));
    }
    rk_unwinder_free(own);
    return NULL;
}

/* Eight threads, one image, an unwinder each. */
static int eight(void)
{
    static struct taken t;
    pthread_t threads[8];
    ucontext_t context;

    CHECK(getcontext(&context) == 0);
    registers_of(&context.uc_mcontext, t.regs);
    sample_of(&t, getpid(), stack_copy, copy_stack(t.regs[stack_sp]), STACK + 8);
    found.status = (struct rk_unwind_status){.size = sizeof found.status};
    found.n = rk_unwinder_sample(unwinder, image, &t.sample, found.pcs, FRAMES, &found.status);
    expect(RK_UNWIND_WHOLE, RK_UNWIND_FINE);
    for (int i = 0; i < 8; i++)
        CHECK(pthread_create(&threads[i], NULL, unwind_often, &t) == 0);
    for (int i = 0; i < 8; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    return found.n;
}

int main(void)
{
    struct rk_error e = {.size = sizeof e};
    pthread_t thread;

    if (!STACK_KNOWN)
        SKIP("stacks of this machine are not unwound");
    OK(rk_image_open(&image, &e));
    EQUAL(rk_image_feed_process(image, NULL, getpid()), 0);
    OK(rk_unwinder_open(NULL, &unwinder, &e));
    OK(rk_symbolizer_open(NULL, &symbolizer, &e));
    deep();
    cut();
    descend(3, no_return);
    expect(RK_UNWIND_WHOLE, RK_UNWIND_FINE);
    frames_are("tail", 1);
    frames_are("main", 1);
    CHECK(pthread_create(&thread, NULL, in_thread, NULL) == 0 && pthread_join(thread, NULL) == 0);
    expect(RK_UNWIND_WHOLE, RK_UNWIND_FINE);
    frames_are("descend", 25);
    frames_are("in_thread", 1);
    descend(25, eight);
    signals();
    rk_symbolizer_free(symbolizer);
    rk_unwinder_free(unwinder);
    rk_image_free(image);
    return 0;
}

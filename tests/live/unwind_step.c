/*
 * A child is stepped through, instruction by instruction: whatever it is about to do, in its own code, in libc, in
 * linkage stubs, in the vDSO, in prologues and epilogues, its stack must be whole and lead to main.
 */
#include "stack.h"

#include <elf.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 30000, FRAMES = 256 };

static volatile int sink;

__attribute__((noinline)) static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

__attribute__((noinline)) static int aligned(int n)
{
    char block[64] __attribute__((aligned(64)));
    char *more = __builtin_alloca((size_t)n);

    memset(more, n, (size_t)n);
    memcpy(block, more, 8);
    __asm__ volatile("" ::"r"(block), "r"(more) : "memory");
    return block[0] + more[n - 1];
}

__attribute__((noinline)) static int large(int n)
{
    volatile char block[300000];

    block[n] = 1;
    sink += getppid() > 0; /* a call from a frame that no 16-bit offset reaches */
    return block[n];
}

__attribute__((noinline)) static int work(int depth)
{
    struct timespec t;
    char words[8][8] = {"pear", "fig", "plum", "apple", "kiwi", "lime", "date", "nut"}, line[64];

    if (depth) {
        int below = work(depth - 1);
        return below + sink;
    }
    clock_gettime(CLOCK_MONOTONIC, &t);
    qsort(words, 8, 8, compare);
    snprintf(line, sizeof line, "%s %d %ld", words[0], aligned(40) + large(7), (long)t.tv_sec);
    char *copy = strdup(line);
    sink += (int)strlen(copy);
    free(copy);
    return sink;
}

/* So that the stack has grown further than it will: what is not there yet can't be read from outside. */
__attribute__((noinline)) static void grow(void)
{
    volatile char block[400000];

    for (size_t i = 0; i < sizeof block; i += 1024)
        block[i] = 1;
    sink += block[0];
}

static void child(void)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
        _exit(77);
    grow();
    raise(SIGSTOP);
    work(5);
    raise(SIGUSR1);
    _exit(0);
}

static int get_registers(pid_t pid, uint64_t regs[33])
{
#if defined(__x86_64__)
    uint64_t user[27];
    static const int from[] = {10, 5, 11, 12, 13, 14, 4, 19, 16,
                               9,  8, 7,  6,  3,  2,  1, 0}; /* user_regs_struct's order */
    struct iovec io = {user, sizeof user};
    long rc = ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &io);
    for (int i = 0; i < 17; i++)
        regs[i] = user[from[i]];
#else
    uint64_t user[34] = {0}; /* x0 … x30, sp, pc, pstate; riscv64: pc, x1 … x31 */
    struct iovec io = {user, sizeof user};
    long rc = ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &io);
    memcpy(regs, user, 33 * sizeof *regs);
#endif
    return rc < 0 ? -errno : 0;
}

static unsigned char stack[1 << 20];

/* The stack of the stopped child: from its sp to its end, or a little beyond what it uses. */
static uint64_t read_stack(pid_t pid, uint64_t sp)
{
    for (size_t n = sizeof stack; n >= 4096; n /= 2) {
        struct iovec to = {stack, n}, from = {(void *)(uintptr_t)sp, n};
        ssize_t got = process_vm_readv(pid, &to, 1, &from, 1, 0);
        if (got > 0)
            return (uint64_t)got;
    }
    return 0;
}

/* Whether the child's next instruction is padding: what lies between two functions of libc (glibc 2.41's
 * __memmove_chk runs on into the function after it) and belongs to none, so that no table covers it. */
static bool is_padding(pid_t pid, uint64_t pc)
{
#if defined(__x86_64__)
    unsigned char code[16];
    struct iovec to = {code, sizeof code}, from = {(void *)(uintptr_t)pc, sizeof code};

    if (process_vm_readv(pid, &to, 1, &from, 1, 0) != (ssize_t)sizeof code)
        return false;
    size_t i = 0;
    while (i < sizeof code - 2 && (code[i] == 0x66 || code[i] == 0x2e)) /* data16, cs */
        i++;
    return code[i] == 0x90 || (code[i] == 0x0f && code[i + 1] == 0x1f); /* nop */
#else
    (void)pid;
    (void)pc;
    return false;
#endif
}

int main(void)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_image *image;
    struct rk_unwinder *unwinder;
    struct rk_symbolizer *symbolizer;
    static struct taken t;
    int status, n = 0, vdso = 0, deepest = 0, guessed = 0, padding = 0;

    if (!STACK_KNOWN)
        SKIP("stacks of this machine are not unwound");
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        child();
    CHECK(waitpid(pid, &status, 0) == pid);
    if (!WIFSTOPPED(status))
        SKIP("ptrace(2) is not allowed here");
    OK(rk_image_open(&image, &e));
    EQUAL(rk_image_feed_process(image, NULL, pid), 0);
    OK(rk_unwinder_open(NULL, &unwinder, &e));
    OK(rk_symbolizer_open(NULL, &symbolizer, &e));
    for (; n < STEPS; n++) {
        int stepped = (int)ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL);
        if (stepped < 0 && n == 0 && errno == EIO) {
            kill(pid, SIGKILL);
            SKIP("this machine's kernel does not step (PTRACE_SINGLESTEP)");
        }
        if (stepped < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
            WSTOPSIG(status) == SIGUSR1)
            break;
        struct rk_unwind_status s = {.size = sizeof s};
        struct rk_place places[FRAMES];
        struct rk_module module = {.size = sizeof module};
        uint64_t pcs[FRAMES];
        CHECK(get_registers(pid, t.regs) == 0);
        sample_of(&t, pid, stack, read_stack(pid, t.regs[stack_sp]), UINT64_MAX);
        int frames = rk_unwinder_sample(unwinder, image, &t.sample, pcs, FRAMES, &s);
        CHECK(frames > 0 && rk_image_find(image, pid, pcs, (size_t)frames, places) == 0);
        bool found = false;
        for (int i = 0; i < frames && !found; i++) {
            struct rk_symbol symbol;
            if (places[i].module == RK_NO_MODULE || rk_image_module_get(image, places[i].module, &module) < 0)
                continue;
            vdso += i == 0 && module.kind == RK_MODULE_VDSO;
            found = rk_symbolizer_resolve(symbolizer, &module, &places[i].offset, 1, &symbol) == 0 &&
                    symbol.name && !strcmp(symbol.name, "main");
        }
        if (s.end == RK_UNWIND_BROKEN && s.reason == RK_UNWIND_NO_CFI && frames == 1 &&
            is_padding(pid, pcs[0])) {
            padding++;
            continue;
        }
        if (s.end != RK_UNWIND_WHOLE || !found) {
            for (int i = 0; i < frames; i++) {
                struct rk_symbol symbol = {0};
                if (places[i].module != RK_NO_MODULE &&
                    rk_image_module_get(image, places[i].module, &module) == 0)
                    rk_symbolizer_resolve(symbolizer, &module, &places[i].offset, 1, &symbol);
                printf("  %#" PRIx64 " %s+%#" PRIx64 " %s+%" PRIu64 "\n", pcs[i], module.name,
                       places[i].offset, symbol.name ? symbol.name : "?", symbol.distance);
            }
            FAIL("step %d: end %u, %s", n, s.end, rk_unwind_reason_text(s.reason));
        }
        deepest = frames > deepest ? frames : deepest;
        guessed += s.guessed > 0;
    }
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    CHECK(n > 1000 && deepest > 8);
    CHECK(padding < n / 100);
    printf("%d instructions, %d in the vDSO, %d of padding, stacks up to %d frames, %d by frame pointer\n", n,
           vdso, padding, deepest, guessed);
    rk_symbolizer_free(symbolizer);
    rk_unwinder_free(unwinder);
    rk_image_free(image);
    return 0;
}

/*
 * tests/live/live.h: what a live test is made of.
 *
 * A test is a program: main() returns 0, or CHECK ends it with status 1 and the line, or SKIP with status
 * 77 and the reason. OK(call) is for calls of the library that fill the `e` in scope; it skips where nothing can be
 * measured at all.
 */
#ifndef LIVE_H
#define LIVE_H

#include "../rights.h"
#include "../temporary.h"

#include <errno.h>
#include <inttypes.h>
#include <reckon/reckon.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

__attribute__((noreturn, format(printf, 4, 5))) static inline void live_end(int status, const char *file,
                                                                            int line, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    if (file)
        printf("%s:%d: ", file, line);
    vprintf(format, ap);
    putchar('\n');
    va_end(ap);
    exit(status);
}

#define SKIP(...) live_end(77, NULL, 0, __VA_ARGS__)
#define FAIL(...) live_end(1, __FILE__, __LINE__, __VA_ARGS__)

#define CHECK(condition)            \
    do {                            \
        if (!(condition))           \
            FAIL("%s", #condition); \
    } while (0)

/* Two numbers that must be the same. */
#define EQUAL(a, b)                                                                       \
    do {                                                                                  \
        int64_t live_a = (int64_t)(a), live_b = (int64_t)(b);                             \
        if (live_a != live_b)                                                             \
            FAIL("%s is %" PRId64 ", not %s, which is %" PRId64, #a, live_a, #b, live_b); \
    } while (0)

#define OK(call)                                                   \
    do {                                                           \
        int live_r = (call);                                       \
        if (live_r < 0 && !can_measure_self())                     \
            SKIP("%s", e.what);                                    \
        if (live_r < 0)                                            \
            FAIL("%s: %s (%s)", #call, e.what, strerror(-live_r)); \
    } while (0)

/* For tests that go on where a call is refused. */
__attribute__((unused)) static void live_needs_counters(void)
{
    int r = try_clock(0, -1, false);
    if (r < 0)
        SKIP("perf_event_open is refused here: %s", strerror(-r));
}

/* fork(); the child ends with its parent, also with one that has ended (skipped) before the child first ran. */
static inline pid_t fork_bound(void)
{
    pid_t parent = getpid(), pid = fork();

    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
    }
    return pid;
}

/* Exactly 2 × n instructions in the loop, and a few to get there. */
__attribute__((noinline, unused)) static void spin(uint64_t n)
{
#if defined(__aarch64__)
    __asm__ volatile("1: subs %0, %0, #1\n b.ne 1b" : "+r"(n)::"cc");
#elif defined(__riscv)
    __asm__ volatile("1: addi %0, %0, -1\n bnez %0, 1b" : "+r"(n));
#elif defined(__x86_64__)
    __asm__ volatile("1: dec %0\n jnz 1b" : "+r"(n)::"cc");
#else
    for (volatile uint64_t i = n; i;)
        i = i - 1;
#endif
}
#if defined(__aarch64__) || defined(__riscv) || defined(__x86_64__)
#define SPIN_EXACT 1 /* spin() runs as many instructions as it says */
#else
#define SPIN_EXACT 0
#endif

/* In the guest counts are exact; a real machine adds a little for each interrupt. */
static inline bool live_exact(void)
{
    return getenv("RECKON_GUEST") != NULL;
}

/*
 * Whether getpid() is the number by which tracepoints and their filters know this process: not in a namespace of
 * processes, which gives it another one.
 */
static inline bool live_global_pids(void)
{
    char name[64];
    ssize_t n = readlink("/proc/self/ns/pid", name, sizeof name - 1);
    name[n > 0 ? n : 0] = '\0';
    return strcmp(name, "pid:[4026531836]") == 0; /* the first one's, in every kernel */
}

/* Two counts that must be the same in the guest, and within a thousandth of each other elsewhere; within a 25th where
 * the kernel's work is counted too. */
__attribute__((unused)) static int64_t live_part = 1000;
#define SAME_COUNT(a, b)                                                                              \
    do {                                                                                              \
        int64_t live_x = (int64_t)(a), live_y = (int64_t)(b);                                         \
        if (live_exact() ? live_x != live_y : llabs(live_x - live_y) > llabs(live_y) / live_part + 2) \
            FAIL("%s is %" PRId64 ", not %s, which is %" PRId64, #a, live_x, #b, live_y);             \
    } while (0)

/* Opens `events` on this thread, or skips where it has no such hardware. */
__attribute__((unused)) static struct rk_set *live_self(struct rk_host *host, const char *events,
                                                        const struct rk_set_options *options)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_events *parsed = NULL;
    struct rk_target *self = NULL;
    struct rk_set *set = NULL;
    OK(rk_events_parse(host, events, &parsed, &e));
    OK(rk_target_self(&self, &e));
    int r = rk_set_open(host, parsed, self, options, &set, &e);
    if (r < 0 && (e.cause == RK_CAUSE_NO_PMU || e.cause == RK_CAUSE_PARANOID || e.cause == RK_CAUSE_SECCOMP))
        SKIP("%s", e.what);
    if (r < 0)
        FAIL("%s: %s (%s)", events, e.what, strerror(-r));
    rk_target_free(self);
    rk_events_free(parsed);
    return set;
}

/* Whether the PMU leaves the kernel out where that is asked for. That of riscv64 under QEMU before 9.1 does not. */
__attribute__((unused)) static bool live_leaves_kernel_out(struct rk_host *host)
{
    struct rk_set *set = live_self(host, "instructions:u", NULL);
    struct rk_value before = {0}, after = {0};
    CHECK(rk_set_enable(set) == 0 && rk_set_total(set, &before, NULL, 1) == 0);
    for (int i = 0; i < 100; i++)
        getppid();
    CHECK(rk_set_total(set, &after, NULL, 1) == 0);
    rk_set_free(set);
    bool out = after.value - before.value < 100 * 100; /* a system call takes the kernel some hundreds */
    live_part = out ? 1000 : 25;
    return out;
}

#endif

/*
 * User registers in samples are those that the program had: a loop with known values in its registers, sampled by cycles
 * where there are any, else by cpu-clock.
 */
#include "session.h"

#include <sys/utsname.h>

#define FIRST UINT64_C(0x1122334455667788)
#define SECOND UINT64_C(0x0a0b0c0d0e0f1011)
#define LOOP_BYTES 96

#if defined(__x86_64__)
#define NAMES "r12", "r13", "ip", "sp"
__attribute__((noinline)) static void known(uint64_t n)
{
    __asm__ volatile("movabs $0x1122334455667788, %%r12\n movabs $0x0a0b0c0d0e0f1011, %%r13\n"
                     "1: dec %0\n jnz 1b"
                     : "+r"(n)::"cc", "r12", "r13");
}
#elif defined(__aarch64__)
#define NAMES "x19", "x20", "pc", "sp"
__attribute__((noinline)) static void known(uint64_t n)
{
    uint64_t first = FIRST, second = SECOND;
    __asm__ volatile("mov x19, %1\n mov x20, %2\n 1: subs %0, %0, #1\n b.ne 1b"
                     : "+r"(n)
                     : "r"(first), "r"(second)
                     : "cc", "x19", "x20");
}
#elif defined(__riscv)
#define NAMES "s2", "s3", "pc", "sp"
__attribute__((noinline)) static void known(uint64_t n)
{
    uint64_t first = FIRST, second = SECOND;
    __asm__ volatile("mv s2, %1\n mv s3, %2\n 1: addi %0, %0, -1\n bnez %0, 1b"
                     : "+r"(n)
                     : "r"(first), "r"(second)
                     : "s2", "s3");
}
#endif

#ifdef NAMES
/* Until the samples are enough, whatever the machine's speed and however busy it is. */
static void work(void)
{
    if (live_exact())
        known(20000000);
    else
        for (clock_t end = clock() + 3 * CLOCKS_PER_SEC / 10; clock() < end;)
            known(1000000);
}

int main(void)
{
    static const char *const names[] = {NAMES};
    struct rk_error e = {.size = sizeof e};
    struct rk_set_options options = {
        .size = sizeof options, .sample = RK_SAMPLE_REGS_USER, .flags = RK_SET_NO_INHERIT};
    struct rk_events *events = NULL;
    struct rk_target *self = NULL;
    struct rk_host *host = NULL;
    struct rk_set *set = NULL;
    struct rk_stream *stream = NULL;
    const struct rk_record *r;
    struct utsname machine;
    uint64_t inside = 0, right = 0, begin = (uint64_t)(uintptr_t)known;
    /* No variable's address: a sanitizer keeps them elsewhere. */
    uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    uint32_t number[4] = {0};

    uname(&machine);
    for (int i = 0; i < 4; i++) {
        uint64_t bit;
        EQUAL(rk_register_mask(machine.machine, names[i], &bit), 0);
        number[i] = (uint32_t)__builtin_ctzll(bit);
        EQUAL(strcmp(rk_register_name(machine.machine, number[i]), names[i]), 0);
        options.regs_user |= bit;
    }
    OK(rk_host_open(NULL, &host, &e));
    OK(rk_target_self(&self, &e));
    OK(rk_events_parse(host, "cycles:u", &events, &e));
    options.period = 1000000;
    if (rk_set_open(host, events, self, &options, &set, &e) < 0) {
        rk_events_free(events);
        options.period = 0;
        options.frequency = 1000;
        OK(rk_events_parse(host, "cpu-clock:u", &events, &e));
        OK(rk_set_open(host, events, self, &options, &set, &e));
    }
    OK(rk_stream_live(set, &stream, &e));
    EQUAL(rk_set_enable(set), 0);
    work();
    EQUAL(rk_set_disable(set), 0);
    rk_stream_drain(stream);
    for (; rk_stream_next(stream, &r) == 1; rk_stream_release(stream)) {
        struct rk_sample s = {.size = sizeof s};
        uint64_t v[4];
        if (rk_stream_sample(stream, r, &s) < 0 || s.ip < begin || s.ip >= begin + LOOP_BYTES)
            continue;
        CHECK(s.regs_user_abi == 2);
        EQUAL(s.regs_user_mask, options.regs_user);
        for (int i = 0; i < 4; i++)
            EQUAL(rk_sample_register(&s, 0, number[i], &v[i]), 0);
        EQUAL(v[2], s.ip);
        CHECK(v[3] < here + 4096 && v[3] + 65536 > here); /* our stack */
        inside++;
        right += v[0] == FIRST && v[1] == SECOND; /* not while it gets there and leaves */
    }
    printf("%s: %ju samples in the loop, %ju with its registers\n", options.period ? "cycles" : "cpu-clock",
           (uintmax_t)inside, (uintmax_t)right);
    CHECK(inside >= 10);
    CHECK(right * 100 >= inside * 90);
    rk_stream_free(stream);
    rk_set_free(set);
    rk_events_free(events);
    rk_target_free(self);
    rk_host_free(host);
    return 0;
}
#else
int main(void)
{
    SKIP("no loop with known registers for this machine");
}
#endif

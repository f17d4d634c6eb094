/*
 * Sampling cycles by period gives exactly count ÷ period samples, none lost, all where the work was done.
 */
#include "live.h"

#include <unistd.h>

#define PERIOD 1000000

/* The loop, called through two functions of known extent, so that the chain can be checked too: a chain by frame
 * pointers misses the caller of a function that has no frame of its own, as spin() has none. */
__attribute__((noinline)) static void inner(uint64_t rounds)
{
    spin(rounds);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

__attribute__((noinline)) static void outer(uint64_t rounds)
{
    inner(rounds);
    __asm__ volatile("" ::: "memory");
}

static bool within(uint64_t address, void (*function)(uint64_t))
{
    uint64_t begin = (uint64_t)(uintptr_t)function;
    return address >= begin && address < begin + 64;
}

static void check_sample(const struct rk_sample *s, uint64_t *inside)
{
    bool called = false;
    CHECK(s->present & RK_SAMPLE_IP);
    CHECK(s->present & RK_SAMPLE_CALLCHAIN);
    EQUAL(s->period, PERIOD);
    EQUAL(s->pid, getpid());
    EQUAL(s->tid, gettid());
    for (uint64_t i = 0; i < s->chain_n; i++)
        called |= s->chain[i] < RK_CHAIN_MAX && within(s->chain[i], outer);
#if !defined(__aarch64__)
    called = true; /* frame pointers are not certain elsewhere */
#endif
    *inside += within(s->ip, spin) && called;
}

int main(void)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_set_options options = {
        .size = sizeof options, .period = PERIOD, .sample = RK_SAMPLE_CALLCHAIN, .flags = RK_SET_NO_INHERIT};
    struct rk_loss loss = {.size = sizeof loss};
    struct rk_host *host = NULL;
    struct rk_stream *stream = NULL;
    const struct rk_record *r;
    struct rk_value v;
    uint64_t samples = 0, inside = 0, last = 0;
    int more;

    OK(rk_host_open(NULL, &host, &e));
    struct rk_set *set = live_self(host, "cycles:u", &options);
    OK(rk_stream_live(set, &stream, &e));
    EQUAL(rk_set_enable(set), 0);
    outer(20000000);
    EQUAL(rk_set_disable(set), 0);
    EQUAL(rk_set_total(set, &v, NULL, 1), 0);
    EQUAL(rk_stream_drain(stream), 0);
    while ((more = rk_stream_next(stream, &r)) == 1) {
        struct rk_sample s = {.size = sizeof s};
        if (r->type == RK_RECORD_SAMPLE) {
            EQUAL(rk_stream_sample(stream, r, &s), 0);
            check_sample(&s, &inside);
            CHECK(s.time >= last);
            last = s.time;
            samples++;
        }
        EQUAL(rk_stream_release(stream), 0);
    }
    EQUAL(more, 0);
    CHECK(v.value >= 40 * PERIOD / 4);
    SAME_COUNT(samples, v.value / PERIOD);
    CHECK(inside * 100 >= samples * 99);
    EQUAL(rk_stream_loss(stream, RK_NO_EVENT, &loss), 0);
    EQUAL(loss.kept, samples);
    EQUAL(loss.lost, 0);
    if (live_exact())
        EQUAL(loss.skipped, 0);
    rk_stream_free(stream);
    rk_set_free(set);
    rk_host_free(host);
    return 0;
}

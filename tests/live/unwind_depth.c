/*
 * Samples of a program without frame pointers, 25 and 100 calls deep: with a dump that is large enough each one reaches
 * main; with one that is not, each is said to be cut, and the share is printed.
 */
#include "session.h"

/* Of a hundred stacks so many may break: gcc writes tables for riscv64 only since 13, and Debian 12's libc has none. */
#if defined(__riscv)
enum { BROKEN_MOST = 10 };
#else
enum { BROKEN_MOST = 0 };
#endif
enum { FRAMES = 256 };

static volatile int sink;

int down(int depth);
__attribute__((noinline)) int down(int depth)
{
    int n = 0;
    if (depth > 1) {
        n = down(depth - 1);
    } else {
        struct timespec t;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        busy_ms((uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000 + 300);
    }
    sink += n;
    return n + 1;
}

static void sampled(int depth, uint32_t bytes)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_set_options options = {
        .size = sizeof options,
        .frequency = 1000,
        .sample = RK_SAMPLE_REGS_USER | RK_SAMPLE_STACK_USER,
        .regs_user = rk_unwinder_registers(RK_MACHINE_HERE),
        .stack_user = bytes,
        .ring_bytes = can_measure_all() && geteuid() == 0 ? 16u << 20 : 0,
    };
    struct session s = session_open("cpu-clock:u", NULL, &options);
    struct rk_stream *stream;
    struct rk_image *image;
    struct rk_unwinder *unwinder;
    struct rk_symbolizer *symbolizer;
    const struct rk_record *r;
    int n = 0, deep = 0, whole = 0, cut = 0, broken = 0, named = 0;

    OK(rk_stream_live(s.set, &stream, &e));
    OK(rk_image_open(&image, &e));
    EQUAL(rk_image_feed_process(image, NULL, getpid()), 0);
    OK(rk_unwinder_open(NULL, &unwinder, &e));
    OK(rk_symbolizer_open(NULL, &symbolizer, &e));
    OK(rk_set_enable(s.set));
    down(depth);
    OK(rk_set_disable(s.set));
    OK(rk_stream_drain(stream));
    while (rk_stream_next(stream, &r) == 1) {
        struct rk_sample sample = {.size = sizeof sample};
        struct rk_unwind_status status = {.size = sizeof status};
        struct rk_place places[FRAMES];
        uint64_t pcs[FRAMES];
        if (r->type != RK_RECORD_SAMPLE)
            continue;
        EQUAL(rk_stream_sample(stream, r, &sample), 0);
        int frames = rk_unwinder_sample(unwinder, image, &sample, pcs, FRAMES, &status);
        CHECK(frames > 0 && rk_image_find(image, getpid(), pcs, (size_t)frames, places) == 0);
        int downs = 0, mains = 0;
        for (int i = 0; i < frames; i++) {
            struct rk_module module = {.size = sizeof module};
            struct rk_symbol symbol;
            if (places[i].module == RK_NO_MODULE)
                continue;
            OK(rk_image_module_get(image, places[i].module, &module));
            OK(rk_symbolizer_resolve(symbolizer, &module, &places[i].offset, 1, &symbol));
            downs += symbol.name && !strcmp(symbol.name, "down");
            mains += symbol.name && !strcmp(symbol.name, "main");
        }
        n++;
        whole += status.end == RK_UNWIND_WHOLE && mains == 1;
        cut += status.end == RK_UNWIND_CUT;
        deep += downs == depth;
        named += downs > 0;
        broken += status.end == RK_UNWIND_BROKEN;
        if (status.end == RK_UNWIND_BROKEN && (!BROKEN_MOST || status.reason != RK_UNWIND_NO_CFI))
            FAIL("broken after %d frames: %s", frames, rk_unwind_reason_text(status.reason));
    }
    printf("%d deep, %u bytes: %d stacks, %d whole, %d cut (%.0f %%)\n", depth, bytes, n, whole, cut,
           n ? 100.0 * cut / n : 0);
    CHECK(n > 0);
    EQUAL(whole + cut + broken, n);
    CHECK(broken * 100 <= n * BROKEN_MOST);
    if (bytes > 16384) {
        EQUAL(whole + broken, n);
        CHECK(deep > n / 2); /* all but those on the way there and back */
    } else {
        CHECK(cut > n / 2 && named > 0);
    }
    rk_symbolizer_free(symbolizer);
    rk_unwinder_free(unwinder);
    rk_image_free(image);
    rk_stream_free(stream);
    session_close(&s);
}

int main(void)
{
    if (rk_unwinder_registers(RK_MACHINE_HERE) == 0)
        SKIP("stacks of this machine are not unwound");
    sampled(25, 32768);
    sampled(100, 32768);
    sampled(100, 1024);
    return 0;
}

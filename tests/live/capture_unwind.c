/* Stacks unwound while they are recorded, by step() alone and behind a thread that empties the rings. */
#include "session.h"

static char self[4096];
static volatile int sink;

int down(int depth);
__attribute__((noinline)) int down(int depth)
{
    int n = 0;
    if (depth > 1)
        n = down(depth - 1);
    else
        busy_ms(300);
    sink += n;
    return n + 1;
}

static void recorded(uint32_t threads)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_set_options options = {
        .size = sizeof options,
        .frequency = 2000,
        .records = RK_RECORDS_PROFILE,
        .sample = RK_SAMPLE_CALLCHAIN | RK_SAMPLE_REGS_USER | RK_SAMPLE_STACK_USER,
        .regs_user = rk_unwinder_registers(RK_MACHINE_HERE),
        .stack_user = 16384,
        .exclude = RK_EXCLUDE_CHAIN_USER,
    };
    char *argv[] = {self, "deep", NULL};
    struct session s = session_open("cpu-clock:u", argv, &options);
    struct rk_capture_options co = {
        .size = sizeof co, .path = "data", .flags = RK_CAPTURE_UNWIND | (threads ? RK_CAPTURE_THREAD : 0)};
    struct rk_capture_stats stats = {.size = sizeof stats};
    struct rk_stream_event event = {.size = sizeof event};
    struct rk_stream_info info = {.size = sizeof info};
    struct rk_capture *c;
    struct rk_stream *st;
    const struct rk_record *r;
    uint64_t n = 0, deep = 0;

    OK(rk_capture_open(s.host, s.set, s.target, &co, &c, &e));
    OK(rk_target_start(s.target, &e));
    while (rk_capture_step(c, 20) == 1)
        ;
    OK(rk_capture_finish(c, &stats, &e));
    rk_capture_free(c);
    session_wait(&s, 0);
    session_close(&s);

    OK(rk_stream_file("data", &st, &e));
    OK(rk_stream_event_get(st, 0, &event));
    CHECK(event.unwound == 1 && !(event.sample & (RK_SAMPLE_REGS_USER | RK_SAMPLE_STACK_USER)));
    while (rk_stream_next(st, &r) == 1) {
        struct rk_sample sample = {.size = sizeof sample};
        if (r->type != RK_RECORD_SAMPLE)
            continue;
        OK(rk_stream_sample(st, r, &sample));
        CHECK(sample.chain_n > 1 && sample.chain[0] == RK_CHAIN_USER && sample.chain[1] == sample.ip);
        CHECK(r->bytes < 4096);
        n++;
        deep += sample.chain_n > 50;
    }
    OK(rk_stream_info(st, &info));
    rk_stream_free(st);
    uint64_t all = stats.stacks_whole + stats.stacks_cut + stats.stacks_broken;
    printf("threads %u: %ju samples, %ju whole, %ju cut, %ju broken, %ju deep\n", threads, (uintmax_t)n,
           (uintmax_t)stats.stacks_whole, (uintmax_t)stats.stacks_cut, (uintmax_t)stats.stacks_broken,
           (uintmax_t)deep);
    EQUAL(all, n);
    EQUAL(info.stacks_whole, stats.stacks_whole);
    EQUAL(info.stacks_cut, stats.stacks_cut);
    EQUAL(info.stacks_broken, stats.stacks_broken);
    EQUAL(stats.truncated, stats.stacks_cut);
    CHECK(n > 50 && deep > n / 2 && stats.stacks_whole > n - n / 20);
}

static void all(void)
{
    recorded(0);
    recorded(1);
    unlink("data");
    unlink("data.old");
}

/* Not in main(): its frame is at the end of each stack, and must not be longer than what is recorded of it. */
__attribute__((noinline)) static int test(void)
{
    if (rk_unwinder_registers(RK_MACHINE_HERE) == 0)
        SKIP("stacks of this machine are not unwound");
    use_directory_and_self(self, sizeof self);
    all();
    as_plain_user(all);
    return 0;
}

int main(int argc, char **argv)
{
    (void)argv;
    return argc > 1 ? down(50) == 0 : test();
}

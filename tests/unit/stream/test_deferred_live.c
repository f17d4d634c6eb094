/*
 * Chains in two parts in a live stream: the kernel writes the rest when the thread goes back to user space, so perhaps
 * after the sample was read. The test plays the kernel (6.19), in a ring of its own.
 */
#include "record/encode.h"
#include "set/private.h"
#include "stream/live.h"
#include "sys/perf.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define BYTES (size_t)(64 << 10)

static const uint32_t here = 1; /* no forked child */
static struct perf_attr attr = {.type = PERF_SOFTWARE,
                                .size = 128,
                                .config = SW_CPU_CLOCK,
                                .sample_period = 1000,
                                .sample_type =
                                    RK_SAMPLE_IP | RK_SAMPLE_TID | RK_SAMPLE_TIME | RK_SAMPLE_CALLCHAIN,
                                .flags = ATTR_SAMPLE_ID_ALL | ATTR_DEFER_CALLCHAIN | ATTR_DEFER_OUTPUT};

static struct {
    struct rk_set set;
    struct rk_stream *st;
    struct stream_live *live;
    struct perf_page *page;
    struct ring ring;
    struct layout layout;
} f;

static void begin(void)
{
    size_t page = sys_page_size();

    memset(&f, 0, sizeof f);
    assert_int_equal(layout_init(&f.layout, &attr), 0);
    f.page = aligned_alloc(page, page + BYTES);
    f.live = calloc(1, sizeof *f.live + sizeof f.live->rings[0]);
    f.st = stream_new();
    assert_true(f.page && f.live && f.st);
    memset(f.page, 0, page + BYTES);
    f.page->data_offset = page;
    f.page->data_size = BYTES;
    f.page->data_head = f.page->data_tail = 3 * BYTES - 40; /* wraps at once */
    assert_int_equal(ring_init(&f.ring, f.page, BYTES), 0);
    f.set.fork_word = &here;
    *f.live = (struct stream_live){.set = &f.set, .epoll = -1, .n = 1};
    f.live->rings[0].ring = &f.ring;
    f.st->live = f.live;
    assert_int_equal(stream_event_add(f.st, &attr, "fake"), 0);
    live_ways(f.st);
}

static void end(void)
{
    f.st->live = NULL; /* which is not its own */
    rk_stream_free(f.st);
    free(f.live);
    free(f.page);
}

static void put(const uint64_t *words, int n)
{
    unsigned char *data = (unsigned char *)f.page + sys_page_size();

    assert_true(n > 0);
    for (int i = 0; i < n / 8; i++)
        memcpy(data + ((f.page->data_head + (uint64_t)i * 8) & (BYTES - 1)), &words[i], 8);
    f.page->data_head += (uint64_t)n;
}

/* cookie 0: a whole chain. */
static void sample(uint64_t time, int32_t tid, uint64_t cookie)
{
    uint64_t words[64], chain[] = {RK_CHAIN_KERNEL, 0xffffffff81000000 + time,
                                   cookie ? RK_CHAIN_USER_DEFERRED : RK_CHAIN_USER, cookie ? cookie : 0x4000};
    struct rk_sample s = {.size = sizeof s,
                          .present = attr.sample_type,
                          .ip = time,
                          .time = time,
                          .pid = 7,
                          .tid = tid,
                          .chain = chain,
                          .chain_n = 4};
    put(words, encode_sample(&f.layout, 1, &s, words, sizeof words));
}

static void rest(uint64_t time, int32_t tid, uint64_t cookie)
{
    static const uint64_t chain[] = {RK_CHAIN_USER, 0x1000, 0x2000};
    uint64_t words[64];
    struct rk_record from = {.time = time, .pid = 7, .tid = tid};
    struct rk_deferred part = {.size = sizeof part, .cookie = cookie, .chain = chain, .chain_n = 3};

    put(words, encode_deferred(&f.layout, &from, &part, words, sizeof words));
}

/* The next record is a sample of this time, its chain of so many entries ends with `last`. */
static void expect(uint64_t time, uint64_t n, uint64_t last)
{
    struct rk_sample s = {.size = sizeof s};
    const struct rk_record *r;

    assert_int_equal(rk_stream_next(f.st, &r), 1);
    assert_int_equal(r->type, RK_RECORD_SAMPLE);
    assert_int_equal(rk_stream_sample(f.st, r, &s), 0);
    assert_int_equal(s.time, time);
    assert_int_equal(s.chain_n, n);
    assert_int_equal(s.chain[n - 1], last);
}

static void expect_type(uint32_t type)
{
    const struct rk_record *r;

    assert_int_equal(rk_stream_next(f.st, &r), 1);
    assert_int_equal(r->type, type);
}

static void expect_nothing(void)
{
    const struct rk_record *r;

    assert_int_equal(rk_stream_next(f.st, &r), 0);
    assert_int_equal(rk_stream_release(f.st), 0);
}

/* The rest comes after the sample was read and the ring given back: what follows waits too. */
static void comes_later(void **state)
{
    (void)state;
    begin();
    sample(1, 7, 0);
    sample(2, 7, 55);
    expect(1, 4, 0x4000);
    expect_nothing();
    sample(3, 8, 0);
    expect_nothing();
    for (int i = 0; i < 2000; i++) { /* the ring goes round: what is held is a copy */
        rest((uint64_t)(4 + i), 9, 1);
        expect_nothing();
    }
    rest(5000, 7, 55);
    expect(2, 5, 0x2000);
    expect(3, 4, 0x4000);
    for (int i = 0; i < 2001; i++)
        expect_type(RK_RECORD_CALLCHAIN_DEFERRED);
    expect_nothing();
    end();
}

/* One rest for several samples, of its own thread alone. */
static void shared(void **state)
{
    (void)state;
    begin();
    sample(1, 7, 55);
    sample(2, 8, 55);
    sample(3, 7, 55);
    rest(4, 7, 55);
    expect(1, 5, 0x2000);
    expect_nothing();
    rest(5, 8, 55);
    expect(2, 5, 0x2000);
    expect(3, 5, 0x2000);
    expect_type(RK_RECORD_CALLCHAIN_DEFERRED);
    expect_type(RK_RECORD_CALLCHAIN_DEFERRED);
    expect_nothing();
    end();
}

/* At the end nothing more comes: samples go out as they are. */
static void drained(void **state)
{
    (void)state;
    begin();
    sample(1, 7, 55);
    sample(2, 7, 0);
    expect_nothing();
    f.st->drained = true;
    expect(1, 4, 55);
    expect(2, 4, 0x4000);
    expect_nothing();
    end();
}

/* Columns give whole chains too. */
static void columns(void **state)
{
    uint64_t time[8], start[9], chains[64];
    struct rk_columns c = {
        .size = sizeof c, .max = 8, .time = time, .chain_start = start, .chains = chains, .chains_max = 64};

    (void)state;
    begin();
    sample(1, 7, 55);
    assert_int_equal(rk_stream_columns(f.st, &c), 0);
    rest(2, 7, 55);
    assert_int_equal(rk_stream_columns(f.st, &c), 1);
    assert_true(time[0] == 1 && start[1] == 5 && chains[4] == 0x2000);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_later),
        cmocka_unit_test(shared),
        cmocka_unit_test(drained),
        cmocka_unit_test(columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

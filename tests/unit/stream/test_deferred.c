/* Chains in two parts: samples come with both, in the order of time, and none waits for ever. */
#include "../../temporary.h"
#include "perfdata/writer.h"
#include "record/encode.h"
#include "stream/stream.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static struct perf_attr attr = {.type = PERF_SOFTWARE,
                                .size = 128,
                                .config = SW_CPU_CLOCK,
                                .sample_period = 1000,
                                .sample_type = RK_SAMPLE_IP | RK_SAMPLE_TID | RK_SAMPLE_TIME |
                                               RK_SAMPLE_CALLCHAIN | RK_SAMPLE_WEIGHT,
                                .flags = ATTR_SAMPLE_ID_ALL | ATTR_DEFER_CALLCHAIN};
static struct layout layout;
static struct perfdata_writer *writer;
static uint64_t buffer[RECORD_BYTES_MAX / 8];
static char path[TEMPORARY];
static int fd;

static void begin(void)
{
    struct perfdata_writer_event event = {&attr, NULL, 0, "cpu-clock"};

    assert_int_equal(layout_init(&layout, &attr), 0);
    fd = mkstemp(temporary(path, "reckon-test-XXXXXX"));
    assert_true(fd >= 0);
    assert_int_equal(perfdata_writer_open(fd, &event, 1, &writer, NULL), 0);
}

static void put(int n)
{
    assert_true(n > 0);
    assert_int_equal(perfdata_writer_append(writer, buffer, (size_t)n), 0);
}

/* cookie 0: a whole chain. */
static void sample(uint64_t time, int32_t tid, uint64_t cookie)
{
    uint64_t chain[] = {RK_CHAIN_KERNEL, 0xffffffff81000000 + time,
                        cookie ? RK_CHAIN_USER_DEFERRED : RK_CHAIN_USER, cookie ? cookie : 0x4000};
    struct rk_sample s = {.size = sizeof s,
                          .present = attr.sample_type,
                          .ip = time,
                          .time = time,
                          .pid = 7,
                          .tid = tid,
                          .weight = time * 3,
                          .chain = chain,
                          .chain_n = 4};
    put(encode_sample(&layout, 1, &s, buffer, sizeof buffer));
}

static void rest(uint64_t time, int32_t tid, uint64_t cookie, const uint64_t *chain, uint64_t n)
{
    struct rk_record from = {.time = time, .pid = 7, .tid = tid};
    struct rk_deferred part = {.size = sizeof part, .cookie = cookie, .chain = chain, .chain_n = n};
    put(encode_deferred(&layout, &from, &part, buffer, sizeof buffer));
}

static void exits(uint64_t time, int32_t tid)
{
    struct rk_record from = {.time = time, .pid = 7, .tid = tid};
    struct rk_task task = {
        .size = sizeof task, .pid = 7, .parent_pid = 1, .tid = tid, .parent_tid = 1, .time = time};
    put(encode_task(&layout, &from, RK_RECORD_EXIT, &task, buffer, sizeof buffer));
}

static struct rk_stream *read_back(void)
{
    struct rk_stream *st;

    assert_int_equal(perfdata_writer_finish(writer, NULL), 0);
    perfdata_writer_close(writer);
    close(fd);
    assert_int_equal(rk_stream_file(path, &st, NULL), 0);
    unlink(path);
    return st;
}

/* The next record is a sample of this time, whose chain ends with these; all else is as it was. */
static void expect(struct rk_stream *st, uint64_t time, uint64_t n, const uint64_t *end, uint64_t end_n)
{
    struct rk_sample s = {.size = sizeof s};
    const struct rk_record *r;

    assert_int_equal(rk_stream_next(st, &r), 1);
    assert_int_equal(r->type, RK_RECORD_SAMPLE);
    assert_int_equal(r->time, time);
    assert_int_equal(rk_stream_sample(st, r, &s), 0);
    assert_int_equal(s.time, time);
    assert_int_equal(s.ip, time);
    assert_int_equal(s.weight, time * 3);
    assert_int_equal(s.chain_n, n);
    assert_int_equal(s.chain[1], 0xffffffff81000000 + time);
    assert_memory_equal(s.chain + n - end_n, end, end_n * 8);
    rk_stream_release(st);
}

static void expect_type(struct rk_stream *st, uint32_t type)
{
    const struct rk_record *r;

    assert_int_equal(rk_stream_next(st, &r), 1);
    assert_int_equal(r->type, type);
    rk_stream_release(st);
}

static void expect_end(struct rk_stream *st)
{
    const struct rk_record *r;

    assert_int_equal(rk_stream_next(st, &r), 0);
    assert_int_equal(rk_stream_next(st, &r), 0);
    rk_stream_free(st);
}

static const uint64_t user[] = {RK_CHAIN_USER, 0x5000, 0x5100, 0x5200}, whole[] = {RK_CHAIN_USER, 0x4000};

/* Two samples of one visit to the kernel, another thread's between them, one with the same cookie in another thread. */
static void samples_come_whole_and_in_order(void **state)
{
    (void)state;
    begin();
    sample(10, 1, 77);
    sample(20, 2, 0);
    sample(30, 1, 77);
    sample(40, 2, 77);
    rest(50, 1, 77, user, 4);
    sample(60, 1, 0);
    rest(70, 2, 77, user, 2);
    struct rk_stream *st = read_back();
    expect(st, 10, 6, user, 4);
    expect(st, 20, 4, whole, 2);
    expect(st, 30, 6, user, 4);
    expect(st, 40, 4, user, 2);
    expect_type(st, RK_RECORD_CALLCHAIN_DEFERRED);
    expect(st, 60, 4, whole, 2);
    expect_type(st, RK_RECORD_CALLCHAIN_DEFERRED);
    struct rk_loss loss = {.size = sizeof loss};
    assert_int_equal(rk_stream_loss(st, 0, &loss), 0);
    assert_int_equal(loss.kept, 5);
    expect_end(st);
}

/* Its thread ends, the file ends: it comes as it was. */
static void nobody_waits_for_ever(void **state)
{
    const uint64_t marker[] = {RK_CHAIN_USER_DEFERRED, 5};
    (void)state;
    begin();
    sample(10, 1, 5);
    sample(20, 2, 0);
    exits(30, 1);
    rest(40, 1, 5, user, 4); /* too late, and of nobody */
    sample(50, 3, 5);
    struct rk_stream *st = read_back();
    expect(st, 10, 4, marker, 2);
    expect(st, 20, 4, whole, 2);
    expect_type(st, RK_RECORD_EXIT);
    expect_type(st, RK_RECORD_CALLCHAIN_DEFERRED);
    expect(st, 50, 4, marker, 2);
    expect_end(st);
}

/* More than may be held goes by. */
static void what_is_held_is_bounded(void **state)
{
    const uint64_t marker[] = {RK_CHAIN_USER_DEFERRED, 5};
    size_t n = DEFERRED_LIMIT / 64 + 5000, before = 0;
    const struct rk_record *r;
    (void)state;
    begin();
    sample(10, 1, 5);
    for (size_t i = 0; i < n; i++)
        sample(20 + i, 2, 0);
    rest(30 + n, 1, 5, user, 4);
    struct rk_stream *st = read_back();
    expect(st, 10, 4, marker, 2);
    while (rk_stream_next(st, &r) == 1 && r->type == RK_RECORD_SAMPLE)
        before++;
    assert_int_equal(before, n);
    expect_end(st);
}

/* A chain as long as a record may be is cut, not dropped. */
static void a_chain_longer_than_a_record_is_cut(void **state)
{
    uint64_t n = (RECORD_BYTES_MAX - 8 - 16 - layout.trailer_bytes) / 8;
    uint64_t *chain = calloc(n, 8);
    const struct rk_record *r;
    struct rk_sample s = {.size = sizeof s};
    (void)state;
    for (uint64_t i = 0; i < n; i++)
        chain[i] = i ? i : RK_CHAIN_USER;
    begin();
    sample(10, 1, 5);
    rest(20, 1, 5, chain, n);
    struct rk_stream *st = read_back();
    assert_int_equal(rk_stream_next(st, &r), 1);
    assert_int_equal(rk_stream_sample(st, r, &s), 0);
    assert_true(r->bytes <= RECORD_BYTES_MAX && r->bytes > RECORD_BYTES_MAX - 16);
    assert_int_equal(s.chain[2], RK_CHAIN_USER);
    assert_int_equal(s.chain[s.chain_n - 1], s.chain_n - 3);
    assert_int_equal(s.weight, 30);
    expect_type(st, RK_RECORD_CALLCHAIN_DEFERRED);
    expect_end(st);
    free(chain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_come_whole_and_in_order),
        cmocka_unit_test(nobody_waits_for_ever),
        cmocka_unit_test(what_is_held_is_bounded),
        cmocka_unit_test(a_chain_longer_than_a_record_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

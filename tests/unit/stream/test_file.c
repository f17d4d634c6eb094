/* Files as streams: written here record by record, read back in order. */
#include "../../temporary.h"
#include "perfdata/writer.h"
#include "record/encode.h"
#include "stream/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#define SAMPLE (RK_SAMPLE_IDENTIFIER | RK_SAMPLE_IP | RK_SAMPLE_TID | RK_SAMPLE_TIME | RK_SAMPLE_CPU)

static struct perf_attr attrs[2] = {
    {.type = PERF_SOFTWARE,
     .size = 128,
     .config = SW_CPU_CLOCK,
     .sample_period = 1000,
     .sample_type = SAMPLE,
     .flags = ATTR_FREQ | ATTR_SAMPLE_ID_ALL},
    {.type = PERF_SOFTWARE,
     .size = 128,
     .config = SW_PAGE_FAULTS,
     .sample_period = 1,
     .sample_type = SAMPLE | RK_SAMPLE_CALLCHAIN,
     .flags = ATTR_SAMPLE_ID_ALL},
};
static const uint64_t ids[2][2] = {{100, 101}, {200, 201}};
static char path[TEMPORARY];
static int fd = -1;

static struct perfdata_writer *begin(void)
{
    struct perfdata_writer_event events[2] = {{&attrs[0], ids[0], 2, "cpu-clock"},
                                              {&attrs[1], ids[1], 2, "page-faults"}};
    struct perfdata_writer *w;
    fd = mkstemp(temporary(path, "reckon-test-XXXXXX"));
    assert_true(fd >= 0);
    assert_int_equal(perfdata_writer_open(fd, events, 2, &w, NULL), 0);
    return w;
}

static void end(struct perfdata_writer *w)
{
    assert_int_equal(perfdata_writer_finish(w, NULL), 0);
    perfdata_writer_close(w);
    close(fd);
}

static void put_sample(struct perfdata_writer *w, int event, uint64_t time, uint64_t serial)
{
    struct layout layout;
    uint64_t buffer[64], chain[2] = {RK_CHAIN_USER, 0x1000};
    assert_int_equal(layout_init(&layout, &attrs[event]), 0);
    struct rk_sample s = {.size = sizeof s,
                          .present = attrs[event].sample_type,
                          .ip = serial,
                          .time = time,
                          .id = ids[event][serial % 2],
                          .pid = 7,
                          .tid = 8,
                          .chain = chain,
                          .chain_n = 2};
    int n = encode_sample(&layout, 2, &s, buffer, sizeof buffer);
    assert_true(n > 0);
    assert_int_equal(perfdata_writer_append(w, buffer, (size_t)n), 0);
}

static void put_comm(struct perfdata_writer *w, uint64_t time, const char *name)
{
    struct layout layout;
    uint64_t buffer[64];
    assert_int_equal(layout_init(&layout, &attrs[0]), 0);
    struct rk_record from = {.time = time, .pid = 7, .tid = 7, .id = 100};
    struct rk_comm comm = {.size = sizeof comm, .pid = 7, .tid = 7, .name = name};
    int n = encode_comm(&layout, &from, &comm, buffer, sizeof buffer);
    assert_int_equal(perfdata_writer_append(w, buffer, (size_t)n), 0);
}

static struct rk_stream *stream(void)
{
    struct rk_stream *st;
    struct rk_error e = {.size = sizeof e};
    if (rk_stream_file(path, &st, &e) < 0)
        fail_msg("%s", e.what);
    unlink(path);
    return st;
}

/* All that is left: samples by their serial number, COMM as 1000. */
static size_t drain(struct rk_stream *st, uint64_t *ret, size_t room)
{
    const struct rk_record *r;
    size_t n = 0;
    int rc;
    while ((rc = rk_stream_next(st, &r)) == 1) {
        assert_true(n < room);
        ret[n] = 1000;
        if (r->type == RK_RECORD_SAMPLE) {
            struct rk_sample s = {.size = sizeof s};
            assert_int_equal(rk_stream_sample(st, r, &s), 0);
            ret[n] = s.ip;
            assert_int_equal(s.time, r->time);
            assert_int_equal(s.chain_n, r->event == 1 ? 2 : 0);
            assert_int_equal(s.id, ids[r->event][s.ip % 2]);
        }
        n++;
        rk_stream_release(st);
    }
    assert_int_equal(rc, 0);
    assert_int_equal(rk_stream_next(st, &r), 0); /* the end stays the end */
    return n;
}

static void expect(struct rk_stream *st, const uint64_t *wanted, size_t n)
{
    uint64_t got[100] = {0};
    assert_int_equal(drain(st, got, 100), n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(got[i], wanted[i]);
}

static void two_rings_by_rounds(void **state)
{
    (void)state;
    struct perfdata_writer *w = begin();
    put_comm(w, 0, "made-up"); /* no time: first */
    put_sample(w, 0, 30, 3);
    put_sample(w, 1, 40, 4);
    put_comm(w, 0, "goes with the one before it");
    put_sample(w, 0, 10, 1);
    put_sample(w, 1, 20, 2);
    perfdata_writer_round(w);
    put_sample(w, 0, 60, 6);
    put_sample(w, 0, 35, 35);
    perfdata_writer_round(w);
    put_sample(w, 0, 50, 5); /* later than M(n-1) = 40: in time */
    end(w);

    struct rk_stream *st = stream();
    expect(st, (uint64_t[]){1000, 1, 2, 3, 35, 4, 1000, 5, 6}, 9);
    struct rk_stream_info info = {.size = sizeof info};
    assert_int_equal(rk_stream_info(st, &info), 0);
    assert_int_equal(info.ordered, 1);
    assert_int_equal(info.cut, 0);
    assert_int_equal(st->order.disorder, 0);
    rk_stream_free(st);
}

static void a_recording_in_order_goes_straight(void **state)
{
    (void)state;
    struct perfdata_writer *w = begin();
    for (uint64_t i = 1; i <= 50; i++)
        put_sample(w, i % 2, i * 10, i);
    perfdata_writer_ledger(w, "ordered", "1");
    perfdata_writer_ledger(w, "clean", "1");
    perfdata_writer_ledger(w, "event", "0 kept 25 lost 3 skipped 4 throttled 5 records-lost 6");
    perfdata_writer_ledger(w, "event", "1 kept 25 lost 1 throttled 0 records-lost 0");
    end(w);

    struct rk_stream *st = stream();
    assert_non_null(st->straight);
    uint64_t got[100];
    struct rk_loss loss = {.size = sizeof loss};
    rk_stream_loss(st, 0, &loss); /* nothing seen yet, nothing told yet */
    assert_int_equal(loss.kept + loss.lost, 0);
    assert_int_equal(drain(st, got, 100), 50);
    for (size_t i = 0; i < 50; i++)
        assert_int_equal(got[i], i + 1);

    rk_stream_loss(st, 0, &loss);
    assert_int_equal(loss.present, RK_LOSS_LOST | RK_LOSS_SKIPPED);
    assert_int_equal(loss.kept, 25);
    assert_int_equal(loss.lost, 3);
    assert_int_equal(loss.skipped, 4);
    assert_int_equal(loss.throttled, 5);
    assert_int_equal(loss.records_lost, 6);
    rk_stream_loss(st, RK_NO_EVENT, &loss); /* skipped is not known of all: not of the sum */
    assert_int_equal(loss.present, RK_LOSS_LOST);
    assert_int_equal(loss.kept, 50);
    assert_int_equal(loss.lost, 4);
    assert_int_equal(loss.skipped, 0);
    assert_int_equal(rk_stream_loss(st, 2, &loss), -ERANGE);

    struct rk_stream_event event = {.size = sizeof event};
    assert_int_equal(rk_stream_event_count(st), 2);
    assert_int_equal(rk_stream_event_get(st, 0, &event), 0);
    assert_string_equal(event.name, "cpu-clock");
    assert_int_equal(event.frequency, 1000);
    assert_int_equal(event.period, 0);
    assert_int_equal(rk_stream_event_get(st, 1, &event), 0);
    assert_int_equal(event.period, 1);
    assert_int_equal(rk_stream_event_get(st, 2, &event), -ERANGE);
    assert_int_equal(rk_stream_fd(st), -EINVAL);
    assert_int_equal(rk_stream_drain(st), -EINVAL);
    struct rk_error e = {.size = sizeof e};
    assert_int_equal(rk_stream_explain(st, &e), -ENOENT);
    rk_stream_free(st);
}

/* Too large for the queue and no round in sight: by an index, and all in order. */
static void no_rounds_at_all(void **state)
{
    (void)state;
    enum { RINGS = 5, EACH = 20000 };
    struct perfdata_writer *w = begin();
    for (uint64_t ring = 0; ring < RINGS; ring++)
        for (uint64_t i = 0; i < EACH; i++)
            put_sample(w, ring % 2, 1 + i * RINGS + ring, 1 + i * RINGS + ring);
    end(w);

    struct rk_stream *st = stream();
    st->order.limit = 100000;
    uint64_t *got = calloc(RINGS * EACH, sizeof *got);
    assert_int_equal(drain(st, got, RINGS * EACH), RINGS * EACH);
    for (uint64_t i = 0; i < RINGS * EACH; i++)
        assert_int_equal(got[i], i + 1);
    assert_true(st->order.chunks < 4);
    struct rk_stream_info info = {.size = sizeof info};
    rk_stream_info(st, &info);
    assert_int_equal(info.ordered, 1);
    free(got);
    rk_stream_free(st);
}

/* A round beyond the limit, rounds seen before: the older half goes, nothing is lost. */
static void a_round_too_large(void **state)
{
    (void)state;
    struct perfdata_writer *w = begin();
    put_sample(w, 0, 1, 1);
    perfdata_writer_round(w);
    for (uint64_t i = 2; i <= 10000; i++)
        put_sample(w, 0, i, i);
    put_sample(w, 0, 5000, 10001); /* long out */
    end(w);

    struct rk_stream *st = stream();
    st->order.limit = 100000;
    uint64_t *got = calloc(20000, sizeof *got);
    assert_int_equal(drain(st, got, 20000), 10001);
    assert_int_equal(st->order.disorder, 1);
    for (uint64_t i = 1; i < 9000; i++)
        assert_int_equal(got[i - 1], i);
    free(got);
    rk_stream_free(st);
}

static void damaged_records_are_told(void **state)
{
    (void)state;
    struct perfdata_writer *w = begin();
    put_sample(w, 0, 10, 1);
    /* A COMM without room for its trailer; a sample whose chain leads beyond it; one of an unknown event. */
    uint64_t shorter[2] = {(uint64_t)16 << 48 | RK_RECORD_COMM};
    perfdata_writer_append(w, shorter, 16);
    uint64_t chain[8] = {(uint64_t)64 << 48 | RK_RECORD_SAMPLE, 200, 0x1000, 7, 20, 0, 5, 1};
    perfdata_writer_append(w, chain, 64);
    uint64_t unknown[8] = {(uint64_t)64 << 48 | RK_RECORD_SAMPLE, 999, 0x1000, 7, 30, 0, 5, 1};
    perfdata_writer_append(w, unknown, 64);
    put_sample(w, 0, 40, 2);
    end(w);

    struct rk_stream *st = stream();
    struct rk_error e = {.size = sizeof e};
    struct rk_sample s = {.size = sizeof s};
    const struct rk_record *r;
    assert_int_equal(rk_stream_next(st, &r), 1);
    assert_int_equal(rk_stream_sample(st, r, &s), 0);
    assert_int_equal(rk_stream_next(st, &r), -EBADMSG);
    assert_int_equal(rk_stream_explain(st, &e), 0);
    assert_non_null(strstr(e.what, "COMM"));
    assert_int_equal(rk_stream_next(st, &r), 1);
    assert_int_equal(rk_stream_sample(st, r, &s), -EBADMSG);
    assert_int_equal(rk_stream_explain(st, &e), 0);
    assert_non_null(strstr(e.what, "does not hold"));
    assert_int_equal(rk_stream_next(st, &r), 1);
    assert_int_equal(r->event, RK_NO_EVENT);
    assert_int_equal(rk_stream_sample(st, r, &s), -EBADMSG);
    assert_int_equal(rk_stream_explain(st, &e), 0);
    assert_non_null(strstr(e.what, "no event"));
    assert_int_equal(rk_stream_next(st, &r), 1);
    assert_int_equal(rk_stream_sample(st, r, &s), 0);
    assert_int_equal(s.ip, 2);
    assert_int_equal(rk_stream_next(st, &r), 0);
    rk_stream_free(st);
}

/* A size that can't be: nothing behind it can be found. Told once, then it is the end, and a reader's loop ends. */
static void a_size_that_cannot_be(void **state)
{
    (void)state;
    struct perfdata_writer *w = begin();
    put_sample(w, 0, 10, 1);
    put_sample(w, 0, 20, 2);
    end(w);
    int file = open(path, O_RDWR);
    uint64_t at = 0;
    assert_int_equal(pread(file, &at, 8, 40), 8); /* data.offset */
    assert_int_equal(pwrite(file, "\0", 2, (off_t)at + 6), 2);
    close(file);

    struct rk_stream *st = stream();
    struct rk_error e = {.size = sizeof e};
    struct rk_stream_info info = {.size = sizeof info};
    const struct rk_record *r;
    assert_int_equal(rk_stream_next(st, &r), -EBADMSG);
    assert_int_equal(rk_stream_explain(st, &e), 0);
    assert_non_null(strstr(e.what, "size"));
    for (int i = 0; i < 3; i++)
        assert_int_equal(rk_stream_next(st, &r), 0);
    assert_int_equal(rk_stream_info(st, &info), 0);
    assert_int_equal(info.cut, 1);
    rk_stream_free(st);
}

/* What a kill leaves: a header that is right up to the last flush. */
static void a_killed_recording(void **state)
{
    (void)state;
    struct perfdata_writer *w = begin();
    put_sample(w, 0, 10, 1);
    put_sample(w, 0, 20, 2);
    assert_int_equal(perfdata_writer_flush(w), 0);
    put_sample(w, 0, 30, 3);
    perfdata_writer_close(w);
    close(fd);

    struct rk_stream *st = stream();
    expect(st, (uint64_t[]){1, 2}, 2);
    struct rk_stream_info info = {.size = sizeof info};
    rk_stream_info(st, &info);
    assert_int_equal(info.cut, 1);
    struct rk_loss loss = {.size = sizeof loss};
    rk_stream_loss(st, RK_NO_EVENT, &loss);
    assert_int_equal(loss.kept, 2);
    assert_int_equal(loss.present, RK_LOSS_LOST);
    rk_stream_free(st);
}

/* MMAP2 with the build-id's bit, of an event that did not ask: a short one is a device's number (8:1), one as long as
 * those that linkers make was put there later. Of an event that did ask, any is believed. */
static void build_ids_that_are_none(void **state)
{
    (void)state;
    for (int asked = 0; asked < 2; asked++) {
        struct layout layout;
        uint64_t buffer[64];
        attrs[0].flags = ATTR_SAMPLE_ID_ALL | (asked ? ATTR_BUILD_ID : 0);
        struct perfdata_writer *w = begin();
        assert_int_equal(layout_init(&layout, &attrs[0]), 0);
        for (uint32_t bytes = 8; bytes <= 20; bytes += 12) {
            struct rk_record from = {.time = bytes, .pid = 7, .tid = 7, .id = 100};
            struct rk_mapping m = {.size = sizeof m,
                                   .build_id = (const unsigned char *)"0123456789abcdefghij",
                                   .build_id_bytes = bytes,
                                   .path = "/x"};
            int n = encode_mapping(&layout, &from, &m, buffer, sizeof buffer);
            assert_true(n > 0);
            assert_int_equal(perfdata_writer_append(w, buffer, (size_t)n), 0);
        }
        end(w);
        attrs[0].flags = ATTR_FREQ | ATTR_SAMPLE_ID_ALL;
        struct rk_stream *st = stream();
        const struct rk_record *r;
        for (uint32_t bytes = 8; bytes <= 20; bytes += 12) {
            struct rk_mapping m = {.size = sizeof m};
            assert_int_equal(rk_stream_next(st, &r), 1);
            assert_int_equal(rk_record_mapping(r, &m), 0);
            assert_int_equal(m.build_id_bytes, asked || bytes == 20 ? bytes : 0);
            assert_int_equal(m.major, asked || bytes == 20 ? 0 : 8);
            assert_string_equal(m.path, "/x");
        }
        rk_stream_free(st);
        unlink(path);
    }
}

static void what_is_no_recording(void **state)
{
    (void)state;
    struct rk_stream *st = (void *)1;
    struct rk_error e = {.size = sizeof e};
    assert_int_equal(rk_stream_file("/nonexistent/perf.data", &st, &e), -ENOENT);
    assert_int_equal(e.code, -ENOENT);
    assert_true(e.what[0]);
    assert_true(rk_stream_file("/proc/self/exe", &st, &e) < 0);
    assert_true(e.what[0]);
    assert_ptr_equal(st, (void *)1);
    assert_null(rk_stream_free(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_rings_by_rounds),      cmocka_unit_test(a_recording_in_order_goes_straight),
        cmocka_unit_test(no_rounds_at_all),         cmocka_unit_test(a_round_too_large),
        cmocka_unit_test(damaged_records_are_told), cmocka_unit_test(a_size_that_cannot_be),
        cmocka_unit_test(a_killed_recording),       cmocka_unit_test(what_is_no_recording),
        cmocka_unit_test(build_ids_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * A stream steered while it runs: output paused and resumed, another period, so many samples more; a flight recorder;
 * a reader's thread held back on purpose. What was kept, lost and skipped is exactly what was counted.
 */
#include "session.h"

static uint64_t read_all(struct rk_stream *st)
{
    const struct rk_record *r;
    uint64_t samples = 0;
    for (int k; (k = rk_stream_next(st, &r)) == 1; rk_stream_release(st))
        samples += r->type == RK_RECORD_SAMPLE;
    return samples;
}

static struct session open_faults(struct rk_set_options o, struct rk_stream **ret)
{
    struct rk_error e = {.size = sizeof e};
    o.size = sizeof o;
    o.flags |= RK_SET_NO_INHERIT;
    struct session s = session_open("page-faults:u", NULL, &o);
    OK(rk_stream_live(s.set, ret, &e));
    return s;
}

static void paused(void)
{
    struct rk_stream *st;
    struct rk_loss loss = {.size = sizeof loss};
    struct rk_value v;
    struct session s = open_faults((struct rk_set_options){.period = 1}, &st);

    rk_set_enable(s.set);
    touch(10);
    EQUAL(rk_stream_pause(st), 0);
    touch(20);
    EQUAL(rk_stream_resume(st), 0);
    touch(30);
    rk_set_disable(s.set);
    EQUAL(rk_stream_drain(st), 0);
    uint64_t kept = read_all(st);
    EQUAL(rk_stream_loss(st, 0, &loss), 0);
    EQUAL(rk_set_total(s.set, &v, NULL, 1), 0);
    EQUAL(loss.kept, kept);
    CHECK(kept >= 40 && v.value >= 60);
    if (loss.present & RK_LOSS_LOST) {
        uint64_t lost; /* as read(2) has it beside the count: PERF_FORMAT_LOST */
        EQUAL(rk_set_lost(s.set, 0, &lost), 0);
        EQUAL(lost, loss.lost);
        CHECK(loss.lost >= 20);
        EQUAL(loss.kept + loss.lost + loss.skipped, v.value);
    }
    printf("paused: kept %ju, lost %ju, count %ju\n", (uintmax_t)kept, (uintmax_t)loss.lost,
           (uintmax_t)v.value);
    rk_stream_free(st);
    session_close(&s);
}

static void another_period(void)
{
    struct rk_stream *st;
    struct rk_loss loss = {.size = sizeof loss};
    struct rk_value before, after;
    struct session s = open_faults((struct rk_set_options){.period = 1}, &st);

    rk_set_enable(s.set);
    touch(100);
    rk_set_disable(s.set);
    uint64_t first = read_all(st);
    EQUAL(rk_set_total(s.set, &before, NULL, 1), 0);
    EQUAL(rk_stream_period(st, 0, 10), 0);
    rk_set_enable(s.set);
    touch(1000);
    rk_set_disable(s.set);
    EQUAL(rk_set_total(s.set, &after, NULL, 1), 0);
    EQUAL(rk_stream_drain(st), 0);
    uint64_t second = read_all(st);
    printf("periods: %ju at 1, %ju at 10\n", (uintmax_t)first, (uintmax_t)second);
    EQUAL(first, before.value);
    uint64_t due = (after.value - before.value) / 10;
    CHECK(second >= due - 1 && second <= due + 1);
    EQUAL(rk_stream_loss(st, 0, &loss), 0);
    CHECK(!(loss.present & RK_LOSS_SKIPPED)); /* can't be told from one count any more */
    EQUAL(rk_stream_period(st, 0, 0), -EINVAL);
    EQUAL(rk_stream_period(st, 1, 5), -ERANGE);
    EQUAL(rk_stream_snapshot(st), -EINVAL);
    rk_stream_free(st);
    session_close(&s);
}

/* The black-box case of REFRESH: so many samples, and no more. */
static void refreshed(void)
{
    struct rk_stream *st;
    struct session s = open_faults((struct rk_set_options){.period = 1}, &st);

    touch(10);
    EQUAL(read_all(st), 0);
    for (uint32_t n = 1; n < 40; n += 9) {
        EQUAL(rk_stream_refresh(st, 0, n), 0);
        touch(100);
        EQUAL(read_all(st), n);
    }
    EQUAL(rk_stream_refresh(st, 0, 0), -EINVAL);
    EQUAL(rk_stream_drain(st), 0);
    rk_stream_free(st);
    session_close(&s);
}

/* Far more than the ring holds: the latest come, in order, each once. */
static void flight_recorder(void)
{
    struct rk_stream *st;
    uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE);
    struct session s =
        open_faults((struct rk_set_options){.period = 1, .flags = RK_SET_OVERWRITE, .ring_bytes = page}, &st);
    const struct rk_record *r;
    uint64_t newest = 0, total = 0, most = page / 48;

    rk_set_enable(s.set);
    for (int round = 0; round < 50; round++) {
        uint64_t n = 0;
        touch(round % 3 == 2 ? 10 : 300);
        EQUAL(rk_stream_next(st, &r), 0); /* nothing without a snapshot */
        EQUAL(rk_stream_snapshot(st), 0);
        while (rk_stream_next(st, &r) == 1) { /* faults of our own while it was paused come as LOST */
            CHECK(r->time >= newest);
            newest = r->time;
            n += r->type == RK_RECORD_SAMPLE;
        }
        rk_stream_release(st);
        CHECK(n >= 10 && n <= most);
        if (round % 3 != 2)
            CHECK(n >= most - 4);
        total += n;
    }
    rk_set_disable(s.set);
    printf("flight recorder: %ju samples in 50 snapshots\n", (uintmax_t)total);
    rk_stream_free(st);
    session_close(&s);
}

/* A thread empties the rings, its queue is small and nobody takes from it for a while: the ring fills, the kernel
 * counts. */
static void held_back(void)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_set_options o = {.size = sizeof o,
                               .period = 1,
                               .flags = RK_SET_NO_INHERIT,
                               .sample = RK_SAMPLE_CALLCHAIN,
                               .ring_bytes = 64 << 10};
    struct rk_capture_options co = {
        .size = sizeof co, .path = "data", .flags = RK_CAPTURE_THREAD, .queue_bytes = 1u << 20};
    struct rk_capture_stats stats = {.size = sizeof stats};
    struct session s = session_open("page-faults:u", NULL, &o);
    struct rk_capture *c;
    struct rk_value v;

    OK(rk_capture_open(s.host, s.set, s.target, &co, &c, &e));
    rk_set_enable(s.set);
    for (int i = 0; i < 30; i++)
        touch(2000);
    EQUAL(rk_capture_step(c, 10), 1);
    for (int i = 0; i < 20; i++) {
        touch(100);
        EQUAL(rk_capture_step(c, 10), 1);
    }
    rk_set_disable(s.set);
    EQUAL(rk_set_total(s.set, &v, NULL, 1), 0);
    OK(rk_capture_finish(c, &stats, &e));
    rk_capture_free(c);
    printf("held back: kept %ju, lost %ju, count %ju; queue full %ju times\n", (uintmax_t)stats.loss.kept,
           (uintmax_t)stats.loss.lost, (uintmax_t)v.value, (uintmax_t)stats.queue_full);
    if (stats.loss.present & RK_LOSS_LOST) {
        CHECK(stats.loss.lost > 0 && stats.queue_full > 0);
        EQUAL(stats.loss.kept + stats.loss.lost + stats.loss.skipped, v.value);
    }
    session_close(&s);
}

static void all(void)
{
    paused();
    another_period();
    refreshed();
    flight_recorder();
    held_back();
    unlink("data");
    unlink("data.old");
}

int main(void)
{
    use_directory();
    all();
    as_plain_user(all);
    return 0;
}

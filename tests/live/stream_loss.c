/*
 * Rings that really fill: a ring of one page, a reader held back. Nothing goes missing without being counted:
 * kept + lost = count, to the last one.
 */
#include "session.h"

#define KERNEL_COUNTS_LOST 16u /* PERF_FORMAT_LOST */

static volatile uint64_t watched;

/* Writes that a breakpoint sees, each one. */
static void write_it(size_t n)
{
    for (size_t i = 0; i < n; i++)
        watched = i;
}

static void straight(const char *what, void (*cause)(size_t), size_t pages, size_t rounds)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_set_options o = {.size = sizeof o,
                               .period = 1,
                               .flags = RK_SET_NO_INHERIT,
                               .ring_bytes = (uint32_t)sysconf(_SC_PAGESIZE)};
    struct session s = session_open(what, NULL, &o);
    struct rk_stream_event event = {.size = sizeof event};
    struct rk_loss loss = {.size = sizeof loss};
    const struct rk_record *r;
    struct rk_stream *st;
    struct rk_value v;
    uint64_t samples = 0, in_records = 0;

    OK(rk_stream_live(s.set, &st, &e));
    EQUAL(rk_stream_event_get(st, 0, &event), 0);
    if (!(event.read_format & KERNEL_COUNTS_LOST))
        SKIP("this kernel does not count lost samples (PERF_FORMAT_LOST, Linux 6.0)");
    for (size_t i = 0; i < rounds; i++) {
        rk_set_enable(s.set);
        cause(pages);
        rk_set_disable(s.set);
        for (; rk_stream_next(st, &r) == 1; samples += r->type == RK_RECORD_SAMPLE) {
            struct rk_lost lost = {.size = sizeof lost};
            if (rk_record_lost(r, &lost) == 0)
                in_records += lost.count;
        }
        rk_stream_release(st);
    }
    rk_stream_drain(st);
    CHECK(rk_stream_next(st, &r) == 0);
    EQUAL(rk_set_total(s.set, &v, NULL, 1), 0);
    EQUAL(rk_stream_loss(st, 0, &loss), 0);
    EQUAL(loss.kept, samples);
    CHECK(loss.lost > 0 && loss.kept > 0);
    EQUAL(loss.kept + loss.lost, v.value);
    EQUAL(loss.skipped, 0);
    EQUAL(loss.records_lost, in_records);
    CHECK(loss.records_lost <= loss.lost); /* what the last round lost has no record yet */
    printf("%s, %zu rounds: kept %" PRIu64 ", lost %" PRIu64 ", by records %" PRIu64 ", count %" PRIu64 "\n",
           what, rounds, loss.kept, loss.lost, loss.records_lost, v.value);
    rk_stream_free(st);
    session_close(&s);
}

static void all(void)
{
    char breakpoint[64];

    straight("page-faults", touch, 500, 1);
    straight("page-faults", touch, 300, 20); /* a LOST record begins each round after the first */
    snprintf(breakpoint, sizeof breakpoint, "mem:0x%jx/8:w", (uintmax_t)(uintptr_t)&watched);
    straight(breakpoint, write_it, 1000, 1);
    straight(breakpoint, write_it, 300, 20);
}

int main(void)
{
    catch_strays(); /* neither kept nor lost nor in the count */
    all();
    as_plain_user(all);
    return 0;
}

/*
 * Sampling by hardware counters, to the last sample: instructions with cycles beside them, so many samples and no more
 * (REFRESH), groups whose samples carry all counts (:S).
 */
#include "live.h"

#define PERIOD 1000000
#define ROUNDS 20000000 /* twice as many instructions */

static struct rk_host *host;

struct run {
    struct rk_set *set;
    struct rk_stream *stream;
};

static struct run begin(const char *events, uint64_t period)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_set_options options = {.size = sizeof options, .period = period, .flags = RK_SET_NO_INHERIT};
    struct run run = {.set = live_self(host, events, &options)};

    OK(rk_stream_live(run.set, &run.stream, &e));
    return run;
}

static void end(struct run *run)
{
    rk_stream_free(run->stream);
    rk_set_free(run->set);
}

static uint64_t samples(struct run *run)
{
    const struct rk_record *r;
    uint64_t n = 0;

    while (rk_stream_next(run->stream, &r) == 1) {
        n += r->type == RK_RECORD_SAMPLE;
        rk_stream_release(run->stream);
    }
    return n;
}

/* The emulated PMU interrupts late for instructions alone; cycles at a short period beside them bring it in time. */
static void instructions(void)
{
    struct run counted = begin("instructions:u", PERIOD), beside = begin("cycles:u", 50000);
    struct rk_value v;

    EQUAL(rk_set_enable(beside.set), 0);
    EQUAL(rk_set_enable(counted.set), 0);
    spin(ROUNDS);
    EQUAL(rk_set_disable(counted.set), 0);
    EQUAL(rk_set_disable(beside.set), 0);
    EQUAL(rk_set_total(counted.set, &v, NULL, 1), 0);
    rk_stream_drain(counted.stream);
    uint64_t n = samples(&counted);
    printf("instructions: %ju samples of %ju\n", (uintmax_t)n, (uintmax_t)v.value);
    CHECK(v.value >= 2 * ROUNDS);
    SAME_COUNT(n, v.value / PERIOD);
    end(&beside);
    end(&counted);
}

static void refreshed(void)
{
    struct run run = begin("cycles:u", PERIOD);

    for (uint32_t n = 1; n < 8; n += 3) {
        EQUAL(rk_stream_refresh(run.stream, 0, n), 0);
        spin(ROUNDS); /* enough for all of them */
        EQUAL(samples(&run), n);
    }
    spin(ROUNDS);
    rk_stream_drain(run.stream);
    EQUAL(samples(&run), 0);
    end(&run);
}

/* Each sample of the leader has both counts, which only grow and end below the totals. */
static void groups(void)
{
    struct run run = begin("{cycles:u,instructions:u}:S", PERIOD);
    struct rk_value total[2];
    const struct rk_record *r;
    uint64_t n = 0, last[2] = {0};

    EQUAL(rk_set_enable(run.set), 0);
    spin(ROUNDS);
    EQUAL(rk_set_disable(run.set), 0);
    EQUAL(rk_set_total(run.set, total, NULL, 2), 0);
    rk_stream_drain(run.stream);
    while (rk_stream_next(run.stream, &r) == 1) {
        struct rk_sample s = {.size = sizeof s};
        struct rk_read value[2];
        if (r->type == RK_RECORD_SAMPLE) {
            n++;
            EQUAL(r->event, 0); /* the leader alone samples */
            EQUAL(rk_stream_sample(run.stream, r, &s), 0);
            CHECK(s.present & RK_SAMPLE_READ);
            EQUAL(s.read_n, 2);
            for (uint64_t i = 0; i < 2; i++) {
                EQUAL(rk_sample_read(&s, i, &value[i]), 0);
                CHECK(value[i].value > last[i] && value[i].value <= total[i].value);
                last[i] = value[i].value;
            }
            CHECK(value[0].id != value[1].id);
            CHECK(value[0].value >= n * PERIOD);
            if (live_exact()) /* two cycles an instruction, and the interrupt comes soon */
                CHECK(value[0].value < n * PERIOD + PERIOD / 10 &&
                      llabs((int64_t)(value[0].value - 2 * value[1].value)) < 1000);
        }
        rk_stream_release(run.stream);
    }
    printf("groups: %ju samples of %ju cycles, %ju instructions\n", (uintmax_t)n, (uintmax_t)total[0].value,
           (uintmax_t)total[1].value);
    SAME_COUNT(n, total[0].value / PERIOD);
    end(&run);
}

int main(void)
{
    struct rk_error e = {.size = sizeof e};

    OK(rk_host_open(NULL, &host, &e));
    instructions();
    refreshed();
    groups();
    rk_host_free(host);
    return 0;
}

/* The queue against the plain definition of what it promises, on random rings. */
#include "stream/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static uint64_t random_state = 1;

static uint64_t random_below(uint64_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % n;
}

/* A record of `bytes` whose data says its serial number throughout. */
static struct rk_record record_make(uint64_t serial, unsigned bytes, uint64_t time)
{
    static uint64_t data[8192];
    for (unsigned i = 0; i < bytes / 8; i++)
        data[i] = serial;
    return (struct rk_record){.type = RK_RECORD_SAMPLE,
                              .bytes = (uint16_t)bytes,
                              .present = RK_SAMPLE_TIME,
                              .time = time,
                              .id = serial,
                              .data = (const unsigned char *)data};
}

static void push(struct order *o, uint64_t serial, unsigned bytes, uint64_t time)
{
    struct rk_record r = record_make(serial, bytes, time);
    assert_int_equal(order_push(o, &r, time), 0);
}

static void check_whole(const struct rk_record *r)
{
    for (unsigned i = 0; i < r->bytes / 8u; i++)
        assert_int_equal(((const uint64_t *)(const void *)r->data)[i], r->id);
}

static void runs_sort_like_a_stable_sort(void **state)
{
    (void)state;
    for (int trial = 0; trial < 400; trial++) {
        struct runs runs = {0};
        size_t n = random_below(trial < 200 ? 40 : 3000), stretch = 1 + random_below(200);
        uint64_t time = 0;
        for (size_t i = 0; i < n; i++) {
            if (i % stretch == 0)
                time = random_below(100);
            else if (random_below(10) == 0 && time > 3)
                time -= random_below(4);
            else
                time += random_below(3);
            assert_int_equal(runs_push(&runs, time, i), 0);
        }
        assert_int_equal(runs_sort(&runs), 0);
        assert_int_equal(runs.items.n, n);
        for (size_t i = 1; i < n; i++) {
            const struct run_key *a = &runs.items.items[i - 1], *b = &runs.items.items[i];
            assert_true(a->time < b->time || (a->time == b->time && a->where < b->where));
        }
        for (uint64_t t = 0; t < 20; t++) {
            size_t until = runs_until(&runs, t);
            assert_true(until == 0 || runs.items.items[until - 1].time <= t);
            assert_true(until == n || runs.items.items[until].time > t);
        }
        runs_free(&runs);
    }
}

static void stragglers_stay_in_one_run(void **state)
{
    (void)state;
    struct runs runs = {0};
    for (uint64_t i = 0; i < 10000; i++) /* every tenth is up to ten places late */
        assert_int_equal(runs_push(&runs, i % 10 ? i * 4 : i * 4 > 39 ? i * 4 - 39 : 0, i), 0);
    assert_int_equal(runs.starts.n, 1);
    runs_free(&runs);
}

/* Rings that each count up; a pass sees a random part of what each has. */
struct ring {
    uint64_t time, written; /* of the newest visible record */
};

static void random_rings_come_out_in_order(void **state)
{
    (void)state;
    for (int trial = 0; trial < 60; trial++) {
        struct order o = {0};
        struct ring rings[9] = {0};
        size_t n_rings = 1 + random_below(9);
        uint64_t serial = 0, clock = 1, out = 0, last = 0, newest = 0, before = 0;
        unsigned char *seen = calloc(40000, 1);

        for (int round = 0; round < 30; round++) {
            before = newest;
            for (size_t i = 0; i < n_rings; i++) {
                /* Time goes on while the rings are passed: this one is seen up to now, not up to the end. */
                clock += random_below(50);
                for (unsigned k = (unsigned)random_below(30); k && rings[i].time + 1 < clock; k--) {
                    rings[i].time += 1 + random_below((clock - rings[i].time) / 2 + 1);
                    if (rings[i].time > newest)
                        newest = rings[i].time;
                    push(&o, serial++, 8 * (1 + (unsigned)random_below(random_below(9) ? 20 : 8190)),
                         rings[i].time);
                }
                rings[i].time = clock;
            }
            assert_int_equal(order_round(&o), 0);
            const struct rk_record *r;
            while ((r = order_next(&o))) {
                check_whole(r);
                assert_false(seen[r->id]++);
                assert_true(r->time >= last && r->time <= before);
                last = r->time;
                out++;
            }
            order_release(&o);
        }
        assert_int_equal(order_drain(&o), 0);
        const struct rk_record *r;
        while ((r = order_next(&o))) {
            check_whole(r);
            assert_false(seen[r->id]++);
            assert_true(r->time >= last);
            last = r->time;
            out++;
        }
        assert_int_equal(out, serial);
        assert_int_equal(o.disorder, 0);
        assert_int_equal(o.waiting, 0);
        order_free(&o);
        free(seen);
    }
}

/* A second pass that finds nothing new makes all of the first one safe. */
static void an_empty_round_flushes(void **state)
{
    (void)state;
    struct order o = {0};
    push(&o, 1, 16, 100);
    push(&o, 2, 16, 50);
    assert_int_equal(order_round(&o), 0);
    assert_null(order_next(&o));
    assert_int_equal(order_round(&o), 0);
    assert_int_equal(order_next(&o)->id, 2);
    assert_int_equal(order_next(&o)->id, 1);
    assert_null(order_next(&o));
    order_free(&o);
}

static void no_time_keeps_the_place(void **state)
{
    (void)state;
    struct order o = {0};
    push(&o, 0, 16, 0); /* before any time: goes out at once */
    push(&o, 1, 16, 200);
    push(&o, 2, 16, 200);
    push(&o, 3, 16, 100);
    push(&o, 4, 16, 100);
    assert_int_equal(order_round(&o), 0);
    assert_int_equal(order_next(&o)->id, 0);
    assert_null(order_next(&o));
    assert_int_equal(order_drain(&o), 0);
    static const uint64_t wanted[] = {3, 4, 1, 2};
    for (int i = 0; i < 4; i++)
        assert_int_equal(order_next(&o)->id, wanted[i]);
    order_free(&o);
}

static void views_stay_until_release(void **state)
{
    (void)state;
    struct order o = {0};
    const struct rk_record *kept[64];
    size_t n = 0;
    for (uint64_t round = 0; round < 8; round++) { /* 8 × 8 × 60 KiB, never released */
        for (uint64_t i = 0; i < 8; i++)
            push(&o, round * 8 + i, 60000, round * 8 + i);
        assert_int_equal(order_drain(&o), 0);
        const struct rk_record *r;
        while ((r = order_next(&o)))
            kept[n++] = r;
    }
    assert_int_equal(n, 64);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(kept[i]->id, i);
        check_whole(kept[i]);
    }
    order_free(&o);
}

static void memory_is_used_again(void **state)
{
    (void)state;
    struct order o = {0};
    size_t settled = 0;
    for (uint64_t round = 0; round < 2000; round++) {
        for (uint64_t i = 0; i < 20; i++)
            push(&o, i, 8000, round * 20 + i);
        assert_int_equal(order_round(&o), 0);
        while (order_next(&o))
            ;
        order_release(&o);
        if (round == 50)
            settled = o.chunks;
    }
    assert_true(settled <= 4); /* two rounds of 160 KB in chunks of 256 KiB */
    assert_int_equal(o.chunks, settled);
    order_free(&o);
}

static void a_round_without_end_lets_the_older_half_go(void **state)
{
    (void)state;
    struct order o = {.limit = 100000};
    uint64_t n = 0, out = 0, last = 0;
    for (; !order_full(&o); n++)
        push(&o, n, 992, 1000 + n);
    assert_int_equal(order_half(&o), 0);
    const struct rk_record *r;
    while ((r = order_next(&o))) {
        last = r->time;
        out++;
    }
    assert_in_range(out, n / 2, n / 2 + 1);
    order_release(&o);
    push(&o, n++, 16, last - 1); /* too late: counted, and not dropped */
    assert_int_equal(o.disorder, 1);
    assert_int_equal(order_drain(&o), 0);
    while (order_next(&o))
        out++;
    assert_int_equal(out, n);
    order_free(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_sort_like_a_stable_sort),
        cmocka_unit_test(stragglers_stay_in_one_run),
        cmocka_unit_test(random_rings_come_out_in_order),
        cmocka_unit_test(an_empty_round_flushes),
        cmocka_unit_test(no_time_keeps_the_place),
        cmocka_unit_test(views_stay_until_release),
        cmocka_unit_test(memory_is_used_again),
        cmocka_unit_test(a_round_without_end_lets_the_older_half_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

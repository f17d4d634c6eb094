/*
 * The ways through a single ring give the same: one by one the short way, one by one the long way, and as columns, each held
 * against what the cursor makes of the bytes. The test plays the kernel, with fields, chains, sizes and damage by chance, in a
 * ring that wraps and is larger than what is fetched ahead.
 */
#include "set/private.h"
#include "stream/live.h"
#include "sys/perf.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define BYTES (size_t)(256 << 10)
#define MANY 8192
#define PERIOD 77

struct expected {
    int next;           /* what rk_stream_next() returns */
    int sample;         /* … and rk_stream_sample() */
    bool event_known;   /* of the id, where there are several events */
    struct rk_record r; /* data is not the ring's */
    struct rk_sample s; /* by the cursor; chain into `bytes` */
    size_t at;          /* in `bytes` */
};

struct fake {
    struct rk_set set;
    struct rk_stream *st;
    struct stream_live *live;
    struct perf_page *page;
    unsigned char *data;
    struct ring *ring;
    uint32_t events;
    uint64_t type;
    size_t n;
    struct expected e[MANY];
    uint64_t bytes[BYTES / 8];
};

static const uint32_t here = 1; /* no forked child */

static uint64_t chance(uint64_t below)
{
    static uint64_t state = 0x9e3779b97f4a7c15;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return below ? state % below : state;
}

static struct fake *fake_open(uint64_t type, uint32_t events)
{
    struct fake *f = calloc(1, sizeof *f);
    struct perf_attr attr = {
        .type = PERF_SOFTWARE, .sample_type = type, .sample_period = PERIOD, .flags = ATTR_SAMPLE_ID_ALL};
    size_t page = sys_page_size();

    assert_non_null(f);
    f->type = type;
    f->events = events;
    f->page = aligned_alloc(page, page + BYTES);
    f->ring = malloc(sizeof *f->ring);
    f->live = calloc(1, sizeof *f->live + sizeof f->live->rings[0]);
    f->st = stream_new();
    assert_true(f->page && f->ring && f->live && f->st);
    memset(f->page, 0, page + BYTES);
    f->data = (unsigned char *)f->page + page;
    f->page->data_offset = page;
    f->page->data_size = BYTES;
    f->page->data_head = f->page->data_tail = 5 * BYTES - 8 * (1 + chance(BYTES / 16));
    assert_int_equal(ring_init(f->ring, f->page, BYTES), 0);
    f->set.fork_word = &here;
    *f->live = (struct stream_live){.set = &f->set, .epoll = -1, .n = 1};
    f->live->rings[0].ring = f->ring;
    f->st->live = f->live;
    for (uint32_t i = 0; i < events; i++) {
        assert_int_equal(stream_event_add(f->st, &attr, "fake"), 0);
        assert_int_equal(stream_id_add(f->st, 100 + i, i), 0);
    }
    live_ways(f->st);
    return f;
}

static void fake_close(struct fake *f)
{
    f->st->live = NULL; /* which is not its own */
    rk_stream_free(f->st);
    free(f->live);
    free(f->ring);
    free(f->page);
    free(f);
}

/* One record of `words`, by chance a damaged one; how many words. Places are those of the kernel. */
static size_t make(struct fake *f, uint64_t *words, bool same)
{
    uint64_t what = chance(100), event = chance(f->events), chain = same ? 4 : chance(40);
    size_t n = 1;

    for (size_t i = 1; i < 64; i++)
        words[i] = chance(0);
    if (what == 0) { /* COMM: ids, a name, then the trailer */
        n = 3 + (size_t)__builtin_popcountll(f->type &
                                             (RK_SAMPLE_TID | RK_SAMPLE_TIME | RK_SAMPLE_ID |
                                              RK_SAMPLE_STREAM_ID | RK_SAMPLE_CPU | RK_SAMPLE_IDENTIFIER));
        words[2] = 0x636261;
        words[n - 1] = 100 + event; /* the identifier, where there is one */
        memcpy(words, &(struct perf_header){RK_RECORD_COMM, 0, (uint16_t)(n * 8)}, 8);
        return n;
    }
    const struct layout *layout = &f->st->events.items[0].layout;
    n = layout->head_bytes / 8u;
    if (layout->sample.id)
        words[layout->sample.id / 8] = what == 1 ? 999 : 100 + event;
    if (f->type & RK_SAMPLE_CALLCHAIN) {
        words[n] = chain;
        if (what == 2)
            words[n] = chain + 1 + chance(2) * (UINT64_MAX / 8); /* says more than it holds */
        else if (what == 3 && chain)
            words[n]--; /* bytes behind the last field */
        n += 1 + chain;
    }
    if (f->type & RK_SAMPLE_RAW) {
        uint32_t size = 4;
        memcpy(&words[n++], &size, sizeof size);
    }
    if (what == 4)
        n = 1 + chance(layout->head_bytes / 8u); /* perhaps too short for its head */
    memcpy(words, &(struct perf_header){RK_RECORD_SAMPLE, (uint16_t)chance(4), (uint16_t)(n * 8)}, 8);
    return n;
}

/* What the bytes say, by the cursor alone: a struct that is not whole goes no short way. */
static void expect(struct fake *f, struct expected *e)
{
    const struct perf_header *header = (const void *)((unsigned char *)f->bytes + e->at);
    const struct layout *layout = &f->st->events.items[0].layout;
    uint64_t id;

    e->event_known = true;
    e->next = layout_record(layout, header, &e->r) < 0 ? -EBADMSG : 1;
    e->r.event = 0;
    if (f->events > 1) {
        e->event_known = layout_id(layout, header, &id) == 0 && id >= 100 && id < 100 + f->events;
        e->r.event = e->event_known ? (uint32_t)(id - 100) : RK_NO_EVENT;
    }
    e->s.size = sizeof e->s - 8;
    e->sample = header->type != RK_RECORD_SAMPLE ? -EINVAL
                : e->event_known                 ? layout_sample(layout, &e->r, &e->s)
                                                 : -EBADMSG;
    if (e->sample == 0 && !(f->type & RK_SAMPLE_PERIOD))
        e->s.period = PERIOD;
}

static void fill(struct fake *f)
{
    uint64_t words[64], head = f->page->data_head, used = 0, same = 0;

    for (f->n = 0; f->n < MANY; f->n++) {
        same = same ? same - 1 : chance(4) == 0 ? 0 : chance(200);
        size_t n = make(f, words, same != 0);
        if (used + n * 8 > BYTES)
            break;
        memset(&f->e[f->n], 0, sizeof f->e[f->n]);
        f->e[f->n].at = (size_t)used;
        memcpy((unsigned char *)f->bytes + used, words, n * 8);
        for (size_t i = 0; i < n; i++)
            memcpy(f->data + ((head + used + i * 8) & (BYTES - 1)), &words[i], 8);
        expect(f, &f->e[f->n]);
        f->e[f->n].r.offset = head + used;
        used += n * 8;
    }
    f->page->data_head = head + used;
}

static void same_sample(const struct rk_sample *a, const struct rk_sample *b)
{
    assert_int_equal(a->present, b->present);
    assert_true(a->ip == b->ip && a->time == b->time && a->addr == b->addr && a->id == b->id);
    assert_true(a->stream_id == b->stream_id && a->period == b->period && a->cpu == b->cpu);
    assert_true(a->pid == b->pid && a->tid == b->tid && a->chain_n == b->chain_n);
    assert_true(!a->chain == !b->chain && a->raw_bytes == b->raw_bytes && !a->raw == !b->raw);
    assert_true(a->chain_n == 0 || memcmp(a->chain, b->chain, a->chain_n * 8) == 0);
    assert_true(a->stack == NULL && a->weight == 0 && a->aux == NULL && a->regs_user == NULL);
}

/* One by one: all that was written comes, as the bytes say. */
static void check_each(struct fake *f, bool short_way)
{
    struct rk_sample s = {.size = sizeof s};
    const struct rk_record *r;

    live_ways(f->st);
    if (!short_way)
        f->st->ring = NULL;
    fill(f);
    for (size_t i = 0; i < f->n; i++) {
        const struct expected *e = &f->e[i];
        assert_int_equal(rk_stream_next(f->st, &r), e->next);
        if (e->next < 0)
            continue;
        assert_true(r->type == e->r.type && r->misc == e->r.misc && r->bytes == e->r.bytes);
        assert_int_equal(r->event, e->r.event);
        assert_int_equal(r->present, e->r.present);
        assert_true(r->time == e->r.time && r->id == e->r.id && r->cpu == e->r.cpu);
        assert_true(r->pid == e->r.pid && r->tid == e->r.tid && r->offset == e->r.offset);
        assert_memory_equal(r->data, (unsigned char *)f->bytes + e->at, r->bytes);
        assert_int_equal(rk_stream_sample(f->st, r, &s), e->sample);
        if (e->sample == 0)
            same_sample(&s, &e->s);
        if (chance(64) == 0)
            assert_int_equal(rk_stream_release(f->st), 0);
    }
    assert_int_equal(rk_stream_next(f->st, &r), 0);
    rk_stream_release(f->st);
}

static void count(void *context, const struct rk_record *record)
{
    assert_int_not_equal(record->type, RK_RECORD_SAMPLE);
    ++*(uint64_t *)context;
}

/* As columns, with room for rows and chains by chance. */
static void check_columns(struct fake *f)
{
    static uint64_t time[300], ip[300], addr[300], period[300], id[300], present[300], start[301],
        chains[900];
    static int32_t pid[300], tid[300];
    static uint32_t cpu[300], event[300], misc[300];
    uint64_t others = 0, damaged = 0, want_others = 0, want_damaged = 0;
    struct rk_columns c = {.size = sizeof c,
                           .time = time,
                           .ip = ip,
                           .addr = addr,
                           .period = period,
                           .id = id,
                           .present = present,
                           .pid = pid,
                           .tid = tid,
                           .cpu = cpu,
                           .event = event,
                           .misc = misc,
                           .chain_start = start,
                           .chains = chains,
                           .each = count,
                           .context = &others};
    size_t at = 0;
    int64_t rows;

    live_ways(f->st);
    fill(f);
    do {
        c.max = 1 + chance(300);
        c.chains_max = 60 + chance(840);
        assert_true((rows = rk_stream_columns(f->st, &c)) >= 0 && (uint64_t)rows <= c.max);
        damaged += c.damaged;
        for (int64_t row = 0; row < rows; row++, at++) {
            for (; f->e[at].sample < 0; at++) {
                want_others += f->e[at].next == 1 && f->e[at].r.type != RK_RECORD_SAMPLE;
                want_damaged += f->e[at].next < 0 || f->e[at].r.type == RK_RECORD_SAMPLE;
            }
            const struct rk_sample *s = &f->e[at].s;
            assert_true(time[row] == s->time && ip[row] == s->ip && addr[row] == s->addr);
            assert_true(period[row] == s->period && id[row] == s->id && present[row] == s->present);
            assert_true(pid[row] == s->pid && tid[row] == s->tid && cpu[row] == s->cpu);
            assert_int_equal(event[row], f->e[at].r.event);
            assert_int_equal(misc[row], f->e[at].r.misc);
            assert_int_equal(start[row + 1] - start[row], s->chain_n);
            assert_true(s->chain_n == 0 || !memcmp(chains + start[row], s->chain, s->chain_n * 8));
        }
    } while (rows);
    for (; at < f->n; at++) {
        assert_true(f->e[at].sample < 0);
        want_others += f->e[at].next == 1 && f->e[at].r.type != RK_RECORD_SAMPLE;
        want_damaged += f->e[at].next < 0 || f->e[at].r.type == RK_RECORD_SAMPLE;
    }
    assert_int_equal(others, want_others);
    assert_int_equal(damaged, want_damaged);
}

static void ways_agree(void **state)
{
    (void)state;
    const uint64_t types[] = {
        LAYOUT_USUAL,
        LAYOUT_USUAL | RK_SAMPLE_CALLCHAIN,
        LAYOUT_USUAL | RK_SAMPLE_ADDR | RK_SAMPLE_STREAM_ID | RK_SAMPLE_CALLCHAIN,
        LAYOUT_USUAL & ~RK_SAMPLE_PERIOD,
        RK_SAMPLE_IP | RK_SAMPLE_TID,
        RK_SAMPLE_IP | RK_SAMPLE_TID | RK_SAMPLE_TIME | RK_SAMPLE_ID | RK_SAMPLE_PERIOD | RK_SAMPLE_CALLCHAIN,
        LAYOUT_USUAL | RK_SAMPLE_ID,
        LAYOUT_USUAL | RK_SAMPLE_CALLCHAIN | RK_SAMPLE_RAW,
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        for (uint32_t events = 1; events <= 3; events += 2) {
            if (events > 1 && !(types[i] & RK_SAMPLE_IDENTIFIER))
                continue;
            struct fake *f = fake_open(types[i], events);
            assert_int_equal(f->st->ring != NULL, 1);
            for (int round = 0; round < 6; round++) {
                check_each(f, true);
                check_each(f, false);
                check_columns(f);
            }
            fake_close(f);
        }
    }
}

/* In a forked child the short way leads nowhere either. */
static void forked(void **state)
{
    (void)state;
    struct fake *f = fake_open(LAYOUT_USUAL, 1);
    uint32_t wiped = 0;
    const struct rk_record *r = NULL;

    fill(f);
    f->set.fork_word = &wiped;
    f->set.pid = -1; /* some other process */
    live_ways(f->st);
    assert_int_equal(rk_stream_next(f->st, &r), -ESTALE);
    assert_null(r);
    f->set.fork_word = &here;
    fake_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ways_agree), cmocka_unit_test(forked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

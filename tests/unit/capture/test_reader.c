/* The reader's thread over fake rings: what it copies, with stacks as they are and without what is no frame of them. */
#include "capture/reader.h"

#include "sys/perf.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BYTES ((size_t)256 << 10)
#define DUMP 4096u
#define SP 7u
#define BASE UINT64_C(0x7ffc12340000)

struct fake {
    struct perf_page *page;
    unsigned char *data;
    struct ring *ring;
};

static struct fake fake_open(uint64_t start)
{
    struct fake f = {.page = aligned_alloc(sys_page_size(), sys_page_size() + BYTES),
                     .ring = malloc(sizeof *f.ring)};
    memset(f.page, 0, sys_page_size() + BYTES);
    f.data = (unsigned char *)f.page + sys_page_size();
    f.page->data_offset = sys_page_size();
    f.page->data_size = BYTES;
    f.page->data_head = f.page->data_tail = start;
    assert_int_equal(ring_init(f.ring, f.page, BYTES), 0);
    return f;
}

static const struct perf_attr attr = {.sample_type = RK_SAMPLE_IP | RK_SAMPLE_TID | RK_SAMPLE_TIME |
                                                     RK_SAMPLE_REGS_USER | RK_SAMPLE_STACK_USER |
                                                     RK_SAMPLE_DATA_SRC,
                                      .sample_regs_user = 1u << SP,
                                      .sample_stack_user = DUMP};

/* A sample of the thread `tid` with `used` bytes of stack from `sp` on, each of them told by its address; DUMP 0: none. */
static void put_sample(struct fake *f, uint32_t tid, uint64_t time, uint64_t sp, uint64_t dump, uint64_t used)
{
    static uint64_t words[16 + DUMP / 8];
    size_t n = 1;
    words[n++] = 0x400000 + time;
    words[n++] = (uint64_t)tid << 32 | tid;
    words[n++] = time;
    words[n++] = 2;
    words[n++] = sp;
    words[n++] = dump;
    for (uint64_t i = 0; i < dump / 8; i++)
        words[n++] = i * 8 < used ? sp + i * 8 : 0xdddd;
    if (dump)
        words[n++] = used;
    words[n++] = 0xabc; /* what lies behind the stack */
    memcpy(words, &(struct perf_header){RK_RECORD_SAMPLE, 2, (uint16_t)(n * 8)}, 8);
    for (size_t i = 0; i < n * 8; i++)
        f->data[(f->page->data_head + i) & (BYTES - 1)] = ((unsigned char *)words)[i];
    __atomic_store_n(&f->page->data_head, f->page->data_head + n * 8, __ATOMIC_RELEASE);
}

static int no_wait(void *context, int timeout_ms)
{
    (void)context;
    (void)timeout_ms;
    return 0;
}

/* All blocks' records, after the reader's last pass. */
static size_t collect(struct reader *p, unsigned char *to, size_t max)
{
    uint64_t passes;
    size_t n = 0;
    reader_stop(p);
    for (struct reader_block *block = reader_blocks(p, &passes), *next; block; block = next) {
        for (size_t at = 0; at < block->used;) {
            struct reader_part part;
            memcpy(&part, block->bytes + at, sizeof part);
            assert_true(n + part.n <= max);
            memcpy(to + n, block->bytes + at + sizeof part, part.n);
            n += part.n;
            at += sizeof part + part.n;
        }
        assert_int_equal(block->error, 0);
        next = block->next;
        reader_give(p, block);
    }
    return n;
}

static _Alignas(8) unsigned char got[BYTES];

/* Decodes the record at *at: its stack is sound as far as it goes. */
static struct rk_sample next_sample(const struct layout *layout, size_t *at, size_t n)
{
    const struct perf_header *header = (const void *)(got + *at);
    struct rk_record record;
    struct rk_sample s = {.size = sizeof s};
    assert_true(*at + 8 <= n && header->size % 8 == 0 && *at + header->size <= n);
    assert_int_equal(layout_record(layout, header, &record), 0);
    assert_int_equal(layout_sample(layout, &record, &s), 0);
    assert_int_equal(s.data_src, 0xabc);
    assert_int_equal(s.ip, 0x400000 + s.time);
    for (uint64_t i = 0; i < s.stack_used / 8; i++) {
        uint64_t word;
        memcpy(&word, s.stack + i * 8, 8);
        assert_int_equal(word, s.regs_user[0] + i * 8);
    }
    *at += header->size;
    return s;
}

static const struct {
    uint32_t tid;
    uint64_t sp, dump, used;
    uint64_t plain, clipped; /* what comes: bytes used, of it and of one whose top is known */
} cases[] = {
    {10, BASE, DUMP, DUMP, DUMP, 1280},        /* as large as the dump: cut … unless all frames lie below */
    {10, BASE, DUMP, 2000, 2000, 1280},        /* room was left */
    {10, BASE, DUMP, 2001, 2001, 1280},        /* not by words */
    {10, BASE, DUMP, 8, 8, 8},                 /* all of it below the top */
    {10, BASE, DUMP, 0, 0, 0},                 /* nothing was there */
    {10, BASE, 0, 0, 0, 0},                    /* no dump at all */
    {10, BASE + 8192, DUMP, DUMP, DUMP, DUMP}, /* above the top: another stack */
    {10, BASE - 65536, DUMP, DUMP, DUMP, DUMP},       /* the top is further than the dump goes */
    {11, BASE, DUMP, DUMP, DUMP, DUMP},               /* another thread */
    {10 + READER_TOPS, BASE, DUMP, 3000, 3000, 3000}, /* another thread in the same slot */
    {10, BASE, DUMP, DUMP - 8, DUMP - 8, 1280},
};
#define CASES (sizeof cases / sizeof *cases)

static void copy(uint64_t start, bool stacks, bool top)
{
    struct fake f = fake_open(start);
    struct layout layout;
    struct reader *p = NULL;
    assert_int_equal(layout_init(&layout, &attr), 0);
    assert_int_equal(reader_start(&p, &f.ring, 1, BYTES, 64 << 20,
                                  (struct reader_stacks){.layouts = stacks ? &layout : NULL, .sp = SP},
                                  no_wait, NULL),
                     0);
    if (top)
        reader_top(p, 10, BASE + 1024); /* up to the next 256, and 256 more */
    for (size_t i = 0; i < CASES; i++)
        put_sample(&f, cases[i].tid, i, cases[i].sp, cases[i].dump, cases[i].used);
    size_t n = collect(p, got, sizeof got), at = 0;
    for (size_t i = 0; i < CASES; i++) {
        struct rk_sample s = next_sample(&layout, &at, n);
        assert_int_equal(s.time, i);
        assert_int_equal(s.tid, cases[i].tid);
        assert_int_equal(s.stack_used, top ? cases[i].clipped : cases[i].plain);
        if (!stacks)
            assert_int_equal(s.stack_bytes, cases[i].dump);
        /* It looks cut where it is, and only there. */
        bool cut = cases[i].dump && cases[i].used == cases[i].dump && !(top && cases[i].clipped == 1280);
        assert_int_equal(s.stack_bytes && s.stack_used == s.stack_bytes, cut);
    }
    assert_int_equal(at, n);
    assert_int_equal(f.page->data_tail, f.page->data_head);
    reader_free(p);
    free(f.ring);
    free(f.page);
}

static void stacks_as_they_are(void **state)
{
    (void)state;
    copy(0, false, false);
    copy(BYTES - 2048, false, false);
}

static void stacks_without_room(void **state)
{
    (void)state;
    for (uint64_t start = 0; start < BYTES; start += 8 * 509) /* records wrap in all manners */
        copy(start, true, false);
}

static void stacks_up_to_the_top(void **state)
{
    (void)state;
    for (uint64_t start = 0; start < BYTES; start += 8 * 509)
        copy(start, true, true);
}

/* The highest of one stack counts; another stack, or none, replaces it. */
static void tops(void **state)
{
    (void)state;
    struct fake f = fake_open(0);
    struct reader *p = NULL;
    assert_int_equal(reader_start(&p, &f.ring, 1, BYTES, 64 << 20, (struct reader_stacks){0}, no_wait, NULL),
                     0);
    uint64_t *slot = &p->tops[10];
    reader_top(p, 10, BASE);
    uint64_t first = *slot;
    assert_true(first);
    reader_top(p, 10, BASE - 4096);
    assert_int_equal(*slot, first);
    reader_top(p, 10, BASE + 4096);
    assert_true(*slot > first);
    reader_top(p, 10, BASE - ((uint64_t)64 << 20));
    assert_true(*slot && *slot < first);
    reader_top(p, 10 + (int32_t)READER_TOPS, 0); /* of another thread */
    assert_true(*slot);
    uint64_t lower = *slot;
    reader_top(p, 10, UINT64_MAX); /* no address */
    assert_int_equal(*slot, lower);
    reader_top(p, 10, 0);
    assert_int_equal(*slot, 0);
    reader_top(p, -1, BASE);
    reader_stop(p);
    reader_free(p);
    free(f.ring);
    free(f.page);
}

static void put_exec(struct fake *f)
{
    const uint64_t words[3] = {0, (uint64_t)10 << 32 | 10, 0x6e};
    for (size_t i = 0; i < sizeof words; i++)
        f->data[(f->page->data_head + i) & (BYTES - 1)] = ((const unsigned char *)words)[i];
    memcpy(f->data + (f->page->data_head & (BYTES - 1)),
           &(struct perf_header){RK_RECORD_COMM, RK_MISC_COMM_EXEC, sizeof words}, 8);
    __atomic_store_n(&f->page->data_head, f->page->data_head + sizeof words, __ATOMIC_RELEASE);
}

/* All that was put has been copied. */
static void await(const struct fake *f)
{
    while (__atomic_load_n(&f->page->data_tail, __ATOMIC_ACQUIRE) != f->page->data_head)
        sched_yield();
}

/* Without address randomisation the stack of a program that was executed lies where the one before it did, and its frames
 * may go further up than that one's: until who unwinds has come to the exec, no stack is cut by what it said before. */
static void an_exec(void **state)
{
    (void)state;
    struct fake f = fake_open(0);
    struct layout layout;
    struct reader *p = NULL;
    assert_int_equal(layout_init(&layout, &attr), 0);
    assert_int_equal(reader_start(&p, &f.ring, 1, BYTES, 64 << 20,
                                  (struct reader_stacks){.layouts = &layout, .sp = SP}, no_wait, NULL),
                     0);
    reader_top(p, 10, BASE + 1024);
    put_sample(&f, 10, 0, BASE, DUMP, 3000);
    await(&f);
    put_exec(&f);
    put_sample(&f, 10, 1, BASE, DUMP, 3000);
    await(&f);
    reader_top(p, 10, BASE + 1024); /* of a sample before the exec */
    put_sample(&f, 10, 2, BASE, DUMP, 3000);
    await(&f);
    reader_exec(p, 10);
    put_sample(&f, 10, 3, BASE, DUMP, 3000);
    await(&f);
    reader_top(p, 10, BASE + 2048);
    put_sample(&f, 10, 4, BASE, DUMP, 3000);
    static const uint64_t used[] = {1280, 3000, 3000, 3000, 2304};
    size_t n = collect(p, got, sizeof got), at = 0;
    for (uint64_t i = 0; i < 5; i++) {
        at += i == 1 ? 24 : 0; /* the exec */
        struct rk_sample s = next_sample(&layout, &at, n);
        assert_int_equal(s.time, i);
        assert_int_equal(s.stack_used, used[i]);
    }
    assert_int_equal(at, n);
    reader_free(p);
    free(f.ring);
    free(f.page);
}

/* … and handed on: a pass that was begun behind it is over. */
static void settle(struct reader *p, const struct fake *f)
{
    uint64_t first = 0, now = 0;

    await(f);
    for (bool begun = false; !begun || now < first + 2; begun = true) {
        sched_yield();
        pthread_mutex_lock(&p->lock);
        now = p->passes;
        pthread_mutex_unlock(&p->lock);
        first = begun ? first : now;
    }
}

/* Who knows all stacks until mappings change. */
struct knower {
    bool changed; /* the reader's own */
    int go;       /* passes that the reader may make */
    unsigned answers;
};

static size_t answer(void *context, const struct perf_header *header, uint32_t event,
                     const struct rk_sample *sample, unsigned char *to, size_t room)
{
    struct knower *k = context;

    assert_true(!sample || event == 0);
    k->changed = k->changed || !sample;
    if (k->changed || !sample)
        return 0;
    assert_true(room >= 24);
    k->answers++;
    memcpy(to, header, 24); /* as if its frames were known: nothing but its ip and its thread */
    ((struct perf_header *)(void *)to)->size = 24;
    return 24;
}

static int wait_for_go(void *context, int timeout_ms)
{
    struct knower *k = context;

    (void)timeout_ms;
    while (__atomic_load_n(&k->go, __ATOMIC_ACQUIRE) == 0)
        sched_yield();
    if (__atomic_load_n(&k->go, __ATOMIC_RELAXED) > 0)
        __atomic_sub_fetch(&k->go, 1, __ATOMIC_ACQ_REL);
    return 0;
}

/* A program is executed on one CPU and goes on on another: the rings are read one after the other, in whichever order,
 * and what was known of it before answers no sample behind. */
static void a_change_in_another_ring(void **state)
{
    (void)state;
    for (unsigned changed = 0; changed < 3; changed++) { /* in this ring; 2: in none */
        struct fake f[2] = {fake_open(0), fake_open(0)};
        struct ring *rings[2] = {f[0].ring, f[1].ring};
        struct knower k = {.go = 0};
        struct layout layout;
        struct reader *p = NULL;
        assert_int_equal(layout_init(&layout, &attr), 0);
        assert_int_equal(reader_start(&p, rings, 2, BYTES, 64 << 20,
                                      (struct reader_stacks){&layout, NULL, SP, answer, &k}, wait_for_go, &k),
                         0);
        reader_top(p, 10, BASE + 1024);
        put_sample(&f[0], 10, 0, BASE, DUMP, 3000);
        put_sample(&f[1], 10, 1, BASE, DUMP, 3000);
        __atomic_store_n(&k.go, 1, __ATOMIC_RELEASE);
        await(&f[0]);
        await(&f[1]);
        if (changed < 2)
            put_exec(&f[changed]);
        put_sample(&f[0], 10, 2, BASE, DUMP, 3000);
        put_sample(&f[1], 10, 3, BASE, DUMP, 3000);
        __atomic_store_n(&k.go, -1, __ATOMIC_RELEASE);
        await(&f[0]);
        await(&f[1]);
        size_t n = collect(p, got, sizeof got), at = 48;
        assert_int_equal(k.answers, changed < 2 ? 2 : 4);
        for (uint64_t i = 2; changed < 2 && i < 4; i++) {
            at += i == 2 + changed ? 24 : 0; /* the exec */
            struct rk_sample s = next_sample(&layout, &at, n);
            assert_int_equal(s.time, i);
            assert_int_equal(s.stack_used, 3000); /* nor is its stack cut */
        }
        assert_int_equal(at, changed < 2 ? n : 48);
        reader_free(p);
        for (unsigned i = 0; i < 2; i++) {
            free(f[i].ring);
            free(f[i].page);
        }
    }
}

/* Answers every other sample, with all the room that it has. */
static size_t answer_in_turn(void *context, const struct perf_header *header, uint32_t event,
                             const struct rk_sample *sample, unsigned char *to, size_t room)
{
    unsigned *n = context;

    assert_true(!sample || event == 0);
    if (!sample || ++*n % 2 == 0)
        return 0;
    room -= room % 8;
    memcpy(to, header, room);
    ((struct perf_header *)(void *)to)->size = (uint16_t)room;
    return room;
}

/* What is answered is told from what is not, and a full ring's records fit in as many bytes as they had. */
static void answers_in_turn(void **state)
{
    (void)state;
    struct fake f = fake_open(8);
    struct layout layout;
    struct reader *p = NULL;
    unsigned n = 0, samples = 0, answered = 0, parts = 0;
    uint64_t passes;
    assert_int_equal(layout_init(&layout, &attr), 0);
    struct knower k = {.go = 0};
    assert_int_equal(reader_start(&p, &f.ring, 1, BYTES, 64 << 20,
                                  (struct reader_stacks){&layout, NULL, SP, answer_in_turn, &n}, wait_for_go,
                                  &k),
                     0);
    while (f.page->data_head + DUMP + 128 < BYTES + 8)
        put_sample(&f, 10, samples++, BASE, DUMP, DUMP);
    __atomic_store_n(&k.go, -1, __ATOMIC_RELEASE);
    await(&f);
    reader_stop(p);
    struct reader_block *block = reader_blocks(p, &passes), *next;
    for (; block; block = next) {
        for (size_t at = 0; at < block->used; parts++) {
            struct reader_part part;
            memcpy(&part, block->bytes + at, sizeof part);
            at += sizeof part;
            for (size_t end = at + part.n; at < end;) {
                const struct perf_header *header = (const void *)(block->bytes + at);
                assert_true(header->type == RK_RECORD_SAMPLE && header->misc == 2);
                answered += part.answered != 0;
                at += header->size;
            }
        }
        assert_true(block->used <= BYTES + sizeof(struct reader_part));
        next = block->next;
        reader_give(p, block);
    }
    assert_int_equal(answered, (samples + 1) / 2);
    assert_int_equal(parts, samples);
    reader_free(p);
    free(f.ring);
    free(f.page);
}

/* Words of a record behind its header. */
static void put_words(struct fake *f, uint16_t type, const uint64_t *words, size_t n)
{
    struct perf_header header = {type, 2, (uint16_t)(8 + n * 8)};
    uint64_t at = f->page->data_head;
    for (size_t i = 0; i < header.size; i++)
        f->data[(at + i) & (BYTES - 1)] =
            i < 8 ? ((unsigned char *)&header)[i] : ((const unsigned char *)words)[i - 8];
    __atomic_store_n(&f->page->data_head, at + header.size, __ATOMIC_RELEASE);
}

/* Events whose samples have other fields, as those of a clock and of context switches: each is cut by its own; what has no
 * stack, and what is of an unknown event, stays as it is. */
static void events_of_several_kinds(void **state)
{
    const uint64_t common = RK_SAMPLE_IDENTIFIER | RK_SAMPLE_TID,
                   stack = common | RK_SAMPLE_REGS_USER | RK_SAMPLE_STACK_USER;
    struct perf_attr attrs[3] = {{.sample_type = stack | RK_SAMPLE_PERIOD},
                                 {.sample_type = stack},
                                 {.sample_type = common | RK_SAMPLE_RAW}};
    struct fake f = fake_open(8);
    struct layout layouts[3];
    struct table ids = {0};
    struct reader *p = NULL;
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        attrs[i].sample_regs_user = 1u << SP;
        attrs[i].sample_stack_user = DUMP;
        assert_int_equal(layout_init(&layouts[i], &attrs[i]), 0);
        assert_int_equal(table_put(&ids, 70 + i, i), 0);
    }
    assert_int_equal(reader_start(&p, &f.ring, 1, BYTES, 64 << 20,
                                  (struct reader_stacks){.layouts = layouts, .ids = &ids, .sp = SP}, no_wait,
                                  NULL),
                     0);
    reader_top(p, 10, BASE + 1024);
    for (uint64_t id = 70; id < 74; id++) {
        uint64_t words[8 + DUMP / 8] = {id, UINT64_C(10) << 32 | 10};
        size_t n = 2;
        if (id == 70)
            words[n++] = 1; /* its period */
        if (id == 72) {
            words[n++] = UINT64_C(7) << 32 | 4; /* raw: its size, and so many bytes */
        } else {
            words[n++] = 2;
            words[n++] = BASE;
            words[n++] = DUMP;
            n += DUMP / 8;
            words[n++] = DUMP;
        }
        put_words(&f, RK_RECORD_SAMPLE, words, n);
    }
    size_t n = collect(p, got, sizeof got), at = 0;
    for (uint64_t id = 70; id < 74; id++) {
        const struct perf_header *header = (const void *)(got + at);
        struct rk_record record;
        struct rk_sample sample = {.size = sizeof sample};
        uint32_t event = id == 73 ? 1 : (uint32_t)id - 70;
        assert_true(at < n);
        assert_int_equal(layout_record(&layouts[event], header, &record), 0);
        assert_int_equal(layout_sample(&layouts[event], &record, &sample), 0);
        assert_int_equal(record.id, id);
        assert_int_equal(sample.stack_used, id == 72 ? 0 : id == 73 ? DUMP : 1280);
        assert_int_equal(sample.raw_bytes, id == 72 ? 4 : 0);
        at += header->size;
    }
    assert_int_equal(at, n);
    reader_free(p);
    table_free(&ids);
    free(f.ring);
    free(f.page);
}

/* Few bytes wake nobody, unless the reader is about to run out of blocks: then it wants back what waits. */
static void blocks_come_back(void **state)
{
    (void)state;
    for (size_t blocks = 2; blocks <= 4; blocks++) {
        struct fake f = fake_open(0);
        struct reader *p = NULL;
        uint64_t passes;
        assert_int_equal(
            reader_start(&p, &f.ring, 1, BYTES, blocks << 20, (struct reader_stacks){0}, no_wait, NULL), 0);
        for (size_t round = 0; round < 5; round++) {
            for (size_t i = 0; i < blocks - 1; i++) {
                struct pollfd ready = {.fd = p->ready_event, .events = POLLIN};
                assert_int_equal(poll(&ready, 1, 0), 0);
                put_sample(&f, 10, i, BASE, DUMP, 8);
                settle(p, &f);
            }
            struct pollfd ready = {.fd = p->ready_event, .events = POLLIN};
            assert_int_equal(poll(&ready, 1, 60000), 1);
            put_sample(&f, 10, 9, BASE, DUMP, 8); /* the last one */
            settle(p, &f);
            for (struct reader_block *block = reader_blocks(p, &passes), *next; block; block = next) {
                next = block->next;
                reader_give(p, block);
            }
            sys_event_clear(p->ready_event);
        }
        reader_stop(p);
        assert_int_equal(reader_full(p), 0);
        reader_free(p);
        free(f.ring);
        free(f.page);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_as_they_are),
        cmocka_unit_test(stacks_without_room),
        cmocka_unit_test(stacks_up_to_the_top),
        cmocka_unit_test(tops),
        cmocka_unit_test(an_exec),
        cmocka_unit_test(a_change_in_another_ring),
        cmocka_unit_test(answers_in_turn),
        cmocka_unit_test(events_of_several_kinds),
        cmocka_unit_test(blocks_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

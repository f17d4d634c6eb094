/*
 * Stacks that were unwound before. Whatever changes between the one and the other, a word, a register, what is mapped: what
 * is recalled is what unwinding anew would give, or nothing.
 */
#include "stacks.h"

#include "unwind/chain.h"

static struct memo *memo;
static struct rk_unwinder *plain; /* remembers nothing */

static void begin_memo(void)
{
    struct rk_unwinder_options options = {.size = sizeof options};

    begin("elf/frames");
    options.root = fake_path;
    options.machine = machine;
    assert_int_equal(rk_unwinder_open(&options, &plain, NULL), 0);
    assert_int_equal(chain_remember(unwinder, &memo), 0);
}

static void end_memo(void)
{
    plain = rk_unwinder_free(plain);
    end();
    memo = memo_close(memo);
}

static void point(struct made *m)
{
    m->sample.regs_user = m->regs;
    m->sample.stack = (const unsigned char *)m->words;
}

static int unwind_by(struct rk_unwinder *by, struct made *m, uint64_t words[FRAMES])
{
    struct chain_tally tally = {0};

    point(m);
    return chain_unwind(by, image, &m->sample, 2, words, FRAMES, &tally);
}

/* How many words are recalled; they are right. */
static size_t recall(struct made *m)
{
    uint64_t expected[FRAMES], words[FRAMES];

    point(m);
    size_t n = chain_recall(memo, &m->sample, words, FRAMES);
    if (n) {
        assert_int_equal(n, unwind_by(plain, m, expected));
        assert_memory_equal(words, expected, n * sizeof *words);
    }
    return n;
}

/* The second time it is kept. */
static void unwind_twice(struct made *m)
{
    uint64_t words[FRAMES];

    assert_true(unwind_by(unwinder, m, words) > 0);
    assert_true(unwind_by(unwinder, m, words) > 0);
}

static struct made three(void)
{
    struct made m = make(in("plain", 4));

    m.words[3] = in("framed", 5);
    m.regs[6] = SP + 48;
    m.words[6] = SP + 80;
    m.words[7] = in("framed", 6);
    m.words[10] = 0;
    m.words[11] = in("outermost", 8);
    return m;
}

static void recalled(void **state)
{
    const uint64_t k = UINT64_C(0xffffffff81000000);
    uint64_t chain[] = {RK_CHAIN_KERNEL, k, k + 8, RK_CHAIN_USER, 1, 2};

    (void)state;
    begin_memo();
    struct made m = three(), other;
    assert_int_equal(recall(&m), 0);
    unwind_twice(&m);
    assert_int_equal(recall(&m), 5);

    m.sample.present |= RK_SAMPLE_CALLCHAIN; /* the kernel's part stays */
    m.sample.chain = chain;
    m.sample.chain_n = 6;
    assert_int_equal(recall(&m), 8);
    m.sample.chain_n = 3;
    assert_int_equal(recall(&m), 8);

    other = three();
    other.words[0] = other.words[4] = other.words[20] = 77; /* of no frame's */
    assert_int_equal(recall(&other), 5);
    other.sample.pid = 8;
    assert_int_equal(recall(&other), 0);
    other.sample.pid = PID;
    other.sample.regs_user_abi = 1;
    assert_int_equal(recall(&other), 0);
    other = three();
    other.sample.stack_used = 88; /* the last word that is read is not there */
    assert_int_equal(recall(&other), 0);
    other = three();
    other.words[7]++;
    assert_int_equal(recall(&other), 0);
    other = three();
    other.regs[6] += 16; /* the frame pointer, which framed goes by */
    assert_int_equal(recall(&other), 0);
    end_memo();
}

/* A frame pointer that nobody goes by may be anything. */
static void data_in_fp(void **state)
{
    (void)state;
    begin_memo();
    struct made m = make(in("plain", 4));
    m.words[3] = in("plain", 5);
    m.words[7] = in("outermost", 5);
    unwind_twice(&m);
    m.regs[6] = 12345;
    assert_int_equal(recall(&m), 4);
    end_memo();
}

/* From when a change is seen until it is done nothing is answered, and then what was known is forgotten. */
static void changes(void **state)
{
    (void)state;
    begin_memo();
    struct made m = three();
    unwind_twice(&m);
    assert_int_equal(recall(&m), 5);
    memo_change_seen(memo);
    assert_int_equal(recall(&m), 0);
    unwind_twice(&m); /* of the time before */
    assert_int_equal(recall(&m), 0);
    memo_change_done(memo);
    assert_int_equal(recall(&m), 0);
    unwind_twice(&m);
    assert_int_equal(recall(&m), 5);
    end_memo();
}

/* One word or register after the other is changed, and the dump made shorter. */
static void each_word(void **state)
{
    const uint64_t values[] = {0, 1, SP, SP + 48, SP + 88, 0};
    size_t known = 0;

    (void)state;
    begin_memo();
    struct made m = three();
    unwind_twice(&m);
    for (size_t v = 0; v < sizeof values / sizeof *values; v++)
        for (size_t i = 0; i < WORDS + 17; i++) {
            struct made changed = three();
            uint64_t value = v == 5 ? in("framed", 7) : values[v];
            if (i < WORDS)
                changed.words[i] = value;
            else
                changed.regs[i - WORDS] = value;
            known += recall(&changed) > 0;
        }
    for (uint64_t used = 0; used <= sizeof m.words; used += 4) {
        struct made shorter = three();
        shorter.sample.stack_used = used;
        known += recall(&shorter) > 0;
    }
    assert_true(known > WORDS); /* most words are of no frame's */
    end_memo();
}

/* Stacks at random, of words that mean something; each is unwound, so that what is kept is always of another one. */
static void at_random(void **state)
{
    static const char *const names[] = {"plain", "framed", "saver", "by_rbx", "outermost", "realigned"};
    uint64_t vocabulary[32], seed = 12345;
    size_t n = 0, known = 0;

    (void)state;
    begin_memo();
    for (size_t i = 0; i < 6; i++)
        for (uint64_t by = 4; by < 7; by++)
            vocabulary[n++] = in(names[i], by);
    for (uint64_t at = 0; at < 12; at++)
        vocabulary[n++] = SP + at * 16;
    vocabulary[n++] = 0;
    for (int round = 0; round < 20000; round++) {
        struct made m = make(in(names[round % 2], 4));
        for (size_t i = 0; i < 20; i++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
            m.words[i] = vocabulary[i % 4 == 3 ? (seed >> 33) % 18 : (seed >> 33) % n];
        }
        m.regs[6] = SP + 16 * (seed >> 50 & 3);
        known += recall(&m) > 0;
        unwind_twice(&m);
        known += recall(&m) > 0;
    }
    assert_true(known > 1000);
    end_memo();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recalled),  cmocka_unit_test(data_in_fp), cmocka_unit_test(changes),
        cmocka_unit_test(each_word), cmocka_unit_test(at_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Stacks made by hand for functions made by hand (tests/data/elf/frames.S): each way of unwinding, each way to end, files
 * that change, and eight threads at once.
 */
#include "unwind/chain.h"

#include "stacks.h"

#include <pthread.h>

/* The whole chain of a sample, compared with what is expected, the list ended by 0. */
static void check_chain(struct made *m, uint16_t misc, struct chain_tally *tally, const uint64_t *expected)
{
    uint64_t words[FRAMES];
    int i = 0;

    m->sample.regs_user = m->regs;
    m->sample.stack = (const unsigned char *)m->words;
    *tally = (struct chain_tally){0};
    int n = chain_unwind(unwinder, image, &m->sample, misc, words, FRAMES, tally);
    for (; expected[i]; i++)
        assert_true(i < n && words[i] == expected[i]);
    assert_int_equal(n, i);
}
#define CHAIN(m, misc, tally, ...) check_chain((m), (misc), (tally), (const uint64_t[]){__VA_ARGS__, 0})

/* The kernel's words stay, the user's are found anew; where they end too soon the kernel's own go on. */
static void chains(void **state)
{
    enum { KERNEL = 1, USER = 2 };
    const uint64_t k = UINT64_C(0xffffffff81000000);
    struct chain_tally t;

    (void)state;
    begin("elf/frames");
    struct made m = make(in("plain", 4));
    m.words[3] = in("framed", 5);
    m.regs[6] = SP + 48;
    m.words[6] = SP + 80;
    m.words[7] = in("framed", 6);
    m.words[10] = 0;
    m.words[11] = in("outermost", 8);
    CHAIN(&m, USER, &t, RK_CHAIN_USER, in("plain", 4), in("framed", 4), in("framed", 5), in("outermost", 7));
    assert_true(t.whole == 1 && t.cut == 0 && t.broken == 0 && t.joined == 0);

    /* the kernel's part stays, its user part does not matter where all is found */
    uint64_t chain[] = {RK_CHAIN_KERNEL, k, k + 8, RK_CHAIN_USER, in("plain", 4), 1, 2};
    m.sample.present |= RK_SAMPLE_CALLCHAIN;
    m.sample.chain = chain;
    m.sample.chain_n = 7;
    CHAIN(&m, KERNEL, &t, RK_CHAIN_KERNEL, k, k + 8, RK_CHAIN_USER, in("plain", 4), in("framed", 4),
          in("framed", 5), in("outermost", 7));

    /* cut: frame pointers go on from the last frame that both have; a 0 ends them */
    uint64_t longer[] = {RK_CHAIN_USER,      in("plain", 4),  in("framed", 6),
                         in("outermost", 8), in("by_rbx", 8), 0,
                         in("by_rbx", 8)};
    m.sample.chain = longer;
    m.sample.stack_used = m.sample.stack_bytes = 64;
    CHAIN(&m, USER, &t, RK_CHAIN_USER, in("plain", 4), in("framed", 4), in("framed", 5), in("outermost", 7),
          in("by_rbx", 7));
    assert_true(t.whole == 0 && t.cut == 1 && t.joined == 1);

    /* they agree nowhere: nothing is made up */
    longer[2] = in("by_rbx", 8);
    CHAIN(&m, USER, &t, RK_CHAIN_USER, in("plain", 4), in("framed", 4), in("framed", 5));
    assert_true(t.cut == 1 && t.joined == 0);

    /* a 32-bit program, and a kernel thread: what the kernel has; addresses are of one kind all the same */
    m.sample.regs_user_abi = 1;
    CHAIN(&m, USER, &t, RK_CHAIN_USER, in("plain", 4), in("by_rbx", 7), in("outermost", 7), in("by_rbx", 7));
    assert_true(t.broken == 1 && t.joined == 0);
    m.sample.regs_user_abi = 0;
    m.sample.chain = chain;
    m.sample.chain_n = 3;
    CHAIN(&m, KERNEL, &t, RK_CHAIN_KERNEL, k, k + 8);
    assert_true(t.whole + t.cut + t.broken == 0);
    m.sample.present = (m.sample.present & ~RK_SAMPLE_CALLCHAIN) | RK_SAMPLE_IP;
    m.sample.ip = in("plain", 4);
    CHAIN(&m, USER, &t, RK_CHAIN_USER, in("plain", 4));
    end();
}

static void ways(const char *name)
{
    begin(name);
    struct made m = make(in("plain", 4));
    m.words[3] = in("framed", 5); /* plain: 32 bytes */
    m.regs[6] = SP + 48;
    m.words[6] = SP + 80; /* framed: rbp and return address where rbp points to */
    m.words[7] = in("framed", 6);
    m.words[10] = 0;
    m.words[11] = in("outermost", 8);
    EXPECT(&m, RK_UNWIND_WHOLE, RK_UNWIND_FINE, in("plain", 4), in("framed", 4), in("framed", 5),
           in("outermost", 7));

    m.words[11] = 0; /* no caller is an end too */
    EXPECT(&m, RK_UNWIND_WHOLE, RK_UNWIND_FINE, in("plain", 4), in("framed", 4), in("framed", 5));
    m.sample.stack_used = m.sample.stack_bytes = 64; /* it ends before the last return address */
    EXPECT(&m, RK_UNWIND_CUT, RK_UNWIND_FINE, in("plain", 4), in("framed", 4), in("framed", 5));
    m.sample.stack_bytes = 128; /* … and there is no more of it */
    EXPECT(&m, RK_UNWIND_BROKEN, RK_UNWIND_ELSEWHERE, in("plain", 4), in("framed", 4), in("framed", 5));

    m = make(in("realigned", 4));
    m.regs[6] = SP + 32;
    m.words[3] = SP + 96;  /* CFA */
    m.words[4] = SP + 128; /* rbp */
    m.words[11] = in("framed", 5);
    m.words[16] = 0;
    m.words[17] = in("outermost", 4);
    if (strstr(name, "debug") == NULL) /* its return address is at CFA - 8 all the same */
        EXPECT(&m, RK_UNWIND_WHOLE, RK_UNWIND_FINE, in("realigned", 4), in("framed", 4), in("outermost", 3));

    m = make(in("realigned_by", 4)); /* the same by a register that is not the frame pointer */
    m.regs[1] = SP + 32;
    m.regs[6] = SP + 16;
    m.words[3] = SP + 96;
    m.words[11] = in("outermost", 4);
    if (strstr(name, "debug") == NULL)
        EXPECT(&m, RK_UNWIND_WHOLE, RK_UNWIND_FINE, in("realigned_by", 4), in("outermost", 3));

    m = make(in("saver", 4)); /* rbx is needed two frames up */
    m.words[1] = SP + 48;
    m.words[2] = in("plain", 4);
    m.words[6] = in("by_rbx", 8);
    m.words[7] = in("outermost", 4); /* rbx + 16 - 8 */
    EXPECT(&m, RK_UNWIND_WHOLE, RK_UNWIND_FINE, in("saver", 4), in("plain", 3), in("by_rbx", 7),
           in("outermost", 3));
    m.sample.regs_user_mask &= ~UINT64_C(2);
    memmove(m.regs + 1, m.regs + 2, 31 * 8);
    m.words[2] = in("by_rbx", 8); /* kept by saver, whether the sample has it or not */
    EXPECT(&m, RK_UNWIND_WHOLE, RK_UNWIND_FINE, in("saver", 4), in("by_rbx", 7), in("outermost", 3));
    m.regs[7] = in("by_rbx", 4);
    EXPECT(&m, RK_UNWIND_BROKEN, RK_UNWIND_NO_VALUE, in("by_rbx", 4));

    m = make(in("huge", 4));
    EXPECT(&m, RK_UNWIND_CUT, RK_UNWIND_FINE, in("huge", 4));
    m = make(in("bad", 4));
    EXPECT(&m, RK_UNWIND_BROKEN, RK_UNWIND_BAD_CFI, in("bad", 4));
    m = make(in("backward", 4));
    EXPECT(&m, RK_UNWIND_BROKEN, RK_UNWIND_BACKWARD, in("backward", 4));
    end();
}

static void sorted(void **state)
{
    (void)state;
    ways("elf/frames");
}

static void unsorted(void **state)
{
    (void)state;
    ways("elf/frames.unsorted");
}

static void headless(void **state)
{
    (void)state;
    ways("elf/frames.headless");
}

static void for_debuggers(void **state)
{
    (void)state;
    ways("elf/frames.debug");
}

/* No table: the frame pointer, as long as it leads somewhere. */
static void guesses(void **state)
{
    (void)state;
    begin("elf/frames");
    struct made m = make(in("nothing", 4));
    m.regs[6] = SP + 16;
    m.words[2] = SP + 64;
    m.words[3] = in("plain", 4);
    m.words[7] = in("outermost", 4);
    EXPECT(&m, RK_UNWIND_WHOLE, RK_UNWIND_FINE, in("nothing", 4), in("plain", 3), in("outermost", 3));
    m.words[3] = 0x99999; /* not code */
    EXPECT(&m, RK_UNWIND_BROKEN, RK_UNWIND_NO_CFI, in("nothing", 4));
    m.regs[6] = SP - 16; /* below */
    EXPECT(&m, RK_UNWIND_BROKEN, RK_UNWIND_NO_CFI, in("nothing", 4));
    m.regs[8] = 0x20010;
    m.regs[6] = 1;
    EXPECT(&m, RK_UNWIND_BROKEN, RK_UNWIND_ANONYMOUS, UINT64_C(0x20010));
    m = make(in("plain", 4)); /* code that only calls on, made at run time: CPython's trampolines */
    m.regs[6] = 1;
    m.words[3] = 0x20010;
    m.words[5] = in("outermost", 4);
    EXPECT(&m, RK_UNWIND_WHOLE, RK_UNWIND_FINE, in("plain", 4), UINT64_C(0x2000f), in("outermost", 3));
    m.words[5] = 0x20020; /* what is above is no file's code */
    EXPECT(&m, RK_UNWIND_BROKEN, RK_UNWIND_ANONYMOUS, in("plain", 4), UINT64_C(0x2000f));
    m.regs[6] = 1;
    m.regs[8] = 0x22010;
    EXPECT(&m, RK_UNWIND_BROKEN, RK_UNWIND_NO_FILE, UINT64_C(0x22010));
    m.regs[8] = 0x99999;
    EXPECT(&m, RK_UNWIND_BROKEN, RK_UNWIND_NO_MAPPING, UINT64_C(0x99999));
    m.regs[8] = in("stub", 20); /* a linkage stub without a table */
    m.words[0] = in("outermost", 4);
    EXPECT(&m, RK_UNWIND_WHOLE, RK_UNWIND_FINE, in("stub", 20), in("outermost", 3));
    m = make(in("stub", 20)); /* … below a frame that needs all registers */
    m.words[0] = in("plain", 4);
    m.words[4] = in("by_rbx", 8);
    m.words[6] = in("outermost", 4);
    m.regs[1] = SP + 40;
    EXPECT(&m, RK_UNWIND_WHOLE, RK_UNWIND_FINE, in("stub", 20), in("plain", 3), in("by_rbx", 7),
           in("outermost", 3));
    end();
}

/* Behind a handler, or in it: what a signal interrupted, with all its registers. */
static void restorers(void **state)
{
    (void)state;
    begin("elf/frames");
    for (int behind = 0; behind < 2; behind++) {
        struct made m = make(behind ? in("plain", 4) : in("restorer", 7));
        uint64_t *context = m.words + (behind ? 4 : 0), *registers = context + 5;
        m.words[3] = behind ? in("restorer", 0) : 0;
        registers[11] = SP + 8 * 48;      /* rbx */
        registers[15] = SP + 8 * 46;      /* rsp */
        registers[16] = in("by_rbx", 4);  /* rip */
        m.words[49] = in("outermost", 4); /* rbx + 16 - 8 */
        if (behind)
            EXPECT(&m, RK_UNWIND_WHOLE, RK_UNWIND_FINE, in("plain", 4), in("restorer", 0), in("by_rbx", 4),
                   in("outermost", 3));
        else
            EXPECT(&m, RK_UNWIND_WHOLE, RK_UNWIND_FINE, in("restorer", 7), in("by_rbx", 4),
                   in("outermost", 3));
        registers[15] = SP - 4096; /* on another stack, which the sample has not */
        registers[16] = in("plain", 4);
        if (!behind)
            EXPECT(&m, RK_UNWIND_BROKEN, RK_UNWIND_ELSEWHERE, in("restorer", 7), in("plain", 4));
        m.sample.stack_used = m.sample.stack_bytes = 64; /* cut within the registers */
        if (!behind)
            EXPECT(&m, RK_UNWIND_CUT, RK_UNWIND_FINE, in("restorer", 7));
    }
    end();
}

static void nothing_to_unwind(void **state)
{
    (void)state;
    uint64_t pcs[1];
    struct rk_unwind_status status = {.size = sizeof status};
    struct rk_error e = {.size = sizeof e};
    struct rk_unwinder *other = NULL;
    struct rk_unwinder_options options = {.size = sizeof options, .machine = 40};

    begin("elf/frames");
    struct made m = make(in("plain", 4));
    m.sample.regs_user = m.regs;
    m.sample.regs_user_abi = 0;
    assert_int_equal(rk_unwinder_sample(unwinder, image, &m.sample, pcs, 1, &status), 0);
    assert_int_equal(status.reason, RK_UNWIND_NO_REGISTERS);
    m.sample.regs_user_abi = 1;
    assert_int_equal(rk_unwinder_sample(unwinder, image, &m.sample, pcs, 1, &status), 0);
    assert_int_equal(status.reason, RK_UNWIND_32_BIT);
    m.sample.regs_user_abi = 2;
    m.sample.stack_bytes = m.sample.stack_used = 0;
    assert_int_equal(rk_unwinder_sample(unwinder, image, &m.sample, pcs, 1, &status), 1);
    assert_int_equal(status.reason, RK_UNWIND_NO_STACK);
    m.sample.stack = (const unsigned char *)m.words;
    m.sample.stack_bytes = m.sample.stack_used = sizeof m.words;
    m.words[3] = in("plain", 4);
    assert_int_equal(rk_unwinder_sample(unwinder, image, &m.sample, pcs, 1, &status), 1);
    assert_int_equal(status.end, RK_UNWIND_FULL);
    assert_int_equal(rk_unwinder_sample(unwinder, (const void *)unwinder, &m.sample, pcs, 1, &status),
                     -EINVAL);
    assert_int_equal(rk_unwinder_sample(unwinder, image, &m.sample, pcs, 1, NULL), 1);

    assert_int_equal(rk_unwinder_open(&options, &other, &e), -EOPNOTSUPP);
    assert_non_null(strstr(e.what, "arm64"));
    options.machine = 0;
    options.root = "/no/such/place";
    assert_int_equal(rk_unwinder_open(&options, &other, &e), -ENOENT);
    options.root = NULL;
    options.cache_slots = UINT32_MAX;
    assert_int_equal(rk_unwinder_open(&options, &other, &e), -EINVAL);
    assert_null(other);
    assert_null(rk_unwinder_free(NULL));
    assert_int_equal(rk_unwinder_registers(40), 0);
    for (uint32_t i = 0; i <= RK_UNWIND_BACKWARD; i++)
        assert_true(strlen(rk_unwind_reason_text(i)) > 8);
    assert_string_equal(rk_unwind_reason_text(1000), "unknown");
    end();
}

/* Once read, a file may be cut, overwritten or removed; before, it is refused, and told by its build-id. */
static void files_that_change(void **state)
{
    (void)state;
    static const unsigned char id[20] = {1};
    begin("elf/frames");
    struct made m = make(in("plain", 4));
    m.words[3] = in("outermost", 4);
    EXPECT(&m, RK_UNWIND_WHOLE, RK_UNWIND_FINE, in("plain", 4), in("outermost", 3));
    fake_file("lib/frames", "#!/bin/sh\n");
    EXPECT(&m, RK_UNWIND_WHOLE, RK_UNWIND_FINE, in("plain", 4), in("outermost", 3));
    m.regs[8] = in("nothing", 4); /* would look for .debug_frame now */
    m.regs[6] = SP + 1;
    EXPECT(&m, RK_UNWIND_BROKEN, RK_UNWIND_NO_CFI, in("nothing", 4));
    end();

    begin("elf/frames");
    fake_file("lib/frames", "#!/bin/sh\n");
    m = make(in("plain", 4));
    m.regs[6] = SP + 1;
    EXPECT(&m, RK_UNWIND_BROKEN, RK_UNWIND_BAD_FILE, in("plain", 4));
    end();

    begin("elf/frames");
    assert_int_equal(rk_image_feed_build_id(image, "/lib/frames", id, 20), 0);
    EXPECT(&m, RK_UNWIND_BROKEN, RK_UNWIND_CHANGED, in("plain", 4));
    end();

    begin("elf/frames.arm64"); /* another machine's */
    unwinder = rk_unwinder_free(unwinder);
    struct rk_unwinder_options options = {
        .size = sizeof options, .root = fake_path, .machine = RK_MACHINE_X86_64};
    assert_int_equal(rk_unwinder_open(&options, &unwinder, NULL), 0);
    machine = RK_MACHINE_X86_64;
    m = make(in("plain", 4));
    m.regs[6] = SP + 1;
    EXPECT(&m, RK_UNWIND_BROKEN, RK_UNWIND_BAD_FILE, in("plain", 4));
    end();
}

/* Signed return addresses, in a register and on the stack. */
static void signed_addresses(void **state)
{
    (void)state;
    const uint64_t signature = UINT64_C(0x2a5d) << 48;
    begin("elf/frames.arm64");
    struct made m = make(in("leaf", 4));
    m.regs[30] = in("plain", 8) | signature;
    m.words[1] = in("plain", 4) | signature; /* CFA - 24 */
    m.words[0] = SP + 32;
    m.words[5] = in("outermost", 4) | signature;
    EXPECT(&m, RK_UNWIND_WHOLE, RK_UNWIND_FINE, in("leaf", 4), in("plain", 7), in("plain", 3),
           in("outermost", 3));
    m.words[1] = in("leaf", 4); /* a leaf that called: where its return address was, nobody knows */
    EXPECT(&m, RK_UNWIND_BROKEN, RK_UNWIND_NO_VALUE, in("leaf", 4), in("plain", 7), in("leaf", 3));
    end();
}

/* Below a function that is bound at its first call: its caller's stack begins behind what the stub pushed. */
static void bound_late(void **state)
{
    (void)state;
    begin("elf/frames.arm64");
    struct made m = make(in("resolver", 4));
    m.words[1] = in("plain", 4);
    m.words[2] = SP + 64;
    m.words[3] = in("outermost", 4); /* SP + 16, + 32 - 24 */
    EXPECT(&m, RK_UNWIND_WHOLE, RK_UNWIND_FINE, in("resolver", 4), in("plain", 3), in("outermost", 3));
    end();
}

/* Registers by riscv64's numbers: 1 ra, 2 sp, 5 t0, 8 s0, which points behind what it leads to. */
static void riscv64(void **state)
{
    (void)state;
    begin("elf/frames.riscv64");
    now = "ra, in its register and on the stack";
    struct made m = make(in("leaf", 4));
    m.regs[1] = in("plain", 8);
    m.words[2] = SP + 128;           /* CFA - 16 */
    m.words[3] = in("plain", 4);     /* CFA - 8 */
    m.words[7] = in("outermost", 4); /* … of the next */
    EXPECT(&m, RK_UNWIND_WHOLE, RK_UNWIND_FINE, in("leaf", 4), in("plain", 7), in("plain", 3),
           in("outermost", 3));
    now = "called through t0: ra is its caller's";
    m = make(in("saver", 4));
    m.regs[5] = in("leaf", 8);
    m.regs[1] = in("outermost", 4);
    EXPECT(&m, RK_UNWIND_WHOLE, RK_UNWIND_FINE, in("saver", 4), in("leaf", 7), in("outermost", 3));
    now = "no table: along s0";
    m = make(in("nothing", 4));
    m.regs[8] = SP + 48;
    m.words[4] = SP + 80;
    m.words[5] = in("nothing", 8);
    m.words[8] = 1;
    m.words[9] = in("outermost", 4);
    EXPECT(&m, RK_UNWIND_WHOLE, RK_UNWIND_FINE, in("nothing", 4), in("nothing", 7), in("outermost", 3));
    m.regs[8] = SP + 8; /* what it leads to lies below the stack */
    EXPECT(&m, RK_UNWIND_BROKEN, RK_UNWIND_NO_CFI, in("nothing", 4));
    now = "a signal: all registers, behind siginfo and most of ucontext";
    m = make(in("plain", 4));
    m.words[3] = in("interrupted", 4);
    uint64_t *registers = m.words + 4 + (128 + 176) / 8;
    registers[0] = in("saver", 4);
    registers[1] = in("outermost", 8);
    registers[2] = SP + 8 * 100;
    registers[5] = in("leaf", 4);
    EXPECT(&m, RK_UNWIND_WHOLE, RK_UNWIND_FINE, in("plain", 4), in("interrupted", 4), in("saver", 4),
           in("leaf", 3), in("outermost", 7));
    end();
}

static struct made shared;

static void *one_thread(void *context)
{
    struct rk_unwinder_options options = {.size = sizeof options, .root = fake_path, .machine = machine};
    struct rk_unwinder *own = NULL;
    uint64_t pcs[FRAMES];
    intptr_t wrong = rk_unwinder_open(&options, &own, NULL) < 0;

    for (int i = 0; i < 200 && !wrong; i++) {
        struct rk_unwind_status status = {.size = sizeof status};
        wrong = rk_unwinder_sample(own, image, &shared.sample, pcs, FRAMES, &status) != 3 ||
                status.end != RK_UNWIND_WHOLE;
    }
    rk_unwinder_free(own);
    (void)context;
    return (void *)wrong;
}

/* One image, read by all; an unwinder each. ThreadSanitizer looks on in its lane. */
static void eight_threads(void **state)
{
    (void)state;
    pthread_t threads[8];
    begin("elf/frames");
    shared = make(in("plain", 4));
    shared.words[3] = in("plain", 5);
    shared.words[7] = in("outermost", 5);
    shared.sample.regs_user = shared.regs;
    shared.sample.stack = (const unsigned char *)shared.words;
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, one_thread, NULL), 0);
    for (int i = 0; i < 8; i++) {
        void *wrong;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    end();
}

/* A cache of 64 slots and more addresses than that: answers stay right. */
static void small_cache(void **state)
{
    (void)state;
    begin("elf/frames");
    static const char *const names[] = {"plain",     "framed", "saver",    "huge",
                                        "realigned", "bad",    "backward", "nothing"};
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < 8; i++)
            for (uint64_t by = 0; by < 16; by++) {
                struct made m = make(in(names[i], by));
                uint64_t pcs[FRAMES];
                struct rk_unwind_status status = {.size = sizeof status};
                m.sample.regs_user = m.regs;
                m.sample.stack = (const unsigned char *)m.words;
                m.regs[6] = SP + 1;
                assert_true(rk_unwinder_sample(unwinder, image, &m.sample, pcs, FRAMES, &status) > 0);
                assert_int_equal(pcs[0], in(names[i], by));
                if (i == 5)
                    assert_int_equal(status.reason, RK_UNWIND_BAD_CFI);
                if (i == 6)
                    assert_int_equal(status.reason, RK_UNWIND_BACKWARD);
            }
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains),
        cmocka_unit_test(sorted),
        cmocka_unit_test(unsorted),
        cmocka_unit_test(headless),
        cmocka_unit_test(for_debuggers),
        cmocka_unit_test(guesses),
        cmocka_unit_test(restorers),
        cmocka_unit_test(nothing_to_unwind),
        cmocka_unit_test(files_that_change),
        cmocka_unit_test(signed_addresses),
        cmocka_unit_test(bound_late),
        cmocka_unit_test(riscv64),
        cmocka_unit_test(eight_threads),
        cmocka_unit_test(small_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What samples pack, in words; SPE packets; tracepoint fields. */
#include <reckon/record.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void registers(void **state)
{
    (void)state;
    uint64_t mask, value;
    assert_string_equal(rk_register_name("x86_64", 0), "ax");
    assert_string_equal(rk_register_name("x86_64", 7), "sp");
    assert_string_equal(rk_register_name("x86_64", 8), "ip");
    assert_string_equal(rk_register_name("x86_64", 23), "r15");
    assert_string_equal(rk_register_name("x86_64", 32), "xmm0");
    assert_string_equal(rk_register_name("x86_64", 63), "xmm15h");
    assert_null(rk_register_name("x86_64", 24));
    assert_null(rk_register_name("x86_64", 64));
    assert_string_equal(rk_register_name("i686", 15), "gs");
    assert_null(rk_register_name("i686", 16));
    assert_string_equal(rk_register_name("aarch64", 29), "x29");
    assert_string_equal(rk_register_name("aarch64", 30), "lr");
    assert_string_equal(rk_register_name("aarch64", 31), "sp");
    assert_string_equal(rk_register_name("aarch64", 32), "pc");
    assert_string_equal(rk_register_name("aarch64", 46), "vg");
    assert_null(rk_register_name("aarch64", 33));
    assert_null(rk_register_name("aarch64", 47));
    assert_string_equal(rk_register_name("riscv64", 0), "pc");
    assert_string_equal(rk_register_name("riscv64", 2), "sp");
    assert_string_equal(rk_register_name("riscv64", 8), "s0");
    assert_string_equal(rk_register_name("riscv64", 27), "s11");
    assert_string_equal(rk_register_name("riscv64", 31), "t6");
    assert_null(rk_register_name("riscv64", 32));
    assert_null(rk_register_name("sparc", 0));
    assert_null(rk_register_name(NULL, 0));

    assert_int_equal(rk_register_mask("x86_64", "ip,sp,bp", &mask), 0);
    assert_int_equal(mask, 1 << 8 | 1 << 7 | 1 << 6);
    assert_int_equal(rk_register_mask("x86_64", "", &mask), 0);
    assert_int_equal(mask, 0xff0fff);
    assert_int_equal(rk_register_mask("aarch64", "all", &mask), 0);
    assert_int_equal(mask, 0x1ffffffff);
    assert_int_equal(rk_register_mask("riscv64", "t6", &mask), 0);
    assert_int_equal(mask, 1u << 31);
    mask = 5;
    assert_int_equal(rk_register_mask("x86_64", "ip,x0", &mask), -ENOENT);
    assert_int_equal(rk_register_mask("x86_64", "ip,", &mask), -ENOENT);
    assert_int_equal(rk_register_mask("vax", "ip", &mask), -EOPNOTSUPP);
    assert_int_equal(mask, 5);

    static const uint64_t values[] = {100, 200, 300};
    struct rk_sample s = {
        .regs_user_mask = 1 | 1 << 7 | UINT64_C(1) << 63, .regs_user = values, .regs_user_abi = 2};
    assert_int_equal(rk_sample_register(&s, 0, 0, &value), 0);
    assert_int_equal(value, 100);
    assert_int_equal(rk_sample_register(&s, 0, 63, &value), 0);
    assert_int_equal(value, 300);
    assert_int_equal(rk_sample_register(&s, 0, 1, &value), -ENOENT);
    assert_int_equal(rk_sample_register(&s, 0, 64, &value), -ENOENT);
    assert_int_equal(rk_sample_register(&s, 1, 0, &value), -ENOENT);
}

static void memory_is(uint64_t data_src, const char *const expected[RK_MEMORY_PARTS])
{
    for (uint32_t part = 0; part < RK_MEMORY_PARTS; part++) {
        char text[128];
        const char *want = expected[part] ? expected[part] : "";
        int n = rk_memory_text(data_src, part, text, sizeof text);
        assert_string_equal(text, want);
        assert_int_equal(n, strlen(want));
        assert_non_null(rk_memory_part_name(part));
    }
    assert_null(rk_memory_part_name(RK_MEMORY_PARTS));
}

static void memory(void **state)
{
    (void)state;
    char text[8];
    memory_is(0, (const char *[RK_MEMORY_PARTS]){0});
    /* what an Intel core says of a load from L1: 0x68100142 */
    memory_is(0x68100142, (const char *[RK_MEMORY_PARTS]){[RK_MEMORY_OPERATION] = "load",
                                                          [RK_MEMORY_LEVEL] = "L1 hit",
                                                          [RK_MEMORY_SNOOP] = "none",
                                                          [RK_MEMORY_TLB] = "L1 L2 hit"});
    /* everything: store | L3 miss remote | hit modified, peer | locked | walker miss | data, address | socket | 5 */
    uint64_t all = UINT64_C(1) << 2 | UINT64_C(4) << 5 | UINT64_C(0x10) << 19 | UINT64_C(2) << 24 |
                   UINT64_C(0x24) << 26 | UINT64_C(3) << 33 | UINT64_C(1) << 37 | UINT64_C(2) << 38 |
                   UINT64_C(6) << 40 | UINT64_C(3) << 43 | UINT64_C(5) << 46;
    memory_is(all, (const char *[RK_MEMORY_PARTS]){"store", "remote L3 miss", "hit modified peer", "locked",
                                                   "walker miss", "data address", "socket", "5"});
    /* the old form: a mask of levels */
    memory_is(UINT64_C(2) | UINT64_C(0x102) << 5 | UINT64_C(15) << 33,
              (const char *[RK_MEMORY_PARTS]){"load", "remote RAM 1 hit"});
    /* bit 37 is REMOTE and 38 SNOOPX_FWD, since 5.10 */
    memory_is(UINT64_C(1) << 38, (const char *[RK_MEMORY_PARTS]){[RK_MEMORY_SNOOP] = "forward"});
    assert_int_equal(rk_memory_text(0x68100142, RK_MEMORY_TLB, text, sizeof text), 9);
    assert_string_equal(text, "L1 L2 h");
    assert_int_equal(rk_memory_text(0x68100142, RK_MEMORY_TLB, NULL, 0), 9);
}

/* What the kernel's header calls X, packed, is RK_…_X unpacked, and no other part. */
static void packed(uint64_t data_src, const struct rk_memory_info *want)
{
    struct rk_memory_info got = RK_INIT(got);
    assert_int_equal(rk_memory_info(data_src, &got), 0);
    assert_memory_equal(&got, want, sizeof got);
}

static void memory_constants(void **state)
{
    (void)state;
#define IS(part, name, member, value)                                  \
    do {                                                               \
        struct rk_memory_info want = RK_INIT(want, .member = (value)); \
        packed(PERF_MEM_S(part, name), &want);                         \
    } while (0)
    IS(OP, NA, operation, RK_OPERATION_UNAVAILABLE);
    IS(OP, LOAD, operation, RK_OPERATION_LOAD);
    IS(OP, STORE, operation, RK_OPERATION_STORE);
    IS(OP, PFETCH, operation, RK_OPERATION_PREFETCH);
    IS(OP, EXEC, operation, RK_OPERATION_EXEC);
    IS(LVL, NA, levels, RK_LEVELS_UNAVAILABLE);
    IS(LVL, HIT, levels, RK_LEVELS_HIT);
    IS(LVL, MISS, levels, RK_LEVELS_MISS);
    IS(LVL, L1, levels, RK_LEVELS_L1);
    IS(LVL, LFB, levels, RK_LEVELS_LFB);
    IS(LVL, L2, levels, RK_LEVELS_L2);
    IS(LVL, L3, levels, RK_LEVELS_L3);
    IS(LVL, LOC_RAM, levels, RK_LEVELS_LOCAL_RAM);
    IS(LVL, REM_RAM1, levels, RK_LEVELS_REMOTE_RAM_1);
    IS(LVL, REM_RAM2, levels, RK_LEVELS_REMOTE_RAM_2);
    IS(LVL, REM_CCE1, levels, RK_LEVELS_REMOTE_CACHE_1);
    IS(LVL, REM_CCE2, levels, RK_LEVELS_REMOTE_CACHE_2);
    IS(LVL, IO, levels, RK_LEVELS_IO);
    IS(LVL, UNC, levels, RK_LEVELS_UNCACHED);
    IS(LVLNUM, L1, level, RK_LEVEL_L1);
    IS(LVLNUM, L2, level, RK_LEVEL_L2);
    IS(LVLNUM, L3, level, RK_LEVEL_L3);
    IS(LVLNUM, L4, level, RK_LEVEL_L4);
    IS(LVLNUM, ANY_CACHE, level, RK_LEVEL_ANY_CACHE);
    IS(LVLNUM, LFB, level, RK_LEVEL_LFB);
    IS(LVLNUM, RAM, level, RK_LEVEL_RAM);
    IS(LVLNUM, PMEM, level, RK_LEVEL_PMEM);
    IS(LVLNUM, NA, level, RK_LEVEL_UNAVAILABLE);
#ifdef PERF_MEM_LVLNUM_IO
    IS(LVLNUM, CXL, level, RK_LEVEL_CXL);
    IS(LVLNUM, IO, level, RK_LEVEL_IO);
#endif
#ifdef PERF_MEM_LVLNUM_L0
    IS(LVLNUM, L2_MHB, level, RK_LEVEL_L2_MHB);
    IS(LVLNUM, MSC, level, RK_LEVEL_MSC);
    IS(LVLNUM, L0, level, RK_LEVEL_L0);
#endif
    IS(REMOTE, REMOTE, remote, 1);
    IS(SNOOP, NA, snoop, RK_SNOOP_UNAVAILABLE);
    IS(SNOOP, NONE, snoop, RK_SNOOP_NONE);
    IS(SNOOP, HIT, snoop, RK_SNOOP_HIT);
    IS(SNOOP, MISS, snoop, RK_SNOOP_MISS);
    IS(SNOOP, HITM, snoop, RK_SNOOP_HIT_MODIFIED);
    IS(SNOOPX, FWD, snoop, RK_SNOOP_FORWARD);
#ifdef PERF_MEM_SNOOPX_PEER
    IS(SNOOPX, PEER, snoop, RK_SNOOP_PEER);
#endif
    IS(LOCK, NA, lock, RK_LOCK_UNAVAILABLE);
    IS(LOCK, LOCKED, lock, RK_LOCK_LOCKED);
    IS(TLB, NA, tlb, RK_TLB_UNAVAILABLE);
    IS(TLB, HIT, tlb, RK_TLB_HIT);
    IS(TLB, MISS, tlb, RK_TLB_MISS);
    IS(TLB, L1, tlb, RK_TLB_L1);
    IS(TLB, L2, tlb, RK_TLB_L2);
    IS(TLB, WK, tlb, RK_TLB_WALKER);
    IS(TLB, OS, tlb, RK_TLB_FAULT_HANDLER);
#ifdef PERF_MEM_BLK_NA
    IS(BLK, NA, blocked, RK_BLOCKED_UNAVAILABLE);
    IS(BLK, DATA, blocked, RK_BLOCKED_DATA);
    IS(BLK, ADDR, blocked, RK_BLOCKED_ADDRESS);
#endif
#ifdef PERF_MEM_HOPS_3
    IS(HOPS, 0, hops, RK_HOPS_CORE);
    IS(HOPS, 1, hops, RK_HOPS_NODE);
    IS(HOPS, 2, hops, RK_HOPS_SOCKET);
    IS(HOPS, 3, hops, RK_HOPS_BOARD);
#endif
    assert_int_equal(RK_TRANSACTION_ELISION, PERF_TXN_ELISION);
    assert_int_equal(RK_TRANSACTION_TRANSACTION, PERF_TXN_TRANSACTION);
    assert_int_equal(RK_TRANSACTION_SYNC, PERF_TXN_SYNC);
    assert_int_equal(RK_TRANSACTION_ASYNC, PERF_TXN_ASYNC);
    assert_int_equal(RK_TRANSACTION_RETRY, PERF_TXN_RETRY);
    assert_int_equal(RK_TRANSACTION_CONFLICT, PERF_TXN_CONFLICT);
    assert_int_equal(RK_TRANSACTION_CAPACITY_WRITE, PERF_TXN_CAPACITY_WRITE);
    assert_int_equal(RK_TRANSACTION_CAPACITY_READ, PERF_TXN_CAPACITY_READ);
    assert_int_equal(RK_TRANSACTION_CODE, PERF_TXN_ABORT_MASK);
    assert_int_equal(RK_FORMAT_ENABLED, PERF_FORMAT_TOTAL_TIME_ENABLED);
    assert_int_equal(RK_FORMAT_RUNNING, PERF_FORMAT_TOTAL_TIME_RUNNING);
    assert_int_equal(RK_FORMAT_ID, PERF_FORMAT_ID);
    assert_int_equal(RK_FORMAT_GROUP, PERF_FORMAT_GROUP);
    assert_int_equal(RK_ABI_NONE, PERF_SAMPLE_REGS_ABI_NONE);
    assert_int_equal(RK_ABI_32, PERF_SAMPLE_REGS_ABI_32);
    assert_int_equal(RK_ABI_64, PERF_SAMPLE_REGS_ABI_64);
}

static void transactions_and_weights(void **state)
{
    (void)state;
    char text[128];
    struct rk_weight w;
    rk_transaction_text(0, text, sizeof text);
    assert_string_equal(text, "");
    rk_transaction_text(UINT64_C(12) << 32 | 0x26, text, sizeof text);
    assert_string_equal(text, "transaction sync conflict code 12");
    rk_transaction_text(0x101, text, sizeof text);
    assert_string_equal(text, "elision bit-8");
    struct rk_sample s = {.weight = 0x0003000200000001, .present = RK_SAMPLE_WEIGHT_STRUCT};
    assert_int_equal(rk_sample_weight(&s, &w), 0);
    assert_int_equal(w.first, 1);
    assert_int_equal(w.second, 2);
    assert_int_equal(w.third, 3);
    s.present = RK_SAMPLE_WEIGHT;
    assert_int_equal(rk_sample_weight(&s, &w), 0);
    assert_int_equal(w.first, 0x0003000200000001);
    assert_int_equal(w.second, 0);
    s.present = 0;
    assert_int_equal(rk_sample_weight(&s, &w), -ENOENT);
}

static void branches(void **state)
{
    (void)state;
    struct rk_branch b = {1, 2, 0};
    struct rk_branch_info i = {.size = sizeof i};
    assert_int_equal(rk_branch_info(&b, &i), 0);
    assert_string_equal(i.name, "");
    b.flags = 1 | 4 | 1234u << 4 | 6u << 20 | 3u << 24 | UINT64_C(2) << 30;
    assert_int_equal(rk_branch_info(&b, &i), 0);
    assert_int_equal(i.mispredicted, 1);
    assert_int_equal(i.predicted, 0);
    assert_int_equal(i.in_transaction, 1);
    assert_int_equal(i.cycles, 1234);
    assert_string_equal(i.name, "return");
    assert_int_equal(i.speculation, 3);
    assert_int_equal(i.privilege, 2);
    b.flags = 15u << 20 | 1u << 26;
    assert_int_equal(rk_branch_info(&b, &i), 0);
    assert_string_equal(i.name, "fault-data");
    for (uint64_t flags = 0; flags < UINT64_C(1) << 33; flags += UINT64_C(0xfffff)) {
        b.flags = flags;
        assert_int_equal(rk_branch_info(&b, &i), 0);
        assert_non_null(i.name);
    }
}

/* --- SPE --- */

/* A load as Neoverse N1 writes it, then a branch, then padding. */
static const unsigned char load[] = {
    0xb0, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x00, 0xc0,       /* address 0: pc, EL2 */
    0x65, 0x39, 0x30, 0x00, 0x00,                               /* context 1 */
    0x49, 0x00,                                                 /* operation: class 1, a load */
    0x52, 0x16, 0x00,                                           /* events, two bytes */
    0x99, 0x05, 0x00,                                           /* counter 1: issue */
    0x98, 0x0c, 0x00,                                           /* counter 0: total */
    0xb2, 0x08, 0x00, 0x00, 0x00, 0x00, 0x80, 0xff, 0x42,       /* address 2: data, tagged, kernel half */
    0x9a, 0x01, 0x00,                                           /* counter 2: translation */
    0x43, 0x0b,                                                 /* source */
    0x20, 0xb3, 0x00, 0x10, 0x00, 0x00, 0x08, 0x00, 0x00, 0x80, /* address 3 with a long header */
    0x71, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,       /* timestamp */
};
static const unsigned char branch[] = {
    0xb0, 0x00, 0x10, 0x40, 0,    0, 0, 0, 0x80, 0x4a, 0x01, 0x42,
    0x42, 0xb1, 0x00, 0x20, 0x40, 0, 0, 0, 0,    0,    0x01,
};

static void spe_operations(void **state)
{
    (void)state;
    unsigned char bytes[256] = {0};
    size_t n = 0;
    uint64_t at = 0;
    struct rk_spe s = {.size = sizeof s};
    char text[128];

    memcpy(bytes, load, sizeof load);
    n += sizeof load;
    n += 3; /* padding */
    memcpy(bytes + n, branch, sizeof branch);
    n += sizeof branch;
    bytes[n] = 0x24; /* alignment to 32 bytes */
    n = (n | 31) + 1;

    assert_int_equal(rk_spe_next(bytes, n, &at, &s), 1);
    assert_int_equal(at, sizeof load);
    assert_int_equal(s.present, 0x1fff & ~(RK_SPE_HAS_TARGET | RK_SPE_HAS_PREVIOUS));
    assert_int_equal(s.pc, 0x605040302010);
    assert_int_equal(s.level, 2);
    assert_int_equal(s.context, 0x3039);
    assert_int_equal(s.operation_class, 1);
    assert_int_equal(s.events, 0x16);
    assert_int_equal(s.issue, 5);
    assert_int_equal(s.latency, 12);
    assert_int_equal(s.translation, 1);
    assert_int_equal(s.address, 0xffff800000000008);
    assert_int_equal(s.source, 0x0b);
    assert_int_equal(s.physical, 0x000800001000);
    assert_int_equal(s.time, 0x0807060504030201);
    rk_spe_events_text(s.events, text, sizeof text);
    assert_string_equal(text, "retired L1D-access TLB-access");

    assert_int_equal(rk_spe_next(bytes, n, &at, &s), 1);
    assert_int_equal(s.present, RK_SPE_HAS_PC | RK_SPE_HAS_TARGET | RK_SPE_HAS_OPERATION | RK_SPE_HAS_EVENTS);
    assert_int_equal(s.pc, 0x401000);
    assert_int_equal(s.target, 0x402000);
    assert_int_equal(s.operation_class, 2);
    assert_int_equal(rk_spe_next(bytes, n, &at, &s), 0);
    assert_int_equal(at, n);
}

/* Cut anywhere: never read beyond, the cut is told, what comes before is whole. */
static void spe_cut(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof load; n++) {
        unsigned char *bytes = malloc(n + !n);
        struct rk_spe s = {.size = sizeof s};
        uint64_t at = 0;
        memcpy(bytes, load, n);
        assert_int_equal(rk_spe_next(bytes, n, &at, &s), n ? -ENODATA : 0);
        free(bytes);
    }
}

/* Bytes that are none: told, passed over, and the end is reached. */
static void spe_garbage(void **state)
{
    (void)state;
    uint64_t seed = 1, at = 0, n = 0;
    unsigned char bytes[4096];
    struct rk_spe s = {.size = sizeof s};
    for (size_t i = 0; i < sizeof bytes; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = (unsigned char)(seed >> 56);
    }
    bytes[17] = 0xff; /* is no header */
    for (int r; (r = rk_spe_next(bytes, sizeof bytes, &at, &s)) != 0 && r != -ENODATA; n++) {
        assert_true(r == 1 || r == -EBADMSG);
        assert_true(n < sizeof bytes && at <= sizeof bytes);
    }
    assert_true(n > 10);
}

/* --- Fields --- */

static void fields(void **state)
{
    (void)state;
    unsigned char raw[32] = {0x40, 0x01, 0xff, 0xff, 0xff, 0xff, 'a', 'b', 0,
                             'x',  3,    0,    0x0e, 0x00, 'd',  'y', 0,   'z'};
    struct rk_sample s = {.raw = raw, .raw_bytes = 18};
    struct rk_field_value v;
    struct rk_field f = {.size = sizeof f, .offset = 0, .bytes = 2};
    assert_int_equal(rk_field_value(&f, &s, &v), 0);
    assert_int_equal(v.number, 320);
    assert_null(v.bytes);
    f = (struct rk_field){.offset = 2, .bytes = 4, .is_signed = 1};
    assert_int_equal(rk_field_value(&f, &s, &v), 0);
    assert_int_equal((int64_t)v.number, -1);
    f.is_signed = 0;
    assert_int_equal(rk_field_value(&f, &s, &v), 0);
    assert_int_equal(v.number, UINT32_MAX);
    f = (struct rk_field){.kind = RK_FIELD_ARRAY, .offset = 6, .bytes = 4, .is_text = 1};
    assert_int_equal(rk_field_value(&f, &s, &v), 0);
    assert_int_equal(v.n, 2);
    assert_memory_equal(v.bytes, "ab", 2);
    /* dynamic: 32 bits at 10 say offset 3, length 14: beyond the end (3 + 14 = 17 ≤ 18 fits) */
    f = (struct rk_field){.kind = RK_FIELD_DYNAMIC, .offset = 10, .bytes = 4};
    assert_int_equal(rk_field_value(&f, &s, &v), 0);
    assert_ptr_equal(v.bytes, raw + 3);
    assert_int_equal(v.n, 14);
    raw[12] = 16;
    assert_int_equal(rk_field_value(&f, &s, &v), -EBADMSG);
    raw[10] = 0, raw[12] = 4;
    f = (struct rk_field){.kind = RK_FIELD_RELATIVE, .offset = 10, .bytes = 4, .is_text = 1};
    assert_int_equal(rk_field_value(&f, &s, &v), 0);
    assert_ptr_equal(v.bytes, raw + 14);
    assert_int_equal(v.n, 2);
    raw[12] = 5;
    assert_int_equal(rk_field_value(&f, &s, &v), -EBADMSG);
    f = (struct rk_field){.offset = 17, .bytes = 2};
    assert_int_equal(rk_field_value(&f, &s, &v), -EBADMSG);
    f = (struct rk_field){.offset = UINT32_MAX, .bytes = UINT32_MAX};
    assert_int_equal(rk_field_value(&f, &s, &v), -EBADMSG);
    f = (struct rk_field){.offset = 0, .bytes = 2};
    s = (struct rk_sample){0};
    assert_int_equal(rk_field_value(&f, &s, &v), -EBADMSG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers),        cmocka_unit_test(memory),
        cmocka_unit_test(memory_constants), cmocka_unit_test(transactions_and_weights),
        cmocka_unit_test(branches),         cmocka_unit_test(spe_operations),
        cmocka_unit_test(spe_cut),          cmocka_unit_test(spe_garbage),
        cmocka_unit_test(fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

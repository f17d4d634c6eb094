/* Every field of a sample, in its shortest and its fullest form, alone and together; and everything cut. */
#include "record/encode.h"
#include "record/layout.h"

#include "words.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static struct layout layout_of(struct perf_attr attr)
{
    struct layout layout;
    assert_int_equal(layout_init(&layout, &attr), 0);
    return layout;
}

/* Decodes what was written; encoding it again must give the same bytes; cut anywhere it must say so. */
static struct rk_record *kept[64];
static size_t kept_n;

static struct rk_sample decode(struct words *w, const struct layout *layout)
{
    struct rk_record record = words_end(w, RK_RECORD_SAMPLE, 2);
    struct rk_sample sample = {.size = sizeof sample};
    static unsigned char again[RECORD_BYTES_MAX];

    assert_int_equal(layout_sample(layout, &record, &sample), 0);
    assert_int_equal(sample.size, sizeof sample);
    assert_int_equal(sample.present, layout->sample_type);
    assert_int_equal(encode_sample(layout, 2, &sample, again, sizeof again), record.bytes);
    assert_memory_equal(again, record.data, record.bytes);

    for (size_t bytes = 8; bytes < record.bytes; bytes++) {
        struct rk_record cut = words_cut(w, RK_RECORD_SAMPLE, 2, bytes);
        struct rk_sample none = {.size = sizeof none, .ip = 42};
        assert_int_equal(layout_sample(layout, &cut, &none), -EBADMSG);
        assert_int_equal(none.ip, 42);
        record_free(&cut);
    }
    kept[kept_n] = malloc(sizeof record);
    *kept[kept_n++] = record;
    return sample;
}

static int forget(void **state)
{
    (void)state;
    while (kept_n) {
        record_free(kept[--kept_n]);
        free(kept[kept_n]);
    }
    return 0;
}

static void a_bare_sample(void **state)
{
    (void)state;
    struct layout layout = layout_of((struct perf_attr){0});
    struct words w = {.n = 1};
    struct rk_sample s = decode(&w, &layout);
    assert_int_equal(s.present, 0);
}

static void the_head(void **state)
{
    (void)state;
    struct layout layout = layout_of((struct perf_attr){
        .sample_type = RK_SAMPLE_IDENTIFIER | RK_SAMPLE_IP | RK_SAMPLE_TID | RK_SAMPLE_TIME | RK_SAMPLE_ADDR |
                       RK_SAMPLE_ID | RK_SAMPLE_STREAM_ID | RK_SAMPLE_CPU | RK_SAMPLE_PERIOD});
    struct words w = {.n = 1};
    word(&w, 77);
    word(&w, 0xffffffff81000000);
    word(&w, pair(100, 101));
    word(&w, 123456789);
    word(&w, 0x7fff0000);
    word(&w, 77);
    word(&w, 78);
    word(&w, 3);
    word(&w, 250000);
    struct rk_sample s = decode(&w, &layout);
    assert_int_equal(s.id, 77);
    assert_int_equal(s.ip, 0xffffffff81000000);
    assert_int_equal(s.pid, 100);
    assert_int_equal(s.tid, 101);
    assert_int_equal(s.time, 123456789);
    assert_int_equal(s.addr, 0x7fff0000);
    assert_int_equal(s.stream_id, 78);
    assert_int_equal(s.cpu, 3);
    assert_int_equal(s.period, 250000);
}

static void idle_has_pid_minus_one(void **state)
{
    (void)state;
    struct layout layout = layout_of((struct perf_attr){.sample_type = RK_SAMPLE_TID});
    struct words w = {.n = 1};
    word(&w, UINT64_MAX);
    struct rk_sample s = decode(&w, &layout);
    assert_int_equal(s.pid, -1);
    assert_int_equal(s.tid, -1);
}

/* Not the inverse of each other: without GROUP there is no nr and the times follow the value. */
static void read_alone(void **state)
{
    (void)state;
    for (uint64_t format = 0; format < 32; format++) {
        if (format & FORMAT_GROUP)
            continue;
        struct layout layout =
            layout_of((struct perf_attr){.sample_type = RK_SAMPLE_READ, .read_format = format});
        struct words w = {.n = 1};
        struct rk_read read;
        word(&w, 1000);
        if (format & FORMAT_ENABLED)
            word(&w, 2000);
        if (format & FORMAT_RUNNING)
            word(&w, 1500);
        if (format & FORMAT_ID)
            word(&w, 7);
        if (format & FORMAT_LOST)
            word(&w, 3);
        struct rk_sample s = decode(&w, &layout);
        assert_int_equal(s.read_n, 1);
        assert_int_equal(s.read_enabled, format & FORMAT_ENABLED ? 2000 : 0);
        assert_int_equal(s.read_running, format & FORMAT_RUNNING ? 1500 : 0);
        assert_int_equal(s.read_format, format);
        assert_int_equal(rk_sample_read(&s, 0, &read), 0);
        assert_int_equal(read.value, 1000);
        assert_int_equal(read.id, format & FORMAT_ID ? 7 : 0);
        assert_int_equal(read.lost, format & FORMAT_LOST ? 3 : 0);
        assert_int_equal(rk_sample_read(&s, 1, &read), -ERANGE);
    }
}

static void read_group(void **state)
{
    (void)state;
    for (uint64_t format = 0; format < 32; format++) {
        if (!(format & FORMAT_GROUP))
            continue;
        for (uint64_t n = 0; n < 4; n += 3) {
            struct layout layout =
                layout_of((struct perf_attr){.sample_type = RK_SAMPLE_READ, .read_format = format});
            struct words w = {.n = 1};
            struct rk_read read;
            word(&w, n);
            if (format & FORMAT_ENABLED)
                word(&w, 2000);
            if (format & FORMAT_RUNNING)
                word(&w, 1500);
            for (uint64_t i = 0; i < n; i++) {
                word(&w, 1000 + i);
                if (format & FORMAT_ID)
                    word(&w, 70 + i);
                if (format & FORMAT_LOST)
                    word(&w, i);
            }
            struct rk_sample s = decode(&w, &layout);
            assert_int_equal(s.read_n, n);
            assert_int_equal(s.read_enabled, format & FORMAT_ENABLED ? 2000 : 0);
            assert_int_equal(s.read_running, format & FORMAT_RUNNING ? 1500 : 0);
            for (uint64_t i = 0; i < n; i++) {
                assert_int_equal(rk_sample_read(&s, i, &read), 0);
                assert_int_equal(read.value, 1000 + i);
                assert_int_equal(read.id, format & FORMAT_ID ? 70 + i : 0);
                assert_int_equal(read.lost, format & FORMAT_LOST ? i : 0);
            }
            assert_int_equal(rk_sample_read(&s, n, &read), -ERANGE);
        }
    }
}

static void chain(void **state)
{
    (void)state;
    struct layout layout = layout_of((struct perf_attr){.sample_type = RK_SAMPLE_CALLCHAIN});
    struct words w = {.n = 1};
    word(&w, 0);
    assert_int_equal(decode(&w, &layout).chain_n, 0);

    words_begin(&w);
    word(&w, 3);
    word(&w, RK_CHAIN_USER);
    word(&w, 0x401000);
    word(&w, 0x402000);
    struct rk_sample s = decode(&w, &layout);
    assert_int_equal(s.chain_n, 3);
    assert_int_equal((uintptr_t)s.chain % 8, 0);
    assert_int_equal(s.chain[0], RK_CHAIN_USER);
    assert_int_equal(s.chain[2], 0x402000);
}

/* The length counts the payload and the kernel's padding: with its own four bytes a multiple of 8. */
static void raw(void **state)
{
    (void)state;
    struct layout layout = layout_of(
        (struct perf_attr){.sample_type = RK_SAMPLE_RAW | RK_SAMPLE_STACK_USER | RK_SAMPLE_PHYS_ADDR});
    for (uint32_t n = 0; n <= 20;
         n++) { /* lengths that no kernel writes are read with the padding they must have */
        unsigned char bytes[24] = {0};
        struct words w = {.n = 1};
        memcpy(bytes, &n, 4);
        memset(bytes + 4, 0xab, n);
        word_bytes(&w, bytes, 4 + n);
        word(&w, 0); /* no stack */
        word(&w, 4711);
        struct rk_sample s = decode(&w, &layout);
        assert_int_equal(s.raw_bytes, n);
        if (n)
            assert_int_equal(s.raw[n - 1], 0xab);
        assert_int_equal(s.phys_addr, 4711);
    }
    struct words w = {.n = 1};
    word(&w, pair(UINT32_MAX, 0));
    word(&w, 0);
    word(&w, 0);
    struct rk_record record = words_end(&w, RK_RECORD_SAMPLE, 0);
    struct rk_sample s = {.size = sizeof s};
    assert_int_equal(layout_sample(&layout, &record, &s), -EBADMSG);
    record_free(&record);
}

static void branches(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 4; kind++) {
        uint64_t flags = (kind & 1 ? BRANCH_HW_INDEX : 0) | (kind & 2 ? BRANCH_COUNTERS : 0);
        struct layout layout = layout_of((struct perf_attr){
            .sample_type = RK_SAMPLE_BRANCH_STACK | RK_SAMPLE_WEIGHT, .branch_sample_type = flags});
        for (uint64_t n = 0; n < 3; n++) {
            struct words w = {.n = 1};
            word(&w, n);
            if (flags & BRANCH_HW_INDEX) /* with nr == 0 too */
                word(&w, 31);
            for (uint64_t i = 0; i < n; i++) {
                word(&w, 0x1000 + i);
                word(&w, 0x2000 + i);
                word(&w, 1 + i);
            }
            if (flags & BRANCH_COUNTERS)
                for (uint64_t i = 0; i < n; i++)
                    word(&w, 0x55 + i);
            word(&w, 99);
            if (n == 0 && flags & BRANCH_HW_INDEX) {
                /* cut by a word it reads as the form without index: see below */
                struct rk_record record = words_end(&w, RK_RECORD_SAMPLE, 0);
                struct rk_sample s = {.size = sizeof s};
                assert_int_equal(layout_sample(&layout, &record, &s), 0);
                assert_int_equal(s.branch_hw_index, 31);
                assert_non_null(s.branches);
                assert_int_equal(s.weight, 99);
                record_free(&record);
                continue;
            }
            struct rk_sample s = decode(&w, &layout);
            assert_int_equal(s.branch_n, n);
            assert_int_equal(s.branch_hw_index, flags & BRANCH_HW_INDEX ? 31 : UINT64_MAX);
            assert_int_equal(s.weight, 99);
            if (n) {
                assert_int_equal(s.branches[n - 1].from, 0x1000 + n - 1);
                assert_int_equal(s.branches[n - 1].to, 0x2000 + n - 1);
                assert_int_equal(s.branches[n - 1].flags, n);
            }
            assert_int_equal(!s.branch_counters, !(flags & BRANCH_COUNTERS));
            if (n && s.branch_counters)
                assert_int_equal(s.branch_counters[n - 1], 0x55 + n - 1);
        }
    }
}

/* Where a driver took no stack at all the kernel writes nr = 0 and no index. */
static void branches_without_a_stack(void **state)
{
    (void)state;
    struct layout layout = layout_of(
        (struct perf_attr){.sample_type = RK_SAMPLE_BRANCH_STACK | RK_SAMPLE_WEIGHT | RK_SAMPLE_CGROUP,
                           .branch_sample_type = BRANCH_HW_INDEX});
    struct words w = {.n = 1};
    word(&w, 0);
    word(&w, 99);
    word(&w, 5);
    struct rk_sample s = decode(&w, &layout);
    assert_int_equal(s.branch_n, 0);
    assert_null(s.branches);
    assert_int_equal(s.branch_hw_index, UINT64_MAX);
    assert_int_equal(s.weight, 99);
    assert_int_equal(s.cgroup, 5);
}

static void registers(void **state)
{
    (void)state;
    struct layout layout = layout_of(
        (struct perf_attr){.sample_type = RK_SAMPLE_REGS_USER | RK_SAMPLE_REGS_INTR | RK_SAMPLE_PHYS_ADDR,
                           .sample_regs_user = 0x8000000000000005,
                           .sample_regs_intr = 2});
    struct words w = {.n = 1};
    word(&w, 0); /* ABI_NONE: a kernel thread */
    word(&w, 0);
    word(&w, 8);
    struct rk_sample s = decode(&w, &layout);
    assert_int_equal(s.regs_user_abi, 0);
    assert_null(s.regs_user);
    assert_null(s.regs_intr);
    assert_int_equal(s.phys_addr, 8);

    words_begin(&w);
    word(&w, 2);
    word(&w, 10);
    word(&w, 12);
    word(&w, 63);
    word(&w, 1);
    word(&w, 20);
    word(&w, 8);
    s = decode(&w, &layout);
    assert_int_equal(s.regs_user_abi, 2);
    assert_int_equal(s.regs_user_mask, 0x8000000000000005);
    assert_int_equal(s.regs_user[2], 63);
    assert_int_equal(s.regs_intr_abi, 1);
    assert_int_equal(s.regs_intr[0], 20);
    assert_int_equal(s.phys_addr, 8);
}

static void stack(void **state)
{
    (void)state;
    struct layout layout =
        layout_of((struct perf_attr){.sample_type = RK_SAMPLE_STACK_USER | RK_SAMPLE_TRANSACTION});
    struct words w = {.n = 1};
    word(&w, 0); /* no dyn_size behind it */
    word(&w, 6);
    struct rk_sample s = decode(&w, &layout);
    assert_int_equal(s.stack_bytes, 0);
    assert_int_equal(s.transaction, 6);

    words_begin(&w);
    word(&w, 16);
    word(&w, 0x1111);
    word(&w, 0x2222);
    word(&w, 9);
    word(&w, 6);
    s = decode(&w, &layout);
    assert_int_equal(s.stack_bytes, 16);
    assert_int_equal(s.stack_used, 9);
    assert_int_equal(s.stack[8], 0x22);
    assert_int_equal(s.transaction, 6);

    static const uint64_t hostile[][2] = {{16, 17}, {16, UINT64_MAX}, {12, 8}, {UINT64_MAX, 8}, {-8, 8}};
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        words_begin(&w);
        word(&w, hostile[i][0]);
        word(&w, 0);
        word(&w, 0);
        word(&w, hostile[i][1]);
        word(&w, 6);
        struct rk_record record = words_end(&w, RK_RECORD_SAMPLE, 0);
        assert_int_equal(layout_sample(&layout, &record, &s), -EBADMSG);
        record_free(&record);
    }
}

static void words_of_some_hardware(void **state)
{
    (void)state;
    for (int structured = 0; structured < 2; structured++) {
        uint64_t weight = structured ? RK_SAMPLE_WEIGHT_STRUCT : RK_SAMPLE_WEIGHT;
        struct layout layout = layout_of((struct perf_attr){
            .sample_type = weight | RK_SAMPLE_DATA_SRC | RK_SAMPLE_TRANSACTION | RK_SAMPLE_PHYS_ADDR |
                           RK_SAMPLE_CGROUP | RK_SAMPLE_DATA_PAGE_SIZE | RK_SAMPLE_CODE_PAGE_SIZE});
        struct words w = {.n = 1};
        for (uint64_t i = 1; i <= 7; i++)
            word(&w, i << 40 | i);
        struct rk_sample s = decode(&w, &layout);
        assert_int_equal(s.weight, UINT64_C(1) << 40 | 1);
        assert_int_equal(s.data_src, UINT64_C(2) << 40 | 2);
        assert_int_equal(s.transaction, UINT64_C(3) << 40 | 3);
        assert_int_equal(s.phys_addr, UINT64_C(4) << 40 | 4);
        assert_int_equal(s.cgroup, UINT64_C(5) << 40 | 5);
        assert_int_equal(s.data_page_size, UINT64_C(6) << 40 | 6);
        assert_int_equal(s.code_page_size, UINT64_C(7) << 40 | 7);
    }
    struct layout layout;
    struct perf_attr both = {.sample_type = RK_SAMPLE_WEIGHT | RK_SAMPLE_WEIGHT_STRUCT};
    assert_int_equal(layout_init(&layout, &both), -EINVAL);
}

/* Bit 20 of 24, and yet the last in a sample. */
static void aux_comes_last(void **state)
{
    (void)state;
    struct layout layout = layout_of(
        (struct perf_attr){.sample_type = RK_SAMPLE_AUX | RK_SAMPLE_CGROUP | RK_SAMPLE_CODE_PAGE_SIZE});
    for (uint64_t n = 0; n <= 16; n += 8) {
        struct words w = {.n = 1};
        word(&w, 11);
        word(&w, 4096);
        word(&w, n);
        for (uint64_t i = 0; i < n; i += 8)
            word(&w, 0xa0);
        struct rk_sample s = decode(&w, &layout);
        assert_int_equal(s.cgroup, 11);
        assert_int_equal(s.code_page_size, 4096);
        assert_int_equal(s.aux_bytes, n);
        if (n)
            assert_int_equal(s.aux[n - 8], 0xa0);
    }
}

/* Counts so large that their bytes overflow 64 bits. */
static void counts_that_overflow(void **state)
{
    (void)state;
    static const uint64_t counts[] = {UINT64_MAX, UINT64_C(1) << 61, UINT64_C(1) << 63, (UINT64_MAX / 24) + 1,
                                      3};
    static const uint64_t types[] = {RK_SAMPLE_CALLCHAIN, RK_SAMPLE_READ, RK_SAMPLE_BRANCH_STACK,
                                     RK_SAMPLE_AUX};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (size_t t = 0; t < sizeof types / sizeof *types; t++)
            for (unsigned flags = 0; flags < 4; flags++) {
                struct layout layout =
                    layout_of((struct perf_attr){.sample_type = types[t],
                                                 .read_format = FORMAT_GROUP | FORMAT_ID | FORMAT_LOST,
                                                 .branch_sample_type = (flags & 1 ? BRANCH_HW_INDEX : 0) |
                                                                       (flags & 2 ? BRANCH_COUNTERS : 0)});
                struct words w = {.n = 1};
                word(&w, counts[i]);
                if (types[t] != RK_SAMPLE_AUX) {
                    word(&w, 0);
                    word(&w, 0);
                }
                struct rk_record record = words_end(&w, RK_RECORD_SAMPLE, 0);
                struct rk_sample s = {.size = sizeof s};
                assert_int_equal(layout_sample(&layout, &record, &s), -EBADMSG);
                record_free(&record);
            }
}

static void of_a_later_kernel(void **state)
{
    (void)state;
    /* A bit that we don't know adds a field at the end: what we know is read, but not AUX, which is behind it. */
    struct layout layout = layout_of((struct perf_attr){.sample_type = RK_SAMPLE_IP | RK_SAMPLE_CGROUP |
                                                                       RK_SAMPLE_AUX | UINT64_C(1) << 40});
    struct words w = {.n = 1};
    word(&w, 1);
    word(&w, 2);
    word(&w, 3);
    word(&w, 0);
    struct rk_record record = words_end(&w, RK_RECORD_SAMPLE, 0);
    struct rk_sample s = {.size = sizeof s};
    assert_int_equal(layout_sample(&layout, &record, &s), 0);
    assert_int_equal(s.present, RK_SAMPLE_IP | RK_SAMPLE_CGROUP);
    assert_int_equal(s.ip, 1);
    assert_int_equal(s.cgroup, 2);
    record.type = RK_RECORD_MMAP;
    assert_int_equal(layout_sample(&layout, &record, &s), -EINVAL);
    record_free(&record);
}

/* A caller built against a shorter struct gets what fits, and no byte beyond. */
static void a_shorter_struct(void **state)
{
    (void)state;
    struct layout layout = layout_of((struct perf_attr){.sample_type = RK_SAMPLE_IP | RK_SAMPLE_CALLCHAIN});
    struct words w = {.n = 1};
    word(&w, 1);
    word(&w, 0);
    struct rk_record record = words_end(&w, RK_RECORD_SAMPLE, 0);
    struct rk_sample s;
    memset(&s, 0xee, sizeof s);
    s.size = offsetof(struct rk_sample, chain);
    assert_int_equal(layout_sample(&layout, &record, &s), 0);
    assert_int_equal(s.size, offsetof(struct rk_sample, chain));
    assert_int_equal(s.ip, 1);
    assert_int_equal(s.chain_n, 0xeeeeeeeeeeeeeeee);
    record_free(&record);
}

static void a_read_record(void **state)
{
    (void)state;
    struct layout layout = layout_of((struct perf_attr){.sample_type = RK_SAMPLE_TID | RK_SAMPLE_IDENTIFIER,
                                                        .read_format = FORMAT_ID,
                                                        .flags = ATTR_SAMPLE_ID_ALL});
    struct words w = {.n = 1};
    word(&w, pair(10, 11));
    word(&w, 1234);
    word(&w, 7);
    word(&w, pair(10, 11));
    word(&w, 7);
    struct rk_record record = words_end(&w, RK_RECORD_READ, 0);
    struct rk_sample s = {.size = sizeof s};
    struct rk_read read;
    assert_int_equal(layout_read(&layout, &record, &s), 0);
    assert_int_equal(s.pid, 10);
    assert_int_equal(s.tid, 11);
    assert_int_equal(rk_sample_read(&s, 0, &read), 0);
    assert_int_equal(read.value, 1234);
    assert_int_equal(read.id, 7);
    record_free(&record);
    for (size_t bytes = 8; bytes < w.n * 8; bytes++) {
        record = words_cut(&w, RK_RECORD_READ, 0, bytes);
        assert_int_equal(layout_read(&layout, &record, &s), -EBADMSG);
        record_free(&record);
    }
    record = words_end(&w, RK_RECORD_SAMPLE, 0);
    assert_int_equal(layout_read(&layout, &record, &s), -EINVAL);
    record_free(&record);
}

static uint64_t random_state = 88172645463325252;
static uint64_t random_word(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* A mask with few bits set. */
static uint64_t random_few(void)
{
    uint64_t a = random_word(), b = random_word(), c = random_word();
    return a & b & c;
}

/* A sample as perf_output_sample() writes it, field by field, of any attr. */
static void kernel_sample(struct words *w, const struct perf_attr *a)
{
    uint64_t t = a->sample_type, id = random_word(), n;

    words_begin(w);
    if (t & RK_SAMPLE_IDENTIFIER)
        word(w, id);
    for (unsigned bit = 0; bit < 4; bit++) /* IP, TID, TIME, ADDR */
        if (t >> bit & 1)
            word(w, random_word());
    if (t & RK_SAMPLE_ID)
        word(w, id);
    if (t & RK_SAMPLE_STREAM_ID)
        word(w, random_word());
    if (t & RK_SAMPLE_CPU)
        word(w, random_word() & UINT32_MAX);
    if (t & RK_SAMPLE_PERIOD)
        word(w, random_word());
    if (t & RK_SAMPLE_READ) {
        unsigned each = 1 + !!(a->read_format & FORMAT_ID) + !!(a->read_format & FORMAT_LOST);
        n = a->read_format & FORMAT_GROUP ? random_word() % 4 : 1;
        if (a->read_format & FORMAT_GROUP)
            word(w, n);
        n *= each;
        n += !!(a->read_format & FORMAT_ENABLED) + !!(a->read_format & FORMAT_RUNNING);
        while (n--)
            word(w, random_word());
    }
    if (t & RK_SAMPLE_CALLCHAIN)
        for (word(w, n = random_word() % 6); n; n--)
            word(w, random_word());
    if (t & RK_SAMPLE_RAW) {
        uint32_t size = 8 * (uint32_t)(random_word() % 4) + 4;
        word(w, pair(size, (uint32_t)random_word()));
        for (uint32_t i = 4; i < size; i += 8)
            word(w, random_word());
    }
    if (t & RK_SAMPLE_BRANCH_STACK) {
        word(w, n = random_word() % 4);
        if (a->branch_sample_type & BRANCH_HW_INDEX)
            word(w, random_word() & 31);
        for (uint64_t i = 0; i < n * (a->branch_sample_type & BRANCH_COUNTERS ? 4 : 3); i++)
            word(w, random_word());
    }
    if (t & RK_SAMPLE_REGS_USER) {
        word(w, n = random_word() % 3);
        for (int i = 0; n && i < __builtin_popcountll(a->sample_regs_user); i++)
            word(w, random_word());
    }
    if (t & RK_SAMPLE_STACK_USER) {
        word(w, n = random_word() % 3 * 8);
        for (uint64_t i = 0; i < n; i += 8)
            word(w, random_word());
        if (n)
            word(w, random_word() % (n + 1));
    }
    if (t & (RK_SAMPLE_WEIGHT | RK_SAMPLE_WEIGHT_STRUCT))
        word(w, random_word());
    if (t & RK_SAMPLE_DATA_SRC)
        word(w, random_word());
    if (t & RK_SAMPLE_TRANSACTION)
        word(w, random_word());
    if (t & RK_SAMPLE_REGS_INTR) {
        word(w, n = random_word() % 3);
        for (int i = 0; n && i < __builtin_popcountll(a->sample_regs_intr); i++)
            word(w, random_word());
    }
    if (t & RK_SAMPLE_PHYS_ADDR)
        word(w, random_word());
    if (t & RK_SAMPLE_CGROUP)
        word(w, random_word());
    if (t & RK_SAMPLE_DATA_PAGE_SIZE)
        word(w, random_word());
    if (t & RK_SAMPLE_CODE_PAGE_SIZE)
        word(w, random_word());
    if (t & RK_SAMPLE_AUX)
        for (word(w, n = random_word() % 4 * 8); n; n -= 8)
            word(w, random_word());
}

static struct perf_attr random_attr(void)
{
    struct perf_attr a = {
        .sample_type = random_word() & LAYOUT_KNOWN,
        .read_format = random_word() % 32,
        .branch_sample_type = random_word() & (BRANCH_HW_INDEX | BRANCH_COUNTERS),
        .sample_regs_user = random_few(),
        .sample_regs_intr = random_few(),
        .flags = random_word() & ATTR_SAMPLE_ID_ALL,
    };
    if (random_word() % 16 == 0)
        a.sample_type = LAYOUT_KNOWN;
    if (a.sample_type & RK_SAMPLE_WEIGHT)
        a.sample_type &= ~RK_SAMPLE_WEIGHT_STRUCT;
    return a;
}

/* encode(decode(x)) = x, whatever the attr; and what is damaged is refused or read, never overread. */
static void any_sample_there_and_back(void **state)
{
    (void)state;
    static unsigned char again[RECORD_BYTES_MAX];
    static struct words w;
    for (int round = 0; round < 20000; round++) {
        struct perf_attr attr = random_attr();
        struct layout layout = layout_of(attr);
        kernel_sample(&w, &attr);
        struct rk_record record = words_end(&w, RK_RECORD_SAMPLE, 1);
        struct rk_sample s = {.size = sizeof s};
        assert_int_equal(layout_sample(&layout, &record, &s), 0);
        assert_int_equal(encode_sample(&layout, 1, &s, again, sizeof again), record.bytes);
        assert_memory_equal(again, record.data, record.bytes);
        assert_int_equal(encode_sample(&layout, 1, &s, again, record.bytes), record.bytes);
        if (record.bytes > 8)
            assert_int_equal(encode_sample(&layout, 1, &s, again, record.bytes - 8u), -ENOSPC);
        record_free(&record);

        size_t at = w.n > 1 ? 1 + random_word() % (w.n - 1) : 0;
        w.at[at] = random_word() % 2 ? random_word() : UINT64_C(1) << random_word() % 64;
        record = words_cut(&w, RK_RECORD_SAMPLE, 1, 8 + random_word() % (w.n * 8 - 7));
        int r = layout_sample(&layout, &record, &s);
        assert_true(r == 0 || r == -EBADMSG);
        if (r == 0) /* every byte that it promises is there */
            assert_true(encode_sample(&layout, 1, &s, again, sizeof again) > 0);
        record_free(&record);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_bare_sample, forget),
        cmocka_unit_test_teardown(the_head, forget),
        cmocka_unit_test_teardown(idle_has_pid_minus_one, forget),
        cmocka_unit_test_teardown(read_alone, forget),
        cmocka_unit_test_teardown(read_group, forget),
        cmocka_unit_test_teardown(chain, forget),
        cmocka_unit_test_teardown(raw, forget),
        cmocka_unit_test_teardown(branches, forget),
        cmocka_unit_test_teardown(branches_without_a_stack, forget),
        cmocka_unit_test_teardown(registers, forget),
        cmocka_unit_test_teardown(stack, forget),
        cmocka_unit_test_teardown(words_of_some_hardware, forget),
        cmocka_unit_test_teardown(aux_comes_last, forget),
        cmocka_unit_test(counts_that_overflow),
        cmocka_unit_test(of_a_later_kernel),
        cmocka_unit_test(a_shorter_struct),
        cmocka_unit_test(a_read_record),
        cmocka_unit_test(any_sample_there_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

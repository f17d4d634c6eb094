/*
 * The records about the machine: canned bytes of each in its shortest and fullest form, with and without a trailer,
 * cut at every byte; and encode(decode(x)) = x.
 */
#include "record/encode.h"
#include "record/layout.h"

#include "words.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define IDENTITY                                                                           \
    (RK_SAMPLE_TID | RK_SAMPLE_TIME | RK_SAMPLE_ID | RK_SAMPLE_STREAM_ID | RK_SAMPLE_CPU | \
     RK_SAMPLE_IDENTIFIER)

/* Each is called with its record; returns what the decoder said, and encodes what it got into `buffer`. */
typedef int (*try_t)(const struct layout *, const struct rk_record *, void *buffer, int *ret_n);

#define TRY(name, kind, encode)                                                                      \
    static int try_##name(const struct layout *layout, const struct rk_record *r, void *b, int *ret) \
    {                                                                                                \
        struct kind decoded = {.size = sizeof decoded};                                              \
        int rc = rk_record_##name(r, &decoded);                                                      \
        if (rc == 0)                                                                                 \
            *ret = encode;                                                                           \
        return rc;                                                                                   \
    }
TRY(throttle, rk_throttle, encode_throttle(layout, r, r->type, &decoded, b, RECORD_BYTES_MAX))
TRY(aux, rk_aux, encode_aux(layout, r, &decoded, b, RECORD_BYTES_MAX))
TRY(itrace, rk_itrace, encode_itrace(layout, r, &decoded, b, RECORD_BYTES_MAX))
TRY(switch, rk_switch, encode_switch(layout, r, &decoded, b, RECORD_BYTES_MAX))
TRY(namespaces, rk_namespaces, encode_namespaces(layout, r, &decoded, b, RECORD_BYTES_MAX))
TRY(ksymbol, rk_ksymbol, encode_ksymbol(layout, r, &decoded, b, RECORD_BYTES_MAX))
TRY(bpf, rk_bpf, encode_bpf(layout, r, &decoded, b, RECORD_BYTES_MAX))
TRY(cgroup, rk_cgroup, encode_cgroup(layout, r, &decoded, b, RECORD_BYTES_MAX))
TRY(text_poke, rk_text_poke, encode_text_poke(layout, r, &decoded, b, RECORD_BYTES_MAX))
TRY(hw_id, rk_hw_id, encode_hw_id(layout, r, &decoded, b, RECORD_BYTES_MAX))
TRY(deferred, rk_deferred, encode_deferred(layout, r, &decoded, b, RECORD_BYTES_MAX))
TRY(task, rk_task, encode_task(layout, r, r->type, &decoded, b, RECORD_BYTES_MAX))
TRY(comm, rk_comm, encode_comm(layout, r, &decoded, b, RECORD_BYTES_MAX))
TRY(lost, rk_lost, encode_lost(layout, r, r->type, &decoded, b, RECORD_BYTES_MAX))
TRY(mapping, rk_mapping, encode_mapping(layout, r, &decoded, b, RECORD_BYTES_MAX))

static int try_read(const struct layout *layout, const struct rk_record *r, void *b, int *ret)
{
    struct rk_sample decoded = {.size = sizeof decoded};
    int rc = layout_read(layout, r, &decoded);
    if (rc == 0)
        *ret = encode_read(layout, r, &decoded, b, RECORD_BYTES_MAX);
    return rc;
}

/* A body as the ABI has it, its words; `needed` bytes of them must be there. */
static const struct form {
    const char *name;
    try_t decode;
    uint32_t type;
    uint16_t misc;
    uint64_t read_format;
    size_t n;
    uint64_t words[12];
} forms[] = {
    {"throttle", try_throttle, RK_RECORD_THROTTLE, 0, 0, 3, {1, 2, 3}},
    {"unthrottle", try_throttle, RK_RECORD_UNTHROTTLE, 0, 0, 3, {UINT64_MAX, 2, 3}},
    {"aux, empty", try_aux, RK_RECORD_AUX, 0, 0, 3, {0, 0, 0}},
    {"aux, free-running", try_aux, RK_RECORD_AUX, 2, 0, 3, {UINT64_MAX - 7, 4096, 0xff0f}},
    {"itrace", try_itrace, RK_RECORD_ITRACE_START, 0, 0, 1, {0x0000000600000005}},
    {"switch in", try_switch, RK_RECORD_SWITCH, 2, 0, 0, {0}},
    {"switch out", try_switch, RK_RECORD_SWITCH, 2 | 1 << 13 | 1 << 14, 0, 0, {0}},
    {"wide in", try_switch, RK_RECORD_SWITCH_CPU_WIDE, 1, 0, 1, {0xffffffffffffffff}},
    {"wide out", try_switch, RK_RECORD_SWITCH_CPU_WIDE, 1 | 1 << 13, 0, 1, {0x0000000600000005}},
    {"no namespaces", try_namespaces, RK_RECORD_NAMESPACES, 2, 0, 2, {5, 0}},
    {"namespaces",
     try_namespaces,
     RK_RECORD_NAMESPACES,
     2,
     0,
     6,
     {0x0000000600000005, 2, 3, 4026531840, 3, 9}},
    {"ksymbol, no name", try_ksymbol, RK_RECORD_KSYMBOL, 1, 0, 3, {0xffffffffc0000000, 0x10, 0}},
    {"ksymbol",
     try_ksymbol,
     RK_RECORD_KSYMBOL,
     1,
     0,
     4,
     {~0ull, 0x0001000200000040, 0x6f72705f66706221, 0x67}},
    {"bpf", try_bpf, RK_RECORD_BPF_EVENT, 0, 0, 2, {0x0000002a00000001, 0x0807060504030201}},
    {"bpf, full", try_bpf, RK_RECORD_BPF_EVENT, 0, 0, 2, {~0ull, ~0ull}},
    {"cgroup, no path", try_cgroup, RK_RECORD_CGROUP, 0, 0, 2, {1, 0}},
    {"cgroup", try_cgroup, RK_RECORD_CGROUP, 0, 0, 3, {77, 0x6c732e726573752f, 0x656369}},
    {"poke, nothing", try_text_poke, RK_RECORD_TEXT_POKE, 1, 0, 2, {0xffffffff81000000, 0}},
    {"poke",
     try_text_poke,
     RK_RECORD_TEXT_POKE,
     1,
     0,
     3,
     {0xffffffff81000000, 0x44001f0f00050005, 0x00001122334455e8}},
    {"hw id", try_hw_id, RK_RECORD_AUX_OUTPUT_HW_ID, 0, 0, 1, {5}},
    {"deferred, empty", try_deferred, RK_RECORD_CALLCHAIN_DEFERRED, 2, 0, 2, {9, 0}},
    {"deferred",
     try_deferred,
     RK_RECORD_CALLCHAIN_DEFERRED,
     2,
     0,
     5,
     {9, 3, RK_CHAIN_USER, 0x401000, 0x402000}},
    {"fork", try_task, RK_RECORD_FORK, 1 << 13, 0, 3, {0x0000000100000005, 0x0000000100000006, 99}},
    {"exit", try_task, RK_RECORD_EXIT, 0, 0, 3, {~0ull, ~0ull, ~0ull}},
    {"comm, none", try_comm, RK_RECORD_COMM, 0, 0, 2, {0x0000000600000005, 0}},
    {"comm", try_comm, RK_RECORD_COMM, 1 << 13, 0, 3, {5, 0x6867666564636261, 0x6f6e6d6c6b6a69}},
    {"lost", try_lost, RK_RECORD_LOST, 0, 0, 2, {7, 8}},
    {"lost samples", try_lost, RK_RECORD_LOST_SAMPLES, 0, 0, 1, {8}},
    {"mmap2, no path",
     try_mapping,
     RK_RECORD_MMAP2,
     2,
     0,
     9,
     {5, 0x1000, 0x1000, 0, 0x100000008, 7, 1, 5, 0}},
    {"mmap2, build-id",
     try_mapping,
     RK_RECORD_MMAP2,
     2 | 1 << 14,
     0,
     9,
     {5, 0x1000, 0x1000, 0, 0x0403020100000014, 0x0c0b0a0908070605, 0x14131211100f0e0d, 0x200000005, 0x612f}},
    {"read, one", try_read, RK_RECORD_READ, 0, 0, 2, {0x0000000600000005, 100}},
    {"read, all",
     try_read,
     RK_RECORD_READ,
     0,
     FORMAT_ENABLED | FORMAT_RUNNING | FORMAT_ID | FORMAT_LOST,
     6,
     {0x0000000600000005, 100, 20, 10, 42, 1}},
    {"read, empty group", try_read, RK_RECORD_READ, 0, FORMAT_GROUP, 2, {5, 0}},
    {"read, group",
     try_read,
     RK_RECORD_READ,
     0,
     FORMAT_GROUP | FORMAT_ENABLED | FORMAT_RUNNING | FORMAT_ID | FORMAT_LOST,
     10,
     {5, 2, 20, 10, 100, 42, 1, 200, 43, 0}},
};

static void round_trips(void **state)
{
    (void)state;
    static _Alignas(8) unsigned char buffer[RECORD_BYTES_MAX];
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        for (int full = 0; full < 2; full++) {
            const struct form *form = &forms[i];
            struct perf_attr attr = {.sample_type = full ? IDENTITY : RK_SAMPLE_IP,
                                     .read_format = form->read_format,
                                     .flags = full ? ATTR_SAMPLE_ID_ALL : 0};
            struct layout layout;
            struct words w = {.n = 1};
            assert_int_equal(layout_init(&layout, &attr), 0);
            for (size_t k = 0; k < form->n; k++)
                word(&w, form->words[k]);
            for (int k = 0; full && k < 6; k++) /* pid tid, time, id, stream id, cpu, identifier */
                word(&w, k == 0 ? pair(11, 12) : k == 1 ? 1000 : k == 4 ? 3 : 42);
            struct rk_record r = words_end(&w, form->type, form->misc);
            int n = -1;
            assert_int_equal(layout_identity(&layout, &r), 0);
            assert_int_equal(r.time, full ? 1000 : 0);
            if (form->decode(&layout, &r, buffer, &n) != 0)
                fail_msg("%s: not decoded", form->name);
            if (n != r.bytes || memcmp(buffer, r.data, (size_t)n) != 0)
                fail_msg("%s%s: encode(decode(x)) is not x (%d bytes of %d)", form->name,
                         full ? ", full" : "", n, r.bytes);
            record_free(&r);
        }
}

/* Cut at every byte of the body, in memory of just that size: refused, never read beyond. */
static void cut_anywhere(void **state)
{
    (void)state;
    static _Alignas(8) unsigned char buffer[RECORD_BYTES_MAX];
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const struct form *form = &forms[i];
        struct perf_attr attr = {.sample_type = RK_SAMPLE_IP, .read_format = form->read_format};
        struct layout layout;
        struct words w = {.n = 1};
        layout_init(&layout, &attr);
        for (size_t k = 0; k < form->n; k++)
            word(&w, form->words[k]);
        for (size_t bytes = 8; bytes + 8 <= w.n * 8; bytes++) {
            struct rk_record r = words_cut(&w, form->type, form->misc, bytes);
            int n = 0, rc = form->decode(&layout, &r, buffer, &n);
            if (rc != -EBADMSG) /* the last word of a text may be padding */
                fail_msg("%s cut at %zu: %d", form->name, bytes, rc);
            record_free(&r);
        }
        struct rk_record other = words_end(&w, 40, form->misc);
        int n = 0;
        assert_int_equal(form->decode(&layout, &other, buffer, &n), -EINVAL);
        record_free(&other);
    }
}

/* Counts that lead beyond any record must not wrap to something small. */
static void counts_that_overflow(void **state)
{
    (void)state;
    static const uint64_t counts[] = {UINT64_MAX, UINT64_MAX / 8, UINT64_MAX / 16 + 1, UINT64_C(1) << 60, 3};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct words w = {.n = 1};
        struct rk_namespaces namespaces = {.size = sizeof namespaces};
        struct rk_deferred deferred = {.size = sizeof deferred};
        word(&w, 5);
        word(&w, counts[i]);
        word(&w, 1);
        word(&w, 2);
        struct rk_record r = words_end(&w, RK_RECORD_NAMESPACES, 0);
        assert_int_equal(rk_record_namespaces(&r, &namespaces), -EBADMSG);
        record_free(&r);
        r = words_end(&w, RK_RECORD_CALLCHAIN_DEFERRED, 0);
        assert_int_equal(rk_record_deferred(&r, &deferred), -EBADMSG);
        record_free(&r);
    }
}

static void what_they_say(void **state)
{
    (void)state;
    struct words w = {.n = 1};
    struct rk_ksymbol symbol = {.size = sizeof symbol};
    word(&w, 0xffffffffc0001000);
    word(&w, 0x0001000100000040);
    word_bytes(&w, "bpf_prog_1", 11);
    struct rk_record r = words_end(&w, RK_RECORD_KSYMBOL, 0);
    assert_int_equal(rk_record_ksymbol(&r, &symbol), 0);
    assert_int_equal(symbol.address, 0xffffffffc0001000);
    assert_int_equal(symbol.length, 0x40);
    assert_int_equal(symbol.kind, 1);
    assert_int_equal(symbol.flags, 1);
    assert_string_equal(symbol.name, "bpf_prog_1");
    record_free(&r);

    struct rk_text_poke poke = {.size = sizeof poke};
    words_begin(&w);
    word(&w, 0x1000);
    word_bytes(&w,
               "\x02\x00\x03\x00"
               "abcde",
               9);
    r = words_end(&w, RK_RECORD_TEXT_POKE, 0);
    assert_int_equal(rk_record_text_poke(&r, &poke), 0);
    assert_memory_equal(poke.old_code, "ab", 2);
    assert_memory_equal(poke.new_code, "cde", 3);
    record_free(&r);

    struct rk_switch change = {.size = sizeof change};
    words_begin(&w);
    word(&w, pair(7, 8));
    r = words_end(&w, RK_RECORD_SWITCH_CPU_WIDE, RK_MISC_SWITCH_OUT | RK_MISC_SWITCH_PREEMPT);
    assert_int_equal(rk_record_switch(&r, &change), 0);
    assert_int_equal(change.out, 1);
    assert_int_equal(change.preempted, 1);
    assert_int_equal(change.other_pid, 7);
    assert_int_equal(change.other_tid, 8);
    record_free(&r);
}

/* A chain taken in the kernel, and its user part, which comes later. */
static void joined(void **state)
{
    (void)state;
    static const uint64_t taken[] = {RK_CHAIN_KERNEL, 0xffffffff81000000, RK_CHAIN_USER_DEFERRED, 77};
    static const uint64_t user[] = {RK_CHAIN_USER, 0x401000, 0x402000};
    static const uint64_t whole[] = {RK_CHAIN_KERNEL, 0xffffffff81000000, RK_CHAIN_USER, 0x401000, 0x402000};
    struct rk_sample sample = {
        .size = sizeof sample, .present = RK_SAMPLE_CALLCHAIN, .chain = taken, .chain_n = 4};
    struct rk_deferred deferred = {.size = sizeof deferred, .cookie = 77, .chain = user, .chain_n = 3};
    uint64_t cookie = 0, chain[8];

    assert_int_equal(rk_sample_cookie(&sample, &cookie), 0);
    assert_int_equal(cookie, 77);
    for (uint64_t room = 0; room <= 6; room++) {
        memset(chain, 0xee, sizeof chain);
        assert_int_equal(rk_sample_join(&sample, &deferred, chain, room), 5);
        uint64_t stored = room < 5 ? room : 5;
        assert_memory_equal(chain, whole, stored * 8);
        assert_int_equal(chain[stored], 0xeeeeeeeeeeeeeeee);
    }
    deferred.cookie = 78;
    assert_int_equal(rk_sample_join(&sample, &deferred, chain, 8), -EINVAL);
    sample.chain_n = 2;
    assert_int_equal(rk_sample_cookie(&sample, &cookie), -ENOENT);
    sample.present = 0;
    sample.chain = NULL;
    assert_int_equal(rk_sample_cookie(&sample, &cookie), -ENOENT);
    assert_int_equal(rk_sample_join(&sample, &deferred, chain, 8), -EINVAL);
}

static void too_long_to_write(void **state)
{
    (void)state;
    static _Alignas(8) unsigned char buffer[RECORD_BYTES_MAX];
    static uint64_t words[9000];
    struct layout layout;
    layout_init(&layout, &(struct perf_attr){.sample_type = RK_SAMPLE_IP});
    struct rk_record from = {0};
    struct rk_deferred deferred = {.chain = words, .chain_n = 9000};
    assert_int_equal(encode_deferred(&layout, &from, &deferred, buffer, sizeof buffer), -EMSGSIZE);
    deferred.chain_n = UINT64_MAX / 8 + 2;
    assert_int_equal(encode_deferred(&layout, &from, &deferred, buffer, sizeof buffer), -EMSGSIZE);
    deferred.chain_n = 2;
    assert_int_equal(encode_deferred(&layout, &from, &deferred, buffer, 39), -ENOSPC);
    assert_int_equal(encode_deferred(&layout, &from, &deferred, buffer, 40), 40);
    assert_int_equal(encode_cgroup(&layout, &from, &(struct rk_cgroup){0}, buffer, sizeof buffer), -EINVAL);
    assert_int_equal(encode_throttle(&layout, &from, 9, &(struct rk_throttle){0}, buffer, sizeof buffer),
                     -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(counts_that_overflow),
        cmocka_unit_test(what_they_say),
        cmocka_unit_test(joined),
        cmocka_unit_test(too_long_to_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

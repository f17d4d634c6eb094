/*
 * Bytes to records without a stream, and back: canned records, as a kernel writes them on a little-endian machine.
 */
#include "base/abi.h"

#include <reckon/record.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define USUAL \
    (RK_SAMPLE_IDENTIFIER | RK_SAMPLE_IP | RK_SAMPLE_TID | RK_SAMPLE_TIME | RK_SAMPLE_CPU | RK_SAMPLE_PERIOD)

static struct rk_layout *open_layout(uint64_t sample, uint64_t flags, uint64_t period)
{
    struct perf_attr attr = {
        .size = sizeof attr, .sample_type = sample, .flags = flags, .sample_period = period};
    struct rk_layout *layout = NULL;
    assert_int_equal(rk_layout_open(&attr, sizeof attr, &layout, NULL), 0);
    return layout;
}

/* A sample and a COMM, one behind the other. */
static const uint64_t canned[] = {
    9 | UINT64_C(2) << 32 | UINT64_C(56) << 48, /* SAMPLE, user, 56 bytes */
    77,
    0x401000,
    4711 | UINT64_C(4712) << 32,
    1000,
    3,
    50000,
    3 | UINT64_C(56) << 48, /* COMM */
    1 | UINT64_C(2) << 32,
    0x74696e69, /* "init" */
    1 | UINT64_C(2) << 32,
    2000,
    5,
    77,
};

static void records_and_samples(void **state)
{
    struct rk_layout *layout = open_layout(USUAL, ATTR_SAMPLE_ID_ALL, 50000);
    struct rk_sample sample = {.size = sizeof sample};
    struct rk_comm comm = {.size = sizeof comm};
    struct rk_record r;
    (void)state;
    assert_int_equal(rk_layout_record(layout, canned, sizeof canned, &r), 1);
    assert_int_equal(r.type, RK_RECORD_SAMPLE);
    assert_int_equal(r.misc & RK_MISC_MODE, RK_MODE_USER);
    assert_int_equal(r.bytes, 56);
    assert_int_equal(r.id, 77);
    assert_int_equal(rk_layout_sample(layout, &r, &sample), 0);
    assert_int_equal(sample.ip, 0x401000);
    assert_int_equal(sample.pid, 4711);
    assert_int_equal(sample.tid, 4712);
    assert_int_equal(sample.time, 1000);
    assert_int_equal(sample.cpu, 3);
    assert_int_equal(sample.period, 50000);
    assert_int_equal(rk_layout_record(layout, canned + 7, sizeof canned - 56, &r), 1);
    assert_int_equal(r.type, RK_RECORD_COMM);
    assert_int_equal(r.time, 2000);
    assert_int_equal(r.cpu, 5);
    assert_int_equal(rk_layout_sample(layout, &r, &sample), -EINVAL);
    assert_int_equal(rk_record_comm(&r, &comm), 0);
    assert_string_equal(comm.name, "init");
    for (size_t n = 0; n < 56; n++) /* fewer bytes than it has */
        assert_int_equal(rk_layout_record(layout, canned, n, &r), 0);
    rk_layout_free(layout);
}

static void damaged_records(void **state)
{
    struct rk_layout *layout = open_layout(USUAL, ATTR_SAMPLE_ID_ALL, 1);
    uint64_t bytes[16] = {0};
    struct rk_record r = {.type = 99};
    (void)state;
    assert_int_equal(rk_layout_record(layout, bytes, sizeof bytes, &r), -EBADMSG); /* size 0 */
    bytes[0] = 9 | UINT64_C(12) << 48;
    assert_int_equal(rk_layout_record(layout, bytes, sizeof bytes, &r), -EBADMSG);
    bytes[0] = 9 | UINT64_C(16) << 48; /* shorter than its layout's head */
    assert_int_equal(rk_layout_record(layout, bytes, sizeof bytes, &r), -EBADMSG);
    assert_int_equal(rk_layout_record(layout, (const char *)bytes + 4, 64, &r), -EINVAL);
    assert_int_equal(r.type, 99);
    rk_layout_free(layout);
}

static void there_and_back(void **state)
{
    struct rk_layout *layout = open_layout(USUAL | RK_SAMPLE_CALLCHAIN, ATTR_SAMPLE_ID_ALL, 1);
    uint64_t buffer[64], chain[] = {RK_CHAIN_USER, 0x1000, 0x2000};
    struct rk_sample in = {.size = sizeof in,
                           .present = USUAL | RK_SAMPLE_CALLCHAIN,
                           .ip = 0x1000,
                           .id = 5,
                           .pid = 1,
                           .tid = 2,
                           .time = 3,
                           .cpu = 4,
                           .period = 6,
                           .chain = chain,
                           .chain_n = 3};
    struct rk_sample out = {.size = sizeof out};
    struct rk_record from = {.type = RK_RECORD_SAMPLE, .misc = RK_MODE_USER}, r;
    struct rk_task task = {
        .size = sizeof task, .pid = 8, .parent_pid = 7, .tid = 8, .parent_tid = 7, .time = 9};
    struct rk_task back = {.size = sizeof back};
    (void)state;
    int n = rk_layout_encode(layout, &from, &in, buffer, sizeof buffer);
    assert_int_equal(n, 56 + 8 + 24);
    assert_int_equal(rk_layout_record(layout, buffer, (size_t)n, &r), 1);
    assert_int_equal(rk_layout_sample(layout, &r, &out), 0);
    assert_int_equal(out.ip, 0x1000);
    assert_int_equal(out.chain_n, 3);
    assert_memory_equal(out.chain, chain, sizeof chain);
    assert_int_equal(rk_layout_encode(layout, &from, &in, buffer, 80), -ENOSPC);
    in.present &= ~RK_SAMPLE_CALLCHAIN;
    assert_int_equal(rk_layout_encode(layout, &from, &in, buffer, sizeof buffer), -EINVAL);

    from = (struct rk_record){.type = RK_RECORD_FORK, .pid = 8, .tid = 8, .time = 9, .cpu = 1, .id = 5};
    n = rk_layout_encode(layout, &from, &task, buffer, sizeof buffer);
    assert_true(n > 0);
    assert_int_equal(rk_layout_record(layout, buffer, (size_t)n, &r), 1);
    assert_int_equal(r.id, 5);
    assert_int_equal(rk_record_task(&r, &back), 0);
    assert_memory_equal(&task, &back, sizeof task);

    from.type = RK_RECORD_MMAP;
    assert_int_equal(rk_layout_encode(layout, &from, &task, buffer, sizeof buffer), -EINVAL);
    rk_layout_free(layout);
}

static void attrs(void **state)
{
    struct perf_attr attr = {.sample_type = RK_SAMPLE_WEIGHT | RK_SAMPLE_WEIGHT_STRUCT};
    struct rk_layout *layout = NULL;
    struct rk_error e = RK_INIT(e);
    char longer[sizeof attr + 64] = {0};
    (void)state;
    assert_int_equal(rk_layout_open(&attr, sizeof attr, &layout, &e), -EINVAL);
    assert_int_equal(rk_layout_open(&attr, 63, &layout, &e), -EINVAL);
    assert_int_equal(rk_layout_open(NULL, 64, &layout, &e), -EINVAL);
    assert_null(layout);
    assert_int_equal(rk_layout_open(&attr, 64, &layout, &e), -EINVAL);
    assert_int_equal(rk_layout_open(longer, sizeof longer, &layout, &e), 0);
    assert_null(rk_layout_free(layout));
    assert_null(rk_layout_free(NULL));
}

static void names(void **state)
{
    (void)state;
    assert_string_equal(rk_mode_name(RK_MODE_GUEST_USER), "guest-user");
    assert_string_equal(rk_mode_name(6), "unknown");
    assert_string_equal(rk_ksymbol_kind_name(RK_KSYMBOL_BPF), "bpf");
    assert_string_equal(rk_bpf_kind_name(RK_BPF_UNLOADED), "unloaded");
    assert_string_equal(rk_branch_type_name(RK_BRANCH_RETURN), "return");
    assert_string_equal(rk_branch_type_name(RK_BRANCH_EXTENDED), "unknown");
    assert_string_equal(rk_speculation_name(RK_SPECULATION_WRONG_PATH), "wrong path");
    assert_string_equal(rk_privilege_name(RK_PRIVILEGE_KERNEL), "kernel");
    assert_string_equal(rk_privilege_name(99), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_and_samples),
        cmocka_unit_test(damaged_records),
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(attrs),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

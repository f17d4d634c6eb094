/* Identities, ids, and the records that are not samples: canned bytes of each form, cut at every byte. */
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

static struct layout layout_of(uint64_t sample_type, uint64_t flags)
{
    struct layout layout;
    struct perf_attr attr = {.sample_type = sample_type, .flags = flags};
    assert_int_equal(layout_init(&layout, &attr), 0);
    return layout;
}

static void names(void **state)
{
    (void)state;
    assert_string_equal(rk_record_type_name(RK_RECORD_MMAP2), "MMAP2");
    assert_string_equal(rk_record_type_name(RK_RECORD_CALLCHAIN_DEFERRED), "CALLCHAIN_DEFERRED");
    assert_string_equal(rk_record_type_name(0), "UNKNOWN");
    assert_string_equal(rk_record_type_name(23), "UNKNOWN");
    assert_string_equal(rk_record_type_name(UINT32_MAX), "UNKNOWN");
    for (uint32_t type = 1; type <= 22; type++)
        assert_string_not_equal(rk_record_type_name(type), "UNKNOWN");
}

static void trailer_of_any_fields(void **state)
{
    (void)state;
    static const uint64_t bits[] = {RK_SAMPLE_TID,       RK_SAMPLE_TIME, RK_SAMPLE_ID,
                                    RK_SAMPLE_STREAM_ID, RK_SAMPLE_CPU,  RK_SAMPLE_IDENTIFIER};
    for (unsigned which = 0; which < 64; which++) {
        uint64_t type = RK_SAMPLE_IP | RK_SAMPLE_ADDR; /* of samples only */
        struct words w = {.n = 1};
        word(&w, 0xbad); /* a body of any length */
        for (unsigned i = 0; i < 6; i++) {
            if (!(which >> i & 1))
                continue;
            type |= bits[i];
            word(&w, bits[i] == RK_SAMPLE_TID         ? pair(5, 6)
                     : bits[i] == RK_SAMPLE_TIME      ? 1000
                     : bits[i] == RK_SAMPLE_CPU       ? 3
                     : bits[i] == RK_SAMPLE_STREAM_ID ? 8
                                                      : 7);
        }
        struct layout layout = layout_of(type, ATTR_SAMPLE_ID_ALL);
        struct rk_record r = words_end(&w, RK_RECORD_THROTTLE, 0);
        uint64_t id;
        assert_int_equal(layout_identity(&layout, &r), 0);
        uint64_t present = type & (RK_SAMPLE_TID | RK_SAMPLE_TIME | RK_SAMPLE_CPU);
        if (type & (RK_SAMPLE_ID | RK_SAMPLE_IDENTIFIER))
            present |= type & RK_SAMPLE_IDENTIFIER ? RK_SAMPLE_IDENTIFIER : RK_SAMPLE_ID;
        assert_int_equal(r.present, present);
        assert_int_equal(r.pid, type & RK_SAMPLE_TID ? 5 : 0);
        assert_int_equal(r.tid, type & RK_SAMPLE_TID ? 6 : 0);
        assert_int_equal(r.time, type & RK_SAMPLE_TIME ? 1000 : 0);
        assert_int_equal(r.cpu, type & RK_SAMPLE_CPU ? 3 : 0);
        assert_int_equal(r.id, type & (RK_SAMPLE_ID | RK_SAMPLE_IDENTIFIER) ? 7 : 0);
        if (r.id) {
            assert_int_equal(layout_id(&layout, (const struct perf_header *)(const void *)r.data, &id), 0);
            assert_int_equal(id, 7);
        } else {
            assert_int_equal(layout_id(&layout, (const struct perf_header *)(const void *)r.data, &id),
                             -ENOENT);
        }
        record_free(&r);

        r = words_cut(&w, RK_RECORD_THROTTLE, 0, layout.trailer_bytes + 8u); /* no body at all */
        assert_int_equal(layout_identity(&layout, &r), 0);
        record_free(&r);
        if (!layout.trailer_bytes)
            continue;
        r = words_cut(&w, RK_RECORD_THROTTLE, 0, layout.trailer_bytes);
        assert_int_equal(layout_identity(&layout, &r), -EBADMSG);
        assert_int_equal(r.present, 0);
        record_free(&r);
    }
}

static void what_has_no_trailer(void **state)
{
    (void)state;
    struct layout all = layout_of(IDENTITY, ATTR_SAMPLE_ID_ALL), none = layout_of(IDENTITY, 0);
    struct words w = {.n = 1};
    uint64_t id;
    for (int i = 0; i < 8; i++)
        word(&w, 99);
    struct rk_record r = words_end(&w, 68, 0); /* the tool's own */
    const struct perf_header *header = (const struct perf_header *)(const void *)r.data;
    assert_int_equal(layout_identity(&all, &r), 0);
    assert_int_equal(r.present, 0);
    assert_int_equal(layout_id(&all, header, &id), -ENOENT);
    record_free(&r);

    r = words_end(&w, RK_RECORD_COMM, 0);
    header = (const struct perf_header *)(const void *)r.data;
    assert_int_equal(layout_identity(&none, &r), 0);
    assert_int_equal(r.present, 0);
    assert_int_equal(layout_id(&none, header, &id), -ENOENT);
    assert_int_equal(layout_identity(NULL, &r), 0);
    assert_int_equal(r.present, 0);
    record_free(&r);

    r = words_end(&w, 40, 0); /* a later kernel's */
    assert_int_equal(layout_identity(&all, &r), 0);
    assert_int_equal(r.time, 99);
    record_free(&r);
}

/* An id is found although the record is of another event, whose head is shorter. */
static void id_before_the_event_is_known(void **state)
{
    (void)state;
    struct layout longer = layout_of(IDENTITY | RK_SAMPLE_PERIOD | RK_SAMPLE_ADDR, ATTR_SAMPLE_ID_ALL);
    struct layout shorter = layout_of(RK_SAMPLE_IDENTIFIER | RK_SAMPLE_IP, ATTR_SAMPLE_ID_ALL);
    struct layout by_id = layout_of(RK_SAMPLE_IP | RK_SAMPLE_ID, ATTR_SAMPLE_ID_ALL);
    struct words w = {.n = 1};
    uint64_t id = 0;
    word(&w, 42);
    word(&w, 0x401000);
    struct rk_record r = words_end(&w, RK_RECORD_SAMPLE, 0);
    assert_true(layout_same_id(&longer, &shorter));
    assert_false(layout_same_id(&longer, &by_id));
    assert_int_equal(layout_id(&longer, (const struct perf_header *)(const void *)r.data, &id), 0);
    assert_int_equal(id, 42);
    record_free(&r);

    words_begin(&w);
    word(&w, 43);
    r = words_end(&w, RK_RECORD_UNTHROTTLE, 0);
    assert_int_equal(layout_id(&longer, (const struct perf_header *)(const void *)r.data, &id), 0);
    assert_int_equal(id, 43);
    record_free(&r);
    for (size_t bytes = 8; bytes < 16; bytes++)
        for (uint32_t type = 9; type < 11; type++) {
            r = words_cut(&w, type, 0, bytes);
            assert_int_equal(layout_id(&longer, (const struct perf_header *)(const void *)r.data, &id),
                             -EBADMSG);
            assert_int_equal(id, 43);
            record_free(&r);
        }
}

static void a_record_from_its_header(void **state)
{
    (void)state;
    struct layout layout = layout_of(RK_SAMPLE_TIME | RK_SAMPLE_TID, ATTR_SAMPLE_ID_ALL);
    struct words w = {.n = 1};
    word(&w, pair(1, 2));
    word(&w, 500);
    struct rk_record from = words_end(&w, RK_RECORD_SAMPLE, 2), r;
    assert_int_equal(layout_record(&layout, (const struct perf_header *)(const void *)from.data, &r), 0);
    assert_int_equal(r.type, RK_RECORD_SAMPLE);
    assert_int_equal(r.misc, 2);
    assert_int_equal(r.bytes, 24);
    assert_int_equal(r.event, RK_NO_EVENT);
    assert_ptr_equal(r.data, from.data);
    assert_int_equal(r.tid, 2);
    assert_int_equal(r.time, 500);
    record_free(&from);
}

static void mapping(void **state)
{
    (void)state;
    struct words w = {.n = 1};
    struct rk_mapping m = {.size = sizeof m};
    word(&w, pair((uint32_t)-1, 0));
    word(&w, 0xffffffff81000000);
    word(&w, 0x1000000);
    word(&w, 0xffffffff81000000);
    word_bytes(&w, "[kernel.kallsyms]_text", 23);
    struct rk_record r = words_end(&w, RK_RECORD_MMAP, 1);
    assert_int_equal(rk_record_mapping(&r, &m), 0);
    assert_int_equal(m.pid, -1);
    assert_int_equal(m.start, 0xffffffff81000000);
    assert_int_equal(m.length, 0x1000000);
    assert_int_equal(m.file_offset, 0xffffffff81000000);
    assert_string_equal(m.path, "[kernel.kallsyms]_text");
    assert_int_equal(m.build_id_bytes, 0);
    record_free(&r);

    words_begin(&w);
    word(&w, pair(10, 11));
    word(&w, 0x400000);
    word(&w, 0x2000);
    word(&w, 0x1000);
    word(&w, pair(8, 1));
    word(&w, 123456);
    word(&w, 9);
    word(&w, pair(5, 2));
    word_bytes(&w, "/bin/true", 10);
    r = words_end(&w, RK_RECORD_MMAP2, 2);
    assert_int_equal(rk_record_mapping(&r, &m), 0);
    assert_int_equal(m.tid, 11);
    assert_int_equal(m.major, 8);
    assert_int_equal(m.minor, 1);
    assert_int_equal(m.inode, 123456);
    assert_int_equal(m.inode_generation, 9);
    assert_int_equal(m.protection, 5);
    assert_int_equal(m.flags, 2);
    assert_string_equal(m.path, "/bin/true");
    assert_null(m.build_id);
    record_free(&r);
    for (size_t bytes = 8; bytes < 72 + 10; bytes++) { /* its NUL is the last that it needs */
        r = words_cut(&w, RK_RECORD_MMAP2, 2, bytes);
        m.pid = 77;
        assert_int_equal(rk_record_mapping(&r, &m), -EBADMSG);
        assert_int_equal(m.pid, 77);
        record_free(&r);
    }

    /* The same bytes, with a build-id where the inode was. */
    memcpy(&w.at[5], "\x14\0\0\0abcdefghijklmnopqrst", 24);
    r = words_end(&w, RK_RECORD_MMAP2, 2 | RK_MISC_BUILD_ID);
    assert_int_equal(rk_record_mapping(&r, &m), 0);
    assert_int_equal(m.build_id_bytes, 20);
    assert_memory_equal(m.build_id, "abcdefghijklmnopqrst", 20);
    assert_int_equal(m.inode, 0);
    assert_int_equal(m.protection, 5);
    record_free(&r);

    /* The bit that the kernel left from another event, over a device: 254:0, as virtio disks have; 0:26; 259:0. */
    static const uint32_t majors[] = {254, 0, 259, 21};
    for (size_t i = 0; i < sizeof majors / sizeof *majors; i++) {
        w.at[5] = pair(majors[i], 26);
        w.at[6] = 123456;
        w.at[7] = 9;
        r = words_end(&w, RK_RECORD_MMAP2, 2 | RK_MISC_BUILD_ID);
        m = (struct rk_mapping){.size = sizeof m};
        assert_int_equal(rk_record_mapping(&r, &m), 0);
        assert_int_equal(m.build_id_bytes, 0);
        assert_null(m.build_id);
        assert_int_equal(m.major, majors[i]);
        assert_int_equal(m.minor, 26);
        assert_int_equal(m.inode, 123456);
        assert_int_equal(m.protection, 5);
        record_free(&r);
    }
    r = words_end(&w, RK_RECORD_COMM, 2);
    assert_int_equal(rk_record_mapping(&r, &m), -EINVAL);
    record_free(&r);
}

static void comm(void **state)
{
    (void)state;
    struct words w = {.n = 1};
    struct rk_comm c = {.size = sizeof c};
    word(&w, pair(3, 4));
    word_bytes(&w, "fifteen-letters", 16);
    struct rk_record r = words_end(&w, RK_RECORD_COMM, RK_MISC_COMM_EXEC);
    assert_int_equal(rk_record_comm(&r, &c), 0);
    assert_int_equal(c.pid, 3);
    assert_int_equal(c.tid, 4);
    assert_string_equal(c.name, "fifteen-letters");
    record_free(&r);
    for (size_t bytes = 8; bytes < w.n * 8; bytes++) {
        r = words_cut(&w, RK_RECORD_COMM, 0, bytes);
        assert_int_equal(rk_record_comm(&r, &c), -EBADMSG);
        record_free(&r);
    }
    memset(&w.at[2], 'x', 16); /* a name without its end */
    r = words_end(&w, RK_RECORD_COMM, 0);
    assert_int_equal(rk_record_comm(&r, &c), -EBADMSG);
    r.type = RK_RECORD_EXIT;
    assert_int_equal(rk_record_comm(&r, &c), -EINVAL);
    record_free(&r);
}

static void task_and_loss(void **state)
{
    (void)state;
    struct words w = {.n = 1};
    struct rk_task t = {.size = sizeof t};
    struct rk_lost l = {.size = sizeof l};
    word(&w, pair(1, 2));
    word(&w, pair(3, 4));
    word(&w, 5000);
    static const uint32_t types[] = {RK_RECORD_FORK, RK_RECORD_EXIT};
    for (size_t i = 0; i < 2; i++) {
        struct rk_record r = words_end(&w, types[i], 0);
        assert_int_equal(rk_record_task(&r, &t), 0);
        assert_int_equal(t.pid, 1);
        assert_int_equal(t.parent_pid, 2);
        assert_int_equal(t.tid, 3);
        assert_int_equal(t.parent_tid, 4);
        assert_int_equal(t.time, 5000);
        assert_int_equal(rk_record_lost(&r, &l), -EINVAL);
        record_free(&r);
        r = words_cut(&w, types[i], 0, 31);
        assert_int_equal(rk_record_task(&r, &t), -EBADMSG);
        record_free(&r);
    }
    words_begin(&w);
    word(&w, 7);
    word(&w, 300);
    struct rk_record r = words_end(&w, RK_RECORD_LOST, 0);
    assert_int_equal(rk_record_lost(&r, &l), 0);
    assert_int_equal(l.id, 7);
    assert_int_equal(l.count, 300);
    r.bytes = 16;
    assert_int_equal(rk_record_lost(&r, &l), -EBADMSG);
    r.type = RK_RECORD_LOST_SAMPLES;
    assert_int_equal(rk_record_lost(&r, &l), 0);
    assert_int_equal(l.id, 0);
    assert_int_equal(l.count, 7);
    assert_int_equal(rk_record_task(&r, &t), -EINVAL);
    record_free(&r);
}

/* What we write, the decoders read, with its trailer; a room too small by any amount is refused. */
static void written_records_read_back(void **state)
{
    (void)state;
    static uint64_t buffer[RECORD_BYTES_MAX / 8];
    const struct perf_header *header = (const struct perf_header *)(const void *)buffer;
    struct rk_record from = {.misc = 2, .pid = 1, .tid = 2, .time = 3, .cpu = 4, .id = 5}, r;
    struct rk_mapping m = {.size = sizeof m,
                           .pid = 10,
                           .tid = 11,
                           .start = 0x1000,
                           .length = 0x2000,
                           .file_offset = 0x3000,
                           .major = 8,
                           .minor = 1,
                           .inode = 99,
                           .inode_generation = 1,
                           .protection = 5,
                           .flags = 2,
                           .path = "/usr/bin/something"},
                      m2 = {.size = sizeof m2};
    struct rk_comm c = {.size = sizeof c, .pid = 10, .tid = 11, .name = "sh"}, c2 = {.size = sizeof c2};
    struct rk_task t = {.size = sizeof t, .pid = 1, .parent_pid = 2, .tid = 3, .parent_tid = 4, .time = 5},
                   t2 = {.size = sizeof t2};
    struct rk_lost l = {.size = sizeof l, .id = 5, .count = 17}, l2 = {.size = sizeof l2};

    for (uint64_t type = 0; type <= IDENTITY; type += IDENTITY) {
        struct layout layout = layout_of(type, ATTR_SAMPLE_ID_ALL);
        uint64_t present = type ? RK_SAMPLE_TID | RK_SAMPLE_TIME | RK_SAMPLE_CPU | RK_SAMPLE_IDENTIFIER : 0;
        int n = encode_mapping(&layout, &from, &m, buffer, sizeof buffer);
        assert_int_equal(n, 72 + 24 + layout.trailer_bytes);
        assert_int_equal(n, header->size);
        assert_int_equal(layout_record(&layout, header, &r), 0);
        assert_int_equal(r.present, present);
        assert_int_equal(r.misc, 2);
        if (present) {
            assert_int_equal(r.tid, 2);
            assert_int_equal(r.time, 3);
            assert_int_equal(r.cpu, 4);
            assert_int_equal(r.id, 5);
        }
        assert_int_equal(rk_record_mapping(&r, &m2), 0);
        assert_string_equal(m2.path, m.path);
        m2.path = m.path;
        assert_memory_equal(&m2, &m, sizeof m);
        for (int room = 0; room < n; room++)
            assert_int_equal(encode_mapping(&layout, &from, &m, buffer, (size_t)room), -ENOSPC);

        assert_true(encode_comm(&layout, &from, &c, buffer, sizeof buffer) > 0);
        assert_int_equal(layout_record(&layout, header, &r), 0);
        assert_int_equal(r.present, present);
        assert_int_equal(rk_record_comm(&r, &c2), 0);
        assert_int_equal(c2.tid, 11);
        assert_string_equal(c2.name, "sh");

        assert_true(encode_task(&layout, &from, RK_RECORD_FORK, &t, buffer, sizeof buffer) > 0);
        assert_int_equal(layout_record(&layout, header, &r), 0);
        assert_int_equal(r.type, RK_RECORD_FORK);
        assert_int_equal(rk_record_task(&r, &t2), 0);
        assert_memory_equal(&t2, &t, sizeof t);

        assert_true(encode_lost(&layout, &from, RK_RECORD_LOST, &l, buffer, sizeof buffer) > 0);
        assert_int_equal(layout_record(&layout, header, &r), 0);
        assert_int_equal(rk_record_lost(&r, &l2), 0);
        assert_memory_equal(&l2, &l, sizeof l);
        assert_true(encode_lost(&layout, &from, RK_RECORD_LOST_SAMPLES, &l, buffer, sizeof buffer) > 0);
        assert_int_equal(layout_record(&layout, header, &r), 0);
        assert_int_equal(rk_record_lost(&r, &l2), 0);
        assert_int_equal(l2.count, 17);
    }
}

static void build_ids_and_refusals(void **state)
{
    (void)state;
    static uint64_t buffer[RECORD_BYTES_MAX / 8];
    static char name[70000];
    const struct perf_header *header = (const struct perf_header *)(const void *)buffer;
    struct layout layout = layout_of(0, 0);
    struct rk_record from = {.misc = 1}, r;
    struct rk_mapping m = {.size = sizeof m, .build_id = (const unsigned char *)"12345678", .path = "x"};
    struct rk_comm c = {.size = sizeof c, .name = name};

    m.build_id_bytes = 8; /* shorter than SHA-1, as lld's --build-id=fast */
    assert_int_equal(encode_mapping(&layout, &from, &m, buffer, sizeof buffer), 80);
    assert_int_equal(header->misc, 1 | RK_MISC_BUILD_ID);
    assert_int_equal(layout_record(&layout, header, &r), 0);
    assert_int_equal(rk_record_mapping(&r, &m), 0);
    assert_int_equal(m.build_id_bytes, 8);
    assert_memory_equal(m.build_id, "12345678\0\0\0\0\0\0\0\0\0\0\0\0", 20);
    m.build_id_bytes = 21;
    assert_int_equal(encode_mapping(&layout, &from, &m, buffer, sizeof buffer), -EINVAL);
    m.build_id_bytes = 0;
    m.path = NULL;
    assert_int_equal(encode_mapping(&layout, &from, &m, buffer, sizeof buffer), -EINVAL);

    memset(name, 'n', sizeof name - 1);
    assert_int_equal(encode_comm(&layout, &from, &c, buffer, sizeof buffer), -EMSGSIZE);
    name[RECORD_BYTES_MAX - 16 - 1] = '\0';
    assert_int_equal(encode_comm(&layout, &from, &c, buffer, sizeof buffer), RECORD_BYTES_MAX);
    c.name = NULL;
    assert_int_equal(encode_comm(&layout, &from, &c, buffer, sizeof buffer), -EINVAL);
    assert_int_equal(encode_task(&layout, &from, RK_RECORD_COMM, &(struct rk_task){0}, buffer, sizeof buffer),
                     -EINVAL);
    assert_int_equal(encode_lost(&layout, &from, RK_RECORD_COMM, &(struct rk_lost){0}, buffer, sizeof buffer),
                     -EINVAL);
}

/* A sample that lacks what the layout asks for, or has it in another shape, is not made up. */
static void samples_that_do_not_fit(void **state)
{
    (void)state;
    static uint64_t buffer[RECORD_BYTES_MAX / 8], words[8192];
    struct perf_attr attr = {.sample_type = LAYOUT_KNOWN & ~RK_SAMPLE_WEIGHT,
                             .read_format = FORMAT_GROUP,
                             .branch_sample_type = BRANCH_COUNTERS,
                             .sample_regs_user = 3,
                             .sample_regs_intr = 3};
    struct layout layout, chain_only = layout_of(RK_SAMPLE_CALLCHAIN, 0);
    assert_int_equal(layout_init(&layout, &attr), 0);
    struct rk_sample good = {.size = sizeof good,
                             .present = attr.sample_type,
                             .read_format = FORMAT_GROUP,
                             .read_words = words,
                             .regs_user_abi = 2,
                             .regs_user_mask = 3,
                             .regs_user = words,
                             .regs_intr_abi = 2,
                             .regs_intr_mask = 3,
                             .regs_intr = words},
                     s;
    assert_true(encode_sample(&layout, 0, &good, buffer, sizeof buffer) > 0);
#define REFUSED(change, code)                                                         \
    do {                                                                              \
        s = good;                                                                     \
        change;                                                                       \
        assert_int_equal(encode_sample(&layout, 0, &s, buffer, sizeof buffer), code); \
    } while (0)
    REFUSED(s.present &= ~RK_SAMPLE_CGROUP, -EINVAL);
    REFUSED(s.read_format = 0, -EINVAL);
    REFUSED(s.read_words = NULL, -EINVAL);
    REFUSED(s.regs_user_mask = 7, -EINVAL);
    REFUSED(s.regs_user = NULL, -EINVAL);
    REFUSED(s.chain_n = 1, -EINVAL);
    REFUSED(s.raw_bytes = 1, -EINVAL);
    REFUSED(s.stack_bytes = 8, -EINVAL);
    REFUSED(s.aux_bytes = 8, -EINVAL);
    REFUSED(s.regs_intr_mask = 7, -EINVAL);
    REFUSED(s.stack_bytes = 7, -EINVAL);
    REFUSED(s.stack_used = 8, -EINVAL);
    REFUSED(s.branch_n = 1, -EINVAL);
    REFUSED((s.branch_n = 1, s.branches = (const struct rk_branch *)words), -EINVAL);
    REFUSED((s.raw_bytes = UINT64_C(1) << 32, s.raw = (const void *)words), -EMSGSIZE);
    REFUSED((s.branch_n = UINT64_MAX / 24 + 1, s.branches = (void *)words, s.branch_counters = words),
            -EMSGSIZE);
    REFUSED(s.read_n = UINT64_MAX, -EMSGSIZE);
    REFUSED((s.chain_n = UINT64_MAX / 8 + 1, s.chain = words), -EMSGSIZE);
    REFUSED((s.chain_n = 8192, s.chain = words), -EMSGSIZE);

    /* The file's layout may have fewer fields than the kernel's. */
    s = good;
    s.chain = words;
    s.chain_n = 8189;
    assert_int_equal(encode_sample(&chain_only, 0, &s, buffer, sizeof buffer), RECORD_BYTES_MAX);
    s.chain_n = 8190;
    assert_int_equal(encode_sample(&chain_only, 0, &s, buffer, sizeof buffer), -EMSGSIZE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(trailer_of_any_fields),
        cmocka_unit_test(what_has_no_trailer),
        cmocka_unit_test(id_before_the_event_is_known),
        cmocka_unit_test(a_record_from_its_header),
        cmocka_unit_test(mapping),
        cmocka_unit_test(comm),
        cmocka_unit_test(task_and_loss),
        cmocka_unit_test(written_records_read_back),
        cmocka_unit_test(build_ids_and_refusals),
        cmocka_unit_test(samples_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What is written reads back; what a kill leaves reads back up to the last flush; what can't be written is said. */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void there_and_back(void **state)
{
    (void)state;
    int fd = small_file(500);
    struct perfdata_reader *r;
    struct perfdata_info info;
    assert_int_equal(perfdata_reader_open_fd(fd, "small", &r, NULL), 0);
    perfdata_reader_info(r, &info);
    assert_string_equal(info.host, "box");
    assert_string_equal(info.kernel, "6.18.0");
    assert_string_equal(info.tool, "reckon 0.1");
    assert_string_equal(info.architecture, "x86_64");
    assert_string_equal(info.command, "reckon record a b true");
    assert_string_equal(info.ledger, "kept 17\nlost 0 of 17\n");
    assert_int_equal(info.cpus_available, 8);
    assert_int_equal(info.cpus_online, 6);
    assert_int_equal(info.first_time, 1000);
    assert_int_equal(info.last_time, 2000);
    assert_true(info.finished);
    assert_false(info.pipe);

    assert_int_equal(perfdata_reader_events(r), 2);
    const struct perfdata_event *event = perfdata_reader_event(r, 0);
    assert_string_equal(event->name, "cpu-clock:u");
    assert_int_equal(event->ids_n, 2);
    assert_int_equal(event->ids[1], 12);
    assert_int_equal(event->attr.size, 128);
    assert_int_equal(event->attr.sample_type, 0x10007);
    assert_string_equal(perfdata_reader_event(r, 1)->name, "page-faults");
    assert_null(perfdata_reader_event(r, 2));
    assert_int_equal(perfdata_reader_find(r, 12), 0);
    assert_int_equal(perfdata_reader_find(r, 13), 1);
    assert_int_equal(perfdata_reader_find(r, 14), UINT32_MAX);

    const struct perfdata_build_id *ids;
    assert_int_equal(perfdata_reader_build_ids(r, &ids), 2);
    assert_int_equal(ids[0].bytes, 20);
    assert_int_equal(ids[0].misc, 2);
    assert_int_equal(ids[0].pid, -1);
    assert_memory_equal(ids[0].id, "0123456789abcdefghij", 20);
    assert_string_equal(ids[0].path, "/bin/true");
    assert_int_equal(ids[1].bytes, 8);
    assert_string_equal(ids[1].path, "[kernel.kallsyms]");

    const struct perf_header *record;
    uint64_t offset, next = 0;
    for (size_t i = 0; i < 500; i++) {
        assert_int_equal(perfdata_reader_next(r, &record, &offset), 1);
        assert_int_equal(record->type, 9);
        assert_int_equal(record->size, 8 + 8 * (i % 63));
        if (i)
            assert_int_equal(offset, next);
        next = offset + record->size;
        for (size_t k = 1; k < record->size / 8u; k++)
            assert_int_equal(((const uint64_t *)record)[k], i << 32 | k);
    }
    assert_int_equal(perfdata_reader_next(r, &record, &offset), 1);
    assert_int_equal(record->type, PERFDATA_FINISHED_ROUND);
    assert_int_equal(perfdata_reader_next(r, &record, &offset), 0);
    assert_int_equal(perfdata_reader_next(r, &record, &offset), 0);
    assert_false(perfdata_reader_cut(r));
    uint64_t done, bytes = perfdata_reader_bytes(r, &done);
    assert_int_equal(bytes, done);
    assert_int_equal(perfdata_reader_explain(r, NULL), -ENOENT);
    perfdata_reader_close(r);
    close(fd);
}

/* More than the windows of either side, in pieces of every length. */
static void a_long_file(void **state)
{
    (void)state;
    struct perf_attr attr = {.type = PERF_RAW, .config = 0x1a8};
    struct perfdata_writer_event event = {&attr, NULL, 0, "r1a8"};
    struct perfdata_writer *w;
    int fd = memfd_create("perf.data", MFD_CLOEXEC);
    size_t n = 6 << 20, at = 0;
    unsigned char *records = malloc(n + 65536);
    uint64_t random = 3;
    size_t records_n = 0;
    while (at < n) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        size_t size = random >> 60 == 0 ? 65528 : 8 + (random >> 33) % 200 * 8;
        struct perf_header header = {1 + records_n % 20, 0, (uint16_t)size};
        memset(records + at, (int)(records_n & 0xff), size);
        memcpy(records + at, &header, sizeof header);
        at += size;
        records_n++;
        if (at + 65528 > n + 65536)
            break;
    }
    n = at;
    assert_int_equal(perfdata_writer_open(fd, &event, 1, &w, NULL), 0);
    uint64_t front = perfdata_writer_bytes(w);
    for (at = 0; at < n;) {
        size_t piece = 0;
        random = random * 6364136223846793005u + 1442695040888963407u;
        size_t want = random >> 62 == 0 ? 400000 : random >> 55;
        do { /* whole records */
            struct perf_header header;
            memcpy(&header, records + at + piece, sizeof header);
            piece += header.size;
        } while (piece < want && at + piece < n);
        assert_int_equal(perfdata_writer_append(w, records + at, piece), 0);
        at += piece;
        if (random >> 33 & 1)
            assert_int_equal(perfdata_writer_flush(w), 0);
        assert_int_equal(perfdata_writer_bytes(w), front + at);
    }
    assert_int_equal(perfdata_writer_finish(w, NULL), 0);
    perfdata_writer_close(w);

    struct perfdata_reader *r;
    const struct perf_header *record;
    uint64_t offset;
    assert_int_equal(perfdata_reader_open_fd(fd, "long", &r, NULL), 0);
    at = 0;
    while (perfdata_reader_next(r, &record, &offset) == 1) {
        assert_int_equal(offset, front + at);
        assert_int_equal((uintptr_t)record % 8, 0);
        assert_memory_equal(record, records + at, record->size);
        at += record->size;
        records_n--;
    }
    assert_int_equal(at, n);
    assert_int_equal(records_n, 0);
    assert_false(perfdata_reader_cut(r));
    perfdata_reader_close(r);
    free(records);
    close(fd);
}

static size_t count_records(int fd, bool *ret_cut)
{
    struct perfdata_reader *r;
    const struct perf_header *record;
    uint64_t offset;
    size_t n = 0;
    assert_int_equal(perfdata_reader_open_fd(fd, "killed", &r, NULL), 0);
    while (perfdata_reader_next(r, &record, &offset) == 1)
        n++;
    *ret_cut = perfdata_reader_cut(r);
    perfdata_reader_close(r);
    return n;
}

/* The file as it is on disk at each moment, which a kill would leave. */
static void what_a_kill_leaves(void **state)
{
    (void)state;
    struct perf_attr attr = {.type = PERF_SOFTWARE};
    uint64_t id = 5, record[4] = {0};
    struct perfdata_writer_event event = {&attr, &id, 1, "cpu-clock"};
    struct perfdata_writer *w;
    int fd = memfd_create("perf.data", MFD_CLOEXEC);
    bool cut;
    memcpy(record, &(struct perf_header){9, 2, 32}, 8);
    assert_int_equal(perfdata_writer_open(fd, &event, 1, &w, NULL), 0);
    assert_int_equal(count_records(fd, &cut), 0);
    assert_true(cut);
    assert_int_equal(perfdata_writer_append(w, record, 32), 0);
    assert_int_equal(count_records(fd, &cut), 0); /* not yet written */
    assert_int_equal(perfdata_writer_flush(w), 0);
    assert_int_equal(count_records(fd, &cut), 1);
    assert_true(cut);
    /* A megabyte later some of it is in the file, and the header does not tell of it. */
    for (int i = 0; i < 32768; i++)
        assert_int_equal(perfdata_writer_append(w, record, 32), 0);
    assert_true(lseek(fd, 0, SEEK_END) > 500000);
    assert_int_equal(count_records(fd, &cut), 1);
    assert_int_equal(perfdata_writer_flush(w), 0);
    assert_int_equal(count_records(fd, &cut), 32769);
    assert_true(cut);
    assert_int_equal(perfdata_writer_finish(w, NULL), 0);
    assert_int_equal(count_records(fd, &cut), 32769);
    assert_false(cut);
    perfdata_writer_close(w);
    close(fd);
}

static void nothing_recorded(void **state)
{
    (void)state;
    struct perf_attr attr = {.type = PERF_SOFTWARE};
    struct perfdata_writer_event event = {&attr, NULL, 0, "cpu-clock"};
    struct perfdata_writer *w;
    int fd = memfd_create("perf.data", MFD_CLOEXEC);
    bool cut;
    assert_int_equal(perfdata_writer_open(fd, &event, 1, &w, NULL), 0);
    assert_int_equal(perfdata_writer_finish(w, NULL), 0);
    perfdata_writer_close(w);
    assert_int_equal(count_records(fd, &cut), 1); /* a round, so that the data is not empty */
    assert_false(cut);
    close(fd);
}

/* perf 6.1 reads no attr above 128 bytes: longer ones only where something is in the tail. */
static void attrs_no_longer_than_need_be(void **state)
{
    (void)state;
    for (int longer = 0; longer < 3; longer++) {
        struct perf_attr attrs[2] = {{.type = PERF_SOFTWARE, .sig_data = 9},
                                     {.type = 8, .config3 = longer == 1, .config4 = longer == 2}};
        uint64_t ids[] = {1, 2};
        struct perfdata_writer_event events[] = {{&attrs[0], ids, 1, "a"}, {&attrs[1], ids + 1, 1, "b"}};
        struct perfdata_writer *w;
        struct perfdata_reader *r;
        int fd = memfd_create("perf.data", MFD_CLOEXEC);
        assert_int_equal(perfdata_writer_open(fd, events, 2, &w, NULL), 0);
        assert_int_equal(perfdata_writer_finish(w, NULL), 0);
        perfdata_writer_close(w);
        bytes_t b = bytes_of(fd);
        assert_int_equal(header_of(&b)->attr_size, 128 + 8 * longer + 16);
        vector_free(&b);
        assert_int_equal(perfdata_reader_open_fd(fd, "attrs", &r, NULL), 0);
        for (size_t i = 0; i < 2; i++) {
            struct perf_attr want = attrs[i];
            want.size = (uint32_t)(128 + 8 * longer);
            assert_memory_equal(&perfdata_reader_event(r, i)->attr, &want, sizeof want);
            assert_int_equal(perfdata_reader_event(r, i)->ids[0], i + 1);
        }
        perfdata_reader_close(r);
        close(fd);
    }
}

static void no_space(void **state)
{
    (void)state;
    struct perf_attr attr = {.type = PERF_SOFTWARE};
    struct perfdata_writer_event event = {&attr, NULL, 0, "cpu-clock"};
    struct perfdata_writer *w = NULL;
    struct rk_error e = {.size = sizeof e};
    int full = open("/dev/full", O_RDWR | O_CLOEXEC);
    if (full < 0)
        skip();
    assert_int_equal(perfdata_writer_open(full, &event, 1, &w, &e), -ENOSPC);
    assert_int_equal(e.cause, RK_CAUSE_NO_SPACE);
    assert_int_equal(e.stage, RK_STAGE_CAPTURE);
    assert_true(e.remedy[0]);
    assert_null(w);

    /* The disk fills up later: the first error stays, and the file is what the last flush made it. */
    int fd = memfd_create("perf.data", MFD_CLOEXEC);
    uint64_t record[4] = {0};
    memcpy(record, &(struct perf_header){9, 2, 32}, 8);
    assert_int_equal(perfdata_writer_open(fd, &event, 1, &w, &e), 0);
    assert_int_equal(perfdata_writer_append(w, record, 32), 0);
    assert_int_equal(perfdata_writer_flush(w), 0);
    assert_int_equal(perfdata_writer_append(w, record, 32), 0);
    int kept = dup(fd);
    assert_int_equal(dup2(full, fd), fd);
    assert_int_equal(perfdata_writer_flush(w), -ENOSPC);
    assert_int_equal(perfdata_writer_append(w, record, 32), -ENOSPC);
    assert_int_equal(perfdata_writer_round(w), -ENOSPC);
    assert_int_equal(perfdata_writer_finish(w, &e), -ENOSPC);
    assert_int_equal(e.cause, RK_CAUSE_NO_SPACE);
    perfdata_writer_close(w);
    bool cut;
    assert_int_equal(count_records(kept, &cut), 1);
    assert_true(cut);
    close(fd);
    close(kept);
    close(full);
}

static void wrong_arguments(void **state)
{
    (void)state;
    struct perf_attr attr = {.type = PERF_SOFTWARE};
    struct perfdata_writer_event event = {&attr, NULL, 0, "cpu-clock"};
    struct perfdata_writer *w = NULL;
    int fd = memfd_create("perf.data", MFD_CLOEXEC);
    static char path[70000];
    assert_int_equal(perfdata_writer_open(fd, &event, 0, &w, NULL), -EINVAL);
    assert_int_equal(perfdata_writer_open(fd, &event, 1, &w, NULL), 0);
    assert_int_equal(perfdata_writer_text(w, 256, "x"), -EINVAL);
    assert_int_equal(perfdata_writer_list(w, 300, NULL, 0), -EINVAL);
    assert_int_equal(perfdata_writer_ledger(w, "two words", "x"), -EINVAL);
    assert_int_equal(perfdata_writer_ledger(w, "", "x"), -EINVAL);
    assert_int_equal(perfdata_writer_ledger(w, "key", "x\ny"), -EINVAL);
    assert_int_equal(perfdata_writer_build_id(w, -1, 1, path, 0, "x"), -EINVAL);
    assert_int_equal(perfdata_writer_build_id(w, -1, 1, path, 21, "x"), -EINVAL);
    memset(path, 'p', sizeof path - 1);
    assert_int_equal(perfdata_writer_build_id(w, -1, 1, path, 20, path), -EINVAL);
    /* The later value counts. */
    assert_int_equal(perfdata_writer_text(w, FEATURE_HOSTNAME, "first"), 0);
    assert_int_equal(perfdata_writer_text(w, FEATURE_HOSTNAME, "second"), 0);
    assert_int_equal(perfdata_writer_finish(w, NULL), 0);
    perfdata_writer_close(w);
    assert_null(perfdata_writer_close(NULL));
    struct perfdata_reader *r;
    struct perfdata_info info;
    assert_int_equal(perfdata_reader_open_fd(fd, "x", &r, NULL), 0);
    perfdata_reader_info(r, &info);
    assert_string_equal(info.host, "second");
    perfdata_reader_close(r);
    close(fd);
}

/* What is reckon's own has no bit in the header, at which perf inject would die, and is missed where it is damaged. */
static void own_features(void **state)
{
    (void)state;
    int fd = small_file(10);
    bytes_t b = bytes_of(fd);
    const uint64_t *bits = header_of(&b)->features;
    assert_true(bits[0] > 0);
    assert_int_equal(bits[FEATURE_OWN / 64], 0);
    assert_int_equal(bits[3], 0);

    uint64_t *own = (uint64_t *)(void *)(b.items + header_of(&b)->data.offset + header_of(&b)->data.size) +
                    2 * (size_t)__builtin_popcountll(bits[0]);
    assert_int_equal(own[0], PERFDATA_OWN_MAGIC);
    assert_int_equal(own[1], 2);
    assert_int_equal(own[2], FEATURE_NAMES); /* for names that may come later */
    assert_int_equal(own[4], 0);
    assert_int_equal(own[5], FEATURE_LEDGER);

    const struct {
        size_t word;
        uint64_t value;
        bool whole, ledger;
    } cases[] = {{1, 2, true, true},   {0, 0, true, false},   {1, 129, false, false},
                 {5, 12, true, false}, {5, 254, true, false}, {6, UINT64_MAX, false, false},
                 {1, 1, true, false},  {1, 0, true, false},   {7, UINT64_MAX, false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct perfdata_reader *r;
        struct perfdata_info info;
        uint64_t was = own[cases[i].word];
        own[cases[i].word] = cases[i].value;
        int changed = file_of(b.items, b.n);
        own[cases[i].word] = was;
        assert_int_equal(perfdata_reader_open_fd(changed, "x", &r, NULL), 0);
        perfdata_reader_info(r, &info);
        assert_int_equal(info.finished, cases[i].whole);
        assert_string_equal(info.ledger, cases[i].ledger ? "kept 17\nlost 0 of 17\n" : "");
        perfdata_reader_close(r);
        close(changed);
    }

    /* The first recordings: a bit of the header, the last one, and its section the last of the table. */
    memmove(own, own + 6, 2 * sizeof *own);
    header_of(&b)->features[3] = UINT64_C(1) << 63;
    int first = file_of(b.items, b.n);
    struct perfdata_reader *r;
    struct perfdata_info info;
    assert_int_equal(perfdata_reader_open_fd(first, "x", &r, NULL), 0);
    perfdata_reader_info(r, &info);
    assert_string_equal(info.ledger, "kept 17\nlost 0 of 17\n");
    assert_true(info.finished);
    perfdata_reader_close(r);
    close(first);
    close(fd);
    free(b.items);
}

/* Pipe mode: the same records, names and features; the reader wants nothing that a pipe can't give. */
static void pipes(void **state)
{
    (void)state;
    static const uint64_t ids[] = {11, 12, 13};
    static const struct perf_attr attr = {.type = 8, .sample_type = 0x10007, .flags = ATTR_SAMPLE_ID_ALL};
    const struct perfdata_writer_event events[] = {{&attr, ids, 2, "probe:a"},
                                                   {&attr, ids + 2, 1, "probe:b"}};
    static const char *const words[] = {"reckon", "record"};

    for (int level = 0; level < 2; level++) {
        int fd = memfd_create("pipe", MFD_CLOEXEC);
        struct perfdata_writer *w;
        int r = perfdata_writer_start(
            fd, events, 2, &(struct perfdata_writer_options){.pipe = true, .level = level}, &w, NULL);
        if (r == -EOPNOTSUPP)
            skip();
        assert_int_equal(r, 0);
        for (uint64_t i = 0; i < 50000; i++) {
            uint64_t record[3] = {0, i, i};
            memcpy(record, &(struct perf_header){9, 2, sizeof record}, 8);
            assert_int_equal(perfdata_writer_append(w, record, sizeof record), 0);
            if (i % 10000 == 0) {
                assert_int_equal(perfdata_writer_round(w), 0);
                assert_int_equal(perfdata_writer_flush(w), 0);
            }
        }
        assert_int_equal(perfdata_writer_text(w, FEATURE_HOSTNAME, "box"), 0);
        assert_int_equal(perfdata_writer_list(w, FEATURE_CMDLINE, words, 2), 0);
        assert_int_equal(perfdata_writer_build_id(w, -1, 2, "0123456789abcdefghij", 20, "/bin/true"), 0);
        assert_int_equal(perfdata_writer_ledger(w, "clean", "1"), 0);
        assert_int_equal(perfdata_writer_finish(w, NULL), 0);
        assert_int_equal(lseek(fd, 0, SEEK_CUR), perfdata_writer_bytes(w)); /* written in a row */
        perfdata_writer_close(w);

        struct perfdata_reader *reader;
        const struct perf_header *record;
        struct perfdata_info info;
        const struct perfdata_build_id *build_ids;
        uint64_t offset, n = 0;
        assert_int_equal(perfdata_reader_open_fd(fd, "pipe", &reader, NULL), 0);
        assert_int_equal(perfdata_reader_events(reader), 2);
        assert_string_equal(perfdata_reader_event(reader, 0)->name, "probe:a");
        assert_string_equal(perfdata_reader_event(reader, 1)->name, "probe:b");
        assert_int_equal(perfdata_reader_find(reader, 13), 1);
        while ((r = perfdata_reader_next(reader, &record, &offset)) == 1)
            if (record->type == 9) {
                uint64_t number;
                memcpy(&number, record + 1, 8);
                assert_int_equal(number, n++);
            }
        assert_int_equal(r, 0);
        assert_int_equal(n, 50000);
        assert_false(perfdata_reader_cut(reader));
        perfdata_reader_info(reader, &info);
        assert_string_equal(info.host, "box");
        assert_string_equal(info.command, "reckon record");
        assert_int_equal(info.compressed, level);
        assert_int_equal(perfdata_reader_build_ids(reader, &build_ids), 1);
        perfdata_reader_close(reader);
        close(fd);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(a_long_file),
        cmocka_unit_test(what_a_kill_leaves),
        cmocka_unit_test(nothing_recorded),
        cmocka_unit_test(attrs_no_longer_than_need_be),
        cmocka_unit_test(no_space),
        cmocka_unit_test(wrong_arguments),
        cmocka_unit_test(own_features),
        cmocka_unit_test(pipes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

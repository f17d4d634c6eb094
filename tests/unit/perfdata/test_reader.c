/* Files of others, pipes, and everything that a file can do wrong. */
#include "files.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Opens and reads to the end. What opening or reading said, and how many records came. */
static int read_all(int fd, size_t *ret_n, bool *ret_cut, struct rk_error *e)
{
    struct perfdata_reader *r;
    const struct perf_header *record;
    uint64_t offset, last = 0;
    int k = perfdata_reader_open_fd(fd, "test", &r, e);

    *ret_n = 0;
    *ret_cut = false;
    if (k < 0)
        return k;
    while ((k = perfdata_reader_next(r, &record, &offset)) == 1) {
        assert_true(record->size >= 8);
        assert_int_equal((uintptr_t)record % 8, 0);
        assert_true(offset >= last);
        last = perfdata_reader_again(r) ? offset + record->size
                                        : offset; /* packed: that of the record around it */
        (*ret_n)++;
    }
    assert_int_equal(perfdata_reader_next(r, &record, &offset), k); /* and so for ever */
    if (k < 0 && e)
        assert_int_equal(perfdata_reader_explain(r, e), 0);
    *ret_cut = perfdata_reader_cut(r);
    perfdata_reader_close(r);
    return k;
}

static int read_bytes(const bytes_t *b, size_t *ret_n, bool *ret_cut, struct rk_error *e)
{
    int fd = file_of(b->items, b->n), k = read_all(fd, ret_n, ret_cut, e);
    close(fd);
    return k;
}

static bytes_t small_bytes(size_t n)
{
    int fd = small_file(n);
    bytes_t b = bytes_of(fd);
    close(fd);
    return b;
}

static void cut_at_every_byte(void **state)
{
    (void)state;
    bytes_t b = small_bytes(20);
    uint64_t data = header_of(&b)->data.offset, end = data + header_of(&b)->data.size;
    size_t n, most = 0;
    bool cut;
    for (size_t bytes = 0; bytes < b.n; bytes++) {
        bytes_t part = {b.items, bytes, bytes};
        int k = read_bytes(&part, &n, &cut, NULL);
        if (bytes < data) {
            assert_int_equal(k, -EBADMSG);
            continue;
        }
        assert_int_equal(k, 0);
        assert_true(cut);
        assert_true(n >= most);
        most = n;
        if (bytes >= end)
            assert_int_equal(n, 21);
    }
    assert_int_equal(read_bytes(&b, &n, &cut, NULL), 0);
    assert_int_equal(n, 21);
    assert_false(cut);
    vector_free(&b);
}

/* Each byte of a file set to values that tend to hurt. */
static void any_byte_wrong(void **state)
{
    (void)state;
    bytes_t b = small_bytes(5);
    static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
    size_t n;
    bool cut;
    for (size_t at = 0; at < b.n; at++)
        for (size_t v = 0; v < sizeof values; v++) {
            unsigned char was = b.items[at];
            b.items[at] = values[v];
            int k = read_bytes(&b, &n, &cut, NULL);
            assert_true(k == 0 || k == -EBADMSG || k == -EOPNOTSUPP);
            b.items[at] = was;
        }
    vector_free(&b);
}

static void any_words_wrong(void **state)
{
    (void)state;
    bytes_t b = small_bytes(5), damaged = {0};
    uint64_t random = 1;
    size_t n;
    bool cut;
    for (int round = 0; round < 5000; round++) {
        damaged.n = 0;
        add(&damaged, b.items, b.n);
        for (int i = 0; i < 3; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            uint64_t value = random >> 62 == 0   ? UINT64_MAX
                             : random >> 62 == 1 ? UINT64_C(1) << (random >> 40) % 64
                             : random >> 62 == 2 ? b.n - (random >> 40) % 64
                                                 : random;
            memcpy(damaged.items + (random >> 20) % (b.n / 8) * 8, &value, 8);
        }
        int k = read_bytes(&damaged, &n, &cut, NULL);
        assert_true(k == 0 || k == -EBADMSG || k == -EOPNOTSUPP);
    }
    vector_free(&b);
    vector_free(&damaged);
}

static void not_ours(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        int code;
        uint32_t cause;
        const char *says;
    } files[] = {
        {"", 0, -EBADMSG, RK_CAUSE_BAD_FILE, "empty"},
        {"PERF", 4, -EBADMSG, RK_CAUSE_BAD_FILE, "not a perf.data"},
        {"\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\0", 17, -EBADMSG, RK_CAUSE_BAD_FILE, "not a perf.data"},
        {"PERFILE2", 8, -EBADMSG, RK_CAUSE_BAD_FILE, "cut inside its header at offset 8"},
        {"PERFILE2\0\0\0\0\0\0\0\0", 16, -EBADMSG, RK_CAUSE_BAD_FILE,
         "header of unknown size, given at offset 8"},
        {"PERFILE2\x68\0\0\0\0\0\0\0", 16, -EBADMSG, RK_CAUSE_BAD_FILE, "cut inside its header at offset 16"},
        {"PERFILE2\x10\0\0\0\0\0\0\0", 16, -EBADMSG, RK_CAUSE_BAD_FILE, "no events"},
        {"2ELIFREP\0\0\0\0\0\0\0\x68", 16, -EBADMSG, RK_CAUSE_BAD_FILE, "cut inside its header"},
        {"PERFFILE\x68\0\0\0\0\0\0\0", 16, -EBADMSG, RK_CAUSE_BAD_FILE, "cut inside its header"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct rk_error e = {.size = sizeof e};
        struct perfdata_reader *r = NULL;
        int fd = file_of(files[i].bytes, files[i].n);
        assert_int_equal(perfdata_reader_open_fd(fd, "NAME", &r, &e), files[i].code);
        assert_null(r);
        assert_int_equal(e.cause, files[i].cause);
        assert_int_equal(e.stage, RK_STAGE_STREAM);
        assert_non_null(strstr(e.what, files[i].says));
        assert_non_null(strstr(e.what, "NAME"));
        assert_true(e.remedy[0]);
        close(fd);
    }
    struct rk_error e = {.size = sizeof e};
    struct perfdata_reader *r = NULL;
    assert_int_equal(perfdata_reader_open("/nonexistent/perf.data", &r, &e), -ENOENT);
    assert_int_equal(e.cause, RK_CAUSE_NO_FILE);
    assert_true(e.remedy[0]);
    assert_int_equal(perfdata_reader_open("/", &r, &e), -EISDIR);
    assert_non_null(strstr(e.what, "directory"));
    assert_null(perfdata_reader_close(NULL));
}

/* Header fields that can't be: each is refused with a word on what, or read as cut. */
static void hostile_headers(void **state)
{
    (void)state;
    bytes_t b = small_bytes(5);
    struct perfdata_header *h = header_of(&b), was = *h;
    struct perfdata_section *ids = (void *)(b.items + was.attrs.offset + was.attr_size - 16);
    size_t n;
    bool cut;
    struct rk_error e = {.size = sizeof e};
#define REFUSED(change, text)                                     \
    do {                                                          \
        change;                                                   \
        assert_int_equal(read_bytes(&b, &n, &cut, &e), -EBADMSG); \
        assert_non_null(strstr(e.what, text));                    \
        *h = was;                                                 \
    } while (0)
    REFUSED(h->attr_size = 0, "invalid size of an event, given at offset 16");
    REFUSED(h->attr_size = 8, "invalid size of an event");
    REFUSED(h->attr_size = UINT64_MAX, "invalid size of an event");
    REFUSED(h->attr_size = 81, "invalid size of an event");
    REFUSED(h->attrs.size = 0, "no events: number given at offset 24");
    REFUSED(h->attrs.size = UINT64_MAX, "the events lie outside of the file: place given at offset 24");
    REFUSED(h->attrs.offset = UINT64_MAX - 100,
            "the events lie outside of the file: place given at offset 24");
    REFUSED(h->data.offset = 0, "the data lies outside of the file: place given at offset 40");
    REFUSED(h->data.offset = b.n + 1, "the data lies outside of the file: place given at offset 40");
    REFUSED(h->data.offset = UINT64_MAX, "the data lies outside of the file: place given at offset 40");
    REFUSED(h->size = 96, "unknown size, given at offset 8");
    struct perfdata_section ids_was = *ids;
    char ids_at[64];
    snprintf(ids_at, sizeof ids_at, "lie outside of the file: place given at offset %ju",
             (uintmax_t)(was.attrs.offset + was.attr_size - 16));
    REFUSED(ids->offset = b.n, ids_at);
    *ids = ids_was;
    REFUSED(ids->size = UINT64_MAX, ids_at);
    *ids = ids_was;

    /* Where the data ends is not known: as far as it is sound. */
    static const uint64_t sizes[] = {0, UINT64_MAX, UINT64_C(1) << 63, 1 << 20};
    for (size_t i = 0; i < 4; i++) {
        h->data.size = sizes[i];
        assert_int_equal(read_bytes(&b, &n, &cut, &e), 0);
        assert_int_equal(n, 6);
        assert_true(cut);
    }
    h->data.size = was.data.size - 8; /* all but the round, then inside a record: what is there, and cut */
    assert_int_equal(read_bytes(&b, &n, &cut, &e), 0);
    assert_int_equal(n, 5);
    h->data.size -= 4;
    assert_int_equal(read_bytes(&b, &n, &cut, &e), 0);
    assert_int_equal(n, 4);
    assert_true(cut);
    *h = was;
    h->size = 72; /* of before there were features */
    assert_int_equal(read_bytes(&b, &n, &cut, &e), 0);
    assert_int_equal(n, 6);
    vector_free(&b);
}

/* A size of 0 in the middle: all before it, then an error that says where. */
static void a_damaged_record(void **state)
{
    (void)state;
    bytes_t b = small_bytes(5);
    struct rk_error e = {.size = sizeof e};
    size_t n;
    bool cut;
    uint64_t third = header_of(&b)->data.offset + 8 + 16;
    memset(b.items + third + 6, 0, 2);
    assert_int_equal(read_bytes(&b, &n, &cut, &e), -EBADMSG);
    assert_int_equal(n, 2);
    char offset[32];
    snprintf(offset, sizeof offset, "offset %llu", (unsigned long long)third);
    assert_non_null(strstr(e.what, offset));
    vector_free(&b);
}

/* attr sizes of every kernel, and of later ones. */
static void attrs_of_any_size(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {0, 64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 152, 512};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint32_t bytes = sizes[i] ? sizes[i] : 64;
        unsigned char attr[512];
        memset(attr, 0x11, sizeof attr);
        ((struct perf_attr *)(void *)attr)->size = sizes[i]; /* 0: the first ABI */
        ((struct perf_attr *)(void *)attr)->type = PERF_RAW;
        bytes_t b = {0};
        struct perfdata_header h = {.magic = PERFDATA_MAGIC,
                                    .size = sizeof h,
                                    .attr_size = bytes + 16,
                                    .attrs = {104, bytes + 16},
                                    .data = {104 + bytes + 16 + 8, 8}};
        add(&b, &h, sizeof h);
        add(&b, attr, bytes);
        add_u64(&b, 104 + bytes + 16);
        add_u64(&b, 8);
        add_u64(&b, 4711);
        add_record(&b, PERFDATA_FINISHED_ROUND, NULL, 0);
        int fd = file_of(b.items, b.n);
        struct perfdata_reader *r;
        assert_int_equal(perfdata_reader_open_fd(fd, "attrs", &r, NULL), 0);
        const struct perfdata_event *event = perfdata_reader_event(r, 0);
        const unsigned char *got = (const unsigned char *)&event->attr;
        for (size_t k = 8; k < sizeof event->attr; k++)
            assert_int_equal(got[k], k < bytes ? 0x11 : 0);
        assert_int_equal(event->ids[0], 4711);
        assert_string_equal(event->name, "r1111111111111111:khpp");
        assert_true(perfdata_reader_cut(r)); /* no features: never finished */
        perfdata_reader_close(r);
        close(fd);
        vector_free(&b);
    }
}

static void names_for_what_has_none(void **state)
{
    (void)state;
    static const struct {
        struct perf_attr attr;
        const char *name;
    } events[] = {
        {{.type = PERF_HARDWARE, .config = HW_INSTRUCTIONS}, "instructions"},
        {{.type = PERF_HARDWARE, .config = UINT64_C(4) << 32}, "pmu-0/0x400000000"},
        {{.type = PERF_SOFTWARE, .config = SW_CGROUP_SWITCHES}, "cgroup-switches"},
        {{.type = PERF_SOFTWARE, .config = 99}, "pmu-1/0x63"},
        {{.type = PERF_RAW, .config = 0x1a8}, "r1a8"},
        {{.type = PERF_HW_CACHE, .config = 0x10000}, "L1-dcache-load-misses"},
        {{.type = PERF_HW_CACHE, .config = 0x30000}, "pmu-3/0x30000"},
        {{.type = PERF_TRACEPOINT, .config = 317}, "tracepoint-317"},
        {{.type = PERF_BREAKPOINT, .config1 = 0x601000}, "mem:0x601000"},
        {{.type = 8, .config = 0x3c}, "pmu-8/0x3c"},
    };
    bytes_t b = {0};
    add_u64(&b, PERFDATA_MAGIC);
    add_u64(&b, 16);
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        struct perf_attr attr = events[i].attr;
        attr.size = 128;
        add_record(&b, PERFDATA_ATTR, &attr, 128);
    }
    int fd = file_of(b.items, b.n);
    struct perfdata_reader *r;
    assert_int_equal(perfdata_reader_open_fd(fd, "names", &r, NULL), 0);
    assert_int_equal(perfdata_reader_events(r), sizeof events / sizeof *events);
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        assert_string_equal(perfdata_reader_event(r, i)->name, events[i].name);
    perfdata_reader_close(r);
    close(fd);
    vector_free(&b);
}

static void add_feature_text(bytes_t *b, uint64_t bit, const char *text)
{
    char body[8 + 4 + 64] = {0};
    uint32_t n = 64;
    memcpy(body, &bit, 8);
    memcpy(body + 8, &n, 4);
    snprintf(body + 12, 64, "%s", text);
    add_record(b, PERFDATA_FEATURE, body, sizeof body);
}

/* A stream like perf record -o -, with all that it may hold. */
static bytes_t pipe_bytes(void)
{
    bytes_t b = {0};
    unsigned char attr[200 + 16] = {0};
    struct perf_attr *a = (void *)attr;
    uint64_t ids[] = {21, 22};
    add_u64(&b, PERFDATA_MAGIC);
    add_u64(&b, 16);
    a->type = PERF_SOFTWARE;
    a->size = 200; /* of a kernel to come */
    memcpy(attr + 200, ids, 16);
    add_record(&b, PERFDATA_ATTR, attr, 216);
    a->size = 64;
    a->config = SW_PAGE_FAULTS;
    memcpy(attr + 64, ids + 1, 8);
    add_record(&b, PERFDATA_ATTR, attr, 64 + 8);
    add_feature_text(&b, FEATURE_HOSTNAME, "pipe-box");
    add_feature_text(&b, FEATURE_ARCH, "riscv64");
    add_feature_text(&b, 200, "of a tool to come");
    uint64_t update[] = {2, 21, 0, 0};
    memcpy(update + 2, "cpu-clock:ppp", 14);
    add_record(&b, PERFDATA_EVENT_UPDATE, update, sizeof update);
    add_record(&b, PERFDATA_EVENT_TYPE, NULL, 72);
    unsigned char build_id[28 + 16] = {0xff, 0xff, 0xff, 0xff, 1, 2, 3};
    memcpy(build_id + 28, "/bin/sh", 8);
    add_record(&b, PERFDATA_BUILD_ID, build_id, sizeof build_id);
    /* Twelve bytes, and a payload: all that follows stands askew. */
    uint32_t tracing = 21;
    add_record(&b, PERFDATA_TRACING_DATA, &tracing, 4);
    add(&b, "payload of 21 bytes..", 21);
    add(&b, NULL, 3);
    uint64_t body[] = {1, 2, 3, 4, 5};
    add_record(&b, 9, body, 16);
    add_record(&b, PERFDATA_ID_INDEX, body, 40);
    uint64_t auxtrace[] = {100000, 0, 0, 0, 0};
    add_record(&b, PERFDATA_AUXTRACE, auxtrace, 40);
    add(&b, NULL, 100000);
    add_record(&b, PERFDATA_FINISHED_ROUND, NULL, 0);
    add_record(&b, PERFDATA_FINISHED_INIT, NULL, 0);
    add_record(&b, 9, body, 24);
    return b;
}

static void check_pipe(struct perfdata_reader *r)
{
    static const uint32_t types[] = {
        9, PERFDATA_ID_INDEX, PERFDATA_AUXTRACE, PERFDATA_FINISHED_ROUND, PERFDATA_FINISHED_INIT, 9};
    const struct perf_header *record;
    struct perfdata_info info;
    uint64_t offset;
    perfdata_reader_info(r, &info);
    assert_true(info.pipe);
    assert_string_equal(info.host, "pipe-box");
    assert_string_equal(info.architecture, "riscv64");
    assert_int_equal(perfdata_reader_events(r), 2);
    assert_string_equal(perfdata_reader_event(r, 0)->name, "cpu-clock:ppp");
    assert_int_equal(perfdata_reader_event(r, 0)->ids_n, 2);
    assert_string_equal(perfdata_reader_event(r, 1)->name, "page-faults");
    assert_int_equal(perfdata_reader_event(r, 1)->ids[0], 22);
    const struct perfdata_build_id *id;
    assert_int_equal(perfdata_reader_build_ids(r, &id), 1);
    assert_int_equal(id->bytes, 20);
    assert_int_equal(id->pid, -1);
    assert_string_equal(id->path, "/bin/sh");
    assert_int_equal(perfdata_reader_bytes(r, NULL), 0);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        assert_int_equal(perfdata_reader_next(r, &record, &offset), 1);
        assert_int_equal(record->type, types[i]);
        assert_int_equal((uintptr_t)record % 8, 0);
        if (record->type == 9)
            assert_int_equal(((const uint64_t *)record)[2], 2);
    }
    assert_int_equal(perfdata_reader_next(r, &record, &offset), 0);
    assert_false(perfdata_reader_cut(r));
}

static void a_pipe_kept_as_a_file(void **state)
{
    (void)state;
    bytes_t b = pipe_bytes();
    struct perfdata_reader *r;
    int fd = file_of(b.items, b.n);
    assert_int_equal(perfdata_reader_open_fd(fd, "piped", &r, NULL), 0);
    check_pipe(r);
    perfdata_reader_close(r);
    close(fd);
    vector_free(&b);
}

/* Bytes through a real pipe, a few at a time, from a child. */
static int pipe_from(const bytes_t *b, size_t piece)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    if (fork() == 0) {
        for (size_t at = 0; at < b->n; at += piece)
            if (write(ends[1], b->items + at, b->n - at < piece ? b->n - at : piece) <= 0)
                break;
        _exit(0);
    }
    close(ends[1]);
    return ends[0];
}

static void a_real_pipe(void **state)
{
    (void)state;
    bytes_t b = pipe_bytes();
    static const size_t pieces[] = {7, 1000, 1 << 20};
    for (size_t i = 0; i < 3; i++) {
        struct perfdata_reader *r;
        int fd = pipe_from(&b, pieces[i]);
        assert_int_equal(perfdata_reader_open_fd(fd, "pipe", &r, NULL), 0);
        check_pipe(r);
        perfdata_reader_close(r);
        close(fd);
    }
    vector_free(&b);

    struct rk_error e = {.size = sizeof e};
    struct perfdata_reader *r;
    b = small_bytes(3); /* a file can't be read without seeking */
    int fd = pipe_from(&b, b.n);
    assert_int_equal(perfdata_reader_open_fd(fd, "pipe", &r, &e), -ESPIPE);
    assert_non_null(strstr(e.what, "through a pipe"));
    close(fd);
    vector_free(&b);
}

static void a_pipe_cut_anywhere(void **state)
{
    (void)state;
    bytes_t b = pipe_bytes();
    size_t n, most = 0;
    bool cut;
    for (size_t bytes = 0, step; bytes < b.n; bytes += step) {
        step = bytes > 1000 && bytes < b.n - 1200 ? 997 : 1; /* not every byte of the long payload */
        bytes_t part = {b.items, bytes, bytes};
        int k = read_bytes(&part, &n, &cut, NULL);
        if (n == 0 && k == -EBADMSG)
            continue;
        assert_int_equal(k, 0);
        assert_true(n >= most);
        most = n;
    }
    assert_int_equal(most, 5);
    for (size_t at = 16; at < 700; at++) { /* and each byte of its beginning damaged */
        unsigned char was = b.items[at];
        for (int v = 0; v < 256; v += 51) {
            b.items[at] = (unsigned char)v;
            read_bytes(&b, &n, &cut, NULL);
        }
        b.items[at] = was;
    }
    vector_free(&b);
}

/* A small file whose records are packed, as `perf record -z` has them. Skips where zstd is not installed. */
static bytes_t packed_bytes(const void *records, size_t n)
{
    static const struct perf_attr attr = {
        .type = PERF_SOFTWARE, .sample_type = 0x10007, .flags = ATTR_SAMPLE_ID_ALL};
    static const uint64_t id = 11;
    const struct perfdata_writer_event event = {&attr, &id, 1, "cpu-clock"};
    struct perfdata_writer *w;
    int fd = memfd_create("perf.data", MFD_CLOEXEC);
    int r = perfdata_writer_start(fd, &event, 1, &(struct perfdata_writer_options){.level = 3}, &w, NULL);
    if (r == -EOPNOTSUPP)
        skip();
    assert_int_equal(r, 0);
    assert_int_equal(perfdata_writer_append(w, records, n), 0);
    assert_int_equal(perfdata_writer_finish(w, NULL), 0);
    perfdata_writer_close(w);
    bytes_t b = bytes_of(fd);
    close(fd);
    return b;
}

/* Packed and unpacked: any number of records, of any size, across the boundaries of buffers and packed records. */
static void compressed(void **state)
{
    (void)state;
    bytes_t records = {0};
    uint64_t seed = 5, n = 0;
    while (records.n < 1500000) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint64_t body[1024];
        size_t words = (seed >> 54) % 1000;
        for (size_t i = 0; i < words; i++) /* half of it can't be packed */
            body[i] = i & 1 ? n : (seed = seed * 6364136223846793005u + 1442695040888963407u);
        add_record(&records, 9, body, words * 8);
        n++;
    }
    bytes_t b = packed_bytes(records.items, records.n);
    int fd = file_of(b.items, b.n);
    struct perfdata_reader *r;
    const struct perf_header *record;
    uint64_t offset, seen = 0;
    size_t at = 0;
    assert_int_equal(perfdata_reader_open_fd(fd, "packed", &r, NULL), 0);
    assert_false(perfdata_reader_again(r)); /* records have no offsets of their own */
    for (; perfdata_reader_next(r, &record, &offset) == 1; seen++) {
        assert_int_equal((uintptr_t)record % 8, 0);
        assert_memory_equal(record, records.items + at, record->size);
        assert_true(offset >= header_of(&b)->data.offset && offset < b.n);
        at += record->size;
    }
    assert_int_equal(seen, n);
    assert_int_equal(at, records.n);
    assert_false(perfdata_reader_cut(r));
    perfdata_reader_close(r);
    close(fd);
    vector_free(&b);
    vector_free(&records);
}

/* Packed bytes that are none, cut, bent, one inside another: told with the offset, or read as far as they go. */
static void compressed_damaged(void **state)
{
    (void)state;
    for (uint32_t type = PERFDATA_COMPRESSED; type <= PERFDATA_COMPRESSED2; type += 2) {
        bytes_t b = small_bytes(2);
        struct rk_error e = {.size = sizeof e};
        size_t n;
        bool cut;
        memcpy(b.items + header_of(&b)->data.offset + 8, &type, 4);
        int r = read_bytes(&b, &n, &cut, &e);
        assert_true(r == -EBADMSG || r == -EOPNOTSUPP);
        assert_int_equal(n, 1);
        assert_non_null(strstr(e.what, "compressed"));
        vector_free(&b);
    }
    uint64_t inner[2] = {0, 0};
    struct perf_header header = {PERFDATA_COMPRESSED, 0, sizeof inner};
    memcpy(inner, &header, sizeof header);
    bytes_t b = packed_bytes(inner, sizeof inner);
    struct rk_error e = {.size = sizeof e};
    size_t n;
    bool cut;
    assert_int_equal(read_bytes(&b, &n, &cut, &e), -EBADMSG);
    assert_non_null(strstr(e.what, "inside a compressed"));
    vector_free(&b);

    memset(inner, 0, sizeof inner); /* a record of no size */
    b = packed_bytes(inner, sizeof inner);
    assert_int_equal(read_bytes(&b, &n, &cut, &e), -EBADMSG);
    assert_non_null(strstr(e.what, "offset"));
    vector_free(&b);

    bytes_t records = {0};
    for (int i = 0; i < 200; i++)
        add_record(&records, 9, "12345678abcdefgh", 16);
    b = packed_bytes(records.items, records.n);
    size_t data = header_of(&b)->data.offset, end = data + header_of(&b)->data.size;
    for (size_t at = data; at < end; at++) /* any byte wrong */
        for (int v = 0; v < 256; v += 51) {
            unsigned char was = b.items[at];
            b.items[at] = (unsigned char)v;
            int r = read_bytes(&b, &n, &cut, &e);
            assert_true(r == 0 || r == -EBADMSG);
            b.items[at] = was;
        }
    for (size_t at = data; at < end; at++) { /* cut anywhere */
        bytes_t c = {0};
        add(&c, b.items, at);
        assert_int_equal(read_bytes(&c, &n, &cut, &e), 0);
        assert_true(cut);
        vector_free(&c);
    }
    vector_free(&b);
    vector_free(&records);
}

/* A few bytes that unpack to very many: read in fixed memory. */
static void compressed_bomb(void **state)
{
    (void)state;
    bytes_t records = {0};
    for (int i = 0; i < 2000000; i++) {
        static const struct perf_header tiny = {9, 0, sizeof tiny};
        add(&records, &tiny, sizeof tiny);
    }
    bytes_t b = packed_bytes(records.items, records.n);
    size_t n;
    bool cut;
    assert_true(b.n < records.n / 500);
    assert_int_equal(read_bytes(&b, &n, &cut, NULL), 0);
    assert_int_equal(n, 2000000);
    vector_free(&b);
    vector_free(&records);
}

/* A pipe that repeats itself without end does not fill the memory. */
static void a_pipe_that_repeats_itself(void **state)
{
    (void)state;
    bytes_t b = pipe_bytes(), endless = {0};
    add(&endless, b.items, 16);
    static unsigned char attr[64 + 8 * 8000];
    ((struct perf_attr *)(void *)attr)->size = 64;
    for (size_t i = 0; i < 1100; i++) { /* 68 MiB of ids */
        for (uint64_t k = 0; k < 8000; k++)
            memcpy(attr + 64 + 8 * k, &k, 8);
        add_record(&endless, PERFDATA_ATTR, attr, sizeof attr);
    }
    size_t n;
    bool cut;
    struct rk_error e = {.size = sizeof e};
    assert_int_equal(read_bytes(&endless, &n, &cut, &e), -EBADMSG);
    vector_free(&b);
    vector_free(&endless);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_at_every_byte),
        cmocka_unit_test(any_byte_wrong),
        cmocka_unit_test(any_words_wrong),
        cmocka_unit_test(not_ours),
        cmocka_unit_test(hostile_headers),
        cmocka_unit_test(a_damaged_record),
        cmocka_unit_test(attrs_of_any_size),
        cmocka_unit_test(names_for_what_has_none),
        cmocka_unit_test(a_pipe_kept_as_a_file),
        cmocka_unit_test(a_real_pipe),
        cmocka_unit_test(a_pipe_cut_anywhere),
        cmocka_unit_test(compressed),
        cmocka_unit_test(compressed_damaged),
        cmocka_unit_test(compressed_bomb),
        cmocka_unit_test(a_pipe_that_repeats_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

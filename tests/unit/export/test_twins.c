/*
 * Each export has three ways out: a sink, a descriptor, a file. All three write the same bytes, in every format, and
 * refuse an unknown one alike; then no file is left.
 */
#include "../../temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <reckon/reckon.h>

static char path[TEMPORARY], data[TEMPORARY];
static struct rk_error e;

struct text {
    char *bytes;
    size_t n;
};

static int append(void *context, const void *from, size_t n)
{
    struct text *to = context;

    to->bytes = realloc(to->bytes, to->n + n + 1);
    assert_non_null(to->bytes);
    memcpy(to->bytes + to->n, from, n);
    to->n += n;
    return 0;
}

static struct text contents(int fd)
{
    struct text text = {0};
    char buffer[65536];
    ssize_t n;

    assert_true(fd >= 0 && lseek(fd, 0, SEEK_SET) == 0);
    while ((n = read(fd, buffer, sizeof buffer)) > 0)
        append(&text, buffer, (size_t)n);
    close(fd);
    return text;
}

static void same(const char *what, struct text a, struct text b)
{
    if (a.n != b.n || memcmp(a.bytes, b.bytes, a.n) != 0)
        fail_msg("%s: %zu and %zu bytes differ", what, a.n, b.n);
    free(b.bytes);
}

#define COMPARE(name, to_sink, to_fd, to_path)                                  \
    do {                                                                        \
        struct text text = {0};                                                 \
        struct rk_sink sink = RK_INIT(sink, .write = append, .context = &text); \
        int fd = memfd_create("twins", MFD_CLOEXEC);                            \
        assert_int_equal(to_sink, 0);                                           \
        assert_true(text.n > 0);                                                \
        assert_int_equal(to_fd, 0);                                             \
        same(name "_fd", text, contents(fd));                                   \
        assert_int_equal(to_path, 0);                                           \
        same(name "_path", text, contents(open(path, O_RDONLY | O_CLOEXEC)));   \
        unlink(path);                                                           \
        free(text.bytes);                                                       \
    } while (0)
#define REFUSED(call)                             \
    do {                                          \
        assert_int_equal(call, -EINVAL);          \
        assert_int_equal(access(path, F_OK), -1); \
    } while (0)

static struct rk_profile *recorded(void)
{
    uint64_t attr[16] = {(uint64_t)128 << 32 | 1, 9, 1, RK_SAMPLE_IP | RK_SAMPLE_TID | RK_SAMPLE_TIME};
    const struct rk_recording_event event = {.attr = attr, .attr_bytes = sizeof attr, .name = "fake"};
    struct rk_record record = {.type = RK_RECORD_SAMPLE, .misc = RK_MODE_USER};
    struct rk_sample sample = RK_INIT(sample, .present = attr[3], .pid = 7, .tid = 7);
    struct rk_recording *recording;
    struct rk_profile *p;

    assert_int_equal(rk_recording_open(data, &event, 1, NULL, &recording, &e), 0);
    for (uint64_t i = 1; i < 100; i++) {
        sample.time = i * 1000;
        sample.ip = 0x1000 + i % 7;
        assert_int_equal(rk_recording_write(recording, 0, &record, &sample), 0);
    }
    assert_int_equal(rk_recording_finish(recording, &e), 0);
    rk_recording_free(recording);
    assert_int_equal(rk_profile_file(data, NULL, &p, NULL, &e), 0);
    return p;
}

static void profiles(void **state)
{
    struct rk_profile *p = recorded();
    const struct rk_record *r;
    struct rk_aggregate *a;
    struct rk_stream *st;
    const char *f;

    (void)state;
    for (uint32_t i = 0; (f = rk_profile_format_name(i)); i++)
        COMPARE("rk_profile_export", rk_profile_export(p, f, &sink, &e), rk_profile_export_fd(p, f, fd, &e),
                rk_profile_export_path(p, f, path, &e));
    REFUSED(rk_profile_export_path(p, "xml", path, &e));
    COMPARE("rk_profile_pair_export", rk_profile_pair_export(p, p, 0, "html", &sink, &e),
            rk_profile_pair_export_fd(p, p, 0, "html", fd, &e),
            rk_profile_pair_export_path(p, p, 0, "html", path, &e));
    REFUSED(rk_profile_pair_export_path(p, p, 0, "csv", path, &e));
    assert_int_equal(rk_profile_aggregate(p, RK_PER_FUNCTION, &a, &e), 0);
    static const char *const rows[] = {"csv", "json"};
    for (int i = 0; i < 2; i++)
        COMPARE("rk_aggregate_export", rk_aggregate_export(p, a, rows[i], &sink, &e),
                rk_aggregate_export_fd(p, a, rows[i], fd, &e),
                rk_aggregate_export_path(p, a, rows[i], path, &e));
    REFUSED(rk_aggregate_export_path(p, a, "html", path, &e));
    rk_aggregate_free(a);
    rk_profile_free(p);

    assert_int_equal(rk_stream_file(data, &st, &e), 0);
    assert_int_equal(rk_stream_next(st, &r), 1);
    static const char *const lines[] = {"text", "json"};
    for (int i = 0; i < 2; i++)
        COMPARE("rk_record_export", rk_record_export(st, r, lines[i], &sink, NULL, &e),
                rk_record_export_fd(st, r, lines[i], fd, NULL, &e),
                rk_record_export_path(st, r, lines[i], path, NULL, &e));
    REFUSED(rk_record_export_path(st, r, "csv", path, NULL, &e));
    rk_stream_free(st);
    unlink(data);
}

static void counts(void **state)
{
    static const char *const formats[] = {"json", "csv", "perf"};
    struct rk_value v[2];
    struct rk_set *s;

    (void)state;
    assert_int_equal(rk_set_self("task-clock,page-faults:u", &s, &e), 0);
    assert_int_equal(rk_set_enable(s), 0);
    assert_int_equal(rk_set_total(s, v, NULL, 2), 0);
    const struct rk_counts_row row = {.set = s, .values = v, .slot = UINT64_MAX};
    struct rk_counts table = RK_INIT(table, .rows = &row, .n = 1, .wall_ns = 5, .time_ns = 7);
    for (int i = 0; i < 3; i++) {
        const char *f = formats[i];
        COMPARE("rk_set_export", rk_set_export(s, v, 2, NULL, f, &sink, &e),
                rk_set_export_fd(s, v, 2, NULL, f, fd, &e), rk_set_export_path(s, v, 2, NULL, f, path, &e));
        COMPARE("rk_counts_export", rk_counts_export(&table, f, &sink, &e),
                rk_counts_export_fd(&table, f, fd, &e), rk_counts_export_path(&table, f, path, &e));
    }
    REFUSED(rk_set_export_path(s, v, 2, NULL, "xml", path, &e));
    REFUSED(rk_counts_export_path(&table, "xml", path, &e));
    rk_set_free(s);
}

static void machine(void **state)
{
    static const char *const words[] = {"page-faults"};
    struct rk_list_options o = RK_INIT(o, .words = words, .words_n = 1);
    struct rk_doctor *d;
    struct rk_list *l;
    struct rk_host *h;

    (void)state;
    assert_int_equal(rk_host_open(NULL, &h, NULL), 0);
    assert_int_equal(rk_list_open(h, &o, &l, &e), 0);
    COMPARE("rk_list_export", rk_list_export(l, "json", &sink, &e), rk_list_export_fd(l, "json", fd, &e),
            rk_list_export_path(l, "json", path, &e));
    REFUSED(rk_list_export_path(l, "csv", path, &e));
    rk_list_free(l);
    assert_int_equal(rk_doctor_run(h, &d, &e), 0);
    COMPARE("rk_doctor_export", rk_doctor_export(d, "json", &sink, &e),
            rk_doctor_export_fd(d, "json", fd, &e), rk_doctor_export_path(d, "json", path, &e));
    REFUSED(rk_doctor_export_path(d, "csv", path, &e));
    rk_doctor_free(d);
    rk_host_free(h);
}

/* Regions end with the process: a frozen picture of one that is not open. */
static void regions(void **state)
{
    static const char *const formats[] = {"text", "json"};

    (void)state;
    setenv("RECKON_REGIONS", "page-faults:u", 1);
    setenv("RECKON_REGIONS_OUTPUT", "/dev/null", 1);
    rk_region_begin(rk_region_named("parse"));
    rk_region_end(rk_region_named("parse"));
    for (int i = 0; i < 2; i++)
        COMPARE("rk_region_export", rk_region_export(formats[i], &sink, &e),
                rk_region_export_fd(formats[i], fd, &e), rk_region_export_path(formats[i], path, &e));
    REFUSED(rk_region_export_path("csv", path, &e));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(profiles), cmocka_unit_test(counts),
                                       cmocka_unit_test(machine), cmocka_unit_test(regions)};

    e.size = sizeof e;
    close(mkstemp(temporary(path, "reckon-twins-XXXXXX")));
    close(mkstemp(temporary(data, "reckon-twins-XXXXXX")));
    unlink(path);
    unlink(data);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    unlink(data);
    return failed;
}

/* Records of one's own: what is written reads back, through a stream, in order; nothing invalid gets into the file. */
#include "../../temporary.h"
#include "base/abi.h"

#include <reckon/recording.h>
#include <reckon/stream.h>

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define FIELDS (RK_SAMPLE_IDENTIFIER | RK_SAMPLE_IP | RK_SAMPLE_TID | RK_SAMPLE_TIME | RK_SAMPLE_PERIOD)

static const struct perf_attr attr = {.type = PERF_SOFTWARE,
                                      .size = 128,
                                      .config = SW_DUMMY,
                                      .sample_period = 1,
                                      .sample_type = FIELDS,
                                      .flags = ATTR_SAMPLE_ID_ALL};
static const uint64_t ids[] = {71, 72};
static const struct rk_recording_event two[] = {{&attr, sizeof attr, &ids[0], 1, "ticks"},
                                                {&attr, sizeof attr, &ids[1], 1, "tocks"}};

static int into_empty_directory(void **state)
{
    static char path[TEMPORARY];
    *state = path;
    return mkdtemp(temporary(path, "reckon-test-XXXXXX")) && chdir(path) == 0 ? 0 : -1;
}

static int remove_directory(void **state)
{
    char command[TEMPORARY + 16];
    snprintf(command, sizeof command, "rm -rf '%s'", (char *)*state);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

static struct rk_recording *opened(const char *path, size_t n, const struct rk_recording_options *options)
{
    struct rk_recording *recording = NULL;
    struct rk_error e = RK_INIT(e);
    if (rk_recording_open(path, two, n, options, &recording, &e) < 0)
        fail_msg("%s", e.what);
    return recording;
}

static int sample(struct rk_recording *recording, uint32_t event, uint64_t time, uint64_t ip)
{
    const struct rk_record record = {.type = RK_RECORD_SAMPLE, .misc = RK_MODE_USER};
    const struct rk_sample s = RK_INIT(s, .present = FIELDS & ~RK_SAMPLE_IDENTIFIER, .pid = 7, .tid = 8,
                                       .time = time, .ip = ip, .period = 3);
    return rk_recording_write(recording, event, &record, &s);
}

/* The samples of a file: n of them, whose time rises and whose ip is time + the event. */
static void reads(const char *path, size_t n, uint32_t ordered, uint32_t cut)
{
    struct rk_stream *stream;
    struct rk_stream_info info = RK_INIT(info);
    struct rk_sample s = RK_INIT(s);
    const struct rk_record *record;
    uint64_t last = 0;
    size_t seen = 0;
    int rc;

    assert_int_equal(rk_stream_file(path, &stream, NULL), 0);
    while ((rc = rk_stream_next(stream, &record)) == 1) {
        if (record->type != RK_RECORD_SAMPLE)
            continue;
        assert_int_equal(rk_stream_sample(stream, record, &s), 0);
        assert_true(s.time >= last);
        assert_int_equal(s.ip, s.time + record->event);
        assert_int_equal(s.id, ids[record->event]);
        assert_int_equal(s.tid, 8);
        assert_int_equal(s.period, 3);
        assert_int_equal(rk_stream_release(stream), 0);
        last = s.time;
        seen++;
    }
    assert_int_equal(rc, 0);
    assert_int_equal(seen, n);
    assert_int_equal(rk_stream_info(stream, &info), 0);
    assert_int_equal(info.ordered, ordered);
    assert_int_equal(info.cut, cut);
    rk_stream_free(stream);
}

static void there_and_back(void **state)
{
    (void)state;
    static const char *const command[] = {"ticker", "a b", NULL};
    for (uint32_t level = 0; level <= 3; level += 3) {
        struct rk_recording_options o =
            RK_INIT(o, .compression = level, .command = command, .host = "box", .architecture = "aarch64");
        struct rk_recording *recording;
        struct rk_stream *stream;
        struct rk_stream_info info = RK_INIT(info);
        struct stat st;
        int rc = rk_recording_open("a.data", two, 2, &o, &recording, NULL);

        if (rc == -EOPNOTSUPP && level)
            continue;
        assert_int_equal(rc, 0);
        for (uint64_t i = 1; i <= 30000; i++)
            assert_int_equal(sample(recording, i & 1, i, i + (i & 1)), 0);
        assert_int_equal(rk_recording_build_id(recording, RK_MODE_USER, "0123456789abcdefghij", 20, "/bin/x"),
                         0);
        assert_int_equal(rk_recording_finish(recording, NULL), 0);
        assert_int_equal(rk_recording_finish(recording, NULL), 0);
        assert_int_equal(sample(recording, 0, 1, 1), -EINVAL);
        assert_null(rk_recording_free(recording));
        reads("a.data", 30000, 0, 0);
        assert_int_equal(stat("a.data", &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
        assert_true(level == 0 || st.st_size < 30000 * 48 / 4);

        assert_int_equal(rk_stream_file("a.data", &stream, NULL), 0);
        assert_int_equal(rk_stream_info(stream, &info), 0);
        assert_string_equal(info.host, "box");
        assert_string_equal(info.architecture, "aarch64");
        assert_string_equal(info.command, "ticker a b");
        assert_string_equal(info.tool, "reckon " RK_VERSION);
        assert_int_equal(rk_stream_build_id_count(stream), 1);
        rk_stream_free(stream);
    }
    assert_int_equal(access("a.data.old", F_OK), 0);
}

/* Late records are sorted by whoever reads, also where there are more than wait in memory. */
static void any_order(void **state)
{
    (void)state;
    struct rk_recording *recording = opened("b.data", 2, NULL);
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t time = 1 + i * 7919 % 20000;
        assert_int_equal(sample(recording, time & 1, time, time + (time & 1)), 0);
    }
    assert_int_equal(rk_recording_finish(recording, NULL), 0);
    rk_recording_free(recording);
    reads("b.data", 20000, 1, 0);
}

/* A copy of a file by its records and events is that file. */
static void copied(void **state)
{
    (void)state;
    struct rk_stream *stream;
    struct rk_recording *recording;
    struct rk_recording_event events[2];
    const struct rk_record *record;
    recording = opened("c.data", 2, NULL);
    for (uint64_t i = 1; i <= 100; i++)
        assert_int_equal(sample(recording, i & 1, i, i + (i & 1)), 0);
    assert_int_equal(rk_recording_finish(recording, NULL), 0);
    rk_recording_free(recording);

    assert_int_equal(rk_stream_file("c.data", &stream, NULL), 0);
    for (size_t i = 0; i < 2; i++) {
        struct rk_stream_event event = RK_INIT(event);
        assert_int_equal(rk_stream_event_get(stream, i, &event), 0);
        events[i] =
            (struct rk_recording_event){event.attr, event.attr_bytes, event.ids, event.ids_n, event.name};
    }
    int fd = open("d.data", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(rk_recording_open_fd(fd, events, 2, NULL, &recording, NULL), 0);
    while (rk_stream_next(stream, &record) == 1)
        assert_int_equal(rk_recording_append(recording, record->data, record->bytes), 0);
    assert_int_equal(rk_recording_finish(recording, NULL), 0);
    rk_recording_free(recording);
    rk_stream_free(stream);
    assert_int_equal(rk_recording_open_fd(fd, events, 0, NULL, &recording, NULL), -EINVAL);
    assert_int_equal(rk_recording_open_fd(fd, two, 2, NULL, &recording, NULL), -EINVAL); /* not empty */
    close(fd);
    reads("d.data", 100, 0, 0);
    assert_int_equal(rk_recording_open_fd(fd, two, 2, NULL, &recording, NULL), -EBADF);
}

/* What was flushed stays, and is said to be cut. */
static void never_finished(void **state)
{
    (void)state;
    struct rk_recording *recording = opened("e.data", 2, NULL);
    for (uint64_t i = 1; i <= 100; i++)
        assert_int_equal(sample(recording, i & 1, i, i + (i & 1)), 0);
    assert_int_equal(rk_recording_round(recording), 0);
    assert_int_equal(rk_recording_flush(recording), 0);
    reads("e.data", 100, 0, 1);
    rk_recording_free(recording);
    reads("e.data", 100, 0, 1);
}

static void through_a_pipe(void **state)
{
    (void)state;
    struct rk_recording *recording;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(rk_recording_open_fd(ends[1], two, 2, NULL, &recording, NULL), 0);
    for (uint64_t i = 1; i <= 100; i++)
        assert_int_equal(sample(recording, i & 1, i, i + (i & 1)), 0);
    assert_int_equal(rk_recording_finish(recording, NULL), 0);
    rk_recording_free(recording);
    close(ends[1]);
    int in = dup(STDIN_FILENO);
    assert_true(dup2(ends[0], STDIN_FILENO) >= 0);
    reads("-", 100, 0, 0);
    dup2(in, STDIN_FILENO);
    close(in);
    close(ends[0]);
}

static int opening(const struct rk_recording_event *events, size_t n, const char *why)
{
    struct rk_recording *recording = NULL;
    struct rk_error e = RK_INIT(e);
    int rc = rk_recording_open("x.data", events, n, NULL, &recording, &e);
    if (rc < 0 && why && !strstr(e.what, why))
        fail_msg("says %s, not %s", e.what, why);
    assert_true(rc < 0 || recording);
    rk_recording_free(recording);
    return rc;
}

static void refused_events(void **state)
{
    (void)state;
    struct rk_recording_event some[2] = {two[0], two[1]};
    struct perf_attr other = attr;
    unsigned char longer[sizeof attr + 8] = {0};

    assert_int_equal(opening(some, 0, "0 events"), -EINVAL);
    some[1].ids = &ids[0];
    assert_int_equal(opening(some, 2, "stands twice"), -EINVAL);
    some[1].ids_n = 0;
    assert_int_equal(opening(some, 2, "no id"), -EINVAL);
    some[1] = two[1];
    some[1].name = NULL;
    assert_int_equal(opening(some, 2, "name is NULL"), -EINVAL);
    some[1] = two[1];
    some[1].attr_bytes = 63;
    assert_int_equal(opening(some, 2, "63 bytes"), -EINVAL);
    some[1].attr_bytes = 5000;
    assert_int_equal(opening(some, 2, "5000 bytes"), -EINVAL);
    some[1] = (struct rk_recording_event){longer, sizeof longer, &ids[1], 1, "long"};
    memcpy(longer, &attr, sizeof attr);
    assert_int_equal(opening(some, 2, NULL), 0);
    longer[sizeof longer - 1] = 1;
    assert_int_equal(opening(some, 2, "does not know"), -E2BIG);
    other.sample_type = RK_SAMPLE_ID | RK_SAMPLE_IP;
    some[1] = (struct rk_recording_event){&other, sizeof other, &ids[1], 1, "other"};
    assert_int_equal(opening(some, 2, "IDENTIFIER"), -EINVAL);
    other.sample_type = RK_SAMPLE_WEIGHT | RK_SAMPLE_WEIGHT_STRUCT;
    assert_int_equal(opening(&some[1], 1, "WEIGHT"), -EINVAL);
    struct rk_recording_options o = RK_INIT(o, .compression = 23);
    struct rk_recording *recording;
    assert_int_equal(rk_recording_open("x.data", two, 2, &o, &recording, NULL), -EINVAL);
    assert_int_equal(rk_recording_open("no/x.data", two, 2, NULL, &recording, NULL), -ENOENT);
}

static void refused_records(void **state)
{
    (void)state;
    struct rk_recording *recording = opened("f.data", 2, NULL);
    _Alignas(8) unsigned char bytes[128] = {0};
    struct rk_layout *layout;
    const struct rk_record record = {.type = RK_RECORD_SAMPLE};
    const struct rk_sample s =
        RK_INIT(s, .present = FIELDS, .id = 72, .pid = 7, .tid = 8, .time = 5, .ip = 6, .period = 3);
    struct perf_header *header = (void *)bytes;

    assert_int_equal(rk_layout_open(&attr, sizeof attr, &layout, NULL), 0);
    int n = rk_layout_encode(layout, &record, &s, bytes, sizeof bytes);
    assert_int_equal(n, 48);
    assert_int_equal(rk_recording_append(recording, bytes, 48), 0);
    assert_int_equal(rk_recording_append(recording, bytes, 0), 0);
    assert_int_equal(rk_recording_append(recording, bytes + 1, 48), -EINVAL);
    assert_int_equal(rk_recording_append(recording, bytes, 40), -EINVAL);
    assert_int_equal(rk_recording_append(recording, bytes, 52), -EINVAL);
    assert_int_equal(rk_recording_append(recording, bytes, 56), -EINVAL); /* the next has no size */
    header->size = 40;
    assert_int_equal(rk_recording_append(recording, bytes, 40), -EBADMSG);
    header->size = 44;
    assert_int_equal(rk_recording_append(recording, bytes, 44), -EINVAL);
    header->size = 48;
    header->type = 68;
    assert_int_equal(rk_recording_append(recording, bytes, 48), -EINVAL);
    header->type = RK_RECORD_SAMPLE;
    bytes[8] = 99; /* its id */
    assert_int_equal(rk_recording_append(recording, bytes, 48), -ENOENT);
    assert_int_equal(sample(recording, 2, 6, 6), -ERANGE);
    assert_int_equal(rk_recording_write(recording, 0, &(struct rk_record){.type = RK_RECORD_SAMPLE},
                                        &(struct rk_sample){.size = sizeof s, .present = RK_SAMPLE_IP}),
                     -EINVAL);
    assert_int_equal(rk_recording_write(recording, 0, &(struct rk_record){.type = 99}, &s), -EINVAL);
    assert_int_equal(rk_recording_build_id(recording, 7, bytes, 20, "x"), -EINVAL);
    assert_int_equal(rk_recording_build_id(recording, RK_MODE_USER, bytes, 21, "x"), -EINVAL);
    assert_int_equal(rk_recording_finish(recording, NULL), 0);
    rk_recording_free(recording);
    rk_layout_free(layout);
    reads("f.data", 1, 0, 0);
}

static void no_space(void **state)
{
    (void)state;
    struct rk_recording *recording = NULL;
    struct rk_error e = RK_INIT(e);
    int fd = open("/dev/full", O_RDWR | O_CLOEXEC);
    if (fd < 0)
        skip();
    assert_int_equal(rk_recording_open_fd(fd, two, 2, NULL, &recording, &e), -ENOSPC);
    assert_int_equal(e.cause, RK_CAUSE_NO_SPACE);
    close(fd);
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(rk_recording_open_fd(ends[1], two, 2, NULL, &recording, NULL), 0);
    close(ends[0]);
    for (uint64_t i = 1; i <= 20000; i++) {
        int rc = sample(recording, 0, i, i);
        assert_true(rc == 0 || rc == -EPIPE);
    }
    assert_int_equal(rk_recording_finish(recording, &e), -EPIPE);
    assert_int_equal(rk_recording_finish(recording, &e), -EPIPE);
    rk_recording_free(recording);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back),  cmocka_unit_test(any_order),      cmocka_unit_test(copied),
        cmocka_unit_test(never_finished),  cmocka_unit_test(through_a_pipe), cmocka_unit_test(refused_events),
        cmocka_unit_test(refused_records), cmocka_unit_test(no_space),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, into_empty_directory, remove_directory);
}

/*
 * Wrong calls, as people make them: unknown bits, sizes, options that contradict each other or have no effect, places
 * after the end, handles in a state that does not fit. Each is refused, and the error names what is wrong. NULL:
 * test_null. Options of a set, one by one: unit/set/test_options.
 */
#include "../../temporary.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <reckon/reckon.h>

static struct rk_error e;
static char path[TEMPORARY];

/* The call returns this and says so; what or remedy contains the word. */
#define REFUSED(code_, word, call)                                                           \
    do {                                                                                     \
        e = (struct rk_error){.size = sizeof e};                                             \
        int rc_ = (int)(call);                                                               \
        if (rc_ != (code_) || e.code != (code_) || !*e.what)                                 \
            fail_msg("%s: %d, %d '%s'", #call, rc_, e.code, e.what);                         \
        if (!strstr(e.what, word) && !strstr(e.remedy, word))                                \
            fail_msg("%s: '%s' is neither in '%s' nor '%s'", #call, word, e.what, e.remedy); \
    } while (0)
/* A call without an error object. */
#define BARE(code, call) assert_int_equal(call, code)

static void host(void **state)
{
    struct rk_host *h = NULL;
    struct rk_cpu cpu = RK_INIT(cpu);
    struct rk_pmu pmu = RK_INIT(pmu);
    struct rk_feature_text text = RK_INIT(text);
    const char *where = NULL;
    int64_t limit = 7;

    (void)state;
    REFUSED(-ENOENT, "/nonexistent", rk_host_open("/nonexistent", &h, &e));
    assert_null(h);
    assert_int_equal(rk_host_open(NULL, &h, &e), 0);
    BARE(-EINVAL, rk_host_limit(h, 99, &limit));
    assert_int_equal(limit, 7);
    BARE(-EINVAL, rk_host_fact(h, 99));
    BARE(-EINVAL, rk_host_feature(h, 99));
    BARE(-EINVAL, rk_host_mount(h, 99, &where));
    BARE(-ENOENT, rk_host_cpu(h, -1, &cpu));
    BARE(-ENOENT, rk_host_cpu(h, 1000000, &cpu));
    BARE(-ERANGE, rk_host_pmu_get(h, 99999, &pmu));
    BARE(-ERANGE, rk_feature_describe(999, &text));
    cpu.size = 0;
    BARE(-EINVAL, rk_host_cpu(h, 0, &cpu));
    cpu.size = 5000;
    BARE(-EINVAL, rk_host_cpu(h, 0, &cpu));
    rk_host_free(h);
}

static void events(void **state)
{
    static const struct {
        const char *text, *word;
    } wrong[] = {
        {"", "no event"},
        {" ", "no event"},
        {",", "','"},
        {"cpu-clock,", "the end"},
        {"{}", "'}'"},
        {"{cpu-clock", "'}'"},
        {"cpu-clock:z", "'z'"},
        {"cpu-clock:uu", "twice"},
        {"cpu-clock:u:k", "':'"},
        {"mem:0:z", "'z'"},
        {"mem:0x1000/3:w", "1, 2, 4 or 8"},
        {"cpu-clock/period=0/", "0 is invalid"},
        {"cpu-clock/period=-1/", "number"},
        {"cpu-clock/name=/", "text"},
        {"cpu-clock/period=5,freq=7/", "not both"},
    };
    struct rk_event event = RK_INIT(event);
    struct rk_events *v = NULL;
    struct rk_host *h;

    (void)state;
    assert_int_equal(rk_host_open(NULL, &h, NULL), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        REFUSED(-EINVAL, wrong[i].word, rk_events_parse(h, wrong[i].text, &v, &e));
        assert_int_equal(e.cause, RK_CAUSE_SYNTAX);
        assert_true(e.position <= strlen(wrong[i].text));
        assert_null(v);
    }
    REFUSED(-ENOENT, "nosuch", rk_events_parse(h, "nosuch", &v, &e));
    REFUSED(-ENOENT, "nosuch", rk_events_parse_keep(h, "nosuch", &v, &e));
    assert_int_equal(rk_events_parse(h, "cpu-clock", &v, &e), 0);
    BARE(-ERANGE, rk_events_get(v, 1, &event));
    BARE(-ENOENT, rk_events_explain(v, 0, &e));
    BARE(-ERANGE, rk_events_explain(v, 1, &e));
    REFUSED(-EINVAL, "tracepoint", rk_events_filter(h, v, 0, "prev_pid==1", &e));
    REFUSED(-ERANGE, "9", rk_events_filter(h, v, 9, "prev_pid==1", &e));
    event.size = 3;
    BARE(-EINVAL, rk_events_get(v, 0, &event));
    rk_events_free(v);
    rk_host_free(h);
}

static void targets(void **state)
{
    struct rk_command_options o = RK_INIT(o);
    struct rk_target *t = NULL, *self, *cpus;
    char *program[] = {"true", NULL}, *missing[] = {"/nonexistent/program", NULL}, *directory[] = {"/", NULL};
    const char *none[] = {NULL}, *empty[] = {""};
    const int32_t ids[] = {-3};
    struct rk_host *h;

    (void)state;
    assert_int_equal(rk_host_open(NULL, &h, NULL), 0);
    REFUSED(-EINVAL, "thread 0", rk_target_thread(0, &t, &e));
    REFUSED(-EINVAL, "thread -1", rk_target_thread(-1, &t, &e));
    REFUSED(-EINVAL, "process 0", rk_target_process(0, &t, &e));
    REFUSED(-EINVAL, "process 0", rk_target_tree(0, &t, &e));
    REFUSED(-EINVAL, "process -3", rk_target_processes(ids, 1, &t, &e));
    REFUSED(-EINVAL, "ids", rk_target_processes(ids, 0, &t, &e));
    REFUSED(-EINVAL, "ids", rk_target_threads(NULL, 1, &t, &e));
    REFUSED(-ESRCH, "4194305", rk_target_process(4194305, &t, &e));
    REFUSED(-EINVAL, "\"\"", rk_target_cpus(h, "", &t, &e));
    REFUSED(-EINVAL, "x: byte 0", rk_target_cpus(h, "x", &t, &e));
    REFUSED(-EINVAL, "byte 2", rk_target_cpus(h, "3-1", &t, &e));
    REFUSED(-ERANGE, "so many", rk_target_cpus(h, "0-99999", &t, &e));
    REFUSED(-EINVAL, "0 cgroups", rk_target_cgroups(h, none, 0, NULL, &t, &e));
    BARE(-EINVAL, rk_target_cgroups(h, none, 1, NULL, &t, &e));
    BARE(-EINVAL, rk_target_cgroups(h, empty, 1, NULL, &t, &e));
    REFUSED(-ENOENT, "/nonexistent/program", rk_target_command(missing, NULL, &t, &e));
    REFUSED(-EACCES, "directory", rk_target_command(directory, NULL, &t, &e));
    o.flags = 2;
    REFUSED(-EINVAL, "0x2", rk_target_command(program, &o, &t, &e));
    o.flags = 0;
    o.err = 2;
    REFUSED(-EINVAL, "RK_COMMAND_STD_FDS", rk_target_command(program, &o, &t, &e));
    o = (struct rk_command_options)RK_INIT(o, .flags = RK_COMMAND_STD_FDS, .in = 9999, .out = -1, .err = -1);
    REFUSED(-EINVAL, "9999", rk_target_command(program, &o, &t, &e));
    o.in = -7;
    REFUSED(-EINVAL, "-7", rk_target_command(program, &o, &t, &e));
    o = (struct rk_command_options)RK_INIT(o, .reserved = 5);
    REFUSED(-EINVAL, "reserved", rk_target_command(program, &o, &t, &e));
    o = (struct rk_command_options)RK_INIT(o, .directory = "/nonexistent");
    REFUSED(-ENOENT, "/nonexistent", rk_target_command(program, &o, &t, &e));
    assert_null(t);

    assert_int_equal(rk_target_self(&self, NULL), 0);
    assert_int_equal(rk_target_cpus(h, NULL, &cpus, NULL), 0);
    REFUSED(-EINVAL, "command", rk_target_start(self, &e));
    REFUSED(-EINVAL, "list of their own", rk_target_on_cpus(cpus, h, "0", &e));
    REFUSED(-ENODEV, "7777", rk_target_on_cpus(self, h, "7777", &e));
    BARE(-EINVAL, rk_target_wait(cpus, 0, NULL));
    BARE(-EINVAL, rk_target_wait(self, 0, NULL));
    BARE(-EINVAL, rk_target_fd(cpus));
    assert_int_equal(rk_target_command(program, NULL, &t, NULL), 0);
    BARE(-EINVAL, rk_target_wait(t, 0, NULL)); /* it was not started */
    rk_target_free(t);
    rk_target_free(self);
    rk_target_free(cpus);
    rk_host_free(h);
}

/* A set that counts on this thread. */
static void set(void **state)
{
    struct {
        struct rk_set_options options;
        uint64_t unknown;
    } longer = {{.size = sizeof longer}, 1};
    struct rk_set_options o = {.size = 0};
    struct rk_value v[4] = {{0}};
    struct rk_instant when = RK_INIT(when);
    struct rk_metric metric = RK_INIT(metric);
    struct rk_slot slot = RK_INIT(slot);
    struct rk_note note = RK_INIT(note);
    struct rk_event event = RK_INIT(event);
    struct rk_rows *rows = NULL;
    struct rk_row row = RK_INIT(row);
    struct rk_stream *st = NULL;
    struct rk_events *one;
    struct rk_target *self;
    struct rk_set *s = NULL, *sets[2];
    struct rk_host *h;
    uint64_t n;

    (void)state;
    assert_int_equal(rk_host_open(NULL, &h, NULL), 0);
    assert_int_equal(rk_events_parse(h, "cpu-clock", &one, NULL), 0);
    assert_int_equal(rk_target_self(&self, NULL), 0);
    REFUSED(-EINVAL, "size is 0", rk_set_open(h, one, self, &o, &s, &e));
    o.size = 5000;
    REFUSED(-EINVAL, "5000", rk_set_open(h, one, self, &o, &s, &e));
    REFUSED(-E2BIG, "does not know", rk_set_open(h, one, self, &longer.options, &s, &e));
    o = (struct rk_set_options)RK_INIT(o, .flags = RK_SET_FREEZE);
    REFUSED(-EINVAL, "RK_SET_FREEZE", rk_set_open(h, one, self, &o, &s, &e));
    o = (struct rk_set_options)RK_INIT(o, .period = 1000000, .wakeup_bytes = 1 << 20, .ring_bytes = 1 << 16);
    REFUSED(-EINVAL, "wakeup_bytes", rk_set_open(h, one, self, &o, &s, &e));
    o = (struct rk_set_options)RK_INIT(o, .period = 1000000, .ring_bytes = 1024);
    REFUSED(-EINVAL, "ring_bytes", rk_set_open(h, one, self, &o, &s, &e));
    o = (struct rk_set_options)RK_INIT(o, .exclude =
                                              RK_EXCLUDE_USER | RK_EXCLUDE_KERNEL | RK_EXCLUDE_HYPERVISOR);
    REFUSED(-EINVAL, "nothing is left", rk_set_open(h, one, self, &o, &s, &e));
    o.exclude = RK_EXCLUDE_HOST | RK_EXCLUDE_GUEST;
    REFUSED(-EINVAL, "nothing is left", rk_set_open(h, one, self, &o, &s, &e));
    o = (struct rk_set_options)RK_INIT(o, .period = 1000000, .sample = RK_SAMPLE_CALLCHAIN,
                                       .exclude = RK_EXCLUDE_CHAIN_USER | RK_EXCLUDE_CHAIN_KERNEL);
    REFUSED(-EINVAL, "nothing is left", rk_set_open(h, one, self, &o, &s, &e));
    REFUSED(-ENOENT, "nosuch", rk_set_self("nosuch", &s, &e));
    REFUSED(-EINVAL, "process 0", rk_set_process(0, "cpu-clock", NULL, &s, &e));
    assert_null(s);

    assert_int_equal(rk_set_self("task-clock,page-faults:u", &s, &e), 0);
    BARE(-ENOENT, rk_set_value(s, "nothing", v));
    BARE(-ENOENT, rk_set_value(s, "", v));
    BARE(-ENODATA, rk_set_value(s, "task-clock", v)); /* it was not enabled */
    BARE(-EINVAL, rk_set_read(s, 0, v, NULL, 1));
    BARE(-ERANGE, rk_set_read(s, 1, v, NULL, 2));
    BARE(-EINVAL, rk_set_total(s, v, NULL, 1));
    BARE(-ERANGE, rk_set_fd(s, 0, 2));
    BARE(-ERANGE, rk_set_fd(s, 1, 0));
    BARE(-ERANGE, rk_set_id(s, 1, 0, &n));
    BARE(-ERANGE, rk_set_explain(s, 0, 2, &e));
    BARE(-ERANGE, rk_set_explain(s, 1, 0, &e));
    BARE(0, rk_set_explain(s, 0, 0, &e));
    assert_non_null(strstr(e.remedy, "rk_set_enable()"));
    BARE(-EOPNOTSUPP, rk_set_lost(s, 0, &n));
    BARE(-ERANGE, rk_set_lost(s, 2, &n));
    BARE(-ERANGE, rk_set_slot_get(s, 1, &slot));
    BARE(-ERANGE, rk_set_note_get(s, 99, &note));
    BARE(-ERANGE, rk_set_event_get(s, 2, &event));
    assert_int_equal(rk_set_event_get(s, 0, &event), 0);
    REFUSED(-EINVAL, "breakpoint", rk_set_modify(s, 0, &event, &e));
    REFUSED(-EINVAL, "9", rk_set_modify(s, 9, &event, &e));
    sets[0] = s, sets[1] = NULL;
    BARE(-EINVAL, rk_sets_read(sets, 2, v, NULL, 4, &when));
    BARE(-EINVAL, rk_sets_read(sets, 0, v, NULL, 4, &when));
    BARE(-EINVAL, rk_sets_read(sets, 1, v, NULL, 1, &when));
    BARE(-ERANGE, rk_metric_derive(s, v, 2, 1, 2, &metric));
    REFUSED(-EINVAL, "99", rk_rows_open(h, s, 99, &rows, &e));
    REFUSED(-EINVAL, "rk_target_on_cpus", rk_rows_open(h, s, RK_BY_CPU, &rows, &e));
    REFUSED(-EINVAL, "cgroups", rk_rows_open(h, s, RK_BY_CGROUP, &rows, &e));
    REFUSED(-EINVAL, "period", rk_stream_live(s, &st, &e));
    assert_true(!rows && !st);
    assert_int_equal(rk_rows_open(h, s, RK_BY_THREAD, &rows, &e), 0);
    BARE(-ERANGE, rk_rows_get(rows, 1, &row));
    BARE(-EINVAL, rk_rows_read(rows, v, NULL, 1));
    rk_rows_free(rows);
    rk_set_free(s);
    rk_target_free(self);
    rk_events_free(one);
    rk_host_free(h);
}

/* A set that samples this thread, its stream and captures. */
static void live(void **state)
{
    struct rk_set_options o = RK_INIT(o, .period = 1000000, .ring_bytes = 1 << 16);
    struct rk_capture_options c = RK_INIT(c, .path = path);
    struct rk_capture_stats stats = RK_INIT(stats);
    struct rk_stream_event event = RK_INIT(event);
    struct rk_record record = {.type = RK_RECORD_SAMPLE, .event = 77};
    struct rk_sample sample = RK_INIT(sample);
    struct rk_columns columns = RK_INIT(columns, .max = 4);
    struct rk_names *names = NULL;
    struct rk_capture *capture = NULL;
    struct rk_stream *st = NULL, *other = NULL;
    struct rk_loss loss = RK_INIT(loss);
    struct rk_field field = RK_INIT(field);
    struct rk_events *one;
    struct rk_target *self;
    struct rk_host *h;
    struct rk_set *s;
    uint64_t words[8];

    (void)state;
    close(mkstemp(temporary(path, "reckon-misuse-XXXXXX")));
    unlink(path);
    assert_int_equal(rk_host_open(NULL, &h, NULL), 0);
    assert_int_equal(rk_events_parse(h, "cpu-clock", &one, NULL), 0);
    assert_int_equal(rk_target_self(&self, NULL), 0);
    int rc = rk_set_open(h, one, self, &o, &s, &e);
    rk_target_free(self);
    rk_events_free(one);
    if (rc < 0 || rk_stream_live(s, &st, &e) < 0) { /* a room that may not sample */
        if (rc == 0)
            rk_set_free(s);
        rk_host_free(h);
        skip();
    }
    REFUSED(-EBUSY, "already", rk_stream_live(s, &other, &e));
    REFUSED(-EBUSY, "already", rk_capture_open(h, s, NULL, &c, &capture, &e));
    BARE(-EINVAL, rk_stream_world(st));
    BARE(-EINVAL, rk_stream_snapshot(st));
    BARE(-EINVAL, rk_stream_period(st, 0, 0));
    BARE(-EINVAL, rk_stream_period(st, 0, UINT64_MAX));
    BARE(-ERANGE, rk_stream_period(st, 9, 5));
    BARE(-ERANGE, rk_stream_refresh(st, 9, 5));
    BARE(-EINVAL, rk_stream_refresh(st, 0, 0));
    BARE(-ERANGE, rk_stream_event_get(st, 9, &event));
    BARE(-ERANGE, rk_stream_field_get(st, 0, 0, &field));
    BARE(-ERANGE, rk_stream_loss(st, 9, &loss));
    BARE(-EBADMSG, rk_stream_sample(st, &record, &sample));
    BARE(-EINVAL, rk_stream_read(st, &record, &sample));
    columns.chains = words, columns.chains_max = 4;
    BARE(-EINVAL, rk_stream_columns(st, &columns)); /* whose is which? */
    columns.chains = NULL, columns.chain_start = words;
    BARE(-EINVAL, rk_stream_columns(st, &columns));
    columns.size = 8;
    BARE(-EINVAL, rk_stream_columns(st, &columns));
    rk_stream_free(st);

    c.flags = 8;
    REFUSED(-EINVAL, "0x8", rk_capture_open(h, s, NULL, &c, &capture, &e));
    c.flags = RK_CAPTURE_UNWIND;
    REFUSED(-EINVAL, "RK_SAMPLE_STACK_USER", rk_capture_open(h, s, NULL, &c, &capture, &e));
    c.flags = 0, c.queue_bytes = 1 << 20;
    REFUSED(-EINVAL, "RK_CAPTURE_THREAD", rk_capture_open(h, s, NULL, &c, &capture, &e));
    c.flags = RK_CAPTURE_THREAD, c.queue_bytes = 5;
    REFUSED(-EINVAL, "1 MiB", rk_capture_open(h, s, NULL, &c, &capture, &e));
    c.flags = 0, c.queue_bytes = 0, c.unwind_regs = 1;
    REFUSED(-EINVAL, "RK_CAPTURE_UNWIND", rk_capture_open(h, s, NULL, &c, &capture, &e));
    c.unwind_regs = 0, c.compression = 23;
    REFUSED(-EINVAL, "22", rk_capture_open(h, s, NULL, &c, &capture, &e));
    c.compression = 0, c.path = "/nonexistent/file";
    REFUSED(-ENOENT, "/nonexistent/file", rk_capture_open(h, s, NULL, &c, &capture, &e));
    c.path = "/";
    BARE(-EINVAL, rk_capture_open(h, s, NULL, &c, &capture, &e));
    c.path = "";
    REFUSED(-ENOENT, "empty", rk_capture_open(h, s, NULL, &c, &capture, &e));
    assert_null(capture);
    c.path = path;
    assert_int_equal(rk_capture_open(h, s, NULL, &c, &capture, &e), 0);
    REFUSED(-EINVAL, "RK_CAPTURE_NAMES", rk_names_capture(capture, NULL, &names, &e));
    assert_int_equal(rk_capture_finish(capture, &stats, &e), 0);
    assert_int_equal(rk_capture_finish(capture, &stats, &e), 0);
    rk_capture_free(capture);
    BARE(-EBADMSG, rk_names_store(path, "x", 1, &e));
    unlink(path);
    rk_set_free(s);
    rk_host_free(h);
}

/* What needs no kernel: a recording of one sample, its profile, names and exports. */
static void files(void **state)
{
    uint64_t attr[16] = {(uint64_t)128 << 32 | 1, 9, 1, RK_SAMPLE_IP | RK_SAMPLE_TID | RK_SAMPLE_TIME};
    const struct rk_recording_event event = {.attr = attr, .attr_bytes = sizeof attr, .name = "fake"};
    const struct rk_recording_event nothing = {0};
    struct rk_record record = {.type = RK_RECORD_SAMPLE, .misc = RK_MODE_USER};
    struct rk_sample sample =
        RK_INIT(sample, .present = attr[3], .pid = 7, .tid = 7, .time = 5, .ip = 0x1000);
    struct rk_recording *recording = NULL;
    struct rk_profile_options o = RK_INIT(o, .flags = 16);
    struct rk_profile_filter filter = RK_INIT(filter, .flags = 64);
    const struct rk_profile *two[2] = {NULL, NULL};
    struct rk_profile *p = NULL, *part = NULL;
    struct rk_aggregate *a = NULL;
    struct rk_profile_diff *diff = NULL;
    struct rk_unnamed unnamed = RK_INIT(unnamed);
    struct rk_stream_build_id build_id = RK_INIT(build_id);
    struct rk_stream *st = NULL;
    uint32_t node;
    uint64_t words[8];

    (void)state;
    close(mkstemp(temporary(path, "reckon-misuse-XXXXXX")));
    unlink(path);
    REFUSED(-EINVAL, "attr", rk_recording_open(path, &nothing, 1, NULL, &recording, &e));
    REFUSED(-EINVAL, "events", rk_recording_open(path, NULL, 0, NULL, &recording, &e));
    REFUSED(-EBADF, "-1", rk_recording_open_fd(-1, &event, 1, NULL, &recording, &e));
    assert_int_equal(rk_recording_open(path, &event, 1, NULL, &recording, &e), 0);
    BARE(-ERANGE, rk_recording_write(recording, 1, &record, &sample));
    BARE(-EINVAL, rk_recording_append(recording, (char *)words + 1, 8));
    BARE(0, rk_recording_write(recording, 0, &record, &sample));
    BARE(0, rk_recording_finish(recording, &e));
    assert_true(rk_recording_write(recording, 0, &record, &sample) < 0);
    BARE(0, rk_recording_finish(recording, &e));
    rk_recording_free(recording);

    REFUSED(-ENOENT, "/nonexistent", rk_stream_file("/nonexistent", &st, &e));
    REFUSED(-EBADMSG, "empty", rk_stream_file("/dev/null", &st, &e));
    BARE(-EISDIR, rk_stream_file("/", &st, &e));
    assert_int_equal(rk_stream_file(path, &st, &e), 0);
    BARE(-EINVAL, rk_stream_fd(st));
    BARE(-ERANGE, rk_stream_build_id_get(st, 0, &build_id));
    BARE(-EINVAL, rk_stream_pause(st));
    BARE(-EINVAL, rk_stream_period(st, 0, 5));
    BARE(-EINVAL, rk_stream_world(st));
    rk_stream_free(st);

    REFUSED(-EINVAL, "0x10", rk_profile_file(path, &o, &p, NULL, &e));
    o = (struct rk_profile_options)RK_INIT(o, .event = 3);
    REFUSED(-EINVAL, "RK_PROFILE_EVENT", rk_profile_file(path, &o, &p, NULL, &e));
    o = (struct rk_profile_options)RK_INIT(o, .times = 9);
    REFUSED(-EINVAL, "times", rk_profile_file(path, &o, &p, NULL, &e));
    o = (struct rk_profile_options)RK_INIT(o, .wait_ns = 9);
    REFUSED(-EINVAL, "wait_ns", rk_profile_file(path, &o, &p, NULL, &e));
    o = (struct rk_profile_options)RK_INIT(o, .reserved = 9);
    REFUSED(-EINVAL, "reserved", rk_profile_file(path, &o, &p, NULL, &e));
    assert_null(p);
    assert_int_equal(rk_profile_file(path, NULL, &p, NULL, &e), 0);
    REFUSED(-EINVAL, "99", rk_profile_aggregate(p, 99, &a, &e));
    REFUSED(-EINVAL, "'xml'", rk_profile_export_path(p, "xml", path, &e));
    REFUSED(-ENOENT, "/nonexistent/o", rk_profile_export_path(p, "csv", "/nonexistent/o", &e));
    BARE(-EBADF, rk_profile_export_fd(p, "csv", -1, &e));
    REFUSED(-EINVAL, "0x40", rk_profile_select(p, &filter, &part, &e));
    filter = (struct rk_profile_filter)RK_INIT(filter, .name = "(");
    BARE(-EINVAL, rk_profile_select(p, &filter, &part, &e));
    filter = (struct rk_profile_filter)RK_INIT(filter, .process_n = 3);
    BARE(-EINVAL, rk_profile_select(p, &filter, &part, &e));
    filter = (struct rk_profile_filter)RK_INIT(filter, .from = 10, .to = 5);
    REFUSED(-EINVAL, "from", rk_profile_select(p, &filter, &part, &e));
    two[0] = p;
    REFUSED(-EINVAL, "NULL", rk_profile_merge(two, NULL, 2, &part, &e));
    REFUSED(-EINVAL, "99", rk_profile_diff(p, p, 99, 0, &diff, &e));
    REFUSED(-EINVAL, "99", rk_profile_diff(p, p, 0, 99, &diff, &e));
    BARE(-ERANGE, rk_profile_path(p, 999, &node, 1));
    BARE(-ERANGE, rk_profile_unnamed_get(p, 99, &unnamed));
    assert_true(!a && !part && !diff);
    assert_int_equal(rk_profile_diff(p, p, RK_PER_FUNCTION, RK_NORMALISE_WEIGHT, &diff, &e), 0);
    assert_int_equal(diff->size, sizeof *diff); /* set by the library */
    rk_profile_diff_free(diff);
    assert_int_equal(rk_profile_aggregate(p, RK_PER_FUNCTION, &a, &e), 0);
    assert_int_equal(a->size, sizeof *a);
    REFUSED(-EINVAL, "'html'", rk_aggregate_export_fd(p, a, "html", 1, &e));
    rk_aggregate_free(a);
    rk_profile_free(p);
    unlink(path);
}

static void names(void **state)
{
    struct rk_symbolizer_options o = RK_INIT(o, .flags = 1u << 30);
    struct rk_sources_options how = RK_INIT(how, .flags = 2);
    struct rk_unwinder_options unwind = RK_INIT(unwind, .machine = 5);
    struct rk_module module = RK_INIT(module, .kind = 99);
    unsigned char id[RK_BUILD_ID_BYTES];
    struct rk_symbolizer *sy = NULL;
    struct rk_sources *sources = NULL;
    struct rk_unwinder *unwinder = NULL;
    struct rk_process process = RK_INIT(process);
    const uint64_t at = 1;
    struct rk_symbol symbol;
    struct rk_image *image;

    (void)state;
    REFUSED(-EINVAL, "0x40000000", rk_symbolizer_open(&o, &sy, &e));
    o = (struct rk_symbolizer_options)RK_INIT(o, .root = "/nonexistent");
    REFUSED(-ENOENT, "/nonexistent", rk_symbolizer_open(&o, &sy, &e));
    assert_int_equal(rk_symbolizer_open(NULL, &sy, &e), 0);
    REFUSED(-EBADMSG, "damaged", rk_symbolizer_names(sy, "x", 1, &e));
    BARE(-EINVAL, rk_symbolizer_resolve(sy, &module, &at, 1, &symbol));
    REFUSED(-EINVAL, "0x2", rk_symbolizer_process(sy, 0, &at, 1, &how, &sources, &e));
    how = (struct rk_sources_options)RK_INIT(how, .reserved = 1);
    REFUSED(-EINVAL, "reserved", rk_symbolizer_process(sy, 0, &at, 1, &how, &sources, &e));
    REFUSED(-EINVAL, "-1", rk_symbolizer_process(sy, -1, &at, 1, NULL, &sources, &e));
    rk_symbolizer_free(sy);
    REFUSED(-EOPNOTSUPP, "machine 5", rk_unwinder_open(&unwind, &unwinder, &e));
    unwind = (struct rk_unwinder_options)RK_INIT(unwind, .reserved = 1);
    REFUSED(-EINVAL, "reserved", rk_unwinder_open(&unwind, &unwinder, &e));
    REFUSED(-ENOEXEC, "/etc/passwd", rk_module_build_id("/etc/passwd", id, &e));
    REFUSED(-ENOENT, "/nonexistent", rk_module_build_id("/nonexistent", id, &e));
    REFUSED(-EBADF, "-1", rk_module_build_id_fd(-1, id, &e));
    REFUSED(-ENOEXEC, "regular", rk_module_build_id("/dev/zero", id, &e));
    assert_int_equal(rk_image_open(&image, NULL), 0);
    BARE(-EINVAL, rk_image_feed_process(image, NULL, -1));
    BARE(-EINVAL, rk_image_feed_process(image, NULL, 0));
    BARE(-ESRCH, rk_image_feed_process(image, NULL, 4194305));
    BARE(-EINVAL, rk_image_feed_build_id(image, "/x", id, 0));
    BARE(-ERANGE, rk_image_module_get(image, RK_NO_MODULE, &module));
    BARE(-ESRCH, rk_image_process(image, 4194305, &process));
    rk_image_free(image);
}

static void others(void **state)
{
    struct rk_difference difference = RK_INIT(difference);
    struct rk_summary summary = RK_INIT(summary), none = RK_INIT(none);
    struct rk_list_options o = RK_INIT(o, .flags = 1u << 20);
    struct rk_attempt attempt = RK_INIT(attempt, .stage = RK_STAGE_OPEN, .code = -EACCES, .cpu = -1);
    double values[] = {1, 2, NAN}, scratch[3];
    struct rk_list_entry entry = RK_INIT(entry);
    struct rk_check check = RK_INIT(check);
    struct rk_doctor *doctor = NULL;
    struct rk_list *list = NULL;
    struct rk_layout *layout = NULL;
    struct rk_host *h;
    char text[80];
    int fd = -1;

    (void)state;
    BARE(-EINVAL, rk_stats_summary(values, scratch, 3, &summary));
    BARE(-EINVAL, rk_stats_summary(values, scratch, 0, &summary));
    BARE(-EINVAL, rk_stats_difference(&summary, &none, &difference));
    BARE(-EINVAL, rk_stats_holm(values, 3, values));
    BARE(-EINVAL, rk_stats_verdict(&difference, 0.5, "x", 7, text, sizeof text));
    BARE(-EINVAL, rk_stats_verdict(&difference, 0.5, "x", 1, text, 0));
    BARE(-EINVAL, rk_region_begin(NULL));
    BARE(-EINVAL, rk_region_end(NULL));
    REFUSED(-EINVAL, "1 bytes", rk_layout_open("x", 1, &layout, &e));
    REFUSED(-ENOENT, "/nonexistent/x", rk_sink_open_file("/nonexistent/x", 0, &fd, &e));
    REFUSED(-EINVAL, "flags", rk_sink_open_file("/nonexistent/x", 8, &fd, &e));
    BARE(-EBADF, rk_sink_write_fd((void *)(intptr_t)-1, "x", 1));
    assert_int_equal(rk_host_open(NULL, &h, NULL), 0);
    REFUSED(-EINVAL, "0x100000", rk_list_open(h, &o, &list, &e));
    o.flags = 0;
    const char *const words[] = {"page-faults"};
    o.words = words, o.words_n = 1;
    assert_int_equal(rk_list_open(h, &o, &list, &e), 0);
    BARE(-ERANGE, rk_list_get(list, rk_list_count(list), &entry));
    rk_list_free(list);
    assert_int_equal(rk_doctor_run(h, &doctor, &e), 0);
    BARE(-ERANGE, rk_doctor_check_get(doctor, rk_doctor_check_count(doctor), &check));
    rk_doctor_free(doctor);
    e = (struct rk_error){.size = sizeof e};
    attempt.flags = 1u << 30;
    BARE(-EINVAL, rk_explain(h, &attempt, &e));
    attempt.flags = 0, attempt.stage = RK_STAGE_EXPORT;
    BARE(-EINVAL, rk_explain(h, &attempt, &e));
    attempt.stage = RK_STAGE_OPEN, attempt.code = EACCES;
    BARE(-EINVAL, rk_explain(h, &attempt, &e));
    attempt.code = -EACCES;
    BARE(0, rk_explain(h, &attempt, &e));
    rk_host_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host), cmocka_unit_test(events), cmocka_unit_test(targets), cmocka_unit_test(set),
        cmocka_unit_test(live), cmocka_unit_test(files),  cmocka_unit_test(names),   cmocka_unit_test(others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A recording from beginning to end: a command, its samples, the file read back, what is said of losses. */
#include "session.h"

static char self[4096];

struct read_back {
    uint64_t samples, kernel_maps, comms;
    bool exact; /* the kernel counts lost samples: PERF_FORMAT_LOST, Linux 6.0 */
    struct rk_loss loss;
    struct rk_stream_info info;
};

static struct read_back read_file(const char *path)
{
    struct rk_error e = {.size = sizeof e};
    struct read_back b = {.loss = {.size = sizeof b.loss}, .info = {.size = sizeof b.info}};
    const struct rk_record *r;
    struct rk_stream *st;
    uint64_t last = 0;
    int rc;

    OK(rk_stream_file(path, &st, &e));
    while ((rc = rk_stream_next(st, &r)) == 1) {
        struct rk_mapping m = {.size = sizeof m};
        CHECK(r->time == 0 || r->time >= last);
        last = r->time;
        b.samples += r->type == RK_RECORD_SAMPLE;
        b.comms += r->type == RK_RECORD_COMM;
        b.kernel_maps += rk_record_mapping(r, &m) == 0 && m.pid == -1;
    }
    EQUAL(rc, 0);
    struct rk_stream_event event = {.size = sizeof event};
    EQUAL(rk_stream_event_get(st, 0, &event), 0);
    b.exact = event.read_format & 16;
    EQUAL(rk_stream_loss(st, RK_NO_EVENT, &b.loss), 0);
    EQUAL(rk_stream_info(st, &b.info), 0);
    b.info.host = b.info.command = ""; /* gone with the stream */
    rk_stream_free(st);
    return b;
}

/* Records to the command's end; the numbers of the recorder. */
static uint64_t counted; /* by the event, of the last recording */
static struct rk_capture_stats record(char *const argv[], const struct rk_set_options *o, const char *event,
                                      uint64_t *ret_ns)
{
    struct rk_error e = {.size = sizeof e};
    struct session s = session_open(event, argv, o);
    struct rk_capture_options co = {
        .size = sizeof co, .path = "data", .command = (const char *const[]){"reckon", "record", NULL}};
    struct rk_capture_stats stats = {.size = sizeof stats};
    struct rk_capture *c;
    int r;

    uint64_t begin = now_ns();
    OK(rk_capture_open(s.host, s.set, s.target, &co, &c, &e));
    OK(rk_target_start(s.target, &e));
    while ((r = rk_capture_step(c, 1000)) == 1)
        ;
    EQUAL(r, 0);
    EQUAL(rk_capture_step(c, 1000), 0);
    OK(rk_capture_finish(c, &stats, &e));
    rk_capture_free(c);
    *ret_ns = now_ns() - begin;
    session_wait(&s, 0);
    struct rk_value v = {0};
    EQUAL(rk_set_total(s.set, &v, NULL, 1), 0);
    counted = v.value;
    session_close(&s);
    return stats;
}

static void a_busy_command(void)
{
    struct rk_set_options o = {.size = sizeof o, .frequency = 2000, .records = RK_RECORDS_PROFILE};
    char *argv[] = {self, "busy", NULL};
    struct stat st;
    uint64_t ns;
    struct rk_capture_stats stats = record(argv, &o, "cpu-clock", &ns);
    struct read_back b = read_file("data");
    CHECK(stats.loss.kept > 100); /* 300 ms at 2 kHz, on a machine that may be busy */
    EQUAL(b.samples, stats.loss.kept);
    EQUAL(b.loss.present, RK_LOSS_LOST | RK_LOSS_SKIPPED);
    EQUAL(b.loss.kept, stats.loss.kept);
    EQUAL(b.loss.lost, stats.loss.lost);
    EQUAL(b.loss.skipped, stats.loss.skipped);
    EQUAL(b.info.cut, 0);
    CHECK(b.info.cpus >= 1);
    CHECK(b.comms >= 1);
    CHECK(!can_measure_all() || geteuid() != 0 || b.kernel_maps >= 1);
    EQUAL(stat("data", &st), 0);
    EQUAL(st.st_mode & 07777, 0600);
    EQUAL(st.st_size, stats.bytes);
    printf("kept %" PRIu64 ", lost %" PRIu64 ", skipped %" PRIu64 ", %" PRIu64 " bytes\n", stats.loss.kept,
           stats.loss.lost, stats.loss.skipped, stats.bytes);
}

/* The exact case: a sample for each fault, through the file and back. */
static void every_fault(void)
{
    struct rk_set_options o = {.size = sizeof o, .period = 1, .records = RK_RECORDS_PROFILE};
    char *argv[] = {self, "fault", NULL};
    uint64_t ns;
    struct rk_capture_stats stats = record(argv, &o, "page-faults", &ns);
    struct read_back b = read_file("data");
    CHECK(stats.loss.kept > 3000);
    EQUAL(stats.loss.lost, 0);
    EQUAL(stats.loss.skipped, 0);
    EQUAL(b.samples, stats.loss.kept);
    EQUAL(access("data.old", R_OK), 0);
}

/* Rings of one page, which fill while the recorder sleeps: what is not in the file is in its ledger. */
static void rings_too_small(void)
{
    struct rk_set_options o = {
        .size = sizeof o, .period = 1, .ring_bytes = (uint32_t)sysconf(_SC_PAGESIZE), .wakeup_bytes = 4000};
    char *argv[] = {self, "fault", NULL};
    uint64_t ns;
    struct rk_capture_stats stats = record(argv, &o, "page-faults", &ns);
    struct read_back b = read_file("data");
    printf("kept %" PRIu64 ", lost %" PRIu64 ", count %" PRIu64 "\n", b.samples, b.loss.lost, counted);
    EQUAL(b.samples, stats.loss.kept);
    EQUAL(b.loss.lost, stats.loss.lost);
    if (stats.loss.records_lost <=
        stats.loss.lost) /* else a kernel before 6.0, which has LOST records alone */
        EQUAL(b.samples + b.loss.lost, counted);
}

/* The end of the command is seen at once, not at the next full second. */
static void a_short_command(void)
{
    struct rk_set_options o = {.size = sizeof o, .frequency = 1000, .records = RK_RECORDS_PROFILE};
    char *argv[] = {self, "nothing", NULL};
    uint64_t ns, best = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        record(argv, &o, "cpu-clock", &ns);
        best = ns < best ? ns : best;
    }
    printf("recording nothing takes %.1f ms\n", (double)best / 1e6);
    CHECK(best < 500000000);
}

static void all(void)
{
    a_busy_command();
    every_fault();
    rings_too_small();
    a_short_command();
    unlink("data");
    unlink("data.old");
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        if (!strcmp(argv[1], "busy"))
            busy_ms(300);
        if (!strcmp(argv[1], "fault"))
            for (int i = 0; i < 3; i++)
                if (fork() == 0) {
                    touch(1000);
                    _exit(0);
                }
        while (wait(NULL) > 0)
            ;
        return 0;
    }
    use_directory_and_self(self, sizeof self);
    all();
    as_plain_user(all);
    return 0;
}

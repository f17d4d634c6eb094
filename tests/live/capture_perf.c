/* What reckon records, perf reads: the same samples, from whole recordings and from what a kill leaves. */
#include "perf_script.h"

static char self[4096];

static void record(const char *events, const struct rk_set_options *o, char *what)
{
    struct rk_error e = {.size = sizeof e};
    char *argv[] = {self, what, NULL};
    struct session s = session_open(events, argv, o);
    struct rk_capture_options co = {
        .size = sizeof co, .path = "data", .command = (const char *const[]){"reckon", "record", "a b", NULL}};
    struct rk_capture *c;
    OK(rk_capture_open(s.host, s.set, s.target, &co, &c, &e));
    OK(rk_target_start(s.target, &e));
    while (rk_capture_step(c, 20) == 1)
        ;
    OK(rk_capture_finish(c, NULL, &e));
    rk_capture_free(c);
    session_wait(&s, 0);
    session_close(&s);
}

static bool perf_says(const char *arguments, const char *wanted)
{
    char command[256], text[65536], rest[4096];
    snprintf(command, sizeof command, "perf %s 2>&1", arguments);
    FILE *p = popen(command, "r");
    size_t n = fread(text, 1, sizeof text - 1, p);
    text[n] = 0;
    while (fread(rest, 1, sizeof rest, p) > 0) /* perf that SIGPIPE ends leaves a file in /tmp */
        ;
    pclose(p);
    if (!strstr(text, wanted))
        printf("perf %s does not say \"%s\" but:\n%.3000s\n", arguments, wanted, text);
    return strstr(text, wanted) != NULL;
}

static void whole(void)
{
    struct rk_set_options o = {.size = sizeof o, .frequency = 3000, .records = RK_RECORDS_PROFILE};
    struct rk_stream_info info;
    record("cpu-clock", &o, "busy");
    size_t n = same_sights("data", &info);
    CHECK(n > 100);
    EQUAL(info.cut, 0);
    EQUAL(info.ordered, 0);
    CHECK(perf_says("report -i data --stdio --header", "cmdline : reckon record a b"));
    CHECK(perf_says("script -i data -F comm,ip,sym,dso", "capture_perf"));
    CHECK(perf_says("buildid-list -i data", "capture_perf"));
    if (can_measure_all() && geteuid() == 0)
        CHECK(perf_says("script -i data --show-mmap-events", "[kernel.kallsyms]_text"));
    printf("%zu samples\n", n);
}

static void chains_and_two_events(void)
{
    struct rk_set_options o = {
        .size = sizeof o, .frequency = 3000, .sample = RK_SAMPLE_CALLCHAIN, .records = RK_RECORDS_PROFILE};
    record("cpu-clock,page-faults", &o, "busy");
    CHECK(same_sights("data", NULL) > 100);
    CHECK(perf_says("evlist -i data", "page-faults"));
}

/* All CPUs for a while: there is no command whose end would end it. */
static void system_wide(void)
{
    struct rk_set_options o = {.size = sizeof o, .frequency = 1000, .records = RK_RECORDS_PROFILE};
    struct rk_capture_options co = {.size = sizeof co, .path = "data"};
    struct rk_error e = {.size = sizeof e};
    struct session s = {0};
    struct rk_capture *c;

    if (!can_measure_all())
        return;
    OK(rk_host_open(NULL, &s.host, &e));
    OK(rk_events_parse(s.host, "cpu-clock", &s.events, &e));
    OK(rk_target_cpus(s.host, NULL, &s.target, &e));
    OK(rk_set_open(s.host, s.events, s.target, &o, &s.set, &e));
    OK(rk_capture_open(s.host, s.set, s.target, &co, &c, &e));
    EQUAL(rk_set_enable(s.set), 0);
    for (uint64_t until = now_ns() + 200000000; now_ns() < until;)
        EQUAL(rk_capture_step(c, 50), 1);
    OK(rk_capture_finish(c, NULL, &e));
    rk_capture_free(c);
    session_close(&s);
    CHECK(same_sights("data", NULL) > 50);
    CHECK(perf_says("script -i data --show-task-events --show-mmap-events | grep capture_perf",
                    "capture_perf"));
}

/* The bytes of records that a file's header tells of. */
static uint64_t flushed(const char *path)
{
    uint64_t header[7] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool read_whole = fd >= 0 && read(fd, header, sizeof header) == (ssize_t)sizeof header;
    if (fd >= 0)
        close(fd);
    return read_whole ? header[6] : 0;
}

/* Killed while it writes, again and again: both still read the same samples, and some. */
static void killed(void)
{
    struct rk_set_options o = {.size = sizeof o, .period = 1, .records = RK_RECORDS_PROFILE};
    for (int i = 0; i < 3; i++) {
        struct rk_stream_info info;
        unlink("data");
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            setpgid(0, 0);
            record("page-faults", &o, "faults");
            _exit(0);
        }
        setpgid(pid, pid);
        while (flushed("data") < 50000) /* hundreds of samples */
            usleep(10000);
        usleep((unsigned)i * 111111u);
        kill(-pid, SIGKILL);
        CHECK(waitpid(pid, NULL, 0) == pid);
        size_t n = same_sights("data", &info);
        printf("killed: %zu samples\n", n);
        CHECK(n > 100);
        EQUAL(info.cut, 1);
    }
}

static void all(void)
{
    whole();
    chains_and_two_events();
    system_wide();
    killed();
    unlink("data");
    unlink("data.old");
    unlink("perf.err");
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        if (fork() == 0)
            busy_ms(200);
        if (!strcmp(argv[1], "faults"))
            for (int i = 0; i < 5000; i++) { /* it is killed */
                touch(100);
                usleep(5000);
            }
        else
            busy_ms(200);
        return 0;
    }
    if (!have("perf"))
        SKIP("perf is not installed, or not for this kernel");
    use_directory_and_self(self, sizeof self);
    all();
    as_plain_user(all);
    return 0;
}

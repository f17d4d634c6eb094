/* Recordings in every shape: packed by zstd, in pipe mode, both, with a thread; and perf's own. perf and reckon see the
 * same samples in each. */
#include "perf_script.h"

static char self[4096];

static void record(struct rk_capture_options co, struct rk_loss *ret_loss)
{
    struct rk_set_options o = {
        .size = sizeof o, .frequency = 3000, .sample = RK_SAMPLE_CALLCHAIN, .records = RK_RECORDS_PROFILE};
    struct rk_error e = {.size = sizeof e};
    char *argv[] = {self, "busy", NULL};
    struct session s = session_open("cpu-clock,page-faults", argv, &o);
    struct rk_capture_stats stats = {.size = sizeof stats};
    struct rk_capture *c;

    co.size = sizeof co;
    OK(rk_capture_open(s.host, s.set, s.target, &co, &c, &e));
    OK(rk_target_start(s.target, &e));
    while (rk_capture_step(c, 20) == 1)
        ;
    OK(rk_capture_finish(c, &stats, &e));
    rk_capture_free(c);
    *ret_loss = stats.loss;
    session_wait(&s, 0);
    session_close(&s);
}

/* As record(), standard output being the file `path`. The command's own goes there too, but it says nothing. */
static void record_to_pipe(const char *path, struct rk_capture_options co, struct rk_loss *ret_loss)
{
    fflush(stdout);
    int kept = dup(1), fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(kept >= 0 && fd >= 0 && dup2(fd, 1) == 1);
    co.path = "-";
    record(co, ret_loss);
    CHECK(dup2(kept, 1) == 1 && close(kept) == 0 && close(fd) == 0);
}

static void names(const char *path)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_stream_event event = {.size = sizeof event};
    struct rk_stream *st;
    OK(rk_stream_file(path, &st, &e));
    EQUAL(rk_stream_event_count(st), 2);
    OK(rk_stream_event_get(st, 1, &event));
    CHECK(strncmp(event.name, "page-faults", 11) == 0);
    rk_stream_free(st);
}

static void all(void)
{
    struct rk_loss loss;

    for (uint32_t threads = 0; threads < 2; threads++) {
        struct rk_capture_options plain = {.path = "data", .flags = threads ? RK_CAPTURE_THREAD : 0};
        record(plain, &loss);
        size_t n = same_sights("data", NULL);
        EQUAL(n, loss.kept);
        CHECK(n > 100);
        names("data");

        struct stat before, after;
        CHECK(stat("data", &before) == 0);
        struct rk_capture_options packed = {
            .path = "data", .flags = threads ? RK_CAPTURE_THREAD : 0, .compression = 3};
        record(packed, &loss);
        CHECK(stat("data", &after) == 0);
        n = same_sights("data", NULL);
        EQUAL(n, loss.kept);
        names("data");
        printf("threads %u: %zu samples, %ju bytes plain, %ju packed\n", threads, n,
               (uintmax_t)before.st_size, (uintmax_t)after.st_size);
        CHECK(after.st_size < before.st_size);

        record_to_pipe("data", plain, &loss);
        n = same_sights("data", NULL);
        EQUAL(n, loss.kept);
        names("data");
        record_to_pipe("data", packed, &loss);
        EQUAL(same_sights("data", NULL), loss.kept);
        printf("threads %u: pipes too\n", threads);
    }

    /* perf's own: file and pipe, packed or not. */
    static const char *const commands[] = {
        "perf record -q -g -F 3000 -o data %s busy >/dev/null 2>&1",
        "perf record -q -z -g -F 3000 -o data %s busy >/dev/null 2>&1",
        "perf record -q -g -F 3000 -o - %s busy >data 2>/dev/null",
        "perf record -q -z -g -F 3000 -o - %s busy >data 2>/dev/null",
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char command[8192];
        snprintf(command, sizeof command, commands[i], self);
        if (!perf_recorded(command, i < 2 ? "-i data" : "-i - <data")) {
            printf("%s: not here\n", commands[i]);
            continue;
        }
        size_t n = same_sights("data", NULL);
        CHECK(n > 50);
        printf("perf's %zu: %zu samples\n", i, n);
    }
    unlink("data");
    unlink("data.old");
    unlink("perf.err");
}

int main(int argc, char **argv)
{
    if (argc > 1 && argv[1]) {
        if (fork() == 0)
            busy_ms(100);
        busy_ms(150);
        return 0;
    }
    if (!have("perf"))
        SKIP("perf is not installed, or not for this kernel");
    use_directory_and_self(self, sizeof self);
    all();
    as_plain_user(all);
    return 0;
}

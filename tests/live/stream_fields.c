/*
 * Tracepoints by field: live, from our recording, from perf's, through a pipe; and samples as columns.
 */
#include "perf_script.h"

#include <sys/resource.h>

static char self[4096];

static uint64_t number(struct rk_stream *st, const struct rk_sample *s, const char *name, char *text,
                       size_t size)
{
    int n = rk_stream_fields(st, 0);
    CHECK(n > 4);
    for (int i = 0; i < n; i++) {
        struct rk_field f = {.size = sizeof f};
        struct rk_field_value v;
        EQUAL(rk_stream_field(st, 0, (size_t)i, &f), 0);
        if (strcmp(f.name, name) != 0)
            continue;
        EQUAL(rk_field_value(&f, s, &v), 0);
        if (v.bytes && text)
            snprintf(text, size, "%.*s", (int)v.n, (const char *)v.bytes);
        return v.number;
    }
    FAIL("no field %s", name);
    return 0;
}

/*
 * The waits in a recording, which is what a process does as it runs: with its name, for anyone (0), at its priority. (Its
 * end would be plainer; but before Linux 6.16 a thread's own counters are gone by then.)
 */
static void waits(const char *path, bool pipe)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_stream *st;
    const struct rk_record *r;
    int seen = 0;
    OK(rk_stream_file(path, &st, &e));
    while (rk_stream_next(st, &r) == 1) {
        struct rk_sample s = {.size = sizeof s};
        char name[32] = "";
        if (rk_stream_sample(st, r, &s) < 0)
            continue;
        CHECK(s.present & RK_SAMPLE_RAW);
        seen++;
        if (pipe) /* the tracing data is passed over there, whatever its length */
            continue;
        EQUAL(number(st, &s, "common_pid", NULL, 0), (uint64_t)s.tid);
        EQUAL(number(st, &s, "pid", NULL, 0), 0);
        number(st, &s, "comm", name, sizeof name);
        EQUAL(strcmp(name, "stream_fields"), 0);
        EQUAL(number(st, &s, "prio", NULL, 0), (uint64_t)(120 + getpriority(PRIO_PROCESS, 0)));
    }
    struct rk_field f = {.size = sizeof f};
    EQUAL(rk_stream_field(st, 0, 1000, &f), pipe ? -ENOENT : -ERANGE);
    EQUAL(rk_stream_fields(st, 7), -ERANGE);
    rk_stream_close(st);
    EQUAL(seen, 2);
    printf("%s: %d waits\n", path, seen);
}

static void recorded(void)
{
    struct rk_set_options o = {.size = sizeof o, .period = 1, .records = RK_RECORDS_PROFILE};
    struct rk_error e = {.size = sizeof e};
    char *argv[] = {self, "two", NULL};
    struct session s = session_open("sched:sched_process_wait", argv, &o);
    struct rk_capture_options co = {.size = sizeof co, .path = "data"};
    struct rk_capture *c;
    OK(rk_capture_open(s.host, s.set, s.target, &co, &c, &e));
    OK(rk_target_start(s.target, &e));
    while (rk_capture_step(c, 20) == 1)
        ;
    OK(rk_capture_close(c, NULL, &e));
    session_wait(&s, 0);
    session_close(&s);
    waits("data", false);
    if (!have("perf"))
        return;
    char command[8192];
    CHECK(system("perf script -i data 2>perf.err | grep -c 'comm=stream_fields pid=0' | grep -qx 2") == 0);
    snprintf(command, sizeof command,
             "perf record -q -e sched:sched_process_wait -o data %s two >/dev/null 2>&1", self);
    if (system(command) != 0)
        return;
    waits("data", false);
    snprintf(command, sizeof command,
             "perf record -q -e sched:sched_process_wait -o - %s two 2>perf.err | cat >data", self);
    CHECK(system(command) == 0);
    waits("data", true);
}

static void live(void)
{
    struct rk_set_options o = {.size = sizeof o, .period = 1, .no_inherit = 1};
    struct rk_error e = {.size = sizeof e};
    struct session s = session_open("sched:sched_switch", NULL, &o);
    struct rk_stream *st;
    const struct rk_record *r;
    int seen = 0;
    OK(rk_stream_live(s.set, &st, &e));
    rk_set_enable(s.set);
    for (int i = 0; i < 5; i++)
        usleep(1000);
    rk_set_disable(s.set);
    rk_stream_drain(st);
    while (rk_stream_next(st, &r) == 1) {
        struct rk_sample one = {.size = sizeof one};
        char name[32] = "";
        if (rk_stream_sample(st, r, &one) < 0)
            continue;
        number(st, &one, "prev_comm", name, sizeof name);
        EQUAL(strcmp(name, "stream_fields"), 0);
        EQUAL(number(st, &one, "prev_pid", NULL, 0), (uint64_t)getpid());
        seen++;
    }
    CHECK(seen >= 5);
    rk_stream_close(st);
    session_close(&s);
}

/* Columns say the same as samples one by one, in batches of any size, with chains. */
static void columns(void)
{
    struct rk_set_options o = {
        .size = sizeof o, .period = 1, .sample = RK_SAMPLE_CALLCHAIN, .records = RK_RECORDS_PROFILE};
    struct rk_error e = {.size = sizeof e};
    char *argv[] = {self, "two", NULL};
    struct session s = session_open("page-faults:u", argv, &o);
    struct rk_capture_options co = {.size = sizeof co, .path = "data"};
    struct rk_capture *c;
    OK(rk_capture_open(s.host, s.set, s.target, &co, &c, &e));
    OK(rk_target_start(s.target, &e));
    while (rk_capture_step(c, 20) == 1)
        ;
    OK(rk_capture_close(c, NULL, &e));
    session_wait(&s, 0);
    session_close(&s);

    for (uint64_t max = 1; max <= 1000; max = max * 7 + 1) {
        static uint64_t time[1000], ip[1000], period[1000], start[1001], chains[500];
        static int32_t tid[1000];
        static uint32_t event[1000];
        struct rk_columns k = {.size = sizeof k,
                               .max = max,
                               .time = time,
                               .ip = ip,
                               .period = period,
                               .tid = tid,
                               .event = event,
                               .chain_start = start,
                               .chains = chains,
                               .chains_max = max % 2 ? 500 : 150};
        struct rk_stream *one, *many;
        const struct rk_record *r;
        int64_t n, total = 0;
        OK(rk_stream_file("data", &one, &e));
        OK(rk_stream_file("data", &many, &e));
        while ((n = rk_stream_columns(many, &k)) > 0) {
            EQUAL(k.damaged, 0);
            for (int64_t i = 0; i < n; i++, total++) {
                struct rk_sample x = {.size = sizeof x};
                do
                    EQUAL(rk_stream_next(one, &r), 1);
                while (r->type != RK_RECORD_SAMPLE);
                EQUAL(rk_stream_sample(one, r, &x), 0);
                EQUAL(time[i], x.time);
                EQUAL(ip[i], x.ip);
                EQUAL(tid[i], x.tid);
                EQUAL(period[i], 1);
                EQUAL(event[i], 0);
                EQUAL(start[i + 1] - start[i], x.chain_n);
                CHECK(memcmp(chains + start[i], x.chain, x.chain_n * 8) == 0);
            }
        }
        EQUAL(n, 0);
        struct rk_loss loss = {.size = sizeof loss};
        EQUAL(rk_stream_loss(many, 0, &loss), 0);
        EQUAL(loss.kept, (uint64_t)total);
        CHECK(total > 20);
        rk_stream_close(one);
        rk_stream_close(many);
    }
    unlink("data");
}

int main(int argc, char **argv)
{
    if (argc > 1 && argv[1]) {
        for (int i = 0; i < 2; i++)
            if (fork() == 0)
                _exit(0);
            else
                wait(NULL);
        return 0;
    }
    use_directory_and_self(self, sizeof self);
    columns();
    as_plain_user(columns);
    recorded(); /* skips where tracefs can't be read */
    live();
    return 0;
}

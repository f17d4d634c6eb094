/*
 * Tracepoints by field: live, from our recording, from perf's, through a pipe; and samples as columns.
 */
#include "perf_script.h"

#include <sys/mman.h>
#include <sys/resource.h>

static char self[4096];

static uint64_t number(struct rk_stream *st, const struct rk_sample *s, const char *name, char *text,
                       size_t size)
{
    size_t n = rk_stream_field_count(st, 0);
    CHECK(n > 4);
    for (size_t i = 0; i < n; i++) {
        struct rk_field f = {.size = sizeof f};
        struct rk_field_value v;
        EQUAL(rk_stream_field_get(st, 0, i, &f), 0);
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
static void waits(const char *path)
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
        if (live_global_pids())
            EQUAL(number(st, &s, "common_pid", NULL, 0), (uint64_t)s.tid);
        EQUAL(number(st, &s, "pid", NULL, 0), 0);
        number(st, &s, "comm", name, sizeof name);
        EQUAL(strcmp(name, "stream_fields"), 0);
        EQUAL(number(st, &s, "prio", NULL, 0), (uint64_t)(120 + getpriority(PRIO_PROCESS, 0)));
    }
    struct rk_field f = {.size = sizeof f};
    EQUAL(rk_stream_field_get(st, 0, 1000, &f), -ERANGE);
    EQUAL(rk_stream_field_count(st, 7), 0);
    EQUAL(rk_stream_field_get(st, 7, 0, &f), -ERANGE);
    rk_stream_free(st);
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
    OK(rk_capture_finish(c, NULL, &e));
    rk_capture_free(c);
    session_wait(&s, 0);
    session_close(&s);
    waits("data");
    if (!have("perf"))
        return;
    char command[8192];
    CHECK(system("perf script -i data 2>perf.err | grep -c 'comm=stream_fields pid=0' | grep -qx 2") == 0);
    snprintf(command, sizeof command,
             "perf record -q -e sched:sched_process_wait -o data %s two >/dev/null 2>&1", self);
    if (!perf_recorded(command, "-i data"))
        return;
    waits("data");
    snprintf(command, sizeof command,
             "perf record -q -e sched:sched_process_wait -o - %s two 2>perf.err | cat >data", self);
    CHECK(perf_recorded(command, "-i - <data"));
    waits("data");
}

static void live(void)
{
    struct rk_set_options o = {.size = sizeof o, .period = 1, .flags = RK_SET_NO_INHERIT};
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
        if (live_global_pids())
            EQUAL(number(st, &one, "prev_pid", NULL, 0), (uint64_t)getpid());
        seen++;
    }
    CHECK(seen >= 5);
    rk_stream_free(st);
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
    OK(rk_capture_finish(c, NULL, &e));
    rk_capture_free(c);
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
        rk_stream_free(one);
        rk_stream_free(many);
    }
    unlink("data");
}

#define FAULTS 3000

static void note(void *context, const struct rk_record *record)
{
    CHECK(record->type != RK_RECORD_SAMPLE);
    ++*(int *)context;
}

/* By the batch, out of a live ring: every fault once for each event, in order, with its address, whatever lies between them
 * and however many there is room for. */
static void columns_live(const char *text, uint32_t events, uint64_t sample, uint64_t max, uint64_t words)
{
    struct rk_set_options o = {.size = sizeof o,
                               .period = 1,
                               .flags = RK_SET_NO_INHERIT,
                               .ring_bytes = 4 << 20,
                               .sample = RK_SAMPLE_ADDR | sample,
                               .records = RK_RECORDS_PROFILE};
    struct rk_error e = {.size = sizeof e};
    struct session s = session_open(text, NULL, &o);
    static uint64_t time[1000], addr[1000], ip[1000], period[1000], present[1000], id[1000], start[1001],
        chains[20000];
    static int32_t pid[1000], tid[1000];
    static uint32_t event[1000], misc[1000], cpu[1000];
    int others = 0;
    struct rk_columns k = {.size = sizeof k,
                           .max = max,
                           .time = time,
                           .addr = addr,
                           .ip = ip,
                           .period = period,
                           .present = present,
                           .id = id,
                           .pid = pid,
                           .tid = tid,
                           .event = event,
                           .misc = misc,
                           .cpu = cpu,
                           .chain_start = start,
                           .chains = chains,
                           .chains_max = words,
                           .each = note,
                           .context = &others};
    struct rk_stream *st;
    char *at = mmap(NULL, FAULTS * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(at != MAP_FAILED);
    madvise(at, FAULTS * 4096, MADV_NOHUGEPAGE);
    OK(rk_stream_live(s.set, &st, &e));
    rk_set_enable(s.set);
    for (int i = 0; i < FAULTS; i++) {
        ((volatile char *)at)[i * 4096] = 1;
        if (i % 500 == 7) /* a mapping of code is a record between them */
            munmap(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
    }
    rk_set_disable(s.set);
    uint64_t seen[2] = {0}, last = 0, all = 0;
    int64_t n;
    while ((n = rk_stream_columns(st, &k)) > 0) {
        EQUAL(k.damaged, 0);
        for (int64_t i = 0; i < n; i++, all++) {
            CHECK(event[i] < events && time[i] >= last && id[i] && cpu[i] < 4096);
            CHECK((present[i] & (RK_SAMPLE_ADDR | sample)) == (RK_SAMPLE_ADDR | sample));
            last = time[i];
            EQUAL(pid[i], getpid());
            EQUAL(tid[i], getpid());
            EQUAL(period[i], 1);
            if (addr[i] < (uint64_t)(uintptr_t)at ||
                addr[i] >= (uint64_t)(uintptr_t)at + (uint64_t)FAULTS * 4096)
                continue;
            EQUAL(addr[i], (uint64_t)(uintptr_t)at + seen[event[i]]++ * 4096);
            EQUAL(misc[i] & RK_MISC_MODE, 2);
            if (sample & RK_SAMPLE_CALLCHAIN) {
                CHECK(start[i + 1] - start[i] > 1);
                EQUAL(chains[start[i]], RK_CHAIN_USER);
                EQUAL(chains[start[i] + 1], ip[i]);
            } else {
                EQUAL(start[i + 1], 0);
            }
        }
    }
    EQUAL(n, 0);
    for (uint32_t i = 0; i < events; i++)
        EQUAL(seen[i], FAULTS);
    CHECK(others >= FAULTS / 500);
    struct rk_loss loss = {.size = sizeof loss};
    EQUAL(rk_stream_loss(st, RK_NO_EVENT, &loss), 0);
    EQUAL(loss.kept, all);
    EQUAL(loss.lost, 0);
    munmap(at, FAULTS * 4096);
    rk_stream_free(st);
    session_close(&s);
    printf("%s, %ju at a time: %ju rows, %d other records\n", text, (uintmax_t)max, (uintmax_t)all, others);
}

static void columns_of_rings(void)
{
    columns_live("page-faults:u", 1, 0, 1000, 20000);
    columns_live("page-faults:u", 1, RK_SAMPLE_CALLCHAIN, 1000, 20000);
    columns_live("page-faults:u", 1, RK_SAMPLE_CALLCHAIN, 300, 150);
    columns_live("page-faults:u,minor-faults:u", 2, RK_SAMPLE_PERIOD, 7, 20000);
    columns_live("page-faults:u,minor-faults:u", 2, RK_SAMPLE_PERIOD | RK_SAMPLE_CALLCHAIN, 999, 400);
    columns_live("page-faults:u,minor-faults:u", 2, 0, 100, 20000); /* periods are not told: one by one */
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
    columns_of_rings();
    recorded(); /* skips where tracefs can't be read */
    live();
    return 0;
}

/*
 * READ records (RK_RECORDS_READS): each thread and each child that ends says what every event counted in it. Threads
 * and children of a known number of accesses each: the records are those numbers, and their sum is the total.
 */
#include "session.h"

#include <pthread.h>

#define THREADS 8
#define CHILDREN 3

static volatile int watched;

static void write_often(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        watched = (int)i;
}

static void *thread_main(void *index)
{
    write_often(100 * (1 + (unsigned)(uintptr_t)index));
    return NULL;
}

static void run_all(void)
{
    pthread_t threads[THREADS];

    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, thread_main, (void *)i) == 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < CHILDREN; i++) {
        int status;
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            write_often(10000 * (1 + i));
            _exit(0);
        }
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
}

/* Joined threads may still be on their way out: their records come when they are gone. */
static void wait_for_threads(void)
{
    for (unsigned n = 2; n > 1;) {
        DIR *tasks = opendir("/proc/self/task");
        CHECK(tasks != NULL);
        n = 0;
        for (const struct dirent *entry; (entry = readdir(tasks));)
            n += entry->d_name[0] != '.';
        closedir(tasks);
        if (n > 1)
            usleep(1000);
    }
}

static struct who {
    int32_t tid;
    uint64_t hits;
} who[4 * (THREADS + CHILDREN)];
static unsigned who_n;

static void add(int32_t tid, uint64_t hits)
{
    unsigned i = 0;

    while (i < who_n && who[i].tid != tid)
        i++;
    CHECK(i < sizeof who / sizeof *who);
    who_n += i == who_n;
    who[i].tid = tid;
    who[i].hits += hits;
}

static void measured(void)
{
    struct rk_error e = RK_INIT(e);
    struct rk_set_options o = RK_INIT(o, .records = RK_RECORDS_READS);
    struct rk_value total[2] = {{0}};
    const uint64_t expected = 100 * THREADS * (THREADS + 1) / 2 + 10000 * CHILDREN * (CHILDREN + 1) / 2;
    uint64_t sum[2] = {0}, wrong = 0;
    const struct rk_record *r;
    struct rk_stream *st;
    char events[80];
    int rc;

    who_n = 0;
    memset(who, 0, sizeof who);
    catch_strays();
    uint64_t strays_before = strays();
    snprintf(events, sizeof events, "mem:%p/4:w:u,page-faults:u", (void *)(uintptr_t)&watched);
    struct session s = session_open(events, NULL, &o);
    OK(rk_stream_live(s.set, &st, &e));
    EQUAL(rk_set_enable(s.set), 0);
    run_all();
    wait_for_threads();
    EQUAL(rk_set_disable(s.set), 0);
    EQUAL(rk_set_total(s.set, total, NULL, 2), 0);
    rk_stream_drain(st);
    for (; (rc = rk_stream_next(st, &r)) == 1; rk_stream_release(st)) {
        struct rk_sample v = RK_INIT(v);
        struct rk_read read;
        if (rk_stream_read(st, r, &v) < 0)
            continue;
        CHECK(r->event < 2 && v.read_n == 1 && rk_sample_read(&v, 0, &read) == 0);
        CHECK(v.tid != getpid() && v.read_running <= v.read_enabled);
        sum[r->event] += read.value;
        if (r->event == 0)
            add(v.tid, read.value);
    }
    EQUAL(rc, 0);
    uint64_t lost = strays() - strays_before;
    printf("%u ended; hits %" PRIu64 " of %" PRIu64 ", %" PRIu64 " strays; faults %" PRIu64 " of %" PRIu64
           "\n",
           who_n, sum[0], expected, lost, sum[1], total[1].value);
    if (who_n == 0)
        SKIP("this kernel writes no READ record when a thread ends (Linux 5.13 to 6.18)");
    EQUAL(who_n, THREADS + CHILDREN);
    EQUAL(sum[0], total[0].value);
    EQUAL(sum[0] + lost, expected);
    for (uint64_t i = 1; i <= THREADS + CHILDREN; i++) { /* each has its own number */
        uint64_t of = i <= THREADS ? 100 * i : 10000 * (i - THREADS);
        unsigned found = 0;
        while (found < who_n && who[found].hits != of)
            found++;
        wrong += found == who_n;
    }
    CHECK(wrong <= lost);
    /* This thread itself faults too, and has no record. */
    CHECK(sum[1] > 0 && sum[1] < total[1].value);
    rk_stream_free(st);
    session_close(&s);
}

int main(void)
{
    measured();
    as_plain_user(measured);
    return 0;
}

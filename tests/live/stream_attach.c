/*
 * A process that runs already, whose threads come and go: those that end don't keep the descriptor ready for ever, the
 * others go on being sampled, and the end of all is the end of a recording. Its names and mappings are in the file.
 */
#include "session.h"

#include <poll.h>
#include <pthread.h>

static pthread_barrier_t named, begun; /* both threads, and main */
static int go = -1;                    /* written to: they work */
static pthread_t threads[2];           /* the process's: "short" and "long" */

static void *busy_thread(void *is_long)
{
    pthread_setname_np(pthread_self(), is_long ? "long" : "short");
    pthread_barrier_wait(&named);
    pthread_barrier_wait(&begun);
    if (is_long)
        pthread_join(threads[0], NULL);
    busy_ms(is_long ? 250 : 150);
    return NULL;
}

/* The process: says that its threads are there; then, when it may, "short" works, and "long" when that has ended. */
static void work(int in, int out)
{
    char c;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* where it can't be attached to */
    CHECK(pthread_barrier_init(&named, NULL, 3) == 0 && pthread_barrier_init(&begun, NULL, 3) == 0);
    CHECK(pthread_create(&threads[0], NULL, busy_thread, NULL) == 0);
    CHECK(pthread_create(&threads[1], NULL, busy_thread, &go) == 0);
    pthread_barrier_wait(&named);
    CHECK(write(out, "!", 1) == 1 && read(in, &c, 1) == 1);
    pthread_barrier_wait(&begun);
    pthread_join(threads[1], NULL);
    _exit(0);
}

static pid_t start(void)
{
    int ends[2], begins[2];
    char c;
    CHECK(pipe(ends) == 0 && pipe(begins) == 0);
    fflush(stdout);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        work(begins[0], ends[1]);
    CHECK(read(ends[0], &c, 1) == 1);
    close(begins[0]);
    go = begins[1];
    close(ends[0]);
    close(ends[1]);
    return pid;
}

static struct rk_host *host;
static struct rk_events *events;
static struct rk_target *target;
static struct rk_set *set;
static struct rk_error e = {.size = sizeof e};

static void attach(pid_t pid)
{
    struct rk_set_options o = {.size = sizeof o, .frequency = 1000, .records = RK_RECORDS_PROFILE};
    OK(rk_host_open(NULL, &host, &e));
    OK(rk_events_parse(host, "cpu-clock", &events, &e));
    OK(rk_target_process(pid, &target, &e));
    int r = rk_set_open(host, events, target, &o, &set, &e);
    if (r == -EACCES || r == -EPERM)
        SKIP("a process can't be attached to here: %s", e.what);
    OK(r);
}

static void detach(pid_t pid)
{
    close(go);
    set = rk_set_free(set);
    target = rk_target_free(target);
    events = rk_events_free(events);
    host = rk_host_free(host);
    waitpid(pid, NULL, 0);
}

static void live(void)
{
    pid_t pid = start();
    struct rk_stream *st;
    const struct rk_record *r;
    unsigned wakes = 0, late = 0, exits = 0;
    attach(pid);
    CHECK(rk_set_slot_count(set) >= 3);
    OK(rk_stream_live(set, &st, &e));
    EQUAL(rk_set_enable(set), 0);
    CHECK(write(go, "!", 1) == 1);
    uint64_t begin = now_ns();
    struct pollfd fds[2] = {{.fd = rk_stream_fd(st), .events = POLLIN},
                            {.fd = rk_target_fd(target), .events = POLLIN}};
    while (!fds[1].revents && now_ns() - begin < 100000000000u) {
        CHECK(poll(fds, 2, 50) >= 0);
        wakes++;
        for (; rk_stream_next(st, &r) == 1; rk_stream_release(st)) {
            exits += r->type == RK_RECORD_EXIT;
            late += exits && r->type == RK_RECORD_SAMPLE;
        }
    }
    printf("%u wake-ups, %u samples after the first thread's end\n", wakes, late);
    CHECK(late > 20);
    CHECK(wakes < 400 + (now_ns() - begin) / 10000000); /* on a busy machine it takes longer */
    rk_stream_free(st);
    detach(pid);
}

static void recording(void)
{
    struct rk_capture_options co = {.size = sizeof co, .path = "data"};
    struct rk_capture_stats stats = {.size = sizeof stats};
    const struct rk_record *r;
    struct rk_capture *c;
    struct rk_stream *st;
    unsigned comms = 0, own = 0, of_thread = 0, steps = 0;
    int rc;

    pid_t pid = start();
    attach(pid);
    OK(rk_capture_open(host, set, target, &co, &c, &e));
    EQUAL(rk_set_enable(set), 0);
    CHECK(write(go, "!", 1) == 1);
    while ((rc = rk_capture_step(c, 50)) == 1)
        CHECK(++steps < 1000);
    EQUAL(rc, 0);
    OK(rk_capture_finish(c, &stats, &e));
    rk_capture_free(c);
    CHECK(stats.loss.kept > 50);
    detach(pid);

    OK(rk_stream_file("data", &st, &e));
    for (; rk_stream_next(st, &r) == 1; rk_stream_release(st)) {
        struct rk_comm comm = {.size = sizeof comm};
        struct rk_mapping m = {.size = sizeof m};
        if (rk_record_comm(r, &comm) == 0 && r->time == 0) {
            comms++;
            of_thread += !strcmp(comm.name, "short") || !strcmp(comm.name, "long");
            EQUAL(comm.pid, pid);
        }
        if (rk_record_mapping(r, &m) == 0 && m.pid == pid)
            own += strstr(m.path, "stream_attach") != NULL;
    }
    EQUAL(comms, 3);
    EQUAL(of_thread, 2);
    CHECK(own >= 1);
    rk_stream_free(st);
}

static void all(void)
{
    live();
    recording();
    unlink("data");
    unlink("data.old");
}

int main(void)
{
    use_directory();
    all();
    as_plain_user(all);
    return 0;
}

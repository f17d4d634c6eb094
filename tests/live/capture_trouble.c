/* What can go wrong while recording: a full disk, a signal, a forked child, no locked memory. */
#include "session.h"

#include <sys/resource.h>

static char self[4096];
static struct rk_error e = {.size = sizeof e};

static uint64_t samples_in(const char *path, uint32_t *ret_cut)
{
    struct rk_stream_info info = {.size = sizeof info};
    struct rk_stream *st;
    const struct rk_record *r;
    uint64_t n = 0;
    int rc;
    OK(rk_stream_file(path, &st, &e));
    while ((rc = rk_stream_next(st, &r)) == 1)
        n += r->type == RK_RECORD_SAMPLE;
    OK(rc);
    rk_stream_info(st, &info);
    *ret_cut = info.cut;
    rk_stream_free(st);
    return n;
}

static void a_full_disk(void)
{
    struct rk_set_options o = {.size = sizeof o, .period = 1, .records = RK_RECORDS_PROFILE};
    struct rk_capture_options co = {.size = sizeof co, .path = "data"};
    char *argv[] = {self, "faults", NULL};
    struct rlimit before, small;
    struct rk_capture *c;
    uint32_t cut = 9;
    int r;

    struct session s = session_open("page-faults", argv, &o);
    OK(rk_capture_open(s.host, s.set, s.target, &co, &c, &e));
    /* A limit on the file's size is a disk that is full for us alone. */
    CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
    small = before;
    small.rlim_cur = 100000;
    signal(SIGXFSZ, SIG_IGN);
    OK(rk_target_start(s.target, &e));
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    while ((r = rk_capture_step(c, 100)) == 1)
        ;
    EQUAL(r, -EFBIG);
    EQUAL(rk_capture_step(c, 100), -EFBIG);
    e.code = 0;
    EQUAL(rk_capture_finish(c, NULL, &e), -EFBIG);
    rk_capture_free(c);
    EQUAL(e.code, -EFBIG);
    EQUAL(e.cause, RK_CAUSE_NO_SPACE);
    CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
    uint64_t n = samples_in("data", &cut);
    printf("%s: %" PRIu64 " samples\n", e.what, n);
    CHECK(n > 100);
    EQUAL(cut, 1);
    session_wait(&s, 0);
    session_close(&s);
}

static volatile sig_atomic_t rung;
static void ring_bell(int signal)
{
    (void)signal;
    rung = rung + 1;
}

/* Ctrl-C: step comes back at each signal, of which there are many in its time; what was recorded is kept. */
static void a_signal(void)
{
    struct rk_set_options o = {.size = sizeof o, .frequency = 1000, .records = RK_RECORDS_PROFILE};
    struct rk_capture_options co = {.size = sizeof co, .path = "data"};
    char *argv[] = {self, "sleep", NULL};
    struct rk_capture *c;
    uint32_t cut = 9;

    struct session s = session_open("cpu-clock", argv, &o);
    OK(rk_capture_open(s.host, s.set, s.target, &co, &c, &e));
    OK(rk_target_start(s.target, &e));
    EQUAL(rk_capture_step(c, 10), 1);
    struct sigaction action = {.sa_handler = ring_bell}, old;
    sigaction(SIGALRM, &action, &old);
    rung = 0;
    int steps = 0;
    for (ualarm(10000, 10000); rung < 20; steps++)
        EQUAL(rk_capture_step(c, 900), 1);
    ualarm(0, 0);
    CHECK(steps >= 10);
    sigaction(SIGALRM, &old, NULL);
    OK(rk_capture_finish(c, NULL, &e)); /* the command still runs */
    rk_capture_free(c);
    kill(rk_target_pid(s.target), SIGKILL);
    session_wait(&s, 128 + SIGKILL);
    samples_in("data", &cut);
    EQUAL(cut, 0);
    session_close(&s);
}

/* A child of ours has neither the rings nor the file. */
static void a_fork(void)
{
    struct rk_set_options o = {.size = sizeof o, .period = 1, .flags = RK_SET_NO_INHERIT};
    struct rk_capture_options co = {.size = sizeof co, .path = "data"};
    struct rk_capture *c;
    const struct rk_record *r;
    struct rk_stream *st;
    int status;

    struct session s = session_open("page-faults", NULL, &o);
    OK(rk_stream_live(s.set, &st, &e));
    fflush(stdout);
    if (fork() == 0) {
        bool ok = rk_stream_next(st, &r) == -ESTALE && rk_stream_release(st) == -ESTALE &&
                  rk_stream_explain(st, &e) == 0 && e.cause == RK_CAUSE_FORKED && !rk_stream_free(st);
        _exit(!ok);
    }
    CHECK(wait(&status) > 0 && status == 0);
    rk_stream_free(st);
    OK(rk_capture_open(s.host, s.set, s.target, &co, &c, &e));
    rk_set_enable(s.set);
    touch(100);
    EQUAL(rk_capture_step(c, 0), 1);
    fflush(stdout);
    if (fork() == 0)
        _exit(rk_capture_step(c, 0) != -ESTALE || rk_capture_finish(c, NULL, &e) != -ESTALE);
    CHECK(wait(&status) > 0 && status == 0);
    touch(100);
    OK(rk_capture_finish(c, NULL, &e));
    rk_capture_free(c);
    uint32_t cut = 9;
    CHECK(samples_in("data", &cut) >= 200);
    EQUAL(cut, 0);
    session_close(&s);
}

/* A switch to a place where no file can be: what was recorded until then is a whole file, whatever is called next. */
static void a_switch_to_nowhere(void)
{
    struct rk_set_options o = {.size = sizeof o, .period = 1, .flags = RK_SET_NO_INHERIT};
    struct rk_capture_options co = {.size = sizeof co, .path = "data"};
    struct rk_capture *c;
    uint32_t cut = 9;

    struct session s = session_open("page-faults:u", NULL, &o);
    OK(rk_capture_open(s.host, s.set, NULL, &co, &c, &e));
    OK(rk_capture_enable(c));
    touch(50);
    EQUAL(rk_capture_step(c, 0), 1);
    EQUAL(rk_capture_switch(c, "nowhere/first.data", &e), -ENOENT);
    CHECK(strstr(e.what, "nowhere/first.data") != NULL);
    EQUAL(rk_capture_snapshot(c), -ENOENT);
    EQUAL(rk_capture_finish(c, NULL, &e), -ENOENT);
    rk_capture_free(c);
    CHECK(samples_in("data", &cut) >= 50);
    EQUAL(cut, 0);
    session_close(&s);
}

/* Many rings under a small limit: less and less each, said in a note; then none, and why. As a user of its own, since
 * the limit is the user's, whatever else that one runs. */
static void no_locked_memory(uid_t user)
{
    enum { MANY = 400 };
    struct rk_set_options o = {.size = sizeof o, .frequency = 100, .flags = RK_SET_NO_INHERIT};
    struct rlimit none = {0, 0};
    static struct session s[MANY];
    static struct rk_stream *st[MANY];
    size_t smaller = 0, n = 0;
    int r = 0;

    CHECK(become(user));
    CHECK(setrlimit(RLIMIT_MEMLOCK, &none) == 0);
    for (; n < MANY && r == 0; n++) {
        o.ring_bytes = n == 0 ? 256 << 10 : 0; /* so that what is left is no whole number of rings */
        s[n] = session_open("cpu-clock:u", NULL, &o);
        size_t notes = rk_set_note_count(s[n].set);
        r = rk_stream_live(s[n].set, &st[n], &e);
        if (r == 0 && rk_set_note_count(s[n].set) > notes) {
            struct rk_note note = {.size = sizeof note};
            EQUAL(rk_set_note_get(s[n].set, notes, &note), 0);
            EQUAL(note.cause, RK_CAUSE_MLOCK);
            CHECK(note.what[0] && note.remedy[0]);
            if (!smaller++)
                printf("%s\n", note.what);
        }
    }
    EQUAL(r, -EPERM);
    EQUAL(e.cause, RK_CAUSE_MLOCK);
    CHECK(e.remedy[0]);
    CHECK(smaller > 0);
    printf("after %zu: %s\n", n - 1, e.what);
    rk_stream_free(st[n - 2]); /* the smallest there was */
    o.ring_bytes = 64 << 10;   /* asked for: no step down */
    s[0] = session_open("cpu-clock:u", NULL, &o);
    EQUAL(rk_stream_live(s[0].set, &st[0], &e), -EPERM);
    EQUAL(rk_set_note_count(s[0].set), 0);
    fflush(stdout);
    _exit(0);
}

/* With kernel.perf_event_paranoid below 0 nobody's memory is limited. */
static bool memory_is_limited(void)
{
    struct rk_host *host = NULL;
    int64_t paranoid = 0;
    CHECK(rk_host_open(NULL, &host, NULL) == 0);
    CHECK(rk_host_limit(host, RK_LIMIT_PARANOID, &paranoid) == 0);
    rk_host_free(host);
    return paranoid >= 0;
}

static void all(void)
{
    a_full_disk();
    a_signal();
    a_fork();
    a_switch_to_nowhere();
    unlink("data");
    unlink("data.old");
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        if (!strcmp(argv[1], "sleep"))
            for (;;)
                pause();
        for (int i = 0; i < 150; i++) {
            touch(100);
            usleep(10000);
        }
        return 0;
    }
    use_directory_and_self(self, sizeof self);
    all();
    as_plain_user(all);
    uid_t user = 1000000000 + (uid_t)getpid();
    if (!can_become(user))
        user = 65531; /* a user namespace has fewer */
    if (can_become(user) && memory_is_limited()) {
        int status;
        fflush(stdout);
        if (fork() == 0)
            no_locked_memory(user);
        CHECK(wait(&status) > 0 && status == 0);
    }
    return 0;
}

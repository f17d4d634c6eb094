/*
 * A live stream begins with what runs already: the kernel, the target's processes, threads and mappings, each once, each
 * marked, before anything else. So samples of a process that was attached to are named. What is mapped while the stream is
 * opened and the set enabled is never lost.
 */
#include "session.h"

#include <pthread.h>
#include <stdatomic.h>

#define MANY 200000

static struct rk_error e = {.size = sizeof e};

static struct seen {
    uint32_t type;
    int32_t pid, tid;
    uint64_t start;
    bool made; /* synthesised */
    char name[64];
} seen[MANY];
static size_t seen_n;

static void see(const struct rk_record *r)
{
    struct rk_mapping m = {.size = sizeof m};
    struct rk_comm c = {.size = sizeof c};
    struct rk_ksymbol k = {.size = sizeof k};
    struct seen *s = &seen[seen_n++];

    CHECK(seen_n < MANY);
    *s = (struct seen){.type = r->type, .made = r->present & RK_PRESENT_SYNTHESISED};
    if (rk_record_mapping(r, &m) == 0) {
        s->pid = m.pid;
        s->tid = m.tid;
        s->start = m.start;
        snprintf(s->name, sizeof s->name, "%s", m.path);
    } else if (rk_record_comm(r, &c) == 0) {
        s->pid = c.pid;
        s->tid = c.tid;
        snprintf(s->name, sizeof s->name, "%s", c.name);
    } else if (rk_record_ksymbol(r, &k) == 0) {
        s->pid = -1;
        s->start = k.address;
    }
    if (s->made) {
        CHECK(r->type == RK_RECORD_MMAP2 || r->type == RK_RECORD_COMM || r->type == RK_RECORD_KSYMBOL);
        EQUAL(r->time, 0);
    }
}

static void take(struct rk_stream *st)
{
    const struct rk_record *r;
    int rc;

    while ((rc = rk_stream_next(st, &r)) == 1) {
        see(r);
        rk_stream_release(st);
    }
    EQUAL(rc, 0);
}

static bool sampled(void)
{
    return seen_n > 0 && seen[seen_n - 1].type == RK_RECORD_SAMPLE;
}

/* How many of them are synthesised; they come first, and none of them twice. */
static size_t made_first(void)
{
    size_t n = 0;

    while (n < seen_n && seen[n].made)
        n++;
    for (size_t i = n; i < seen_n; i++)
        CHECK(!seen[i].made);
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++)
            CHECK(seen[i].type != seen[k].type || seen[i].pid != seen[k].pid || seen[i].tid != seen[k].tid ||
                  seen[i].start != seen[k].start);
    return n;
}

/* How often a mapping was told of, by the world and by the kernel. */
static unsigned told(const void *at, int32_t pid, bool made)
{
    unsigned n = 0;

    for (size_t i = 0; i < seen_n; i++)
        n += seen[i].made == made && seen[i].pid == pid && seen[i].start == (uint64_t)(uintptr_t)at &&
             seen[i].type == RK_RECORD_MMAP2;
    return n;
}

static struct session attach(pid_t pid, const struct rk_set_options *o)
{
    struct session s = {0};

    OK(rk_host_open(NULL, &s.host, &e));
    OK(rk_events_parse(s.host, "cpu-clock", &s.events, &e));
    OK(rk_target_process(pid, &s.target, &e));
    int r = rk_set_open(s.host, s.events, s.target, o, &s.set, &e);
    if (r == -EACCES || r == -EPERM)
        SKIP("a process can't be attached to here: %s", e.what);
    OK(r);
    return s;
}

static void *map_code(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *at = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, own_file(), 0);

    CHECK(at != MAP_FAILED);
    return at;
}

/* --- A process that works --- */

__attribute__((noinline)) void burn_here(void);
void burn_here(void)
{
    for (;;)
        spin(1000000);
}

static void *idle_thread(void *unused)
{
    pthread_setname_np(pthread_self(), "idle thread");
    for (;;)
        pause();
    return unused;
}

static pid_t start_worker(void)
{
    int ends[2];
    char c;

    CHECK(pipe(ends) == 0);
    fflush(stdout);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        pthread_t thread;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_NAME, "worker");
        CHECK(pthread_create(&thread, NULL, idle_thread, NULL) == 0);
        while (true) { /* until it has its name */
            char path[64], name[32] = "";
            snprintf(path, sizeof path, "/proc/self/task/%d/comm", (int)getpid() + 1);
            FILE *f = fopen(path, "re");
            if (f && fgets(name, sizeof name, f) && strcmp(name, "worker\n") != 0)
                break;
            if (f)
                fclose(f);
            if (!f)
                break;
        }
        usleep(10000);
        CHECK(write(ends[1], "!", 1) == 1);
        burn_here();
    }
    CHECK(read(ends[0], &c, 1) == 1);
    close(ends[0]);
    close(ends[1]);
    return pid;
}

static void stop(pid_t pid)
{
    kill(pid, SIGKILL);
    CHECK(waitpid(pid, NULL, 0) == pid);
}

/* The recipe in profile.h: live samples of a process that was there before. */
static void recipe(void)
{
    struct rk_set_options o = {
        .size = sizeof o, .frequency = 1000, .records = RK_RECORDS_PROFILE, .sample = RK_SAMPLE_CALLCHAIN};
    struct rk_profile_summary summary = {.size = sizeof summary};
    struct rk_profile_builder *b;
    struct rk_profile *p;
    struct rk_aggregate *a;
    struct rk_stream *st;
    const struct rk_record *r;
    uint64_t begin = now_ns(), here = 0;
    unsigned samples = 0;
    pid_t pid = start_worker();
    struct session s = attach(pid, &o);

    OK(rk_stream_live(s.set, &st, &e));
    EQUAL(rk_set_enable(s.set), 0);
    OK(rk_profile_builder_open(NULL, &b, &e));
    while (samples < 300 && now_ns() - begin < 20000000000u) {
        usleep(20000);
        for (; rk_stream_next(st, &r) == 1; rk_stream_release(st)) {
            CHECK(rk_profile_builder_feed(b, st, r) >= 0);
            samples += r->type == RK_RECORD_SAMPLE;
        }
    }
    OK(rk_profile_builder_finish(b, st, &p, &e));
    rk_profile_builder_free(b);
    OK(rk_profile_summary(p, &summary));
    OK(rk_profile_aggregate(p, RK_PER_FUNCTION, &a, &e));
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->name[i], "burn_here") == 0 || strcmp(a->name[i], "spin") == 0)
            here += a->self_samples[i];
    printf("attached: %" PRIu64 " samples, %" PRIu64 " unnamed, %" PRIu64 " where it burns\n",
           summary.samples, summary.unnamed, here);
    CHECK(summary.samples >= 100);
    if (access("/proc/self/exe", R_OK) == 0) {
        CHECK(summary.unnamed * 20 <= summary.samples);
        CHECK(here * 2 > summary.samples);
    } else {
        printf("this user may not read this program: it has no names for him\n");
    }
    rk_aggregate_free(a);
    rk_profile_free(p);
    rk_stream_free(st);
    session_close(&s);
    stop(pid);
}

/* All that /proc says of the process, and nothing else, whether the set is enabled before the stream or after it. */
static void exactly_once(bool enabled)
{
    struct rk_set_options o = {.size = sizeof o,
                               .frequency = 500,
                               .records = RK_RECORDS_PROFILE,
                               .flags = enabled ? RK_SET_ENABLED : 0};
    struct rk_stream *st;
    char path[64], line[512];
    unsigned code = 0, names = 0, maps = 0;
    pid_t pid = start_worker();
    struct session s = attach(pid, &o);

    OK(rk_stream_live(s.set, &st, &e));
    if (!enabled)
        EQUAL(rk_set_enable(s.set), 0);
    seen_n = 0;
    for (uint64_t begin = now_ns(); !sampled() && now_ns() - begin < 20000000000u; take(st))
        usleep(50000);
    EQUAL(rk_set_disable(s.set), 0);
    OK(rk_stream_drain(st));
    take(st);
    size_t n = made_first();
    for (size_t i = 0; i < n; i++) {
        CHECK(seen[i].pid == pid || seen[i].pid == -1);
        CHECK(i == 0 || seen[i].pid == pid || seen[i - 1].pid == -1); /* the kernel first */
        maps += seen[i].pid == pid && seen[i].type == RK_RECORD_MMAP2;
        names += !strcmp(seen[i].name, seen[i].tid == pid ? "worker" : "idle thread") &&
                 seen[i].type == RK_RECORD_COMM;
    }
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *f = fopen(path, "re");
    CHECK(f);
    while (fgets(line, sizeof line, f)) {
        unsigned long long at;
        char execute;
        if (sscanf(line, "%llx-%*x %*c%*c%c", &at, &execute) == 2 && execute == 'x') {
            EQUAL(told((void *)(uintptr_t)at, pid, true), 1);
            code++;
        }
    }
    fclose(f);
    printf("the world %s: %zu records, %u mappings of code, %u names\n",
           enabled ? "of an enabled set" : "when enabled", n, maps, names);
    EQUAL(maps, code);
    EQUAL(names, 2);
    CHECK(seen_n > n); /* and then samples */
    rk_stream_free(st);
    session_close(&s);
    stop(pid);
}

/* --- What is mapped meanwhile --- */

/* Before the stream, between it and enabling, and after: each once, from whom knows it. */
static void between(void)
{
    struct rk_set_options o = {
        .size = sizeof o, .period = 1000000000, .flags = RK_SET_NO_INHERIT, .records = RK_RECORDS_PROFILE};
    struct session s = session_open("page-faults:u", NULL, &o);
    struct rk_stream *st;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *at[4];

    at[0] = map_code();
    OK(rk_stream_live(s.set, &st, &e));
    seen_n = 0;
    take(st);
    EQUAL(seen_n, 0); /* nothing is enabled */
    at[1] = map_code();
    EQUAL(rk_set_enable(s.set), 0);
    at[2] = map_code();
    take(st);
    at[3] = map_code();
    EQUAL(rk_set_disable(s.set), 0);
    OK(rk_stream_drain(st));
    take(st);
    made_first();
    for (int i = 0; i < 4; i++) {
        EQUAL(told(at[i], getpid(), true), i < 2);
        EQUAL(told(at[i], getpid(), false), i >= 2);
    }

    /* While it is off nobody tells: the world does, if it is asked for. */
    void *off = map_code();
    EQUAL(rk_set_enable(s.set), 0);
    seen_n = 0;
    take(st);
    EQUAL(told(off, getpid(), true) + told(off, getpid(), false), 0);
    void *on = map_code();
    EQUAL(rk_stream_world(st), 0);
    take(st);
    made_first();
    EQUAL(told(off, getpid(), true), 1);
    EQUAL(told(on, getpid(), true), 1);
    EQUAL(told(on, getpid(), false), 1); /* it was in the ring */

    /* What is not taken is replaced. */
    EQUAL(rk_stream_world(st), 0);
    EQUAL(rk_stream_world(st), 0);
    seen_n = 0;
    take(st);
    made_first();
    EQUAL(told(on, getpid(), true), 1);

    rk_stream_free(st);
    session_close(&s);
    for (int i = 0; i < 4; i++)
        munmap(at[i], page);
    munmap(on, page);
    munmap(off, page);
}

#define MAPPINGS 3000
struct shared {
    _Atomic int stop, stopped, begun;
    _Atomic unsigned n;
    uint64_t at[MAPPINGS];
};

/* Maps all the time; no two mappings can become one. */
static void map_on(struct shared *shared)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int fd = own_file();

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    shared->begun = 1;
    while (!shared->stop && shared->n < MAPPINGS) {
        void *at = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
        if (at == MAP_FAILED)
            break;
        shared->at[shared->n++] = (uint64_t)(uintptr_t)at;
        spin(20000);
    }
    shared->stopped = 1;
    for (;;)
        pause();
}

static void racing(void)
{
    struct rk_set_options o = {
        .size = sizeof o, .period = 1000000000, .records = RK_RECORDS_PROFILE, .ring_bytes = 1 << 20};
    struct shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    unsigned all = 0, twice = 0, late = 0;

    CHECK(shared != MAP_FAILED);
    for (int round = 0; round < 10; round++) {
        struct rk_loss loss = {.size = sizeof loss};
        struct rk_stream *st;
        memset(shared, 0, sizeof *shared);
        fflush(stdout);
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0)
            map_on(shared);
        while (!shared->begun)
            sched_yield();
        struct session s = attach(pid, &o);
        OK(rk_stream_live(s.set, &st, &e));
        EQUAL(rk_set_enable(s.set), 0);
        unsigned then = shared->n;
        while (shared->n < then + 50 && !shared->stopped)
            sched_yield();
        shared->stop = 1;
        while (!shared->stopped)
            sched_yield();
        EQUAL(rk_set_disable(s.set), 0);
        OK(rk_stream_drain(st));
        seen_n = 0;
        take(st);
        made_first();
        OK(rk_stream_loss(st, RK_NO_EVENT, &loss));
        EQUAL(loss.records_lost, 0);
        for (unsigned i = 0; i < shared->n; i++) {
            unsigned made = told((void *)(uintptr_t)shared->at[i], pid, true);
            unsigned kernel = told((void *)(uintptr_t)shared->at[i], pid, false);
            if (made > 1 || kernel > 1 || made + kernel == 0)
                FAIL("mapping %u of %u: %u times by the world, %u by the kernel", i, shared->n, made, kernel);
            twice += made + kernel == 2;
            late += !made;
        }
        all += shared->n;
        rk_stream_free(st);
        session_close(&s);
        stop(pid);
    }
    printf("mapped meanwhile: %u, none lost, %u twice, %u by the kernel alone\n", all, twice, late);
    CHECK(late > 0 && all > late);
    munmap(shared, sizeof *shared);
}

/* --- Others --- */

/* A target that ends before the set is enabled leaves the kernel's part. */
static void killed(void)
{
    struct rk_set_options o = {.size = sizeof o, .frequency = 500, .records = RK_RECORDS_PROFILE};
    struct rk_stream *st;
    pid_t pid = start_worker();
    struct session s = attach(pid, &o);

    OK(rk_stream_live(s.set, &st, &e));
    stop(pid);
    EQUAL(rk_set_enable(s.set), 0);
    seen_n = 0;
    take(st);
    size_t n = made_first();
    for (size_t i = 0; i < n; i++)
        EQUAL(seen[i].pid, -1);
    rk_stream_free(st);
    session_close(&s);
}

static char exported[4096];
static int keep(void *context, const void *data, size_t n)
{
    (void)context;
    CHECK(n < sizeof exported);
    memcpy(exported, data, n);
    exported[n] = '\0';
    return 0;
}

static void switched_off(void)
{
    struct rk_set_options o = {.size = sizeof o,
                               .period = 1,
                               .flags = RK_SET_NO_INHERIT | RK_SET_NO_WORLD,
                               .records = RK_RECORDS_PROFILE};
    struct session s = session_open("page-faults:u", NULL, &o);
    struct rk_sink sink = {.size = sizeof sink, .write = keep};
    const struct rk_record *r;
    struct rk_stream *st;

    OK(rk_stream_live(s.set, &st, &e));
    EQUAL(rk_set_enable(s.set), 0);
    touch(10);
    EQUAL(rk_set_disable(s.set), 0);
    seen_n = 0;
    take(st);
    CHECK(seen_n >= 10);
    EQUAL(made_first(), 0);
    EQUAL(rk_stream_world(st), 0); /* when it is asked for */
    EQUAL(rk_stream_next(st, &r), 1);
    CHECK(r->present & RK_PRESENT_SYNTHESISED);
    OK(rk_record_export(st, r, "json", &sink, NULL, &e));
    CHECK(strstr(exported, "\"synthesised\":true"));
    OK(rk_record_export(st, r, "text", &sink, NULL, &e));
    CHECK(strstr(exported, " synthesised\n"));
    rk_stream_free(st);
    session_close(&s);

    o.records = RK_RECORDS_MAPS;
    o.flags &= ~RK_SET_NO_WORLD;
    s = session_open("page-faults:u", NULL, &o);
    OK(rk_stream_live(s.set, &st, &e));
    EQUAL(rk_set_enable(s.set), 0);
    seen_n = 0;
    take(st);
    EQUAL(made_first(), 0); /* nobody asked */
    EQUAL(rk_stream_world(st), -EINVAL);
    rk_stream_free(st);
    session_close(&s);
}

/* A command that is sampled from its exec on has no past; one that is enabled later has. */
static void command(bool late)
{
    if (access("/bin/sh", X_OK) != 0) {
        printf("left out: a command: there is no /bin/sh\n");
        return;
    }
    char *argv[] = {"/bin/sh", "-c", "while :; do :; done", NULL};
    struct rk_set_options o = {.size = sizeof o, .frequency = 500, .records = RK_RECORDS_PROFILE};
    struct session s = session_open("cpu-clock:u", argv, &o);
    struct rk_exit x = {.size = sizeof x};
    unsigned own = 0;
    struct rk_stream *st;

    OK(rk_stream_live(s.set, &st, &e));
    OK(rk_target_start(s.target, &e));
    int32_t pid = rk_target_pid(s.target);
    usleep(30000);
    if (late)
        EQUAL(rk_set_enable(s.set), 0);
    usleep(30000);
    kill(pid, SIGKILL);
    EQUAL(rk_target_wait(s.target, -1, &x), 1);
    OK(rk_stream_drain(st));
    seen_n = 0;
    take(st);
    size_t n = 0;
    for (size_t i = 0; i < seen_n; i++) {
        n += seen[i].made;
        own += seen[i].made && seen[i].pid == pid;
        CHECK(!seen[i].made || seen[i].pid == pid || seen[i].pid == -1);
    }
    printf("a command%s: %zu synthesised, %u of its own\n", late ? ", enabled later" : "", n, own);
    CHECK(late ? own >= 2 : own == 0);
    EQUAL(made_first(), n);
    rk_stream_free(st);
    session_close(&s);
}

/* Columns give it to `each`, before any row; a single ring goes on by the batch. */
static unsigned given, given_late;
static bool rows_seen;
static void each(void *context, const struct rk_record *r)
{
    (void)context;
    if (r->present & RK_PRESENT_SYNTHESISED) {
        given++;
        given_late += rows_seen;
    }
}

static void columns(void)
{
    struct rk_set_options o = {
        .size = sizeof o, .period = 1, .flags = RK_SET_NO_INHERIT, .records = RK_RECORDS_PROFILE};
    struct session s = session_open("page-faults:u", NULL, &o);
    uint64_t ip[64], rows = 0;
    struct rk_columns c = {.size = sizeof c, .max = 64, .ip = ip, .each = each};
    struct rk_stream *st;
    int64_t n;

    given = given_late = 0;
    rows_seen = false;
    OK(rk_stream_live(s.set, &st, &e));
    EQUAL(rk_set_enable(s.set), 0);
    touch(500);
    EQUAL(rk_set_disable(s.set), 0);
    while ((n = rk_stream_columns(st, &c)) > 0) {
        rows += (uint64_t)n;
        rows_seen = true;
    }
    EQUAL(n, 0);
    CHECK(rows >= 500 && given >= 2);
    EQUAL(given_late, 0);
    rk_stream_free(st);
    session_close(&s);
}

static void all(void)
{
    recipe();
    exactly_once(false);
    exactly_once(true);
    between();
    racing();
    killed();
    switched_off();
    command(false);
    command(true);
    columns();
}

int main(void)
{
    all();
    as_plain_user(all);
    return 0;
}

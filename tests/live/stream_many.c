/*
 * A machine with 2,000 processes: the stream begins with all of them, each once. Reading /proc takes longer than a ring
 * lasts; the rings are emptied meanwhile, so that no sample is lost: of one CPU, whose ring is read straight, and of all.
 */
#include "session.h"

#include <sched.h>
#include <sys/resource.h>

#define PROCESSES 2000
#define PERIOD 100000   /* ns */
#define RING (64 << 10) /* lasts 0.1 s: more than a busy machine keeps us waiting */
#define LONG \
    UINT64_C(500000000) /* ns: on a fast machine the world is made more than once, so that it takes long */
#define TRIES 20

static pid_t children[PROCESSES];
static unsigned names[PROCESSES], maps[PROCESSES];

static void end_children(void)
{
    for (size_t i = 0; i < PROCESSES && children[i] > 0; i++)
        kill(children[i], SIGKILL);
    for (size_t i = 0; i < PROCESSES && children[i] > 0; i++)
        waitpid(children[i], NULL, 0);
}

static void start_children(void)
{
    for (size_t i = 0; i < PROCESSES; i++) {
        pid_t pid = fork();
        if (pid < 0 && errno == EAGAIN) {
            end_children();
            SKIP("%d processes can't be started here: %s", PROCESSES, strerror(errno));
        }
        CHECK(pid >= 0);
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;)
                pause();
        }
        children[i] = pid;
    }
}

static int by_pid(const void *a, const void *b)
{
    return *(const pid_t *)a - *(const pid_t *)b;
}

static size_t child_of(int32_t pid)
{
    const pid_t *at = bsearch(&pid, children, PROCESSES, sizeof pid, by_pid);
    return at ? (size_t)(at - children) : PROCESSES;
}

/* True: no sample was lost. All else must hold each time. */
static bool count(const char *cpus)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_set_options o = {
        .size = sizeof o, .period = PERIOD, .records = RK_RECORDS_PROFILE, .ring_bytes = RING};
    struct rk_loss loss = {.size = sizeof loss};
    struct session s = {0};
    struct rk_stream *st;
    const struct rk_record *r;
    uint64_t made = 0, late = 0, samples = 0, meanwhile = 0, bytes = 0, first = 0, last = 0;
    int rc;

    OK(rk_host_open(NULL, &s.host, &e));
    OK(rk_events_parse(s.host, "cpu-clock", &s.events, &e));
    OK(rk_target_cpus(s.host, cpus, &s.target, &e));
    rc = rk_set_open(s.host, s.events, s.target, &o, &s.set, &e);
    if (rc == -EACCES || rc == -EPERM) {
        end_children();
        SKIP("the machine can't be sampled here: %s", e.what);
    }
    OK(rc);
    OK(rk_stream_live(s.set, &st, &e));
    uint64_t begin = now_ns();
    EQUAL(rk_set_enable(s.set), 0);
    uint64_t took = now_ns() - begin;
    while (now_ns() - begin < LONG)
        EQUAL(rk_stream_world(st), 0);
    EQUAL(rk_set_disable(s.set), 0);
    OK(rk_stream_drain(st));
    memset(names, 0, sizeof names);
    memset(maps, 0, sizeof maps);
    for (; (rc = rk_stream_next(st, &r)) == 1; rk_stream_release(st)) {
        struct rk_comm c = {.size = sizeof c};
        struct rk_mapping m = {.size = sizeof m};
        if (r->present & RK_PRESENT_SYNTHESISED) {
            made++;
            late += samples > 0;
            size_t child = rk_record_comm(r, &c) == 0      ? child_of(c.pid)
                           : rk_record_mapping(r, &m) == 0 ? child_of(m.pid)
                                                           : PROCESSES;
            if (child < PROCESSES)
                (r->type == RK_RECORD_COMM ? names : maps)[child]++;
        } else if (r->type == RK_RECORD_SAMPLE) {
            CHECK(cpus == NULL || r->time >= last); /* a single ring: as the kernel wrote it */
            last = r->time;
            first = first ? first : r->time;
            samples++;
            bytes += r->bytes;
        }
    }
    EQUAL(rc, 0);
    OK(rk_stream_loss(st, RK_NO_EVENT, &loss));
    meanwhile = bytes / (RING * rk_set_slot_count(s.set));
    printf("%s: %" PRIu64 " records of the world in %" PRIu64 " ms; %" PRIu64 " samples meanwhile, %" PRIu64
           " times the rings, %" PRIu64 " lost\n",
           cpus ? "CPU 0" : "all CPUs", made, took / 1000000, samples, meanwhile, loss.lost);
    EQUAL(late, 0);
    for (size_t i = 0; i < PROCESSES; i++) {
        EQUAL(names[i], 1);
        CHECK(maps[i] >= 1 && maps[i] == maps[0]);
    }
    CHECK(meanwhile >= 2); /* else it shows nothing */
    rk_stream_free(st);
    session_close(&s);
    return loss.lost == 0 && loss.records_lost == 0;
}

/* Nothing is lost, unless somebody else had the CPU for as long as a ring lasts. */
static void nothing_lost(const char *cpus)
{
    int tries = 0;

    while (!count(cpus))
        CHECK(++tries < TRIES);
}

int main(void)
{
    start_children();
    /* Others may be busy; a plain user goes without. */
    struct sched_param first = {.sched_priority = 1};
    if (sched_setscheduler(0, SCHED_FIFO, &first) < 0)
        setpriority(PRIO_PROCESS, 0, -20);
    qsort(children, PROCESSES, sizeof *children, by_pid);
    nothing_lost(NULL);
    /* The CPU that reads /proc is busy. */
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    if (sched_setaffinity(0, sizeof one, &one) == 0)
        nothing_lost("0");
    end_children();
    return 0;
}

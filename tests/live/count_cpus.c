/*
 * Threads split by CPU (rk_target_on_cpus()): each CPU's row has what was done there, no other CPU is counted, and a
 * slot is enabled while its thread is on its CPU.
 */
#include "session.h"

#include <sched.h>

#define PAGES 1000
#define FEW 300

static struct rk_error e = {.size = sizeof e};
static struct rk_host *host;
static int go[2], done[2];

static void pin(int cpu)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
}

/* Touches so many hundreds of pages on a CPU, as it is told: by itself, or by a child that ends. */
static void child(void)
{
    struct {
        int8_t cpu, hundreds, fork;
    } what;

    while (read(go[0], &what, sizeof what) == (ssize_t)sizeof what) {
        pid_t pid = what.fork ? fork() : 0;
        if (pid == 0) {
            pin(what.cpu);
            touch((size_t)what.hundreds * 100);
        }
        if (what.fork && pid == 0)
            _exit(0);
        CHECK(!what.fork || waitpid(pid, NULL, 0) == pid);
        CHECK(write(done[1], "d", 1) == 1);
    }
    _exit(0);
}

static void make(int8_t cpu, int8_t hundreds, int8_t forks)
{
    const int8_t what[3] = {cpu, hundreds, forks};
    char c;

    CHECK(write(go[1], what, sizeof what) == (ssize_t)sizeof what && read(done[0], &c, 1) == 1);
}

static void near(const char *what, const struct rk_value *v, uint64_t pages)
{
    if (v->value < pages || v->value > pages + FEW)
        FAIL("%s: %" PRIu64 " faults made, %" PRIu64 " counted", what, pages, v->value);
    EQUAL(v->enabled, v->running); /* no counter is shared: all of it was counted */
}

static void split(pid_t process, const char *cpus, int first, int second)
{
    struct rk_events *events;
    struct rk_target *target;
    struct rk_set *set;
    struct rk_rows *rows;
    struct rk_row row = RK_INIT(row);
    struct rk_value v[4] = {0}, total[2];
    size_t n = strlen(cpus) > 1 ? 2 : 1;
    struct rk_plan plan = RK_INIT(plan);

    OK(rk_events_parse(host, "{page-faults,task-clock}", &events, &e));
    OK(rk_target_process(process, &target, &e));
    OK(rk_target_on_cpus(target, host, cpus, &e));
    OK(rk_set_plan(host, events, target, NULL, &plan, &e));
    EQUAL(plan.slots, n);
    EQUAL(plan.descriptors, n * 3);
    OK(rk_set_open(host, events, target, NULL, &set, &e));
    EQUAL(rk_set_slot_count(set), n);
    OK(rk_rows_open(host, set, RK_BY_CPU, &rows, &e));
    EQUAL(rk_rows_count(rows), n);
    CHECK(rk_set_enable(set) == 0);
    make((int8_t)first, 10, 0);
    make((int8_t)first, 10, 1); /* what a child does is counted where it does it */
    make((int8_t)second, 5, 0);
    CHECK(rk_set_disable(set) == 0);
    CHECK(rk_rows_read(rows, v, NULL, n * 2) == 0 && rk_set_total(set, total, NULL, 2) == 0);
    for (size_t i = 0; i < n; i++) {
        CHECK(rk_rows_get(rows, i, &row) == 0);
        near(row.name, &v[i * 2], row.cpu == first ? 2 * PAGES : PAGES / 2);
        CHECK(v[i * 2].running > 0);
    }
    near("all", &total[0], n == 2 ? 2 * PAGES + PAGES / 2 : 2 * PAGES);
    rk_rows_free(rows);
    rk_set_free(set);
    rk_target_free(target);
    rk_events_free(events);
}

/* Not inherited, and nothing done on the other CPU: a true 0. The calling thread can be split too. */
static void alone(int here, int other)
{
    const struct rk_set_options options = {.size = sizeof options, .flags = RK_SET_NO_INHERIT};
    char cpus[32];
    struct rk_events *events;
    struct rk_target *self;
    struct rk_set *set;
    struct rk_slot slot = RK_INIT(slot);
    struct rk_value v[1];

    pin(here);
    snprintf(cpus, sizeof cpus, "%d,%d", here, other);
    OK(rk_events_parse(host, "page-faults", &events, &e));
    OK(rk_target_self(&self, &e));
    OK(rk_target_on_cpus(self, host, cpus, &e));
    OK(rk_set_open(host, events, self, &options, &set, &e));
    CHECK(rk_set_enable(set) == 0);
    touch(PAGES);
    for (size_t i = 0; i < rk_set_slot_count(set); i++) {
        CHECK(rk_set_slot_get(set, i, &slot) == 0 && rk_set_read(set, i, v, NULL, 1) == 0);
        if (slot.cpu == here) {
            near("self", v, PAGES);
        } else {
            EQUAL(v[0].value, 0);
            EQUAL(v[0].enabled, 0);
            EQUAL(v[0].running, 0);
        }
    }
    rk_set_free(set);
    rk_target_free(self);
    rk_events_free(events);
}

int main(void)
{
    cpu_set_t may;
    int cpus[2] = {-1, -1}, n = 0;
    char both[32], one[16];

    live_needs_counters();
    CHECK(sched_getaffinity(0, sizeof may, &may) == 0);
    for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
        if (CPU_ISSET((size_t)i, &may))
            cpus[n++] = i;
    if (n < 2)
        SKIP("this test may run on one CPU only: it wants two");
    snprintf(both, sizeof both, "%d,%d", cpus[0], cpus[1]);
    snprintf(one, sizeof one, "%d", cpus[0]);
    OK(rk_host_open(NULL, &host, &e));
    CHECK(pipe(go) == 0 && pipe(done) == 0);
    pid_t process = fork_bound();
    if (process == 0)
        child();
    split(process, both, cpus[0], cpus[1]);
    split(process, both, cpus[1], cpus[0]);
    split(process, one, cpus[0], cpus[1]);
    kill(process, SIGKILL);
    waitpid(process, NULL, 0);
    alone(cpus[0], cpus[1]);
    rk_host_free(host);
    return 0;
}

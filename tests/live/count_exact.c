/*
 * To the last one, where the kernel can: a breakpoint on a variable counts each write. 64 threads and 200 processes,
 * born after the counters were opened; 64 threads that were there before, with and without freezing them, and 64 that
 * they bear. Faults come by chance, too: of N fresh pages it is N and a few.
 */
#include "session.h"

#include <pthread.h>

#define THREADS 64
#define PROCESSES 200
#define TIMES 100
#define PAGES 5000
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FEW PAGES /* and the shadow's pages */
#else
#define FEW 32 /* the stack, the library's own pages, a page that was taken back */
#endif

static struct rk_error e = {.size = sizeof e};
static struct rk_host *host;
static volatile uint32_t counter;
static uint64_t strays_before; /* the set was opened */
static pthread_barrier_t all_there, all_told;

static void *write_some(void *unused)
{
    for (uint32_t i = 0; i < TIMES; i++)
        counter = i;
    return unused;
}

static void write_in_threads(void)
{
    pthread_t thread[THREADS];

    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&thread[i], NULL, write_some, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(thread[i], NULL) == 0);
}

static void write_in_processes(void)
{
    for (int i = 0; i < PROCESSES; i++) {
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            write_some(NULL);
            _exit(0);
        }
        if (i % 10 == 9) /* ten at a time */
            while (waitpid(-1, NULL, 0) > 0)
                ;
    }
}

static struct rk_set *open_on(struct rk_target *target, uint32_t freeze)
{
    const struct rk_set_options options = {.size = sizeof options, .flags = freeze ? RK_SET_FREEZE : 0};
    struct rk_events *events;
    struct rk_set *set = NULL;
    char text[80];

    snprintf(text, sizeof text, "mem:%#" PRIxPTR "/4:w:u", (uintptr_t)&counter);
    OK(rk_events_parse(host, text, &events, &e));
    int r = rk_set_open(host, events, target, &options, &set, &e);
    if (r == -ENOENT || r == -EOPNOTSUPP || r == -ENODEV || r == -EBUSY || r == -ENOSPC ||
        (freeze && r == -EPERM))
        SKIP("%s", e.what);
    OK(r);
    rk_events_free(events);
    strays_before = strays();
    return set;
}

/* The hits, with those that the kernel missed. */
static uint64_t counted(struct rk_set *set)
{
    struct rk_value v;

    EQUAL(rk_set_total(set, &v, NULL, 1), 0);
    EQUAL(v.running, v.enabled);
    return v.value + strays() - strays_before;
}

static void test_born(void)
{
    struct rk_target *self;

    OK(rk_target_self(&self, &e));
    struct rk_set *set = open_on(self, 0);
    EQUAL(rk_set_enable(set), 0);
    write_in_threads();
    EQUAL(counted(set), THREADS * TIMES);
    write_in_processes();
    EQUAL(rk_set_disable(set), 0);
    EQUAL(counted(set), (THREADS + PROCESSES) * TIMES);
    write_some(NULL);
    EQUAL(counted(set), (THREADS + PROCESSES) * TIMES);
    rk_set_free(set);
    rk_target_free(self);
}

static void *wait_and_write(void *unused)
{
    pthread_barrier_wait(&all_there);
    pthread_barrier_wait(&all_told);
    return write_some(unused);
}

/* Threads that wait; told to, they write; then as many are born and write. */
static void others(int told, int tell)
{
    pthread_t thread[THREADS];
    char word;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pthread_barrier_init(&all_there, NULL, THREADS + 1);
    pthread_barrier_init(&all_told, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&thread[i], NULL, wait_and_write, NULL) == 0);
    pthread_barrier_wait(&all_there);
    CHECK(write(tell, "r", 1) == 1 && read(told, &word, 1) == 1);
    pthread_barrier_wait(&all_told);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    CHECK(write(tell, "w", 1) == 1 && read(told, &word, 1) == 1);
    write_in_threads();
    CHECK(write(tell, "b", 1) == 1 && read(told, &word, 1) == 1);
    _exit(0);
}

static void test_attached(uint32_t freeze)
{
    struct rk_target *target;
    int to[2], from[2];
    char word;

    CHECK(pipe(to) == 0 && pipe(from) == 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        others(to[0], from[1]);
    CHECK(read(from[0], &word, 1) == 1 && word == 'r');
    OK(rk_target_process(pid, &target, &e));
    struct rk_set *set = open_on(target, freeze);
    EQUAL(rk_set_slot_count(set), THREADS + 1);
    EQUAL(rk_set_note_count(set), 0);
    EQUAL(rk_set_enable(set), 0);
    CHECK(write(to[1], "g", 1) == 1 && read(from[0], &word, 1) == 1 && word == 'w');
    EQUAL(counted(set), THREADS * TIMES);
    CHECK(write(to[1], "g", 1) == 1 && read(from[0], &word, 1) == 1 && word == 'b');
    EQUAL(counted(set), 2 * THREADS * TIMES);
    CHECK(write(to[1], "g", 1) == 1 && waitpid(pid, NULL, 0) == pid);
    EQUAL(counted(set), 2 * THREADS * TIMES); /* it has ended, its counts have not */
    rk_set_free(set);
    rk_target_free(target);
    close(to[0]), close(to[1]), close(from[0]), close(from[1]);
}

static void test_pages(void)
{
    struct rk_set *set;
    struct rk_value v[2];

    touch(10);
    OK(rk_set_self("page-faults:u,minor-faults:u", &set, &e));
    EQUAL(rk_set_enable(set), 0);
    touch(PAGES);
    EQUAL(rk_set_disable(set), 0);
    EQUAL(rk_set_total(set, v, NULL, 2), 0);
    for (int i = 0; i < 2; i++)
        if (v[i].value < PAGES || v[i].value > PAGES + FEW)
            FAIL("%d fresh pages, %" PRIu64 " faults", PAGES, v[i].value);
    printf("%d fresh pages: %" PRIu64 " faults\n", PAGES, v[0].value);
    rk_set_free(set);
}

int main(void)
{
    OK(rk_host_open(NULL, &host, &e));
    catch_strays();
    test_pages();
    test_born();
    test_attached(0);
    test_attached(1);
    rk_host_free(host);
    return 0;
}

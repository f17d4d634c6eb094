/* A process that runs: all of its threads, those to come, and each once. */
#include "live.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 3
#define PAGES 2000
#define FEW (PAGES / 3) /* a thread's own, and a sanitizer's shadow; counted twice would be more */

static struct rk_error e = {.size = sizeof e};
static int go[2], done[2];

static void *worker(void *unused)
{
    char c;

    (void)unused;
    CHECK(read(go[0], &c, 1) == 1);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    volatile char *at = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(at != MAP_FAILED);
    madvise((void *)at, PAGES * page, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < PAGES; i++)
        at[i * page] = 1;
    CHECK(write(done[1], "d", 1) == 1);
    return NULL;
}

/* THREADS wait, work when told; then one more is born and works too. */
static void child(void)
{
    pthread_t threads[THREADS + 1];

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    CHECK(write(done[1], "r", 1) == 1);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(pthread_create(&threads[THREADS], NULL, worker, NULL) == 0);
    pthread_join(threads[THREADS], NULL);
    pause();
}

static void await(int n)
{
    char c;

    while (n-- > 0)
        CHECK(read(done[0], &c, 1) == 1);
}

static void count(struct rk_host *host, const char *text, uint32_t no_inherit)
{
    const struct rk_set_options options = {.size = sizeof options,
                                           .flags = no_inherit ? RK_SET_NO_INHERIT : 0};
    struct rk_events *events;
    struct rk_target *target;
    struct rk_set *set;
    struct rk_value v[2], one[2];
    struct rk_slot where = RK_INIT(where);

    CHECK(pipe(go) == 0 && pipe(done) == 0);
    pid_t process = fork();
    if (process == 0)
        child();
    await(1);
    OK(rk_events_parse(host, text, &events, &e));
    OK(rk_target_process(process, &target, &e));
    OK(rk_set_open(host, events, target, &options, &set, &e));
    EQUAL(rk_set_slot_count(set), THREADS + 1);
    CHECK(rk_set_enable(set) == 0);
    CHECK(write(go[1], "gggg", THREADS) == THREADS);
    await(THREADS);
    CHECK(rk_set_total(set, v, NULL, 2) == 0);
    uint64_t most = THREADS * (PAGES + FEW);
    if (v[0].value < THREADS * PAGES || v[0].value > most)
        FAIL("%s: %d faults made, %" PRIu64 " counted", text, THREADS * PAGES, v[0].value);
    CHECK(write(go[1], "g", 1) == 1);
    await(1);
    CHECK(rk_set_total(set, v, NULL, 2) == 0);
    if (no_inherit)
        CHECK(v[0].value <= most);
    else
        CHECK(v[0].value >= (THREADS + 1) * PAGES && v[0].value <= most + PAGES + FEW);
    uint64_t sum = 0;
    for (size_t slot = 0; slot < rk_set_slot_count(set); slot++) {
        CHECK(rk_set_slot_get(set, slot, &where) == 0 && where.pid >= process && where.cpu == -1);
        CHECK(rk_set_read(set, slot, one, NULL, 2) == 0);
        sum += one[0].value;
    }
    EQUAL(sum, v[0].value);
    rk_set_free(set);
    rk_target_free(target);
    rk_events_free(events);
    kill(process, SIGKILL);
    waitpid(process, NULL, 0);
    close(go[0]), close(go[1]), close(done[0]), close(done[1]);
}

static void test_gone(struct rk_host *host)
{
    struct rk_events *events;
    struct rk_target *target;
    struct rk_set *set;
    pid_t process = fork();

    if (process == 0)
        pause();
    OK(rk_events_parse(host, "page-faults", &events, &e));
    OK(rk_target_thread(process, &target, &e));
    kill(process, SIGKILL);
    waitpid(process, NULL, 0);
    EQUAL(rk_set_open(host, events, target, NULL, &set, &e), -ESRCH);
    EQUAL(e.cause, RK_CAUSE_NO_PROCESS);
    rk_target_free(target);
    rk_events_free(events);
}

int main(void)
{
    struct rk_host *host;

    OK(rk_host_open(NULL, &host, &e));
    count(host, "page-faults,task-clock", 0);
    count(host, "{page-faults,task-clock}", 0);
    count(host, "{page-faults,task-clock}", 1);
    test_gone(host);
    rk_host_free(host);
    return 0;
}

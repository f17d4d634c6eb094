/*
 * Many: 64 threads and 200 processes add up to what they did; ten thousand threads can be attached to, and what does not
 * fit is known, with its price and a cheaper way, before anything is opened.
 */
#include "session.h"

#include <pthread.h>
#include <sys/resource.h>

#define PAGES 200
#define MANY 10000

static struct rk_error e = {.size = sizeof e};
static struct rk_host *host;

static void *touch_in_thread(void *pages)
{
    if (*(size_t *)pages)
        touch(*(size_t *)pages);
    return NULL;
}

static void work(int threads, int processes, size_t pages)
{
    pthread_t thread[64];

    for (int i = 0; i < threads; i++)
        CHECK(pthread_create(&thread[i], NULL, touch_in_thread, &pages) == 0);
    for (int i = 0; i < threads; i++)
        CHECK(pthread_join(thread[i], NULL) == 0);
    for (int i = 0; i < processes; i++) {
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            touch_in_thread(&pages);
            _exit(0);
        }
        if (i % 10 == 9) /* ten at a time */
            while (waitpid(-1, NULL, 0) > 0)
                ;
    }
}

static uint64_t faults(char *what, char *pages)
{
    char *argv[] = {"/proc/self/exe", what, pages, NULL};
    struct session s = session_open("{page-faults,task-clock}", argv, NULL);
    struct rk_value v[2];

    OK(rk_target_start(s.target, &e));
    session_wait(&s, 0);
    CHECK(rk_set_total(s.set, v, NULL, 2) == 0);
    EQUAL(v[0].running, v[0].enabled);
    session_close(&s);
    return v[0].value;
}

/* What is counted when each touches its pages, less what is counted when none does: that many, and a twentieth for
 * faults by chance. One counted twice, or missed, in twenty would be seen. */
static void test_adds_up(char *what, int n)
{
    char pages[16];
    snprintf(pages, sizeof pages, "%d", PAGES);
    int64_t without = (int64_t)faults(what, "0"), with = (int64_t)faults(what, pages),
            made = (int64_t)n * PAGES;

    if (with - without < made - made / 20 || with - without > made + made / 20)
        FAIL("%d %s, %d faults each: %" PRId64 " counted", n, what, PAGES, with - without);
}

static void *wait_for_ever(void *unused)
{
    for (;;)
        pause();
    return unused;
}

/* A process of so many threads; 0 where they can't be had. */
static pid_t start(int threads)
{
    int ready[2];
    char c;

    CHECK(pipe(ready) == 0);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        pthread_attr_t attr;
        pthread_t thread;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ready[0]);
        pthread_attr_init(&attr);
        pthread_attr_setstacksize(&attr, 65536);
        for (int i = 1; i < threads; i++)
            if (pthread_create(&thread, &attr, wait_for_ever, NULL) != 0)
                _exit(1);
        CHECK(write(ready[1], "r", 1) == 1);
        wait_for_ever(NULL);
    }
    close(ready[1]);
    bool is = read(ready[0], &c, 1) == 1;
    close(ready[0]);
    if (!is)
        waitpid(pid, NULL, 0);
    return is ? pid : 0;
}

static void test_many(void)
{
    struct rk_plan plan = {.size = sizeof plan};
    struct rk_events *one, *four;
    struct rk_target *target;
    struct rk_set *set = NULL;
    struct rlimit limit;
    struct rk_value v;
    pid_t pid = start(MANY);

    if (!pid) {
        printf("%d threads can't be had here\n", MANY);
        return;
    }
    OK(rk_events_parse(host, "page-faults", &one, &e));
    OK(rk_events_parse(host, "page-faults,task-clock,cpu-clock,minor-faults", &four, &e));
    OK(rk_target_process(pid, &target, &e));
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    if (limit.rlim_max > 2 * MANY) {
        limit.rlim_max = 2 * MANY;
        limit.rlim_cur = limit.rlim_cur < limit.rlim_max ? limit.rlim_cur : limit.rlim_max;
        CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    }
    OK(rk_set_plan(host, four, target, NULL, &plan, &e));
    EQUAL(plan.slots, MANY);
    EQUAL(plan.descriptors, 4 * MANY);
    CHECK(plan.allowed < plan.descriptors && plan.cheaper[0]);
    printf("%u threads x %u events: %" PRIu64 " descriptors, %" PRIu64 " allowed; %s\n", plan.slots,
           plan.events, plan.descriptors, plan.allowed, plan.cheaper);
    EQUAL(rk_set_open(host, four, target, NULL, &set, &e), -EMFILE);
    CHECK(set == NULL && strstr(e.what, "needed") && strstr(e.what, "allowed"));
    OK(rk_set_plan(host, one, target, NULL, &plan, &e));
    EQUAL(plan.descriptors, MANY);
    if (plan.descriptors <= plan.allowed) {
        CHECK(plan.cheaper[0] == '\0');
        OK(rk_set_open(host, one, target, NULL, &set, &e));
        EQUAL(rk_set_slot_count(set), MANY);
        CHECK(rk_set_enable(set) == 0 && rk_set_total(set, &v, NULL, 1) == 0 && rk_set_disable(set) == 0);
        rk_set_free(set);
    } else {
        CHECK(plan.cheaper[0]);
        printf("%d descriptors are not allowed here: %" PRIu64 " are\n", MANY, plan.allowed);
    }
    rk_target_free(target);
    rk_events_free(one);
    rk_events_free(four);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
    if (argc > 2) {
        bool threads = strcmp(argv[1], "threads") == 0;
        work(threads ? 64 : 0, threads ? 0 : 200, (size_t)atoi(argv[2]));
        return 0;
    }
    OK(rk_host_open(NULL, &host, &e));
    test_adds_up("threads", 64);
    test_adds_up("processes", 200);
    test_many();
    rk_host_free(host);
    return 0;
}

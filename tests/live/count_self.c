/* Counting the calling thread: exactly what it did, with or without the threads it starts. */
#include "live.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGES 1000
#define FEW 16 /* faults that are ours: a stack page, the library's own data at their first touch */

static struct rk_error e = {.size = sizeof e};

static void touch(size_t pages)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    volatile char *at = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(at != MAP_FAILED);
    madvise((void *)at, pages * page, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < pages; i++)
        at[i * page] = 1;
    munmap((void *)at, pages * page);
}

static void *touch_many(void *unused)
{
    (void)unused;
    touch(PAGES);
    return NULL;
}

static void in_thread(void)
{
    pthread_t thread;

    CHECK(pthread_create(&thread, NULL, touch_many, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

static void in_process(void)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        touch(PAGES);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static struct rk_set *open_set(const char *text, const struct rk_set_options *options)
{
    static struct rk_host *host;
    struct rk_events *events;
    struct rk_target *target;
    struct rk_set *set;

    if (!host)
        OK(rk_host_open(NULL, &host, &e));
    OK(rk_events_parse(host, text, &events, &e));
    OK(rk_target_self(&target, &e));
    OK(rk_set_open(host, events, target, options, &set, &e));
    rk_events_free(events);
    rk_target_free(target);
    return set;
}

static uint64_t faults(struct rk_set *set, void (*work)(void))
{
    struct rk_value before, after;

    CHECK(rk_set_total(set, &before, NULL, 1) == 0);
    CHECK(rk_set_enable(set) == 0);
    work();
    CHECK(rk_set_disable(set) == 0);
    CHECK(rk_set_total(set, &after, NULL, 1) == 0);
    CHECK(after.running > before.running && after.running == after.enabled);
    return after.value - before.value;
}

static void here(void)
{
    touch(PAGES);
}

static void test_faults(void)
{
    struct rk_set *set;

    OK(rk_set_self("page-faults", &set, &e));
    faults(set, here);
    for (int i = 0; i < 3; i++) {
        uint64_t n = faults(set, here);
        if (n < PAGES || n > PAGES + FEW)
            FAIL("%d pages touched, %" PRIu64 " faults counted", PAGES, n);
    }
    CHECK(faults(set, in_thread) < PAGES / 2); /* the calling thread alone */
    rk_set_free(set);
}

static void test_inherit(void)
{
    struct rk_set *set = open_set("page-faults", NULL);
    uint64_t thread = faults(set, in_thread), process = faults(set, in_process);

    CHECK(thread >= PAGES && thread < PAGES + 200);
    CHECK(process >= PAGES && process < PAGES + 2000);
    rk_set_free(set);

    set = open_set("page-faults", &(struct rk_set_options){.size = sizeof(struct rk_set_options),
                                                           .flags = RK_SET_NO_INHERIT});
    CHECK(faults(set, in_thread) < PAGES / 2);
    rk_set_free(set);
}

/* A group counts what its members count alone, and nothing while disabled. */
static void test_group(void)
{
    struct rk_set *set = open_set("{page-faults,minor-faults,task-clock},page-faults", NULL);
    struct rk_value before[4], after[4];

    touch(10);
    CHECK(rk_set_total(set, before, NULL, 4) == 0);
    for (int i = 0; i < 4; i++)
        EQUAL(before[i].value + before[i].enabled + before[i].running, 0);
    CHECK(rk_set_enable(set) == 0);
    touch(PAGES);
    CHECK(rk_set_disable(set) == 0);
    touch(10);
    CHECK(rk_set_total(set, after, NULL, 4) == 0);
    CHECK(after[0].value >= PAGES && after[0].value <= PAGES + FEW);
    CHECK(after[1].value <= after[0].value && after[1].value >= PAGES);
    CHECK(after[2].value > 0);
    CHECK(after[3].value + FEW >= after[0].value && after[3].value <= after[0].value + FEW);
    EQUAL(after[0].enabled, after[1].enabled);
    rk_set_free(set);
}

static void test_never_enabled(void)
{
    struct rk_set *set = open_set("page-faults", NULL);
    struct rk_value v;

    CHECK(rk_set_total(set, &v, NULL, 1) == 0);
    EQUAL(v.running, 0);
    OK(rk_set_explain(set, SIZE_MAX, 0, &e));
    CHECK(strstr(e.what, "not enabled"));
    rk_set_free(set);
}

/* In a forked child the handle is of no use, says so, and can be closed. */
static void test_fork(void)
{
    struct rk_set *set = open_set("page-faults", NULL);
    int status;
    pid_t child = fork();

    if (child == 0) {
        struct rk_value v;
        EQUAL(rk_set_enable(set), -ESTALE);
        EQUAL(rk_set_disable(set), -ESTALE);
        EQUAL(rk_set_read(set, 0, &v, NULL, 1), -ESTALE);
        EQUAL(rk_set_total(set, &v, NULL, 1), -ESTALE);
        OK(rk_set_explain(set, SIZE_MAX, 0, &e));
        EQUAL(e.cause, RK_CAUSE_FORKED);
        CHECK(rk_set_free(set) == NULL);
        exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    EQUAL(status, 0);
    CHECK(rk_set_enable(set) == 0); /* and the parent's goes on */
    rk_set_free(set);
}

/* The host is the child's too: what is opened there after the fork counts there, beside the parent's that is stale; in
 * whatever order they are closed. */
static void test_host_in_child(void)
{
    struct rk_host *host;
    struct rk_events *events;
    struct rk_target *target;
    struct rk_set *set, *own, *grandchilds;
    struct rk_value v;
    int status;

    OK(rk_host_open(NULL, &host, &e));
    OK(rk_events_parse(host, "page-faults", &events, &e));
    OK(rk_target_self(&target, &e));
    OK(rk_set_open(host, events, target, NULL, &set, &e));
    pid_t child = fork();
    if (child == 0) {
        OK(rk_set_open(host, events, target, NULL, &own, &e));
        EQUAL(rk_set_enable(set), -ESTALE);
        CHECK(rk_set_enable(own) == 0);
        touch(10);
        CHECK(rk_set_read(own, 0, &v, NULL, 1) == 0 && v.value >= 10);
        pid_t grandchild = fork();
        if (grandchild == 0) {
            EQUAL(rk_set_enable(set), -ESTALE);
            EQUAL(rk_set_enable(own), -ESTALE);
            OK(rk_set_open(host, events, target, NULL, &grandchilds, &e));
            CHECK(rk_set_enable(grandchilds) == 0);
            rk_host_free(host);
            rk_set_free(own);
            CHECK(rk_set_read(grandchilds, 0, &v, NULL, 1) == 0);
            rk_set_free(set);
            rk_set_free(grandchilds);
            exit(0);
        }
        CHECK(waitpid(grandchild, &status, 0) == grandchild && status == 0);
        EQUAL(rk_set_enable(set), -ESTALE);
        CHECK(rk_set_enable(own) == 0);
        exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    EQUAL(status, 0);
    CHECK(rk_set_enable(set) == 0);
    rk_set_free(set);
    rk_target_free(target);
    rk_events_free(events);
    rk_host_free(host);
}

int main(void)
{
    test_faults();
    test_inherit();
    test_group();
    test_never_enabled();
    test_fork();
    test_host_in_child();
    return 0;
}

/*
 * rk_set_refresh() on processes and trees: threads and processes that come later get slots and rows, those that have
 * ended keep their counts, none is counted twice.
 */
#include "live.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGES 2000
#define FEW (PAGES / 3) /* a thread's own, and a sanitizer's shadow; counted twice would be more */

static struct rk_error e = {.size = sizeof e};
static struct rk_host *host;
static int order[2], go[2], done[2];
static pid_t process;

static void say(int fd, char what)
{
    CHECK(write(fd, &what, 1) == 1);
}

static char hear(int fd)
{
    char what = 0;

    CHECK(read(fd, &what, 1) == 1);
    return what;
}

/* Is there; touches pages when it is told; ends when it is told. */
static void *worker(void *unused)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    (void)unused;
    say(done[1], 'r');
    hear(go[0]);
    volatile char *at = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(at != MAP_FAILED);
    madvise((void *)at, PAGES * page, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < PAGES; i++)
        at[i * page] = 1;
    say(done[1], 'd');
    hear(go[0]);
    return NULL;
}

/* Begins a thread or a process, and buries it, as it is told. */
static void child(void)
{
    pthread_t thread;
    pid_t pid = -1;

    for (;;)
        switch (hear(order[0])) {
        case 't':
            CHECK(pthread_create(&thread, NULL, worker, NULL) == 0);
            break;
        case 'p':
            pid = fork_bound();
            if (pid == 0) {
                worker(NULL);
                _exit(0);
            }
            break;
        case 'j':
            CHECK(pthread_join(thread, NULL) == 0);
            say(done[1], 'j');
            break;
        case 'w':
            CHECK(waitpid(pid, NULL, 0) == pid);
            say(done[1], 'j');
            break;
        }
}

static void begin(void)
{
    CHECK(pipe(order) == 0 && pipe(go) == 0 && pipe(done) == 0);
    process = fork_bound();
    CHECK(process >= 0);
    if (process == 0)
        child();
}

static void end(void)
{
    kill(process, SIGKILL);
    waitpid(process, NULL, 0);
    for (int i = 0; i < 2; i++)
        close(order[i]), close(go[i]), close(done[i]);
}

/* Neither a thread nor a process has this id any more. */
static void await_gone(int32_t tid)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d", tid);
    while (access(path, F_OK) == 0)
        usleep(1000);
}

static struct rk_set *open_on(bool tree, const struct rk_set_options *options)
{
    struct rk_events *events;
    struct rk_target *target;
    struct rk_set *set = NULL;

    OK(rk_events_parse(host, "{page-faults,task-clock}", &events, &e));
    OK(tree ? rk_target_tree(process, &target, &e) : rk_target_process(process, &target, &e));
    OK(rk_set_open(host, events, target, options, &set, &e));
    rk_target_free(target); /* the set has what it needs */
    rk_events_free(events);
    return set;
}

/* One comes, is followed, works and goes. `known`: how many rows there are before. */
static void one_more(struct rk_set *set, struct rk_rows *rows, bool thread, size_t known)
{
    struct rk_value v[8] = {0}, again[8] = {0}, total[2];
    struct rk_slot slot = RK_INIT(slot);
    struct rk_row row = RK_INIT(row);
    size_t at = rk_set_slot_count(set);

    say(order[1], thread ? 't' : 'p');
    EQUAL(hear(done[0]), 'r');
    EQUAL(rk_rows_refresh(rows, &e), 0);
    EQUAL(rk_set_refresh(set, &e), 1);
    EQUAL(rk_set_refresh(set, &e), 0);
    EQUAL(rk_set_slot_count(set), at + 1);
    CHECK(rk_set_slot_get(set, at, &slot) == 0 && slot.pid > 0 && slot.pid != process && slot.cpu == -1);
    CHECK(rk_rows_count(rows) == known && rk_rows_read(rows, v, NULL, known * 2) == 0);
    EQUAL(rk_rows_refresh(rows, &e), 1);
    EQUAL(rk_rows_refresh(rows, &e), 0);
    EQUAL(rk_rows_count(rows), known + 1);
    CHECK(rk_rows_get(rows, known, &row) == 0);
    EQUAL(row.tid, slot.pid);
    EQUAL(row.slots, 1);

    say(go[1], 'g');
    EQUAL(hear(done[0]), 'd');
    CHECK(rk_rows_read(rows, v, NULL, (known + 1) * 2) == 0);
    uint64_t made = v[known * 2].value;
    if (made < PAGES || made > PAGES + FEW)
        FAIL("%d faults made, %" PRIu64 " counted", PAGES, made);
    CHECK(v[0].value < FEW);
    say(go[1], 'x');
    say(order[1], thread ? 'j' : 'w');
    EQUAL(hear(done[0]), 'j');
    await_gone(slot.pid);

    EQUAL(rk_set_refresh(set, &e), 1);
    EQUAL(rk_set_refresh(set, &e), 0);
    EQUAL(rk_set_fd(set, at, 0), -ENODEV);
    EQUAL(rk_rows_refresh(rows, &e), 0);
    CHECK(rk_rows_read(rows, again, NULL, (known + 1) * 2) == 0);
    CHECK(again[known * 2].value >= made && again[known * 2].value < made + FEW);
    CHECK(again[known * 2].running > 0);
    CHECK(rk_set_total(set, total, NULL, 2) == 0);
    uint64_t sum = 0;
    for (size_t i = 0; i <= known; i++)
        sum += again[i * 2].value;
    EQUAL(total[0].value, sum);
}

static void followed(bool tree)
{
    const struct rk_set_options options = {.size = sizeof options, .flags = RK_SET_NO_INHERIT};
    struct rk_rows *rows;

    begin();
    struct rk_set *set = open_on(tree, &options);
    OK(rk_rows_open(host, set, RK_BY_THREAD, &rows, &e));
    EQUAL(rk_rows_count(rows), 1);
    CHECK(rk_set_enable(set) == 0);
    EQUAL(rk_set_refresh(set, &e), 0);
    one_more(set, rows, true, 1);
    one_more(set, rows, !tree, 2);
    if (!tree) { /* another process is none of it */
        say(order[1], 'p');
        EQUAL(hear(done[0]), 'r');
        EQUAL(rk_set_refresh(set, &e), 0);
    }
    kill(process, SIGKILL);
    waitpid(process, NULL, 0);
    await_gone(process);
    CHECK(rk_set_refresh(set, &e) >= 1); /* all have ended: no error */
    struct rk_value total[2];
    CHECK(rk_set_total(set, total, NULL, 2) == 0 && total[0].value >= 2 * PAGES);
    rk_rows_free(rows);
    rk_set_free(set);
    end();
}

/* Inherited: counted with the thread that began it, once, and there is nothing to open. */
static void inherited(void)
{
    begin();
    struct rk_set *set = open_on(false, NULL);
    struct rk_value total[2];

    CHECK(rk_set_enable(set) == 0);
    say(order[1], 't');
    EQUAL(hear(done[0]), 'r');
    EQUAL(rk_set_refresh(set, &e), 0);
    EQUAL(rk_set_slot_count(set), 1);
    say(go[1], 'g');
    EQUAL(hear(done[0]), 'd');
    CHECK(rk_set_total(set, total, NULL, 2) == 0);
    if (total[0].value < PAGES || total[0].value > PAGES + FEW)
        FAIL("%d faults made, %" PRIu64 " counted", PAGES, total[0].value);
    rk_set_free(set);
    end();
}

/* What is opened while the set is off is off. */
static void disabled(void)
{
    const struct rk_set_options options = {.size = sizeof options, .flags = RK_SET_NO_INHERIT};

    begin();
    struct rk_set *set = open_on(false, &options);
    struct rk_value total[2];
    say(order[1], 't');
    EQUAL(hear(done[0]), 'r');
    EQUAL(rk_set_refresh(set, &e), 1);
    say(go[1], 'g');
    EQUAL(hear(done[0]), 'd');
    CHECK(rk_set_total(set, total, NULL, 2) == 0);
    EQUAL(total[0].value, 0);
    EQUAL(total[0].enabled, 0);
    rk_set_free(set);
    end();
}

int main(void)
{
    OK(rk_host_open(NULL, &host, &e));
    followed(false);
    followed(true);
    inherited();
    disabled();
    rk_host_free(host);
    return 0;
}

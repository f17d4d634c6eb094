/*
 * Trees, frozen processes, cgroups: each counts what runs there, all of it, once; and says when it has ended.
 */
#include "session.h"

#include <poll.h>
#include <pthread.h>

#define PAGES 1000
#define FEW 300 /* a process's own: its stack, a sanitizer's shadow */

static struct rk_error e = {.size = sizeof e};
static int go[2], done[2];

static void await(int n)
{
    char c;

    while (n-- > 0)
        CHECK(read(done[0], &c, 1) == 1);
}

static void *touch_when_told(void *unused)
{
    char c;

    (void)unused;
    CHECK(read(go[0], &c, 1) == 1);
    touch(PAGES);
    CHECK(write(done[1], "d", 1) == 1);
    return NULL;
}

/* A process with a second thread and so many generations below it, each the same. */
static void generation(int below)
{
    pthread_t thread;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (below > 0 && fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (--below == 0)
            break;
    }
    CHECK(pthread_create(&thread, NULL, touch_when_told, NULL) == 0);
    CHECK(write(done[1], "r", 1) == 1);
    touch_when_told(NULL);
    for (;;)
        pause();
}

static pid_t start(int below)
{
    CHECK(pipe(go) == 0 && pipe(done) == 0);
    fflush(stdout);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        generation(below);
    await(below + 1);
    return pid;
}

static void stop(pid_t pid)
{
    kill(pid, SIGKILL); /* the others follow */
    CHECK(waitpid(pid, NULL, 0) == pid);
    close(go[0]), close(go[1]), close(done[0]), close(done[1]);
}

/* Notes of births that can't be told to be counted. */
static int races(const struct rk_set *set)
{
    struct rk_note note = {.size = sizeof note};
    int n = 0;

    for (size_t i = 0; i < rk_set_note_count(set); i++) {
        EQUAL(rk_set_note_get(set, i, &note), 0);
        if (note.cause != RK_CAUSE_RACE)
            continue;
        CHECK(strstr(note.what, "born") && note.remedy[0]);
        n++;
    }
    return n;
}

/* Three generations of two threads: six slots, six times the pages, none twice. */
static void test_tree(struct rk_host *host, uint32_t freeze)
{
    const struct rk_set_options options = {.size = sizeof options, .flags = freeze ? RK_SET_FREEZE : 0};
    pid_t pid = start(2);
    struct rk_events *events;
    struct rk_target *tree, *process;
    struct rk_set *set;
    struct rk_value v[2];

    OK(rk_events_parse(host, "{page-faults,task-clock}", &events, &e));
    OK(rk_target_tree(pid, &tree, &e));
    OK(rk_target_process(pid, &process, &e));
    EQUAL(rk_target_pid(tree), pid);
    OK(rk_set_open(host, events, process, &options, &set, &e));
    EQUAL(rk_set_slot_count(set), 2);
    rk_set_free(set);
    int r = rk_set_open(host, events, tree, &options, &set, &e);
    if (freeze && r == -EPERM)
        SKIP("%s", e.what);
    OK(r);
    EQUAL(rk_set_slot_count(set), 6);
    EQUAL(races(set), 0);
    CHECK(rk_set_enable(set) == 0);
    CHECK(write(go[1], "gggggg", 6) == 6);
    await(6);
    CHECK(rk_set_total(set, v, NULL, 2) == 0);
    if (v[0].value < 6 * PAGES || v[0].value > 6 * (PAGES + FEW))
        FAIL("%d faults made in a tree, %" PRIu64 " counted", 6 * PAGES, v[0].value);
    EQUAL(rk_target_wait(tree, 0, NULL), 0);
    rk_set_free(set);
    stop(pid);
    struct rk_exit x = {.size = sizeof x, .status = 77};
    EQUAL(rk_target_wait(tree, -1, &x), 1);
    EQUAL(x.status, 0);
    if (rk_target_fd(tree) >= 0) {
        struct pollfd end = {.fd = rk_target_fd(tree), .events = POLLIN};
        EQUAL(poll(&end, 1, 0), 1);
    }
    EQUAL(rk_set_open(host, events, tree, &options, &set, &e), -ESRCH);
    EQUAL(e.cause, RK_CAUSE_NO_PROCESS);
    rk_target_free(tree);
    rk_target_free(process);
    rk_events_free(events);
}

/* One thread: its end can be waited for, with a descriptor or without. */
static void test_thread_end(void)
{
    pid_t pid = start(0);
    struct rk_target *thread;

    OK(rk_target_thread(pid, &thread, &e));
    EQUAL(rk_target_wait(thread, 0, NULL), 0);
    EQUAL(rk_target_wait(thread, 20, NULL), 0);
    stop(pid);
    EQUAL(rk_target_wait(thread, -1, NULL), 1);
    rk_target_free(thread);
}

/* Births without end: every one counted once where the process stands still while it is opened; elsewhere the set
 * says how many it can't tell. */
static void *child_thread(void *unused)
{
    (void)unused;
    touch(10);
    return NULL;
}

static void bear(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    CHECK(write(done[1], "r", 1) == 1);
    for (;;) {
        pthread_t threads[4];
        int n = 0;
        while (n < 4 && pthread_create(&threads[n], NULL, child_thread, NULL) == 0)
            n++;
        while (n > 0)
            pthread_join(threads[--n], NULL);
    }
}

/* Reads until the first event has counted so many; false where it has not in a minute. */
static bool grows_to(struct rk_set *set, uint64_t wanted, struct rk_value *v)
{
    time_t end = time(NULL) + 60;

    for (;;) {
        CHECK(rk_set_total(set, v, NULL, 2) == 0);
        bool grown = v[0].running && v[0].value >= wanted;
        if (grown || time(NULL) > end)
            return grown;
        usleep(200); /* a reading holds births up */
    }
}

/* A total that could be read. */
static void total(struct rk_set *set, struct rk_value *v)
{
    CHECK(grows_to(set, 0, v));
}

/*
 * The kernel may pass over a thread that is being born while counters are switched, and its parent then stands still, or
 * goes on, for good (src/set/toggle.c): 1 in 100 did, each time that it was switched.
 */
static void test_births(struct rk_host *host, uint32_t freeze)
{
    const struct rk_set_options options = {.size = sizeof options, .flags = freeze ? RK_SET_FREEZE : 0};
    struct rk_events *events;
    struct rk_target *target;
    struct rk_set *set;
    struct rk_value v[2], more[2];

    CHECK(pipe(go) == 0 && pipe(done) == 0);
    pid_t pid = fork();
    if (pid == 0)
        bear();
    await(1);
    OK(rk_events_parse(host, "{page-faults,task-clock}", &events, &e));
    OK(rk_target_process(pid, &target, &e));
    /* An emulated machine with two CPUs takes a second for each. */
    time_t end = time(NULL) + 8;
    for (int i = 0; i < 50 && (i < 3 || time(NULL) <= end); i++) {
        OK(rk_set_open(host, events, target, &options, &set, &e));
        if (freeze)
            EQUAL(races(set), 0);
        for (int times = 0; times < 4; times++) {
            CHECK(rk_set_enable(set) == 0);
            total(set, v);
            if (!grows_to(set, v[0].value + 20, more) || !grows_to(set, more[0].value + 20, v))
                FAIL("open %d, enabled %d times: stands still at %" PRIu64, i, times + 1, v[0].value);
            CHECK(rk_set_disable(set) == 0);
            total(set, v);
            usleep(1000);
            total(set, more);
            if (more[0].value != v[0].value)
                FAIL("open %d, disabled %d times: goes on from %" PRIu64 " to %" PRIu64, i, times + 1,
                     v[0].value, more[0].value);
        }
        rk_set_free(set);
    }
    EQUAL(waitpid(pid, NULL, WNOHANG), 0); /* it goes on, and its end is ours to take */
    rk_target_free(target);
    rk_events_free(events);
    stop(pid);
}

/* A cgroup of our own, where we may make one. */
static bool make_cgroup(struct rk_host *host, char *path, size_t size, const char **ret_name)
{
    const char *mount;

    if (rk_host_mount(host, RK_MOUNT_CGROUP1, &mount) < 0 &&
        rk_host_mount(host, RK_MOUNT_CGROUP2, &mount) < 0)
        return false;
    snprintf(path, size, "%s/reckon-%s-%d", mount, test_mark(), getpid());
    *ret_name = path + strlen(mount) + 1;
    return mkdir(path, 0755) == 0;
}

static void enter_cgroup(const char *path, pid_t pid)
{
    char file[256], text[16];

    snprintf(file, sizeof file, "%s/cgroup.procs", path);
    int fd = open(file, O_WRONLY | O_CLOEXEC), n = snprintf(text, sizeof text, "%d", pid);
    CHECK(fd >= 0 && write(fd, text, (size_t)n) == n && close(fd) == 0);
}

/* What the error's remedy says; only on a machine that is ours. */
static bool switch_controller_on(void)
{
    int fd =
        getenv("RECKON_HOTPLUG") ? open("/sys/fs/cgroup/cgroup.subtree_control", O_WRONLY | O_CLOEXEC) : -1;
    bool on = fd >= 0 && write(fd, "+pids", 5) == 5;

    if (fd >= 0)
        close(fd);
    return on;
}

/* A process with a thread, in the cgroup: what both do is counted, what we do is not. The cgroup is named twice. */
static void check_counts(struct rk_set *set, const char *name, const char *path)
{
    struct rk_slot where = RK_INIT(where);
    struct rk_value v[1], sum = {0};

    CHECK(rk_set_slot_count(set) % 2 == 0);
    CHECK(rk_set_slot_get(set, 0, &where) == 0 && strcmp(where.cgroup, name) == 0);
    CHECK(rk_set_slot_get(set, rk_set_slot_count(set) - 1, &where) == 0 && strcmp(where.cgroup, path) == 0);
    CHECK(rk_set_enable(set) == 0);
    touch(PAGES);
    CHECK(write(go[1], "gg", 2) == 2);
    await(2);
    for (size_t slot = 0; slot < rk_set_slot_count(set) / 2; slot++) {
        CHECK(rk_set_read(set, slot, v, NULL, 1) == 0);
        sum.value += v[0].value;
    }
    if (sum.value < 2 * PAGES || sum.value > 2 * (PAGES + FEW))
        FAIL("%d faults made in a cgroup, %" PRIu64 " counted", 2 * PAGES, sum.value);
    CHECK(rk_set_total(set, v, NULL, 1) == 0);
    EQUAL(v[0].value, 2 * sum.value);
}

static void test_cgroup(struct rk_host *host)
{
    char path[200];
    const char *name = NULL;
    struct rk_events *events;
    struct rk_target *target = NULL;
    struct rk_set *set;

    OK(rk_events_parse(host, "page-faults", &events, &e));
    EQUAL(rk_target_cgroups(host, (const char *const[]){"no-such-cgroup-here"}, 1, NULL, &target, &e),
          -ENOENT);
    CHECK(!target && e.what[0] && e.remedy[0]);
    EQUAL(rk_target_cgroups(host, (const char *const[]){"../../etc"}, 1, NULL, &target, &e), -EINVAL);
    if (!make_cgroup(host, path, sizeof path, &name)) {
        printf("no cgroup can be made here: cgroups are not tried\n");
        rk_events_free(events);
        return;
    }
    pid_t pid = start(0);
    enter_cgroup(path, pid);
    OK(rk_target_cgroups(host, (const char *const[]){name, path}, 2, NULL, &target, &e));
    int r = rk_set_open(host, events, target, NULL, &set, &e);
    if (r == -ENOENT) { /* no controller is on, and it says what to do */
        CHECK(e.cause == RK_CAUSE_UNSUPPORTED && strstr(e.what, "no perf_event controller") &&
              strstr(e.remedy, "+pids >/sys/fs/cgroup/cgroup.subtree_control"));
        if (switch_controller_on())
            OK(r = rk_set_open(host, events, target, NULL, &set, &e));
    } else if (r == -EACCES && !can_measure_all())
        CHECK(e.cause == RK_CAUSE_PARANOID);
    else if (r < 0) /* the kernel was built without */
        CHECK(r == -EINVAL && e.cause == RK_CAUSE_UNSUPPORTED && strstr(e.remedy, "CONFIG_CGROUP_PERF"));
    if (r == 0) {
        check_counts(set, name, path);
        rk_set_free(set);
    } else
        printf("cgroups are not counted here: %s\n", e.what);
    rk_target_free(target);
    rk_events_free(events);
    stop(pid);
    rmdir(path);
}

int main(void)
{
    struct rk_host *host;

    OK(rk_host_open(NULL, &host, &e));
    test_tree(host, 0);
    test_thread_end();
    test_births(host, 0);
    test_cgroup(host);
    test_births(host, 1);
    test_tree(host, 1);
    rk_host_free(host);
    return 0;
}

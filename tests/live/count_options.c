/*
 * Each option of a counting set by its effect: what is left out, who is counted, from when and until when; breakpoints
 * that move; all counters of a thread at once.
 */
#include "session.h"

#include <pthread.h>

#define PAGES 500
#define FEW 200

static struct rk_error e = {.size = sizeof e};
static struct rk_host *host;
static char self_path[4096];

/* Opens `events` on this thread, or says that it can't be had here (NULL). */
static struct rk_set *open_self(const char *events, const struct rk_set_options *options)
{
    struct rk_events *parsed;
    struct rk_target *self;
    struct rk_set *set = NULL;

    OK(rk_events_parse(host, events, &parsed, &e));
    OK(rk_target_self(&self, &e));
    int r = rk_set_open(host, parsed, self, options, &set, &e);
    if (r < 0)
        printf("%s: %s\n", events, e.what);
    rk_target_free(self);
    rk_events_free(parsed);
    return set;
}

static uint64_t counted(struct rk_set *set)
{
    struct rk_value v[2];

    CHECK(rk_set_total(set, v, NULL, 2) == 0);
    return v[0].value;
}

static uint64_t faults(const struct rk_set_options *options, void (*work)(void))
{
    struct rk_set *set = open_self("page-faults", options);

    CHECK(set != NULL);
    CHECK(rk_set_enable(set) == 0);
    work();
    CHECK(rk_set_disable(set) == 0);
    uint64_t n = counted(set);
    rk_set_free(set);
    return n;
}

static void touch_self(void)
{
    touch(PAGES);
}

/* The kernel writes to fresh pages: faults of ours in its mode. */
static void kernel_touches(void)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    char *at = mmap(NULL, PAGES * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

    CHECK(at != MAP_FAILED && fd >= 0);
    madvise(at, PAGES * size, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < PAGES; i++)
        CHECK(read(fd, at + i * size, 1) == 1);
    close(fd);
    munmap(at, PAGES * size);
}

static void *thread_touches(void *unused)
{
    (void)unused;
    touch(PAGES);
    return NULL;
}

static void in_a_thread(void)
{
    pthread_t thread;

    CHECK(pthread_create(&thread, NULL, thread_touches, NULL) == 0 && pthread_join(thread, NULL) == 0);
}

static void in_a_child(void)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        touch(PAGES);
        _exit(0);
    }
    CHECK(waitpid(pid, NULL, 0) == pid);
}

static void test_exclude(void)
{
#define EXCLUDE(what) (&(struct rk_set_options){.size = sizeof(struct rk_set_options), .exclude = (what)})
    CHECK(faults(EXCLUDE(RK_EXCLUDE_KERNEL), touch_self) >= PAGES);
    CHECK(faults(EXCLUDE(RK_EXCLUDE_KERNEL), kernel_touches) < PAGES / 2);
    if (can_measure_all()) {
        CHECK(faults(EXCLUDE(RK_EXCLUDE_USER), kernel_touches) >= PAGES);
        CHECK(faults(EXCLUDE(RK_EXCLUDE_USER), touch_self) < PAGES / 2);
    }
    CHECK(faults(EXCLUDE(RK_EXCLUDE_HYPERVISOR | RK_EXCLUDE_GUEST | RK_EXCLUDE_KERNEL), touch_self) >= PAGES);
}

static void test_inheritance(void)
{
    const struct rk_set_options all = {.size = sizeof all},
                                none = {.size = sizeof none, .flags = RK_SET_NO_INHERIT},
                                threads = {.size = sizeof threads, .flags = RK_SET_THREADS_ONLY};

    CHECK(faults(&all, in_a_thread) >= PAGES && faults(&all, in_a_child) >= PAGES);
    CHECK(faults(&none, in_a_thread) < PAGES && faults(&none, in_a_child) < PAGES);
    if (rk_host_feature(host, RK_FEATURE_INHERIT_THREAD) != 1) {
        printf("threads_only: not before Linux 5.13\n");
        return;
    }
    CHECK(faults(&threads, in_a_thread) >= PAGES);
    CHECK(faults(&threads, in_a_child) < PAGES);
}

/* A child that makes faults, execs itself, and makes as many again. */
static uint64_t around_exec(const struct rk_set_options *options)
{
    int go[2], done[2];
    struct rk_events *events;
    struct rk_target *target;
    struct rk_set *set;
    char c;

    CHECK(pipe(go) == 0 && pipe(done) == 0);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        CHECK(write(done[1], "r", 1) == 1 && read(go[0], &c, 1) == 1);
        touch(8 * PAGES);
        execl(self_path, self_path, "again", (char *)NULL);
        _exit(1);
    }
    CHECK(read(done[0], &c, 1) == 1);
    OK(rk_events_parse(host, "page-faults", &events, &e));
    OK(rk_target_process(pid, &target, &e));
    OK(rk_set_open(host, events, target, options, &set, &e));
    if (!(options->flags & RK_SET_ENABLE_ON_EXEC))
        CHECK(rk_set_enable(set) == 0);
    CHECK(write(go[1], "g", 1) == 1);
    CHECK(waitpid(pid, NULL, 0) == pid);
    EQUAL(rk_target_wait(target, -1, NULL), 1);
    uint64_t n = counted(set);
    rk_set_free(set);
    rk_target_free(target);
    rk_events_free(events);
    close(go[0]), close(go[1]), close(done[0]), close(done[1]);
    return n;
}

static void test_exec(void)
{
    const struct rk_set_options all = {.size = sizeof all},
                                after = {.size = sizeof after, .flags = RK_SET_ENABLE_ON_EXEC},
                                before = {.size = sizeof before, .flags = RK_SET_REMOVE_ON_EXEC};
    uint64_t both = around_exec(&all), second = around_exec(&after);

    CHECK(both >= 72 * PAGES);
    CHECK(second >= 64 * PAGES && second < 72 * PAGES);
    if (rk_host_feature(host, RK_FEATURE_REMOVE_ON_EXEC) != 1) {
        printf("remove_on_exec: not before Linux 5.13\n");
        return;
    }
    uint64_t first = around_exec(&before);
    CHECK(first >= 8 * PAGES && first < 64 * PAGES);
}

static volatile uint64_t one, other;

/* A breakpoint counts exactly, and goes on so at another address. */
static void test_modify(void)
{
    const struct rk_set_options options = {.size = sizeof options, .exclude = RK_EXCLUDE_KERNEL};
    char text[64];
    struct rk_events *events;
    struct rk_event to = {.size = sizeof to};

    snprintf(text, sizeof text, "mem:%p/8:w", (void *)(uintptr_t)&one);
    struct rk_set *set = open_self(text, &options);
    if (!set)
        return;
    catch_strays();
    uint64_t before = strays();
    CHECK(rk_set_enable(set) == 0);
    for (int i = 0; i < 1000; i++)
        one = one + 1, other = other + 1;
    EQUAL(counted(set) + strays() - before, 1000);
    snprintf(text, sizeof text, "mem:%p/8:w", (void *)(uintptr_t)&other);
    OK(rk_events_parse(host, text, &events, &e));
    EQUAL(rk_events_get(events, 0, &to), 0);
    OK(rk_set_modify(set, 0, &to, &e));
    for (int i = 0; i < 1000; i++)
        one = one + 1;
    EQUAL(counted(set) + strays() - before, 1000);
    for (int i = 0; i < 1000; i++)
        other = other + 1;
    EQUAL(counted(set) + strays() - before, 2000);
    CHECK(rk_set_disable(set) == 0);
    to.config1 = (uint64_t)(uintptr_t)&one;
    OK(rk_set_modify(set, 0, &to, &e)); /* and stays off */
    one = one + 1;
    EQUAL(counted(set) + strays() - before, 2000);
    to.config2 = 9; /* no machine watches so many bytes at once */
    CHECK(rk_set_modify(set, 0, &to, &e) < 0 && e.what[0]);
    to.type = 0;
    EQUAL(rk_set_modify(set, 0, &to, &e), -EINVAL);
    rk_events_free(events);
    rk_set_free(set);
}

/* prctl: every counter of this thread, and back. */
static void test_all(void)
{
    struct rk_set *a = open_self("page-faults", NULL), *b = open_self("{minor-faults,task-clock}", NULL);

    CHECK(a && b);
    CHECK(rk_set_enable(a) == 0 && rk_set_enable(b) == 0);
    touch(PAGES);
    EQUAL(rk_sets_disable(), 0);
    uint64_t first = counted(a), second = counted(b);
    CHECK(first >= PAGES && second >= PAGES);
    touch(PAGES);
    EQUAL(counted(a), first);
    EQUAL(counted(b), second);
    EQUAL(rk_sets_enable(), 0);
    touch(PAGES);
    CHECK(counted(a) >= first + PAGES && counted(b) >= second + PAGES);
    rk_set_free(a);
    rk_set_free(b);
}

/* Clocks that the kernel takes, and one that it does not, by name. Lost samples are told where the kernel knows. */
static void test_clock_and_lost(void)
{
    static const int32_t taken[] = {0, 1, 4, 7, 11};
    struct rk_set_options options = {
        .size = sizeof options, .period = 1000000, .flags = RK_SET_CLOCK, .ring_bytes = 65536};
    uint64_t lost = 1;

    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        options.clock = taken[i];
        struct rk_set *set = open_self("cpu-clock", &options);
        if (!set) /* sampling may be forbidden here */
            return;
        int r = rk_set_lost(set, 0, &lost);
        CHECK(r == -EOPNOTSUPP || (r == 0 && lost == 0));
        rk_set_free(set);
    }
    options.clock = 2; /* CLOCK_PROCESS_CPUTIME_ID */
    CHECK(open_self("cpu-clock", &options) == NULL);
    CHECK(strstr(e.what, "clockid") && strstr(e.remedy, "clockid"));
    struct rk_set *counts = open_self("page-faults", NULL);
    CHECK(counts != NULL);
    EQUAL(rk_set_lost(counts, 0, &lost), -EOPNOTSUPP);
    rk_set_free(counts);
}

/* Switches happen in the kernel: a plain user can't measure them, and is not told 0. */
static void test_not_measurable(void)
{
    struct rk_set *set = open_self("context-switches", NULL);

    if (set) {
        CHECK(rk_set_enable(set) == 0);
        for (int i = 0; i < 3; i++)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        CHECK(counted(set) >= 3);
        rk_set_free(set);
    } else {
        CHECK(e.cause == RK_CAUSE_PARANOID && e.remedy[0]);
        CHECK(strstr(e.what, "kernel"));
    }
}

static void all(void)
{
    OK(rk_host_open(NULL, &host, &e));
    test_exclude();
    test_inheritance();
    test_exec();
    test_modify();
    test_all();
    test_clock_and_lost();
    test_not_measurable();
    rk_host_free(host);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "again") == 0) {
        touch(64 * PAGES);
        return 0;
    }
    live_needs_counters();
    use_directory_and_self(self_path, sizeof self_path);
    all();
    as_plain_user(all);
    return 0;
}

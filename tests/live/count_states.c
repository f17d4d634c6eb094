/*
 * A true 0 and an unknown count are told apart (enum rk_state), by slot, in total, by row and by name: what ran was
 * counted, what did not run is idle and 0, what was not enabled is disabled, what does not exist here is absent.
 * hw_starved.c has those that got no counter.
 */
#include "session.h"

#define PAGES 500
#define UNTOUCHED 0x5eed

static struct rk_error e = {.size = sizeof e};
static struct rk_host *host;
static pid_t owner, sleeper;
static char cgroup[200];

static void clean(void)
{
    if (getpid() != owner)
        return;
    if (sleeper > 0) {
        kill(sleeper, SIGKILL);
        waitpid(sleeper, NULL, 0);
    }
    if (*cgroup)
        rmdir(cgroup);
}

/* A child that sleeps until it is killed, and has done all that it does before that. */
static void start_sleeper(void)
{
    int ready[2];
    char state = 0, path[64], line[512];

    CHECK(pipe(ready) == 0);
    sleeper = fork();
    CHECK(sleeper >= 0);
    if (sleeper == 0) {
        sigset_t all;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sigfillset(&all);
        sigprocmask(SIG_SETMASK, &all, NULL);
        if (write(ready[1], "r", 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    CHECK(read(ready[0], line, 1) == 1 && close(ready[0]) == 0 && close(ready[1]) == 0);
    snprintf(path, sizeof path, "/proc/%d/stat", sleeper);
    while (state != 'S') { /* in pause(2) */
        FILE *f = fopen(path, "re");
        CHECK(f && fgets(line, sizeof line, f) && fclose(f) == 0);
        state = strrchr(line, ')')[2];
    }
}

static struct rk_set *open_set(const char *text, struct rk_target *target, uint32_t flags)
{
    const struct rk_set_options options = {.size = sizeof options, .flags = flags};
    struct rk_events *events;
    struct rk_set *set;

    OK(rk_events_parse(host, text, &events, &e));
    OK(rk_set_open(host, events, target, &options, &set, &e));
    rk_events_free(events);
    rk_target_free(target);
    return set;
}

static void is_state(uint32_t got, uint32_t wanted, const char *where)
{
    if (got != wanted)
        FAIL("%s: %s, not %s", where, rk_state_name(got), rk_state_name(wanted));
}

/* Every event of the set has this state in each slot, in total and in each row. A 0 is a 0. */
static void all_are(struct rk_set *set, uint32_t wanted, uint32_t by, const char *where)
{
    size_t n = rk_set_event_count(set), slots = rk_set_slot_count(set);
    struct rk_value v[64];
    uint32_t states[64];
    struct rk_rows *rows;

    for (size_t slot = 0; slot <= slots; slot++) { /* the last: the total */
        memset(v, 0xff, sizeof v);
        memset(states, 0xff, sizeof states);
        EQUAL(slot < slots ? rk_set_read(set, slot, v, states, n) : rk_set_total(set, v, states, n), 0);
        for (size_t i = 0; i < n; i++) {
            is_state(states[i], wanted, where);
            CHECK((wanted == RK_STATE_COUNTED) == (v[i].running > 0));
            CHECK(wanted == RK_STATE_COUNTED || v[i].value == 0);
        }
    }
    OK(rk_rows_open(host, set, by, &rows, &e));
    size_t cells = rk_rows_count(rows) * n;
    CHECK(cells > 0 && cells <= 64);
    EQUAL(rk_rows_read(rows, v, states, cells), 0);
    for (size_t i = 0; i < cells; i++) {
        is_state(states[i], wanted, where);
        CHECK(wanted == RK_STATE_COUNTED || v[i].value == 0);
    }
    rk_rows_free(rows);
}

static void check_idle(struct rk_set *set, uint32_t by, const char *where)
{
    struct rk_value v = {UNTOUCHED, UNTOUCHED, UNTOUCHED};
    struct rk_error why = {.size = sizeof why};

    all_are(set, RK_STATE_IDLE, by, where);
    EQUAL(rk_set_value(set, "page-faults", &v), 0);
    EQUAL(v.value, 0);
    EQUAL(v.running, 0);
    EQUAL(rk_set_explain(set, SIZE_MAX, 0, &why), -ENOENT);
    EQUAL(rk_set_explain(set, 0, 0, &why), -ENOENT);
}

static void check_disabled(struct rk_set *set, uint32_t by, const char *where)
{
    struct rk_value v = {UNTOUCHED, UNTOUCHED, UNTOUCHED};
    struct rk_error why = {.size = sizeof why};

    all_are(set, RK_STATE_DISABLED, by, where);
    EQUAL(rk_set_value(set, "page-faults", &v), -ENODATA);
    CHECK(v.value == UNTOUCHED && v.enabled == UNTOUCHED && v.running == UNTOUCHED);
    EQUAL(rk_set_explain(set, SIZE_MAX, 0, &why), 0);
    EQUAL(why.code, -ENODATA);
    CHECK(strstr(why.what, "page-faults") && strstr(why.what, "was not enabled"));
    CHECK(strcmp(why.remedy, "rk_set_enable()") == 0);
}

/* This thread: disabled, then counted, also where the count is a 0, and after it was stopped. */
static void test_self(void)
{
    struct rk_target *self;
    struct rk_value v[2], one;
    uint32_t states[2];

    OK(rk_target_self(&self, &e));
    struct rk_set *set = open_set("page-faults,emulation-faults", self, RK_SET_NO_INHERIT);
    check_disabled(set, RK_BY_THREAD, "this thread, before it is counted");
    CHECK(rk_set_enable(set) == 0);
    touch(PAGES);
    all_are(set, RK_STATE_COUNTED, RK_BY_THREAD, "this thread");
    CHECK(rk_set_disable(set) == 0);
    all_are(set, RK_STATE_COUNTED, RK_BY_THREAD, "this thread, stopped");
    CHECK(rk_set_total(set, v, states, 2) == 0 && v[0].value >= PAGES);
    EQUAL(v[1].value, 0); /* counted: a true 0 */
    EQUAL(rk_set_value(set, "emulation-faults", &one), 0);
    EQUAL(one.value, 0);
    EQUAL(rk_set_explain(set, SIZE_MAX, 1, &e), -ENOENT);
    rk_set_free(set);
}

/* A process, and a thread, that sleep all the time. */
static void test_sleeper(void)
{
    struct rk_target *target;
    const int32_t tid = sleeper;

    for (int i = 0; i < 4; i++) {
        const char *where = i & 1 ? "a thread that sleeps" : "a process that sleeps";
        OK(i & 1 ? rk_target_threads(&tid, 1, &target, &e) : rk_target_process(sleeper, &target, &e));
        struct rk_set *set =
            open_set(i & 2 ? "{page-faults,minor-faults}" : "page-faults,minor-faults", target, 0);
        check_disabled(set, RK_BY_THREAD, where);
        CHECK(rk_set_enable(set) == 0);
        check_idle(set, RK_BY_THREAD, where);
        CHECK(rk_set_disable(set) == 0);
        check_idle(set, RK_BY_THREAD, where);
        rk_set_free(set);
    }
}

/* Two threads, one asleep: its slot is idle, the sum is counted and all of it is the other's. */
static void test_both(void)
{
    const int32_t tids[2] = {getpid(), sleeper};
    struct rk_target *target;
    struct rk_slot slot = {.size = sizeof slot};
    struct rk_value v, sum, by[2];
    uint32_t state, states[2];
    struct rk_rows *rows;
    struct rk_row row = {.size = sizeof row};

    OK(rk_target_threads(tids, 2, &target, &e));
    struct rk_set *set = open_set("page-faults", target, RK_SET_NO_INHERIT);
    CHECK(rk_set_enable(set) == 0);
    touch(PAGES);
    CHECK(rk_set_disable(set) == 0);
    EQUAL(rk_set_slot_count(set), 2);
    EQUAL(rk_set_total(set, &sum, &state, 1), 0);
    is_state(state, RK_STATE_COUNTED, "both");
    CHECK(sum.value >= PAGES);
    for (size_t i = 0; i < 2; i++) {
        CHECK(rk_set_slot_get(set, i, &slot) == 0 && rk_set_read(set, i, &v, &state, 1) == 0);
        is_state(state, slot.pid == sleeper ? RK_STATE_IDLE : RK_STATE_COUNTED, "one of two");
        EQUAL(v.value, slot.pid == sleeper ? 0 : sum.value);
    }
    OK(rk_rows_open(host, set, RK_BY_THREAD, &rows, &e));
    EQUAL(rk_rows_count(rows), 2);
    EQUAL(rk_rows_read(rows, by, states, 2), 0);
    for (size_t i = 0; i < 2; i++) {
        CHECK(rk_rows_get(rows, i, &row) == 0);
        is_state(states[i], row.tid == sleeper ? RK_STATE_IDLE : RK_STATE_COUNTED, row.name);
        EQUAL(by[i].value, row.tid == sleeper ? 0 : sum.value);
    }
    rk_rows_free(rows);
    rk_set_free(set);
}

/* What does not exist here is absent, beside what is counted. */
static void test_absent(void)
{
    const struct rk_set_options options = {.size = sizeof options, .flags = RK_SET_KEEP | RK_SET_NO_INHERIT};
    struct rk_events *events;
    struct rk_target *self;
    struct rk_set *set;
    struct rk_value v[3], one = {UNTOUCHED, UNTOUCHED, UNTOUCHED};
    uint32_t states[3];
    struct rk_rows *rows;
    struct rk_error why = {.size = sizeof why};

    OK(rk_events_parse_keep(host, "page-faults,no-such-event-here,cycles", &events, &e));
    OK(rk_target_self(&self, &e));
    OK(rk_set_open(host, events, self, &options, &set, &e));
    EQUAL(rk_set_event_count(set), 3);
    OK(rk_rows_open(host, set, RK_BY_THREAD, &rows, &e));
    for (int enabled = 0; enabled < 2; enabled++) {
        if (enabled) {
            CHECK(rk_set_enable(set) == 0);
            touch(PAGES);
        }
        for (int how = 0; how < 3; how++) {
            memset(v, 0xff, sizeof v);
            EQUAL(how == 0   ? rk_set_read(set, 0, v, states, 3)
                  : how == 1 ? rk_set_total(set, v, states, 3)
                             : rk_rows_read(rows, v, states, 3),
                  0);
            is_state(states[0], enabled ? RK_STATE_COUNTED : RK_STATE_DISABLED, "page-faults");
            is_state(states[1], RK_STATE_ABSENT, "no-such-event-here");
            if (rk_set_fd(set, 0, 2) == -ENODEV) /* there is no PMU */
                is_state(states[2], RK_STATE_ABSENT, "cycles");
            CHECK(v[1].value == 0 && v[1].enabled == 0 && v[1].running == 0);
        }
        EQUAL(rk_set_value(set, "no-such-event-here", &one), -ENODATA);
        CHECK(one.value == UNTOUCHED && one.enabled == UNTOUCHED && one.running == UNTOUCHED);
        EQUAL(rk_set_explain(set, SIZE_MAX, 1, &why), 0);
        CHECK(strstr(why.what, "no-such-event-here") && why.code < 0);
    }
    rk_rows_free(rows);
    rk_set_free(set);
    rk_target_free(self);
    rk_events_free(events);
}

/* A cgroup that nothing is in, on all CPUs. */
static void test_cgroup(void)
{
    const char *mount, *name;
    struct rk_target *target;
    struct rk_events *events;
    struct rk_set *set;

    if (rk_host_mount(host, RK_MOUNT_CGROUP1, &mount) < 0 &&
        rk_host_mount(host, RK_MOUNT_CGROUP2, &mount) < 0)
        return;
    /* cgroup v2 gives its children a perf_event controller once any other is on. */
    int fd = live_exact() ? open("/sys/fs/cgroup/cgroup.subtree_control", O_WRONLY | O_CLOEXEC) : -1;
    if (fd >= 0)
        CHECK(write(fd, "+pids", 5) == 5 && close(fd) == 0);
    snprintf(cgroup, sizeof cgroup, "%s/reckon-%s-states-%d", mount, test_mark(), getpid());
    if (!can_measure_all() || mkdir(cgroup, 0755) < 0) {
        cgroup[0] = '\0';
        return;
    }
    name = cgroup + strlen(mount) + 1;
    OK(rk_events_parse(host, "page-faults,context-switches", &events, &e));
    OK(rk_target_cgroups(host, &name, 1, NULL, &target, &e));
    int r = rk_set_open(host, events, target, NULL, &set, &e);
    rk_events_free(events);
    rk_target_free(target);
    if (r < 0 && e.cause == RK_CAUSE_UNSUPPORTED && strstr(e.what, "perf_event controller") && !live_exact())
        return;
    OK(r);
    check_disabled(set, RK_BY_CGROUP, "an empty cgroup");
    CHECK(rk_set_enable(set) == 0);
    check_idle(set, RK_BY_CGROUP, "an empty cgroup");
    rk_set_free(set);
}

int main(void)
{
    owner = getpid();
    atexit(clean);
    live_needs_counters();
    OK(rk_host_open(NULL, &host, &e));
    start_sleeper();
    test_self();
    test_sleeper();
    test_both();
    test_absent();
    test_cgroup();
    rk_host_free(host);
    return 0;
}

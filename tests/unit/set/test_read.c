/*
 * What read(2) gives, in every shape, becomes values; and what fails is explained. The source is built in here, so
 * that its leanest read asks the fake kernel too.
 */
#include "fake_kernel.h"
#include "target/target.h"

#define sys_perf_read_once(fd, words, bytes) (ssize_t) sys_perf_read(fd, words, (bytes) / 8)
#include "../../../src/set/read.c" // NOLINT(bugprone-suspicious-include)

#define ROOT "bare-metal"

static struct rk_target *self(void)
{
    return target_new(TARGET_SELF, 0);
}

static struct rk_target *two_cpus(void)
{
    struct rk_target *target = target_new(TARGET_CPUS, -1);

    target->cpus = malloc(2 * sizeof *target->cpus);
    target->cpus[0] = 0, target->cpus[1] = 1;
    target->n_cpus = 2;
    return target;
}

/* As the kernel does it: event i has the value 10 × (i + 1), and lost i + 1. */
static int honest(int index, uint64_t *words, size_t n)
{
    uint64_t format = kernel.opened[index].attr.read_format, *w = words;
    int members = 1;

    if (format & FORMAT_GROUP) {
        for (int i = 0; i < kernel.n; i++)
            members += kernel.opened[i].group_fd == FIRST_FD + index;
        *w++ = (uint64_t)members;
    } else {
        *w++ = ((uint64_t)index + 1) * 10;
    }
    *w++ = 2000;
    *w++ = 1000;
    for (int i = index; members > 0; i++) {
        if (i != index && kernel.opened[i].group_fd != FIRST_FD + index)
            continue;
        if (format & FORMAT_GROUP)
            *w++ = ((uint64_t)i + 1) * 10;
        if (format & FORMAT_ID)
            *w++ = 1000 + (uint64_t)i;
        if (format & FORMAT_LOST)
            *w++ = (uint64_t)i + 1;
        members--;
    }
    size_t used = (size_t)(w - words);
    return used > n ? -ENOSPC : (int)(used * 8);
}

static void check(const struct rk_value *v, uint64_t value, uint64_t enabled, uint64_t running)
{
    assert_int_equal(v->value, value);
    assert_int_equal(v->enabled, enabled);
    assert_int_equal(v->running, running);
}

static void test_shapes(void **state)
{
    static const struct rk_set_options shapes[] = {
        {.size = sizeof *shapes},
        {.size = sizeof *shapes,
         .period = 100,
         .flags = RK_SET_NO_INHERIT}, /* FORMAT_LOST, and FORMAT_ID by :S */
    };
    struct scene s;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct rk_value v[5] = {0};
        uint64_t lost;

        kernel_reset();
        kernel.read = honest;
        assert_int_equal(scene_open(&s, ROOT, "page-faults,{cycles:S,r1:S,r2:S},{r3,r4}", self(), &shapes[i]),
                         0);
        struct rk_value six[6] = {0};
        assert_int_equal(rk_set_read(s.set, 0, v, NULL, 5), -EINVAL);
        assert_int_equal(rk_set_read(s.set, 1, six, NULL, 6), -ERANGE);
        assert_int_equal(kernel.reads, 0);
        assert_int_equal(rk_set_read(s.set, 0, six, NULL, 6), 0);
        assert_int_equal(kernel.reads, 3); /* one per group */
        for (uint64_t event = 0; event < 6; event++)
            check(&six[event], 10 * (event + 1), 2000, 1000);
        for (uint32_t event = 0; event < 6; event++)
            if (i == 0) {
                assert_int_equal(set_lost(s.set, event, &lost), -EOPNOTSUPP);
            } else {
                assert_int_equal(set_lost(s.set, event, &lost), 0);
                assert_int_equal(lost, event + 1);
            }
        assert_int_equal(set_lost(s.set, 6, &lost), -ERANGE);
        scene_close(&s);
    }
}

static void test_total(void **state)
{
    struct scene s;
    struct rk_value v[2] = {0};

    (void)state;
    kernel_reset();
    kernel.read = honest;
    assert_int_equal(scene_open(&s, ROOT, "cycles,instructions", two_cpus(), NULL), 0);
    assert_int_equal(rk_set_total(s.set, v, NULL, 1), -EINVAL);
    assert_int_equal(rk_set_total(s.set, NULL, NULL, 2), -EINVAL);
    assert_int_equal(rk_set_read(s.set, 0, NULL, NULL, 2), -EINVAL);
    assert_true(rk_set_total(NULL, v, NULL, 2) == -EINVAL && rk_set_read(NULL, 0, v, NULL, 2) == -EINVAL);
    assert_true(rk_set_enable(NULL) == -EINVAL && rk_set_disable(NULL) == -EINVAL);
    assert_int_equal(rk_set_total(s.set, v, NULL, 2), 0);
    check(&v[0], 10 + 30, 4000, 2000);
    check(&v[1], 20 + 40, 4000, 2000);
    scene_close(&s);

    /* A thread on each of eight CPUs is enabled on all while it runs on one: it has been for 2000 ns. */
    kernel_reset();
    kernel.read = honest;
    assert_int_equal(scene_open(&s, ROOT, "cycles", target_new(TARGET_THREAD, 4242), OPTIONS(.period = 100)),
                     0);
    assert_int_equal(rk_set_slot_count(s.set), 8);
    assert_int_equal(rk_set_total(s.set, v, NULL, 1), 0);
    check(&v[0], 10 + 20 + 30 + 40 + 50 + 60 + 70 + 80, 2000, 8000);
    scene_close(&s);
}

static int failing; /* the event whose read fails */
static int failure; /* … with this */

static int fails(int index, uint64_t *words, size_t n)
{
    return index == failing ? failure : honest(index, words, n);
}

/* No byte: pinned and in error. Never a stale number, never 0. */
static void test_starved(void **state)
{
    struct scene s;
    struct rk_value v[3] = {0};

    (void)state;
    kernel_reset();
    kernel.read = fails;
    failing = 0, failure = 0;
    assert_int_equal(scene_open(&s, ROOT, "cycles:D,instructions:D,page-faults", self(), NULL), 0);
    assert_int_equal(rk_set_read(s.set, 0, v, NULL, 3), 0);
    check(&v[0], 0, 0, 0);
    check(&v[1], 20, 2000, 1000);
    assert_int_equal(rk_set_explain(s.set, 0, 0, &s.e), 0);
    assert_int_equal(s.e.cause, RK_CAUSE_STARVED);
    assert_string_equal(s.e.event, "cycles:D");
    assert_int_equal(rk_set_explain(s.set, SIZE_MAX, 0, &s.e), 0);
    assert_int_equal(rk_set_explain(s.set, 0, 1, &s.e), -ENOENT);
    assert_int_equal(rk_set_explain(s.set, 0, 3, &s.e), -ERANGE);
    assert_int_equal(rk_set_explain(s.set, 1, 0, &s.e), -ERANGE);

    /* and when it counts again, it is forgotten */
    failing = -1;
    assert_int_equal(rk_set_read(s.set, 0, v, NULL, 3), 0);
    check(&v[0], 10, 2000, 1000);
    assert_int_equal(rk_set_explain(s.set, 0, 0, &s.e), -ENOENT);
    scene_close(&s);

    /* a whole group */
    kernel_reset();
    kernel.read = fails;
    failing = 0, failure = 0;
    assert_int_equal(scene_open(&s, ROOT, "{cycles:D,instructions:D},page-faults", self(), NULL), 0);
    assert_int_equal(rk_set_read(s.set, 0, v, NULL, 3), 0);
    check(&v[0], 0, 0, 0);
    check(&v[1], 0, 0, 0);
    check(&v[2], 30, 2000, 1000);
    assert_int_equal(rk_set_explain(s.set, 0, 1, &s.e), 0);
    assert_int_equal(s.e.cause, RK_CAUSE_STARVED);
    failing = -1;
    assert_int_equal(rk_set_read(s.set, 0, v, NULL, 3), 0);
    assert_int_equal(rk_set_explain(s.set, 0, 1, &s.e), -ENOENT);
    scene_close(&s);
}

/* One slot of two can't be read: the sum is unknown, not half. */
static void test_total_unknown(void **state)
{
    struct scene s;
    struct rk_value v[2] = {0};

    (void)state;
    kernel_reset();
    kernel.read = fails;
    failing = 2, failure = -ENODEV;
    assert_int_equal(scene_open(&s, ROOT, "cycles,instructions", two_cpus(), NULL), 0);
    assert_int_equal(rk_set_total(s.set, v, NULL, 2), 0);
    check(&v[0], 0, 0, 0);
    check(&v[1], 20 + 40, 4000, 2000);
    assert_int_equal(rk_set_explain(s.set, SIZE_MAX, 0, &s.e), 0);
    assert_int_equal(s.e.cause, RK_CAUSE_NO_CPU);
    assert_int_equal(s.e.cpu, 1);
    assert_int_equal(rk_set_explain(s.set, 0, 0, &s.e), -ENOENT);
    scene_close(&s);
}

/* The group can't be read together: its siblings can be, singly. */
static void test_broken_group(void **state)
{
    struct scene s;
    struct rk_value v[3] = {0};

    (void)state;
    kernel_reset();
    kernel.read = fails;
    failing = 0, failure = -ECHILD;
    assert_int_equal(scene_open(&s, ROOT, "{cycles,instructions,r1}", self(), NULL), 0);
    assert_int_equal(rk_set_read(s.set, 0, v, NULL, 3), 0);
    check(&v[0], 0, 0, 0);
    check(&v[1], 20, 2000, 1000);
    check(&v[2], 30, 2000, 1000);
    assert_int_equal(rk_set_explain(s.set, 0, 0, &s.e), 0);
    assert_int_equal(s.e.code, -ECHILD);
    scene_close(&s);
}

static int ending; /* reads for which a thread that has inherited the group is ending yet */

static int until_ended(int index, uint64_t *words, size_t n)
{
    return ending-- > 0 ? -ECHILD : honest(index, words, n);
}

/* … for a moment only: it is waited for, and nothing is remembered. What has lasted is not waited for again. */
static void test_ending_thread(void **state)
{
    struct scene s;
    struct rk_value v[2] = {0};

    (void)state;
    kernel_reset();
    kernel.read = until_ended;
    assert_int_equal(scene_open(&s, ROOT, "{cycles,instructions}", self(), NULL), 0);
    for (ending = 1; ending < 24; ending += 11) {
        int reads = ending;
        kernel.reads = 0;
        assert_int_equal(rk_set_read(s.set, 0, v, NULL, 2), 0);
        assert_int_equal(kernel.reads, reads + 1);
        check(&v[0], 10, 2000, 1000);
        check(&v[1], 20, 2000, 1000);
        assert_int_equal(rk_set_explain(s.set, 0, 0, &s.e), -ENOENT);
        assert_true(s.set->plain && !s.set->faulty);
        ending = reads;
    }
    ending = 1000;
    assert_int_equal(rk_set_read(s.set, 0, v, NULL, 2), 0);
    check(&v[0], 0, 0, 0);
    ending = 1000, kernel.reads = 0;
    assert_int_equal(rk_set_read(s.set, 0, v, NULL, 2), 0);
    assert_int_equal(kernel.reads, 2); /* and the sibling */
    scene_close(&s);
}

/* A CPU that goes has its groups taken apart: the leader is a group of one, the others are read singly. */
static int taken_apart(int index, uint64_t *words, size_t n)
{
    int rc = honest(index, words, n);

    if (index != 0)
        return rc;
    words[0] = 1;
    return 4 * (int)sizeof *words;
}

static void test_taken_apart(void **state)
{
    struct scene s;
    struct rk_value v[3] = {0};

    (void)state;
    kernel_reset();
    kernel.read = taken_apart;
    assert_int_equal(scene_open(&s, ROOT, "{cycles,instructions,r1}", self(), NULL), 0);
    assert_int_equal(rk_set_read(s.set, 0, v, NULL, 3), 0);
    check(&v[0], 10, 2000, 1000);
    check(&v[1], 20, 2000, 1000);
    check(&v[2], 30, 2000, 1000);
    assert_int_equal(rk_set_explain(s.set, 0, 0, &s.e), -ENOENT);
    scene_close(&s);
}

static int another_number(int index, uint64_t *words, size_t n)
{
    int rc = honest(index, words, n);

    words[0] = 7; /* members that we did not open */
    return rc;
}

static void test_wrong_number(void **state)
{
    struct scene s;
    struct rk_value v[2] = {0};

    (void)state;
    kernel_reset();
    kernel.read = another_number;
    assert_int_equal(scene_open(&s, ROOT, "{cycles,instructions}", self(), NULL), 0);
    assert_int_equal(rk_set_read(s.set, 0, v, NULL, 2), 0);
    check(&v[0], 0, 0, 0);
    check(&v[1], 0, 0, 0);
    assert_int_equal(rk_set_explain(s.set, 0, 0, &s.e), 0);
    scene_close(&s);
}

static uint64_t idle_enabled;

static int idle(int index, uint64_t *words, size_t n)
{
    (void)index, (void)n;
    words[1] = idle_enabled;
    return 24;
}

/* Enabled and never run is not the same as never enabled. */
static void test_idle(void **state)
{
    struct scene s;

    (void)state;
    kernel_reset();
    kernel.read = idle;
    assert_int_equal(scene_open(&s, ROOT, "cycles", self(), NULL), 0);
    idle_enabled = 5;
    assert_int_equal(rk_set_explain(s.set, 0, 0, &s.e), 0);
    assert_int_equal(s.e.cause, RK_CAUSE_STARVED);
    idle_enabled = 0;
    assert_int_equal(rk_set_explain(s.set, 0, 0, &s.e), 0);
    assert_int_equal(s.e.cause, RK_CAUSE_ARGUMENT);
    assert_non_null(strstr(s.e.what, "not enabled"));
    scene_close(&s);
}

static void test_forked(void **state)
{
    struct scene s;
    struct rk_value v[1] = {0};
    uint64_t lost;

    (void)state;
    kernel_reset();
    assert_int_equal(scene_open(&s, ROOT, "cycles", self(), NULL), 0);
    kernel.fork_word = 0;
    assert_int_equal(rk_set_enable(s.set), -ESTALE);
    assert_int_equal(rk_set_disable(s.set), -ESTALE);
    assert_int_equal(rk_set_read(s.set, 0, v, NULL, 1), -ESTALE);
    assert_int_equal(rk_set_total(s.set, v, NULL, 1), -ESTALE);
    assert_int_equal(set_lost(s.set, 0, &lost), -ESTALE);
    assert_int_equal(kernel.reads + kernel.opened[0].enables, 0);
    assert_int_equal(rk_set_explain(s.set, 0, 0, &s.e), 0);
    assert_int_equal(s.e.cause, RK_CAUSE_FORKED);

    /* without a word that fork wipes, the process's id tells */
    sys_fork_drop(s.set->fork);
    s.set->fork = NULL;
    s.set->pid = getpid();
    assert_int_equal(rk_set_read(s.set, 0, v, NULL, 1), 0);
    s.set->pid++;
    assert_int_equal(rk_set_read(s.set, 0, v, NULL, 1), -ESTALE);
    scene_close(&s);
}

/* Pages are read only while enabled, in the owner's thread, for a whole group; and never where told not to. */
static void test_pages(void **state)
{
    struct scene s;
    struct rk_value v[3] = {0};
    /* index 0: no counter is touched */
    struct perf_page page = {
        .offset = 77, .time_enabled = 5, .time_running = 4, .time_mult = 0, .pmc_width = 48};

    (void)state;
    page.capabilities = PAGE_CAP_USER_RDPMC | PAGE_CAP_USER_TIME;
    kernel_reset();
    kernel.read = honest;
    kernel.page = &page;
    assert_int_equal(scene_open(&s, ROOT, "{cycles,instructions},page-faults", self(),
                                OPTIONS(.flags = RK_SET_NO_INHERIT)),
                     0);
    assert_true(s.set->user_read);
    assert_int_equal(rk_set_read(s.set, 0, v, NULL, 3), 0);
    assert_int_equal(v[0].value, 10);
    assert_int_equal(rk_set_enable(s.set), 0);
    kernel.reads = 0;
    assert_int_equal(rk_set_read(s.set, 0, v, NULL, 3), 0);
    assert_int_equal(kernel.reads, 1); /* page-faults */
    check(&v[0], 77, 5, 4);
    check(&v[1], 77, 5, 4);
    check(&v[2], 30, 2000, 1000);
    s.set->thread++; /* another's */
    assert_int_equal(rk_set_read(s.set, 0, v, NULL, 3), 0);
    assert_int_equal(v[0].value, 10);
    s.set->thread--;
    page.capabilities = PAGE_CAP_USER_RDPMC; /* the clock became unstable */
    assert_int_equal(rk_set_read(s.set, 0, v, NULL, 3), 0);
    check(&v[0], 10, 2000, 1000);
    page.capabilities |= PAGE_CAP_USER_TIME;
    assert_int_equal(rk_set_disable(s.set), 0);
    assert_int_equal(rk_set_read(s.set, 0, v, NULL, 3), 0);
    assert_int_equal(v[0].value, 10);
    scene_close(&s);

    /* a page that does not say how many bits count */
    static const uint16_t widths[] = {0, 65};
    for (size_t i = 0; i < 2; i++) {
        page.pmc_width = widths[i];
        assert_int_equal(
            scene_open(&s, ROOT, "cycles", self(), OPTIONS(.flags = RK_SET_NO_INHERIT | RK_SET_ENABLED)), 0);
        assert_false(s.set->user_read);
        scene_close(&s);
    }
    page.pmc_width = 48;

    /* a lone event, the shortest way: the same rules */
    kernel_reset();
    kernel.read = honest;
    kernel.page = &page;
    assert_int_equal(
        scene_open(&s, ROOT, "cycles", self(), OPTIONS(.flags = RK_SET_NO_INHERIT | RK_SET_ENABLED)), 0);
    kernel.reads = 0;
    assert_int_equal(rk_set_read(s.set, 0, v, NULL, 1), 0);
    check(&v[0], 77, 5, 4);
    assert_int_equal(kernel.reads, 0);
    assert_int_equal(rk_set_read(s.set, 0, v, NULL, 0), -EINVAL);
    assert_int_equal(rk_set_read(s.set, 1, v, NULL, 1), -ERANGE);
    s.set->thread++;
    assert_int_equal(rk_set_read(s.set, 0, v, NULL, 1), 0);
    assert_int_equal(v[0].value, 10);
    s.set->thread--;
    page.lock = 1; /* never at rest: the kernel is asked */
    assert_int_equal(rk_set_read(s.set, 0, v, NULL, 1), 0);
    assert_int_equal(v[0].value, 10);
    page.lock = 2;
    kernel.fork_word = 0;
    assert_int_equal(rk_set_read(s.set, 0, v, NULL, 1), -ESTALE);
    kernel.fork_word = 1;
    assert_int_equal(rk_set_disable(s.set), 0);
    assert_int_equal(rk_set_read(s.set, 0, v, NULL, 1), 0);
    assert_int_equal(v[0].value, 10);
    scene_close(&s);

    /* one member without: none */
    assert_int_equal(scene_open(&s, ROOT, "{cycles,page-faults}", self(),
                                OPTIONS(.flags = RK_SET_NO_INHERIT | RK_SET_ENABLED)),
                     0);
    assert_false(s.set->user_read);
    scene_close(&s);
    assert_int_equal(
        scene_open(&s, ROOT, "cycles", self(), OPTIONS(.flags = RK_SET_NO_INHERIT | RK_SET_NO_USER_READ)), 0);
    assert_false(s.set->user_read);
    scene_close(&s);
    /* a page knows nothing of the threads that inherited */
    assert_int_equal(scene_open(&s, ROOT, "cycles", self(), NULL), 0);
    assert_false(s.set->user_read);
    scene_close(&s);
}

/* What read(2) gives for the index-th event that was opened. */
static struct {
    uint64_t enabled, running;
    int refused; /* -errno, or 1 for no byte at all, in place of words */
} times[8];

static int timed(int index, uint64_t *words, size_t n)
{
    (void)n;
    words[0] = times[index].running ? 7 : 0;
    words[1] = times[index].enabled;
    words[2] = times[index].running;
    return times[index].refused == 1 ? 0 : times[index].refused ? times[index].refused : 3 * 8;
}

static void is_state(uint32_t state, uint32_t wanted)
{
    assert_string_equal(rk_state_name(state), rk_state_name(wanted));
}

/* By name: what is unknown is refused, and leaves *ret alone. */
static void check_by_name(struct rk_set *set, uint32_t state)
{
    struct rk_value v = {99, 99, 99};
    int rc = rk_set_value(set, "cycles", &v);

    assert_int_equal(rc, state >= RK_STATE_IDLE ? 0 : -ENODATA);
    assert_int_equal(v.value, state == RK_STATE_COUNTED ? 7 : state == RK_STATE_IDLE ? 0 : 99);
}

static void test_states(void **state)
{
    static const struct {
        uint64_t enabled, running;
        int refused;
        bool on;
        uint32_t wanted;
    } rows[] = {
        {0, 0, 0, false, RK_STATE_DISABLED},       {0, 0, 0, true, RK_STATE_IDLE},
        {2000, 0, 0, true, RK_STATE_STARVED},      {2000, 1, 0, true, RK_STATE_COUNTED},
        {2000, 2000, 0, true, RK_STATE_COUNTED},   {2000, 2000, 1, true, RK_STATE_STARVED},
        {2000, 2000, -EIO, true, RK_STATE_ABSENT},
    };
    struct scene s;
    struct rk_value v[2];
    uint32_t states[2];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kernel_reset();
        kernel.read = timed;
        memset(times, 0, sizeof times);
        times[0].enabled = rows[i].enabled;
        times[0].running = rows[i].running;
        times[0].refused = rows[i].refused;
        times[1].enabled = times[1].running = rows[i].on ? 2000 : 0;
        assert_int_equal(scene_open(&s, ROOT, "cycles,page-faults", self(), NULL), 0);
        if (rows[i].on)
            assert_int_equal(rk_set_enable(s.set), 0);
        for (int how = 0; how < 2; how++) {
            assert_int_equal(how ? rk_set_total(s.set, v, states, 2) : rk_set_read(s.set, 0, v, states, 2),
                             0);
            is_state(states[0], rows[i].wanted);
            is_state(states[1], rows[i].on ? RK_STATE_COUNTED : RK_STATE_DISABLED);
            check(&v[0], rows[i].wanted == RK_STATE_COUNTED ? 7 : 0, rows[i].refused ? 0 : rows[i].enabled,
                  rows[i].refused ? 0 : rows[i].running);
        }
        check_by_name(s.set, rows[i].wanted);
        assert_int_equal(rk_set_explain(s.set, 0, 0, &s.e), rows[i].wanted >= RK_STATE_IDLE ? -ENOENT : 0);
        if (rows[i].wanted == RK_STATE_STARVED)
            assert_int_equal(s.e.cause, RK_CAUSE_STARVED);
        assert_int_equal(rk_set_explain(s.set, 0, 1, &s.e), rows[i].on ? -ENOENT : 0);
        scene_close(&s);
    }
    assert_string_equal(rk_state_name(RK_STATE_COUNTED + 1), "unknown");
    assert_string_equal(rk_state_name(UINT32_MAX), "unknown");
}

/* Sums: counted where one slot counted, else starved where one starved; unknown where one can't be read. */
static void test_states_of_sums(void **state)
{
    static const struct {
        uint64_t enabled[2], running[2];
        int refused;
        uint32_t slots[2], wanted;
    } rows[] = {
        {{0, 0}, {0, 0}, 0, {RK_STATE_IDLE, RK_STATE_IDLE}, RK_STATE_IDLE},
        {{5, 0}, {5, 0}, 0, {RK_STATE_COUNTED, RK_STATE_IDLE}, RK_STATE_COUNTED},
        {{0, 5}, {0, 0}, 0, {RK_STATE_IDLE, RK_STATE_STARVED}, RK_STATE_STARVED},
        {{5, 5}, {5, 0}, 0, {RK_STATE_COUNTED, RK_STATE_STARVED}, RK_STATE_COUNTED},
        {{5, 5}, {5, 5}, 1, {RK_STATE_COUNTED, RK_STATE_STARVED}, RK_STATE_STARVED},
        {{5, 5}, {5, 5}, -ENODEV, {RK_STATE_COUNTED, RK_STATE_ABSENT}, RK_STATE_ABSENT},
    };
    struct scene s;
    struct rk_value v;
    uint32_t got;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kernel_reset();
        kernel.read = timed;
        memset(times, 0, sizeof times);
        for (size_t cpu = 0; cpu < 2; cpu++) {
            times[cpu].enabled = rows[i].enabled[cpu];
            times[cpu].running = rows[i].running[cpu];
        }
        times[1].refused = rows[i].refused;
        assert_int_equal(scene_open(&s, ROOT, "cycles", two_cpus(), NULL), 0);
        assert_int_equal(rk_set_enable(s.set), 0);
        for (size_t cpu = 0; cpu < 2; cpu++) {
            assert_int_equal(rk_set_read(s.set, cpu, &v, &got, 1), 0);
            is_state(got, rows[i].slots[cpu]);
        }
        assert_int_equal(rk_set_total(s.set, &v, &got, 1), 0);
        is_state(got, rows[i].wanted);
        assert_int_equal(rk_set_explain(s.set, SIZE_MAX, 0, &s.e),
                         rows[i].wanted >= RK_STATE_IDLE ? -ENOENT : 0);
        scene_close(&s);
    }
}

/* A thread that is opened on each CPU apart is elsewhere on all but one. If it is on none of them, it was starved. */
static void test_states_of_a_thread(void **state)
{
    struct scene s;
    struct rk_value v;
    uint32_t got;

    (void)state;
    for (int on = 0; on < 3; on++) {
        kernel_reset();
        kernel.read = timed;
        memset(times, 0, sizeof times);
        for (size_t cpu = 0; on && cpu < 8; cpu++)
            times[cpu].enabled = 2000;
        times[3].running = on == 2 ? 2000 : 0;
        assert_int_equal(
            scene_open(&s, ROOT, "cycles", target_new(TARGET_THREAD, 4242), OPTIONS(.period = 100)), 0);
        assert_int_equal(rk_set_enable(s.set), 0);
        for (size_t cpu = 0; cpu < 8; cpu++) {
            assert_int_equal(rk_set_read(s.set, cpu, &v, &got, 1), 0);
            is_state(got, times[cpu].running ? RK_STATE_COUNTED : RK_STATE_IDLE);
        }
        assert_int_equal(rk_set_total(s.set, &v, &got, 1), 0);
        is_state(got, on == 0 ? RK_STATE_IDLE : on == 1 ? RK_STATE_STARVED : RK_STATE_COUNTED);
        scene_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),         cmocka_unit_test(test_total),
        cmocka_unit_test(test_starved),        cmocka_unit_test(test_total_unknown),
        cmocka_unit_test(test_broken_group),   cmocka_unit_test(test_ending_thread),
        cmocka_unit_test(test_taken_apart),    cmocka_unit_test(test_wrong_number),
        cmocka_unit_test(test_idle),           cmocka_unit_test(test_forked),
        cmocka_unit_test(test_pages),          cmocka_unit_test(test_states),
        cmocka_unit_test(test_states_of_sums), cmocka_unit_test(test_states_of_a_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

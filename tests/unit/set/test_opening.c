/* What is asked of the kernel. */
#include "opening.h"

/* Groups: the leader waits, its siblings don't; only the leader is read whole. */
static void test_group(void **state)
{
    struct scene s;

    (void)state;
    kernel_reset();
    assert_int_equal(scene_open(&s, ROOT, "page-faults,{cycles:D,instructions:D}", self(), NULL), 0);
    assert_int_equal(kernel.n, 3);
    assert_int_equal(attr_of(0)->read_format, FORMAT_ENABLED | FORMAT_RUNNING);
    assert_int_equal(attr_of(1)->read_format, FORMAT_ENABLED | FORMAT_RUNNING | FORMAT_GROUP);
    assert_int_equal(attr_of(2)->read_format, FORMAT_ENABLED | FORMAT_RUNNING);
    assert_true(has(attr_of(0), ATTR_DISABLED) && has(attr_of(1), ATTR_DISABLED) &&
                !has(attr_of(2), ATTR_DISABLED));
    assert_true(has(attr_of(1), ATTR_PINNED) && !has(attr_of(2), ATTR_PINNED));
    assert_int_equal(kernel.opened[0].group_fd, -1);
    assert_int_equal(kernel.opened[1].group_fd, -1);
    assert_int_equal(kernel.opened[2].group_fd, FIRST_FD + 1);
    for (int i = 0; i < 3; i++) {
        assert_true(has(attr_of(i), ATTR_INHERIT));
        assert_false(has(attr_of(i),
                         ATTR_ENABLE_ON_EXEC | ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_USER | ATTR_SAMPLE_ID_ALL));
        assert_int_equal(attr_of(i)->size, 64);
        assert_int_equal(attr_of(i)->sample_type, 0);
        assert_int_equal(kernel.opened[i].pid, 0);
        assert_int_equal(kernel.opened[i].cpu, -1);
    }
    assert_int_equal(s.set->notes.n, 0);
    assert_int_equal(rk_set_enable(s.set), 0);
    assert_int_equal(kernel.opened[0].enables + kernel.opened[1].enables, 2);
    assert_int_equal(kernel.opened[2].enables, 0);
    scene_close(&s);
}

static void test_modes(void **state)
{
    struct scene s;

    (void)state;
    kernel_reset();
    assert_int_equal(
        scene_open(&s, ROOT, "cycles:u,cycles:k,cycles:uk,cycles:G,cycles:H,cycles:I", self(), NULL), 0);
    uint64_t all = ATTR_EXCLUDE_USER | ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV | ATTR_EXCLUDE_HOST |
                   ATTR_EXCLUDE_GUEST | ATTR_EXCLUDE_IDLE;
    assert_int_equal(attr_of(0)->flags & all, ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV);
    assert_int_equal(attr_of(1)->flags & all, ATTR_EXCLUDE_USER | ATTR_EXCLUDE_HV);
    assert_int_equal(attr_of(2)->flags & all, ATTR_EXCLUDE_HV);
    assert_int_equal(attr_of(3)->flags & all, ATTR_EXCLUDE_HOST);
    assert_int_equal(attr_of(4)->flags & all, ATTR_EXCLUDE_GUEST);
    assert_int_equal(attr_of(5)->flags & all, ATTR_EXCLUDE_IDLE);
    scene_close(&s);
}

static void test_command(void **state)
{
    struct scene s;

    (void)state;
    kernel_reset();
    assert_int_equal(scene_open(&s, ROOT, "{cycles,instructions},page-faults", command(), NULL), 0);
    assert_true(has(attr_of(0), ATTR_ENABLE_ON_EXEC) && has(attr_of(0), ATTR_DISABLED));
    assert_false(has(attr_of(1), ATTR_ENABLE_ON_EXEC | ATTR_DISABLED));
    assert_true(has(attr_of(2), ATTR_ENABLE_ON_EXEC) && has(attr_of(2), ATTR_DISABLED));
    assert_int_equal(kernel.opened[0].pid, 4242);
    scene_close(&s);

    kernel_reset();
    assert_int_equal(
        scene_open(&s, ROOT, "cycles", command(), OPTIONS(.flags = RK_SET_ENABLED | RK_SET_NO_INHERIT)), 0);
    assert_false(has(attr_of(0), ATTR_ENABLE_ON_EXEC | ATTR_DISABLED | ATTR_INHERIT));
    assert_true(s.set->enabled);
    scene_close(&s);
}

static void test_cpus(void **state)
{
    struct scene s;
    struct rk_slot slot = RK_INIT(slot);

    (void)state;
    kernel_reset();
    assert_int_equal(scene_open(&s, ROOT, "cycles", cpus((int32_t[]){1, 3}, 2), NULL), 0);
    assert_int_equal(kernel.n, 2);
    assert_false(has(attr_of(0), ATTR_INHERIT));
    assert_int_equal(rk_set_slot_count(s.set), 2);
    assert_int_equal(rk_set_slot_get(s.set, 1, &slot), 0);
    assert_int_equal(slot.pid, -1);
    assert_int_equal(slot.cpu, 3);
    assert_null(slot.cgroup);
    assert_int_equal(rk_set_slot_get(s.set, 2, &slot), -ERANGE);
    assert_false(has(attr_of(0), ATTR_ENABLE_ON_EXEC));
    scene_close(&s);

    /* arm64 lets a leader that is disabled lead a group that never runs, unless it waits for an exec (policy.c) */
    kernel_reset();
    assert_int_equal(scene_open(&s, ROOT, "{cycles,instructions}", cpus((int32_t[]){1}, 1), NULL), 0);
    assert_true(has(attr_of(0), ATTR_DISABLED) && has(attr_of(0), ATTR_ENABLE_ON_EXEC));
    scene_close(&s);
}

/* Sampling: always the same fields, side-band on the first event of a slot, one ring per CPU. */
static void test_sampling(void **state)
{
    struct scene s;

    (void)state;
    kernel_reset();
    assert_int_equal(
        scene_open(&s, ROOT, "cpu-clock,page-faults", command(),
                   OPTIONS(.frequency = 1000, .records = RK_RECORDS_PROFILE, .sample = RK_SAMPLE_CALLCHAIN,
                           .max_stack = 64, .ring_bytes = 65536, .flags = RK_SET_CLOCK, .clock = 1)),
        0);
    assert_int_equal(rk_set_slot_count(s.set), 8);
    assert_int_equal(kernel.n, 16);
    for (int i = 0; i < 16; i++) {
        const struct perf_attr *a = attr_of(i);
        assert_int_equal(a->sample_type, RK_SAMPLE_IDENTIFIER | RK_SAMPLE_IP | RK_SAMPLE_TID |
                                             RK_SAMPLE_TIME | RK_SAMPLE_CPU | RK_SAMPLE_PERIOD |
                                             RK_SAMPLE_CALLCHAIN);
        assert_true(has(a, ATTR_SAMPLE_ID_ALL) && has(a, ATTR_FREQ) && has(a, ATTR_WATERMARK));
        assert_int_equal(a->sample_period, 1000);
        assert_int_equal(a->wakeup, 0);
        assert_int_equal(a->sample_max_stack, 64);
        assert_int_equal(a->size, 112);
        assert_true(has(a, ATTR_USE_CLOCKID));
        assert_int_equal(a->clockid, 1);
        assert_true(a->read_format & FORMAT_LOST);
        assert_int_equal(has(a, ATTR_MMAP), i % 2 == 0);
        assert_int_equal(has(a, ATTR_MMAP2), i % 2 == 0);
        assert_int_equal(has(a, ATTR_COMM_EXEC), i % 2 == 0);
        assert_int_equal(has(a, ATTR_TASK), i % 2 == 0);
        assert_false(has(a, ATTR_MMAP_DATA | ATTR_CONTEXT_SWITCH));
        assert_int_equal(kernel.opened[i].cpu, i / 2);
        assert_int_equal(id_of(s.set, (uint32_t)i / 2, (uint32_t)i % 2), 1000 + i);
    }
    assert_int_equal(s.set->n_rings, 8);
    for (uint32_t r = 0; r < 8; r++) {
        assert_int_equal(s.set->rings[r].fd, FIRST_FD + 2 * (int)r);
        assert_int_equal(s.set->rings[r].cpu, r);
        assert_int_equal(set_ring_redirect(s.set, r, NULL, NULL), 0);
    }
    for (int i = 0; i < 16; i++)
        assert_int_equal(kernel.opened[i].output_fd, i % 2 ? FIRST_FD + i - 1 : -1);
    scene_close(&s);
}

/* A single thread without children needs one ring, of any CPU. */
static void test_sampling_alone(void **state)
{
    struct scene s;

    (void)state;
    kernel_reset();
    assert_int_equal(scene_open(&s, ROOT, "{cycles:S,instructions:S}", self(),
                                OPTIONS(.period = 100, .flags = RK_SET_NO_INHERIT, .wakeup_samples = 1)),
                     0);
    assert_int_equal(kernel.n, 2);
    assert_int_equal(s.set->n_rings, 1);
    assert_int_equal(s.set->rings[0].cpu, -1);
    assert_int_equal(s.set->ring_bytes.now, 512 * 1024);
    assert_int_equal(attr_of(0)->sample_period, 100);
    assert_int_equal(attr_of(0)->wakeup, 1);
    assert_false(has(attr_of(0), ATTR_FREQ | ATTR_WATERMARK));
    /* :S: the leader alone samples, and reads the group */
    assert_true(attr_of(0)->sample_type & RK_SAMPLE_READ);
    assert_int_equal(attr_of(1)->sample_period, 0);
    assert_true(attr_of(0)->read_format & FORMAT_ID);
    scene_close(&s);
}

/* Every option ends up in its bit. */
static void test_option_bits(void **state)
{
    static const struct {
        uint32_t exclude;
        uint64_t flag;
    } bits[] = {
        {RK_EXCLUDE_USER, ATTR_EXCLUDE_USER},
        {RK_EXCLUDE_KERNEL, ATTR_EXCLUDE_KERNEL},
        {RK_EXCLUDE_HYPERVISOR, ATTR_EXCLUDE_HV},
        {RK_EXCLUDE_HOST, ATTR_EXCLUDE_HOST},
        {RK_EXCLUDE_GUEST, ATTR_EXCLUDE_GUEST},
        {RK_EXCLUDE_IDLE, ATTR_EXCLUDE_IDLE},
        {RK_EXCLUDE_CHAIN_KERNEL, ATTR_EXCLUDE_CALLCHAIN_KERNEL},
        {RK_EXCLUDE_CHAIN_USER, ATTR_EXCLUDE_CALLCHAIN_USER},
    };
    static const struct {
        uint32_t asked;
        uint64_t flags;
    } records[] = {
        {RK_RECORDS_MAPS, ATTR_MMAP | ATTR_MMAP2},
        {RK_RECORDS_DATA_MAPS, ATTR_MMAP_DATA},
        {RK_RECORDS_TASKS, ATTR_COMM | ATTR_COMM_EXEC | ATTR_TASK},
        {RK_RECORDS_SWITCHES, ATTR_CONTEXT_SWITCH},
        {RK_RECORDS_NAMESPACES, ATTR_NAMESPACES},
        {RK_RECORDS_CGROUPS, ATTR_CGROUP},
        {RK_RECORDS_CODE, ATTR_KSYMBOL | ATTR_BPF_EVENT}, /* no TEXT_POKE: as many as there are jump labels */
        {RK_RECORDS_POKES, ATTR_TEXT_POKE},
        {RK_RECORDS_BUILD_IDS | RK_RECORDS_MAPS, ATTR_BUILD_ID | ATTR_MMAP | ATTR_MMAP2},
    };
    const uint64_t side_band = ATTR_MMAP | ATTR_MMAP2 | ATTR_MMAP_DATA | ATTR_COMM | ATTR_COMM_EXEC |
                               ATTR_TASK | ATTR_CONTEXT_SWITCH | ATTR_NAMESPACES | ATTR_CGROUP |
                               ATTR_KSYMBOL | ATTR_BPF_EVENT | ATTR_TEXT_POKE | ATTR_BUILD_ID;
    struct scene s;

    (void)state;
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
        kernel_reset();
        assert_int_equal(
            scene_open(&s, ROOT, "{cycles,instructions}", command(),
                       OPTIONS(.exclude = bits[i].exclude, .period = 1000, .sample = RK_SAMPLE_CALLCHAIN)),
            0);
        uint64_t plain =
            ATTR_DISABLED | ATTR_INHERIT | ATTR_ENABLE_ON_EXEC | ATTR_SAMPLE_ID_ALL | ATTR_WATERMARK;
        assert_int_equal(attr_of(0)->flags & ~plain, bits[i].flag);
        assert_int_equal(attr_of(1)->flags & ~plain, bits[i].flag);
        scene_close(&s);
    }
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        kernel_reset();
        assert_int_equal(scene_open(&s, ROOT, "cpu-clock", command(),
                                    OPTIONS(.frequency = 1000, .records = records[i].asked)),
                         0);
        assert_int_equal(attr_of(0)->flags & side_band, records[i].flags);
        scene_close(&s);
    }
    kernel_reset();
    assert_int_equal(scene_open(&s, ROOT, "{cycles,instructions}", self(),
                                OPTIONS(.flags = RK_SET_PINNED | RK_SET_EXCLUSIVE | RK_SET_THREADS_ONLY |
                                                 RK_SET_REMOVE_ON_EXEC)),
                     0);
    assert_true(has(attr_of(0), ATTR_PINNED) && has(attr_of(0), ATTR_EXCLUSIVE));
    assert_false(has(attr_of(1), ATTR_PINNED | ATTR_EXCLUSIVE));
    assert_true(has(attr_of(1), ATTR_INHERIT_THREAD) && has(attr_of(1), ATTR_REMOVE_ON_EXEC));
    assert_false(has(attr_of(0), ATTR_ENABLE_ON_EXEC)); /* the kernel takes not both */
    scene_close(&s);
    kernel_reset();
    assert_int_equal(
        scene_open(&s, ROOT, "cycles", self(),
                   OPTIONS(.period = 9, .flags = RK_SET_NO_INHERIT | RK_SET_REMOVE_ON_EXEC | RK_SET_SIGTRAP,
                           .sig_data = 42)),
        0);
    assert_true(has(attr_of(0), ATTR_SIGTRAP) && attr_of(0)->sig_data == 42 && attr_of(0)->size == 128);
    scene_close(&s);
    kernel_reset();
    assert_int_equal(scene_open(&s, ROOT, "cycles", self(), OPTIONS(.flags = RK_SET_ENABLE_ON_EXEC)), 0);
    assert_true(has(attr_of(0), ATTR_ENABLE_ON_EXEC) && has(attr_of(0), ATTR_DISABLED));
    scene_close(&s);
    kernel_reset();
    assert_int_equal(scene_open(&s, ROOT, "context-switches", self(), OPTIONS(.exclude = RK_EXCLUDE_KERNEL)),
                     -EOPNOTSUPP);
    assert_int_equal(kernel.n, 0);
    scene_close(&s);
}

/* What writes to an AUX area is counted as it is, and not sampled: nothing would record its trace. */
static void test_traces(void **state)
{
    static const char *const pmus[] = {"intel_pt", "intel_bts", "arm_spe_0", "cs_etm", "hisi_ptt0_2"};

    (void)state;
    for (size_t i = 0; i < sizeof pmus / sizeof *pmus; i++) {
        struct rk_event event = {.size = sizeof event, .type = 9, .name = "x//"};
        struct rk_error e = {.size = sizeof e};
        event.pmu = pmus[i];
        assert_int_equal(policy_refuse(OPTIONS(.flags = RK_SET_PINNED), &event, &e), 0);
        assert_int_equal(policy_refuse(OPTIONS(.frequency = 99), &event, &e), -EOPNOTSUPP);
        assert_int_equal(e.cause, RK_CAUSE_UNSUPPORTED);
        assert_non_null(strstr(e.what, "AUX"));
        assert_non_null(strstr(e.what, pmus[i]));
        assert_string_equal(e.remedy, "perf record -e x//");
        event.period = 1;
        assert_int_equal(policy_refuse(OPTIONS(.flags = RK_SET_PINNED), &event, &e), -EOPNOTSUPP);
        event.pmu = "armv8_pmuv3";
        assert_int_equal(policy_refuse(OPTIONS(.period = 1), &event, &e), 0);
    }
}

static void contradicts(const struct rk_set_options *options)
{
    struct scene s;

    kernel_reset();
    assert_int_equal(scene_open(&s, ROOT, "cycles", self(), options), -EINVAL);
    assert_int_equal(s.e.cause, RK_CAUSE_ARGUMENT);
    assert_int_equal(kernel.n + kernel.refused, 0);
    scene_close(&s);
}

static void test_contradictions(void **state)
{
    const int32_t one[] = {0};
    struct scene s;

    (void)state;
    contradicts(OPTIONS(.flags = RK_SET_ENABLE_ON_EXEC | RK_SET_REMOVE_ON_EXEC));
    contradicts(OPTIONS(.flags = RK_SET_ENABLE_ON_EXEC | RK_SET_ENABLED));
    contradicts(OPTIONS(.flags = RK_SET_THREADS_ONLY | RK_SET_NO_INHERIT));
    contradicts(OPTIONS(.exclude = 0x100));
    contradicts(OPTIONS(.flags = RK_SET_SIGTRAP | RK_SET_REMOVE_ON_EXEC));
    contradicts(OPTIONS(.flags = RK_SET_SIGTRAP, .period = 1));
    contradicts(OPTIONS(.sig_data = 1));
    contradicts(OPTIONS(.period = 1, .sample = RK_SAMPLE_WEIGHT | RK_SAMPLE_WEIGHT_STRUCT));
    kernel_reset();
    assert_int_equal(scene_open(&s, ROOT, "cycles", cpus(one, 1), OPTIONS(.flags = RK_SET_REMOVE_ON_EXEC)),
                     -EINVAL);
    scene_close(&s);
}

static void test_bad_options(void **state)
{
    static const struct rk_set_options bad[] = {
        {.size = sizeof *bad, .period = 1, .frequency = 1},
        {.size = sizeof *bad, .period = 1, .wakeup_bytes = 8, .wakeup_samples = 1},
        {.size = sizeof *bad, .period = 1, .ring_bytes = 12288},
        {.size = sizeof *bad, .period = 1, .ring_bytes = 1024},
        {.size = sizeof *bad, .period = 1, .sample = RK_SAMPLE_STACK_USER, .stack_user = 12},
        {.size = sizeof *bad, .period = 1, .sample = RK_SAMPLE_STACK_USER, .stack_user = 65536},
        {.size = sizeof *bad, .period = 1, .sample = RK_SAMPLE_STACK_USER},
        {.size = sizeof *bad, .period = 1, .sample = RK_SAMPLE_REGS_USER},
        {.size = sizeof *bad, .period = 1, .max_stack = 65536},
        {.size = 0},
    };
    struct scene s;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        kernel_reset();
        assert_int_equal(scene_open(&s, ROOT, "cpu-clock", self(), &bad[i]), -EINVAL);
        assert_int_equal(s.e.cause, RK_CAUSE_ARGUMENT);
        assert_int_equal(kernel.n, 0);
        scene_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_group),       cmocka_unit_test(test_modes),
        cmocka_unit_test(test_command),     cmocka_unit_test(test_cpus),
        cmocka_unit_test(test_sampling),    cmocka_unit_test(test_sampling_alone),
        cmocka_unit_test(test_option_bits), cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_traces),      cmocka_unit_test(test_bad_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

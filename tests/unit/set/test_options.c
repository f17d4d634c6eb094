/* rk_set_options: nothing is taken silently. Unknown bits and options without effect are refused, with member and fix. */
#include "opening.h"

static struct rk_error refused(const char *events, const struct rk_set_options *options)
{
    struct scene s;

    kernel_reset();
    assert_int_equal(scene_open(&s, ROOT, events, self(), options), -EINVAL);
    struct rk_error e = s.e;
    assert_int_equal(e.code, -EINVAL);
    assert_int_equal(e.cause, RK_CAUSE_ARGUMENT);
    assert_true(e.what[0] && e.remedy[0]);
    assert_int_equal(kernel.n + kernel.refused, 0); /* the kernel was not asked */
    scene_close(&s);
    return e;
}

static void taken(const char *events, const struct rk_set_options *options)
{
    struct scene s;

    kernel_reset();
    if (scene_open(&s, ROOT, events, self(), options) < 0)
        fail_msg("%s: %s", events, s.e.what);
    scene_close(&s);
}

/* Each bit that no release has given a meaning, one by one. */
static void unknown_bits(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 64; bit++) {
        const uint64_t one = UINT64_C(1) << bit;
        struct rk_set_options o = {.size = sizeof o, .period = 1000};
        if (bit >= 17 && bit < 32) {
            o.flags = (uint32_t)one;
            assert_non_null(strstr(refused("cycles", &o).what, "flags"));
            o.flags = 0;
        }
        if (bit >= 8 && bit < 32) {
            o.exclude = (uint32_t)one;
            assert_non_null(strstr(refused("cycles", &o).what, "exclude"));
            o.exclude = 0;
        }
        if (bit >= 10 && bit < 32) {
            o.records = (uint32_t)one;
            assert_non_null(strstr(refused("cycles", &o).what, "records"));
            o.records = 0;
        }
        if (bit >= 25) {
            o.sample = one;
            assert_non_null(strstr(refused("cycles", &o).what, "sample"));
            o.sample = 0;
        }
        if (bit >= 20) {
            o.sample = RK_SAMPLE_BRANCH_STACK;
            o.branches = one;
            assert_non_null(strstr(refused("cycles", &o).what, "branches"));
        }
    }
}

/* What is refused, and the word that the error or its remedy names. */
#define REFUSED(word, ...)                                                          \
    do {                                                                            \
        struct rk_error e_ = refused("cpu-clock", OPTIONS(__VA_ARGS__));            \
        if (!strstr(e_.what, word) && !strstr(e_.remedy, word))                     \
            fail_msg("'%s' is neither in '%s' nor '%s'", word, e_.what, e_.remedy); \
    } while (0)
#define SAMPLED .period = 1000

static void options_without_effect(void **state)
{
    (void)state;
    REFUSED("RK_SAMPLE_AUX", SAMPLED, .sample = RK_SAMPLE_AUX);
    REFUSED("RK_SAMPLE_STACK_USER", SAMPLED, .stack_user = 1024);
    REFUSED("stack_user", SAMPLED, .sample = RK_SAMPLE_STACK_USER);
    REFUSED("RK_SAMPLE_REGS_USER", SAMPLED, .regs_user = 1);
    REFUSED("regs_user", SAMPLED, .sample = RK_SAMPLE_REGS_USER);
    REFUSED("RK_SAMPLE_REGS_INTR", SAMPLED, .regs_intr = 1);
    REFUSED("regs_intr", SAMPLED, .sample = RK_SAMPLE_REGS_INTR);
    REFUSED("RK_SAMPLE_BRANCH_STACK", SAMPLED, .branches = RK_BRANCHES_ANY);
    REFUSED("branches", SAMPLED, .sample = RK_SAMPLE_BRANCH_STACK);
    REFUSED("RK_SAMPLE_CALLCHAIN", SAMPLED, .max_stack = 9);
    REFUSED("RK_SAMPLE_CALLCHAIN", SAMPLED, .exclude = RK_EXCLUDE_CHAIN_KERNEL);
    REFUSED("RK_SAMPLE_CALLCHAIN", SAMPLED, .exclude = RK_EXCLUDE_CHAIN_USER);
    REFUSED("RK_RECORDS_MAPS", SAMPLED, .records = RK_RECORDS_BUILD_IDS);
    REFUSED("frequency", SAMPLED, .flags = RK_SET_EACH);
    REFUSED("RK_RECORDS_PROFILE", SAMPLED, .flags = RK_SET_NO_WORLD, .records = RK_RECORDS_MAPS);
    REFUSED("RK_SET_SIGTRAP", SAMPLED, .sig_data = 1);
    REFUSED("RK_SET_CLOCK", SAMPLED, .clock = 1);
    REFUSED("RK_SET_REMOVE_ON_EXEC", SAMPLED, .flags = RK_SET_SIGTRAP);
    REFUSED("RK_SET_NO_INHERIT", .records = RK_RECORDS_READS, .flags = RK_SET_NO_INHERIT);
    REFUSED("RK_SAMPLE_CALLCHAIN", SAMPLED, .flags = RK_SET_DEFER_CHAINS);
    REFUSED("RK_EXCLUDE_CHAIN_USER", SAMPLED, .flags = RK_SET_DEFER_CHAINS, .sample = RK_SAMPLE_CALLCHAIN,
            .exclude = RK_EXCLUDE_CHAIN_USER);
    REFUSED("RK_SAMPLE_CALLCHAIN", .flags = RK_SET_DEFER_CHAINS);
}

static void a_set_that_counts_takes_no_samples(void **state)
{
    (void)state;
    REFUSED("period", .sample = RK_SAMPLE_CALLCHAIN);
    REFUSED("ring_bytes", .ring_bytes = 65536);
    REFUSED("wakeup_bytes", .wakeup_bytes = 4096);
    REFUSED("wakeup_samples", .wakeup_samples = 1);
    REFUSED("RK_SET_OVERWRITE", .flags = RK_SET_OVERWRITE);
    REFUSED("RK_SET_CLOCK", .flags = RK_SET_CLOCK);
    taken("cpu-clock/period=1000/", OPTIONS(.sample = RK_SAMPLE_CALLCHAIN, .ring_bytes = 65536));
}

static void contradictions(void **state)
{
    (void)state;
    REFUSED("frequency", .period = 1, .frequency = 1);
    REFUSED("wakeup_samples", SAMPLED, .wakeup_bytes = 1, .wakeup_samples = 1);
    REFUSED("ring_bytes", SAMPLED, .ring_bytes = 3);
    REFUSED("stack_user", SAMPLED, .sample = RK_SAMPLE_STACK_USER, .stack_user = 9);
    REFUSED("max_stack", SAMPLED, .sample = RK_SAMPLE_CALLCHAIN, .max_stack = 65536);
    REFUSED("RK_SAMPLE_WEIGHT", SAMPLED, .sample = RK_SAMPLE_WEIGHT | RK_SAMPLE_WEIGHT_STRUCT);
}

/* SIGTRAP goes with whatever rate there is: the set's period or frequency, or the event's own. */
static void sigtrap_takes_every_rate(void **state)
{
    const uint32_t flags = RK_SET_SIGTRAP | RK_SET_REMOVE_ON_EXEC;
    struct scene s;
    (void)state;

    taken("cpu-clock", OPTIONS(.flags = flags, .period = 1000));
    taken("cpu-clock", OPTIONS(.flags = flags, .frequency = 1000));
    kernel_reset();
    assert_int_equal(
        scene_open(&s, ROOT, "cpu-clock/freq=100/,task-clock/period=7/", self(), OPTIONS(.flags = flags)), 0);
    assert_true(attr_of(0)->flags & ATTR_SIGTRAP && attr_of(0)->flags & ATTR_FREQ &&
                attr_of(0)->sample_period == 100);
    assert_true(attr_of(1)->flags & ATTR_SIGTRAP && attr_of(1)->sample_period == 7);
    scene_close(&s);
    struct rk_error e = refused("cpu-clock/period=7/,page-faults", OPTIONS(.flags = flags));
    assert_non_null(strstr(e.what, "page-faults"));
    assert_string_equal(e.event, "page-faults");
}

/* READ records: each event writes its own, whichever carries the side-band records. CPUs inherit nothing. */
static void reads(void **state)
{
    const struct rk_set_options *options = OPTIONS(.records = RK_RECORDS_READS);
    struct rk_target *cpu = target_new(TARGET_CPUS, -1);
    struct scene s;

    (void)state;
    cpu->cpus = calloc(1, sizeof *cpu->cpus); /* CPU 0 */
    cpu->n_cpus = 1;
    kernel_reset();
    assert_int_equal(scene_open(&s, ROOT, "cpu-clock,page-faults", self(), options), 0);
    assert_true(attr_of(0)->flags & ATTR_INHERIT_STAT && attr_of(1)->flags & ATTR_INHERIT_STAT);
    assert_true(attr_of(0)->flags & ATTR_INHERIT && !(attr_of(0)->flags & (ATTR_MMAP | ATTR_TASK)));
    assert_int_equal(attr_of(0)->sample_period, 0);
    /* One that is not inherited, beside two events on each CPU. */
    const struct perf_attr *guard = attr_of(kernel.n - 1);
    assert_true(kernel.n % 2 == 1 && guard->config == SW_DUMMY && !(guard->flags & ATTR_INHERIT));
    int opened = kernel.n;
    scene_close(&s);
    assert_int_equal(scene_open(&s, ROOT, "cpu-clock", cpu, options), -EINVAL);
    assert_non_null(strstr(s.e.what, "RK_RECORDS_READS"));
    assert_int_equal(kernel.n, opened);
    scene_close(&s);
}

static int defers_none(const struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd)
{
    (void)pid, (void)cpu, (void)group_fd;
    return attr->flags & (ATTR_DEFER_CALLCHAIN | ATTR_DEFER_OUTPUT) ? -EINVAL : 0;
}

/* Deferred chains: every sampling event defers, one of a slot's writes the rest. An older kernel: whole ones, noted. */
static void deferred_chains(void **state)
{
    const uint64_t both = ATTR_DEFER_CALLCHAIN | ATTR_DEFER_OUTPUT;
    struct rk_set_options o = {
        .size = sizeof o, .period = 1000, .sample = RK_SAMPLE_CALLCHAIN, .flags = RK_SET_DEFER_CHAINS};
    struct rk_note note = RK_INIT(note);
    struct scene s;

    (void)state;
    kernel_reset();
    assert_int_equal(scene_open(&s, ROOT, "cpu-clock,task-clock", self(), &o), 0);
    assert_int_equal(attr_of(0)->flags & both, both);
    assert_int_equal(attr_of(1)->flags & both, ATTR_DEFER_CALLCHAIN);
    assert_int_equal(rk_set_note_count(s.set), 0);
    scene_close(&s);
    kernel_reset();
    kernel.open = defers_none;
    assert_int_equal(scene_open(&s, ROOT, "cpu-clock,task-clock", self(), &o), 0);
    assert_int_equal(rk_set_note_count(s.set), 1);
    assert_int_equal(rk_set_note_get(s.set, 0, &note), 0);
    assert_true(note.cause == RK_CAUSE_KERNEL_OLD && !note.absent);
    assert_non_null(strstr(note.what, "6.19"));
    scene_close(&s);
    o.flags |= RK_SET_EXACT;
    assert_int_equal(scene_open(&s, ROOT, "cpu-clock", self(), &o), -EINVAL);
    assert_non_null(strstr(s.e.what, "defer"));
    scene_close(&s);
    kernel_reset();
}

/* What is unknown here is left out with its reason, or is an error without RK_SET_KEEP. */
static void absent_events(void **state)
{
    struct rk_host *host;
    struct rk_events *events;
    struct rk_target *target;
    struct rk_set *set = NULL;
    struct rk_set_options options = {.size = sizeof options, .flags = RK_SET_KEEP};
    struct rk_error e = RK_INIT(e);
    struct rk_plan plan = RK_INIT(plan);
    struct rk_note note = RK_INIT(note);
    (void)state;

    kernel_reset();
    assert_int_equal(rk_host_open(NULL, &host, NULL), 0);
    assert_int_equal(rk_target_self(&target, NULL), 0);
    assert_int_equal(rk_events_parse_keep(host, "{nosuchthing,page-faults},task-clock", &events, NULL), 0);
    assert_int_equal(rk_set_plan(host, events, target, &options, &plan, &e), 0);
    assert_int_equal(plan.descriptors, 2);
    assert_int_equal(rk_set_open(host, events, target, &options, &set, &e), 0);
    assert_int_equal(kernel.n, 2);
    assert_int_equal(rk_set_event_count(set), 3);
    assert_int_equal(rk_set_note_get(set, 0, &note), 0);
    assert_true(note.absent && note.event == 0 && note.cause == RK_CAUSE_NO_EVENT);
    assert_string_equal(note.what, "nosuchthing: no such event");
    rk_set_free(set);
    set = NULL;
    options.flags = 0;
    assert_int_equal(rk_set_open(host, events, target, &options, &set, &e), -ENOENT);
    assert_int_equal(e.cause, RK_CAUSE_NO_EVENT);
    assert_null(set);
    rk_events_free(events);
    rk_target_free(target);
    rk_host_free(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_bits),
        cmocka_unit_test(options_without_effect),
        cmocka_unit_test(a_set_that_counts_takes_no_samples),
        cmocka_unit_test(contradictions),
        cmocka_unit_test(sigtrap_takes_every_rate),
        cmocka_unit_test(absent_events),
        cmocka_unit_test(reads),
        cmocka_unit_test(deferred_chains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What happens when the kernel says no: the next smaller wish, and what is said of it. */
#include "opening.h"

#include <sys/resource.h>

static int refuse_kernel(const struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd)
{
    (void)pid, (void)cpu, (void)group_fd;
    return attr->flags & ATTR_EXCLUDE_KERNEL ? 0 : -EACCES;
}

static void test_user_only(void **state)
{
    struct scene s;
    struct rk_event event = {.size = sizeof event};

    (void)state;
    kernel_reset();
    kernel.open = refuse_kernel;
    assert_int_equal(scene_open(&s, USER, "cycles,page-faults:u,task-clock", self(), NULL), 0);
    const struct set_note *note = only_note(s.set);
    assert_string_equal(note->what, "counts user space only: kernel.perf_event_paranoid is 2");
    assert_non_null(strstr(note->remedy, "sudo sysctl -w kernel.perf_event_paranoid=1"));
    assert_int_equal(note->event, UINT32_MAX);
    assert_int_equal(note->cause, RK_CAUSE_PARANOID);
    assert_false(note->absent);
    assert_int_equal(rk_set_event_get(s.set, 0, &event), 0);
    assert_int_equal(event.flags, RK_EVENT_USER);
    assert_true(has(attr_of(0), ATTR_EXCLUDE_HV));
    scene_close(&s);

    /* exactly, then it fails; and nothing is handed out */
    assert_int_equal(scene_open(&s, USER, "cycles", self(), OPTIONS(.flags = RK_SET_EXACT)), -EACCES);
    assert_null(s.set);
    assert_int_equal(s.e.cause, RK_CAUSE_PARANOID);
    scene_close(&s);

    /* root who is refused does not get less in silence */
    assert_int_equal(scene_open(&s, ROOT, "cycles", self(), NULL), -EACCES);
    assert_int_equal(s.e.cause, RK_CAUSE_CAPABILITY);
    scene_close(&s);

    /* asked for the kernel: user space is not less of it, it is something else */
    assert_int_equal(scene_open(&s, USER, "cycles:k", self(), NULL), -EACCES);
    scene_close(&s);
}

/* With the kernel excluded, switches read 0 for ever: that would be a lie. */
static void test_never_zero(void **state)
{
    static const char *const events[] = {"context-switches", "cpu-migrations", "cgroup-switches"};
    struct scene s;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        char text[64];
        struct rk_value v[2] = {{7, 7, 7}, {7, 7, 7}};

        kernel_reset();
        kernel.open = refuse_kernel;
        assert_int_equal(scene_open(&s, USER, events[i], self(), NULL), -EACCES);
        assert_int_equal(s.e.cause, RK_CAUSE_PARANOID);
        scene_close(&s);

        snprintf(text, sizeof text, "{%s,page-faults}", events[i]);
        assert_int_equal(scene_open(&s, USER, text, self(), OPTIONS(.flags = RK_SET_KEEP)), 0);
        assert_int_equal(s.set->notes.n, 2);
        assert_true(s.set->events[0].absent);
        assert_int_equal(s.set->events[1].leader, 1);
        assert_int_equal(rk_set_read(s.set, 0, v, NULL, 2), 0);
        assert_int_equal(v[0].running + v[0].value + v[0].enabled, 0);
        assert_int_equal(rk_set_explain(s.set, SIZE_MAX, 0, &s.e), 0);
        assert_int_equal(s.e.cause, RK_CAUSE_PARANOID);
        assert_int_equal(s.e.code, -EACCES);
        assert_string_equal(s.e.event, events[i]);
        scene_close(&s);

        snprintf(text, sizeof text, "%s:u", events[i]);
        assert_int_equal(scene_open(&s, ROOT, text, self(), NULL), -EOPNOTSUPP);
        assert_int_equal(s.e.cause, RK_CAUSE_UNSUPPORTED);
        scene_close(&s);
    }
}

static int no_hardware(const struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd)
{
    (void)pid, (void)cpu, (void)group_fd;
    return attr->type == PERF_SOFTWARE ? 0 : -ENOENT;
}

static void test_keep(void **state)
{
    struct scene s;
    struct rk_note note = {.size = sizeof note};

    (void)state;
    kernel_reset();
    kernel.open = no_hardware;
    assert_int_equal(scene_open(&s, "vm-no-pmu", "task-clock,{cycles,page-faults}", self(), NULL), -ENOENT);
    assert_null(s.set);
    assert_int_equal(s.e.cause, RK_CAUSE_NO_PMU);
    assert_string_equal(s.e.event, "cycles");
    assert_int_equal(s.e.stage, RK_STAGE_OPEN);
    scene_close(&s);

    assert_int_equal(
        scene_open(&s, "vm-no-pmu", "task-clock,{cycles,page-faults}", self(), OPTIONS(.flags = RK_SET_KEEP)),
        0);
    assert_int_equal(rk_set_note_count(s.set), 1);
    assert_int_equal(rk_set_note_get(s.set, 0, &note), 0);
    assert_int_equal(note.event, 1);
    assert_int_equal(note.absent, 1);
    assert_int_equal(note.cause, RK_CAUSE_NO_PMU);
    assert_int_equal(rk_set_note_get(s.set, 1, &note), -ERANGE);
    assert_int_equal(s.set->n_groups, 2);
    assert_int_equal(fd_of(s.set, 0, 1), -1);
    /* what remains of the group is a lone event */
    assert_int_equal(s.set->events[2].attr.read_format, FORMAT_ENABLED | FORMAT_RUNNING);
    assert_true(s.set->events[2].attr.flags & ATTR_DISABLED);
    scene_close(&s);

    /* one must open: else the first reason */
    assert_int_equal(
        scene_open(&s, "vm-no-pmu", "cycles,instructions", self(), OPTIONS(.flags = RK_SET_KEEP)), -ENOENT);
    assert_string_equal(s.e.event, "cycles");
    scene_close(&s);
}

static int before_6_0(const struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd)
{
    (void)pid, (void)cpu, (void)group_fd;
    return attr->read_format & FORMAT_LOST ? -EINVAL : 0;
}

static int before_4_13(const struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd)
{
    if (before_6_0(attr, pid, cpu, group_fd) < 0)
        return -EINVAL;
    return (attr->flags & ATTR_INHERIT) && (attr->read_format & FORMAT_GROUP) ? -EINVAL : 0;
}

/* Events that turn out absent don't make the others be opened again, unless their group changes. */
static void test_keep_opens_once(void **state)
{
    struct rk_set_options options = {.size = sizeof options, .flags = RK_SET_KEEP};
    struct scene s;

    (void)state;
    kernel_reset();
    kernel.open = no_hardware;
    assert_int_equal(scene_open(&s, ROOT,
                                "page-faults,cycles,{task-clock,minor-faults},{branches,branch-misses},"
                                "{major-faults,instructions,cpu-clock}",
                                self(), &options),
                     0);
    assert_int_equal(kernel.refused, 4);
    assert_int_equal(kernel.n, 6); /* five, and the leader of the last group twice: the group was half open */
    assert_int_equal(kernel.opened[5].group_fd, FIRST_FD + 4);
    static const int wanted[] = {0, 1, 2, 4, 5};
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(fd_of(s.set, 0, s.set->members[i]), FIRST_FD + wanted[i]);
    scene_close(&s);
}

/* What an older kernel lacks and nobody asked for is left out without a word. */
static void test_old_kernel(void **state)
{
    struct scene s;

    (void)state;
    kernel_reset();
    kernel.open = before_6_0;
    assert_int_equal(scene_open(&s, ROOT, "cpu-clock", command(), OPTIONS(.period = 1000)), 0);
    assert_int_equal(kernel.refused, 1); /* asked once, not once per CPU */
    assert_int_equal(kernel.n, 8);
    assert_int_equal(s.set->notes.n, 0);
    scene_close(&s);

    kernel_reset();
    kernel.open = before_4_13;
    assert_int_equal(scene_open(&s, ROOT, "{cpu-clock,page-faults}", command(), NULL), 0);
    assert_false(s.set->groups[0].together);
    assert_int_equal(s.set->groups[0].n, 2);
    assert_int_equal(s.set->notes.n, 0);
    scene_close(&s);

    /* :S and a period need the group's format, on every kernel that takes it */
    kernel_reset();
    kernel.open = before_6_0;
    assert_int_equal(scene_open(&s, ROOT, "{cpu-clock,page-faults}", command(), OPTIONS(.period = 1000)), 0);
    assert_true(s.set->groups[0].together);
    assert_int_equal(s.set->groups[0].stride, 1);
    scene_close(&s);
}

static int three_fit(const struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd)
{
    int members = 1;

    (void)attr, (void)pid, (void)cpu;
    for (int i = 0; i < kernel.n; i++)
        members += kernel.opened[i].group_fd == group_fd || FIRST_FD + i == group_fd;
    return group_fd >= 0 && members > 3 ? -EINVAL : 0;
}

static int alone(const struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd)
{
    (void)attr, (void)pid, (void)cpu;
    return group_fd >= 0 ? -EINVAL : 0;
}

static void test_group_too_large(void **state)
{
    struct scene s;

    (void)state;
    kernel_reset();
    kernel.open = three_fit;
    assert_int_equal(scene_open(&s, ROOT, "{cycles,instructions,branches}", self(), NULL), 0);
    scene_close(&s);

    kernel_reset();
    kernel.open = three_fit;
    assert_int_equal(scene_open(&s, ROOT, "{cycles,instructions,branches,r1a8}", self(), NULL), -EINVAL);
    assert_string_equal(s.e.event, "r1a8");
    assert_int_equal(s.e.cause, RK_CAUSE_UNSUPPORTED);
    scene_close(&s);

    kernel_reset();
    kernel.open = three_fit;
    assert_int_equal(
        scene_open(&s, ROOT, "{cycles:W,instructions:W,branches:W,r1a8:W},{cycles,r1}", self(), NULL), 0);
    assert_int_equal(s.set->n_groups, 4);
    assert_int_equal(s.set->groups[0].n, 2); /* instructions per cycle */
    assert_int_equal(s.set->groups[3].n, 2); /* the other group stays */
    assert_int_equal(only_note(s.set)->cause, RK_CAUSE_UNSUPPORTED);
    assert_non_null(strstr(only_note(s.set)->what, "those of a ratio together"));
    scene_close(&s);
}

static int pairs_fit_twice(const struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd)
{
    return attr->type == PERF_SOFTWARE ? 0 : three_fit(attr, pid, cpu, group_fd);
}

static int read_index(int index, uint64_t *words, size_t n)
{
    words[0] = kernel.opened[index].attr.read_format & FORMAT_GROUP ? n - 3 : (uint64_t)index;
    for (size_t i = 3; i < n; i++)
        words[i] = (uint64_t)index + i - 3;
    words[1] = words[2] = 7;
    return (int)(n * sizeof *words);
}

/* Ratios are found whatever stands between their events; values land on their events; what no ratio is of is alone. */
static void test_split_by_ratios(void **state)
{
    struct scene s;
    struct rk_value v[7];

    (void)state;
    kernel_reset();
    kernel.open = pairs_fit_twice;
    kernel.read = read_index;
    assert_int_equal(scene_open(&s, ROOT,
                                "{instructions,branch-misses,L1-dcache-load-misses,cycles,r1a8,branches,"
                                "L1-dcache-loads}:W",
                                self(), NULL),
                     0);
    assert_int_equal(s.set->n_groups, 4);
    static const uint32_t members[] = {0, 3, 1, 5, 2, 6, 4};
    assert_memory_equal(s.set->members, members, sizeof members);
    assert_false(s.set->plain);
    assert_int_equal(rk_set_read(s.set, 0, v, NULL, 7), 0);
    uint64_t first = v[0].value;
    assert_true(v[3].value == first + 1); /* of the same read */
    assert_true(v[5].value == v[1].value + 1 && v[6].value == v[2].value + 1);
    assert_true(v[1].value != first && v[4].value != first);
    scene_close(&s);

    /* nothing fits beside another: even ratios come apart, and it is said */
    kernel_reset();
    kernel.open = alone;
    assert_int_equal(scene_open(&s, ROOT, "{instructions,cycles,branches}:W", self(), NULL), 0);
    assert_int_equal(s.set->n_groups, 3);
    assert_true(s.set->notes.n >= 1);
    scene_close(&s);
}

static uint64_t refused_flags, refused_format, refused_sample;
static int32_t refused_clock;

static int refuses(const struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd)
{
    (void)pid, (void)cpu, (void)group_fd;
    return (attr->flags & refused_flags) || (attr->read_format & refused_format) ||
                   (attr->sample_type & refused_sample) ||
                   (refused_clock && attr->flags & ATTR_USE_CLOCKID && attr->clockid == refused_clock)
               ? -EINVAL
               : 0;
}

static void narrowed(const char *event, const char *field, const struct rk_set_options *options)
{
    struct scene s;

    kernel_reset();
    kernel.open = refuses;
    assert_int_equal(scene_open(&s, ROOT, event, command(), options), -EINVAL);
    assert_non_null(strstr(s.e.what, field));
    assert_non_null(strstr(s.e.remedy, field));
    scene_close(&s);
}

/* EINVAL says nothing; asking again with less does. */
static void test_narrowed(void **state)
{
    (void)state;
    refused_flags = ATTR_INHERIT_THREAD;
    narrowed("page-faults", "inherit_thread", OPTIONS(.flags = RK_SET_THREADS_ONLY));
    refused_flags = ATTR_REMOVE_ON_EXEC;
    narrowed("page-faults", "remove_on_exec", OPTIONS(.flags = RK_SET_REMOVE_ON_EXEC));
    refused_flags = ATTR_EXCLUDE_IDLE;
    narrowed("page-faults", "exclude_idle", OPTIONS(.exclude = RK_EXCLUDE_IDLE));
    refused_flags = ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV; /* either: riscv64's PMU without Sscofpmf */
    narrowed("cycles:u", "user and kernel modifiers", OPTIONS(.period = 0));
    refused_flags = ATTR_PINNED;
    narrowed("page-faults", "pinned", OPTIONS(.flags = RK_SET_PINNED));
    refused_flags = ATTR_SIGTRAP;
    narrowed("page-faults", "sigtrap",
             OPTIONS(.period = 1, .flags = RK_SET_REMOVE_ON_EXEC | RK_SET_SIGTRAP, .sig_data = 7));
    refused_flags = 0;
    refused_sample = RK_SAMPLE_PHYS_ADDR;
    narrowed("page-faults", "sample_type", OPTIONS(.period = 1, .sample = RK_SAMPLE_PHYS_ADDR));
    refused_sample = RK_SAMPLE_REGS_INTR;
    narrowed("page-faults", "registers", OPTIONS(.period = 1, .sample = RK_SAMPLE_REGS_INTR, .regs_intr = 1));
    refused_sample = 0;
    refused_clock = 2;
    narrowed("page-faults", "clockid", OPTIONS(.period = 1, .flags = RK_SET_CLOCK, .clock = 2));
    refused_clock = 0;
}

static int imprecise(const struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd)
{
    (void)pid, (void)cpu, (void)group_fd;
    return (attr->flags & ATTR_PRECISE_MASK) >> ATTR_PRECISE_SHIFT > 1 ? -EOPNOTSUPP : 0;
}

static void test_precise(void **state)
{
    struct scene s;
    struct rk_event event = {.size = sizeof event};

    (void)state;
    kernel_reset();
    kernel.open = imprecise;
    assert_int_equal(
        scene_open(&s, ROOT, "cycles:P", self(), OPTIONS(.period = 1000, .flags = RK_SET_NO_INHERIT)), 0);
    assert_int_equal(kernel.refused, 2);
    assert_int_equal(rk_set_event_get(s.set, 0, &event), 0);
    assert_int_equal(event.precise, 1);
    assert_int_equal(s.set->notes.n, 0);
    scene_close(&s);

    /* what was asked for by number is not given up */
    assert_int_equal(
        scene_open(&s, ROOT, "cycles:pp", self(), OPTIONS(.period = 1000, .flags = RK_SET_NO_INHERIT)),
        -EOPNOTSUPP);
    assert_non_null(strstr(s.e.what, "precisely"));
    scene_close(&s);
}

static int rate_limited(const struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd)
{
    (void)pid, (void)cpu, (void)group_fd;
    return (attr->flags & ATTR_FREQ) && attr->sample_period > 100000 ? -EINVAL : 0;
}

static void test_rate(void **state)
{
    struct scene s;

    (void)state;
    kernel_reset();
    kernel.open = rate_limited;
    assert_int_equal(
        scene_open(&s, ROOT, "cpu-clock", self(), OPTIONS(.frequency = 200000, .flags = RK_SET_NO_INHERIT)),
        0);
    assert_int_equal(attr_of(0)->sample_period, 100000);
    assert_true(attr_of(0)->read_format & FORMAT_LOST); /* it was not to blame */
    assert_int_equal(only_note(s.set)->cause, RK_CAUSE_RATE);
    scene_close(&s);

    assert_int_equal(scene_open(&s, ROOT, "cpu-clock", self(),
                                OPTIONS(.frequency = 200000, .flags = RK_SET_NO_INHERIT | RK_SET_EXACT)),
                     -EINVAL);
    assert_int_equal(s.e.cause, RK_CAUSE_RATE);
    scene_close(&s);
}

static int dumps_no_stacks(const struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd)
{
    (void)pid, (void)cpu, (void)group_fd;
    return attr->sample_type & (RK_SAMPLE_REGS_USER | RK_SAMPLE_STACK_USER) ? -ENOSYS : 0;
}

/* A kernel without user stack dumps: the chain that it can take, with the user's part, and that is said. */
static void test_no_stacks(void **state)
{
    struct scene s;
    const uint64_t stacks = RK_SAMPLE_REGS_USER | RK_SAMPLE_STACK_USER;

    (void)state;
    kernel_reset();
    kernel.open = dumps_no_stacks;
    assert_int_equal(scene_open(&s, ROOT, "cpu-clock", self(),
                                OPTIONS(.frequency = 1000, .flags = RK_SET_NO_INHERIT,
                                        .sample = stacks | RK_SAMPLE_CALLCHAIN, .regs_user = 0xff,
                                        .stack_user = 1024, .exclude = RK_EXCLUDE_CHAIN_USER)),
                     0);
    assert_int_equal(attr_of(0)->sample_type & (stacks | RK_SAMPLE_CALLCHAIN), RK_SAMPLE_CALLCHAIN);
    assert_int_equal(attr_of(0)->sample_stack_user | attr_of(0)->sample_regs_user, 0);
    assert_false(attr_of(0)->flags & ATTR_EXCLUDE_CALLCHAIN_USER);
    assert_int_equal(only_note(s.set)->cause, RK_CAUSE_UNSUPPORTED);
    scene_close(&s);

    assert_true(scene_open(&s, ROOT, "cpu-clock", self(),
                           OPTIONS(.frequency = 1000, .flags = RK_SET_NO_INHERIT | RK_SET_EXACT,
                                   .sample = stacks, .regs_user = 0xff, .stack_user = 1024)) < 0);
    scene_close(&s);
}

static int out_of_descriptors(const struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd)
{
    (void)attr, (void)pid, (void)cpu, (void)group_fd;
    return -EMFILE;
}

static int once_out_of_descriptors(const struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd)
{
    (void)attr, (void)pid, (void)cpu, (void)group_fd;
    return kernel.refused == 0 ? -EMFILE : 0;
}

static void test_descriptors(void **state)
{
    struct scene s;

    (void)state;
    kernel_reset();
    kernel.open = out_of_descriptors;
    assert_int_equal(scene_open(&s, ROOT, "page-faults", self(), OPTIONS(.flags = RK_SET_KEEP)), -EMFILE);
    assert_int_equal(s.e.cause, RK_CAUSE_DESCRIPTORS);
    scene_close(&s);

    /* the limit is raised and the opening tried again, where there is room above it */
    struct rlimit limit, low;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    low = (struct rlimit){limit.rlim_max / 2, limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    kernel_reset();
    kernel.open = once_out_of_descriptors;
    assert_int_equal(scene_open(&s, ROOT, "page-faults", self(), NULL), 0);
    scene_close(&s);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static int interrupted_once(const struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd)
{
    (void)attr, (void)pid, (void)cpu, (void)group_fd;
    return kernel.refused == 0 ? -EINTR : 0;
}

static void test_interrupted(void **state)
{
    struct scene s;

    (void)state;
    kernel_reset();
    kernel.open = interrupted_once;
    assert_int_equal(scene_open(&s, ROOT, "page-faults", self(), NULL), 0);
    scene_close(&s);
}

static int last_is_gone(const struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd)
{
    (void)attr, (void)pid, (void)group_fd;
    return cpu == 7 ? -ESRCH : 0;
}

static int all_gone(const struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd)
{
    (void)attr, (void)pid, (void)cpu, (void)group_fd;
    return -ESRCH;
}

/* A thread that ends while its process is opened is left out; the last one is missed. */
static void test_thread_ends(void **state)
{
    struct scene s;

    (void)state;
    kernel_reset();
    kernel.open = last_is_gone;
    assert_int_equal(scene_open(&s, ROOT, "page-faults,cpu-clock", command(), OPTIONS(.period = 1)), 0);
    assert_int_equal(rk_set_slot_count(s.set), 7);
    assert_int_equal(s.set->n_rings, 7);
    assert_int_equal(s.set->notes.n, 0);
    assert_int_equal(s.e.code, 0);
    scene_close(&s);

    kernel.open = all_gone;
    assert_int_equal(scene_open(&s, ROOT, "page-faults,cpu-clock", command(), OPTIONS(.period = 1)), -ESRCH);
    assert_int_equal(s.e.cause, RK_CAUSE_NO_PROCESS);
    assert_int_equal(s.e.pid, 4242);
    scene_close(&s);
}

static int not_whole(int index, uint64_t *words, size_t n)
{
    (void)words;
    return kernel.opened[index].attr.read_format & FORMAT_GROUP ? -ECHILD : (int)n * 8;
}

/* A thread born while a group was half open: from then on its events are read singly. */
static void test_thread_born(void **state)
{
    struct scene s;

    (void)state;
    kernel_reset();
    kernel.read = not_whole;
    assert_int_equal(scene_open(&s, ROOT, "{page-faults,cpu-clock}", target_new(TARGET_THREAD, 4242), NULL),
                     0);
    assert_int_equal(kernel.n, 4); /* opened again */
    assert_false(s.set->groups[0].together);
    assert_int_equal(kernel.opened[3].group_fd, FIRST_FD + 2); /* still one group */
    scene_close(&s);
}

static int too_old(const struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd)
{
    (void)pid, (void)cpu, (void)group_fd;
    return attr->size > 104 ? -E2BIG : 0;
}

static void test_too_old(void **state)
{
    struct scene s;

    (void)state;
    kernel_reset();
    kernel.open = too_old;
    assert_int_equal(scene_open(&s, ROOT, "cpu-clock", self(),
                                OPTIONS(.period = 1, .flags = RK_SET_NO_INHERIT,
                                        .sample = RK_SAMPLE_CALLCHAIN, .max_stack = 9)),
                     -E2BIG);
    assert_int_equal(s.e.cause, RK_CAUSE_KERNEL_OLD);
    scene_close(&s);
    assert_int_equal(
        scene_open(&s, ROOT, "cpu-clock", self(),
                   OPTIONS(.period = 1, .flags = RK_SET_NO_INHERIT, .sample = RK_SAMPLE_CALLCHAIN)),
        0);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_user_only),
        cmocka_unit_test(test_never_zero),
        cmocka_unit_test(test_keep),
        cmocka_unit_test(test_keep_opens_once),
        cmocka_unit_test(test_old_kernel),
        cmocka_unit_test(test_group_too_large),
        cmocka_unit_test(test_precise),
        cmocka_unit_test(test_rate),
        cmocka_unit_test(test_descriptors),
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_thread_ends),
        cmocka_unit_test(test_thread_born),
        cmocka_unit_test(test_split_by_ratios),
        cmocka_unit_test(test_narrowed),
        cmocka_unit_test(test_no_stacks),
        cmocka_unit_test(test_too_old),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

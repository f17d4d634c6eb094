/* Parts of profiles, several as one, differences: on random ones, against what can be said of them by plain counting. */
#include "fake.h"

#include "profile/maker.h"

static uint64_t random_state = 88172645463325252u;
static uint64_t random_below(uint64_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % n;
}

enum { FUNCTIONS = 12, DEPTH = 9 };

/* A random profile; every sample's own facts are kept, to be counted by hand. */
struct sample {
    uint64_t time, weight;
    int32_t tid;
    uint32_t cpu, event;
    size_t depth;
    uint64_t functions[DEPTH]; /* innermost first */
};

static struct rk_profile *random_profile(struct sample *samples, size_t n, uint32_t times)
{
    struct rk_profile_options options = {.size = sizeof options, .times = times};
    struct rk_profile_builder *b = NULL;
    struct rk_profile *p = NULL;
    uint64_t time = 1 + random_below(1000);

    assert_int_equal(rk_profile_builder_open(&options, &b, NULL), 0);
    for (size_t i = 0; i < n; i++) {
        struct sample *s = &samples[i];
        uint64_t chain[DEPTH + 1] = {RK_CHAIN_USER};
        *s = (struct sample){.time = time += 1 + random_below(50),
                             .weight = 1 + random_below(5),
                             .tid = 100 + (int32_t)random_below(3),
                             .cpu = (uint32_t)random_below(2),
                             .event = (uint32_t)random_below(2),
                             .depth = 1 + random_below(DEPTH)};
        for (size_t k = 0; k < s->depth; k++) {
            s->functions[k] = random_below(FUNCTIONS);
            chain[k + 1] = AT(3, s->functions[k], 1 + random_below(4));
        }
        struct rk_record record = fake_record(2, s->event);
        fake_sample =
            (struct rk_sample){.size = sizeof fake_sample,
                               .present = RK_SAMPLE_IP | RK_SAMPLE_TID | RK_SAMPLE_TIME | RK_SAMPLE_CPU |
                                          RK_SAMPLE_CGROUP | RK_SAMPLE_CALLCHAIN | RK_SAMPLE_PERIOD,
                               .ip = chain[1],
                               .time = s->time,
                               .pid = 100,
                               .tid = s->tid,
                               .cpu = s->cpu,
                               .cgroup = 6 + s->cpu,
                               .period = s->weight,
                               .chain = chain,
                               .chain_n = s->depth + 1};
        assert_int_equal(rk_profile_builder_feed(b, a_stream, &record), 1);
    }
    assert_int_equal(rk_profile_builder_finish(b, a_stream, &p, NULL), 0);
    rk_profile_builder_free(b);
    return p;
}

/* Everything that is in a profile, whatever its numbers are: a line for each row, sorted. */
static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *content(const struct rk_profile *p)
{
    struct rk_profile_columns c = {.size = sizeof c};
    struct rk_profile_summary s = {.size = sizeof s};
    uint32_t path[64];
    assert_int_equal(rk_profile_columns(p, &c), 0);
    rk_profile_summary(p, &s);
    char **lines = calloc(c.sample_n + 1, sizeof *lines);
    size_t total = 200;
    for (size_t i = 0; i < c.sample_n; i++) {
        char line[2000];
        uint32_t t = c.sample_thread[i];
        int n =
            snprintf(line, sizeof line, "%ju %ju %ju %s/%d/%d/%s %s cpu%u %s ", (uintmax_t)c.sample_time[i],
                     (uintmax_t)c.sample_weight[i], (uintmax_t)c.sample_count[i],
                     c.text[c.source_name[c.thread_source[t]]], c.thread_pid[t], c.thread_tid[t],
                     c.text[c.thread_name[t]], c.text[c.event_name[c.sample_event[i]]], c.sample_cpu[i],
                     c.text[c.cgroup_path[c.sample_cgroup[i]]]);
        int64_t depth = rk_profile_path(p, c.sample_node[i], path, 64);
        for (int64_t k = 0; k < depth; k++)
            n += snprintf(line + n, sizeof line - (size_t)n, ";%s:%u%s", c.text[c.frame_symbol[path[k]]],
                          c.frame_line[path[k]], c.frame_flags[path[k]] & RK_FRAME_INLINE ? "i" : "");
        lines[i] = strdup(line);
        total += (size_t)n + 1;
    }
    qsort(lines, c.sample_n, sizeof *lines, compare_lines);
    char *all = calloc(1, total), *at = all;
    at += sprintf(at, "%ju %ju %ju %ju %ju\n", (uintmax_t)s.samples, (uintmax_t)s.weight,
                  (uintmax_t)s.first_time, (uintmax_t)s.last_time, (uintmax_t)s.slice_ns);
    for (size_t i = 0; i < c.sample_n; i++) {
        at += sprintf(at, "%s\n", lines[i]);
        free(lines[i]);
    }
    free(lines);
    return all;
}

static void same(const struct rk_profile *a, const struct rk_profile *b)
{
    char *x = content(a), *y = content(b);
    assert_string_equal(x, y);
    free(x);
    free(y);
}

static struct rk_profile *merged(const struct rk_profile *a, const struct rk_profile *b)
{
    struct rk_profile *ret = NULL;
    assert_int_equal(rk_profile_merge((const struct rk_profile *const[]){a, b}, NULL, 2, &ret, NULL), 0);
    return ret;
}

static void merging_is_associative_and_commutative(void **state)
{
    static struct sample samples[400];
    (void)state;
    for (int round = 0; round < 20; round++) {
        struct rk_profile *p[3];
        for (int i = 0; i < 3; i++)
            p[i] =
                random_profile(samples, random_below(300), round % 5 == 4 ? RK_TIMES_NONE : RK_TIMES_BOUNDED);
        struct rk_profile *ab = merged(p[0], p[1]), *bc = merged(p[1], p[2]), *ba = merged(p[1], p[0]);
        struct rk_profile *left = merged(ab, p[2]), *right = merged(p[0], bc), *all = NULL;
        assert_int_equal(
            rk_profile_merge((const struct rk_profile *const[]){p[0], p[1], p[2]}, NULL, 3, &all, NULL), 0);
        same(left, right);
        same(left, all);
        same(ab, ba);
        struct rk_profile *alone = NULL; /* of one: itself */
        assert_int_equal(rk_profile_merge((const struct rk_profile *const[]){p[0]}, NULL, 1, &alone, NULL),
                         0);
        same(alone, p[0]);
        struct rk_profile *made[] = {p[0], p[1], p[2], ab, bc, ba, left, right, all, alone};
        for (size_t i = 0; i < sizeof made / sizeof *made; i++)
            rk_profile_free(made[i]);
    }
}

static void labels_tell_sources_apart(void **state)
{
    static struct sample samples[100];
    struct rk_profile *p = random_profile(samples, 100, RK_TIMES_BOUNDED), *two = NULL;
    struct rk_aggregate *a = NULL;
    (void)state;
    assert_int_equal(rk_profile_merge((const struct rk_profile *const[]){p, p},
                                      (const char *const[]){"a", "b"}, 2, &two, NULL),
                     0);
    assert_int_equal(rk_profile_aggregate(two, RK_PER_SOURCE, &a, NULL), 0);
    assert_int_equal(a->n, 2);
    assert_string_equal(a->name[0], "a");
    assert_int_equal(a->self[0], a->self[1]);
    assert_int_equal(a->self[0] * 2, a->weight);
    rk_aggregate_free(a);
    struct rk_profile_filter filter = {.size = sizeof filter, .source = "^b$"};
    struct rk_profile *b = NULL;
    assert_int_equal(rk_profile_select(two, &filter, &b, NULL), 0);
    struct rk_profile_diff *d = NULL;
    assert_int_equal(rk_profile_diff(p, b, RK_PER_FUNCTION, RK_NORMALISE_NONE, &d, NULL), 0);
    assert_int_equal(d->n, 0);
    rk_profile_diff_free(d);
    rk_profile_free(b);
    rk_profile_free(two);
    rk_profile_free(p);
}

static void a_difference_with_itself_is_empty(void **state)
{
    static struct sample samples[300];
    (void)state;
    for (int round = 0; round < 10; round++) {
        struct rk_profile *p = random_profile(samples, 1 + random_below(300), RK_TIMES_BOUNDED),
                          *twice = merged(p, p);
        struct rk_profile_summary s = {.size = sizeof s};
        assert_int_equal(rk_profile_summary(p, &s), 0);
        for (uint32_t per = 0; per <= RK_PER_SOURCE; per++)
            for (uint32_t how = 0; how <= RK_NORMALISE_TIME; how++) {
                struct rk_profile_diff *d = NULL;
                assert_int_equal(rk_profile_diff(p, p, per, how, &d, NULL), 0);
                assert_int_equal(d->n, 0);
                rk_profile_diff_free(d);
                assert_int_equal(rk_profile_diff(p, twice, per, how, &d, NULL), 0);
                /* Shares are the same, and rates: it took twice as long. Sums are not. */
                assert_true(how == RK_NORMALISE_NONE || (how == RK_NORMALISE_TIME && !s.duration)
                                ? d->n > 0
                                : d->n == 0);
                rk_profile_diff_free(d);
            }
        rk_profile_free(p);
        rk_profile_free(twice);
    }
}

/* What is in one alone is a change of all of it; shares of the rest move the other way. */
static void a_difference_is_what_was_added(void **state)
{
    struct rk_profile_builder *b = fake_builder();
    (void)state;
    for (int i = 0; i < 10; i++)
        FEED(b, AT(3, 1, 1), AT(1, 0, 9));
    struct rk_profile *before = fake_finish(b);
    b = fake_builder();
    for (int i = 0; i < 10; i++) {
        FEED(b, AT(3, 1, 1), AT(1, 0, 9));
        FEED(b, AT(3, 2, 1), AT(1, 0, 9));
    }
    struct rk_profile *after = fake_finish(b);
    struct rk_profile_diff *d = NULL;
    assert_int_equal(rk_profile_diff(before, after, RK_PER_FUNCTION, RK_NORMALISE_NONE, &d, NULL), 0);
    assert_int_equal(d->n, 2); /* m3_f2, and the total of what calls it */
    assert_string_equal(d->name[0], "m3_f2");
    assert_string_equal(d->module[0], "three.so");
    assert_true(d->change[0] == 10 && d->before[0] == 0 && d->after[0] == 10);
    assert_string_equal(d->name[1], "m1_f0");
    assert_true(d->change[1] == 0 && d->change_total[1] == 10);
    rk_profile_diff_free(d);
    assert_int_equal(rk_profile_diff(before, after, RK_PER_FUNCTION, RK_NORMALISE_WEIGHT, &d, NULL), 0);
    assert_true(d->n == 2 && d->scale == 2 && d->change[0] + d->change[1] == 0);
    rk_profile_diff_free(d);
    rk_profile_free(before);
    rk_profile_free(after);
}

/* Two builds of a program lie in two folders: what has one name is one row, of differences and of pairs alike. */
static void builds_in_two_folders_are_one(void **state)
{
    struct rk_profile_builder *b = fake_builder();
    (void)state;
    FEED(b, AT(4, 0, 1)); /* /a/same */
    FEED(b, AT(5, 0, 1)); /* /b/same */
    struct rk_profile *before = fake_finish(b);
    b = fake_builder();
    FEED(b, AT(5, 0, 1));
    FEED(b, AT(5, 0, 1));
    struct rk_profile *after = fake_finish(b), *both = NULL;
    for (uint32_t per = RK_PER_FUNCTION; per <= RK_PER_MODULE; per++) {
        struct rk_profile_diff *d = NULL;
        assert_int_equal(rk_profile_diff(before, after, per, RK_NORMALISE_NONE, &d, NULL), 0);
        assert_int_equal(d->n, 0);
        rk_profile_diff_free(d);
    }
    struct rk_aggregate *a = NULL;
    assert_int_equal(profile_pair(before, after, &both, NULL), 0);
    assert_int_equal(rk_profile_aggregate(both, RK_PER_FUNCTION, &a, NULL), 0);
    assert_true(a->n == 1 && a->self[0] == 4);
    rk_aggregate_free(a);
    rk_profile_free(both);
    both = merged(before, after); /* no difference: each file is itself */
    assert_int_equal(rk_profile_aggregate(both, RK_PER_FUNCTION, &a, NULL), 0);
    assert_int_equal(a->n, 2);
    rk_aggregate_free(a);
    rk_profile_free(both);
    rk_profile_free(before);
    rk_profile_free(after);
}

/* A part of a profile without times has its rows by stack, and a thread's last name is its last all the same. */
static void a_part_keeps_the_last_names(void **state)
{
    struct rk_profile_options options = {.size = sizeof options, .times = RK_TIMES_NONE};
    struct rk_profile_builder *b = NULL;
    struct rk_record comm = {.type = RK_RECORD_COMM, .bytes = 8, .data = (const unsigned char[8]){0}};
    (void)state;
    assert_int_equal(rk_profile_builder_open(&options, &b, NULL), 0);
    for (int named = 0; named < 2; named++) {
        fake_comm = named ? "renamed" : "worker";
        assert_int_equal(rk_profile_builder_feed(b, a_stream, &comm), 0);
        for (int32_t tid = 100; tid < 102; tid++) { /* each begins in the stack that the other one ends in */
            const uint64_t chain[] = {RK_CHAIN_USER, AT(1, (tid == 100) == named ? 1 : 2, 0)};
            fake_feed_in(b, 100, tid, 0, 1, chain, 2);
        }
    }
    fake_comm = "worker";
    struct rk_profile *p = fake_finish(b), *part = NULL, *both = merged(p, p);
    struct rk_profile_filter filter = {.size = sizeof filter, .event = "cpu-clock"};
    struct rk_aggregate *processes = NULL; /* what an exec has made of it */
    assert_int_equal(rk_profile_aggregate(p, RK_PER_PROCESS, &processes, NULL), 0);
    assert_int_equal(processes->n, 1);
    assert_string_equal(processes->name[0], "renamed");
    rk_aggregate_free(processes);
    assert_int_equal(rk_profile_select(p, &filter, &part, NULL), 0);
    for (int i = 0; i < 3; i++) {
        struct rk_aggregate *a = NULL;
        assert_int_equal(rk_profile_aggregate(i == 0 ? p : i == 1 ? part : both, RK_PER_THREAD, &a, NULL), 0);
        assert_int_equal(a->n, 2);
        assert_string_equal(a->name[0], "renamed");
        assert_string_equal(a->name[1], "renamed");
        rk_aggregate_free(a);
    }
    rk_profile_free(p);
    rk_profile_free(part);
    rk_profile_free(both);
}

static bool has(const struct sample *s, uint64_t function)
{
    for (size_t k = 0; k < s->depth; k++)
        if (s->functions[k] == function)
            return true;
    return false;
}

static uint64_t weight_of(const struct rk_profile *p)
{
    struct rk_profile_summary s = {.size = sizeof s};
    assert_int_equal(rk_profile_summary(p, &s), 0);
    return s.weight;
}

#define SELECTED(expected, ...)                                                   \
    do {                                                                          \
        struct rk_profile_filter filter_ = {.size = sizeof filter_, __VA_ARGS__}; \
        struct rk_profile *part_ = NULL;                                          \
        uint64_t sum_ = 0;                                                        \
        for (size_t i = 0; i < N; i++) {                                          \
            const struct sample *s = &samples[i];                                 \
            sum_ += (expected) ? s->weight : 0;                                   \
        }                                                                         \
        assert_int_equal(rk_profile_select(p, &filter_, &part_, NULL), 0);        \
        assert_int_equal(weight_of(part_), sum_);                                 \
        rk_profile_free(part_);                                                   \
    } while (0)

static void filters_take_what_they_say(void **state)
{
    enum { N = 3000 };
    static struct sample samples[N];
    struct rk_profile *p = random_profile(samples, N, RK_TIMES_BOUNDED);
    int32_t tids[] = {100, 102}, pids[] = {7};
    uint32_t one = 1;
    uint64_t from = samples[N / 4].time, to = samples[N / 2].time;
    (void)state;
    SELECTED(s, .flags = 0);
    SELECTED(s->time >= from && s->time < to, .from = from, .to = to);
    SELECTED(s->tid != 101, .threads = tids, .thread_n = 2);
    SELECTED(s && false, .processes = pids, .process_n = 1);
    SELECTED(s->cpu == 1, .cpus = &one, .cpu_n = 1);
    SELECTED(s->event == 1, .event = "page-faults");
    SELECTED(s && false, .event = "page");
    SELECTED(s->cpu == 1, .cgroup = "^/sev");
    SELECTED(has(s, 3), .symbol = "f3$");
    SELECTED(s->functions[0] == 3 || s->functions[0] == 5, .self_symbol = "_f[35]$");
    SELECTED(s, .module = "three");
    SELECTED(s && false, .self_module = "^two");
    SELECTED(has(s, 4), .callees = "f4$");
    SELECTED(has(s, 4), .callers = "f4$", .flags = RK_SELECT_REVERSE | RK_SELECT_NO_TIMES);
    SELECTED(has(s, 2) && s->tid == 100 && s->event == 0, .symbol = "f2$", .threads = tids, .thread_n = 1,
             .event = "cpu-clock");
    struct rk_profile_filter bad = {.size = sizeof bad, .symbol = "("};
    struct rk_error e = {.size = sizeof e};
    struct rk_profile *none = NULL;
    assert_int_equal(rk_profile_select(p, &bad, &none, &e), -EINVAL);
    assert_int_equal(e.cause, RK_CAUSE_SYNTAX);
    assert_null(none);
    rk_profile_free(p);
}

static const char *path_text(const struct rk_profile *p, size_t row)
{
    static char text[512];
    struct rk_profile_columns c = {.size = sizeof c};
    uint32_t path[32];
    size_t n = 0;

    rk_profile_columns(p, &c);
    int64_t depth = rk_profile_path(p, c.sample_node[row], path, 32);
    text[0] = '\0';
    for (int64_t k = 0; k < depth; k++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", k ? ";" : "",
                              c.text[c.frame_symbol[path[k]]]);
    return text;
}

static void stacks_are_cut_and_turned(void **state)
{
    struct rk_profile_builder *b = fake_builder();
    struct rk_profile *part = NULL;
    (void)state;
    FEED(b, AT(3, 4, 1), AT(3, 3, 2), AT(3, 2, 2), AT(3, 3, 2), AT(3, 1, 2)); /* f1;f3;f2;f3;f4 */
    struct rk_profile *p = fake_finish(b);
    const struct {
        const char *callees, *callers, *expected;
        uint32_t flags;
    } cases[] = {
        {NULL, NULL, "m3_f1;m3_f3;m3_f2;m3_f3;m3_f4", 0},
        {NULL, NULL, "m3_f4;m3_f3;m3_f2;m3_f3;m3_f1", RK_SELECT_REVERSE},
        {"f3", NULL, "m3_f3;m3_f2;m3_f3;m3_f4", 0},
        {NULL, "f3", "m3_f1;m3_f3;m3_f2;m3_f3", 0},
        {NULL, "f2", "m3_f2;m3_f3;m3_f1", RK_SELECT_REVERSE},
        {"f3", "f2", "m3_f3;m3_f2", 0},
        {"f3", NULL, "m3_f4;m3_f3;m3_f2;m3_f3", RK_SELECT_REVERSE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rk_profile_filter f = {.size = sizeof f,
                                      .callees = cases[i].callees,
                                      .callers = cases[i].callers,
                                      .flags = cases[i].flags};
        assert_int_equal(rk_profile_select(p, &f, &part, NULL), 0);
        assert_string_equal(path_text(part, 0), cases[i].expected);
        rk_profile_free(part);
    }
    rk_profile_free(p);
}

static void inlined_frames_go(void **state)
{
    struct rk_profile_builder *b = fake_builder();
    struct rk_profile *part = NULL;
    (void)state;
    FEED(b, AT(3, 1, 0x90), AT(1, 0, 9)); /* in deeper(), in inlined(), in m3_f1 */
    struct rk_profile *p = fake_finish(b);
    assert_string_equal(path_text(p, 0), "m1_f0;m3_f1;inlined;deeper");
    struct rk_profile_filter f = {.size = sizeof f, .flags = RK_SELECT_NO_INLINE};
    assert_int_equal(rk_profile_select(p, &f, &part, NULL), 0);
    assert_string_equal(path_text(part, 0), "m1_f0;m3_f1");
    rk_profile_free(part);
    f.symbol = "deeper"; /* it is not there any more */
    assert_int_equal(rk_profile_select(p, &f, &part, NULL), 0);
    assert_int_equal(weight_of(part), 0);
    rk_profile_free(part);
    rk_profile_free(p);
}

/* Every way of summing gives all of it; CPUs, threads, events as counted by hand. */
static void sums_are_of_all(void **state)
{
    enum { N = 2000 };
    static struct sample samples[N];
    struct rk_profile *p = random_profile(samples, N, RK_TIMES_NONE);
    (void)state;
    for (uint32_t per = 0; per <= RK_PER_SOURCE; per++) {
        struct rk_aggregate *a = NULL;
        uint64_t self = 0;
        assert_int_equal(rk_profile_aggregate(p, per, &a, NULL), 0);
        for (size_t i = 0; i < a->n; i++) {
            uint64_t by_hand = 0;
            self += a->self[i];
            assert_true(a->self[i] <= a->total[i] && a->total[i] <= a->weight);
            for (size_t k = 0; k < N; k++)
                if (per == RK_PER_CPU     ? samples[k].cpu == a->key[i]
                    : per == RK_PER_EVENT ? samples[k].event == a->key[i]
                                          : true)
                    by_hand += samples[k].weight;
            if (per == RK_PER_CPU || per == RK_PER_EVENT)
                assert_int_equal(a->self[i], by_hand);
        }
        assert_int_equal(self, a->weight);
        rk_aggregate_free(a);
    }
    struct rk_aggregate *a = NULL;
    struct rk_error e = {.size = sizeof e};
    assert_int_equal(rk_profile_aggregate(p, RK_PER_SOURCE + 1, &a, &e), -EINVAL);
    rk_profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merging_is_associative_and_commutative),
        cmocka_unit_test(labels_tell_sources_apart),
        cmocka_unit_test(a_difference_with_itself_is_empty),
        cmocka_unit_test(a_difference_is_what_was_added),
        cmocka_unit_test(builds_in_two_folders_are_one),
        cmocka_unit_test(a_part_keeps_the_last_names),
        cmocka_unit_test(filters_take_what_they_say),
        cmocka_unit_test(stacks_are_cut_and_turned),
        cmocka_unit_test(inlined_frames_go),
        cmocka_unit_test(sums_are_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

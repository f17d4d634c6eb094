/* Samples of a made-up program into functions and stacks, against what can be said of them in advance. */
#include "fake.h"

#include "profile/builder.h"
#include "profile/finish.h"

/* A row of an aggregate, with what its key says. */
struct row {
    const char *symbol, *module, *path, *file;
    uint32_t line, miss;
    uint64_t self, total, self_samples, total_samples;
};

static size_t rows(const struct rk_profile *p, uint32_t per, size_t index, struct row *ret)
{
    struct rk_profile_columns c = {.size = sizeof c};
    struct rk_aggregate *a = NULL;
    assert_int_equal(rk_profile_columns(p, &c), 0);
    assert_int_equal(rk_profile_aggregate(p, per, &a, NULL), 0);
    size_t n = a->n;
    if (index < n) {
        uint32_t frame = a->key[index];
        *ret = (struct row){.symbol = c.text[c.frame_symbol[frame]],
                            .module = c.text[c.frame_module[frame]],
                            .path = c.text[c.frame_path[frame]],
                            .file = c.frame_file[frame] ? c.text[c.frame_file[frame]] : NULL,
                            .line = c.frame_line[frame],
                            .miss = c.frame_miss[frame],
                            .self = a->self[index],
                            .total = a->total[index],
                            .self_samples = a->self_samples[index],
                            .total_samples = a->total_samples[index]};
        if (per != RK_PER_MODULE)
            assert_string_equal(a->name[index], ret->symbol);
    }
    rk_aggregate_free(a);
    return n;
}

static size_t functions(const struct rk_profile *p)
{
    return rows(p, RK_PER_FUNCTION, SIZE_MAX, NULL);
}

static struct row row_of(const struct rk_profile *p, uint32_t per, const char *symbol, const char *module)
{
    struct row f;
    for (size_t i = 0; i < rows(p, per, i, &f); i++)
        if (strcmp(f.symbol, symbol) == 0 && strcmp(f.module, module) == 0)
            return f;
    fail_msg("no function %s in %s", symbol, module);
    return (struct row){0};
}

static struct row function(const struct rk_profile *p, const char *symbol, const char *module)
{
    return row_of(p, RK_PER_FUNCTION, symbol, module);
}

/* Distinct stacks of functions, thread, name, event: whatever the time; heaviest first. */
struct stack {
    uint32_t frames[256];
    uint32_t frame_n;
    const char *comm;
    int32_t pid, tid;
    uint64_t weight, samples;
};

static struct rk_profile *flat(const struct rk_profile *p, bool lines)
{
    struct rk_profile_filter filter = {.size = sizeof filter,
                                       .flags = RK_SELECT_NO_TIMES | (lines ? 0 : RK_SELECT_NO_LINES)};
    struct rk_profile *ret = NULL;
    assert_int_equal(rk_profile_select(p, &filter, &ret, NULL), 0);
    return ret;
}

static size_t stacks(const struct rk_profile *p)
{
    struct rk_profile_columns c = {.size = sizeof c};
    struct rk_profile *f = flat(p, false);
    rk_profile_columns(f, &c);
    size_t n = c.sample_n;
    rk_profile_free(f);
    return n;
}

/* The heaviest one of a flat profile, or the one with that index in any order. */
static struct stack stack_at(const struct rk_profile *p, size_t index)
{
    struct rk_profile_columns c = {.size = sizeof c};
    struct stack s = {0};
    rk_profile_columns(p, &c);
    assert_true(index < c.sample_n);
    uint32_t thread = c.sample_thread[index];
    int64_t n = rk_profile_path(p, c.sample_node[index], s.frames, 256);
    assert_in_range(n, 1, 256);
    s.frame_n = (uint32_t)n;
    s.comm = c.text[c.thread_name[thread]];
    s.pid = c.thread_pid[thread];
    s.tid = c.thread_tid[thread];
    s.weight = c.sample_weight[index];
    s.samples = c.sample_count[index];
    return s;
}

static struct rk_profile_summary summary(const struct rk_profile *p)
{
    struct rk_profile_summary s = {.size = sizeof s};
    assert_int_equal(rk_profile_summary(p, &s), 0);
    return s;
}

static void self_and_total(void **state)
{
    (void)state;
    struct rk_profile_builder *b = fake_builder();
    /* main → f1 → f2, sampled in f2 twice at different places, once in f1 */
    FEED(b, AT(2, 2, 0x10), AT(2, 1, 0x21), AT(1, 0, 0x31));
    FEED(b, AT(2, 2, 0x18), AT(2, 1, 0x21), AT(1, 0, 0x31));
    FEED(b, AT(2, 1, 0x30), AT(1, 0, 0x31));
    struct rk_profile *p = fake_finish(b);
    assert_int_equal(functions(p), 3);
    struct row f = function(p, "m2_f2", "two.so");
    assert_int_equal(f.self, 2);
    assert_int_equal(f.total, 2);
    assert_string_equal(f.path, "/lib/two.so");
    f = function(p, "m2_f1", "two.so");
    assert_int_equal(f.self, 1);
    assert_int_equal(f.total, 3);
    f = function(p, "m1_f0", "one");
    assert_int_equal(f.self, 0);
    assert_int_equal(f.total, 3);
    /* two addresses in one function are one stack */
    assert_int_equal(stacks(p), 2);
    struct rk_profile *folded = flat(p, false);
    struct stack s = stack_at(folded, 0);
    s = s.samples == 2 ? s : stack_at(folded, 1);
    assert_int_equal(s.samples, 2);
    assert_int_equal(s.frame_n, 3);
    assert_string_equal(s.comm, "worker");
    struct rk_profile_columns c = {.size = sizeof c};
    rk_profile_columns(folded, &c);
    assert_string_equal(c.text[c.frame_symbol[s.frames[0]]], "m1_f0");
    assert_string_equal(c.text[c.frame_symbol[s.frames[2]]], "m2_f2");
    uint32_t outermost = 99;
    assert_int_equal(rk_profile_path(folded, c.sample_node[0], &outermost, 1),
                     s.frame_n - (stack_at(folded, 0).samples == 1));
    assert_string_equal(c.text[c.frame_symbol[outermost]], "m1_f0");
    assert_int_equal(rk_profile_path(folded, (uint32_t)c.node_n, NULL, 0), -ERANGE);
    rk_profile_free(folded);
    assert_int_equal(rk_profile_unnamed_count(p), 0);
    assert_null(rk_profile_free(p));
}

static void recursion_counts_once(void **state)
{
    (void)state;
    struct rk_profile_builder *b = fake_builder();
    FEED(b, AT(1, 5, 8), AT(1, 4, 9), AT(1, 5, 9), AT(1, 4, 9), AT(1, 5, 9), AT(1, 0, 9));
    struct rk_profile *p = fake_finish(b);
    assert_int_equal(function(p, "m1_f5", "one").total, 1);
    assert_int_equal(function(p, "m1_f5", "one").self, 1);
    assert_int_equal(function(p, "m1_f4", "one").total, 1);
    assert_int_equal(function(p, "m1_f0", "one").total_samples, 1);
    rk_profile_free(p);
}

/* A call that is a function's last instruction returns into the next one. */
static void a_return_address_names_the_caller(void **state)
{
    (void)state;
    struct rk_profile_builder *b = fake_builder();
    FEED(b, AT(1, 8, 0), AT(1, 7, 0), AT(1, 2, 0));
    struct rk_profile *p = fake_finish(b);
    assert_int_equal(function(p, "m1_f8", "one").self, 1); /* the sampled address itself: as it is */
    assert_int_equal(function(p, "m1_f6", "one").total, 1);
    assert_int_equal(function(p, "m1_f1", "one").total, 1);
    rk_profile_free(p);
}

static void kernel_is_called_by_user(void **state)
{
    (void)state;
    struct rk_profile_builder *b = fake_builder();
    const uint64_t chain[] = {RK_CHAIN_KERNEL, KERNEL + 0x310, KERNEL + 0x120,
                              RK_CHAIN_USER,   AT(2, 9, 2),    AT(1, 0, 9)};
    fake_feed_in(b, 100, 101, 0, 1, chain, 6);
    struct rk_profile *p = fake_finish(b);
    struct stack s = stack_at(p, 0);
    struct rk_profile_columns c = {.size = sizeof c};
    rk_profile_columns(p, &c);
    const char *expected[] = {"m1_f0", "m2_f9", "k0_f1", "k0_f3"};
    assert_int_equal(s.frame_n, 4);
    for (int i = 0; i < 4; i++) {
        assert_string_equal(c.text[c.frame_symbol[s.frames[i]]], expected[i]);
        assert_int_equal(c.frame_flags[s.frames[i]], i < 2 ? 0 : RK_FRAME_KERNEL);
    }
    assert_int_equal(s.tid, 101);
    rk_profile_free(p);
}

/* LBR's call stacks: the kernel's part as ever, the user's out of the branches; a call at a function's begin is its own. */
static void branches_that_are_callers(void **state)
{
    (void)state;
    const struct rk_branch branches[] = {{AT(2, 8, 0), AT(2, 9, 0), 0}, {AT(1, 0, 0), AT(2, 8, 0), 0}};
    const uint64_t chain[] = {RK_CHAIN_KERNEL, KERNEL + 0x310, RK_CHAIN_USER, AT(2, 9, 2), AT(3, 1, 0)};
    struct rk_record record = {
        .type = RK_RECORD_SAMPLE, .misc = 1, .present = RK_SAMPLE_TID, .pid = 100, .tid = 101};
    fake_events[0].call_stack = 1;
    fake_sample = (struct rk_sample){.size = sizeof fake_sample,
                                     .present = RK_SAMPLE_IP | RK_SAMPLE_TID | RK_SAMPLE_CALLCHAIN |
                                                RK_SAMPLE_BRANCH_STACK,
                                     .ip = KERNEL + 0x310,
                                     .pid = 100,
                                     .tid = 101,
                                     .chain = chain,
                                     .chain_n = 5,
                                     .branches = branches,
                                     .branch_n = 2};
    struct rk_profile_builder *b = fake_builder();
    assert_int_equal(rk_profile_builder_feed(b, a_stream, &record), 1);
    struct rk_profile *p = fake_finish(b);
    fake_events[0].call_stack = 0;
    struct stack s = stack_at(p, 0);
    struct rk_profile_columns c = {.size = sizeof c};
    rk_profile_columns(p, &c);
    const char *expected[] = {"m1_f0", "m2_f8", "m2_f9", "k0_f3"};
    assert_int_equal(s.frame_n, 4);
    for (int i = 0; i < 4; i++)
        assert_string_equal(c.text[c.frame_symbol[s.frames[i]]], expected[i]);
    rk_profile_free(p);
}

static void what_has_no_name_says_why(void **state)
{
    (void)state;
    struct rk_profile_builder *b = fake_builder();
    for (int i = 0; i < 3; i++)
        FEED(b, AT(6, i, 0), AT(1, 0, 9)); /* stripped, several addresses: one row */
    FEED(b, AT(7, 1, 0), AT(7, 2, 0));     /* anonymous */
    FEED(b, AT(1, 200, 0));                /* no symbol there */
    FEED(b, 0x1234);                       /* nowhere */
    FEED(b, AT(1, 1, 0), AT(6, 9, 0));     /* the sampled address has a name */
    struct rk_profile *p = fake_finish(b);
    assert_int_equal(summary(p).unnamed, 6);
    assert_int_equal(rk_profile_unnamed_count(p), 4);
    struct rk_unnamed u = {.size = sizeof u};
    assert_int_equal(rk_profile_unnamed_get(p, 0, &u), 0);
    assert_string_equal(u.module, "stripped");
    assert_int_equal(u.miss, RK_MISS_STRIPPED);
    assert_int_equal(u.samples, 3);
    struct row f = function(p, "[unknown]", "stripped");
    assert_int_equal(f.self, 3);
    assert_int_equal(f.total, 4);
    assert_int_equal(f.miss, RK_MISS_STRIPPED);
    assert_int_equal(function(p, "[unknown]", "[unknown]").miss, RK_MISS_NO_MODULE);
    assert_int_equal(function(p, "[unknown]", "anon").miss, RK_MISS_ANONYMOUS);
    assert_int_equal(function(p, "[unknown]", "one").miss, RK_MISS_NO_SYMBOL);
    assert_int_equal(rk_profile_unnamed_get(p, 4, &u), -ERANGE);
    rk_profile_free(p);
}

static struct rk_profile_builder *builder_with(uint32_t flags)
{
    struct rk_profile_builder *b = NULL;
    struct rk_profile_options options = {.size = sizeof options, .flags = flags};
    assert_int_equal(rk_profile_builder_open(&options, &b, NULL), 0);
    return b;
}

static void feed_inlined(struct rk_profile_builder *b)
{
    FEED(b, AT(3, 1, 0x90), AT(1, 0, 9)); /* in deeper(), in inlined(), in m3_f1 */
    FEED(b, AT(3, 1, 0x10), AT(1, 0, 9)); /* in m3_f1 itself */
    FEED(b, AT(3, 2, 0xf8), AT(1, 0, 9)); /* in something in deeper() … in m3_f2 */
    FEED(b, AT(1, 5, 8), AT(3, 1, 0x91)); /* called by deeper() */
}

static const char *path_of(const struct rk_profile *p, size_t stack, bool lines)
{
    static char text[256];
    struct rk_profile_columns c = {.size = sizeof c};
    struct stack s = stack_at(p, stack);
    size_t n = 0;

    rk_profile_columns(p, &c);
    for (uint32_t i = 0; i < s.frame_n; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", i ? ";" : "",
                              c.text[c.frame_symbol[s.frames[i]]]);
        if (lines && c.frame_file[s.frames[i]])
            n += (size_t)snprintf(text + n, sizeof text - n, ":%u", c.frame_line[s.frames[i]]);
    }
    return text;
}

/* Whether a stack has that path. */
static bool has(const struct rk_profile *p, const char *path, bool lines)
{
    struct rk_profile_columns c = {.size = sizeof c};
    rk_profile_columns(p, &c);
    for (size_t i = 0; i < c.sample_n; i++)
        if (strcmp(path_of(p, i, lines), path) == 0)
            return true;
    return false;
}

static bool has_path(const struct rk_profile *p, const char *path)
{
    return has(p, path, false);
}

static bool has_lines(const struct rk_profile *p, const char *path)
{
    return has(p, path, true);
}

static uint64_t self_sum(const struct rk_profile *p)
{
    uint64_t sum = 0;
    struct row f;
    for (size_t i = 0; i < rows(p, RK_PER_FUNCTION, i, &f); i++)
        sum += f.self_samples;
    return sum;
}

static void inlined_functions_are_frames(void **state)
{
    (void)state;
    struct rk_profile_builder *b = builder_with(RK_PROFILE_NO_LINES);
    feed_inlined(b);
    struct rk_profile *p = fake_finish(b);
    assert_true(has_path(p, "m1_f0;m3_f1;inlined;deeper"));
    assert_true(has_path(p, "m1_f0;m3_f1"));
    assert_true(has_path(p, "m1_f0;m3_f2;inlined;deeper")); /* the nameless one is its caller's */
    assert_true(has_path(p, "m3_f1;inlined;deeper;m1_f5"));
    assert_int_equal(stacks(p), 4);
    assert_int_equal(function(p, "deeper", "three.so").self, 2);
    assert_int_equal(function(p, "deeper", "three.so").total, 3);
    assert_int_equal(function(p, "m3_f1", "three.so").self, 1);
    assert_int_equal(function(p, "m3_f1", "three.so").total, 3);
    assert_null(function(p, "deeper", "three.so").file);
    assert_int_equal(self_sum(p), 4);
    rk_profile_free(p);

    b = builder_with(RK_PROFILE_NO_INLINE | RK_PROFILE_NO_LINES);
    feed_inlined(b);
    p = fake_finish(b);
    assert_true(has_path(p, "m1_f0;m3_f1"));
    assert_true(has_path(p, "m1_f0;m3_f2"));
    assert_true(has_path(p, "m3_f1;m1_f5"));
    assert_int_equal(stacks(p), 3);
    assert_int_equal(function(p, "m3_f1", "three.so").self, 2);
    assert_int_equal(self_sum(p), 4);
    rk_profile_free(p);
}

static void lines_are_rows(void **state)
{
    (void)state;
    struct rk_profile_builder *b = builder_with(0);
    feed_inlined(b);
    FEED(b, 0x1234); /* nowhere: no line */
    struct rk_profile *p = fake_finish(b);
    assert_true(has_lines(p, "m1_f0:8;m3_f1:144;inlined:20;deeper:7"));
    assert_true(has_lines(p, "m1_f0:8;m3_f1:16"));
    assert_true(has_lines(p, "m3_f1:144;inlined:20;deeper:7;m1_f5:8"));
    struct row deeper = row_of(p, RK_PER_LINE, "deeper", "three.so");
    assert_string_equal(deeper.file, "/src/in.h");
    assert_int_equal(deeper.line, 7);
    assert_int_equal(deeper.self, 2);
    assert_null(function(p, "[unknown]", "[unknown]").file);
    assert_int_equal(self_sum(p), 5);
    rk_profile_free(p);

    b = builder_with(RK_PROFILE_NO_INLINE); /* the function that has a symbol, the address's own line */
    feed_inlined(b);
    p = fake_finish(b);
    assert_true(has_lines(p, "m1_f0:8;m3_f1:7"));
    assert_true(has_lines(p, "m1_f0:8;m3_f1:16"));
    assert_true(has_lines(p, "m1_f0:8;m3_f2"));
    assert_int_equal(self_sum(p), 4);
    rk_profile_free(p);
}

/* /a/same and /b/same each have a function "same". */
static void files_of_one_name_are_two(void **state)
{
    (void)state;
    struct rk_profile_builder *b = fake_builder();
    FEED(b, AT(4, 1, 0));
    FEED(b, AT(5, 1, 0));
    FEED(b, AT(4, 2, 0)); /* the same name in the same file: one */
    struct rk_profile *p = fake_finish(b);
    struct row f;
    assert_int_equal(rows(p, RK_PER_FUNCTION, 0, &f), 2);
    assert_string_equal(f.path, "/a/same");
    assert_int_equal(f.self, 2);
    rk_profile_free(p);
}

static void weight_is_the_period(void **state)
{
    (void)state;
    const uint64_t chain[] = {RK_CHAIN_USER, AT(1, 1, 0)};
    struct rk_profile_builder *b = fake_builder();
    fake_feed_in(b, 100, 100, 0, 1000, chain, 2);
    fake_feed_in(b, 100, 100, 0, 500, chain, 2);
    fake_feed_in(b, 100, 100, 0, 0, chain, 2); /* without one, and the event has none: 1 */
    fake_feed_in(b, 100, 100, 1, 0, chain, 2); /* the event's fixed period: 10 */
    fake_feed_in(b, 100, 100, RK_NO_EVENT, 0, chain, 2);
    struct rk_profile *p = fake_finish(b);
    assert_int_equal(summary(p).weight, 1000 + 500 + 1 + 10 + 1);
    assert_int_equal(summary(p).samples, 5);
    assert_int_equal(summary(p).events, 3);
    assert_string_equal(summary(p).event, "cpu-clock");
    assert_int_equal(function(p, "m1_f1", "one").self, 1512);
    assert_int_equal(function(p, "m1_f1", "one").self_samples, 5);
    rk_profile_free(p);
}

static void one_event_alone(void **state)
{
    (void)state;
    const uint64_t chain[] = {RK_CHAIN_USER, AT(1, 1, 0)};
    struct rk_profile_options options = {.size = sizeof options, .event = 1, .flags = RK_PROFILE_EVENT};
    struct rk_profile_builder *b = NULL;
    assert_int_equal(rk_profile_builder_open(&options, &b, NULL), 0);
    struct rk_record other = fake_record(2, 0);
    assert_int_equal(rk_profile_builder_feed(b, a_stream, &other), 0);
    fake_feed_in(b, 100, 100, 1, 7, chain, 2);
    struct rk_profile *p = fake_finish(b);
    assert_int_equal(summary(p).weight, 7);
    assert_string_equal(summary(p).event, "page-faults");
    rk_profile_free(p);

    options.size = 0;
    struct rk_error e = {.size = sizeof e};
    assert_int_equal(rk_profile_builder_open(&options, &b, &e), -EINVAL);
    assert_int_equal(e.stage, RK_STAGE_PROFILE);
}

static void threads_and_names_are_told_apart(void **state)
{
    (void)state;
    const uint64_t chain[] = {RK_CHAIN_USER, AT(1, 1, 0)};
    struct rk_record comm = {.type = RK_RECORD_COMM, .bytes = 8, .data = (const unsigned char[8]){0}};
    struct rk_profile_builder *b = fake_builder();
    fake_feed_in(b, 100, 100, 0, 1, chain, 2);
    fake_feed_in(b, 100, 101, 0, 1, chain, 2);
    fake_comm = "renamed";
    assert_int_equal(rk_profile_builder_feed(b, a_stream, &comm), 0);
    fake_feed_in(b, 100, 101, 0, 1, chain, 2);
    fake_feed_in(b, 100, 101, 0, 1, chain, 2);
    fake_comm = "worker";
    struct rk_profile *p = fake_finish(b);
    assert_int_equal(summary(p).threads, 2);
    assert_int_equal(stacks(p), 3);
    struct rk_aggregate *names = NULL;
    assert_int_equal(rk_profile_aggregate(p, RK_PER_NAME, &names, NULL), 0);
    assert_int_equal(names->n, 2);
    assert_int_equal(names->self_samples[0], 2);
    rk_aggregate_free(names);
    assert_int_equal(rk_profile_aggregate(p, RK_PER_THREAD, &names, NULL), 0);
    assert_int_equal(names->n, 2);
    assert_string_equal(names->name[0], "renamed"); /* three samples, under its last name */
    assert_int_equal(names->self_samples[0], 3);
    rk_aggregate_free(names);
    assert_int_equal(rk_profile_aggregate(p, RK_PER_PROCESS, &names, NULL), 0);
    assert_int_equal(names->n, 1);
    assert_string_equal(names->name[0], "worker");
    rk_aggregate_free(names);
    rk_profile_free(p);
}

/* The same chain after the process mapped something else there is another stack. */
static void a_mapping_ends_what_was_remembered(void **state)
{
    (void)state;
    /* MMAP: u32 pid, tid; u64 addr, len, pgoff; char filename[8] */
    struct {
        uint64_t header;
        int32_t pid, tid;
        uint64_t words[3];
        char path[8];
    } body = {.pid = 100, .tid = 100, .path = "/x"};
    struct rk_record mmap = {.type = RK_RECORD_MMAP, .bytes = sizeof body, .data = (const void *)&body};
    struct rk_profile_builder *b = fake_builder();
    FEED(b, AT(1, 1, 0), AT(1, 0, 9));
    int finds = fake_finds;
    FEED(b, AT(1, 1, 0), AT(1, 0, 9));
    assert_int_equal(fake_finds, finds); /* remembered */
    fake_shift = UINT64_C(1) << 32;
    assert_int_equal(rk_profile_builder_feed(b, a_stream, &mmap), 0);
    FEED(b, AT(1, 1, 0), AT(1, 0, 9));
    body.pid = 55; /* another process's mapping changes nothing here */
    rk_profile_builder_feed(b, a_stream, &mmap);
    finds = fake_finds;
    FEED(b, AT(1, 1, 0), AT(1, 0, 9));
    assert_int_equal(fake_finds, finds);
    body.pid = -1; /* the kernel's does */
    rk_profile_builder_feed(b, a_stream, &mmap);
    FEED(b, AT(1, 1, 0), AT(1, 0, 9));
    assert_int_equal(fake_finds, finds + 1);
    fake_shift = 0;
    struct rk_profile *p = fake_finish(b);
    assert_int_equal(function(p, "m1_f1", "one").self, 2);
    assert_int_equal(function(p, "m2_f1", "two.so").self, 3);
    rk_profile_free(p);
}

static void the_summary_tells_the_loss(void **state)
{
    (void)state;
    struct rk_profile_builder *b = fake_builder();
    fake_sample.time = 995;
    fake_loss = (struct rk_loss){.size = sizeof fake_loss, .present = RK_LOSS_LOST, .kept = 2, .lost = 9};
    fake_cut = 1;
    FEED(b, AT(1, 1, 0));
    FEED(b, AT(1, 1, 0));
    struct rk_profile *p = fake_finish(b);
    assert_int_equal(summary(p).loss.lost, 9);
    assert_int_equal(summary(p).loss.present, RK_LOSS_LOST);
    assert_int_equal(summary(p).cut, 1);
    assert_int_equal(summary(p).first_time, 1000);
    assert_int_equal(summary(p).last_time, 1005);
    fake_cut = 0;
    rk_profile_free(p);
}

static void nothing_was_sampled(void **state)
{
    (void)state;
    struct rk_profile *p = fake_finish(fake_builder());
    assert_int_equal(functions(p), 0);
    assert_int_equal(stacks(p), 0);
    assert_int_equal(summary(p).samples, 0);
    assert_int_equal(summary(p).events, 0);
    assert_string_equal(summary(p).event, "cpu-clock"); /* what would have been sampled */
    rk_profile_free(p);
    assert_null(rk_profile_free(NULL));
    assert_null(rk_profile_builder_free(NULL));
    assert_int_equal(rk_profile_builder_feed(NULL, NULL, NULL), -EINVAL);
    assert_int_equal(rk_profile_builder_finish(NULL, NULL, &p, NULL), -EINVAL);
}

/* A builder goes on after each profile, with what it knows of mappings; the profiles have each their own samples. */
static void one_after_another(void **state)
{
    (void)state;
    struct rk_profile_builder *b = fake_builder();
    struct rk_profile *p = NULL, *q = NULL, *none = NULL;
    struct rk_error e = {.size = sizeof e};
    FEED(b, AT(1, 1, 0));
    FEED(b, AT(1, 1, 0));
    assert_int_equal(rk_profile_builder_finish(b, a_stream, NULL, &e), -EINVAL); /* nothing is lost by that */
    assert_int_equal(rk_profile_builder_finish(b, a_stream, &p, &e), 0);
    FEED(b, AT(1, 2, 0));
    assert_int_equal(rk_profile_builder_finish(b, a_stream, &q, &e), 0);
    assert_int_equal(rk_profile_builder_finish(b, a_stream, &none, &e), 0);
    rk_profile_builder_free(b);
    assert_int_equal(summary(p).samples, 2);
    assert_int_equal(function(p, "m1_f1", "one").self, 2);
    assert_int_equal(functions(p), 1);
    assert_int_equal(summary(q).samples, 1);
    assert_int_equal(function(q, "m1_f2", "one").self, 1);
    assert_int_equal(functions(q), 1);
    assert_int_equal(summary(none).samples, 0);
    assert_int_equal(functions(none), 0);
    rk_profile_free(p);
    rk_profile_free(q);
    rk_profile_free(none);
}

/* A bit or a number that would have no effect is refused, with a reason. */
static void options_without_effect(void **state)
{
    (void)state;
    struct rk_profile_options bits = {.size = sizeof bits, .flags = 1u << 20},
                              event = {.size = sizeof event, .event = 1},
                              wait = {.size = sizeof wait, .wait_ns = 1};
    struct rk_profile_builder *b = NULL;
    struct rk_error e = {.size = sizeof e};
    assert_int_equal(rk_profile_builder_open(&bits, &b, &e), -EINVAL);
    assert_non_null(strstr(e.what, "0x100000"));
    assert_int_equal(rk_profile_builder_open(&event, &b, &e), -EINVAL);
    assert_non_null(strstr(e.what, "RK_PROFILE_EVENT"));
    assert_int_equal(rk_profile_builder_open(&wait, &b, &e), -EINVAL);
    assert_non_null(strstr(e.what, "wait_ns"));
    assert_null(b);
}

/* Neither address nor chain nor thread: it counts, in no known place. */
static void a_bare_sample_counts(void **state)
{
    (void)state;
    struct rk_profile_builder *b = fake_builder();
    struct rk_record record = fake_record(2, 0);
    fake_sample = (struct rk_sample){.size = sizeof fake_sample};
    assert_int_equal(rk_profile_builder_feed(b, a_stream, &record), 1);
    struct rk_profile *p = fake_finish(b);
    assert_int_equal(function(p, "[unknown]", "[unknown]").self, 1);
    assert_int_equal(stack_at(p, 0).pid, -1);
    rk_profile_free(p);
}

static uint64_t random_state = 88172645463325252u;
static uint64_t random_below(uint64_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % n;
}

/* Random stacks, with recursion, against plain counting; and the order. */
static void random_stacks_add_up(void **state)
{
    enum { FUNCTIONS = 24, DEPTH = 30, SAMPLES = 20000 };
    uint64_t self[FUNCTIONS] = {0}, total[FUNCTIONS] = {0}, weight = 0;
    struct rk_profile_builder *b = fake_builder();
    (void)state;

    for (int i = 0; i < SAMPLES; i++) {
        uint64_t chain[DEPTH + 1] = {RK_CHAIN_USER}, period = 1 + random_below(5);
        size_t depth = 1 + random_below(1 + random_below(DEPTH));
        bool seen[FUNCTIONS] = {0};
        for (size_t k = 1; k <= depth; k++) {
            uint64_t f = random_below(1 + random_below(FUNCTIONS));
            chain[k] = AT(3, f, 1 + random_below(3));
            self[f] += k == 1 ? period : 0;
            total[f] += seen[f] ? 0 : period;
            seen[f] = true;
        }
        weight += period;
        fake_feed_in(b, 100, 100 + (int32_t)random_below(4), 0, period, chain, depth + 1);
    }
    struct rk_profile *p = fake_finish(b);
    assert_int_equal(summary(p).weight, weight);
    struct rk_profile_columns c = {.size = sizeof c};
    rk_profile_columns(p, &c);
    uint64_t stacks_weight = 0, stacks_samples = 0, last = 0;
    for (size_t i = 0; i < c.sample_n; i++) {
        stacks_weight += c.sample_weight[i];
        stacks_samples += c.sample_count[i];
        assert_true(c.sample_time[i] >= last);
        last = c.sample_time[i];
    }
    assert_int_equal(stacks_weight, weight);
    assert_int_equal(stacks_samples, SAMPLES);
    assert_int_equal(functions(p), FUNCTIONS);
    last = UINT64_MAX;
    struct rk_aggregate *a = NULL;
    assert_int_equal(rk_profile_aggregate(p, RK_PER_FUNCTION, &a, NULL), 0);
    for (size_t i = 0; i < a->n; i++) {
        int number = atoi(a->name[i] + 4);
        assert_int_equal(a->self[i], self[number]);
        assert_int_equal(a->total[i], total[number]);
        assert_true(a->self[i] <= last);
        last = a->self[i];
    }
    rk_aggregate_free(a);
    rk_profile_free(p);
}

/* A million samples of a thousand stacks hold what the thousand hold. */
static void memory_is_by_what_is_distinct(void **state)
{
    struct rk_profile_builder *b = fake_builder();
    uint64_t chains[1000][12];
    size_t nodes = 0, samples = 0;
    (void)state;

    for (size_t i = 0; i < 1000; i++) {
        chains[i][0] = RK_CHAIN_USER;
        for (size_t k = 1; k < 12; k++)
            chains[i][k] = AT(3, random_below(60), 1 + random_below(200));
    }
    for (size_t i = 0; i < 1000000; i++) {
        fake_feed_in(b, 100, 100, 0, 1, chains[i % 1000], 12);
        if (i == 999) {
            nodes = b->stacks.words.n;
            samples = b->cells.items.n;
        }
    }
    assert_int_equal(b->stacks.words.n, nodes);
    assert_int_equal(b->cells.items.n, samples);
    assert_true(b->slices.rows.n <= samples + SLICES_EXTRA);
    assert_true(samples <= 1000 && nodes <= 11000);
    struct rk_profile *p = fake_finish(b);
    assert_int_equal(summary(p).samples, 1000000);
    rk_profile_free(p);
}

/* A module of more frames than are named at once: the rest of them is named as well, inlined ones too. */
static void more_than_a_slice(void **state)
{
    enum { NAMED = 64 * 256, TIMES = NAME_SLICE / NAMED + 1 };
    struct rk_profile_builder *b = fake_builder();
    (void)state;
    for (uint64_t i = 0; i < TIMES * NAMED; i++) /* the fake ignores bits 24 to 31 of an offset */
        FEED(b, AT(3, 0, (i / NAMED) << 24 | i % NAMED));
    struct rk_profile *p = fake_finish(b);
    assert_int_equal(functions(p), 64 + 2);
    assert_int_equal(function(p, "m3_f0", "three.so").self, TIMES * 0x80);
    assert_int_equal(function(p, "m3_f63", "three.so").total, TIMES * 0x100);
    assert_int_equal(function(p, "deeper", "three.so").self, TIMES * 64 * 0x80);
    assert_int_equal(function(p, "inlined", "three.so").total, TIMES * 64 * 0x80);
    rk_profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(self_and_total),
        cmocka_unit_test(recursion_counts_once),
        cmocka_unit_test(inlined_functions_are_frames),
        cmocka_unit_test(lines_are_rows),
        cmocka_unit_test(a_return_address_names_the_caller),
        cmocka_unit_test(kernel_is_called_by_user),
        cmocka_unit_test(branches_that_are_callers),
        cmocka_unit_test(what_has_no_name_says_why),
        cmocka_unit_test(files_of_one_name_are_two),
        cmocka_unit_test(weight_is_the_period),
        cmocka_unit_test(one_event_alone),
        cmocka_unit_test(threads_and_names_are_told_apart),
        cmocka_unit_test(a_mapping_ends_what_was_remembered),
        cmocka_unit_test(the_summary_tells_the_loss),
        cmocka_unit_test(nothing_was_sampled),
        cmocka_unit_test(one_after_another),
        cmocka_unit_test(options_without_effect),
        cmocka_unit_test(a_bare_sample_counts),
        cmocka_unit_test(random_stacks_add_up),
        cmocka_unit_test(memory_is_by_what_is_distinct),
        cmocka_unit_test(more_than_a_slice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The page: what web/data.js would read, read here, so that each number is known; and names that would be more. */
#include "../profile/fake.h"
#include "codec/deflate.h"
#include "export/page.h"
#include "sink.h"

/* ---- the block, taken out of the page and read ---- */

static unsigned char block[1 << 16];
static size_t block_n, at;

static int digit(char c)
{
    const char *all = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
               *found = strchr(all, c);
    return c && found ? (int)(found - all) : -1;
}

/* Base64 of gzip. */
static void unpack(const char *from, size_t n)
{
    uint32_t bits = 0, digits = 0;
    void *unpacked;

    assert_int_equal(n % 4, 0);
    block_n = at = 0;
    for (size_t i = 0; i < n && from[i] != '='; i++) {
        assert_true(digit(from[i]) >= 0);
        bits = bits << 6 | (uint32_t)digit(from[i]);
        if (++digits % 4 != 1)
            block[block_n++] = (unsigned char)(bits >> (digits % 4 == 2 ? 4 : digits % 4 == 3 ? 2 : 0));
        assert_true(block_n < sizeof block);
    }
    assert_int_equal(n - digits, (4 - digits % 4) % 4);
    assert_int_equal(gzip_decode(block, block_n, sizeof block, &unpacked, &block_n), 0);
    memcpy(block, unpacked, block_n);
    free(unpacked);
}

static void take_block(void)
{
    assert_true(written_n > page_head_size + page_tail_size);
    assert_memory_equal(written, page_head, page_head_size);
    assert_memory_equal(written + written_n - page_tail_size, page_tail, page_tail_size);
    unpack(written + page_head_size, written_n - page_head_size - page_tail_size);
}

static uint64_t number(void)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        assert_true(at < block_n && shift < 64);
        value |= (uint64_t)(block[at] & 127) << shift;
        if (block[at++] < 128)
            return value;
    }
}

#define MOST 64
struct read {
    char facts[4096];
    char strings[MOST][6000];
    int short_of[MOST]; /* 0: none */
    char brief[MOST][4096];
    uint64_t string_n, module_n, frame_n, thread_n, node_n, sides;
    uint64_t module_name[MOST], kernel[MOST];
    uint64_t name[MOST], module[MOST], file[MOST], line[MOST], kind[MOST];
    uint64_t thread_name[MOST], source[MOST], pid[MOST], tid[MOST];
    uint64_t up[MOST], frame[MOST], depth[MOST];
    uint64_t buckets, start, width;
    uint64_t side_event[4], side_before[4], period[4], samples[4], weight[4], entries[4];
    uint64_t by_node[4][MOST]; /* samples */
    uint64_t last_bucket[4];
};
static struct read page;

static void column(uint64_t *to, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        to[i] = number();
}

static void take_strings(void)
{
    page.string_n = number();
    assert_true(page.string_n < MOST);
    uint64_t length[MOST];
    column(length, page.string_n);
    for (uint64_t i = 0; i < page.string_n; i++) {
        assert_true(length[i] < sizeof page.strings[0] && at + length[i] <= block_n);
        memcpy(page.strings[i], block + at, length[i]);
        page.strings[i][length[i]] = '\0';
        at += length[i];
        assert_true(i == 0 || strcmp(page.strings[i - 1], page.strings[i]) < 0);
    }
}

static void take_short(void)
{
    uint64_t length[MOST], n = number();

    assert_true(n <= page.string_n);
    for (uint64_t i = 0, s = 0; i < n; i++) {
        s += number();
        assert_true(s < page.string_n);
        page.short_of[s] = (int)i + 1;
    }
    column(length, n);
    for (uint64_t i = 0; i < n; i++) {
        assert_true(length[i] < sizeof page.brief[0] && at + length[i] <= block_n);
        memcpy(page.brief[i], block + at, length[i]);
        at += length[i];
    }
}

static void take_side(unsigned s)
{
    page.side_event[s] = number();
    page.side_before[s] = number();
    page.period[s] = number();
    uint64_t group_n = number(), row_n = number(), most = number();
    for (uint64_t t = 0; t < page.thread_n; t++)
        for (uint64_t groups = number(), bucket = 0; groups > 0; groups--) {
            bucket += number();
            assert_true(bucket < page.buckets);
            page.last_bucket[s] = bucket > page.last_bucket[s] ? bucket : page.last_bucket[s];
            for (uint64_t n = number(), node = 0; n > 0; n--) {
                uint64_t step = number(), samples = step & 1 ? number() : 1;
                node += step >> 1;
                assert_true(node < page.node_n && samples > 0 && samples <= most);
                assert_true(samples != 1 || !(step & 1));
                page.samples[s] += samples;
                page.weight[s] += page.period[s] ? samples * page.period[s] : number();
                page.by_node[s][node] += samples;
                page.entries[s]++;
            }
            group_n--;
        }
    assert_int_equal(group_n, 0);
    assert_int_equal(page.entries[s], row_n);
}

static void take_written(void)
{
    memset(&page, 0, sizeof page);
    take_block();
    assert_int_equal(number(), 3);
    uint64_t n = number();
    assert_true(n < sizeof page.facts && at + n <= block_n);
    memcpy(page.facts, block + at, n);
    at += n;
    take_strings();
    take_short();
    page.module_n = number();
    column(page.module_name, page.module_n);
    column((uint64_t[MOST]){0}, page.module_n);
    column(page.kernel, page.module_n);
    page.frame_n = number();
    column(page.name, page.frame_n);
    column(page.module, page.frame_n);
    column(page.file, page.frame_n);
    column(page.line, page.frame_n);
    column(page.kind, page.frame_n);
    for (uint64_t f = 0; f < page.frame_n; f++)
        for (uint64_t lines = number(); lines > 0; lines--)
            column((uint64_t[2]){0}, 2);
    page.thread_n = number();
    column(page.thread_name, page.thread_n);
    column(page.source, page.thread_n);
    column(page.pid, page.thread_n);
    column(page.tid, page.thread_n);
    page.node_n = number();
    assert_true(page.node_n < MOST);
    column(page.up, page.node_n);
    column(page.frame, page.node_n);
    for (uint64_t i = 0; i < page.node_n; i++)
        page.frame[i] = (i ? page.frame[i - 1] : 0) + (page.frame[i] >> 1 ^ -(page.frame[i] & 1));
    for (uint64_t i = 0; i < page.node_n; i++)
        page.depth[i] = (i ? page.depth[i - 1] : 0) + 1 - page.up[i];
    page.buckets = number();
    page.start = number();
    page.width = number();
    page.sides = number();
    assert_true(page.sides <= 4);
    for (unsigned s = 0; s < page.sides; s++)
        take_side(s);
    assert_int_equal(at, block_n);
}

static void take_page(const struct rk_profile *p)
{
    forget();
    assert_int_equal(rk_profile_export(p, "html", &text_sink, NULL), 0);
    take_written();
}

static const char *name_of(uint64_t node)
{
    return page.strings[page.name[page.frame[node]]];
}

/* ---- tests ---- */

static void a_small_profile(void **state)
{
    struct rk_profile_builder *b = fake_builder();
    const uint64_t chain[] = {RK_CHAIN_USER, AT(2, 1, 0x10), AT(1, 0, 0x11)};
    (void)state;
    fake_sample.time = 0;
    FEED(b, AT(2, 1, 0x10), AT(1, 0, 0x11));
    FEED(b, AT(2, 1, 0x20), AT(1, 0, 0x15)); /* other addresses of the same functions */
    fake_feed_in(b, 100, 101, 0, 4, chain, 3);
    FEED(b, AT(6, 1, 0x20), AT(1, 0, 0x11)); /* without a name */
    fake_loss = (struct rk_loss){.size = sizeof fake_loss, .present = RK_LOSS_LOST, .kept = 4, .lost = 3};
    struct rk_profile *p = fake_finish(b);
    take_page(p);

    assert_int_equal(page.frame_n, 3);
    assert_int_equal(page.thread_n, 2);
    assert_int_equal(page.node_n, 3);
    assert_string_equal(name_of(0), "m1_f0");
    assert_string_equal(name_of(1), "m2_f1"); /* the heaviest child comes first */
    assert_string_equal(name_of(2), "[unknown]");
    assert_int_equal(page.kind[page.frame[2]] >> 1, RK_MISS_STRIPPED);
    assert_int_equal(page.depth[0], 1);
    assert_int_equal(page.depth[1], 2);
    assert_int_equal(page.depth[2], 2);
    assert_string_equal(page.strings[page.module_name[page.module[page.frame[1]]]], "two.so");
    assert_int_equal(page.sides, 1);
    assert_int_equal(page.period[0], 0); /* one weighs 4, the others 1 */
    assert_int_equal(page.samples[0], 4);
    assert_int_equal(page.weight[0], 7);
    assert_int_equal(page.by_node[0][1], 3);
    assert_int_equal(page.by_node[0][2], 1);
    assert_non_null(strstr(page.facts, "\"events\":[{\"name\":\"cpu-clock\""));
    assert_non_null(strstr(page.facts, "\"samples\":4,\"weight\":7,\"lost\":3,\"skipped\":null}"));
    assert_non_null(strstr(page.facts, "it has no symbol table"));
    assert_int_equal(page.pid[0], 200); /* zigzag */
    rk_profile_free(p);
    fake_loss = (struct rk_loss){0};
}

static void samples_of_one_weight(void **state)
{
    struct rk_profile_builder *b = fake_builder();
    const uint64_t chain[] = {RK_CHAIN_USER, AT(2, 1, 0x10), AT(1, 0, 0x11)};
    (void)state;
    fake_sample.time = 1000;
    for (int i = 0; i < 1000; i++)
        fake_feed_in(b, 100, 100 + i % 2, 0, 250, chain, 3);
    struct rk_profile *p = fake_finish(b);
    take_page(p);
    assert_int_equal(page.period[0], 250);
    assert_int_equal(page.samples[0], 1000);
    assert_int_equal(page.buckets, 125); /* eight samples in each */
    assert_int_equal(page.entries[0], 250);
    assert_int_equal(page.start, 1005);
    assert_int_equal(page.width, 40);
    rk_profile_free(p);
}

static void two_events_are_two_sides(void **state)
{
    struct rk_profile_builder *b = fake_builder();
    const uint64_t chain[] = {RK_CHAIN_USER, AT(2, 1, 0x10), AT(1, 0, 0x11)};
    (void)state;
    fake_feed_in(b, 100, 100, 0, 5, chain, 3);
    fake_feed_in(b, 100, 100, 1, 7, chain, 3);
    fake_feed_in(b, 100, 100, 1, 7, chain, 3);
    struct rk_profile *p = fake_finish(b);
    take_page(p);
    assert_int_equal(page.sides, 2);
    assert_int_equal(page.samples[0], 1);
    assert_int_equal(page.samples[1], 2);
    assert_int_equal(page.weight[1], 14);
    assert_int_equal(page.side_event[1], 1);
    rk_profile_free(p);
}

static void recursion_and_deep_stacks(void **state)
{
    struct rk_profile_builder *b = fake_builder();
    uint64_t chain[40] = {RK_CHAIN_USER};
    (void)state;
    for (int i = 1; i < 40; i++)
        chain[i] = AT(2, i % 2, 0x11);
    fake_feed_in(b, 1, 1, 0, 1, chain, 40);
    fake_feed_in(b, 1, 1, 0, 1, chain, 30); /* its outermost frames are the other one's innermost */
    struct rk_profile *p = fake_finish(b);
    take_page(p);
    assert_int_equal(page.frame_n, 2);
    for (uint64_t i = 0; i < 39; i++)
        assert_int_equal(page.depth[i], i + 1);
    assert_int_equal(page.by_node[0][38], 1);
    rk_profile_free(p);
}

static size_t count(const char *part)
{
    size_t n = 0;
    for (const char *found = written; (found = strstr(found, part)); found++)
        n++;
    return n;
}

/* A function's short name is with it, where it has one. */
static void short_names(void **state)
{
    static const char *const names[][2] = {{"main", "main"},
                                           {"std::vector<int>::push(int&&)", "std::vector::push"},
                                           {"core::num::<impl u64>::pow", "u64::pow"}};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct rk_profile_builder *b = fake_builder();
        fake_name = names[i][0];
        FEED(b, AT(4, 1, 0x10));
        struct rk_profile *p = fake_finish(b);
        take_page(p);
        int brief = page.short_of[page.name[page.frame[0]]];
        assert_string_equal(name_of(0), names[i][0]);
        assert_string_equal(brief ? page.brief[brief - 1] : name_of(0), names[i][1]);
        rk_profile_free(p);
    }
    fake_name = NULL;
}

static void names_are_never_more(void **state)
{
    static const char *const names[] = {"</script><script>a()</script>",
                                        "\"><img src=x onerror=a()>",
                                        "a\nb\r\x01\x7f",
                                        "\xff\xfe\xc0\xaf",
                                        "<!--",
                                        "@DATA@",
                                        "\xe2\x80\xae"};
    struct rk_profile *empty = fake_finish(fake_builder());
    (void)state;
    take_page(empty);
    size_t scripts = count("</script"), tags = count("<");
    rk_profile_free(empty);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct rk_profile_builder *b = fake_builder();
        fake_name = fake_comm = names[i];
        FEED(b, AT(4, 1, 0x10));
        struct rk_profile *p = fake_finish(b);
        take_page(p);
        assert_int_equal(count("</script"), scripts);
        assert_int_equal(count("<"), tags);
        assert_string_equal(name_of(0), names[i]); /* as it was */
        assert_string_equal(page.strings[page.thread_name[0]], names[i]);
        rk_profile_free(p);
    }
    fake_name = NULL;
    fake_comm = "worker";
}

static void an_empty_profile(void **state)
{
    struct rk_profile *p = fake_finish(fake_builder());
    (void)state;
    take_page(p);
    assert_int_equal(page.node_n, 0);
    assert_int_equal(page.buckets, 1);
    assert_true(page.sides <= 1);
    rk_profile_free(p);
}

static void a_pair(void **state)
{
    struct rk_profile_builder *b = fake_builder();
    const uint64_t one[] = {RK_CHAIN_USER, AT(2, 1, 0x10), AT(1, 0, 0x11)};
    const uint64_t two[] = {RK_CHAIN_USER, AT(2, 2, 0x10), AT(1, 0, 0x11)};
    struct rk_error e = {.size = sizeof e};
    (void)state;
    fake_feed_in(b, 1, 1, 0, 3, one, 3);
    struct rk_profile *before = fake_finish(b), *after;
    b = fake_builder();
    fake_feed_in(b, 2, 2, 0, 3, two, 3);
    fake_feed_in(b, 2, 2, 0, 3, two, 3);
    after = fake_finish(b);

    forget();
    assert_int_equal(rk_profile_pair_export(before, after, RK_NORMALISE_WEIGHT, "html", &text_sink, NULL), 0);
    SAME_BY_TWINS(rk_profile_pair_export, before, after, RK_NORMALISE_WEIGHT, "html");
    take_block();
    size_t all = block_n;
    assert_true(all > 100);
    assert_non_null(memmem(block, block_n, "\"samples\":2,\"weight\":6", 22));
    assert_non_null(memmem(block, block_n, "\"before\":1,\"before_weight\":3}", 29));
    assert_non_null(strstr((const char *)block, "\"normalise\":\"weight\",\"scale\":1,"));
    forget();
    assert_int_equal(rk_profile_pair_export(before, after, RK_NORMALISE_NONE, "html", &text_sink, NULL), 0);
    take_block();
    assert_non_null(strstr((const char *)block, "\"normalise\":\"none\",\"scale\":1,"));
    assert_int_equal(rk_profile_pair_export(before, after, 0, "csv", &text_sink, &e), -EINVAL);
    assert_int_equal(rk_profile_pair_export(before, after, 3, "html", &text_sink, &e), -EINVAL);
    assert_int_equal(rk_profile_pair_export(NULL, after, 0, "html", &text_sink, &e), -EINVAL);
    assert_int_equal(rk_profile_pair_export(before, NULL, 0, "html", &text_sink, &e), -EINVAL);
    rk_profile_free(before);
    rk_profile_free(after);
}

/* One run long after the other, and twice as long: both begin at the time line's begin. */
static void a_pair_has_a_time_line(void **state)
{
    struct rk_profile *sides[2];
    (void)state;
    for (uint64_t k = 0; k < 2; k++) {
        struct rk_profile_builder *b = fake_builder();
        for (uint64_t i = 0; i < 400 * (k + 1); i++) {
            const uint64_t chain[] = {RK_CHAIN_USER, AT(2, 1 + i % 2, 0x10), AT(1, 0, 0x11)};
            fake_sample.time = 1000000 + k * 900000000 + i * 1000;
            fake_feed_in(b, 1 + (int32_t)k, 1 + (int32_t)k, 0, 3, chain, 3);
        }
        sides[k] = fake_finish(b);
    }
    forget();
    assert_int_equal(
        rk_profile_pair_export(sides[0], sides[1], RK_NORMALISE_WEIGHT, "html", &text_sink, NULL), 0);
    take_written();
    assert_int_equal(page.sides, 2);
    assert_in_range(page.buckets, 64, 200);
    assert_int_equal(page.samples[0], 800);
    assert_int_equal(page.samples[1], 400);
    assert_int_equal(page.side_before[1], 1);
    assert_in_range(page.last_bucket[0], page.buckets - 2, page.buckets - 1);
    assert_in_range(page.last_bucket[1], page.buckets / 2 - 2, page.buckets / 2 + 1);
    rk_profile_free(sides[0]);
    rk_profile_free(sides[1]);
}

static void errors(void **state)
{
    struct rk_profile *p = fake_finish(fake_builder());
    struct rk_error e = {.size = sizeof e};
    int code = -ENOSPC;
    const struct rk_sink full = {sizeof full, 0, write_nothing, &code};
    (void)state;
    assert_int_equal(rk_profile_export(p, "html", &full, &e), -ENOSPC);
    assert_int_equal(e.cause, RK_CAUSE_NO_SPACE);
    assert_int_equal(rk_profile_pair_export(p, p, 0, "html", &full, &e), -ENOSPC);
    rk_profile_free(p);
}

static void unpack_pen(struct page_pen *pen)
{
    struct output out = output_to(&text_sink);

    forget();
    assert_int_equal(page_write(pen, &out), 0);
    assert_int_equal(output_end(&out), 0);
    unpack(written, written_n);
    page_pen_free(pen);
}

static void the_pen(void **state)
{
    static const uint64_t numbers[] = {0, 1, 127, 128, 16383, 16384, UINT32_MAX, UINT64_MAX};
    static const unsigned char wanted[] =
        "\x00\x01\x7f\x80\x01\xff\x7f\x80\x80\x01\xff\xff\xff\xff\x0f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
        "\x01\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
    struct page_pen pen = {0};
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        page_number(&pen, numbers[i]);
    page_signed(&pen, -1);
    page_signed(&pen, 1);
    page_signed(&pen, INT64_MIN);
    unpack_pen(&pen);
    assert_int_equal(block_n, sizeof wanted - 1);
    assert_memory_equal(block, wanted, block_n);
    for (size_t n = 0; n < 7; n++) { /* however many are left of a group of three */
        page_bytes(&pen, "Mannish", n);
        unpack_pen(&pen);
        assert_int_equal(block_n, n);
        assert_memory_equal(block, "Mannish", n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_pen),
        cmocka_unit_test(a_small_profile),
        cmocka_unit_test(samples_of_one_weight),
        cmocka_unit_test(two_events_are_two_sides),
        cmocka_unit_test(recursion_and_deep_stacks),
        cmocka_unit_test(short_names),
        cmocka_unit_test(names_are_never_more),
        cmocka_unit_test(an_empty_profile),
        cmocka_unit_test(a_pair),
        cmocka_unit_test(a_pair_has_a_time_line),
        cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

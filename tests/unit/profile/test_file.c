/* Profiles that others wrote: folded stacks and pprof, well formed and not. */
#include "profile/file.h"

#include <reckon/symbol.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static struct rk_profile *folded(const char *text, uint64_t expected_damaged)
{
    struct rk_profile *p = NULL;
    uint64_t damaged = 99;
    assert_int_equal(folded_read(text, strlen(text), &p, &damaged), 0);
    assert_int_equal(damaged, expected_damaged);
    return p;
}

static uint64_t self_of(const struct rk_profile *p, const char *name, uint64_t *ret_total)
{
    struct rk_aggregate *a = NULL;
    uint64_t self = UINT64_MAX;
    assert_int_equal(rk_profile_aggregate(p, RK_PER_FUNCTION, &a, NULL), 0);
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->name[i], name) == 0) {
            self = a->self[i];
            *ret_total = a->total[i];
        }
    rk_aggregate_free(a);
    return self;
}

static void folded_stacks(void **state)
{
    uint64_t total = 0;
    (void)state;
    struct rk_profile *p =
        folded("main;a;b 3\nmain;a 2\r\n# a comment\n\nmain;a b (c);a;b 1.75\nmain;[libx.so];k_[k] 4", 0);
    assert_int_equal(p->summary.samples, 3 + 2 + 1 + 4);
    assert_int_equal(self_of(p, "b", &total), 4);
    assert_int_equal(self_of(p, "a", &total), 2);
    assert_int_equal(total, 6);
    assert_int_equal(self_of(p, "main", &total), 0);
    assert_int_equal(total, 10);
    assert_int_equal(self_of(p, "k", &total), 4);
    assert_int_equal(self_of(p, "[unknown]", &total), 0);
    assert_int_equal(total, 4);
    assert_string_equal(p->summary.event, "samples");
    assert_int_equal(p->summary.slice_ns, 0);
    rk_profile_free(p);
}

static void folded_damage(void **state)
{
    struct rk_profile *p = folded("a;b 1\nno count\na;b x\na 99999999999999999999\n 5\na;b -3\nok 2\n", 5);
    uint64_t damaged = 0;
    (void)state;
    assert_int_equal(p->summary.samples, 3);
    rk_profile_free(p);
    p = NULL;
    assert_int_equal(folded_read("nothing\n", 8, &p, &damaged), -EBADMSG);
    assert_int_equal(folded_read("", 0, &p, &damaged), -EBADMSG);
    assert_null(p);
    assert_true(folded_is("a;b 1\n", 6) && folded_is("main 12", 7));
    assert_false(folded_is("a;b\n", 4) || folded_is("", 0) || folded_is("\1\2 3\n", 5) ||
                 folded_is(" 5\n", 3));
}

/* A message by hand: key, length, bytes. */
struct bytes {
    unsigned char at[4096];
    size_t n;
};

static void number(struct bytes *b, unsigned field, uint64_t value)
{
    b->at[b->n++] = (unsigned char)(field << 3);
    for (; value >= 0x80; value >>= 7)
        b->at[b->n++] = (unsigned char)(value | 0x80);
    b->at[b->n++] = (unsigned char)value;
}

static void bytes(struct bytes *b, unsigned field, const void *data, size_t n)
{
    assert_true(n < 128);
    b->at[b->n++] = (unsigned char)(field << 3 | 2);
    b->at[b->n++] = (unsigned char)n;
    memcpy(b->at + b->n, data, n);
    b->n += n;
}

static void pair(struct bytes *b, unsigned field, unsigned first, uint64_t x, unsigned second, uint64_t y)
{
    struct bytes m = {0};
    number(&m, first, x);
    number(&m, second, y);
    bytes(b, field, m.at, m.n);
}

/* One profile: two types, a location of two lines, one of none, labels; strings last, as any order is allowed. */
static struct bytes message(void)
{
    struct bytes b = {0}, m = {0}, line = {0};
    static const char *const strings[] = {"",       "samples", "count", "cpu",          "microseconds",
                                          "inner",  "outer",   "x.c",   "/lib/libx.so", "thread",
                                          "worker", "tid"};
    pair(&b, 1, 1, 1, 2, 2);                         /* samples/count */
    pair(&b, 1, 1, 3, 2, 4);                         /* cpu/microseconds */
    bytes(&m, 1, (const unsigned char[]){7, 9}, 2);  /* locations, packed: 7 inside of 9 */
    bytes(&m, 2, (const unsigned char[]){3, 30}, 2); /* values */
    pair(&m, 3, 1, 9, 2, 10);                        /* thread: worker */
    pair(&m, 3, 1, 11, 3, 77);                       /* tid: 77 */
    bytes(&b, 2, m.at, m.n);
    m.n = 0;
    number(&m, 1, 9); /* the same, not packed */
    number(&m, 2, 1);
    number(&m, 2, 10);
    bytes(&b, 2, m.at, m.n);
    m.n = 0;
    number(&m, 1, 7);
    number(&m, 2, 1);
    number(&line, 1, 1);
    number(&line, 2, 12);
    bytes(&m, 4, line.at, line.n); /* inner, at line 12 … */
    line.n = 0;
    number(&line, 1, 2);
    number(&line, 2, 40);
    bytes(&m, 4, line.at, line.n); /* … inlined into outer */
    bytes(&b, 4, m.at, m.n);
    pair(&b, 4, 1, 9, 2, 1); /* location 9: no function is known */
    pair(&b, 3, 1, 1, 5, 8);
    m.n = 0;
    number(&m, 1, 1);
    number(&m, 2, 5);
    number(&m, 4, 7);
    bytes(&b, 5, m.at, m.n);
    m.n = 0;
    number(&m, 1, 2);
    number(&m, 2, 6);
    number(&m, 4, 7);
    bytes(&b, 5, m.at, m.n);
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        bytes(&b, 6, strings[i], strlen(strings[i]));
    return b;
}

static void pprof(void **state)
{
    struct bytes b = message();
    struct rk_profile *p = NULL;
    uint64_t damaged = 99, total = 0;
    (void)state;
    assert_int_equal(pprof_read(b.at, b.n, &p, &damaged, NULL), 0);
    assert_int_equal(damaged, 0);
    assert_int_equal(p->summary.samples, 4);
    assert_int_equal(p->summary.weight, 40000);
    assert_string_equal(p->summary.event, "cpu");
    assert_string_equal(p->summary.unit, "ns");
    assert_int_equal(self_of(p, "inner", &total), 30000);
    assert_int_equal(self_of(p, "outer", &total), 0);
    assert_int_equal(total, 30000);
    assert_int_equal(self_of(p, "[unknown]", &total), 10000);
    assert_int_equal(total, 40000);
    const struct rk_profile_columns *c = &p->columns;
    uint32_t path[8];
    size_t row = c->sample_weight[0] == 30000 ? 0 : 1;
    assert_int_equal(rk_profile_path(p, c->sample_node[row], path, 8), 3);
    assert_string_equal(c->text[c->frame_module[path[0]]], "libx.so");
    assert_string_equal(c->text[c->frame_path[path[0]]], "/lib/libx.so");
    assert_int_equal(c->frame_miss[path[0]], RK_MISS_NO_SYMBOL);
    assert_int_equal(c->frame_flags[path[1]], 0);
    assert_int_equal(c->frame_flags[path[2]], RK_FRAME_INLINE);
    assert_int_equal(c->frame_line[path[2]], 12);
    assert_string_equal(c->text[c->frame_file[path[2]]], "x.c");
    assert_string_equal(c->text[c->thread_name[c->sample_thread[row]]], "worker");
    assert_int_equal(c->thread_tid[c->sample_thread[row]], 77);
    rk_profile_free(p);
}

/* Cut at every byte: what stands before is kept, or it is refused; nothing is invented. */
static void pprof_cut(void **state)
{
    struct bytes b = message();
    (void)state;
    for (size_t n = 0; n < b.n; n++) {
        unsigned char *exact = malloc(n + 1); /* so that a sanitizer sees a read behind it */
        struct rk_profile *p = NULL;
        uint64_t damaged = 0;
        memcpy(exact, b.at, n);
        unsigned char *copy = realloc(exact, n ? n : 1);
        int rc = pprof_read(copy, n, &p, &damaged, NULL);
        assert_true(rc == 0 || rc == -EBADMSG);
        if (rc == 0) {
            assert_true(p->summary.weight <= 40000);
            rk_profile_free(p);
        }
        free(copy);
    }
}

/* Few bytes that stand for billions of frames: a location of many lines, and a sample that names it again and again. */
static void pprof_that_means_harm(void **state)
{
    enum { LINES = 3000, PLACES = 300000 };
    unsigned char *b = malloc(LINES * 6 + PLACES + 4096), *at = b;
    struct rk_profile *p = NULL;
    uint64_t damaged = 0;
    (void)state;
    *at++ = 1 << 3 | 2, *at++ = 4, *at++ = 1 << 3, *at++ = 1, *at++ = 2 << 3, *at++ = 1;
    size_t n = LINES * 4 + 2;
    *at++ = 4 << 3 | 2, *at++ = (unsigned char)(n | 0x80), *at++ = (unsigned char)(n >> 7);
    *at++ = 1 << 3, *at++ = 1;
    for (int i = 0; i < LINES; i++)
        *at++ = 4 << 3 | 2, *at++ = 2, *at++ = 1 << 3, *at++ = (unsigned char)(i % 100);
    for (int k = 0; k < 3; k++) {
        size_t inner = PLACES / 3, all = inner + 4 + 3;
        *at++ = 2 << 3 | 2, *at++ = (unsigned char)(all | 0x80), *at++ = (unsigned char)(all >> 7 | 0x80),
        *at++ = (unsigned char)(all >> 14);
        *at++ = 1 << 3 | 2, *at++ = (unsigned char)(inner | 0x80), *at++ = (unsigned char)(inner >> 7 | 0x80),
        *at++ = (unsigned char)(inner >> 14);
        memset(at, 1, inner);
        at += inner;
        *at++ = 2 << 3 | 2, *at++ = 1, *at++ = 5;
    }
    memcpy(at, "\x32\x00\x32\x01x", 5);
    at += 5;
    int rc = pprof_read(b, (size_t)(at - b), &p, &damaged, NULL);
    assert_true(rc == -EBADMSG || (rc == 0 && damaged > 0));
    rk_profile_free(p);
    free(b);
}

static void waiting_is_for_live_streams(void **state)
{
    (void)state;
    struct rk_profile_options wait = {.size = sizeof wait, .wait_ns = 1};
    struct rk_profile *p = NULL;
    struct rk_error e = {.size = sizeof e};
    assert_int_equal(rk_profile_file("/dev/null", &wait, &p, NULL, &e), -EINVAL);
    assert_non_null(strstr(e.what, "wait_ns"));
    assert_null(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folded_stacks),
        cmocka_unit_test(folded_damage),
        cmocka_unit_test(pprof),
        cmocka_unit_test(pprof_cut),
        cmocka_unit_test(waiting_is_for_live_streams),
        cmocka_unit_test(pprof_that_means_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

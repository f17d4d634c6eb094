/* The index against the plain reading of its rules, on random tables; and the rules one by one. */
#include "symbol/index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed = 88172645463325252u;

static uint32_t chance(uint32_t below)
{
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (uint32_t)((seed >> 20) % below);
}

static char names[1 << 16];

/* "n12_7", so that some begin with underscores and lengths differ. */
static uint32_t make_name(uint32_t i)
{
    static const char *const before[] = {"", "", "_", "__", "abc"};
    uint32_t at = i * 16;
    snprintf(names + at, 16, "%sn%u", before[chance(5)], i);
    return at;
}

static bool model_better(const struct candidate *a, const struct candidate *b)
{
    if (a->rank != b->rank)
        return a->rank > b->rank;
    const char *x = names + a->name, *y = names + b->name;
    size_t ux = strspn(x, "_"), uy = strspn(y, "_");
    if (ux != uy)
        return ux < uy;
    if (strlen(x) != strlen(y))
        return strlen(x) > strlen(y);
    return strcmp(x, y) < 0;
}

static bool covered(const struct candidate *c, uint32_t n, uint64_t address)
{
    for (uint32_t i = 0; i < n; i++)
        if (c[i].rank & RANK_SIZED && c[i].start <= address && address < c[i].end)
            return true;
    return false;
}

/* What the header says, slowly: of the sized that cover the address the one that starts last; of several there the
 * best; where none is, the last that starts before it, up to its limit. */
static const struct candidate *model(const struct candidate *c, uint32_t n, uint64_t address)
{
    const struct candidate *found = NULL, *at = NULL;

    for (uint32_t i = 0; i < n; i++)
        if (c[i].rank & RANK_SIZED && c[i].start <= address && address < c[i].end &&
            (!found || c[i].start > found->start ||
             (c[i].start == found->start && model_better(&c[i], found))))
            found = &c[i];
    if (found)
        return found;
    for (uint32_t i = 0; i < n; i++)
        if (c[i].start <= address &&
            (!at || c[i].start > at->start || (c[i].start == at->start && model_better(&c[i], at))))
            at = &c[i];
    if (!at || at->rank == RANK_BOUNDARY || at->rank & RANK_SIZED || address >= at->end ||
        covered(c, n, at->start))
        return NULL;
    return at;
}

/* Of the sized at one start only the best and the widest are kept: a third one never covers what they don't, but
 * might have been the better name. Tables don't have that; here it is made sure of. */
static bool too_many(const struct candidate *c, uint32_t n, uint64_t start)
{
    uint32_t sized = 0;
    for (uint32_t i = 0; i < n; i++)
        sized += c[i].start == start && c[i].rank & RANK_SIZED;
    return sized >= 2;
}

static void as_the_rules_say(void **state)
{
    (void)state;
    unsigned asked = 0, named = 0;

    for (unsigned round = 0; round < 400; round++) {
        struct candidate c[200], shuffled[200];
        uint32_t n = 1 + chance(round % 4 ? 30 : 199), span = round % 3 ? 400 : 60;
        uint64_t base = round % 2 ? UINT64_C(0xffffffff81000000) : 4096;
        for (uint32_t i = 0; i < n;) {
            uint64_t start = base + chance(span);
            if (too_many(c, i, start))
                continue;
            c[i].start = start;
            c[i].end = start + 1 + chance(chance(4) ? 12 : 90);
            c[i].name = make_name(i);
            c[i].rank = chance(8) == 0
                            ? RANK_BOUNDARY
                            : 1 + chance(3) + (chance(2) ? RANK_FUNCTION : 0) + (chance(2) ? RANK_SIZED : 0);
            i++;
        }
        memcpy(shuffled, c, sizeof c);
        for (uint32_t i = n; i > 1; i--) {
            uint32_t j = chance(i);
            struct candidate swap = shuffled[i - 1];
            shuffled[i - 1] = shuffled[j], shuffled[j] = swap;
        }
        struct index index, other;
        assert_int_equal(index_build(&other, shuffled, n, names), 0);
        assert_int_equal(index_build(&index, memcpy(shuffled, c, sizeof c), n, names), 0);
        for (uint64_t address = base - 3; address < base + span + 100; address++, asked++) {
            const struct index_entry *entry = index_find(&index, address),
                                     *same = index_find(&other, address);
            const struct candidate *wanted = model(c, n, address);
            assert_int_equal(!!entry, !!wanted);
            assert_int_equal(!!entry, !!same);
            if (!entry)
                continue;
            assert_string_equal(names + entry->name, names + wanted->name);
            assert_int_equal(entry->start, wanted->start);
            assert_string_equal(names + entry->name, names + same->name);
            named++;
        }
        for (uint64_t address = base - 3; address < base + span + 100;
             address += INDEX_BATCH) { /* by the batch, the same */
            uint64_t addresses[INDEX_BATCH];
            const struct index_entry *entries[INDEX_BATCH];
            uint32_t some = 1 + chance(INDEX_BATCH);
            for (uint32_t i = 0; i < some; i++)
                addresses[i] = address + (i * 7) % INDEX_BATCH;
            index_find_all(&index, addresses, some, entries);
            for (uint32_t i = 0; i < some; i++)
                assert_ptr_equal(entries[i], index_find(&index, addresses[i]));
        }
        index_free(&index);
        index_free(&other);
    }
    assert_true(named > asked / 4 && named < asked);
}

static void none_and_one(void **state)
{
    (void)state;
    struct index index;
    assert_int_equal(index_build(&index, NULL, 0, ""), 0);
    assert_null(index_find(&index, 0));
    assert_null(index_find(&index, UINT64_MAX));
    index_free(&index);

    struct candidate one = {.start = 1000, .end = 1010, .rank = RANK_GLOBAL | RANK_SIZED};
    assert_int_equal(index_build(&index, &one, 1, "one"), 0);
    assert_null(index_find(&index, 0));
    assert_null(index_find(&index, 999));
    assert_non_null(index_find(&index, 1000));
    assert_non_null(index_find(&index, 1009));
    assert_null(index_find(&index, 1010));
    assert_null(index_find(&index, UINT64_MAX));
    index_free(&index);
}

/* Ends of the address space, and sizes that no function has. */
static void extremes(void **state)
{
    (void)state;
    struct candidate c[] = {
        {.start = 0, .end = 1, .name = 0, .rank = RANK_LOCAL | RANK_SIZED},
        {.start = UINT64_MAX - 1, .end = UINT64_MAX, .name = 2, .rank = RANK_LOCAL | RANK_SIZED},
        {.start = 16, .end = UINT64_MAX, .name = 4, .rank = RANK_LOCAL | RANK_SIZED},
        {.start = 8, .end = UINT64_MAX, .name = 6, .rank = RANK_LOCAL},
    };
    struct index index;
    assert_int_equal(index_build(&index, c, 4, "a\0b\0c\0d"), 0);
    assert_int_equal(index_find(&index, 0)->name, 0);
    assert_null(index_find(&index, 1));
    assert_int_equal(index_find(&index, 15)->name, 6);
    assert_int_equal(index_find(&index, 16)->name, 4);
    assert_int_equal(index_find(&index, 15 + (uint64_t)UINT32_MAX)->name, 4);
    assert_int_equal(index_find(&index, UINT64_MAX - 1)->name, 2);
    assert_null(index_find(&index, UINT64_MAX));
    index_free(&index);
}

/* Very many at one place and one far away: one bucket holds nearly all, and still each is found; and nested without
 * end, which may be missed but takes no time. */
static void crowded(void **state)
{
    (void)state;
    enum { N = 100000 };
    struct candidate *c = calloc(N, sizeof *c);
    struct index index;
    assert_non_null(c);
    for (uint32_t i = 0; i < N; i++)
        c[i] = (struct candidate){
            .start = 4096 + 4 * i, .end = 4096 + 4 * i + 4, .name = i, .rank = RANK_LOCAL | RANK_SIZED};
    c[N - 1].start = UINT64_C(1) << 60, c[N - 1].end = c[N - 1].start + 1;
    char *none = calloc(N, 1);
    assert_non_null(none);
    assert_int_equal(index_build(&index, c, N, none), 0);
    for (uint32_t i = 0; i < N - 1; i++)
        assert_int_equal(index_find(&index, 4096 + 4 * i + i % 4)->name, i);
    index_free(&index);

    for (uint32_t i = 0; i < N; i++)
        c[i] = (struct candidate){.start = i, .end = 3 * N - i, .name = i, .rank = RANK_LOCAL | RANK_SIZED};
    assert_int_equal(index_build(&index, c, N, none), 0);
    assert_int_equal(index_find(&index, N / 2)->name, N / 2);
    assert_int_equal(index_find(&index, 2 * N)->name, N - 1);
    for (uint64_t address = 0; address < 3 * N; address++)
        index_find(&index, address);
    index_free(&index);
    free(none);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_the_rules_say),
        cmocka_unit_test(none_and_one),
        cmocka_unit_test(extremes),
        cmocka_unit_test(crowded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* An address space against a plain array of bytes. */
#include "image/space.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed = 88172645463325252u;

static uint32_t chance(uint32_t below)
{
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (uint32_t)((seed >> 20) % below);
}

enum { SPAN = 700 }; /* more than five runs of mappings of a byte */

struct byte {
    uint32_t module; /* 0: nothing there */
    uint64_t offset;
};

static void compare(const struct space *space, const struct byte *bytes)
{
    for (uint64_t address = 0; address < SPAN; address++) {
        const struct mapping *m = space_find(space, address);
        assert_int_equal(!!m, bytes[address].module != 0);
        if (!m)
            continue;
        assert_int_equal(m->module, bytes[address].module);
        assert_int_equal(m->offset + (address - m->start), bytes[address].offset);
    }
    uint64_t end = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; space && i < space->n; i++) {
        const struct space_run *run = space->parts[i].run;
        assert_in_range(run->n, 1, SPACE_RUN);
        assert_int_equal(space->parts[i].first, run->items[0].start);
        for (uint32_t k = 0; k < run->n; k++, n++) {
            assert_true(run->items[k].start < run->items[k].end);
            assert_true(end <= run->items[k].start);
            end = run->items[k].end;
        }
    }
    assert_int_equal(space ? space->mapping_n : 0, n);
}

static void as_bytes(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 60; round++) {
        static const uint64_t lengths[] = {10, SPAN - 1, 1, 2};
        struct space *space = NULL, *fork = NULL;
        struct byte bytes[SPAN] = {{0}}, fork_bytes[SPAN] = {{0}};
        uint32_t changes = round % 4 < 2 ? 60 : 2 * SPAN;
        for (uint32_t i = 1; i < changes; i++) {
            struct mapping m = {.start = chance(SPAN - 1), .offset = chance(1000) * 1000, .module = i};
            bool gone = chance(8) == 0, wide = chance(100) == 0;
            m.end = m.start + 1 + chance(wide ? SPAN - 1 : lengths[round % 4]);
            if (m.end > SPAN)
                m.end = SPAN;
            assert_int_equal(gone ? space_remove(&space, m.start, m.end) : space_insert(&space, &m), 0);
            for (uint64_t a = m.start; a < m.end; a++)
                bytes[a] = gone ? (struct byte){0} : (struct byte){i, m.offset + (a - m.start)};
            if (changes == 60 || i % 16 == 0)
                compare(space, bytes);
            if (i == changes / 2) { /* what the parent does from here on is not seen by the child */
                fork = space_share(space);
                memcpy(fork_bytes, bytes, sizeof bytes);
            }
        }
        compare(fork, fork_bytes);
        assert_null(space_drop(space));
        compare(fork, fork_bytes);
        assert_null(space_drop(fork));
    }
}

static void ends_of_memory(void **state)
{
    (void)state;
    struct space *space = NULL;
    assert_null(space_find(NULL, 0));
    assert_null(space_drop(NULL));
    assert_null(space_share(NULL));
    assert_int_equal(space_insert(&space, &(struct mapping){.start = 0, .end = UINT64_MAX, .module = 1}), 0);
    assert_int_equal(space_insert(&space, &(struct mapping){.start = 5, .end = 6, .module = 2}), 0);
    assert_int_equal(space->mapping_n, 3);
    assert_int_equal(space_find(space, 0)->module, 1);
    assert_int_equal(space_find(space, 5)->module, 2);
    assert_int_equal(space_find(space, UINT64_MAX - 1)->module, 1);
    assert_int_equal(space_find(space, UINT64_MAX - 1)->offset, 6);
    assert_null(space_find(space, UINT64_MAX));
    space_drop(space);
}

/* A thousand forks of a large process cost no memory until they change something, and then one run. */
static void forks_share(void **state)
{
    (void)state;
    struct space *space = NULL, *forks[1000];
    for (uint64_t i = 0; i < 300; i++)
        assert_int_equal(
            space_insert(&space, &(struct mapping){.start = i * 10, .end = i * 10 + 5, .module = 1}), 0);
    for (size_t i = 0; i < 1000; i++) {
        forks[i] = space_share(space);
        assert_ptr_equal(forks[i], space);
    }
    assert_int_equal(space_insert(&forks[7], &(struct mapping){.start = 1, .end = 2, .module = 9}), 0);
    assert_ptr_not_equal(forks[7], space);
    assert_int_equal(space_find(space, 1)->module, 1);
    assert_int_equal(space_find(forks[7], 1)->module, 9);
    assert_ptr_not_equal(forks[7]->parts[0].run, space->parts[0].run);
    assert_ptr_equal(forks[7]->parts[forks[7]->n - 1].run, space->parts[space->n - 1].run); /* still shared */
    for (size_t i = 0; i < 1000; i++)
        space_drop(forks[i]);
    assert_int_equal(space->users, 1);
    space_drop(space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_bytes),
        cmocka_unit_test(ends_of_memory),
        cmocka_unit_test(forks_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

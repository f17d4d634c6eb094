/* An address space against a plain array of bytes. */
#include "image/space.h"

#include <setjmp.h>
#include <stdarg.h>
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

enum { SPAN = 300 };

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
    for (uint32_t i = 0; space && i < space->n; i++) {
        assert_true(space->items[i].start < space->items[i].end);
        assert_true(i == 0 || space->items[i - 1].end <= space->items[i].start);
    }
}

static void as_bytes(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 200; round++) {
        struct space *space = NULL, *fork = NULL;
        struct byte bytes[SPAN] = {{0}}, fork_bytes[SPAN];
        for (uint32_t i = 1; i < 60; i++) {
            struct mapping m = {.start = chance(SPAN - 1), .offset = chance(1000) * 1000, .module = i};
            m.end = m.start + 1 + chance(round % 2 ? 10 : SPAN - 1);
            if (m.end > SPAN)
                m.end = SPAN;
            assert_int_equal(space_insert(&space, &m), 0);
            for (uint64_t a = m.start; a < m.end; a++)
                bytes[a] = (struct byte){i, m.offset + (a - m.start)};
            compare(space, bytes);
            if (i == 30) { /* what the parent does from here on is not seen by the child */
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
    assert_int_equal(space->n, 3);
    assert_int_equal(space_find(space, 0)->module, 1);
    assert_int_equal(space_find(space, 5)->module, 2);
    assert_int_equal(space_find(space, UINT64_MAX - 1)->module, 1);
    assert_int_equal(space_find(space, UINT64_MAX - 1)->offset, 6);
    assert_null(space_find(space, UINT64_MAX));
    space_drop(space);
}

/* A thousand forks of a large process cost no memory until they change something. */
static void forks_share(void **state)
{
    (void)state;
    struct space *space = NULL, *forks[1000];
    for (uint64_t i = 0; i < 100; i++)
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

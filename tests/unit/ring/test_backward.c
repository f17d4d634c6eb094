/* Flight recorders and AUX areas over fake memory: the test plays the kernel, through thousands of wraps. */
#include "ring/aux.h"
#include "ring/backward.h"
#include "sys/perf.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct fake {
    struct perf_page *page;
    unsigned char *data;
    size_t bytes;
    struct ring *ring;
    uint64_t sequence;
};

static struct fake fake_open(size_t bytes, uint64_t start)
{
    struct fake f = {.bytes = bytes};
    f.page = aligned_alloc(sys_page_size(), sys_page_size() + 65536);
    memset(f.page, 0, sys_page_size() + 65536);
    f.data = (unsigned char *)f.page + sys_page_size();
    f.page->data_offset = sys_page_size();
    f.page->data_size = bytes;
    f.page->data_head = start;
    f.ring = malloc(sizeof *f.ring);
    assert_int_equal(ring_init(f.ring, f.page, bytes), 0);
    return f;
}

static void fake_close(struct fake *f)
{
    free(f->ring);
    free(f->page);
}

/* As the kernel: below the last one, whatever lies there. */
static void fake_write(struct fake *f, uint16_t size)
{
    unsigned char record[1024];
    struct perf_header header = {9, 2, size};
    uint64_t head = f->page->data_head - size;
    memset(record, (int)(f->sequence & 0xff), size);
    memcpy(record, &header, sizeof header);
    memcpy(record + 8, &f->sequence, 8);
    for (size_t i = 0; i < size; i++)
        f->data[(head + i) & (f->bytes - 1)] = record[i];
    f->page->data_head = head;
    f->sequence++;
}

/* The next must be `sequence`, whole. */
static void expect(struct backward *b, uint64_t sequence)
{
    const struct perf_header *record = NULL;
    uint64_t number;
    assert_int_equal(backward_next(b, &record), 1);
    assert_int_equal((uintptr_t)record % 8, 0);
    memcpy(&number, record + 1, 8);
    assert_int_equal(number, sequence);
    for (size_t i = 16; i < record->size; i++)
        assert_int_equal(((const unsigned char *)record)[i], sequence & 0xff);
}

static void first_snapshot(void **state)
{
    (void)state;
    struct fake f = fake_open(4096, 0);
    struct backward b;
    const struct perf_header *record;
    backward_init(&b, f.ring);
    backward_begin(&b);
    assert_int_equal(backward_next(&b, &record), 0);
    for (int i = 0; i < 5; i++)
        fake_write(&f, 40);
    backward_begin(&b);
    for (uint64_t i = 5; i-- > 0;)
        expect(&b, i);
    assert_int_equal(backward_next(&b, &record), 0);
    assert_int_equal(b.lost, 0);
    /* Once given, not given again. */
    backward_begin(&b);
    assert_int_equal(backward_next(&b, &record), 0);
    fake_write(&f, 24);
    backward_begin(&b);
    expect(&b, 5);
    assert_int_equal(backward_next(&b, &record), 0);
    fake_close(&f);
}

/* Any number of records of any size between snapshots: the newest come out, whole, newest first; those that were
 * overwritten, wholly or in part, don't. From heads near both ends of 64 bits. */
static void thousands_of_wraps(void **state)
{
    (void)state;
    static const uint64_t starts[] = {0, 4096, UINT64_MAX - 4095, 1000 * 8};
    for (size_t s = 0; s < sizeof starts / sizeof *starts; s++) {
        struct fake f = fake_open(4096, starts[s]);
        struct backward b;
        uint64_t seed = s + 1, seen = 0;
        uint16_t sizes[65536];
        backward_init(&b, f.ring);
        for (int round = 0; round < 3000; round++) {
            uint64_t first = f.sequence;
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            for (uint64_t n = seed >> 59; n > 0; n--) {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                uint16_t size = (uint16_t)(16 + (seed >> 58) * 8);
                sizes[f.sequence % 65536] = size;
                fake_write(&f, size);
            }
            /* What still fits the ring, counted from the newest. */
            uint64_t oldest = f.sequence, bytes = 0;
            while (oldest > first && bytes + sizes[(oldest - 1) % 65536] <= f.bytes)
                bytes += sizes[--oldest % 65536];
            backward_begin(&b);
            for (uint64_t i = f.sequence; i-- > oldest; seen++)
                expect(&b, i);
            const struct perf_header *record;
            assert_int_equal(backward_next(&b, &record), 0);
        }
        assert_true(seen > 10000);
        fake_close(&f);
    }
}

/* What is no record ends the snapshot; nothing is read beyond the ring. */
static void unsound(void **state)
{
    (void)state;
    static const uint16_t sizes[] = {0, 7, 9, 65528};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct fake f = fake_open(4096, 0);
        struct backward b;
        const struct perf_header *record;
        backward_init(&b, f.ring);
        fake_write(&f, 64);
        fake_write(&f, 64);
        memcpy(f.data + ((f.page->data_head + 64) & 4095) + 6, &sizes[i], 2);
        backward_begin(&b);
        expect(&b, 1);
        assert_int_equal(backward_next(&b, &record), 0);
        assert_int_equal(backward_next(&b, &record), 0);
        assert_int_equal(b.lost, 64);
        fake_close(&f);
    }
}

/* --- AUX --- */

static unsigned char byte_at(uint64_t offset)
{
    return (unsigned char)(offset * 131 + (offset >> 12) + 1);
}

/* Full mode: every byte comes out once, in order, through thousands of wraps; the tail that the PMU sees is
 * free-running, else it would stop after the first. */
static void aux_full(void **state)
{
    (void)state;
    static const uint64_t starts[] = {0, 4090, UINT64_MAX - 5000};
    for (size_t s = 0; s < 3; s++) {
        const size_t bytes = 1024;
        struct perf_page *page = calloc(1, sizeof *page);
        unsigned char *data = malloc(bytes);
        struct aux aux;
        struct aux_run run;
        uint64_t seed = 7, expected = starts[s];
        page->aux_head = page->aux_tail = starts[s];
        assert_int_equal(aux_init(&aux, page, data, bytes, false), 0);
        for (int round = 0; round < 20000; round++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            uint64_t room = bytes - (page->aux_head - page->aux_tail), n = (seed >> 40) % (bytes + 1);
            for (n = n < room ? n : room; n > 0; n--, page->aux_head++)
                data[page->aux_head & (bytes - 1)] = byte_at(page->aux_head);
            if (seed >> 63) {
                while (aux_next(&aux, &run) == 1) {
                    assert_int_equal(run.offset, expected);
                    for (size_t i = 0; i < run.n; i++)
                        assert_int_equal(run.bytes[i], byte_at(expected + i));
                    expected += run.n;
                }
                aux_release(&aux);
                assert_int_equal(page->aux_tail, page->aux_head);
            }
        }
        assert_true(expected - starts[s] > 1000 * bytes);
        assert_int_equal(aux.skipped, 0);
        page->aux_head += bytes + 1; /* can't be */
        assert_int_equal(aux_next(&aux, &run), -EBADMSG);
        assert_int_equal(aux_next(&aux, &run), 0);
        free(data);
        free(page);
    }
}

/* Snapshots: the last `bytes` of all that was written, in order. */
static void aux_snapshots(void **state)
{
    (void)state;
    const size_t bytes = 1024;
    struct perf_page *page = calloc(1, sizeof *page);
    unsigned char *data = calloc(1, bytes);
    struct aux aux;
    struct aux_run runs[2];
    uint64_t seed = 3;
    assert_int_equal(aux_init(&aux, page, data, bytes, true), 0);
    assert_int_equal(aux_snapshot(&aux, runs), 0);
    for (int round = 0; round < 5000; round++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        for (uint64_t n = (seed >> 40) % 700; n > 0; n--, page->aux_head++)
            data[page->aux_head & (bytes - 1)] = byte_at(page->aux_head) | 1;
        int n = aux_snapshot(&aux, runs);
        uint64_t at = page->aux_head < bytes ? 0 : page->aux_head - bytes;
        for (int i = 0; i < n; i++) {
            assert_int_equal(runs[i].offset, at);
            for (size_t k = 0; k < runs[i].n; k++)
                assert_int_equal(runs[i].bytes[k], byte_at(at + k) | 1);
            at += runs[i].n;
        }
        assert_int_equal(at, page->aux_head);
        aux_release(&aux); /* its page is read-only: nothing is stored */
        assert_int_equal(page->aux_tail, 0);
    }
    /* A PMU that keeps head below the size: that it wrapped is seen by what stands at the end. */
    page->aux_head = 100;
    assert_int_equal(aux_snapshot(&aux, runs), 2);
    assert_int_equal(runs[0].n, bytes - 100);
    assert_int_equal(runs[1].n, 100);
    free(data);
    free(page);
}

static void aux_refused(void **state)
{
    (void)state;
    struct perf_page *page = calloc(1, sizeof *page);
    struct aux aux;
    assert_int_equal(aux_init(&aux, page, NULL, 0, false), -EINVAL);
    assert_int_equal(aux_init(&aux, page, NULL, 3000, false), -EINVAL);
    assert_int_equal(aux_map(&aux, -1, page, 4096, 100, false), -EINVAL);
    assert_int_equal(aux_map(&aux, -1, page, 4096, 65536, false), -EBADF);
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_snapshot), cmocka_unit_test(thousands_of_wraps), cmocka_unit_test(unsound),
        cmocka_unit_test(aux_full),       cmocka_unit_test(aux_snapshots),      cmocka_unit_test(aux_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

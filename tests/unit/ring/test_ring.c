/* The ring over fake memory: the test plays the kernel, byte by byte, and checks every record that comes back. */
#include "ring/ring.h"
#include "sys/perf.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BYTES (size_t)4096

struct fake {
    struct perf_page *page;
    unsigned char *data;
    size_t bytes;
    struct ring *ring;
    uint64_t sequence; /* of the next record to write */
    uint64_t expected; /* of the next to come out */
};

static struct fake fake_open(size_t bytes, uint64_t start)
{
    struct fake f = {.bytes = bytes};
    f.page =
        aligned_alloc(sys_page_size(), sys_page_size() + (bytes < sys_page_size() ? sys_page_size() : bytes));
    memset(f.page, 0, sys_page_size());
    f.data = (unsigned char *)f.page + sys_page_size();
    memset(f.data, 0xdd, bytes);
    f.page->data_offset = sys_page_size();
    f.page->data_size = bytes;
    f.page->data_head = f.page->data_tail = start;
    f.ring = malloc(sizeof *f.ring);
    assert_int_equal(ring_init(f.ring, f.page, bytes), 0);
    return f;
}

static void fake_close(struct fake *f)
{
    free(f->ring);
    free(f->page);
}

static void put(struct fake *f, uint64_t at, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        f->data[(at + i) & (f->bytes - 1)] = ((const unsigned char *)bytes)[i];
}

/* As the kernel: 0 where there is no room behind the tail. The body is the sequence number's bytes. */
static int fake_write(struct fake *f, uint16_t size)
{
    static unsigned char record[65536];
    struct perf_header header = {9, 2, size};
    uint64_t head = f->page->data_head;
    if (head + size - f->page->data_tail > f->bytes)
        return 0;
    memset(record, (int)(f->sequence & 0xff), size);
    memcpy(record, &header, sizeof header);
    if (size >= 16)
        memcpy(record + 8, &f->sequence, 8);
    put(f, head, record, size);
    f->page->data_head = head + size;
    f->sequence++;
    return 1;
}

static void check(struct fake *f, const struct perf_header *record)
{
    const unsigned char *bytes = (const unsigned char *)record;
    assert_int_equal((uintptr_t)record % 8, 0);
    assert_int_equal(record->type, 9);
    if (record->size >= 16)
        assert_memory_equal(bytes + 8, &f->expected, 8);
    for (size_t i = 16; i < record->size; i++)
        assert_int_equal(bytes[i], f->expected & 0xff);
    f->expected++;
}

static void empty(void **state)
{
    (void)state;
    struct fake f = fake_open(BYTES, 0);
    const struct perf_header *record = NULL;
    const unsigned char *span;
    size_t n;
    assert_int_equal(ring_next(f.ring, &record), 0);
    assert_int_equal(ring_span(f.ring, &span, &n), 0);
    assert_null(record);
    assert_int_equal(ring_waiting(f.ring), 0);
    ring_release(f.ring);
    assert_int_equal(f.page->data_tail, 0);
    fake_close(&f);
}

/* Every size a ring can hold, behind every place that a multiple of 8 can be: so every split over the end. */
static void every_split(void **state)
{
    (void)state;
    const size_t bytes = 512;
    for (size_t start = 0; start < bytes; start += 8)
        for (uint16_t size = 8; size <= bytes; size = (uint16_t)(size + 8)) {
            struct fake f = fake_open(bytes, start);
            const struct perf_header *record;
            assert_int_equal(fake_write(&f, size), 1);
            assert_int_equal(ring_waiting(f.ring), size);
            assert_int_equal(ring_next(f.ring, &record), 1);
            assert_int_equal(record->size, size);
            check(&f, record);
            assert_int_equal(ring_offset(f.ring), start + size);
            assert_int_equal(ring_next(f.ring, &record), 0);
            assert_int_equal(f.page->data_tail, start); /* nothing is given back before release */
            ring_release(f.ring);
            assert_int_equal(f.page->data_tail, start + size);
            fake_close(&f);
        }
}

static void thousands_of_wraps(void **state)
{
    (void)state;
    /* The second one's counters overflow 64 bits on the way. */
    static const uint64_t starts[] = {0, UINT64_MAX - 50 * BYTES + 1, UINT64_MAX - 7};
    for (size_t s = 0; s < sizeof starts / sizeof *starts; s++) {
        struct fake f = fake_open(BYTES, starts[s]);
        uint64_t random = 42;
        while (f.page->data_head - starts[s] < 5000 * BYTES) {
            const struct perf_header *batch[BYTES / 8], *record;
            size_t n = 0;
            do
                random = random * 6364136223846793005u + 1442695040888963407u;
            while (fake_write(&f, (uint16_t)(8 + (random >> 33) % 60 * 8)));
            while (ring_next(f.ring, &record) == 1)
                batch[n++] = record;
            /* All views of a batch are valid until it is released, the wrapped one too. */
            for (size_t i = 0; i < n; i++)
                check(&f, batch[i]);
            assert_int_equal(f.expected, f.sequence);
            ring_release(f.ring);
            assert_int_equal(f.page->data_tail, f.page->data_head);
        }
        assert_int_equal(f.ring->skipped, 0);
        fake_close(&f);
    }
}

/* The kernel writes while a batch is still held. */
static void writes_between_reads(void **state)
{
    (void)state;
    struct fake f = fake_open(BYTES, BYTES - 64);
    const struct perf_header *first, *wrapped, *record;
    assert_true(fake_write(&f, 40));
    assert_int_equal(ring_next(f.ring, &first), 1);
    assert_true(fake_write(&f, 200));
    assert_int_equal(ring_next(f.ring, &wrapped), 1);
    while (fake_write(&f, 16))
        assert_int_equal(ring_next(f.ring, &record), 1);
    check(&f, first);
    check(&f, wrapped);
    ring_release(f.ring);
    assert_true(fake_write(&f, 16));
    fake_close(&f);
}

static void the_longest_record(void **state)
{
    (void)state;
    struct fake f = fake_open(128 << 10, (128 << 10) - 32768);
    const struct perf_header *record;
    assert_true(fake_write(&f, 65528));
    assert_int_equal(ring_next(f.ring, &record), 1);
    assert_int_equal(record->size, 65528);
    check(&f, record);
    fake_close(&f);
}

static void sizes_that_can_not_be(void **state)
{
    (void)state;
    static const uint16_t sizes[] = {0, 1, 7, 9, 12, 72, 65535};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct fake f = fake_open(BYTES, 5 * BYTES + 8);
        struct perf_header bad = {9, 0, sizes[i]};
        const struct perf_header *record;
        fake_write(&f, 24);
        fake_write(&f, 64);
        put(&f, f.ring->position + 24, &bad, sizeof bad);
        assert_int_equal(ring_next(f.ring, &record), 1);
        check(&f, record);
        assert_int_equal(ring_next(f.ring, &record), -EBADMSG);
        assert_int_equal(f.ring->skipped, 64);
        assert_int_equal(ring_next(f.ring, &record), 0);
        ring_release(f.ring);
        /* and it goes on with what comes after */
        f.expected++;
        fake_write(&f, 32);
        assert_int_equal(ring_next(f.ring, &record), 1);
        check(&f, record);
        fake_close(&f);
    }
}

static void heads_that_can_not_be(void **state)
{
    (void)state;
    static const uint64_t jumps[] = {4, 2 * BYTES, BYTES + 8, UINT64_MAX - 100};
    for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++) {
        struct fake f = fake_open(BYTES, BYTES);
        const struct perf_header *record;
        const unsigned char *span;
        size_t n;
        f.page->data_head += jumps[i];
        assert_int_equal(ring_next(f.ring, &record), -EBADMSG);
        ring_release(f.ring);
        assert_int_equal(ring_next(f.ring, &record), 0);
        fake_close(&f);
        if (jumps[i] <= BYTES)
            continue;
        f = fake_open(BYTES, BYTES);
        f.page->data_head += jumps[i];
        assert_int_equal(ring_span(f.ring, &span, &n), -EBADMSG);
        assert_int_equal(ring_span(f.ring, &span, &n), 0);
        fake_close(&f);
    }
}

/* Copied in runs, the bytes are those of the records one behind the other. */
static void spans(void **state)
{
    (void)state;
    struct fake f = fake_open(BYTES, 0);
    static unsigned char copy[BYTES];
    uint64_t random = 7;
    for (int round = 0; round < 3000; round++) {
        size_t copied = 0, n;
        const unsigned char *span;
        int runs = 0;
        do
            random = random * 6364136223846793005u + 1442695040888963407u;
        while (fake_write(&f, (uint16_t)(16 + (random >> 33) % 40 * 8)));
        while (ring_span(f.ring, &span, &n) == 1) {
            memcpy(copy + copied, span, n);
            copied += n;
            runs++;
        }
        assert_in_range(runs, 1, 2);
        ring_release(f.ring);
        assert_int_equal(f.page->data_tail, f.page->data_head);
        for (size_t at = 0; at < copied;) {
            const struct perf_header *record = (const struct perf_header *)(const void *)(copy + at);
            check(&f, record);
            at += record->size;
        }
        assert_int_equal(f.expected, f.sequence);
    }
    fake_close(&f);
}

/* By the batch they are the same records, whatever its size; what is taken back comes again. */
static void views(void **state)
{
    (void)state;
    static const uint64_t starts[] = {0, UINT64_MAX - 50 * BYTES + 1};
    for (size_t s = 0; s < 2; s++) {
        struct fake f = fake_open(BYTES, starts[s]);
        uint64_t random = 11, batches = 0, alone = 0;
        while (f.page->data_head - starts[s] < 3000 * BYTES) {
            const struct perf_header *batch[64];
            bool again = random >> 40 & 1;
            int n;
            do
                random = random * 6364136223846793005u + 1442695040888963407u;
            while (fake_write(&f, random >> 60 ? 56 : (uint16_t)(8 + (random >> 33) % 60 * 8)));
            while ((n = ring_views(f.ring, batch, 1 + (random >> 20) % 64)) > 0) {
                if (again && n > 1) {
                    ring_unread(f.ring, batch[--n]->size);
                    again = false;
                }
                for (int i = 0; i < n; i++)
                    check(&f, batch[i]);
                batches += n > 1;
                alone += n == 1;
            }
            assert_int_equal(n, 0);
            assert_int_equal(f.expected, f.sequence);
            ring_release(f.ring);
            assert_int_equal(f.page->data_tail, f.page->data_head);
        }
        assert_true(batches && alone);
        assert_int_equal(f.ring->skipped, 0);
        fake_close(&f);
    }
}

/* A batch ends before a size that makes no sense, which is then told as by ring_next(). */
static void views_of_what_can_not_be(void **state)
{
    (void)state;
    static const uint16_t sizes[] = {0, 1, 7, 9, 12, 72, 65535};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct fake f = fake_open(BYTES, 5 * BYTES + 8);
        struct perf_header bad = {9, 0, sizes[i]};
        const struct perf_header *batch[8];
        fake_write(&f, 24);
        fake_write(&f, 24);
        fake_write(&f, 64);
        put(&f, f.ring->position + 48, &bad, sizeof bad);
        assert_int_equal(ring_views(f.ring, batch, 8), 2);
        check(&f, batch[0]);
        check(&f, batch[1]);
        assert_int_equal(ring_views(f.ring, batch, 8), -EBADMSG);
        assert_int_equal(f.ring->skipped, 64);
        assert_int_equal(ring_views(f.ring, batch, 8), 0);
        fake_close(&f);
    }
    struct fake f = fake_open(BYTES, BYTES);
    const struct perf_header *batch[8];
    f.page->data_head += 2 * BYTES;
    assert_int_equal(ring_views(f.ring, batch, 8), -EBADMSG);
    assert_int_equal(ring_views(f.ring, batch, 0), 0);
    fake_close(&f);
}

/* Behind every number of others, over the end too; looking moves nothing. */
static void records_that_wait(void **state)
{
    (void)state;
    for (uint64_t start = 0; start < BYTES; start += 8) {
        struct fake f = fake_open(BYTES, start);
        const struct perf_header *record;
        for (unsigned before = 0; before < 4; before++)
            fake_write(&f, 24);
        assert_false(ring_has(f.ring, UINT64_C(1) << 3));
        assert_true(ring_has(f.ring, UINT64_C(1) << 3 | UINT64_C(1) << 9));
        put(&f, f.page->data_head, &(struct perf_header){3, 0, 16}, 8);
        f.page->data_head += 16;
        assert_true(ring_has(f.ring, UINT64_C(1) << 3)); /* what came since the head was last seen counts */
        for (unsigned i = 0; i < 4; i++) {
            assert_int_equal(ring_next(f.ring, &record), 1);
            check(&f, record);
            assert_int_equal(ring_has(f.ring, UINT64_C(1) << 9), i < 3);
        }
        assert_int_equal(ring_next(f.ring, &record), 1);
        assert_int_equal(record->type, 3);
        assert_false(ring_has(f.ring, UINT64_MAX));
        fake_close(&f);
    }
    static const uint16_t sizes[] = {0, 7, 12, 4096};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct fake f = fake_open(BYTES, 0);
        put(&f, 0, &(struct perf_header){9, 0, sizes[i]}, 8);
        f.page->data_head = 16;
        assert_true(ring_has(f.ring, 0));
        f.page->data_head = BYTES + 8;
        assert_true(ring_has(f.ring, 0));
        fake_close(&f);
    }
}

static void where_the_data_is(void **state)
{
    (void)state;
    size_t page = sys_page_size();
    struct fake f = fake_open(BYTES, 0);
    struct ring *ring = malloc(sizeof *ring);
    f.page->data_offset = f.page->data_size = 0; /* a kernel before 4.1 */
    assert_int_equal(ring_init(ring, f.page, BYTES), 0);
    assert_ptr_equal(ring->data, f.data);
    assert_int_equal(ring->size, BYTES);
    f.page->data_offset = page;
    f.page->data_size = BYTES / 2; /* less than was mapped: the page's word counts */
    assert_int_equal(ring_init(ring, f.page, BYTES), 0);
    assert_int_equal(ring->size, BYTES / 2);
    f.page->data_tail = 12345 * 8;
    assert_int_equal(ring_init(ring, f.page, BYTES), 0);
    assert_int_equal(ring_offset(ring), 12345 * 8);

    static const struct {
        uint64_t offset, size;
        size_t bytes;
    } bad[] = {{0, 0, 0},
               {0, 0, 4},
               {0, 0, 3000},
               {1, BYTES, BYTES},
               {8, BYTES, BYTES},
               {4096, 2 * BYTES, BYTES},
               {4096 + 8, BYTES, BYTES},
               {UINT64_MAX - 7, BYTES, BYTES},
               {4096, 3000, BYTES}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        f.page->data_offset = bad[i].offset == 4096 ? page : bad[i].offset == 4104 ? page + 8 : bad[i].offset;
        f.page->data_size = bad[i].size;
        assert_int_equal(ring_init(ring, f.page, bad[i].bytes), -EINVAL);
    }
    free(ring);
    fake_close(&f);
}

static void mapping_what_is_no_event(void **state)
{
    (void)state;
    struct ring *ring = NULL;
    assert_int_equal(ring_map(-1, BYTES, &ring), -EBADF);
    assert_null(ring);
    assert_null(ring_unmap(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty),
        cmocka_unit_test(every_split),
        cmocka_unit_test(thousands_of_wraps),
        cmocka_unit_test(writes_between_reads),
        cmocka_unit_test(the_longest_record),
        cmocka_unit_test(sizes_that_can_not_be),
        cmocka_unit_test(heads_that_can_not_be),
        cmocka_unit_test(spans),
        cmocka_unit_test(views),
        cmocka_unit_test(views_of_what_can_not_be),
        cmocka_unit_test(records_that_wait),
        cmocka_unit_test(where_the_data_is),
        cmocka_unit_test(mapping_what_is_no_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

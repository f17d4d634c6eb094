/* A real ring: one page fault, one record, through thousands of wraps; and what finds it full is in the count. */
#include "live.h"

#include "record/layout.h"
#include "ring/ring.h"
#include "sys/perf.h"

#include <sys/mman.h>
#include <unistd.h>

#define PAGES 4096u

static unsigned char *area;

/* One fault a page. */
static void fault(size_t from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *(volatile unsigned char *)(area + (from + i) * sys_page_size()) = 1;
}

struct totals {
    uint64_t samples, lost, addresses;
};

static void drain(struct ring *ring, const struct layout *layout, uint64_t id, struct totals *t)
{
    const struct perf_header *header;
    int r;
    while ((r = ring_next(ring, &header)) == 1) {
        struct rk_record record;
        struct rk_sample sample = {.size = sizeof sample};
        struct rk_lost lost = {.size = sizeof lost};
        CHECK(layout_record(layout, header, &record) == 0);
        EQUAL(record.id, id);
        EQUAL(record.pid, getpid());
        if (record.type == RK_RECORD_SAMPLE) {
            CHECK(layout_sample(layout, &record, &sample) == 0);
            CHECK(sample.chain_n > 0);
            t->samples++;
            t->addresses +=
                sample.addr >= (uintptr_t)area && sample.addr < (uintptr_t)area + PAGES * sys_page_size();
        } else if (record.type == RK_RECORD_LOST) {
            CHECK(rk_record_lost(&record, &lost) == 0);
            t->lost += lost.count;
        }
    }
    EQUAL(r, 0);
    ring_release(ring);
}

int main(void)
{
    struct perf_attr attr = {
        .type = PERF_SOFTWARE,
        .size = sizeof attr,
        .config = SW_PAGE_FAULTS,
        .sample_period = 1,
        .sample_type = RK_SAMPLE_IDENTIFIER | RK_SAMPLE_IP | RK_SAMPLE_TID | RK_SAMPLE_TIME | RK_SAMPLE_ADDR |
                       RK_SAMPLE_CALLCHAIN,
        .flags = ATTR_DISABLED | ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV | ATTR_SAMPLE_ID_ALL |
                 ATTR_EXCLUDE_CALLCHAIN_KERNEL,
    };
    size_t bytes = sys_page_size() * 2;
    struct layout layout;
    struct ring *ring;
    struct totals t = {0};
    uint64_t count[2], id;

    int fd = sys_perf_open(&attr, 0, -1, -1, 0);
    if (fd < 0)
        SKIP("page-faults can't be sampled: %s", strerror(-fd));
    CHECK(layout_init(&layout, &attr) == 0);
    CHECK(sys_perf_control_at(fd, IOC_ID, &id) == 0);
    CHECK(ring_map(fd, bytes, &ring) == 0);
    area = mmap(NULL, PAGES * sys_page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(area != MAP_FAILED);
    madvise(area, PAGES * sys_page_size(), MADV_NOHUGEPAGE);

    /* Drained often enough: each fault is there. */
    for (size_t i = 0; i < PAGES / 2; i += 16) {
        CHECK(sys_perf_control(fd, IOC_ENABLE, 0) == 0);
        fault(i, 16);
        CHECK(sys_perf_control(fd, IOC_DISABLE, 0) == 0);
        drain(ring, &layout, id, &t);
    }
    CHECK(sys_perf_read(fd, count, 2) == 8);
    EQUAL(t.samples, count[0]);
    EQUAL(t.lost, 0);
    EQUAL(t.addresses, PAGES / 2);
    CHECK(ring_offset(ring) > 10 * bytes);

    /* Not drained: kept + lost is the count; the loss is told with the next record that fits. */
    CHECK(sys_perf_control(fd, IOC_ENABLE, 0) == 0);
    fault(PAGES / 2, PAGES / 2 - 16);
    CHECK(sys_perf_control(fd, IOC_DISABLE, 0) == 0);
    drain(ring, &layout, id, &t);
    CHECK(sys_perf_control(fd, IOC_ENABLE, 0) == 0);
    fault(PAGES - 16, 16);
    CHECK(sys_perf_control(fd, IOC_DISABLE, 0) == 0);
    drain(ring, &layout, id, &t);
    CHECK(sys_perf_read(fd, count, 2) == 8);
    CHECK(t.lost > 0);
    EQUAL(t.samples + t.lost, count[0]);
    EQUAL(ring->skipped, 0);
    ring_unmap(ring);
    close(fd);
    return 0;
}

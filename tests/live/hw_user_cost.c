/*
 * What a read in user space costs: at most 1.1 times the instructions of a loop written by hand for one event on one
 * page, as the kernel's header describes it. Exact in the guest alone.
 */
#include "live.h"

#include "set/private.h"

#define READS 10000

static struct rk_error e = {.size = sizeof e};

/* A jump by the counter's number, as everybody's copy has it; x86 needs none. */
static inline uint64_t counter_by_hand(uint32_t counter)
{
#if defined(__aarch64__)
    uint64_t value = 0;
#define CASE(n)                                                       \
    case n:                                                           \
        __asm__ volatile("mrs %0, pmevcntr" #n "_el0" : "=r"(value)); \
        break;
    switch (counter) {
        CASE(0)
        CASE(1)
        CASE(2)
        CASE(3)
        CASE(4)
        CASE(5)
        CASE(6)
        CASE(7)
    case 31:
        __asm__ volatile("mrs %0, pmccntr_el0" : "=r"(value));
        break;
    }
#undef CASE
    return value;
#else
    uint64_t value = 0;
    pmc_read(counter, &value);
    return value;
#endif
}

/* linux/perf_event.h's own words, in C: count and both times, a clock with few bits included. */
__attribute__((noinline)) static void by_hand(const volatile struct perf_page *page, struct rk_value *ret)
{
    uint32_t seq, index;
    uint64_t count, enabled, running, cycles, delta, quot, rem;

    do {
        seq = page->lock;
        __asm__ volatile("" ::: "memory");
        uint64_t capabilities = page->capabilities;
        enabled = page->time_enabled;
        running = page->time_running;
        if (capabilities & PAGE_CAP_USER_TIME) {
            cycles = pmc_clock();
            if (capabilities & PAGE_CAP_USER_TIME_SHORT)
                cycles = page->time_cycles + ((cycles - page->time_cycles) & page->time_mask);
            uint16_t shift = page->time_shift;
            uint32_t mult = page->time_mult;
            quot = cycles >> shift;
            rem = cycles & (((uint64_t)1 << shift) - 1);
            delta = page->time_offset + quot * mult + ((rem * mult) >> shift);
            enabled += delta;
            if (page->index)
                running += delta;
        }
        index = page->index;
        count = (uint64_t)page->offset;
        if ((capabilities & PAGE_CAP_USER_RDPMC) && index) {
            uint16_t width = page->pmc_width;
            int64_t pmc = (int64_t)counter_by_hand(index - 1);
            pmc = (int64_t)((uint64_t)pmc << (64 - width));
            pmc >>= 64 - width;
            count += (uint64_t)pmc;
        }
        __asm__ volatile("" ::: "memory");
    } while (page->lock != seq);
    *ret = (struct rk_value){count, enabled, running};
}

/* Instructions between the two, by a third set. */
static uint64_t instructions(struct rk_set *counter)
{
    struct rk_value v;

    EQUAL(rk_set_read(counter, 0, &v, NULL, 1), 0);
    return v.value;
}

int main(void)
{
    const struct rk_set_options options = {.size = sizeof options,
                                           .flags = RK_SET_NO_INHERIT | RK_SET_ENABLED};
    struct rk_set_options asked = options;
    struct rk_value v;
    struct rk_host *host;

    OK(rk_host_open(NULL, &host, &e));
    struct rk_set *set = live_self(host, "cycles", &options);
    if (!set->user_read)
        SKIP("the kernel lets no counter be read in user space");
    asked.flags |= RK_SET_NO_USER_READ;
    struct rk_set *counter = live_self(host, "instructions:u", &asked);

    uint64_t begin = instructions(counter);
    for (int i = 0; i < READS; i++)
        by_hand(set->pages[0], &v);
    uint64_t hand = instructions(counter) - begin;
    begin = instructions(counter);
    int rc = 0;
    for (int i = 0; i < READS; i++)
        rc = rk_set_read(set, 0, &v, NULL, 1);
    uint64_t ours = instructions(counter) - begin;
    EQUAL(rc, 0);
    begin = instructions(counter);
    uint64_t empty = instructions(counter) - begin;
    hand -= empty, ours -= empty;
    printf("a read in user space: %.1f instructions, %.1f by hand\n", (double)ours / READS,
           (double)hand / READS);
    if (live_exact())
        CHECK(ours * 10 <= hand * 11);
    rk_set_free(counter);
    rk_set_free(set);
    rk_host_free(host);
    return 0;
}

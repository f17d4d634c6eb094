/*
 * A million reads in user space, in the thread that owns the counters: between any two answers of the kernel, none below
 * the one before, wherever the thread is moved meanwhile.
 */
#include "live.h"

#include "set/private.h"

#include <sched.h>

#define READS 1000000
#define ROUND 1000 /* reads between two of the kernel's */

static struct rk_error e = {.size = sizeof e};

static void by_kernel(struct rk_set *set, struct rk_value *ret, size_t n)
{
    set->user_read = false;
    set_choose_page(set);
    EQUAL(rk_set_read(set, 0, ret, NULL, n), 0);
    set->user_read = true;
    set_choose_page(set);
}

/* To the next CPU that this thread may run on: whether there is another. */
static bool move(void)
{
    cpu_set_t allowed, one;
    int now = sched_getcpu();

    if (sched_getaffinity(0, sizeof allowed, &allowed) < 0 || CPU_COUNT(&allowed) < 2)
        return false;
    do
        now = (now + 1) % CPU_SETSIZE;
    while (!CPU_ISSET(now, &allowed));
    CPU_ZERO(&one);
    CPU_SET(now, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    CHECK(sched_setaffinity(0, sizeof allowed, &allowed) == 0);
    return true;
}

static void check_order(const struct rk_value *a, const struct rk_value *b, size_t n, int at)
{
    for (size_t k = 0; k < n; k++)
        if (b[k].value < a[k].value || b[k].running < a[k].running || b[k].enabled < a[k].enabled ||
            b[k].running > b[k].enabled)
            FAIL("read %d, event %zu: %" PRIu64 " %" PRIu64 " %" PRIu64 " after %" PRIu64 " %" PRIu64
                 " %" PRIu64,
                 at, k, b[k].value, b[k].enabled, b[k].running, a[k].value, a[k].enabled, a[k].running);
}

static void check_many(struct rk_host *host, const char *events)
{
    const struct rk_set_options options = {.size = sizeof options,
                                           .flags = RK_SET_NO_INHERIT | RK_SET_ENABLED};
    struct rk_set *set = live_self(host, events, &options);
    size_t n = rk_set_event_count(set);
    struct rk_value last[2], now[2];
    int moved = 0;

    if (!set->user_read)
        SKIP("the kernel lets no counter be read in user space");
    by_kernel(set, last, n);
    for (int i = 0; i < READS; i++) {
        EQUAL(rk_set_read(set, 0, now, NULL, n), 0);
        check_order(last, now, n, i);
        memcpy(last, now, sizeof last);
        if (i % ROUND == ROUND - 1) {
            by_kernel(set, now, n);
            check_order(last, now, n, i);
            memcpy(last, now, sizeof last);
            if (i / ROUND % 10 == 0)
                moved += move();
        }
    }
    CHECK(last[0].value > READS);
    printf("%s: %d reads, %d moves to another CPU\n", events, READS, moved);
    rk_set_free(set);
}

int main(void)
{
    struct rk_host *host;
    int64_t access;

    OK(rk_host_open(NULL, &host, &e));
    if (rk_host_limit(host, RK_LIMIT_USER_ACCESS, &access) == 0 && access == 0)
        SKIP("kernel.perf_user_access is 0");
    check_many(host, "cycles");
    rk_host_free(host);
    return 0;
}

/* Counters read without the kernel: the same as read(2), for the same events, at a fraction of its cost. */
#include "live.h"

#include "set/private.h"

#include <pthread.h>

static struct rk_error e = {.size = sizeof e};

static struct rk_set *open_set(struct rk_host *host, const char *text, uint32_t no_user_read)
{
    const struct rk_set_options options = {
        .size = sizeof options,
        .flags = RK_SET_NO_INHERIT | (no_user_read ? RK_SET_NO_USER_READ : 0) | RK_SET_ENABLED};
    struct rk_events *events;
    struct rk_target *target;
    struct rk_set *set;

    OK(rk_events_parse(host, text, &events, &e));
    OK(rk_target_self(&target, &e));
    OK(rk_set_open(host, events, target, &options, &set, &e));
    rk_events_free(events);
    rk_target_free(target);
    return set;
}

/* A value read in user space lies between two that the kernel gave, before and after; so do its times. */
static void test_agrees(struct rk_set *set)
{
    size_t n = rk_set_event_count(set);
    struct rk_value before[4], between[4], after[4];

    for (int i = 0; i < 200; i++) {
        set->user_read = false;
        set_choose_page(set);
        CHECK(rk_set_read(set, 0, before, NULL, n) == 0);
        set->user_read = true;
        set_choose_page(set);
        CHECK(rk_set_read(set, 0, between, NULL, n) == 0);
        spin(1 + (uint64_t)i * 500);
        set->user_read = false;
        set_choose_page(set);
        CHECK(rk_set_read(set, 0, after, NULL, n) == 0);
        set->user_read = true;
        set_choose_page(set);
        for (size_t k = 0; k < n; k++) {
            CHECK(before[k].value <= between[k].value && between[k].value <= after[k].value);
            CHECK(before[k].running <= between[k].running && between[k].running <= after[k].running);
            CHECK(before[k].enabled <= between[k].enabled && between[k].enabled <= after[k].enabled);
        }
    }
}

static void *in_thread(void *argument)
{
    struct rk_set *set = argument;
    struct rk_value before[2], after[2];

    /* Another thread's counters: asked of the kernel, which knows that they stand still while we run. */
    CHECK(rk_set_read(set, 0, before, NULL, 2) == 0);
    spin(100000);
    CHECK(rk_set_read(set, 0, after, NULL, 2) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(after[i].value - before[i].value < 100000);
    return NULL;
}

static uint64_t cost(struct rk_set *set)
{
    struct rk_value v[2], first[2], last[2];

    CHECK(rk_set_read(set, 0, first, NULL, 2) == 0);
    for (int i = 0; i < 1000; i++)
        CHECK(rk_set_read(set, 0, v, NULL, 2) == 0);
    CHECK(rk_set_read(set, 0, last, NULL, 2) == 0);
    return (last[1].value - first[1].value) / 1001;
}

int main(void)
{
    struct rk_host *host;
    struct rk_set *set, *slow;
    pthread_t thread;
    int64_t access;

    OK(rk_host_open(NULL, &host, &e));
    if (rk_set_self("cycles,instructions", &set, &e) < 0)
        SKIP("%s", e.what);
    rk_set_free(set);
    if (rk_host_limit(host, RK_LIMIT_USER_ACCESS, &access) == 0 && access == 0)
        SKIP("kernel.perf_user_access is 0");
    set = open_set(host, "{cycles,instructions}", 0);
    if (!set->user_read)
        SKIP("the kernel lets no counter be read in user space");
    test_agrees(set);
    CHECK(pthread_create(&thread, NULL, in_thread, set) == 0);
    pthread_join(thread, NULL);
    test_agrees(set);
    uint64_t by_user = cost(set);
    rk_set_free(set); /* there may be too few counters for both */
    slow = open_set(host, "{cycles,instructions}", 1);
    CHECK(!slow->user_read);
    uint64_t by_kernel = cost(slow);
    printf("instructions to read two counters: %" PRIu64 " in user space, %" PRIu64 " by read(2)\n", by_user,
           by_kernel);
    CHECK(by_user * 5 < by_kernel);
    rk_set_free(slow);

    set = open_set(host, "cycles,instructions,page-faults", 0);
    CHECK(set->groups[0].user && set->groups[1].user && !set->groups[2].user);
    test_agrees(set);
    rk_set_free(set);
    rk_host_free(host);
    return 0;
}

/*
 * A loop of known length gives exactly the expected instructions.
 *
 * What enabling and disabling add is the same each time: it is measured with a loop of one round and
 * subtracted. Intervals are made by subtraction too, over one set that is never reset.
 */
#include "live.h"

static uint64_t count(struct rk_set *set, uint64_t rounds)
{
    struct rk_value before = {0}, after = {0};
    EQUAL(rk_set_total(set, &before, NULL, 1), 0);
    EQUAL(rk_set_enable(set), 0);
    spin(rounds);
    EQUAL(rk_set_disable(set), 0);
    EQUAL(rk_set_total(set, &after, NULL, 1), 0);
    CHECK(after.running > before.running);
    EQUAL(after.enabled - before.enabled, after.running - before.running);
    return after.value - before.value;
}

static bool alone; /* user space is counted alone */

/* Where it is not, the least of some: interrupts add to the others. */
static uint64_t least(struct rk_set *set, uint64_t rounds)
{
    uint64_t found = count(set, rounds);
    for (int i = 0; !alone && i < 4; i++) {
        uint64_t again = count(set, rounds);
        found = again < found ? again : found;
    }
    return found;
}

static void check_set(struct rk_set *set)
{
    count(set, 1); /* the first time pages are touched, lazily bound symbols found */
    uint64_t overhead = least(set, 1);
    if (alone) {
        CHECK(overhead < 2000);
        SAME_COUNT(count(set, 1), overhead);
        SAME_COUNT(count(set, 501) - overhead, 1000);
    }
    SAME_COUNT(least(set, 1000001) - overhead, 2000000);
    SAME_COUNT(least(set, 10000001) - overhead, 20000000);
    CHECK(rk_set_free(set) == NULL);
}

int main(void)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_host *host = NULL;
    struct rk_set *set = NULL;
    if (!SPIN_EXACT)
        SKIP("no loop of known length is written for this architecture");
    OK(rk_host_open(NULL, &host, &e));
    alone = live_leaves_kernel_out(host);
    check_set(live_self(host, "instructions:u", NULL));
    check_set(live_self(
        host, "instructions:u",
        &(struct rk_set_options){.size = sizeof(struct rk_set_options), .flags = RK_SET_NO_USER_READ}));
    check_set(live_self(
        host, "instructions:u",
        &(struct rk_set_options){.size = sizeof(struct rk_set_options), .flags = RK_SET_NO_INHERIT}));
    OK(rk_set_self("instructions:u", &set, &e));
    check_set(set);
    rk_host_free(host);
    return 0;
}

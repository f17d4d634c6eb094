/* Too few counters: estimates within their bounds, refusals in place of zeros, and reasons. */
#include "live.h"

#include <math.h>
#include <unistd.h>

static struct rk_error e = {.size = sizeof e};

/* The event n times, between `before` and `after`. */
static void repeat(char *text, size_t size, const char *before, const char *event, int n, const char *after)
{
    size_t at = (size_t)snprintf(text, size, "%s%s", before, event);

    for (int i = 1; i < n; i++)
        at += (size_t)snprintf(text + at, size - at, ",%s", event);
    snprintf(text + at, size - at, "%s", after);
}

static struct rk_set *open_set(struct rk_host *host, const char *text, const struct rk_set_options *options)
{
    struct rk_events *events;
    struct rk_target *target;
    struct rk_set *set;

    OK(rk_events_parse(host, text, &events, &e));
    OK(rk_target_self(&target, &e));
    OK(rk_set_open(host, events, target, options, &set, &e));
    rk_events_free(events);
    rk_target_free(target);
    return set;
}

/* More events than counters: they take turns, and the estimate is within its bound. */
static void test_multiplexed(struct rk_host *host)
{
    const struct rk_set_options options = {.size = sizeof options, .flags = RK_SET_NO_INHERIT};
    char text[512];
    struct rk_value v[32];
    uint32_t states[32];
    int shared = 0, within = 0;

    repeat(text, sizeof text, "", "instructions:u", 24, "");
    struct rk_set *set = open_set(host, text, &options);
    CHECK(rk_set_enable(set) == 0);
    spin(100000000);
    CHECK(rk_set_disable(set) == 0);
    CHECK(rk_set_total(set, v, states, 24) == 0);
    for (int i = 0; i < 24; i++) {
        double bound, estimate = rk_value_scale(&v[i], NULL, &bound);
        EQUAL(states[i], isnan(estimate) ? RK_STATE_STARVED : RK_STATE_COUNTED);
        if (isnan(estimate)) {
            OK(rk_set_explain(set, SIZE_MAX, (size_t)i, &e));
            EQUAL(e.cause, RK_CAUSE_STARVED);
            continue;
        }
        shared += v[i].running < v[i].enabled;
        within += fabs(estimate - 200000000) <= bound + 200000;
    }
    CHECK(shared >= 8);
    CHECK(within >= 22);
    rk_set_free(set);
}

/* A group too large for the PMU is refused, not silently zero. riscv64's kernel looks at no group's size: it is opened and
 * never counted, with that reason. */
static void test_group_too_large(struct rk_host *host)
{
    char text[512];
    struct rk_events *events;
    struct rk_target *target;
    struct rk_set *set = NULL;

    repeat(text, sizeof text, "{", "instructions:u", 24, "}");
    OK(rk_events_parse(host, text, &events, &e));
    OK(rk_target_self(&target, &e));
    int rc = rk_set_open(
        host, events, target,
        &(struct rk_set_options){.size = sizeof(struct rk_set_options), .flags = RK_SET_NO_INHERIT}, &set,
        &e);
#if defined(__riscv)
    struct rk_value v[24];
    uint32_t states[24];
    EQUAL(rc, 0);
    CHECK(rk_set_enable(set) == 0);
    spin(1000000);
    CHECK(rk_set_disable(set) == 0 && rk_set_total(set, v, states, 24) == 0);
    for (int i = 0; i < 24; i++) {
        EQUAL(states[i], RK_STATE_STARVED);
        EQUAL(v[i].running, 0);
        OK(rk_set_explain(set, SIZE_MAX, (size_t)i, &e));
        EQUAL(e.cause, RK_CAUSE_STARVED);
    }
    rk_set_free(set);
#else
    EQUAL(rc, -EINVAL);
    CHECK(set == NULL && strstr(e.what, "does not fit"));
#endif
    rk_target_free(target);
    rk_events_free(events);
}

/* Pinned and starved: not counted, and it says so, also where counters are read in user space: while they count. */
static void test_pinned(struct rk_host *host, uint32_t flags)
{
    const struct rk_set_options options = {.size = sizeof options, .flags = RK_SET_NO_INHERIT | flags};
    char text[512];
    struct rk_value v[24];
    uint32_t on[24], one[24], states[24];
    int starved = 0;

    repeat(text, sizeof text, "", "instructions:uD", 24, "");
    struct rk_set *set = open_set(host, text, &options);
    CHECK(rk_set_total(set, v, states, 24) == 0);
    for (int i = 0; i < 24; i++)
        EQUAL(states[i], RK_STATE_DISABLED);
    CHECK(rk_set_enable(set) == 0);
    spin(1000000);
    CHECK(rk_set_read(set, 0, v, one, 24) == 0);
    CHECK(rk_set_total(set, v, on, 24) == 0);
    CHECK(rk_set_disable(set) == 0);
    CHECK(rk_set_total(set, v, states, 24) == 0);
    for (int i = 0; i < 24; i++) {
        EQUAL(states[i], v[i].running ? RK_STATE_COUNTED : RK_STATE_STARVED);
        EQUAL(on[i], states[i]);
        EQUAL(one[i], states[i]);
        if (v[i].running) {
            CHECK(v[i].value >= 2000000);
            continue;
        }
        EQUAL(v[i].value, 0);
        OK(rk_set_explain(set, SIZE_MAX, (size_t)i, &e));
        EQUAL(e.cause, RK_CAUSE_STARVED);
        starved++;
    }
    CHECK(starved > 0 && starved < 24);
    rk_set_free(set);
}

int main(void)
{
    struct rk_host *host;
    struct rk_set *set;

    OK(rk_host_open(NULL, &host, &e));
    if (rk_set_self("instructions:u,cycles:u", &set, &e) < 0)
        SKIP("%s", e.what);
    rk_set_free(set);
    test_multiplexed(host);
    test_group_too_large(host);
    test_pinned(host, 0);
    test_pinned(host, RK_SET_NO_USER_READ);
    rk_host_free(host);
    return 0;
}

/* msr/tsc/: a PMU and an alias that only sysfs knows, against the instruction itself. */
#include "session.h"

int main(void)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_host *host = NULL;
    struct rk_events *events = NULL;
    struct rk_value v;
#if defined(__x86_64__)
    OK(rk_host_open(NULL, &host, &e));
    if (rk_events_parse(host, "msr/tsc/", &events, &e) < 0)
        SKIP("%s", e.what);
    rk_events_free(events);
    struct rk_set *set = live_self(host, "msr/tsc/", NULL);
    uint64_t before = __builtin_ia32_rdtsc();
    EQUAL(rk_set_enable(set), 0);
    uint64_t from = __builtin_ia32_rdtsc();
    busy_ms(20);
    uint64_t inside = __builtin_ia32_rdtsc() - from;
    EQUAL(rk_set_disable(set), 0);
    uint64_t outside = __builtin_ia32_rdtsc() - before;
    EQUAL(rk_set_total(set, &v, NULL, 1), 0);
    CHECK(v.value > 0 && v.value <= outside);
    /* The thread's own share of it; the machine may be busy. */
    printf("msr/tsc/ %" PRIu64 ", rdtsc %" PRIu64 " to %" PRIu64 "\n", v.value, inside, outside);
    rk_set_free(set);
    rk_host_free(host);
    return 0;
#else
    (void)e, (void)host, (void)events, (void)v;
    SKIP("msr is a PMU of x86");
#endif
}

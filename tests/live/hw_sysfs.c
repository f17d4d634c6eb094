/*
 * Events of the core PMU by what sysfs has for them: aliases, fields, whole words; bare and with the PMU. All must
 * agree with the generic events that they stand for.
 */
#include "live.h"

int main(void)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_host *host = NULL;
    struct rk_value v[6];
#if !defined(__aarch64__)
    SKIP("the aliases are those of arm64");
#else
    struct rk_pmu pmu = {.size = sizeof pmu};
    char text[512];
    OK(rk_host_open(NULL, &host, &e));
    size_t n = rk_host_pmu_count(host), i = 0;
    while (i < n && !(rk_host_pmu_get(host, i, &pmu) == 0 && pmu.core))
        i++;
    if (i >= n)
        SKIP("no core PMU");
    snprintf(text, sizeof text,
             "{instructions:u,%s/inst_retired/u,inst_retired:u,%s/event=0x8/u,%s/config=8,name=mine/u,armv8*/"
             "event=8/u}",
             pmu.name, pmu.name, pmu.name);
    struct rk_set *set = live_self(host, text, NULL);
    EQUAL(rk_set_event_count(set), 6);
    EQUAL(rk_set_enable(set), 0);
    spin(1000000);
    EQUAL(rk_set_disable(set), 0);
    EQUAL(rk_set_total(set, v, NULL, 6), 0);
    CHECK(v[0].value >= 2000000 && v[0].value < 2002000);
    for (int k = 1; k < 6; k++) {
        CHECK(v[k].running > 0);
        SAME_COUNT(v[k].value, v[0].value);
    }
    rk_set_free(set);
    rk_host_free(host);
    return 0;
#endif
    (void)e, (void)host, (void)v;
}

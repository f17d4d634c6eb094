/*
 * Raw events of the core PMU. On arm64, 0x08 is INST_RETIRED and 0x11 CPU_CYCLES by the architecture, so
 * that they must agree with the generic events, to the last one when all are in a group.
 */
#include "live.h"

int main(void)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_host *host = NULL;
    struct rk_value v[4];
#if !defined(__aarch64__)
    SKIP("0x08 and 0x11 mean instructions and cycles on arm64 only");
#endif
    OK(rk_host_open(NULL, &host, &e));
    struct rk_set *set = live_self(host, "{instructions:u,r8:u,cycles:u,r11:u}", NULL);
    EQUAL(rk_set_event_count(set), 4);
    EQUAL(rk_set_enable(set), 0);
    spin(1000000);
    EQUAL(rk_set_disable(set), 0);
    EQUAL(rk_set_total(set, v, NULL, 4), 0);
    for (int i = 0; i < 4; i++) {
        CHECK(v[i].running > 0);
        EQUAL(v[i].running, v[i].enabled);
    }
    CHECK(v[0].value >= 2000000 && v[0].value < 2002000);
    SAME_COUNT(v[1].value, v[0].value);
    SAME_COUNT(v[3].value, v[2].value);
    if (live_exact()) /* the emulated CPU takes two cycles for each instruction */
        EQUAL(v[2].value, 2 * v[0].value);
    rk_set_free(set);
    rk_host_free(host);
    return 0;
}

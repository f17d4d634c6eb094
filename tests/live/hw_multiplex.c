/*
 * More events than counters: each runs a part of the time and says so, and the estimate for all of it is
 * near the truth, which is known here: every event counts the same instructions.
 */
#include "live.h"

#include <math.h>

#define EVENTS "r8:u,r8:u,r8:u,r8:u,r8:u,r8:u,r8:u,r8:u,r8:u,r8:u,r8:u,r8:u"
#define N 12
#define ROUNDS 100000000 /* 0.4 s of the guest's time: a hundred turns of the scheduler */

int main(void)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_host *host = NULL;
    struct rk_value half[N], v[N];
    int part = 0;

    if (!live_exact())
        SKIP("how many counters there are is known of the guest only");
    OK(rk_host_open(NULL, &host, &e));
    struct rk_set *set = live_self(host, EVENTS, NULL);
    EQUAL(rk_set_enable(set), 0);
    spin(ROUNDS / 2);
    EQUAL(rk_set_total(set, half, N), 0);
    spin(ROUNDS / 2);
    EQUAL(rk_set_disable(set), 0);
    EQUAL(rk_set_total(set, v, N), 0);
    for (int i = 0; i < N; i++) {
        double bound = -1, all = rk_value_scale(&v[i], NULL, &bound);
        double second = rk_value_scale(&v[i], &half[i], NULL);
        CHECK(v[i].running > 0 && v[i].running <= v[i].enabled);
        part += v[i].running < v[i].enabled;
        if (fabs(all - 2.0 * ROUNDS) > 0.05 * 2.0 * ROUNDS || fabs(second - ROUNDS) > 0.1 * ROUNDS)
            FAIL("event %d: %.0f instructions estimated of %d, %.0f of the second half", i, all, 2 * ROUNDS,
                 second);
        CHECK(bound >= 0);
    }
    CHECK(part >= N - 7);
    rk_set_close(set);
    rk_host_close(host);
    return 0;
}

/*
 * A set's rings have one reader: a second stream, or a capture beside a stream, is refused with a sentence and does
 * not disturb the first; after the first is closed there may be another. Rings beyond all measure are refused.
 */
#include "live.h"

#include <unistd.h>

int main(void)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_host *host;
    struct rk_events *events;
    struct rk_target *target;
    struct rk_set *set;
    struct rk_stream *first, *second = NULL;
    struct rk_capture *capture = NULL;
    struct rk_set_options options = {.size = sizeof options, .flags = RK_SET_NO_INHERIT, .period = 1000000};
    struct rk_capture_options to = {.size = sizeof to, .path = "stream_once.data"};

    OK(rk_host_open(NULL, &host, &e));
    OK(rk_events_parse(host, "cpu-clock:u", &events, &e));
    OK(rk_target_self(&target, &e));
    if (rk_set_open(host, events, target, &options, &set, &e) < 0)
        SKIP("%s", e.what);

    OK(rk_stream_live(set, &first, &e));
    for (int i = 0; i < 2; i++) {
        e = (struct rk_error){.size = sizeof e};
        EQUAL(i == 0 ? rk_stream_live(set, &second, &e)
                     : rk_capture_open(host, set, target, &to, &capture, &e),
              -EBUSY);
        CHECK(strstr(e.what, "already") && e.remedy[0]);
        CHECK(!second && !capture);
    }
    CHECK(access(to.path, F_OK) < 0);
    OK(rk_set_enable(set));
    spin(100000000);
    OK(rk_set_disable(set));
    OK(rk_stream_drain(first));
    const struct rk_record *record;
    int n = 0;
    while (rk_stream_next(first, &record) == 1)
        n += record->type == RK_RECORD_SAMPLE;
    CHECK(n > 0);
    rk_stream_free(first);
    OK(rk_stream_live(set, &second, &e));
    rk_stream_free(second);
    rk_set_free(set);

    options.ring_bytes = UINT32_C(1) << 31;
    EQUAL(rk_set_open(host, events, target, &options, &set, &e), -EINVAL);
    CHECK(strstr(e.what, "ring_bytes"));
    rk_target_free(target);
    rk_events_free(events);
    rk_host_free(host);
    return 0;
}

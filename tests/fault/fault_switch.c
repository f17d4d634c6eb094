/* A recording of this thread that is switched off and on, looked at, and continued in a second file. */
#include "fault.h"

#include <errno.h>
#include <unistd.h>

static void check_readable(void)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_stream *stream = NULL;
    const struct rk_record *record;
    int rc;
    if (fault_pending())
        return;
    /* Between two files there is the first one alone. */
    if (rk_stream_file(access("perf.data", F_OK) == 0 ? "perf.data" : "first.data", &stream, &e) < 0)
        fault_wrong(__FILE__, __LINE__, e.what);
    while ((rc = rk_stream_next(stream, &record)) == 1)
        EXPECT(rk_stream_release(stream) == 0);
    EXPECT(rc == 0);
    rk_stream_free(stream);
}

static int scenario(uint64_t *digest)
{
    struct rk_host *host = NULL;
    struct rk_events *events = NULL;
    struct rk_target *target = NULL;
    struct rk_set *set = NULL;
    struct rk_capture *capture = NULL;
    struct rk_set_options options = {
        .size = sizeof options, .period = 1, .flags = RK_SET_NO_INHERIT, .records = RK_RECORDS_PROFILE};
    struct rk_capture_stats stats = {.size = sizeof stats};
    bool opened = false;
    int rc = 0;

    NEW(host, rk_host_open(NULL, &host, e));
    NEW(events, rk_events_parse(host, "page-faults:u", &events, e));
    NEW(target, rk_target_self(&target, e));
    NEW(set, rk_set_open(host, events, target, &options, &set, e));
    NEW(capture, rk_capture_open(host, set, target, NULL, &capture, e));
    opened = true;
    HOT(rk_capture_disable(capture));
    HOT(rk_capture_enable(capture));
    HOT(rk_capture_step(capture, 0));
    HOT(rk_capture_snapshot(capture));
    TRY(rk_capture_switch(capture, "first.data", e));
    HOT(rk_capture_step(capture, 0));
    TRY(rk_capture_finish(capture, &stats, e));
    EXPECT(stats.records > 0 && stats.bytes > 0);
    *digest = 1;
end:
    rk_capture_free(capture);
    rk_set_free(set);
    rk_target_free(target);
    rk_events_free(events);
    rk_host_free(host);
    if (opened)
        check_readable();
    return rc;
}

int main(int argc, char **argv)
{
    return fault_main(&(struct fault_scenario){.name = "switch", .run = scenario}, argc, argv);
}

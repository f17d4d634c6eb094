/* A command recorded: rings, file, synthetic records, build-ids, closing sections. What can't be had costs the
 * recording or is left out of it, never a crash, a leak or another's file. */
#include "fault.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct fault_scenario self;

static int prepare(void)
{
    struct rk_set_options o = {.size = sizeof o, .period = 1};
    struct rk_error e = {.size = sizeof e};
    struct rk_host *host;
    struct rk_events *events;
    struct rk_target *target;
    struct rk_set *set;

    if (rk_host_open(NULL, &host, &e) < 0 || rk_events_parse(host, "page-faults", &events, &e) < 0 ||
        rk_target_self(&target, &e) < 0)
        return e.code;
    if (rk_set_open(host, events, target, &o, &set, &e) < 0)
        self.skip = "page-faults can't be sampled here";
    else
        rk_set_close(set);
    rk_target_free(target);
    rk_events_free(events);
    rk_host_close(host);
    return 0;
}

static int scenario(uint64_t *digest)
{
    struct rk_set_options o = {.size = sizeof o, .period = 1, .records = RK_RECORDS_PROFILE};
    struct rk_capture_options file = {
        .size = sizeof file, .path = "data", .command = (const char *const[]){"record", "true", NULL}};
    struct rk_capture_stats stats = {.size = sizeof stats};
    struct rk_exit exit = {.size = sizeof exit};
    char *argv[] = {"/bin/true", NULL};
    struct rk_host *host = NULL;
    struct rk_events *events = NULL;
    struct rk_target *target = NULL;
    struct rk_set *set = NULL;
    struct rk_capture *capture = NULL;
    int rc = 0, started = 0;

    NEW(host, rk_host_open(NULL, &host, e));
    NEW(events, rk_events_parse(host, "page-faults", &events, e));
    NEW(target, rk_target_command(argv, NULL, &target, e));
    NEW(set, rk_set_open(host, events, target, &o, &set, e));
    NEW(capture, rk_capture_open(host, set, target, &file, &capture, e));
    TRY(rk_target_start(target, e));
    started = 1;
    while ((rc = rk_capture_step(capture, 100)) == 1)
        ;
    {
        struct rk_capture *closing = capture;
        capture = NULL;
        TRY(rk_capture_close(closing, &stats, e));
    }
    EXPECT(stats.loss.kept > 0);
    EXPECT(stats.records > stats.loss.kept);
    *digest = fault_fold(0, "recorded", 8);
end:
    if (capture) {
        struct rk_error why = {.size = sizeof why};
        int closed = rk_capture_close(capture, NULL, &why);
        EXPECT(closed >= 0 || (why.code == closed && why.what[0]));
    }
    rk_set_close(set);
    if (started) {
        int waited = rk_target_wait(target, -1, &exit);
        if (rc >= 0)
            rc = waited;
        if (waited < 0)
            rk_target_wait(target, -1, &exit);
    }
    rk_target_free(target);
    rk_events_free(events);
    rk_host_close(host);
    return rc;
}

int main(int argc, char **argv)
{
    self = (struct fault_scenario){.name = "capture", .prepare = prepare, .run = scenario};
    return fault_main(&self, argc, argv);
}

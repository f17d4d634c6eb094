/*
 * What runs already, in front of a live stream: of this process, opened enabled and enabled later; of a process that is
 * killed before each system call. What can't be read is said by the call, or once by next().
 */
#include "fault.h"
#include "victim.h"

#include <errno.h>

static struct victim victim;
static bool enabled, attached;

/* Takes all there is: how many were synthesised; or what next() said. */
static int take(struct rk_stream *stream, uint64_t *digest)
{
    const struct rk_record *record;
    int rc, made = 0;

    while ((rc = rk_stream_next(stream, &record)) == 1) {
        if (!(record->present & RK_PRESENT_SYNTHESISED))
            continue;
        made++;
        if (record->type == RK_RECORD_MMAP2 && !attached) /* each victim has mappings of its own */
            *digest = fault_fold(*digest, &record->bytes, sizeof record->bytes);
    }
    if (rc < 0) {
        struct rk_error why = {.size = sizeof why};
        EXPECT(rk_stream_explain(stream, &why) == 0 && why.code == rc && why.what[0]);
        EXPECT(rk_stream_next(stream, &record) != rc); /* once */
    }
    EXPECT(rk_stream_release(stream) == 0);
    return rc < 0 ? rc : made;
}

static int scenario(uint64_t *digest)
{
    struct rk_set_options options = {.size = sizeof options,
                                     .period = 1000000000,
                                     .flags = RK_SET_NO_INHERIT | (enabled ? RK_SET_ENABLED : 0),
                                     .ring_bytes = 128u << 10,
                                     .records = RK_RECORDS_PROFILE | RK_RECORDS_CODE};
    struct rk_host *host = NULL;
    struct rk_events *events = NULL;
    struct rk_target *target = NULL;
    struct rk_set *set = NULL;
    struct rk_stream *stream = NULL;
    int rc = 0;

    if (attached)
        victim_start(&victim, false);
    NEW(host, rk_host_open(NULL, &host, e));
    NEW(events, rk_events_parse(host, "page-faults:u", &events, e));
    if (attached)
        NEW(target, rk_target_process(victim.pid, &target, e));
    else
        NEW(target, rk_target_self(&target, e));
    NEW(set, rk_set_open(host, events, target, &options, &set, e));
    target = rk_target_free(target); /* the set has what it needs */
    NEW(stream, rk_stream_live(set, &stream, e));
    HOT(rk_set_enable(set));
    if (attached)
        victim_work(&victim);
    HOT(take(stream, digest));
    rc = rk_stream_world(stream);
    if (rc < 0) {
        struct rk_error why = {.size = sizeof why};
        EXPECT(rk_stream_explain(stream, &why) == 0 && why.code == rc && why.what[0]);
        int code = rc;
        HOT(take(stream, digest)); /* nothing of it; all else goes on */
        EXPECT(rc == 0);
        rc = code;
        goto end;
    }
    HOT(take(stream, digest));
    HOT(rk_set_disable(set));
end:
    EXPECT(rk_stream_free(stream) == NULL);
    rk_set_free(set);
    rk_target_free(target);
    rk_events_free(events);
    rk_host_free(host);
    if (attached)
        victim_end(&victim);
    return rc < 0 ? rc : 0;
}

static void strike(void)
{
    victim_kill(&victim);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--victim"))
        return victim_main(false);
    signal(SIGPIPE, SIG_IGN);
    int rc = fault_main(&(struct fault_scenario){.name = "world when enabled", .run = scenario}, argc, argv);
    enabled = true;
    rc |=
        fault_main(&(struct fault_scenario){.name = "world of an enabled set", .run = scenario}, argc, argv);
    attached = true;
    rc |= fault_main(&(struct fault_scenario){.name = "world killed", .run = scenario, .strike = strike},
                     argc, argv);
    enabled = false;
    rc |= fault_main(
        &(struct fault_scenario){.name = "world killed when enabled", .run = scenario, .strike = strike},
        argc, argv);
    return rc;
}

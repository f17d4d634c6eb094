/* `reckon record sh -c …`: sampled into a file, which must be one that can be read, whatever happened. */
#include "../live/bpf.h"
#include "fault.h"

#include <errno.h>

/* Where a BPF program can be loaded, the kernel is sampled too, so that it is found: it was there before. */
static const char *event = "cpu-clock:u";

static int prepare(void)
{
    if (load_bpf("earlier") >= 0) /* stays loaded */
        event = "cpu-clock";
    return 0;
}

/* What a recording that met a fault has left is readable to the last flush. */
static void check_readable(void)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_stream *stream = NULL;
    const struct rk_record *record;
    if (fault_pending())
        return;
    if (rk_stream_file("perf.data", &stream, &e) < 0)
        fault_wrong(__FILE__, __LINE__, e.what);
    int rc = 0;
    while ((rc = rk_stream_next(stream, &record)) == 1)
        EXPECT(rk_stream_release(stream) == 0);
    EXPECT(rc == 0);
    rk_stream_free(stream);
}

static int scenario(uint64_t *digest)
{
    char *argv[] = {"sh", "-c", "exit 7", NULL};
    struct rk_host *host = NULL;
    struct rk_events *events = NULL;
    struct rk_target *target = NULL;
    struct rk_set *set = NULL;
    struct rk_capture *capture = NULL;
    struct rk_exit x = {.size = sizeof x};
    struct rk_set_options options = {.size = sizeof options,
                                     .frequency = 1000,
                                     .sample =
                                         RK_SAMPLE_CALLCHAIN | RK_SAMPLE_REGS_USER | RK_SAMPLE_STACK_USER,
                                     .regs_user = rk_unwinder_registers(RK_MACHINE_HERE),
                                     .stack_user = 4096,
                                     .ring_bytes = 128u << 10,
                                     .records = RK_RECORDS_PROFILE};
    struct rk_capture_options file = {.size = sizeof file,
                                      .path = "perf.data",
                                      .flags = RK_CAPTURE_UNWIND,
                                      .command = (const char *const[]){"sh", "-c", "exit 7", NULL}};
    struct rk_capture_stats stats = {.size = sizeof stats};
    bool opened = false, started = false;
    int rc = 0;

    if (options.regs_user == 0) /* a machine whose stacks are not unwound */
        options.sample = RK_SAMPLE_CALLCHAIN;

    NEW(host, rk_host_open(NULL, &host, e));
    NEW(events, rk_events_parse(host, event, &events, e));
    NEW(target, rk_target_command(argv, NULL, &target, e));
    NEW(set, rk_set_open(host, events, target, &options, &set, e));
    NEW(capture, rk_capture_open(host, set, target, &file, &capture, e));
    opened = true;
    TRY(rk_target_start(target, e));
    started = true;
    do
        HOT(rk_capture_step(capture, 100));
    while (rc == 1);
    TRY(rk_capture_finish(capture, &stats, e));
    EXPECT(stats.records > 0 && stats.bytes > 0);
    *digest = 1;
end:
    rk_capture_free(capture);
    rk_set_free(set);
    if (started)
        for (int r = 0; r != 1 && r != -ECHILD;)
            r = rk_target_wait(target, 100, &x);
    rk_target_free(target);
    rk_events_free(events);
    rk_host_free(host);
    if (opened)
        check_readable();
    return rc;
}

int main(int argc, char **argv)
{
    return fault_main(&(struct fault_scenario){.name = "record", .prepare = prepare, .run = scenario}, argc,
                      argv);
}

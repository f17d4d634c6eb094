/*
 * Records a command with its registers and the top of its stack in every sample, for the oracle and the benchmark:
 *
 *     stacks OUT BYTES FREQUENCY COMMAND...
 */
#include "../live/live.h"

int main(int argc, char **argv)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_host *host;
    struct rk_events *events;
    struct rk_target *target;
    struct rk_set *set;
    struct rk_capture *capture;

    if (argc < 5)
        return 2;
    struct rk_set_options options = {
        .size = sizeof options,
        .records = RK_RECORDS_PROFILE,
        .frequency = strtoull(argv[3], NULL, 10),
        .sample = RK_SAMPLE_REGS_USER | RK_SAMPLE_STACK_USER,
        .regs_user = rk_unwinder_registers(RK_MACHINE_HERE),
        .stack_user = (uint32_t)strtoul(argv[2], NULL, 10),
        .ring_bytes = 32u << 20,
    };
    struct rk_capture_options to = {.size = sizeof to, .path = argv[1]};
    struct rk_capture_stats stats = {.size = sizeof stats};
    OK(rk_host_open(NULL, &host, &e));
    OK(rk_events_parse(host, "cpu-clock:u", &events, &e));
    OK(rk_target_command(argv + 4, NULL, &target, &e));
    int rc = rk_set_open(host, events, target, &options, &set, &e);
    if (rc == -EPERM || rc == -EACCES) { /* the mlock limit, or more */
        options.ring_bytes = 0;
        rc = rk_set_open(host, events, target, &options, &set, &e);
    }
    if (rc < 0)
        SKIP("stacks can't be recorded here: %s", e.what);
    OK(rk_capture_open(host, set, target, &to, &capture, &e));
    OK(rk_target_start(target, &e));
    while ((rc = rk_capture_step(capture, 100)) == 1)
        ;
    EQUAL(rc, 0);
    struct rk_exit x = {.size = sizeof x};
    EQUAL(rk_target_wait(target, -1, &x), 1);
    EQUAL(x.status, 0);
    OK(rk_capture_finish(capture, &stats, &e));
    rk_capture_free(capture);
    printf("%" PRIu64 " stacks, %" PRIu64 " lost, %.1f MB\n", stats.loss.kept, stats.loss.lost,
           1e-6 * (double)stats.bytes);
    rk_set_free(set);
    rk_target_free(target);
    rk_events_free(events);
    rk_host_free(host);
    return 0;
}

/*
 * tests/fault/recording.h: a small recording to read, made once per scenario.
 */
#ifndef FAULT_RECORDING_H
#define FAULT_RECORDING_H

#include <reckon/reckon.h>

#include <errno.h>
#include <stdio.h>

/* Records `sh -c …` into perf.data in the working directory, with the fields `sample`: 0 or -errno, said on stdout. */
static inline int record_fields(uint64_t sample)
{
    char *argv[] = {"sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done", NULL};
    struct rk_error e = {.size = sizeof e};
    struct rk_host *host = NULL;
    struct rk_events *events = NULL;
    struct rk_target *target = NULL;
    struct rk_set *set = NULL;
    struct rk_capture *capture = NULL;
    struct rk_exit x = {.size = sizeof x};
    struct rk_set_options options = {
        .size = sizeof options, .frequency = 1000, .sample = sample, .records = RK_RECORDS_PROFILE};
    int rc;

    if (sample & RK_SAMPLE_STACK_USER) {
        options.regs_user = rk_unwinder_registers(RK_MACHINE_HERE);
        options.stack_user = 4096;
    }
    if ((rc = rk_host_open(NULL, &host, &e)) < 0 ||
        (rc = rk_events_parse(host, "cpu-clock:u", &events, &e)) < 0 ||
        (rc = rk_target_command(argv, NULL, &target, &e)) < 0 ||
        (rc = rk_set_open(host, events, target, &options, &set, &e)) < 0 ||
        (rc = rk_capture_open(host, set, target, NULL, &capture, &e)) < 0 ||
        (rc = rk_target_start(target, &e)) < 0)
        printf("%s\n", e.what);
    while (rc >= 0 && (rc = rk_capture_step(capture, 100)) == 1)
        ;
    if (rc == 0 && (rc = rk_capture_finish(capture, NULL, &e)) < 0)
        printf("%s\n", e.what);
    if (target)
        rk_target_wait(target, 1000, &x);
    rk_capture_free(capture);
    rk_set_free(set);
    rk_target_free(target);
    rk_events_free(events);
    rk_host_free(host);
    return rc;
}

static inline int make_recording(void)
{
    return record_fields(RK_SAMPLE_CALLCHAIN);
}

/* Stacks as they were, to be unwound when they are read. */
static inline int make_stacks(void)
{
    return record_fields(RK_SAMPLE_CALLCHAIN | RK_SAMPLE_REGS_USER | RK_SAMPLE_STACK_USER);
}

#endif

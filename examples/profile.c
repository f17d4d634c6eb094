/*
 * Records a command and shows where its time went: the ten hottest functions.
 *
 *     profile COMMAND [ARGUMENT ...]
 *
 * The recording stays in profile.data: `reckon report profile.data` and `perf report -i profile.data` read it.
 */
#include <reckon/reckon.h>

#include <inttypes.h>
#include <stdio.h>

static struct rk_error e = {.size = sizeof e};

/* Runs the command with its CPU time sampled: its exit status, or -1 and the reason in e. */
static int record(char **argv)
{
    struct rk_set_options options = {.size = sizeof options,
                                     .frequency = 4000,
                                     .sample = RK_SAMPLE_CALLCHAIN,
                                     .records = RK_RECORDS_PROFILE};
    struct rk_capture_options file = {
        .size = sizeof file, .path = "profile.data", .command = (const char *const *)argv};
    struct rk_exit exit = {.size = sizeof exit};
    struct rk_host *host = NULL;
    struct rk_events *events = NULL;
    struct rk_target *target = NULL;
    struct rk_set *set = NULL;
    struct rk_capture *capture = NULL;
    int status = -1;

    if (rk_host_open(NULL, &host, &e) == 0 && rk_events_parse(host, "cpu-clock", &events, &e) == 0 &&
        rk_target_command(argv, NULL, &target, &e) == 0 &&
        rk_set_open(host, events, target, &options, &set, &e) == 0 &&
        rk_capture_open(host, set, target, &file, &capture, &e) == 0 && rk_target_start(target, &e) == 0) {
        while (rk_capture_step(capture, 100) == 1)
            ;
        if (rk_capture_finish(capture, NULL, &e) == 0 && rk_target_wait(target, -1, &exit) == 1)
            status = exit.status;
    }
    rk_capture_free(capture);
    rk_set_free(set);
    rk_target_free(target);
    rk_events_free(events);
    rk_host_free(host);
    return status;
}

static int report(void)
{
    struct rk_profile_summary summary = {.size = sizeof summary};
    struct rk_profile *profile = NULL;
    struct rk_aggregate *functions = NULL;
    int rc = rk_profile_file("profile.data", NULL, &profile, NULL, &e);

    if (rc == 0 && (rc = rk_profile_aggregate(profile, RK_PER_FUNCTION, &functions, &e)) == 0) {
        rk_profile_summary(profile, &summary);
        printf("%" PRIu64 " samples, %" PRIu64 " lost\n", summary.samples, summary.loss.lost);
        for (size_t i = 0; i < functions->n && i < 10; i++)
            printf("%6.2f%%  %s\n", 100.0 * (double)functions->self[i] / (double)summary.weight,
                   functions->name[i]);
    }
    rk_aggregate_free(functions);
    rk_profile_free(profile);
    return rc;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: profile COMMAND [ARGUMENT ...]\n");
        return 2;
    }
    int status = record(argv + 1);
    if (status < 0 || report() < 0) {
        fprintf(stderr, "%s\n%s\n", e.what, e.remedy);
        return 1;
    }
    return status;
}

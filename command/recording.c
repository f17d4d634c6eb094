#include "recording.h"

#include "command.h"
#include "handles.h"
#include "print.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS_MOST 8

struct rk_profile_options recording_options(void)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    struct rk_profile_options options = {.size = sizeof options};

    if (cpus > 1)
        options.threads = cpus < THREADS_MOST ? (uint32_t)cpus : THREADS_MOST;
    return options;
}

const struct rk_profile *recording_only(const char *verb, const struct recording *recording)
{
    struct rk_profile_summary s = {.size = sizeof s};
    char name[200];

    if (recording->n == 1)
        return recording->profiles[0];
    fprintf(stderr, "reckon %s: the recording has samples of several events; choose one:\n", verb);
    for (size_t i = 0; i < recording->n; i++)
        if (rk_profile_summary(recording->profiles[i], &s) == 0)
            fprintf(stderr, "  fix: %s --event '%s'\n", recording->again ? recording->again : "",
                    print_safe(s.event, name, sizeof name));
    return NULL;
}

void recording_free(struct recording *recording)
{
    for (size_t i = 0; i < recording->n; i++)
        rk_profile_free(recording->profiles[i]);
    free(recording->profiles);
}

void recording_print_loss(FILE *to, const struct rk_loss *loss)
{
    char kept[40], lost[40], skipped[40];

    fprintf(to, "%s kept, %s lost, %s skipped", print_some(loss->kept, "sample", kept, sizeof kept),
            loss->present & RK_LOSS_LOST ? print_count(loss->lost, lost, sizeof lost) : "an unknown number",
            loss->present & RK_LOSS_SKIPPED ? print_count(loss->skipped, skipped, sizeof skipped)
                                            : "an unknown number");
}

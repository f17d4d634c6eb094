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

static int out_of_memory(const char *verb)
{
    fprintf(stderr, "reckon %s: out of memory\n", verb);
    return STATUS_FAILED;
}

static int no_such_event(const char *verb, const struct rk_profile_columns *c, const char *event)
{
    char name[200];

    fprintf(stderr, "reckon %s: the recording has no event '%s'; it has:", verb, event);
    for (size_t i = 0; i < c->event_n; i++)
        fprintf(stderr, "%s %s", i ? "," : "", print_safe(c->text[c->event_name[i]], name, sizeof name));
    fputc('\n', stderr);
    return STATUS_USAGE;
}

/* One of the profile's events, as a profile of its own. */
static int take_event(const char *verb, const struct rk_profile *all, const char *event,
                      struct recording *ret)
{
    struct rk_profile_filter filter = {.size = sizeof filter, .event = event};
    struct rk_error e = {.size = sizeof e};

    if (rk_profile_select(all, &filter, &ret->profiles[ret->n], &e) < 0)
        return print_error(verb, &e);
    ret->n++;
    return 0;
}

/* One profile for each event that has samples, or the one that is asked for. */
static int split(const char *verb, struct rk_profile *all, const char *event, struct recording *ret)
{
    struct rk_profile_columns c = {.size = sizeof c};
    struct rk_profile_summary s = {.size = sizeof s};
    int status = 0;

    rk_profile_columns(all, &c);
    rk_profile_summary(all, &s);
    ret->profiles = calloc(c.event_n + 1, sizeof(struct rk_profile *));
    if (!ret->profiles)
        return out_of_memory(verb);
    if (!event && s.events <= 1 && c.event_n <= 1) { /* all of it: most have but one */
        ret->profiles[ret->n++] = all;
        return 0;
    }
    for (size_t i = 0; i < c.event_n && status == 0; i++)
        if (event ? strcmp(c.text[c.event_name[i]], event) == 0 && ret->n == 0
                  : c.event_samples[i] || (i + 1 == c.event_n && ret->n == 0))
            status = take_event(verb, all, c.text[c.event_name[i]], ret);
    if (status == 0 && event && ret->n == 0)
        status = no_such_event(verb, &c, event);
    rk_profile_free(all);
    return status;
}

struct rk_profile_options recording_options(void)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    struct rk_profile_options options = {.size = sizeof options};

    if (cpus > 1)
        options.threads = cpus < THREADS_MOST ? (uint32_t)cpus : THREADS_MOST;
    return options;
}

int recording_read(const char *verb, const char *path, const char *event,
                   const struct rk_profile_options *how, struct recording *ret)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_profile *all = NULL;
    uint64_t damaged = 0;

    if (rk_profile_file(path ? path : RECORDING_DEFAULT, how, &all, &damaged, &e) < 0)
        return print_error(verb, &e);
    if (damaged)
        print_error(verb, &e); /* the first in full; what else can be read is still shown */
    if (damaged > 1)
        fprintf(stderr, "reckon %s: %ju damaged records were left out\n", verb, (uintmax_t)damaged);
    ret->damaged = damaged > 0;
    return split(verb, all, event, ret);
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
            fprintf(stderr, "  fix: --event '%s'\n", print_safe(s.event, name, sizeof name));
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

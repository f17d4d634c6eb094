#include "recording.h"

#include "command.h"
#include "handles.h"
#include "print.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EVENTS_MOST 256 /* builders at work side by side */
#define THREADS_MOST 8

struct reading {
    const char *verb;
    struct rk_stream *stream;
    struct rk_profile_builder *builders[EVENTS_MOST];
    size_t n;
    bool damaged;
};

static int out_of_memory(const char *verb)
{
    fprintf(stderr, "reckon %s: out of memory\n", verb);
    return STATUS_FAILED;
}

static int no_such_event(const struct reading *r, const char *event)
{
    struct rk_stream_event e = {.size = sizeof e};
    char name[200];

    fprintf(stderr, "reckon %s: the recording has no event '%s'; it has:", r->verb, event);
    for (size_t i = 0; i < rk_stream_events(r->stream) && rk_stream_event(r->stream, i, &e) == 0; i++)
        fprintf(stderr, "%s %s", i ? "," : "", print_safe(e.name, name, sizeof name));
    fputc('\n', stderr);
    return STATUS_USAGE;
}

/* A builder for each event, or for those of the name that is asked for. */
static int begin(struct reading *r, const char *event, const struct rk_profile_options *how)
{
    struct rk_profile_options options = *how;
    struct rk_stream_event e = {.size = sizeof e};
    struct rk_error error = {.size = sizeof error};
    size_t events = rk_stream_events(r->stream);

    if (events > EVENTS_MOST && !event) {
        fprintf(stderr, "reckon %s: the recording has %zu events; choose one with --event\n", r->verb,
                events);
        return STATUS_USAGE;
    }
    for (size_t i = 0; i < events && r->n < EVENTS_MOST; i++) {
        if (event && (rk_stream_event(r->stream, i, &e) < 0 || strcmp(e.name, event) != 0))
            continue;
        options.event = (uint32_t)i;
        options.event_set = 1;
        if (rk_profile_builder_open(&options, &r->builders[r->n], &error) < 0)
            return print_error(r->verb, &error);
        r->n++;
    }
    if (event && r->n == 0)
        return no_such_event(r, event);
    if (r->n == 0) { /* a pipe tells its events later */
        if (rk_profile_builder_open(how, &r->builders[0], &error) < 0)
            return print_error(r->verb, &error);
        r->n = 1;
    }
    return 0;
}

static int feed(struct reading *r)
{
    const struct rk_record *record;
    struct rk_error e = {.size = sizeof e};
    uint64_t bad = 0;
    int rc;

    while ((rc = rk_stream_next(r->stream, &record)) != 0) {
        for (size_t i = 0; rc == 1 && i < r->n; i++) {
            int fed = rk_profile_feed(r->builders[i], r->stream, record);
            if (fed < 0)
                rc = fed;
        }
        if (rc == -ENOMEM)
            return out_of_memory(r->verb);
        if (rc < 0 && bad++ == 0 && rk_stream_explain(r->stream, &e) == 0)
            print_error(r->verb, &e); /* the first in full; what else can be read is still shown */
        rk_stream_release(r->stream);
    }
    if (bad > 1)
        fprintf(stderr, "reckon %s: %ju damaged records were left out\n", r->verb, (uintmax_t)bad);
    r->damaged = bad > 0;
    return 0;
}

/* The profiles that have samples; the first one where none has. */
static int finish(struct reading *r, struct recording *ret)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_profile_summary s = {.size = sizeof s};
    int status = 0;

    ret->damaged = r->damaged;
    ret->profiles = calloc(r->n, sizeof(struct rk_profile *));
    if (!ret->profiles)
        return out_of_memory(r->verb);
    for (size_t i = 0; i < r->n && status == 0; i++) {
        struct rk_profile *profile = NULL;
        struct rk_profile_builder *builder = r->builders[i];
        r->builders[i] = NULL; /* finish() closes it whatever happens */
        if (rk_profile_finish(builder, r->stream, &profile, &e) < 0)
            return print_error(r->verb, &e);
        rk_profile_summary(profile, &s);
        if (s.samples || (i + 1 == r->n && ret->n == 0))
            ret->profiles[ret->n++] = profile;
        else
            rk_profile_free(profile);
    }
    return 0;
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
    struct reading r = {.verb = verb};
    struct rk_profile_summary s = {.size = sizeof s};

    if (rk_stream_file(path ? path : RECORDING_DEFAULT, &r.stream, &e) < 0)
        return print_error(verb, &e);
    int status = begin(&r, event, how);
    if (status == 0)
        status = feed(&r);
    if (status == 0)
        status = finish(&r, ret);
    for (size_t i = 0; i < r.n; i++)
        rk_profile_builder_close(r.builders[i]);
    rk_stream_close(r.stream);
    if (status == 0 && ret->damaged && rk_profile_summary(ret->profiles[0], &s) == 0 && s.samples == 0)
        status = STATUS_FAILED; /* nothing could be read: there is nothing to show */
    return status;
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

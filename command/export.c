/*
 * reckon export: a recording's profile in another tool's format.
 */
#include "command.h"
#include "handles.h"
#include "options.h"
#include "print.h"
#include "recording.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct option table[] = {
    {'f', 0, "format", "FORMAT", "folded (default), csv or json"},
    {'e', 'e', "event", "NAME", "only this event of a recording that has several"},
    {'i', 'i', "input", "FILE", "the recording; default perf.data (also as a plain word; - is stdin)"},
    {'I', 0, "no-inline", NULL, "functions that were inlined are no frames of their own"},
    {'o', 'o', "output", "FILE", "write there in place of stdout"},
    {0},
};

static int write_profile(const struct rk_profile *profile, const char *format, const char *path)
{
    struct rk_error e = {.size = sizeof e};
    FILE *to = path && strcmp(path, "-") != 0 ? fopen(path, "we") : stdout;

    if (!to) {
        fprintf(stderr, "reckon export: %s: %s\n", path, strerror(errno));
        return STATUS_FAILED;
    }
    struct rk_sink sink = print_sink(to);
    int rc = rk_profile_export(profile, format, &sink, &e);
    errno = 0;
    bool bad = (to == stdout ? fflush(to) : fclose(to)) != 0;
    if (rc < 0) {
        print_error("export", &e);
        return rc == -EINVAL ? STATUS_USAGE : STATUS_FAILED;
    }
    if (bad) {
        fprintf(stderr, "reckon export: %s: %s\n", to == stdout ? "stdout" : path, strerror(errno));
        return STATUS_FAILED;
    }
    return 0;
}

int verb_export(int argc, char **argv)
{
    struct options o = {
        .verb = "export",
        .usage = "[--format FORMAT] [-o OUT] [FILE]",
        .about = "Writes the profile of a recording: folded stacks for flame graph tools, CSV, or JSON.",
        .table = table,
    };
    const char *input = NULL, *output = NULL, *format = "folded", *event = NULL;
    struct rk_profile_options how = recording_options();
    int id;

    options_begin(&o, argc, argv);
    while ((id = options_next(&o)) > 0)
        switch (id) {
        case 'f':
            format = o.value;
            break;
        case 'e':
            event = o.value;
            break;
        case 'i':
            input = o.value;
            break;
        case 'I':
            how.no_inline = 1;
            break;
        case 'o':
            output = o.value;
            break;
        }
    if (id < 0)
        return options_status(id);
    if (o.rest_n > 1 || (o.rest_n == 1 && input))
        return options_wrong(&o, "one recording at a time");
    handle_recording struct recording recording = {0};
    int status = recording_read("export", o.rest_n ? o.rest[0] : input, event, &how, &recording);
    if (status)
        return status;
    const struct rk_profile *profile = recording_only("export", &recording);
    status = profile ? write_profile(profile, format, output) : STATUS_USAGE;
    return status == 0 && recording.damaged ? STATUS_FAILED : status;
}

/*
 * reckon export and reckon merge: profiles in other tools' formats; several files as one.
 */
#include "command.h"
#include "destination.h"
#include "handles.h"
#include "print.h"
#include "view.h"

#include <reckon/export.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT = VIEW_OWN, LABEL };

static const struct option export_table[] = {
    {FORMAT, 0, "format", "FORMAT",
     "folded (default), csv, json, pprof, speedscope, firefox, perf-script or html"},
    {'i', 'i', "input", "FILE", "the recording; default perf.data (also as a plain word; - is stdin)"},
    {'o', 'o', "output", "FILE", "write there in place of stdout"},
    VIEW_OPTIONS,
    {0},
};

static const struct option merge_table[] = {
    {'o', 'o', "output", "FILE", "write there in place of stdout"},
    {FORMAT, 0, "format", "FORMAT",
     "pprof (default: all of it, to be read again), or as reckon export has them"},
    {LABEL, 0, "label", NULL, "label samples by the file that they came from, not by the machine"},
    VIEW_OPTIONS,
    {0},
};

struct words {
    struct view view;
    const char *input, *output, *format;
    bool label;
};

static void words_free(struct words *w)
{
    view_free(&w->view);
}

/* Whether a format tells events apart; the others are of one. */
static bool has_events(const char *format)
{
    return strcmp(format, "folded") != 0 && strcmp(format, "csv") != 0;
}

static int unknown_format(const struct options *o, const char *format)
{
    char list[200] = "";
    size_t n = 0;

    for (uint32_t i = 0; rk_profile_format_name(i); i++) {
        if (strcmp(rk_profile_format_name(i), format) == 0)
            return 0;
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", rk_profile_format_name(i));
    }
    return options_wrong(o, "no format '%s'; there are: %s", format, list);
}

static int write_profile(const char *verb, const struct rk_profile *profile, const char *format,
                         const char *path)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_sink out = print_sink(stdout);

    if (path && strcmp(path, "-") != 0)
        return rk_profile_export_path(profile, format, path, &e) < 0 ? print_error(verb, &e) : 0;
    if (rk_profile_export(profile, format, &out, &e) < 0)
        return print_error(verb, &e);
    errno = 0;
    if (fflush(stdout) == 0)
        return 0;
    fprintf(stderr, "reckon %s: stdout: %s\n", verb, strerror(errno));
    return STATUS_FAILED;
}

/* The options of either verb: 0, or an exit status; OPTIONS_HELP: that was all. */
static int take(struct options *o, int argc, char **argv, struct words *w, int *ret_answer)
{
    int id;

    view_begin(&w->view);
    options_begin(o, argc, argv);
    while ((id = options_next(o)) > 0) {
        if (id == FORMAT)
            w->format = o->value;
        else if (id == 'i')
            w->input = o->value;
        else if (id == 'o')
            w->output = o->value;
        else if (id == LABEL)
            w->label = true;
        else if (view_take(o, &w->view, id) < 0)
            return STATUS_USAGE;
    }
    *ret_answer = id;
    if (id < 0)
        return options_status(id);
    if (w->output && destination_is_recording(w->output))
        return options_wrong(o, "-o: '%s' is a recording, which would be gone", w->output);
    int status = unknown_format(o, w->format);
    if (status == 0 && strcmp(w->format, "pprof") == 0 && destination_is_terminal(w->output))
        return options_wrong(o, "pprof is binary, and would go to a terminal: -o FILE");
    return status;
}

int verb_export(int argc, char **argv)
{
    struct options o = {
        .verb = "export",
        .mixed = true,
        .usage = "[--format FORMAT] [-o OUT] [FILE]",
        .about = "Writes the profile of a recording, or of folded stacks or pprof, in another tool's format.",
        .table = export_table,
    };
    __attribute__((cleanup(words_free))) struct words w = {.format = "folded"};
    int answer = 0, status = take(&o, argc, argv, &w, &answer);

    if (status || answer < 0)
        return status;
    if (o.rest_n > 1 || (o.rest_n == 1 && w.input))
        return options_wrong(&o, "one recording at a time; reckon merge makes one of several");
    w.view.again = options_again(&o);
    handle_recording struct recording recording = {0};
    status = view_read("export", o.rest_n ? o.rest[0] : w.input, &w.view, !has_events(w.format), &recording);
    if (status)
        return status;
    const struct rk_profile *profile = recording_only("export", &recording);
    status = profile ? write_profile("export", profile, w.format, w.output) : STATUS_USAGE;
    return status == 0 && recording.damaged ? STATUS_FAILED : status;
}

struct several {
    struct rk_profile **profiles;
    size_t n;
    bool damaged;
};

static void several_free(struct several *s)
{
    for (size_t i = 0; i < s->n; i++)
        rk_profile_free(s->profiles[i]);
    free(s->profiles);
}

static int read_several(char **paths, size_t n, const struct view *view, struct several *ret)
{
    ret->profiles = calloc(n, sizeof(struct rk_profile *));
    if (!ret->profiles) {
        fprintf(stderr, "reckon merge: out of memory\n");
        return STATUS_FAILED;
    }
    for (size_t i = 0; i < n; i++) {
        handle_recording struct recording one = {0};
        int status = view_read("merge", paths[i], view, false, &one);
        if (status)
            return status;
        ret->profiles[ret->n++] = one.profiles[0];
        ret->damaged |= one.damaged;
        one.n = 0;
    }
    return 0;
}

int verb_merge(int argc, char **argv)
{
    struct options o = {
        .verb = "merge",
        .mixed = true,
        .usage = "[-o OUT] FILE FILE...",
        .about = "Makes one profile of several: of runs, of machines. What it writes, report, diff and "
                 "export read.",
        .table = merge_table,
    };
    __attribute__((cleanup(words_free))) struct words w = {.format = "pprof"};
    struct rk_error e = {.size = sizeof e};
    struct rk_profile *all = NULL;
    int answer = 0, status = take(&o, argc, argv, &w, &answer);

    if (status || answer < 0)
        return status;
    if (o.rest_n < 1)
        return options_wrong(&o, "no file to merge");
    __attribute__((cleanup(several_free))) struct several several = {0};
    status = read_several(o.rest, (size_t)o.rest_n, &w.view, &several);
    if (status)
        return status;
    if (rk_profile_merge((const struct rk_profile *const *)several.profiles,
                         w.label ? (const char *const *)o.rest : NULL, several.n, &all, &e) < 0)
        return print_error("merge", &e);
    status = write_profile("merge", all, w.format, w.output);
    rk_profile_free(all);
    return status == 0 && several.damaged ? STATUS_FAILED : status;
}

/*
 * reckon archive: a copy of a recording that can be read anywhere.
 */
#include "command.h"
#include "handles.h"
#include "options.h"
#include "print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS_MOST 8

static const struct option table[] = {
    {'i', 'i', "input", "FILE", "the recording; default perf.data (also as a plain word)"},
    {'o', 'o', "output", "OUT", "the copy; default FILE.archive"},
    {'q', 'q', "quiet", NULL, "print nothing where all went well"},
    {0},
};

struct words {
    const char *input, *output;
    bool quiet;
};

/* Stacks that the reader unwinds, which takes the programs: 1, 0, or -1 with the message printed. */
static int has_stacks(const char *path)
{
    struct rk_error e = RK_INIT(e);
    handle_stream struct rk_stream *stream = NULL;

    if (rk_stream_file(path, &stream, &e) < 0)
        return print_error("archive", &e), -1;
    for (size_t i = 0; i < rk_stream_event_count(stream); i++) {
        struct rk_stream_event event = RK_INIT(event);
        if (rk_stream_event_get(stream, i, &event) == 0 && event.sample & RK_SAMPLE_STACK_USER)
            return 1;
    }
    return 0;
}

static void say(const char *output, const struct rk_names *names, bool stacks)
{
    char all[40], named[40], lined[40], out[4200];

    print_safe(output, out, sizeof out);
    print_count(names->addresses, all, sizeof all);
    print_count(names->named, named, sizeof named);
    fprintf(stderr, "%s: of %s address%s %s have a name, %s a line\n", out, all,
            names->addresses == 1 ? "" : "es", named, print_count(names->lined, lined, sizeof lined));
    if (names->left_out || names->unlined)
        fprintf(stderr, "  for want of room names of %s were left out, and lines of %s\n",
                print_count(names->left_out, all, sizeof all),
                print_count(names->unlined, lined, sizeof lined));
    if (stacks)
        fprintf(stderr, "  its stacks are unwound when it is read, which takes the programs that ran: "
                        "elsewhere call chains "
                        "end early\n  fix: reckon export --format pprof -o OUT FILE\n");
}

static int archive(const struct words *w, const char *output)
{
    struct rk_error e = RK_INIT(e);
    struct rk_names_options how = RK_INIT(how);
    struct rk_names *names = NULL;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    int stacks = has_stacks(w->input);

    if (stacks < 0)
        return STATUS_FAILED;
    how.threads = cpus < THREADS_MOST ? (uint32_t)cpus : THREADS_MOST;
    if (rk_names_archive(w->input, output, &how, &names, &e) < 0)
        return print_error("archive", &e);
    if (!w->quiet || names->left_out)
        say(output, names, stacks);
    rk_names_free(names);
    return 0;
}

int verb_archive(int argc, char **argv)
{
    struct options o = {
        .verb = "archive",
        .mixed = true,
        .usage = "[-o OUT] [FILE]",
        .about = "Writes a copy of a recording with the names, lines and inlined functions of all its "
                 "addresses, to be "
                 "read on another machine.",
        .table = table,
    };
    struct words w = {0};
    char *made = NULL;
    int id;

    options_begin(&o, argc, argv);
    while ((id = options_next(&o)) > 0) {
        if (id == 'i')
            w.input = o.value;
        else if (id == 'o')
            w.output = o.value;
        else
            w.quiet = true;
    }
    if (id < 0)
        return options_status(id);
    if (o.rest_n > 1 || (o.rest_n == 1 && w.input))
        return options_wrong(&o, "one recording at a time");
    w.input = o.rest_n ? o.rest[0] : w.input ? w.input : "perf.data";
    if (strcmp(w.input, "-") == 0 || (w.output && strcmp(w.output, "-") == 0))
        return options_wrong(&o, "a recording is copied from file to file");
    if (!w.output && asprintf(&made, "%s.archive", w.input) < 0)
        return fprintf(stderr, "reckon archive: out of memory\n"), STATUS_FAILED;
    int status = archive(&w, w.output ? w.output : made);
    free(made);
    return status;
}

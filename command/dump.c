/*
 * reckon dump: every record of a recording, a line each.
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
    {'i', 'i', "input", "FILE", "the recording; default perf.data (also as a plain word; - is stdin)"},
    {'j', 0, "json", NULL, "one JSON object a line"},
    {0},
};

static int dump(const char *path, const char *format)
{
    handle_stream struct rk_stream *stream = NULL;
    struct rk_error e = {.size = sizeof e};
    struct rk_sink sink = print_sink(stdout);
    struct rk_stream_info info = {.size = sizeof info};
    const struct rk_record *record;
    int rc, status = 0;

    if (rk_stream_file(path, &stream, &e) < 0)
        return print_error("dump", &e);
    while ((rc = rk_stream_next(stream, &record)) != 0) {
        if (rc < 0) { /* a damaged record is said; the rest, where it can be reached, is still shown */
            if (rk_stream_explain(stream, &e) == 0)
                print_error("dump", &e);
            status = STATUS_FAILED;
            if (rc != -EBADMSG)
                break;
            continue;
        }
        rc = rk_record_export(stream, record, format, &sink, &e);
        if (rc < 0) {
            print_error("dump", &e);
            status = STATUS_FAILED;
            if (rc != -EBADMSG)
                break;
        }
        rk_stream_release(stream);
    }
    if (fflush(stdout) != 0) {
        fprintf(stderr, "reckon dump: writing failed: %s\n", strerror(errno));
        status = STATUS_FAILED;
    }
    if (rk_stream_info(stream, &info) == 0 && info.cut)
        fprintf(stderr, "reckon dump: %s was cut off; this is what it holds\n", path);
    return status;
}

int verb_dump(int argc, char **argv)
{
    struct options o = {
        .verb = "dump",
        .usage = "[--json] [FILE]",
        .about = "Shows every record of a recording (reckon's or perf's) in the order of time.",
        .table = table,
    };
    const char *path = NULL, *format = "text";
    int id;

    options_begin(&o, argc, argv);
    while ((id = options_next(&o)) > 0)
        switch (id) {
        case 'i':
            path = o.value;
            break;
        case 'j':
            format = "json";
            break;
        }
    if (id < 0)
        return options_status(id);
    if (o.rest_n > 1 || (o.rest_n == 1 && path))
        return options_wrong(&o, "one recording at a time");
    if (o.rest_n)
        path = o.rest[0];
    return dump(path ? path : RECORDING_DEFAULT, format);
}

/*
 * reckon dump: the records of a recording, a line each, or their sums.
 */
#include "dump.h"
#include "command.h"
#include "handles.h"
#include "options.h"
#include "print.h"
#include "recording.h"
#include "view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option table[] = {
    {'i', 'i', "input", "FILE", "the recording; default perf.data (also as a plain word; - is stdin)"},
    {'F', 'F', "fields", "LIST", "show these fields of samples: comm,tid,time,event,ip,sym,dso ..."},
    {'T', 0, "type", "LIST", "only these types of records: sample,mmap2,comm,lost ..."},
    {'e', 'e', "event", "EVENT", "only records of this event, which may be a pattern; may be repeated"},
    {'p', 'p', "pid", "LIST", "only these processes"},
    {'t', 't', "tid", "LIST", "only these threads"},
    {'c', 'c', "comm", "LIST", "only threads with these names"},
    {'C', 'C', "cpu", "LIST", "only these CPUs: 0,2-3"},
    {'w', 0, "time", "FROM,TO", "only what lies between these times, in seconds; either may be missing"},
    {'S', 0, "stat", NULL, "sums by event and type: records, bytes, lost, span"},
    {'j', 0, "json", NULL, "one JSON object a line"},
    VIEW_NAMES_OPTIONS,
    {0},
};

struct dump {
    const char *path, *format;
    struct dump_filter filter;
    struct rk_record_options show;
    struct rk_symbolizer_options names;
    bool stat;
    const char **events;
};

static void damaged(const struct rk_stream *stream, int *status)
{
    struct rk_error e = {.size = sizeof e};

    if (rk_stream_explain(stream, &e) == 0)
        print_error("dump", &e);
    *status = STATUS_FAILED;
}

/* One record that is due: shown or summed up. 0, or -errno: there is no going on. */
static int take(struct dump *d, struct rk_stream *stream, const struct rk_record *record,
                struct dump_names *names, struct dump_stat *stat, const struct rk_sink *sink, int *status)
{
    struct rk_error e = {.size = sizeof e};
    int r = 0;

    if (names && (r = dump_names_feed(names, record)) < 0)
        goto failed;
    d->show.comm = names ? dump_names_comm(names, record) : NULL;
    if (!dump_filter_passes(&d->filter, stream, record, d->show.comm ? d->show.comm : ""))
        return 0;
    if (stat) {
        if ((r = dump_stat_add(stat, record)) < 0)
            goto failed;
        return 0;
    }
    r = rk_record_export(stream, record, d->format, sink, &d->show, &e);
    if (r < 0) {
        print_error("dump", &e);
        *status = STATUS_FAILED;
    }
    return r == -EBADMSG ? 0 : r;
failed:
    fprintf(stderr, "reckon dump: %s\n", strerror(-r));
    *status = STATUS_FAILED;
    return r;
}

static int each(struct dump *d, struct rk_stream *stream, struct dump_names *names, struct dump_stat *stat)
{
    struct rk_sink sink = print_sink(stdout);
    const struct rk_record *record;
    int r, status = 0;

    while ((r = rk_stream_next(stream, &record)) != 0) {
        if (r < 0) { /* a damaged record is said; the rest, where it can be reached, is still shown */
            damaged(stream, &status);
            if (r != -EBADMSG)
                break;
            continue;
        }
        if (take(d, stream, record, names, stat, &sink, &status) < 0)
            break;
        rk_stream_release(stream);
    }
    return status;
}

/* An event that is asked for and not there: what there is. */
static int say_events(const struct rk_stream *stream, const char *missing)
{
    char safe[256];

    fprintf(stderr, "reckon dump: -e: the recording has no event '%s'; it has:",
            print_safe(missing, safe, sizeof safe));
    for (size_t i = 0; i < rk_stream_event_count(stream); i++) {
        struct rk_stream_event event = {.size = sizeof event};
        rk_stream_event_get(stream, i, &event);
        fprintf(stderr, " %s", print_safe(event.name, safe, sizeof safe));
    }
    fprintf(stderr, "\n");
    return STATUS_USAGE;
}

static int dump(struct dump *d)
{
    handle_stream struct rk_stream *stream = NULL;
    __attribute__((cleanup(dump_names_close))) struct dump_names *names = NULL;
    __attribute__((cleanup(dump_stat_free))) struct dump_stat *stat = NULL;
    struct rk_error e = {.size = sizeof e};
    struct rk_stream_info info = {.size = sizeof info};
    uint64_t named = d->show.fields & (RK_FIELDS_COMM | RK_FIELDS_NAMES | RK_FIELDS_LINES);

    if (rk_stream_file(d->path, &stream, &e) < 0)
        return print_error("dump", &e);
    if (d->stat && !(stat = dump_stat_new())) {
        fprintf(stderr, "reckon dump: out of memory\n");
        return STATUS_FAILED;
    }
    if ((named || d->filter.comms) &&
        dump_names_open(stream, &d->names, d->show.fields & RK_FIELDS_LINES, &names, &e) < 0)
        return print_error("dump", &e);
    d->show.name = names ? dump_names_address : NULL;
    d->show.context = names;
    int status = each(d, stream, names, stat);
    if (stat)
        dump_stat_print(stat, stream, strcmp(d->format, "json") == 0, stdout);
    if (fflush(stdout) != 0) {
        fprintf(stderr, "reckon dump: writing failed: %s\n", strerror(errno));
        status = STATUS_FAILED;
    }
    if (rk_stream_info(stream, &info) == 0 && info.cut)
        fprintf(stderr, "reckon dump: %s was cut off; this is what it holds\n", d->path);
    const char *missing = dump_filter_no_event(&d->filter, stream);
    if (missing && status == 0)
        status = say_events(stream, missing);
    return status;
}

/* One option: 0, or an exit status. */
static int take_option(struct options *o, int id, struct dump *d)
{
    struct rk_error e = {.size = sizeof e};

    switch (id) {
    case 'i':
        d->path = o->value;
        break;
    case 'F':
        if (rk_record_fields(o->value, &d->show.fields, &e) < 0 || !d->show.fields)
            return options_wrong(o, "%s; there are: %s", *e.what ? e.what : "no field is given",
                                 *e.remedy ? e.remedy : "time, ip, sym …");
        d->filter.samples = true;
        break;
    case 'T':
        d->filter.types = o->value;
        break;
    case 'e':
        d->events[d->filter.event_n++] = o->value;
        break;
    case 'p':
        d->filter.pids = o->value;
        break;
    case 't':
        d->filter.tids = o->value;
        break;
    case 'c':
        d->filter.comms = o->value;
        break;
    case 'C':
        d->filter.cpus = o->value;
        break;
    case 'w':
        if (dump_filter_time(&d->filter, o->value) < 0)
            return options_wrong(o, "--time wants FROM,TO in seconds, as dump shows them: '%s'", o->value);
        break;
    case 'S':
        d->stat = true;
        break;
    case 'j':
        d->format = "json";
        break;
    case VIEW_SYMFS:
        d->names.symfs = o->value;
        break;
    case VIEW_VMLINUX:
        d->names.vmlinux = o->value;
        break;
    case VIEW_KALLSYMS:
        d->names.kallsyms = o->value;
        break;
    }
    return 0;
}

static int run(int argc, char **argv, struct dump *d)
{
    struct options o = {
        .verb = "dump",
        .usage = "[options] [FILE]",
        .about = "Shows the records of a recording (reckon's or perf's) in the order of time.",
        .table = table,
        .mixed = true,
    };
    char wrong[160];
    int id, status;

    options_begin(&o, argc, argv);
    while ((id = options_next(&o)) > 0)
        if ((status = take_option(&o, id, d)) != 0)
            return status;
    if (id < 0)
        return options_status(id);
    if (o.rest_n > 1 || (o.rest_n == 1 && d->path))
        return options_wrong(&o, "one recording at a time");
    if (o.rest_n)
        d->path = o.rest[0];
    if (!d->path)
        d->path = RECORDING_DEFAULT;
    d->filter.events = d->events;
    if (dump_filter_check(&d->filter, wrong, sizeof wrong) < 0)
        return options_wrong(&o, "%s", wrong);
    return dump(d);
}

int verb_dump(int argc, char **argv)
{
    struct dump d = {.format = "text", .show.size = sizeof d.show, .names.size = sizeof d.names};

    d.events = calloc((size_t)argc + 1, sizeof *d.events); /* as many -e as there are words, at most */
    if (!d.events) {
        fprintf(stderr, "reckon dump: out of memory\n");
        return STATUS_FAILED;
    }
    int status = run(argc, argv, &d);
    free(d.events);
    return status;
}

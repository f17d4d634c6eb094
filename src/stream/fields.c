/*
 * The fields of tracepoints, from their formats (record/format.h): live from tracefs, of a recording from its tracing
 * data. Read at the first question, kept as long as the stream.
 */
#include "base/arena.h"
#include "base/error.h"
#include "host/host.h"
#include "record/format.h"
#include "set/set.h"
#include "stream/live.h"
#include "sys/file.h"

#include <errno.h>
#include <stdio.h>

#define FORMAT_BYTES_MAX ((size_t)1 << 20)

struct event_format {
    uint32_t event;
    size_t n;
    const struct rk_field *fields; /* NULL: the recording has no such format */
};

struct stream_formats {
    struct arena arena;
    VECTOR(struct event_format) list;
};

struct stream_formats *formats_free(struct stream_formats *formats)
{
    if (formats) {
        arena_free(&formats->arena);
        vector_free(&formats->list);
        free(formats);
    }
    return NULL;
}

_Static_assert((int)RK_FIELD_RELATIVE == (int)FORMAT_RELATIVE && (int)RK_FIELD_NUMBER == (int)FORMAT_PLAIN &&
                   (int)RK_FIELD_ARRAY == (int)FORMAT_ARRAY && (int)RK_FIELD_DYNAMIC == (int)FORMAT_DYNAMIC,
               "kinds of fields");

/* Keeps the fields of a format's text. How many, or -errno. */
static int keep(struct stream_formats *formats, uint32_t event, const char *text, size_t n)
{
    uint64_t number;
    int count = format_parse(text, n, NULL, 0, &number);

    if (count < 0)
        return count;
    struct format_field *parsed = calloc((size_t)count + 1, sizeof *parsed);
    struct rk_field *fields = arena_alloc(&formats->arena, ((size_t)count + 1) * sizeof *fields);
    struct event_format *at = parsed && fields ? vector_push(&formats->list) : NULL;
    if (!at) {
        free(parsed);
        return -ENOMEM;
    }
    format_parse(text, n, parsed, (size_t)count, &number);
    int r = 0;
    for (int i = 0; i < count && r == 0; i++) {
        const struct format_field *f = &parsed[i];
        fields[i] = (struct rk_field){.size = sizeof *fields,
                                      .kind = f->kind,
                                      .offset = f->offset,
                                      .bytes = f->size,
                                      .is_signed = f->is_signed,
                                      .is_text = f->is_text,
                                      .is_common = f->is_common,
                                      .name = arena_text(&formats->arena, f->name, f->name_n),
                                      .type = arena_text(&formats->arena, f->type, f->type_n)};
        if (!fields[i].name || !fields[i].type)
            r = -ENOMEM;
    }
    free(parsed);
    if (r < 0) {
        formats->list.n--;
        return r;
    }
    *at = (struct event_format){event, (size_t)count, fields};
    return count;
}

/* "sched:sched_switch:u" → events/sched/sched_switch/format, where tracefs is. */
static int keep_live(struct stream_formats *formats, const struct rk_stream *st, uint32_t event)
{
    const char *name = st->events.items[event].name, *colon = strchr(name, ':'), *place;
    struct rk_host *host = set_host(st->live->set);
    _cleanup_free_ char *text = NULL;
    char path[4800];
    size_t n;

    if (!colon)
        return -ENOENT;
    int r = rk_host_mount(host, RK_MOUNT_TRACEFS, &place);
    if (r < 0)
        return r;
    snprintf(path, sizeof path, "%s/events/%.*s/%.*s/format", place, (int)(colon - name), name,
             (int)strcspn(colon + 1, ":"), colon + 1);
    r = sys_file_load(host->root, path, FORMAT_BYTES_MAX, &text, &n);
    return r < 0 ? r : keep(formats, event, text, n);
}

static const struct event_format *find(const struct stream_formats *formats, uint32_t event)
{
    for (size_t i = 0; formats && i < formats->list.n; i++)
        if (formats->list.items[i].event == event)
            return &formats->list.items[i];
    return NULL;
}

/* How many fields there are, or -errno. */
static int known_fields(struct rk_stream *st, uint32_t event)
{
    if (!st)
        return -EINVAL;
    if (event >= st->events.n)
        return -ERANGE;
    if (st->events.items[event].attr.type != PERF_TRACEPOINT)
        return 0;
    const struct event_format *format = find(st->formats, event);
    if (format)
        return format->fields ? (int)format->n : -ENOENT;
    if (!st->formats && !(st->formats = calloc(1, sizeof *st->formats)))
        return -ENOMEM;
    if (st->live)
        return keep_live(st->formats, st, event);
    size_t n;
    const char *text = file_format(st, st->events.items[event].attr.config, &n);
    int r = text ? keep(st->formats, event, text, n) : -ENOENT;
    if (r < 0 && r != -ENOMEM) { /* not to be looked for at each sample */
        struct event_format *none = vector_push(&st->formats->list);
        if (!none)
            return -ENOMEM;
        *none = (struct event_format){.event = event};
        return -ENOENT;
    }
    return r;
}

size_t rk_stream_field_count(struct rk_stream *st, uint32_t event)
{
    int n = known_fields(st, event);

    return n < 0 ? 0 : (size_t)n;
}

int rk_stream_field_get(struct rk_stream *st, uint32_t event, size_t index, struct rk_field *ret)
{
    int r = known_fields(st, event);

    if (r < 0)
        return r;
    if (index >= (size_t)r)
        return -ERANGE;
    return result_give(ret, &find(st->formats, event)->fields[index], sizeof *ret);
}

/*
 * reckon dump --stat: how many records of which event and type, how large, over what time, and what was lost.
 */
#include "dump.h"
#include "print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct sum {
    uint64_t records, samples, bytes;
    uint64_t first, last; /* of those that have a time; last 0: none has */
};

#define TYPES 128 /* all that have a name; the last counts the others */

struct dump_stat {
    struct sum all, none, types[TYPES];
    struct sum *events;
    size_t event_n;
};

struct dump_stat *dump_stat_new(void)
{
    return calloc(1, sizeof(struct dump_stat));
}

void dump_stat_free(struct dump_stat **stat)
{
    if (*stat)
        free((*stat)->events);
    free(*stat);
    *stat = NULL;
}

static void add(struct sum *sum, const struct rk_record *record)
{
    sum->records++;
    sum->samples += record->type == RK_RECORD_SAMPLE;
    sum->bytes += record->bytes;
    if (!(record->present & RK_SAMPLE_TIME) || record->time == 0 || record->time == UINT64_MAX)
        return;
    if (!sum->last || record->time < sum->first)
        sum->first = record->time;
    if (record->time > sum->last)
        sum->last = record->time;
}

int dump_stat_add(struct dump_stat *s, const struct rk_record *record)
{
    if (record->event != RK_NO_EVENT && record->event >= s->event_n) {
        size_t n = (size_t)record->event + 1;
        struct sum *events = realloc(s->events, n * sizeof *events);
        if (!events)
            return -ENOMEM;
        memset(events + s->event_n, 0, (n - s->event_n) * sizeof *events);
        s->events = events;
        s->event_n = n;
    }
    add(&s->all, record);
    add(&s->types[record->type < TYPES ? record->type : TYPES - 1], record);
    add(record->event == RK_NO_EVENT ? &s->none : &s->events[record->event], record);
    return 0;
}

/* --- JSON: one object --- */

static void json_string(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            fprintf(to, "\\%c", *text);
        else if ((unsigned char)*text < ' ')
            fprintf(to, "\\u%04x", (unsigned)*text);
        else
            fputc(*text, to);
    fputc('"', to);
}

static void json_sum(FILE *to, const struct sum *sum)
{
    fprintf(to, "\"records\":%" PRIu64 ",\"samples\":%" PRIu64 ",\"bytes\":%" PRIu64, sum->records,
            sum->samples, sum->bytes);
    if (sum->last)
        fprintf(to, ",\"first_time\":%" PRIu64 ",\"last_time\":%" PRIu64 ",\"span_ns\":%" PRIu64, sum->first,
                sum->last, sum->last - sum->first);
}

static void json_loss(FILE *to, const struct rk_stream *stream, uint32_t event)
{
    struct rk_loss loss = {.size = sizeof loss};

    if (rk_stream_loss(stream, event, &loss) < 0)
        return;
    if (loss.present & RK_LOSS_LOST)
        fprintf(to, ",\"lost\":%" PRIu64, loss.lost);
    if (loss.present & RK_LOSS_SKIPPED)
        fprintf(to, ",\"skipped\":%" PRIu64, loss.skipped);
    fprintf(to, ",\"throttled\":%" PRIu64 ",\"records_lost\":%" PRIu64, loss.throttled, loss.records_lost);
}

static void print_json(const struct dump_stat *s, const struct rk_stream *stream, FILE *to)
{
    struct rk_stream_info info = {.size = sizeof info};
    const char *comma = "";

    rk_stream_info(stream, &info);
    fputc('{', to);
    json_sum(to, &s->all);
    json_loss(to, stream, RK_NO_EVENT);
    fprintf(to, ",\"cut\":%s,\"events\":[", info.cut ? "true" : "false");
    for (size_t i = 0; i < rk_stream_event_count(stream); i++, comma = ",") {
        struct rk_stream_event event = {.size = sizeof event};
        rk_stream_event_get(stream, i, &event);
        fprintf(to, "%s{\"event\":", comma);
        json_string(to, event.name);
        fputc(',', to);
        json_sum(to, i < s->event_n ? &s->events[i] : &(struct sum){0});
        json_loss(to, stream, (uint32_t)i);
        fputc('}', to);
    }
    fputs("],\"types\":[", to);
    comma = "";
    for (uint32_t i = 0; i < TYPES; i++)
        if (s->types[i].records) {
            fprintf(to, "%s{\"type\":\"%s\",\"number\":%u,", comma, rk_record_type_name(i), i);
            json_sum(to, &s->types[i]);
            fputc('}', to);
            comma = ",";
        }
    fputs("]}\n", to);
}

/* --- For people --- */

#define NAME_WIDTH 28

static void row(FILE *to, int width, const char *name, const struct sum *sum, const struct rk_loss *loss)
{
    char records[32], bytes[32], lost[32] = "", skipped[32] = "", span[32] = "";
    char safe[256];

    if (loss && loss->present & RK_LOSS_LOST)
        print_count(loss->lost, lost, sizeof lost);
    if (loss && loss->present & RK_LOSS_SKIPPED)
        print_count(loss->skipped, skipped, sizeof skipped);
    if (sum->last)
        snprintf(span, sizeof span, "%" PRIu64 ".%06" PRIu64, (sum->last - sum->first) / 1000000000,
                 (sum->last - sum->first) / 1000 % 1000000);
    fprintf(to, "%-*s %12s %12s %10s %10s %14s\n", width, print_safe(name, safe, sizeof safe),
            print_count(sum->records, records, sizeof records), print_bytes(sum->bytes, bytes, sizeof bytes),
            lost, skipped, span);
}

/* The column that the longest name wants. */
static int name_width(const struct rk_stream *stream)
{
    size_t width = NAME_WIDTH;

    for (size_t i = 0; i < rk_stream_event_count(stream); i++) {
        struct rk_stream_event event = {.size = sizeof event};
        char safe[256];
        rk_stream_event_get(stream, i, &event);
        size_t wide = print_columns(print_safe(event.name, safe, sizeof safe));
        width = wide > width ? wide : width;
    }
    return (int)width;
}

void dump_stat_print(const struct dump_stat *s, const struct rk_stream *stream, bool json, FILE *to)
{
    struct rk_loss loss = {.size = sizeof loss};

    if (json) {
        print_json(s, stream, to);
        return;
    }
    int width = name_width(stream);
    fprintf(to, "%-*s %12s %12s %10s %10s %14s\n", width, "event", "records", "size", "lost", "skipped",
            "span (s)");
    for (size_t i = 0; i < rk_stream_event_count(stream); i++) {
        struct rk_stream_event event = {.size = sizeof event};
        rk_stream_event_get(stream, i, &event);
        rk_stream_loss(stream, (uint32_t)i, &loss);
        row(to, width, event.name, i < s->event_n ? &s->events[i] : &(struct sum){0}, &loss);
    }
    if (s->none.records)
        row(to, width, "(of no event)", &s->none, NULL);
    fprintf(to, "\n%-*s %12s %12s %10s %10s %14s\n", width, "type", "records", "size", "", "", "span (s)");
    for (uint32_t i = 0; i < TYPES; i++)
        if (s->types[i].records)
            row(to, width, rk_record_type_name(i), &s->types[i], NULL);
    rk_stream_loss(stream, RK_NO_EVENT, &loss);
    row(to, width, "all", &s->all, &loss);
}

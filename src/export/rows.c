/*
 * Rows of an aggregate, as comma-separated values (RFC 4180, lines ended by a newline alone) or as one JSON object. The
 * columns that tell what a row is depend on what was summed by; sums are the same for all.
 *
 *     function   symbol,module               line     symbol,module … and behind the sums file,line
 *     module     module,path                 thread   source,pid,tid,name
 *     process    source,pid,name             name     name
 *     cgroup     cgroup,id                   cpu      cpu
 *     event      event                       source   source
 *
 * and self,self_percent,total,total_percent: weights, and their share of the whole profile's with four decimals and always
 * a point.
 */
#include "base/error.h"
#include "base/json.h"
#include "base/sink.h"
#include "export/csv.h"
#include "export/formats.h"
#include "export/percent.h"
#include "profile/profile.h"

#include <reckon/symbol.h>

enum kind { NONE, TEXT, NUMBER };

/* A column of what a row is. */
struct field {
    const char *name;
    enum kind kind;
    const char *text;
    int64_t number;
};
#define FIELDS_MAX 6

/* What the row is, in the order of the columns: how many. Those behind the sums come last, *ret_before counts the others. */
static size_t fields_of(const struct rk_profile_columns *c, uint32_t per, uint32_t key, struct field *ret,
                        size_t *ret_before)
{
    size_t n = 0;
#define ADD_TEXT(column, value) (ret[n++] = (struct field){column, TEXT, value, 0})
#define ADD_NUMBER(column, value) (ret[n++] = (struct field){column, NUMBER, NULL, (int64_t)(value)})
    switch (per) {
    case RK_PER_FUNCTION:
    case RK_PER_LINE:
        ADD_TEXT("symbol", c->text[c->frame_symbol[key]]);
        ADD_TEXT("module", c->text[c->frame_module[key]]);
        *ret_before = n;
        if (per == RK_PER_LINE) {
            ADD_TEXT("file", c->text[c->frame_file[key]]);
            ADD_NUMBER("line", c->frame_line[key]);
        }
        return n;
    case RK_PER_MODULE:
        ADD_TEXT("module", c->text[c->frame_module[key]]);
        ADD_TEXT("path", c->text[c->frame_path[key]]);
        break;
    case RK_PER_THREAD:
    case RK_PER_PROCESS:
        ADD_TEXT("source", c->text[c->source_name[c->thread_source[key]]]);
        ADD_NUMBER("pid", c->thread_pid[key]);
        if (per == RK_PER_THREAD)
            ADD_NUMBER("tid", c->thread_tid[key]);
        ADD_TEXT("name", c->text[c->thread_name[key]]);
        break;
    case RK_PER_NAME:
        ADD_TEXT("name", c->text[c->thread_name[key]]);
        break;
    case RK_PER_CGROUP:
        ADD_TEXT("cgroup", c->text[c->cgroup_path[key]]);
        ADD_NUMBER("id", c->cgroup_id[key]);
        break;
    case RK_PER_CPU:
        ret[n++] = (struct field){"cpu", key == RK_NO_CPU ? NONE : NUMBER, NULL, key};
        break;
    case RK_PER_EVENT:
        ADD_TEXT("event", c->text[c->event_name[key]]);
        break;
    default:
        ADD_TEXT("source", c->text[c->source_name[key]]);
        break;
    }
    *ret_before = n;
    return n;
}

static void csv_fields(struct output *out, const struct field *fields, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (fields[i].kind == TEXT)
            csv_field(out, fields[i].text, NULL);
        else if (fields[i].kind == NUMBER)
            output_format(out, "%" PRId64, fields[i].number);
        output_bytes(out, ",", i + 1 < n);
    }
}

/* The first line: names of columns, whether there are rows or not. */
static void csv_names(uint32_t per, struct output *out)
{
    static const char *const what[] = {
        "symbol,module",   "symbol,module", "module,path", "source,pid,tid,name",
        "source,pid,name", "name",          "cgroup,id",   "cpu",
        "event",           "source"};
    output_format(out, "%s,self,self_percent,total,total_percent%s\n", what[per],
                  per == RK_PER_LINE ? ",file,line" : "");
}

void rows_csv(const struct rk_profile *profile, const struct rk_aggregate *a, struct output *out)
{
    char self[PERCENT_BYTES], total[PERCENT_BYTES];
    struct field fields[FIELDS_MAX];
    size_t before;

    csv_names(a->per, out);
    for (size_t i = 0; i < a->n; i++) {
        size_t n = fields_of(&profile->columns, a->per, a->key[i], fields, &before);
        csv_fields(out, fields, before);
        output_format(out, ",%" PRIu64 ",%s,%" PRIu64 ",%s", a->self[i],
                      percent_text(a->self[i], a->weight, self), a->total[i],
                      percent_text(a->total[i], a->weight, total));
        output_bytes(out, ",", n > before);
        csv_fields(out, fields + before, n - before);
        output_bytes(out, "\n", 1);
    }
}

static void rows_json_fields(struct json *j, const struct rk_profile *profile, uint32_t per, uint32_t key)
{
    const struct rk_profile_columns *c = &profile->columns;
    struct field fields[FIELDS_MAX];
    size_t before, n = fields_of(c, per, key, fields, &before);

    for (size_t i = 0; i < n; i++) {
        if (per == RK_PER_LINE && i >= before && !c->frame_file[key])
            continue; /* not known */
        if (fields[i].kind == TEXT)
            json_text(j, fields[i].name, fields[i].text);
        else if (fields[i].kind == NUMBER)
            json_i64(j, fields[i].name, fields[i].number);
        else
            json_null(j, fields[i].name);
    }
    if (per <= RK_PER_LINE)
        json_text(j, "path", c->text[c->frame_path[key]]);
}

static void rows_json_sums(struct json *j, const struct rk_aggregate *a, size_t i)
{
    double weight = a->weight ? (double)a->weight : 1;

    json_u64(j, "self", a->self[i]);
    json_real(j, "self_percent", 100.0 * (double)a->self[i] / weight);
    json_u64(j, "self_samples", a->self_samples[i]);
    json_u64(j, "total", a->total[i]);
    json_real(j, "total_percent", 100.0 * (double)a->total[i] / weight);
    json_u64(j, "total_samples", a->total_samples[i]);
}

void rows_json(struct json *j, const char *key, const struct rk_profile *profile,
               const struct rk_aggregate *a)
{
    json_open(j, key, '[');
    for (size_t i = 0; i < a->n; i++) {
        json_open(j, NULL, '{');
        rows_json_fields(j, profile, a->per, a->key[i]);
        rows_json_sums(j, a, i);
        if (a->per <= RK_PER_LINE && profile->columns.frame_miss[a->key[i]])
            json_text(j, "miss", rk_miss_text(profile->columns.frame_miss[a->key[i]]));
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void write_json(const struct rk_profile *profile, const struct rk_aggregate *a, struct output *out)
{
    static const char *const per[] = {"function", "line",   "module", "thread", "process",
                                      "name",     "cgroup", "cpu",    "event",  "source"};
    struct json j = json_to(out);

    json_open(&j, NULL, '{');
    json_text(&j, "version", RK_VERSION);
    summary_json(&j, &profile->summary);
    json_text(&j, "per", per[a->per]);
    rows_json(&j, "rows", profile, a);
    json_close(&j, '}');
    output_bytes(out, "\n", 1);
}

int rk_aggregate_export(const struct rk_profile *profile, const struct rk_aggregate *aggregate,
                        const char *format, const struct rk_sink *sink, struct rk_error *e)
{
    static const char *const names[] = {"csv", "json", NULL};
    int which = export_format("rows", names, format, sink, e);

    if (which < 0)
        return which;
    if (!profile || !aggregate)
        return fail_null(e, RK_STAGE_EXPORT, "rk_aggregate_export", profile ? "aggregate" : "profile");
    struct output out = output_to(sink);
    (which == 0 ? rows_csv : write_json)(profile, aggregate, &out);
    return export_end(&out, e);
}

int rk_aggregate_export_fd(const struct rk_profile *profile, const struct rk_aggregate *aggregate,
                           const char *format, int fd, struct rk_error *e)
{
    const struct rk_sink sink = sink_fd(fd);

    return rk_aggregate_export(profile, aggregate, format, &sink, e);
}

int rk_aggregate_export_path(const struct rk_profile *profile, const struct rk_aggregate *aggregate,
                             const char *format, const char *path, struct rk_error *e)
{
    struct sink_file file;
    int rc = sink_file_open(&file, path, e);

    return rc < 0 ? rc
                  : sink_file_close(&file, rk_aggregate_export(profile, aggregate, format, &file.sink, e), e);
}

/*
 * The Firefox Profiler's processed format (https://profiler.firefox.com), version 44 of it, which newer ones upgrade when
 * they load it: a thread has its own tables of stacks, frames, functions, resources and strings.
 *
 *     stackTable   prefix (outer stack), frame        the nodes that the thread's samples need, outer ones first
 *     frameTable   func, line, inlineDepth            frames
 *     funcTable    name, resource, fileName           a frame's function
 *     resourceTable  name, lib                        modules
 *     samples      stack, time (ms), weight           rows; weightType says what the weight is
 *
 * One thread for each of ours and each event. What was lost stands in meta's "extra" and in the name of the product.
 */
#include "base/cleanup.h"
#include "base/json.h"
#include "export/formats.h"
#include "profile/maker.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#define PROCESSED_VERSION 44
#define GECKO_VERSION 24
enum { CATEGORY_OTHER, CATEGORY_USER, CATEGORY_KERNEL };

/* A thread's own tables: numbers of ours → numbers there. */
struct tables {
    const struct rk_profile *profile;
    const struct rk_profile_columns *c;
    uint32_t *stack_of, *frame_of;   /* by node, by frame: number + 1; 0: not there */
    VECTOR(uint32_t) stacks, frames; /* and back */
    struct intern strings;
};

static void tables_free(struct tables *t)
{
    free(t->stack_of);
    free(t->frame_of);
    vector_free(&t->stacks);
    vector_free(&t->frames);
    intern_free(&t->strings);
}

/* A string's number; where there is no memory for it, the output fails. */
static int64_t string_of(struct json *j, struct tables *t, const char *text)
{
    int64_t number = intern_add(&t->strings, text, strlen(text));

    if (number < 0)
        j->out->error = -ENOMEM;
    return number;
}

/* The stack of a node, and all further out, outer ones first. 0 or -ENOMEM. */
static int need(struct tables *t, uint32_t node, uint32_t *path)
{
    uint32_t n = 0;

    for (uint32_t at = node; at != RK_NO_NODE && !t->stack_of[at]; at = t->c->node_parent[at])
        path[n++] = at;
    while (n-- > 0) {
        uint32_t frame = t->c->node_frame[path[n]];
        uint32_t *stack = vector_push(&t->stacks);
        if (!stack)
            return -ENOMEM;
        *stack = path[n];
        t->stack_of[path[n]] = (uint32_t)t->stacks.n;
        if (t->frame_of[frame])
            continue;
        uint32_t *row = vector_push(&t->frames);
        if (!row)
            return -ENOMEM;
        *row = frame;
        t->frame_of[frame] = (uint32_t)t->frames.n;
    }
    return 0;
}

/* A column that is the same all the way down. */
static void constant(struct json *j, const char *key, size_t n, int64_t value)
{
    json_open(j, key, '[');
    for (size_t i = 0; i < n; i++) {
        if (value < 0)
            json_null(j, NULL);
        else
            json_i64(j, NULL, value);
    }
    json_close(j, ']');
}

static uint32_t category(const struct tables *t, uint32_t frame)
{
    return t->c->frame_flags[frame] & RK_FRAME_KERNEL ? CATEGORY_KERNEL : CATEGORY_USER;
}

static void write_stacks(struct json *j, const struct tables *t)
{
    json_open(j, "stackTable", '{');
    json_u64(j, "length", t->stacks.n);
    json_open(j, "prefix", '[');
    for (size_t i = 0; i < t->stacks.n; i++) {
        uint32_t outer = t->c->node_parent[t->stacks.items[i]];
        if (outer == RK_NO_NODE)
            json_null(j, NULL);
        else
            json_u64(j, NULL, t->stack_of[outer] - 1);
    }
    json_close(j, ']');
    json_open(j, "frame", '[');
    for (size_t i = 0; i < t->stacks.n; i++)
        json_u64(j, NULL, t->frame_of[t->c->node_frame[t->stacks.items[i]]] - 1);
    json_close(j, ']');
    json_open(j, "category", '[');
    for (size_t i = 0; i < t->stacks.n; i++)
        json_u64(j, NULL, category(t, t->c->node_frame[t->stacks.items[i]]));
    json_close(j, ']');
    constant(j, "subcategory", t->stacks.n, 0);
    json_close(j, '}');
}

static void write_frames(struct json *j, const struct tables *t)
{
    size_t n = t->frames.n;

    json_open(j, "frameTable", '{');
    json_u64(j, "length", n);
    json_open(j, "address", '[');
    for (size_t i = 0; i < n; i++)
        json_i64(j, NULL, -1);
    json_close(j, ']');
    json_open(j, "inlineDepth", '[');
    for (size_t i = 0; i < n; i++)
        json_u64(j, NULL, t->c->frame_flags[t->frames.items[i]] & RK_FRAME_INLINE ? 1 : 0);
    json_close(j, ']');
    json_open(j, "category", '[');
    for (size_t i = 0; i < n; i++)
        json_u64(j, NULL, category(t, t->frames.items[i]));
    json_close(j, ']');
    constant(j, "subcategory", n, 0);
    json_open(j, "func", '[');
    for (size_t i = 0; i < n; i++)
        json_u64(j, NULL, i);
    json_close(j, ']');
    constant(j, "nativeSymbol", n, -1);
    constant(j, "innerWindowID", n, -1);
    constant(j, "implementation", n, -1);
    json_open(j, "line", '[');
    for (size_t i = 0; i < n; i++) {
        uint32_t line = t->c->frame_line[t->frames.items[i]];
        if (line)
            json_u64(j, NULL, line);
        else
            json_null(j, NULL);
    }
    json_close(j, ']');
    constant(j, "column", n, -1);
    json_close(j, '}');
}

/* A column of strings of the frames; -1: null. */
static void strings(struct json *j, const char *key, struct tables *t, const uint32_t *column, bool optional)
{
    json_open(j, key, '[');
    for (size_t i = 0; i < t->frames.n; i++) {
        uint32_t text = column[t->frames.items[i]];
        int64_t number = optional && !text ? -1 : string_of(j, t, t->c->text[text]);
        if (number < 0)
            json_null(j, NULL);
        else
            json_i64(j, NULL, number);
    }
    json_close(j, ']');
}

/* Functions, one a frame, and the modules that they are of. */
static void write_functions(struct json *j, struct tables *t)
{
    size_t n = t->frames.n;
    struct table resource_of = {0};
    VECTOR(uint32_t) modules = {0};

    json_open(j, "funcTable", '{');
    json_u64(j, "length", n);
    strings(j, "name", t, t->c->frame_symbol, false);
    json_open(j, "isJS", '[');
    for (size_t i = 0; i < n; i++)
        json_bool(j, NULL, false);
    json_close(j, ']');
    json_open(j, "relevantForJS", '[');
    for (size_t i = 0; i < n; i++)
        json_bool(j, NULL, false);
    json_close(j, ']');
    json_open(j, "resource", '[');
    for (size_t i = 0; i < n; i++) {
        uint32_t module = t->c->frame_module[t->frames.items[i]], number = table_get(&resource_of, module);
        if (number == TABLE_NONE) {
            uint32_t *row = vector_push(&modules);
            number = (uint32_t)modules.n - 1;
            if (!row || table_put(&resource_of, module, number) < 0) {
                j->out->error = -ENOMEM;
                break;
            }
            *row = module;
        }
        json_u64(j, NULL, number);
    }
    json_close(j, ']');
    strings(j, "fileName", t, t->c->frame_file, true);
    constant(j, "lineNumber", n, -1);
    constant(j, "columnNumber", n, -1);
    json_close(j, '}');

    json_open(j, "resourceTable", '{');
    json_u64(j, "length", modules.n);
    constant(j, "lib", modules.n, -1);
    json_open(j, "name", '[');
    for (size_t i = 0; i < modules.n; i++)
        json_i64(j, NULL, string_of(j, t, t->c->text[modules.items[i]]));
    json_close(j, ']');
    constant(j, "host", modules.n, -1);
    constant(j, "type", modules.n, 1); /* a library */
    json_close(j, '}');
    table_free(&resource_of);
    vector_free(&modules);
}

/* Times in ms, bytes, else numbers: the format knows no other units. */
static void write_weights(struct json *j, const struct rk_profile_columns *c, const uint32_t *rows, size_t n)
{
    const char *unit = c->text[c->event_unit[c->sample_event[rows[0]]]];
    bool time = strcmp(unit, "ns") == 0;

    json_open(j, "weight", '[');
    for (size_t i = 0; i < n; i++) {
        if (time)
            json_real(j, NULL, (double)c->sample_weight[rows[i]] / 1e6);
        else
            json_u64(j, NULL, c->sample_weight[rows[i]]);
    }
    json_close(j, ']');
    json_text(j, "weightType", time ? "tracing-ms" : strcmp(unit, "bytes") == 0 ? "bytes" : "samples");
}

static void write_samples(struct json *j, const struct tables *t, const uint32_t *rows, size_t n)
{
    uint64_t start = t->profile->summary.first_time;

    json_open(j, "samples", '{');
    json_u64(j, "length", n);
    json_open(j, "stack", '[');
    for (size_t i = 0; i < n; i++)
        json_u64(j, NULL, t->stack_of[t->c->sample_node[rows[i]]] - 1);
    json_close(j, ']');
    json_open(j, "time", '[');
    for (size_t i = 0; i < n; i++) {
        uint64_t time = t->c->sample_time[rows[i]];
        json_real(j, NULL, time > start ? (double)(time - start) / 1e6 : 0);
    }
    json_close(j, ']');
    write_weights(j, t->c, rows, n);
    json_close(j, '}');
}

/* Tables that are there, and empty. */
static void write_empty(struct json *j)
{
    static const char *const markers[] = {"category", "data", "endTime", "name", "phase", "startTime"};
    static const char *const symbols[] = {"address", "functionSize", "libIndex", "name"};

    json_open(j, "markers", '{');
    json_u64(j, "length", 0);
    for (size_t i = 0; i < sizeof markers / sizeof *markers; i++)
        constant(j, markers[i], 0, 0);
    json_close(j, '}');
    json_open(j, "nativeSymbols", '{');
    json_u64(j, "length", 0);
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        constant(j, symbols[i], 0, 0);
    json_close(j, '}');
}

static void write_who(struct json *j, const struct tables *t, uint32_t thread, uint32_t event)
{
    const struct rk_profile_columns *c = t->c;
    char text[300];

    snprintf(text, sizeof text, "%.100s%s%.100s%s", c->text[c->thread_name[thread]],
             c->event_n > 1 ? " (" : "", c->event_n > 1 ? c->text[c->event_name[event]] : "",
             c->event_n > 1 ? ")" : "");
    json_text(j, "name", text);
    json_bool(j, "isMainThread", c->thread_pid[thread] == c->thread_tid[thread]);
    json_text(j, "processType", "default");
    json_text(j, "processName", c->text[c->thread_name[thread]]);
    json_u64(j, "processStartupTime", 0);
    json_null(j, "processShutdownTime");
    json_u64(j, "registerTime", 0);
    json_null(j, "unregisterTime");
    json_open(j, "pausedRanges", '[');
    json_close(j, ']');
    snprintf(text, sizeof text, "%" PRId32, c->thread_pid[thread]);
    json_text(j, "pid", text);
    snprintf(text, sizeof text, "%" PRId32, c->thread_tid[thread]);
    json_text(j, "tid", text);
}

static int write_thread(struct json *j, const struct rk_profile *p, const uint32_t *rows, size_t n,
                        uint32_t *path)
{
    struct tables t = {.profile = p,
                       .c = &p->columns,
                       .stack_of = zeroed(p->columns.node_n, sizeof *t.stack_of),
                       .frame_of = zeroed(p->columns.frame_n, sizeof *t.frame_of)};
    int rc = t.stack_of && t.frame_of ? 0 : -ENOMEM;

    for (size_t i = 0; i < n && rc == 0; i++)
        rc = need(&t, p->columns.sample_node[rows[i]], path);
    if (rc == 0) {
        json_open(j, NULL, '{');
        write_who(j, &t, p->columns.sample_thread[rows[0]], p->columns.sample_event[rows[0]]);
        write_samples(j, &t, rows, n);
        write_stacks(j, &t);
        write_frames(j, &t);
        write_functions(j, &t);
        write_empty(j);
        json_open(j, "stringArray", '[');
        for (size_t i = 0; i < t.strings.texts.n; i++)
            json_text(j, NULL, intern_text(&t.strings, (uint32_t)i));
        json_close(j, ']');
        json_close(j, '}');
    }
    tables_free(&t);
    return rc;
}

static void write_category(struct json *j, const char *name, const char *colour)
{
    json_open(j, NULL, '{');
    json_text(j, "name", name);
    json_text(j, "color", colour);
    json_open(j, "subcategories", '[');
    json_text(j, NULL, "Other");
    json_close(j, ']');
    json_close(j, '}');
}

static void write_meta(struct json *j, const struct rk_profile_summary *s)
{
    char text[200];

    json_open(j, "meta", '{');
    json_u64(j, "version", GECKO_VERSION);
    json_u64(j, "preprocessedProfileVersion", PROCESSED_VERSION);
    json_real(j, "interval", s->samples ? (double)s->duration / 1e6 / (double)s->samples : 1);
    json_u64(j, "startTime", 0);
    json_u64(j, "processType", 0);
    json_u64(j, "stackwalk", 1);
    json_u64(j, "debug", 0);
    snprintf(text, sizeof text, "%.60s: %" PRIu64 " samples, %" PRIu64 " lost, %" PRIu64 " skipped%s",
             s->event, s->samples, s->loss.lost, s->loss.skipped, s->cut ? ", cut off" : "");
    json_text(j, "product", text);
    json_text(j, "importedFrom", "reckon");
    json_bool(j, "symbolicated", true);
    json_bool(j, "usesOnlyOneStackType", true);
    json_bool(j, "doesNotUseFrameImplementation", true);
    json_bool(j, "sourceCodeIsNotOnSearchfox", true);
    json_open(j, "extensions", '{');
    json_u64(j, "length", 0);
    for (size_t i = 0; i < 3; i++)
        constant(j, (const char *const[]){"baseURL", "id", "name"}[i], 0, 0);
    json_close(j, '}');
    json_open(j, "markerSchema", '[');
    json_close(j, ']');
    json_open(j, "categories", '[');
    write_category(j, "Other", "grey");
    write_category(j, "User", "yellow");
    write_category(j, "Kernel", "orange");
    json_close(j, ']');
    json_close(j, '}');
}

void export_firefox(const struct rk_profile *profile, struct output *out)
{
    const struct rk_profile_columns *c = &profile->columns;
    _cleanup_free_ uint32_t *path = zeroed(profile->summary.depth, sizeof *path),
                            *order = export_by_thread(profile);
    struct json j = json_to(out);
    int rc = path && order ? 0 : -ENOMEM;

    json_open(&j, NULL, '{');
    write_meta(&j, &profile->summary);
    json_open(&j, "libs", '[');
    json_close(&j, ']');
    json_open(&j, "pages", '[');
    json_close(&j, ']');
    json_open(&j, "threads", '[');
    for (size_t i = 0, n; i < c->sample_n && rc == 0; i += n) {
        n = export_same_thread(profile, order + i, c->sample_n - i);
        rc = write_thread(&j, profile, order + i, n, path);
    }
    json_close(&j, ']');
    json_close(&j, '}');
    output_bytes(out, "\n", 1);
    if (rc < 0)
        out->error = rc;
}

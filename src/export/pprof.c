/*
 * pprof's profile.proto, gzip: what `go tool pprof`, Grafana, Parca, Speedscope and many others read.
 *
 *     sample_type   two for each event: ("samples", "count") where there is one event, else (event "-samples"), and
 *                   (event, unit of its weight)
 *     sample        its stack's locations, innermost first; a value for each type; labels: thread (its name), pid, tid,
 *                   cpu, cgroup, source, time (ns)
 *     location      a function with those that were inlined into it, innermost first, as lines
 *     function      name, file; one without a name has "[unknown] N" as system_name, N being its enum rk_miss
 *     mapping       a module: its path, and whether its functions and lines are known
 *     comment       "reckon …: loss": kept, lost, skipped, throttled, known bits, of each event; cut
 *
 * Strings are numbered as the profile's texts are, so that text 0 is "", as the format wants it; others follow.
 */
#include "base/cleanup.h"
#include "codec/deflate.h"
#include "export/formats.h"
#include "export/protobuf.h"
#include "profile/maker.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* Fields of Profile … */
enum {
    SAMPLE_TYPE = 1,
    SAMPLE,
    MAPPING,
    LOCATION,
    FUNCTION,
    STRING_TABLE,
    TIME_NANOS = 9,
    DURATION_NANOS,
    PERIOD_TYPE,
    PERIOD,
    COMMENT,
    DEFAULT_SAMPLE_TYPE
};

struct pprof {
    const struct rk_profile *profile;
    const struct rk_profile_columns *c;
    struct protobuf to;
    VECTOR(char *) more;    /* strings behind the profile's texts */
    struct pairs locations; /* (location that it is inlined into, frame) */
    uint32_t *location_of;  /* by node */
};

/* `text` and `tail` behind one another, as a new string. */
static int64_t string_join(struct pprof *p, const char *text, const char *tail)
{
    size_t n = strlen(text), more = strlen(tail);
    char *copy = malloc(n + more + 1), **row = copy ? vector_push(&p->more) : NULL;

    if (!row) {
        free(copy);
        p->to.error = -ENOMEM;
        return 0;
    }
    stpcpy(stpcpy(copy, text), tail);
    *row = copy;
    return (int64_t)(p->c->text_n + p->more.n - 1);
}

static int64_t string_add(struct pprof *p, const char *text)
{
    return string_join(p, text, "");
}

static void write_value_type(struct pprof *p, uint32_t field, int64_t type, int64_t unit)
{
    size_t at = protobuf_open(&p->to, field);

    protobuf_number(&p->to, 1, (uint64_t)type);
    protobuf_number(&p->to, 2, (uint64_t)unit);
    protobuf_close(&p->to, at);
}

static void write_types(struct pprof *p)
{
    const struct rk_profile_columns *c = p->c;
    int64_t count = string_add(p, "count"), ns = string_add(p, "nanoseconds"), period = 0;

    for (size_t i = 0; i < c->event_n; i++) {
        const char *event = c->text[c->event_name[i]], *unit = c->text[c->event_unit[i]];
        event = event[0] ? event : "events";
        write_value_type(p, SAMPLE_TYPE,
                         c->event_n == 1 ? string_add(p, "samples") : string_join(p, event, "-samples"),
                         count);
        period = string_add(p, event);
        write_value_type(p, SAMPLE_TYPE, period,
                         !unit[0]                  ? count
                         : strcmp(unit, "ns") == 0 ? ns
                                                   : c->event_unit[i]);
    }
    protobuf_number(&p->to, DEFAULT_SAMPLE_TYPE, (uint64_t)period);
}

struct labels {
    int64_t thread, pid, tid, cpu, cgroup, source, time, ns;
};

static void write_label(struct pprof *p, int64_t key, uint64_t text, int64_t number, int64_t unit)
{
    size_t at = protobuf_open(&p->to, 3);

    protobuf_number(&p->to, 1, (uint64_t)key);
    protobuf_number(&p->to, 2, text);
    protobuf_number(&p->to, 3, (uint64_t)number);
    protobuf_number(&p->to, 4, (uint64_t)unit);
    protobuf_close(&p->to, at);
}

static void write_labels(struct pprof *p, const struct labels *l, size_t i)
{
    const struct rk_profile_columns *c = p->c;
    uint32_t thread = c->sample_thread[i], source = c->source_name[c->thread_source[thread]];

    if (c->thread_name[thread])
        write_label(p, l->thread, c->thread_name[thread], 0, 0);
    if (c->thread_pid[thread] >= 0)
        write_label(p, l->pid, 0, c->thread_pid[thread], 0);
    if (c->thread_tid[thread] >= 0)
        write_label(p, l->tid, 0, c->thread_tid[thread], 0);
    if (c->sample_cpu[i] != RK_NO_CPU)
        write_label(p, l->cpu, 0, c->sample_cpu[i], 0);
    if (c->cgroup_path[c->sample_cgroup[i]])
        write_label(p, l->cgroup, c->cgroup_path[c->sample_cgroup[i]], 0, 0);
    if (source)
        write_label(p, l->source, source, 0, 0);
    if (c->sample_time[i])
        write_label(p, l->time, 0, (int64_t)c->sample_time[i], l->ns);
}

/* Each node's location: one for a function and those inlined into it on the way. */
static int locate(struct pprof *p)
{
    const struct rk_profile_columns *c = p->c;

    p->location_of = zeroed(c->node_n, sizeof *p->location_of);
    if (!p->location_of)
        return -ENOMEM;
    for (size_t i = 0; i < c->node_n; i++) {
        uint32_t outer = c->node_parent[i], frame = c->node_frame[i];
        bool inlined = c->frame_flags[frame] & RK_FRAME_INLINE && outer != RK_NO_NODE;
        int64_t location = pairs_add(&p->locations, inlined ? p->location_of[outer] : PAIRS_NONE, frame);
        if (location < 0)
            return (int)location;
        p->location_of[i] = (uint32_t)location;
    }
    return 0;
}

static void write_samples(struct pprof *p)
{
    const struct rk_profile_columns *c = p->c;
    struct labels l = {.thread = string_add(p, "thread"),
                       .pid = string_add(p, "pid"),
                       .tid = string_add(p, "tid"),
                       .cpu = string_add(p, "cpu"),
                       .cgroup = string_add(p, "cgroup"),
                       .source = string_add(p, "source"),
                       .time = string_add(p, "time"),
                       .ns = string_add(p, "nanoseconds")};

    for (size_t i = 0; i < c->sample_n && p->to.error == 0; i++) {
        size_t sample = protobuf_open(&p->to, SAMPLE), at = protobuf_open(&p->to, 1);
        for (uint32_t node = c->sample_node[i]; node != RK_NO_NODE;) {
            protobuf_packed(&p->to, (uint64_t)p->location_of[node] + 1);
            while (c->frame_flags[c->node_frame[node]] & RK_FRAME_INLINE &&
                   c->node_parent[node] != RK_NO_NODE)
                node = c->node_parent[node]; /* they are in that location */
            node = c->node_parent[node];
        }
        protobuf_close(&p->to, at);
        at = protobuf_open(&p->to, 2);
        for (uint32_t event = 0; event < c->event_n; event++) {
            bool its = event == c->sample_event[i];
            protobuf_packed(&p->to, its ? c->sample_count[i] : 0);
            protobuf_packed(&p->to, its ? c->sample_weight[i] : 0);
        }
        protobuf_close(&p->to, at);
        write_labels(p, &l, i);
        protobuf_close(&p->to, sample);
    }
}

static uint64_t *weights_of(const struct rk_profile_columns *c, const uint32_t *of, size_t n)
{
    uint64_t *sums = zeroed(n, sizeof *sums);

    for (size_t i = 0; sums && i < c->sample_n; i++)
        sums[of ? of[c->sample_node[i]] : c->sample_thread[i]] += c->sample_weight[i];
    return sums;
}

/* The program, which pprof takes the first mapping for: the heaviest module that is called like the thread with the most
 * weight; else the heaviest file that is no library. The first frame of it; UINT32_MAX: none. */
static int main_module(const struct rk_profile_columns *c, uint32_t *ret)
{
    _cleanup_free_ uint64_t *self = weights_of(c, c->node_frame, c->frame_n);
    _cleanup_free_ uint64_t *threads = weights_of(c, NULL, c->thread_n);
    _cleanup_free_ uint64_t *paths = zeroed(c->text_n, sizeof *paths);
    uint64_t most = 0;
    size_t busiest = 0;
    bool called = false;

    *ret = UINT32_MAX;
    if (!self || !threads || !paths)
        return -ENOMEM;
    for (size_t i = 1; i < c->thread_n; i++)
        busiest = threads[i] > threads[busiest] ? i : busiest;
    const char *comm = c->thread_n ? c->text[c->thread_name[busiest]] : "";
    for (size_t i = 0; i < c->frame_n; i++)
        paths[c->frame_path[i]] += self[i];
    for (size_t i = 0; i < c->frame_n; i++) {
        const char *path = c->text[c->frame_path[i]], *slash = strrchr(path, '/');
        uint64_t weight = paths[c->frame_path[i]];
        if (path[0] != '/' || !slash)
            continue;
        bool like = *comm && strncmp(slash + 1, comm, strlen(comm)) == 0;
        if ((like && !called) || (like == called && (like || !strstr(slash, ".so")) && weight > most) ||
            (*ret == UINT32_MAX && !strstr(slash, ".so"))) {
            *ret = (uint32_t)i;
            most = weight;
            called = like;
        }
    }
    return 0;
}

/* Modules by path, the program first; each frame's mapping + 1. What is in no known one has none. */
static int write_mappings(struct pprof *p, uint32_t *mapping_of)
{
    const struct rk_profile_columns *c = p->c;
    struct table seen = {0};
    uint32_t n = 0, first = UINT32_MAX;
    int rc = main_module(c, &first);

    for (size_t k = first == UINT32_MAX; k <= c->frame_n && rc == 0; k++) {
        size_t i = k ? k - 1 : first;
        uint32_t known = table_get(&seen, c->frame_path[i]);
        if (!c->frame_path[i] || known != TABLE_NONE) {
            mapping_of[i] = known == TABLE_NONE ? 0 : known;
            continue;
        }
        mapping_of[i] = ++n;
        rc = table_put(&seen, c->frame_path[i], n);
        size_t at = protobuf_open(&p->to, MAPPING);
        protobuf_number(&p->to, 1, n);
        protobuf_number(&p->to, 5, c->frame_path[i]);
        protobuf_number(&p->to, 7, 1);  /* functions … */
        protobuf_number(&p->to, 8, 1);  /* files, */
        protobuf_number(&p->to, 9, 1);  /* lines, */
        protobuf_number(&p->to, 10, 1); /* inlined functions are told as far as they are known */
        protobuf_close(&p->to, at);
    }
    table_free(&seen);
    return rc;
}

static void write_locations(struct pprof *p, const uint32_t *mapping_of, const uint32_t *function_of)
{
    const struct rk_profile_columns *c = p->c;

    for (size_t i = 0; i < p->locations.items.n; i++) {
        uint32_t at = (uint32_t)i;
        size_t location = protobuf_open(&p->to, LOCATION);
        protobuf_number(&p->to, 1, i + 1);
        protobuf_number(&p->to, 2, mapping_of[p->locations.items.items[i].b]);
        for (; at != PAIRS_NONE; at = p->locations.items.items[at].a) {
            uint32_t frame = p->locations.items.items[at].b;
            size_t line = protobuf_open(&p->to, 4);
            protobuf_number(&p->to, 1, function_of[frame]);
            protobuf_number(&p->to, 2, c->frame_line[frame]);
            protobuf_close(&p->to, line);
        }
        protobuf_close(&p->to, location);
    }
}

/* Functions by (symbol, file, module); each frame's function + 1. */
static int write_functions(struct pprof *p, uint32_t *function_of)
{
    const struct rk_profile_columns *c = p->c;
    struct unique functions = {.words = 3};
    int64_t number = 0;

    for (size_t i = 0; i < c->frame_n && number >= 0; i++) {
        size_t before = functions.n;
        number = unique_add(&functions, (uint64_t[]){(uint64_t)c->frame_symbol[i] << 32 | c->frame_file[i],
                                                     c->frame_path[i], c->frame_miss[i]});
        function_of[i] = (uint32_t)number + 1;
        if (number < 0 || functions.n == before)
            continue;
        size_t at = protobuf_open(&p->to, FUNCTION);
        protobuf_number(&p->to, 1, (uint64_t)number + 1);
        protobuf_number(&p->to, 2, c->frame_symbol[i]);
        char why[32];
        snprintf(why, sizeof why, "[unknown] %" PRIu32, c->frame_miss[i]);
        protobuf_number(&p->to, 3, c->frame_miss[i] ? (uint64_t)string_add(p, why) : c->frame_symbol[i]);
        protobuf_number(&p->to, 4, c->frame_file[i]);
        protobuf_close(&p->to, at);
    }
    unique_free(&functions);
    return number < 0 ? (int)number : 0;
}

/* What the format has no place for: it is shown by `pprof -comments`, and read back by rk_profile_file(). */
static void write_comments(struct pprof *p)
{
    const struct rk_profile_summary *s = &p->profile->summary;
    char text[512];

    for (size_t i = 0; i < p->c->event_n; i++) {
        const struct rk_loss *l = &p->profile->event_loss[i];
        snprintf(text, sizeof text,
                 "reckon loss: kept %" PRIu64 " lost %" PRIu64 " skipped %" PRIu64 " throttled %" PRIu64
                 " records_lost %" PRIu64 " known %u event %.200s",
                 p->c->event_samples[i], l->lost, l->skipped, l->throttled, l->records_lost, l->present,
                 p->c->text[p->c->event_name[i]]);
        protobuf_number(&p->to, COMMENT, (uint64_t)string_add(p, text));
    }
    snprintf(text, sizeof text,
             "reckon stacks: whole %" PRIu64 " cut %" PRIu64 " broken %" PRIu64
             " recording_cut %u slice_ns %" PRIu64,
             s->stacks_whole, s->stacks_cut, s->stacks_broken, s->cut, s->slice_ns);
    protobuf_number(&p->to, COMMENT, (uint64_t)string_add(p, text));
}

static int write_all(struct pprof *p)
{
    const struct rk_profile_columns *c = p->c;
    const struct rk_profile_summary *s = &p->profile->summary;
    _cleanup_free_ uint32_t *mapping_of = zeroed(c->frame_n, sizeof *mapping_of);
    _cleanup_free_ uint32_t *function_of = zeroed(c->frame_n, sizeof *function_of);
    int rc = mapping_of && function_of ? locate(p) : -ENOMEM;

    if (rc < 0)
        return rc;
    write_types(p);
    write_samples(p);
    if ((rc = write_mappings(p, mapping_of)) < 0 || (rc = write_functions(p, function_of)) < 0)
        return rc;
    write_locations(p, mapping_of, function_of);
    write_comments(p);
    protobuf_number(&p->to, TIME_NANOS, s->first_time);
    protobuf_number(&p->to, DURATION_NANOS, s->duration);
    for (size_t i = 0; i < c->text_n; i++)
        protobuf_text(&p->to, STRING_TABLE, c->text[i]);
    for (size_t i = 0; i < p->more.n; i++)
        protobuf_text(&p->to, STRING_TABLE, p->more.items[i]);
    return p->to.error;
}

void export_pprof(const struct rk_profile *profile, struct output *out)
{
    struct pprof p = {.profile = profile, .c = &profile->columns};
    void *packed = NULL;
    size_t n = 0;
    int rc = write_all(&p);

    if (rc == 0)
        rc = gzip_encode(p.to.bytes.items, p.to.bytes.n, &packed, &n);
    if (rc == 0)
        output_bytes(out, packed, n);
    else
        out->error = rc;
    free(packed);
    protobuf_free(&p.to);
    for (size_t i = 0; i < p.more.n; i++)
        free(p.more.items[i]);
    vector_free(&p.more);
    pairs_free(&p.locations);
    free(p.location_of);
}

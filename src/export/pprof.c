/*
 * pprof's profile.proto, gzip: what `go tool pprof`, Grafana, Parca, Speedscope and many others read.
 *
 *     sample_type   two for each event: ("samples", "count") where there is one event, else (event "-samples"), and
 *                   (event, unit of its weight); one of folded stacks, whose samples are their weight
 *     sample        its stack's locations, innermost first; a value for each type; labels: thread (its name), pid, tid,
 *                   cpu, cgroup, source, time (ns)
 *     location      a function with those that were inlined into it, innermost first, as lines
 *     function      name, file; one without a name has "[unknown] N" as system_name, N being its enum rk_miss
 *     location      … its address is where it was met first; one without a name has an address of its own
 *     mapping       a module: where the process that mapped it last has it, its path and build-id; whether all of its
 *                   functions here have names, and so needn't be looked up
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
    bool counted;        /* the only event is "samples", and weighs what it counts: one type says both */
    VECTOR(char *) more; /* strings behind the profile's texts */
    /* (location that it is inlined into, frame): first the profile's places, by number. */
    struct pairs locations;
    uint32_t *location_of; /* by node */
    struct pprof_module {
        uint32_t path, build_id;
        uint64_t start, end, offset;
        bool used, unnamed;
    } * mappings;         /* by the profile's image, then by path, in that order … */
    uint32_t *mapping_of; /* … by location: number + 1; 0: none */
    size_t mapping_n;
    uint32_t *written; /* by mapping: its id, which pprof takes the program's for if it is the first */
    bool *used;        /* by location */
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

static bool is_counted(const struct rk_profile_columns *c)
{
    bool counted =
        c->event_n == 1 && strcmp(c->text[c->event_name[0]], "samples") == 0 && !*c->text[c->event_unit[0]];

    for (size_t i = 0; i < c->sample_n && counted; i++)
        counted = c->sample_count[i] == c->sample_weight[i];
    return counted;
}

static void write_types(struct pprof *p)
{
    const struct rk_profile_columns *c = p->c;
    int64_t count = string_add(p, "count"), ns = string_add(p, "nanoseconds"), period = 0;

    for (size_t i = 0; i < c->event_n; i++) {
        const char *event = c->text[c->event_name[i]], *unit = c->text[c->event_unit[i]];
        event = event[0] ? event : "events";
        bool samples = strcmp(event, "samples") == 0;
        if (!p->counted)
            write_value_type(p, SAMPLE_TYPE,
                             c->event_n == 1 && !samples ? string_add(p, "samples")
                                                         : string_join(p, event, "-samples"),
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
    for (size_t i = 0; i < p->profile->places.n; i++) {
        const struct profile_place *place = &p->profile->places.items[i];
        int64_t location = pairs_add(&p->locations, place->outer, place->frame);
        if (location < 0)
            return (int)location;
    }
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
            if (!p->counted)
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

/* The mapping of a path that no image has: its number + 1, or -ENOMEM. */
static int64_t mapping_of_path(struct pprof *p, struct table *of, uint32_t path)
{
    uint32_t known = table_get(of, path);

    if (!path || known != TABLE_NONE)
        return path ? known : 0;
    p->mappings[p->mapping_n++] = (struct pprof_module){.path = path};
    int rc = table_put(of, path, (uint32_t)p->mapping_n);
    return rc < 0 ? rc : (int64_t)p->mapping_n;
}

/* All of an image's addresses lie in its mapping. */
static void mapping_take(struct pprof_module *m, uint64_t address)
{
    const uint64_t page = 4095;

    if (m->end == 0) {
        m->start = address & ~page;
        m->end = address | page;
        m->offset = m->start;
    }
    if (address < m->start) {
        uint64_t more = m->start - (address & ~page);
        m->start -= more;
        m->offset = m->offset > more ? m->offset - more : 0;
    }
    if (address >= m->end)
        m->end = (address | page) + ((address | page) != UINT64_MAX);
}

/* The mappings of the locations that samples have. */
static int map(struct pprof *p)
{
    const struct rk_profile *profile = p->profile;
    const struct rk_profile_columns *c = p->c;
    size_t n = p->locations.items.n;
    struct table of = {0};
    int rc = 0;

    p->mappings = zeroed(profile->images.n + c->frame_n, sizeof *p->mappings);
    p->mapping_of = zeroed(n, sizeof *p->mapping_of);
    p->written = zeroed(profile->images.n + c->frame_n, sizeof *p->written);
    p->used = zeroed(n, sizeof *p->used);
    if (!p->mappings || !p->mapping_of || !p->written || !p->used)
        return -ENOMEM;
    for (; p->mapping_n < profile->images.n && rc == 0; p->mapping_n++) {
        const struct profile_image *image = &profile->images.items[p->mapping_n];
        p->mappings[p->mapping_n] = (struct pprof_module){
            .path = image->path,
            .build_id = image->build_id,
            .start = image->start,
            .end = image->end,
            .offset = image->offset,
        };
        if (table_get(&of, image->path) == TABLE_NONE)
            rc = table_put(&of, image->path, (uint32_t)p->mapping_n + 1);
    }
    for (size_t i = 0; i < c->node_n; i++)
        p->used[p->location_of[i]] = true;
    for (size_t i = 0; i < n && rc == 0; i++) {
        uint32_t frame = p->locations.items.items[i].b;
        const struct profile_place *place = i < profile->places.n ? &profile->places.items[i] : NULL;
        if (!p->used[i])
            continue;
        int64_t number = place ? place->image : mapping_of_path(p, &of, c->frame_path[frame]);
        rc = number < 0 ? (int)number : 0;
        p->mapping_of[i] = rc == 0 ? (uint32_t)number : 0;
        if (rc < 0 || number == 0)
            continue;
        struct pprof_module *m = &p->mappings[number - 1];
        m->used = true;
        m->unnamed |= c->frame_miss[frame] != 0;
        if (place)
            mapping_take(m, place->address);
    }
    table_free(&of);
    return rc;
}

static void write_mapping(struct pprof *p, size_t i, uint32_t id)
{
    const struct pprof_module *m = &p->mappings[i];
    size_t at = protobuf_open(&p->to, MAPPING);

    p->written[i] = id;
    protobuf_number(&p->to, 1, id);
    protobuf_number(&p->to, 2, m->start);
    protobuf_number(&p->to, 3, m->end);
    protobuf_number(&p->to, 4, m->offset);
    protobuf_number(&p->to, 5, m->path);
    protobuf_number(&p->to, 6, m->build_id);
    for (uint32_t field = 7; field <= 10 && !m->unnamed; field++)
        protobuf_number(&p->to, field,
                        1); /* functions, files, lines, inlined ones are there if they are known */
    protobuf_close(&p->to, at);
}

/* The program's mapping first. */
static int write_mappings(struct pprof *p)
{
    uint32_t id = 0, program = UINT32_MAX;
    int rc = main_module(p->c, &program);

    for (size_t i = 0; i < p->mapping_n && rc == 0 && program != UINT32_MAX; i++)
        if (p->mappings[i].used && id == 0 && p->mappings[i].path == p->c->frame_path[program])
            write_mapping(p, i, ++id);
    for (size_t i = 0; i < p->mapping_n && rc == 0; i++)
        if (p->mappings[i].used && !p->written[i])
            write_mapping(p, i, ++id);
    return rc;
}

static void write_locations(struct pprof *p, const uint32_t *function_of)
{
    const struct rk_profile_columns *c = p->c;

    for (size_t i = 0; i < p->locations.items.n; i++) {
        uint32_t at = (uint32_t)i;
        if (!p->used[i])
            continue;
        size_t location = protobuf_open(&p->to, LOCATION);
        protobuf_number(&p->to, 1, i + 1);
        protobuf_number(&p->to, 2, p->mapping_of[i] ? p->written[p->mapping_of[i] - 1] : 0);
        protobuf_number(&p->to, 3, i < p->profile->places.n ? p->profile->places.items[i].address : 0);
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
    _cleanup_free_ uint32_t *function_of = zeroed(c->frame_n, sizeof *function_of);
    int rc = function_of ? locate(p) : -ENOMEM;

    if (rc < 0 || (rc = map(p)) < 0)
        return rc;
    p->counted = is_counted(c);
    write_types(p);
    write_samples(p);
    if ((rc = write_mappings(p)) < 0 || (rc = write_functions(p, function_of)) < 0)
        return rc;
    write_locations(p, function_of);
    write_comments(p);
    if (s->made)
        protobuf_number(&p->to, TIME_NANOS, s->made);
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
    free(p.mappings);
    free(p.mapping_of);
    free(p.written);
    free(p.used);
}

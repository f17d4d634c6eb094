#include "profile/finish.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "profile/unwound.h"

#include <errno.h>

/* PERF_TYPE_SOFTWARE, and its two clocks. */
#define TYPE_SOFTWARE 1
#define CLOCK_MAX 1

static void finish_free(struct finish *f)
{
    rk_symbolizer_free(f->symbolizer);
    free(f->functions_of);
    vector_free(&f->inlines);
    vector_free(&f->declared);
    vector_free(&f->path);
    vector_free(&f->folded);
    vector_free(&f->images);
    maker_free(&f->maker);
}

/* Whether a frame of the builder's is in one of the functions through which threads leave the CPU. */
static bool is_scheduler(const struct finish *f, uint32_t frame, enum waits_how how)
{
    const uint64_t *key = unique_key(&f->maker.frames, f->inlines.items[f->functions_of[frame].first]);
    uint32_t symbol = (uint32_t)key[0], flags = (uint32_t)key[3];

    return flags & RK_FRAME_KERNEL && waits_is_scheduler(intern_text(&f->maker.profile->texts, symbol), how);
}

/* What a thread that could have gone on was off the CPU for: a frame below what it did. */
static int64_t preempted(struct finish *f)
{
    int64_t symbol = maker_text(&f->maker, "(preempted)"), module = maker_text(&f->maker, "[scheduler]");

    if (symbol < 0 || module < 0)
        return -ENOMEM;
    return maker_frame(&f->maker, &(struct maker_frame){.symbol = (uint32_t)symbol,
                                                        .module = (uint32_t)module,
                                                        .path = (uint32_t)module});
}

/* A stack of the builder's, of addresses → one of the maker's, of functions. That of a wait ends with who waits. */
static int64_t fold(struct finish *f, uint32_t stack, enum waits_how how)
{
    f->path.n = f->folded.n = 0;
    if (stacks_path(&f->builder->stacks, stack, &f->path) < 0)
        return -ENOMEM;
    while (how && f->path.n > 1 && is_scheduler(f, f->path.items[f->path.n - 1], how))
        f->path.n--;
    for (size_t i = 0; i < f->path.n; i++) {
        const struct frame_functions *functions = &f->functions_of[f->path.items[i]];
        if (vector_reserve(&f->folded, functions->n) < 0)
            return -ENOMEM;
        memcpy(f->folded.items + f->folded.n, f->inlines.items + functions->first,
               functions->n * sizeof *f->folded.items);
        f->folded.n += functions->n;
    }
    if (how == WAITS_PREEMPTED) {
        int64_t frame = preempted(f);
        if (frame < 0 || vector_reserve(&f->folded, 1) < 0)
            return -ENOMEM;
        f->folded.items[f->folded.n++] = (uint32_t)frame;
    }
    return stacks_add(&f->maker.stacks, f->folded.items, f->folded.n);
}

/* A cell in parts. */
struct cell {
    uint32_t stack, origin;
    enum waits_how how;
};

static struct cell cell_of(const struct rk_profile_builder *b, uint32_t number)
{
    struct pair pair = b->cells.items.items[number];

    if (!(pair.b & WAITS_CELL))
        return (struct cell){pair.a, pair.b, WAITS_NONE};
    struct pair turn = b->waits.turns.items.items[pair.b & ~WAITS_CELL];
    return (struct cell){pair.a, turn.a, (enum waits_how)turn.b};
}

/* The stacks that cells have, by how they were left: each is folded once. */
static int stacks(struct finish *f, uint32_t *ret[static WAITS_KINDS])
{
    const struct rk_profile_builder *b = f->builder;
    size_t n = b->stacks.runs.n;

    for (size_t i = 0; i < b->cells.items.n; i++) {
        struct cell cell = cell_of(b, (uint32_t)i);
        if (!ret[cell.how]) {
            if (!(ret[cell.how] = malloc((n + 1) * sizeof **ret)))
                return -ENOMEM;
            memset(ret[cell.how], 0xff, n * sizeof **ret);
        }
        uint32_t *at = &ret[cell.how][cell.stack];
        int64_t folded = *at == STACKS_NONE ? fold(f, cell.stack, cell.how) : *at;
        if (folded < 0)
            return (int)folded;
        *at = (uint32_t)folded;
    }
    return 0;
}

/* Threads under their names, by the builder's identities. */
static int threads(struct finish *f, const struct rk_stream *stream, uint32_t *ret)
{
    const struct rk_profile_builder *b = f->builder;
    struct rk_stream_info info = {.size = sizeof info, .host = ""};

    if (stream)
        rk_stream_info(stream, &info);
    int64_t source = maker_source(&f->maker, info.host ? info.host : "");
    if (source < 0)
        return (int)source;
    for (size_t i = 0; i < b->identities.items.n; i++) {
        struct pair identity = b->identities.items.items[i];
        struct thread thread = b->threads.items[identity.a];
        int64_t number = maker_thread(&f->maker, (uint32_t)source, thread.pid, thread.tid,
                                      intern_text(&b->comms, identity.b));
        if (number < 0)
            return (int)number;
        ret[i] = (uint32_t)number;
    }
    return 0;
}

/* Whether the event's weights are nanoseconds. */
static bool is_time(const struct rk_profile_builder *b, const struct rk_stream_event *event)
{
    return (event->type == TYPE_SOFTWARE && event->config <= CLOCK_MAX) ||
           strcmp(event->name, "offcpu-time") == 0 ||
           (strcmp(event->name, WAITS_EVENT) == 0 && b->waits.seen);
}

static int64_t add_event(struct finish *f, const struct rk_stream *stream, uint32_t number)
{
    struct rk_stream_event event = {.size = sizeof event, .name = ""};
    struct rk_loss loss = {.size = sizeof loss};

    if (number == RK_NO_EVENT || !stream || rk_stream_event_get(stream, number, &event) < 0)
        return maker_event(&f->maker, "", "", NULL);
    bool known = rk_stream_loss(stream, number, &loss) == 0;
    return maker_event(&f->maker, event.name, is_time(f->builder, &event) ? "ns" : "", known ? &loss : NULL);
}

/* All events of the stream, or the one that was asked for; then what samples have beyond them. */
static int events(struct finish *f, const struct rk_stream *stream, struct table *ret)
{
    const struct rk_profile_builder *b = f->builder;
    size_t n = stream ? rk_stream_event_count(stream) : 0;
    int64_t number = 0;

    for (size_t i = 0; i < n && number >= 0; i++)
        if (!(b->options.flags & RK_PROFILE_EVENT) || b->options.event == i) {
            number = add_event(f, stream, (uint32_t)i);
            if (number >= 0 && table_put(ret, i, (uint32_t)number) < 0)
                number = -ENOMEM;
        }
    for (size_t i = 0; i < b->owners.items.n && number >= 0; i++) {
        uint32_t event = b->owners.items.items[i].b;
        if (table_get(ret, event) != TABLE_NONE)
            continue;
        number = add_event(f, stream, event);
        if (number >= 0 && table_put(ret, event, (uint32_t)number) < 0)
            number = -ENOMEM;
    }
    return number < 0 ? (int)number : 0;
}

static int cgroups(struct finish *f, uint32_t *ret)
{
    const struct rk_profile_builder *b = f->builder;

    for (size_t i = 0; i < b->cgroups.n; i++) {
        uint64_t id = b->cgroups.items[i];
        int64_t number = maker_cgroup(&f->maker, id, id ? rk_image_cgroup(b->image, id) : "");
        if (number < 0)
            return (int)number;
        ret[i] = (uint32_t)number;
    }
    return 0;
}

/* Where the parts of the builder's cells have gone. */
struct moved {
    uint32_t *stacks[WAITS_KINDS], *threads, *cgroups;
    struct table events;
};

static int samples(struct finish *f, const struct moved *moved)
{
    const struct rk_profile_builder *b = f->builder;

    for (size_t i = 0; i < b->slices.rows.n; i++) {
        const struct slices_row *row = &b->slices.rows.items[i];
        struct cell cell = cell_of(b, row->cell);
        struct pair origin = b->origins.items.items[cell.origin];
        struct pair owner = b->owners.items.items[origin.a], scene = b->scenes.items.items[origin.b];
        bool waits = owner.b < b->event_of.n && b->event_of.items[owner.b].off_cpu && !b->waits.seen;
        struct maker_sample sample = {
            .stack = moved->stacks[cell.how][cell.stack],
            .thread = moved->threads[owner.a],
            .event = table_get(&moved->events, owner.b),
            .cpu = scene.a,
            .cgroup = moved->cgroups[scene.b],
            .time = row->time,
            .amount = {waits ? row->amount.samples : row->amount.weight, row->amount.samples},
        };
        int rc = maker_sample(&f->maker, &sample);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int rows(struct finish *f, const struct rk_stream *stream)
{
    const struct rk_profile_builder *b = f->builder;
    struct moved moved = {
        .threads = zeroed(b->identities.items.n, sizeof *moved.threads),
        .cgroups = zeroed(b->cgroups.n, sizeof *moved.cgroups),
    };
    int rc = moved.threads && moved.cgroups ? 0 : -ENOMEM;

    if (rc == 0 && (rc = stacks(f, moved.stacks)) == 0 && (rc = threads(f, stream, moved.threads)) == 0 &&
        (rc = events(f, stream, &moved.events)) == 0 && (rc = cgroups(f, moved.cgroups)) == 0)
        rc = samples(f, &moved);
    for (size_t how = 0; how < WAITS_KINDS; how++)
        free(moved.stacks[how]);
    free(moved.threads);
    free(moved.cgroups);
    table_free(&moved.events);
    return rc;
}

/* What the stream knows and samples don't. */
static void summarise(const struct rk_profile_builder *b, const struct rk_stream *stream,
                      struct rk_profile_summary *ret)
{
    struct rk_stream_info info = {.size = sizeof info};

    *ret = b->summary;
    ret->slice_ns = ret->last_time && b->options.times != RK_TIMES_NONE ? UINT64_C(1) << b->slices.shift : 0;
    ret->loss = (struct rk_loss){.size = sizeof ret->loss};
    unwound_summarise(b, stream, ret);
    if (!stream)
        return;
    rk_stream_loss(stream, b->options.flags & RK_PROFILE_EVENT ? b->options.event : RK_NO_EVENT, &ret->loss);
    if (rk_stream_info(stream, &info) == 0) {
        ret->cut = info.cut;
        ret->made = info.made;
        ret->trace_bytes = info.trace_bytes;
        ret->trace = info.trace;
    }
}

/* What a recording knows of the files that ran, so that others now in their place are not believed. */
static int tell_build_ids(struct finish *f, const struct rk_stream *stream)
{
    size_t n = stream ? rk_stream_build_id_count(stream) : 0;
    int rc = 0;

    for (size_t i = 0; i < n && rc == 0; i++) {
        struct rk_stream_build_id id = {.size = sizeof id};
        rc = rk_stream_build_id_get(stream, i, &id);
        if (rc == 0 && id.bytes)
            rc = rk_image_feed_build_id(f->builder->image, id.path, id.id, id.bytes);
    }
    return rc;
}

/* What only feeding needs is not needed any more: the finished profile is made in its place. */
static void settle(struct rk_profile_builder *b)
{
    stacks_settle(&b->stacks);
    pairs_settle(&b->cells);
    slices_settle(&b->slices);
    free(b->cache);
    b->cache = NULL;
}

/* Where a recording's names are looked for; a live stream is of this machine. */
static struct rk_symbolizer_options searched(const struct rk_profile_builder *builder,
                                             const struct rk_stream *stream, struct rk_stream_info *info)
{
    const struct rk_profile_options *o = &builder->options;
    struct rk_symbolizer_options options = {.size = sizeof options,
                                            .root = o->root,
                                            .symfs = o->symfs,
                                            .vmlinux = o->vmlinux,
                                            .kallsyms = o->kallsyms};

    if (stream && rk_stream_info(stream, info) == 0 && info->recorded) {
        options.host = info->host;
        options.kernel = info->kernel;
    }
    return options;
}

static int finish_run(struct finish *f, struct rk_profile_builder *builder, const struct rk_stream *stream,
                      struct rk_profile **ret, struct rk_error *e)
{
    struct rk_stream_info info = {.size = sizeof info};
    struct rk_symbolizer_options options = searched(builder, stream, &info);
    struct rk_profile_summary summary;
    const void *names;
    size_t bytes;
    int rc = rk_symbolizer_open(&options, &f->symbolizer, e);

    if (rc < 0)
        return rc;
    /* Names that can't be read cost no more than names. */
    if (stream && rk_stream_names(stream, &names, &bytes) == 0 &&
        rk_symbolizer_names(f->symbolizer, names, bytes, NULL) == -ENOMEM)
        return fail_memory(e, RK_STAGE_PROFILE);
    if ((rc = maker_begin(&f->maker)) == 0 && (rc = waits_end(builder)) == 0 &&
        (rc = tell_build_ids(f, stream)) == 0) {
        settle(builder);
        if ((rc = finish_name(f)) == 0 && (rc = finish_apart(f)) == 0 && (rc = finish_place(f)) == 0)
            rc = rows(f, stream);
    }
    if (rc == 0) {
        summarise(builder, stream, &summary);
        stacks_free(&builder->stacks);
        slices_free(&builder->slices);
        rc = maker_end(&f->maker, &summary, ret);
    }
    if (rc == -ENOMEM)
        return fail_memory(e, RK_STAGE_PROFILE);
    return rc == 0 ? 0
                   : fail(e, rc, RK_STAGE_PROFILE, RK_CAUSE_UNKNOWN, NULL, "cannot build the profile: %s",
                          strerror(-rc));
}

int rk_profile_builder_finish(struct rk_profile_builder *builder, const struct rk_stream *stream,
                              struct rk_profile **ret, struct rk_error *e)
{
    if (!builder || !ret)
        return fail_null(e, RK_STAGE_PROFILE, "rk_profile_builder_finish", builder ? "ret" : "builder");
    struct finish f = {.builder = builder};
    int rc = finish_run(&f, builder, stream, ret, e);
    finish_free(&f);
    builder_restart(builder);
    return rc;
}

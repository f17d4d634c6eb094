#include "profile/finish.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "profile/unwound.h"

#include <errno.h>

static void finish_free(struct finish *f)
{
    rk_symbolizer_close(f->symbolizer);
    pairs_free(&f->names);
    pairs_free(&f->lines);
    pairs_free(&f->functions);
    free(f->functions_of);
    vector_free(&f->inlines);
    pairs_free(&f->tree);
    free(f->amounts);
}

/* The owners, flat. */
static int owners(struct finish *f)
{
    const struct rk_profile_builder *b = f->builder;
    struct rk_profile *p = f->profile;

    for (size_t i = 0; i < b->owners.items.n; i++) {
        struct pair owner = b->owners.items.items[i];
        struct pair identity = b->identities.items.items[owner.a];
        struct thread thread = b->threads.items[identity.a];
        const char *comm = intern_text(&b->comms, identity.b);
        int64_t text = intern_add(&p->texts, comm, strlen(comm));
        struct owner *row = text < 0 ? NULL : vector_push(&p->owners);
        if (!row)
            return -ENOMEM;
        *row = (struct owner){thread.pid, thread.tid, (uint32_t)text, owner.b};
    }
    return 0;
}

#define DESCENDING(a, b) ((a) < (b) ? 1 : (a) > (b) ? -1 : 0)

static int compare_functions(const void *left, const void *right, void *context)
{
    const struct rk_profile *p = context;
    const struct function *a = &p->functions.items[*(const uint32_t *)left];
    const struct function *b = &p->functions.items[*(const uint32_t *)right];
    int order = DESCENDING(a->self, b->self);

    if (!order)
        order = DESCENDING(a->total, b->total);
    if (!order)
        order = strcmp(intern_text(&p->texts, a->symbol), intern_text(&p->texts, b->symbol));
    if (!order)
        order = strcmp(intern_text(&p->texts, a->path), intern_text(&p->texts, b->path));
    if (!order && a->file && b->file)
        order = strcmp(intern_text(&p->texts, a->file - 1), intern_text(&p->texts, b->file - 1));
    if (!order)
        order = (a->line > b->line) - (a->line < b->line);
    return order ? order : (a->miss > b->miss) - (a->miss < b->miss);
}

static int compare_unnamed(const void *left, const void *right, void *context)
{
    const struct rk_profile *p = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int order = DESCENDING(p->functions.items[a].self_samples, p->functions.items[b].self_samples);

    return order ? order : (a > b) - (a < b);
}

/* Hottest first; the tree's functions are renumbered. */
static int sort_functions(struct finish *f)
{
    struct rk_profile *p = f->profile;
    size_t n = p->functions.n;
    _cleanup_free_ uint32_t *order = zeroed(n, sizeof *order), *rank = zeroed(n, sizeof *rank);
    struct function *sorted = zeroed(n, sizeof *sorted);

    if (!order || !rank || !sorted) {
        free(sorted);
        return -ENOMEM;
    }
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, n, sizeof *order, compare_functions, p);
    for (size_t i = 0; i < n; i++) {
        sorted[i] = p->functions.items[order[i]];
        rank[order[i]] = (uint32_t)i;
    }
    free(p->functions.items);
    p->functions.items = sorted;
    p->functions.room = n ? n : 1;
    for (size_t i = 0; i < f->tree.items.n; i++)
        f->tree.items.items[i].b = rank[f->tree.items.items[i].b];
    for (size_t i = 0; i < n; i++) {
        if (!sorted[i].miss || !sorted[i].self_samples)
            continue;
        uint32_t *row = vector_push(&p->unnamed);
        if (!row)
            return -ENOMEM;
        *row = (uint32_t)i;
    }
    if (p->unnamed.n)
        qsort_r(p->unnamed.items, p->unnamed.n, sizeof *p->unnamed.items, compare_unnamed, p);
    return 0;
}

/* Writes the paths: from the last node to the first, so that a node below is met before those above it,
 * which then need no array of their own. */
static int lay_out(struct finish *f)
{
    const struct pair *nodes = f->tree.items.items;
    struct rk_profile *p = f->profile;
    size_t n = f->tree.items.n;
    _cleanup_free_ size_t *first = zeroed(n, sizeof *first);
    _cleanup_free_ uint32_t *depth = zeroed(n, sizeof *depth);

    if (!first || !depth)
        return -ENOMEM;
    memset(first, 0xff, n * sizeof *first);
    for (size_t i = 0; i < n; i++)
        depth[i] = nodes[i].a == PAIRS_NONE ? 1 : depth[nodes[i].a] + 1;
    for (size_t i = n; i-- > 0;) {
        if (first[i] != SIZE_MAX)
            continue;
        if (vector_reserve(&p->frames, depth[i]) < 0)
            return -ENOMEM;
        for (uint32_t at = (uint32_t)i; at != PAIRS_NONE; at = nodes[at].a) {
            p->frames.items[p->frames.n + depth[at] - 1] = nodes[at].b;
            if (first[at] == SIZE_MAX)
                first[at] = p->frames.n;
        }
        p->frames.n += depth[i];
    }
    for (size_t i = 0; i < p->stacks.n; i++) {
        struct stack *stack = &p->stacks.items[i];
        stack->frame_n = depth[stack->first];
        stack->first = first[stack->first];
    }
    return 0;
}

static int compare_stacks(const void *left, const void *right, void *context)
{
    const struct rk_profile *p = context;
    const struct stack *a = left, *b = right;
    int order = DESCENDING(a->weight, b->weight);

    if (!order)
        order = DESCENDING(a->samples, b->samples);
    for (uint32_t i = 0; !order && i < a->frame_n && i < b->frame_n; i++) {
        uint32_t x = p->frames.items[a->first + i], y = p->frames.items[b->first + i];
        order = (x > y) - (x < y);
    }
    if (!order)
        order = (a->frame_n > b->frame_n) - (a->frame_n < b->frame_n);
    return order ? order : (a->owner > b->owner) - (a->owner < b->owner);
}

/* What the stream knows, and the event's name. */
static int summarise(struct finish *f, const struct rk_stream *stream)
{
    const struct rk_profile_builder *b = f->builder;
    struct rk_profile *p = f->profile;
    struct rk_stream_event event = {.size = sizeof event, .name = ""};
    struct rk_stream_info info = {.size = sizeof info};
    uint32_t lowest = RK_NO_EVENT;
    struct table seen = {0};

    for (size_t i = 0; i < p->owners.n; i++) {
        uint32_t number = p->owners.items[i].event;
        if (table_put(&seen, number, 0) < 0) {
            table_free(&seen);
            return -ENOMEM;
        }
        lowest = number < lowest ? number : lowest;
    }
    p->summary.events = (uint32_t)seen.n;
    table_free(&seen);
    p->summary.threads = b->threads.n;
    unwound_summarise(b, stream, &p->summary);
    p->summary.loss = (struct rk_loss){.size = sizeof p->summary.loss, .kept = p->summary.samples};
    if (b->options.event_set)
        lowest = b->options.event;
    if (stream) {
        rk_stream_loss(stream, b->options.event_set ? b->options.event : RK_NO_EVENT, &p->summary.loss);
        if (rk_stream_info(stream, &info) == 0)
            p->summary.cut = info.cut;
        if (lowest == RK_NO_EVENT || rk_stream_event(stream, lowest, &event) < 0)
            event.name = "";
    }
    int64_t text = intern_add(&p->texts, event.name, strlen(event.name));
    if (text < 0)
        return (int)text;
    p->summary.event = intern_text(&p->texts, (uint32_t)text);
    return 0;
}

/* What a recording knows of the files that ran, so that others now in their place are not believed. */
static int tell_build_ids(struct finish *f, const struct rk_stream *stream)
{
    size_t n = stream ? rk_stream_build_ids(stream) : 0;
    int rc = 0;

    for (size_t i = 0; i < n && rc == 0; i++) {
        struct rk_stream_build_id id = {.size = sizeof id};
        rc = rk_stream_build_id(stream, i, &id);
        if (rc == 0 && id.bytes)
            rc = rk_image_feed_build_id(f->builder->image, id.path, id.id, id.bytes);
    }
    return rc;
}

static int finish_run(struct finish *f, const struct rk_stream *stream, struct rk_error *e)
{
    struct rk_symbolizer_options options = {.size = sizeof options, .root = f->builder->options.root};
    int rc = rk_symbolizer_open(&options, &f->symbolizer, e);
    if (rc < 0)
        return rc;

    if ((rc = tell_build_ids(f, stream)) < 0 || (rc = finish_name(f)) < 0 || (rc = owners(f)) < 0 ||
        (rc = finish_fold(f)) < 0 || (rc = finish_total(f)) < 0 || (rc = sort_functions(f)) < 0 ||
        (rc = lay_out(f)) < 0 || (rc = summarise(f, stream)) < 0) {
        if (rc == -ENOMEM)
            return fail_memory(e, RK_STAGE_PROFILE);
        return fail(e, rc, RK_STAGE_PROFILE, RK_CAUSE_UNKNOWN, NULL, "the profile can't be built: %s",
                    strerror(-rc));
    }
    if (f->profile->stacks.n)
        qsort_r(f->profile->stacks.items, f->profile->stacks.n, sizeof *f->profile->stacks.items,
                compare_stacks, f->profile);
    return 0;
}

int rk_profile_finish(struct rk_profile_builder *builder, const struct rk_stream *stream,
                      struct rk_profile **ret, struct rk_error *e)
{
    int rc;

    if (!builder || !ret) {
        rk_profile_builder_close(builder);
        return fail_null(e, RK_STAGE_PROFILE, "rk_profile_finish", builder ? "ret" : "builder");
    }
    struct finish f = {.builder = builder, .profile = calloc(1, sizeof *f.profile)};
    if (!f.profile) {
        rc = fail_memory(e, RK_STAGE_PROFILE);
    } else {
        f.profile->summary = builder->summary;
        f.profile->summary.size = sizeof f.profile->summary;
        f.profile->summary.by_line = builder->options.by_line;
        rc = finish_run(&f, stream, e);
    }
    finish_free(&f);
    rk_profile_builder_close(builder);
    if (rc < 0)
        rk_profile_free(f.profile);
    else
        *ret = f.profile;
    return rc;
}

/*
 * Addresses that were hit → their names, as the bytes that a recording stores.
 *
 *     places (module, offset), as they were hit first ── sort ──▶ by module ── symbolizer ──▶ answers ── encode ──▶ bytes
 *
 * Where the bytes are too many, lines are given up before names, and of either those of addresses that were hit last: what
 * is hit often is hit early.
 */
#include "perfdata/names.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/radix.h"
#include "capture/capture.h"
#include "names/encode.h"
#include "profile/builder.h"
#include "symbol/symbolizer.h"
#include "sys/process.h"

#include <errno.h>

#define TRIES 12 /* of less and less */

struct spot {
    uint64_t offset;
    uint32_t rank;
};
RADIX_SORT(sort_spots, struct spot, offset)

struct naming {
    struct rk_names_options options;
    struct rk_symbolizer *symbolizer;
    const struct rk_image *image;
    const struct keep *keep; /* NULL: no files are */
    const void *stored;      /* names that the recording has; NULL: none */
    size_t stored_bytes;
    uint64_t until_ns; /* of the process's CPU; 0: no limit */
    struct named_module *modules;
    size_t n, places;
};

static void naming_free(struct naming *g)
{
    for (size_t i = 0; i < g->n; i++) {
        free(g->modules[i].offsets);
        free(g->modules[i].rank);
        rk_sources_free(g->modules[i].sources);
    }
    free(g->modules);
    rk_symbolizer_free(g->symbolizer);
}

/* ---- sorting ---- */

/* One module's part, by offset. */
static int add_module(struct naming *g, uint32_t number, struct spot *spots, size_t n)
{
    struct named_module *m = &g->modules[g->n];

    *m = (struct named_module){.module = {.size = sizeof m->module}, .n = n};
    if (rk_image_module_get(g->image, number, &m->module) < 0 || m->module.kind == RK_MODULE_KERNEL_CODE)
        return 0; /* the latter is its own name */
    m->offsets = calloc(n, sizeof *m->offsets);
    m->rank = calloc(n, sizeof *m->rank);
    g->n++;
    if (!m->offsets || !m->rank || sort_spots(spots, (uint32_t)n) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        m->offsets[i] = spots[i].offset;
        m->rank[i] = spots[i].rank;
    }
    g->places += n;
    return 0;
}

/* Those in no module come last, and are left there. */
static int by_module(struct naming *g, const struct hit *places, size_t n)
{
    size_t modules = rk_image_module_count(g->image);
    _cleanup_free_ struct spot *spots = calloc(n + 1, sizeof *spots);
    _cleanup_free_ size_t *begin = calloc(modules + 2, sizeof *begin);
    int rc = 0;

    g->modules = calloc(modules + 1, sizeof *g->modules);
    if (!spots || !begin || !g->modules)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        if (places[i].module < modules)
            begin[places[i].module + 1]++;
    for (size_t m = 0; m < modules; m++)
        begin[m + 1] += begin[m];
    for (size_t i = 0; i < n; i++)
        if (places[i].module < modules)
            spots[begin[places[i].module]++] = (struct spot){places[i].offset, (uint32_t)i};
    for (size_t m = 0, from = 0; m < modules && rc == 0; from = begin[m], m++)
        if (begin[m] > from)
            rc = add_module(g, (uint32_t)m, spots + from, begin[m] - from);
    return rc;
}

/* ---- asking ---- */

static struct build_id id_of(const struct naming *g, const struct named_module *m)
{
    struct build_id id = object_build_id(&m->module);
    struct cached *cached;

    if (!id.bytes && m->module.kind == RK_MODULE_FILE &&
        symbolizer_module(g->symbolizer, &m->module, &cached) == 0)
        id = cached->module.id;
    return id;
}

static int ask(struct naming *g, uint32_t number, struct named_module *m, struct rk_error *e)
{
    struct rk_sources_options how = {
        .size = sizeof how,
        .threads = g->options.threads,
        .flags = g->options.flags & RK_NAMES_NO_LINES ? RK_SOURCES_NO_LINES : 0,
    };

    if (g->until_ns && sys_cpu_ns() >= g->until_ns)
        return 0;
    g->symbolizer->kept = g->keep ? keep_find(g->keep, number) : -1;
    int rc = rk_symbolizer_sources(g->symbolizer, &m->module, m->offsets, m->n, &how, &m->sources, e);
    if (rc == 0)
        m->id = id_of(g, m);
    g->symbolizer->kept = -1;
    return rc;
}

/* ---- the bytes ---- */

static uint32_t less(uint32_t n, size_t have, size_t most)
{
    double part = 0.9 * (double)most / (double)have;

    return (uint32_t)((double)n * (part < 0.8 ? part : 0.8));
}

/* As much of it as there is room for. */
static int encode(const struct naming *g, size_t hit, size_t most, perfdata_bytes *ret,
                  struct rk_names *tally)
{
    struct encode_limits limits = {(uint32_t)hit, (uint32_t)hit};
    struct rk_names zero = *tally;
    int rc = 0;

    for (int i = 0;; i++) {
        ret->n = 0;
        *tally = zero;
        rc = encode_names(g->modules, g->n, limits, ret, tally);
        if (rc < 0 || ret->n <= most || limits.named == 0)
            return rc;
        if (limits.lined)
            limits.lined = i < TRIES / 2 ? less(limits.lined, ret->n, most) : 0;
        else
            limits.named = i < TRIES ? less(limits.named, ret->n, most) : 0;
    }
}

struct given {
    struct rk_names shown; /* first: what the caller has */
    perfdata_bytes bytes;
};

struct rk_names *rk_names_free(struct rk_names *names)
{
    struct given *given = (struct given *)names; /* its first member */

    if (given)
        vector_free(&given->bytes);
    free(given);
    return NULL;
}

static int give(const struct naming *g, size_t hit, uint64_t beyond, size_t most, struct rk_names **ret)
{
    struct given *given = calloc(1, sizeof *given);

    if (!given)
        return -ENOMEM;
    given->shown =
        (struct rk_names){.size = sizeof given->shown, .addresses = g->places + beyond, .left_out = beyond};
    int rc = encode(g, hit, most, &given->bytes, &given->shown);
    if (rc < 0) {
        rk_names_free(&given->shown);
        return rc;
    }
    given->shown.data = given->bytes.items;
    given->shown.bytes = given->bytes.n;
    *ret = &given->shown;
    return 0;
}

/* Names n places; `beyond` more could not be kept. */
static int name_places(struct naming *g, const struct hit *places, size_t n, uint64_t beyond, size_t most,
                       struct rk_names **ret, struct rk_error *e)
{
    struct rk_symbolizer_options symbols = {.size = sizeof symbols,
                                            .flags = RK_SYMBOLIZER_MANGLED |
                                                     (g->keep ? RK_SYMBOLIZER_NO_FETCH : 0),
                                            .root = g->options.root};
    int rc = rk_symbolizer_open(&symbols, &g->symbolizer, e);

    if (rc < 0)
        return rc;
    if (g->stored && rk_symbolizer_names(g->symbolizer, g->stored, g->stored_bytes, NULL) == -ENOMEM)
        return fail_memory(e, RK_STAGE_SYMBOL);
    rc = by_module(g, places, n);
    for (size_t i = 0; i < g->n && rc == 0; i++) {
        struct named_module *m = &g->modules[i];
        rc = ask(g, places[m->rank[0]].module, m, e);
        if (rc < 0)
            return rc;
    }
    if (rc == 0)
        rc = give(g, n, beyond, most, ret);
    return rc < 0 ? fail_memory(e, RK_STAGE_SYMBOL) : 0;
}

static int take_options(const struct rk_names_options *options, struct naming *g, struct rk_error *e)
{
    int rc = options_check(&g->options, sizeof g->options, options, "rk_names_options", RK_STAGE_SYMBOL, e);

    if (rc == 0 && g->options.flags & ~(uint32_t)RK_NAMES_NO_LINES)
        rc = fail_argument(e, RK_STAGE_SYMBOL, "rk_names_options: unknown flags %#x", g->options.flags);
    if (rc == 0)
        rc = options_reserved(g->options.reserved, "rk_names_options", RK_STAGE_SYMBOL, e);
    if (rc == 0 && g->options.cpu_ns)
        g->until_ns = sys_cpu_ns() + g->options.cpu_ns;
    return rc;
}

int rk_names_capture(const struct rk_capture *c, const struct rk_names_options *options,
                     struct rk_names **ret, struct rk_error *e)
{
    struct naming g = {0};

    if (!c || !ret)
        return fail_null(e, RK_STAGE_SYMBOL, "rk_names_capture", c ? "ret" : "capture");
    if (!c->hits.named)
        return fail_argument(e, RK_STAGE_SYMBOL, "the capture was opened without RK_CAPTURE_NAMES");
    int rc = take_options(options, &g, e);
    if (rc < 0)
        return rc;
    g.image = c->image;
    g.keep = &c->hits.keep;
    size_t most = g.options.bytes ? g.options.bytes
                  : c->writer     ? names_room(perfdata_writer_bytes(c->writer))
                                  : names_room(0);
    rc = name_places(&g, c->hits.places.items, c->hits.places.n, c->hits.beyond, most, ret, e);
    naming_free(&g);
    return rc;
}

/* ---- of a stream ---- */

static int feed(struct rk_profile_builder *builder, struct rk_stream *stream, struct rk_error *e)
{
    const struct rk_record *record;
    unsigned n = 0;
    int rc;

    while ((rc = rk_stream_next(stream, &record)) == 1 || rc == -EBADMSG) {
        int fed = rc == 1 ? rk_profile_builder_feed(builder, stream, record) : 0;
        if (fed < 0 && fed != -EBADMSG)
            return fail_memory(e, RK_STAGE_SYMBOL);
        if (++n % 256 == 0)
            rk_stream_release(stream);
    }
    rk_stream_release(stream);
    if (rc < 0)
        rk_stream_explain(stream, e);
    for (size_t i = 0; rc == 0 && i < rk_stream_build_id_count(stream); i++) {
        struct rk_stream_build_id id = {.size = sizeof id};
        if (rk_stream_build_id_get(stream, i, &id) == 0 && id.bytes &&
            rk_image_feed_build_id(builder->image, id.path, id.id, id.bytes) == -ENOMEM)
            return fail_memory(e, RK_STAGE_SYMBOL);
    }
    return rc;
}

int rk_names_stream(struct rk_stream *stream, const struct rk_names_options *options, struct rk_names **ret,
                    struct rk_error *e)
{
    struct naming g = {0};
    struct rk_profile_options how = {.size = sizeof how, .times = RK_TIMES_NONE};
    struct rk_profile_builder *builder = NULL;

    if (!stream || !ret)
        return fail_null(e, RK_STAGE_SYMBOL, "rk_names_stream", stream ? "ret" : "stream");
    int rc = take_options(options, &g, e);
    how.root = g.options.root;
    if (rc == 0)
        rc = rk_profile_builder_open(&how, &builder, e);
    if (rc == 0)
        rc = feed(builder, stream, e);
    if (rc == 0) {
        size_t n = builder->frames.n;
        _cleanup_free_ struct hit *places = calloc(n + 1, sizeof *places);
        for (size_t i = 0; places && i < n; i++)
            places[i] = (struct hit){builder->frames.items[i].offset, builder->frames.items[i].module};
        g.image = builder->image;
        rk_stream_names(stream, &g.stored, &g.stored_bytes);
        size_t most = g.options.bytes ? g.options.bytes : (size_t)STORED_BYTES_MAX;
        rc = places ? name_places(&g, places, n, 0, most, ret, e) : fail_memory(e, RK_STAGE_SYMBOL);
    }
    naming_free(&g);
    rk_profile_builder_free(builder);
    return rc;
}

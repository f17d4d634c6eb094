/*
 * What threads and addresses of a recording are called, record by record: the image follows the mappings, and each
 * distinct (module, offset) is looked up once.
 *
 *     address ── image ──▶ module, offset ── table ──▶ rk_address_name
 */
#include "dump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct known {
    uint64_t offset;
    uint32_t module; /* + 1; 0: the slot is free */
    struct rk_address_name name;
};

struct dump_names {
    struct rk_image *image;
    struct rk_symbolizer *symbolizer;
    struct known *slots; /* a power of two of them, half full at most */
    size_t slot_n, n;
    struct rk_sources **sources; /* whose texts the names are */
    size_t sources_n;
    bool lines;
};

void dump_names_close(struct dump_names **names)
{
    struct dump_names *d = *names;

    if (!d)
        return;
    for (size_t i = 0; i < d->sources_n; i++)
        rk_sources_free(d->sources[i]);
    free(d->sources);
    free(d->slots);
    rk_symbolizer_free(d->symbolizer);
    rk_image_free(d->image);
    free(d);
    *names = NULL;
}

/* Build-ids that stand apart from the mappings. */
static int feed_build_ids(struct dump_names *d, const struct rk_stream *stream)
{
    int r = 0;

    for (size_t i = 0; i < rk_stream_build_id_count(stream) && r >= 0; i++) {
        struct rk_stream_build_id id = {.size = sizeof id};
        if (rk_stream_build_id_get(stream, i, &id) == 0)
            r = rk_image_feed_build_id(d->image, id.path, id.id, id.bytes);
    }
    return r < 0 ? r : 0;
}

int dump_names_open(const struct rk_stream *stream, const struct rk_symbolizer_options *where, bool lines,
                    struct dump_names **ret, struct rk_error *e)
{
    struct dump_names *d = calloc(1, sizeof *d);
    struct rk_symbolizer_options options = *where;
    struct rk_stream_info info = {.size = sizeof info};
    const void *names;
    size_t bytes;

    if (d) {
        d->lines = lines;
        d->slot_n = 1024;
        d->slots = calloc(d->slot_n, sizeof *d->slots);
    }
    if (!d || !d->slots) {
        dump_names_close(&d);
        snprintf(e->what, sizeof e->what, "out of memory");
        return -ENOMEM;
    }
    int r = rk_image_open(&d->image, e);
    if (rk_stream_info(stream, &info) == 0) {
        options.host = info.host;
        options.kernel = info.kernel;
    }
    if (r == 0)
        r = rk_symbolizer_open(&options, &d->symbolizer, e);
    if (r == 0 && rk_stream_names(stream, &names, &bytes) == 0)
        rk_symbolizer_names(d->symbolizer, names, bytes, NULL); /* without them the files are asked */
    if (r == 0 && (r = feed_build_ids(d, stream)) < 0)
        snprintf(e->what, sizeof e->what, "build-ids: %s", strerror(-r));
    if (r < 0)
        dump_names_close(&d);
    else
        *ret = d;
    return r;
}

int dump_names_feed(struct dump_names *d, const struct rk_record *record)
{
    int r = rk_image_feed(d->image, record);

    return r == -ENOMEM ? r : 0; /* a damaged one is said where it is shown */
}

const char *dump_names_comm(const struct dump_names *d, const struct rk_record *record)
{
    int32_t pid, tid;

    return dump_owner(record, &pid, &tid) ? rk_image_comm(d->image, pid, tid) : "";
}

static struct known *slot_of(struct known *slots, size_t n, uint32_t module, uint64_t offset)
{
    uint64_t hash = (offset ^ (uint64_t)module << 40) * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(hash >> 20) & (n - 1);

    while (slots[at].module && (slots[at].module != module + 1 || slots[at].offset != offset))
        at = (at + 1) & (n - 1);
    return &slots[at];
}

static int grow(struct dump_names *d)
{
    size_t n = d->slot_n * 2;
    struct known *slots = calloc(n, sizeof *slots);

    if (!slots)
        return -ENOMEM;
    for (size_t i = 0; i < d->slot_n; i++)
        if (d->slots[i].module)
            *slot_of(slots, n, d->slots[i].module - 1, d->slots[i].offset) = d->slots[i];
    free(d->slots);
    d->slots = slots;
    d->slot_n = n;
    return 0;
}

/* The line, where there is debug information; the text stays with the names. */
static void find_line(struct dump_names *d, const struct rk_module *module, uint64_t offset,
                      struct rk_address_name *name)
{
    struct rk_sources *found = NULL;
    struct rk_sources **all = realloc(d->sources, (d->sources_n + 1) * sizeof *all);

    if (!all)
        return;
    d->sources = all;
    if (rk_symbolizer_sources(d->symbolizer, module, &offset, 1, NULL, &found, NULL) < 0)
        return;
    d->sources[d->sources_n++] = found;
    name->file = found->file[0];
    name->line = found->line[0];
}

static struct rk_address_name look_up(struct dump_names *d, uint32_t number, uint64_t offset)
{
    struct rk_module module = {.size = sizeof module};
    struct rk_address_name name = {0};
    struct rk_symbol symbol;

    if (rk_image_module_get(d->image, number, &module) < 0)
        return name;
    name.module = module.name;
    if (rk_symbolizer_resolve(d->symbolizer, &module, &offset, 1, &symbol) == 0 && symbol.name) {
        name.symbol = symbol.name;
        name.symbol_distance = symbol.distance;
    }
    if (d->lines)
        find_line(d, &module, offset, &name);
    return name;
}

void dump_names_address(void *context, const struct rk_record *record, uint64_t address, uint32_t caller,
                        struct rk_address_name *ret)
{
    struct dump_names *d = context;
    uint64_t look = address - (caller && address);
    struct rk_place place;
    int32_t pid, tid;

    if (!dump_owner(record, &pid, &tid) || rk_image_find(d->image, pid, &look, 1, &place) < 0 ||
        place.module == RK_NO_MODULE)
        return;
    if (d->n * 2 >= d->slot_n && grow(d) < 0)
        return;
    struct known *known = slot_of(d->slots, d->slot_n, place.module, place.offset);
    if (!known->module) {
        *known = (struct known){place.offset, place.module + 1, look_up(d, place.module, place.offset)};
        d->n++;
    }
    *ret = known->name;
    ret->symbol_distance += ret->symbol && caller && address; /* as the address stands */
}

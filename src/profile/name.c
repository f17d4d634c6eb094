/*
 * Addresses → functions and lines. Frames are taken module by module, and the symbolizer is asked for
 * NAME_SLICE offsets at a time: a call reads each compilation unit once, and few modules need a second call.
 * A frame in code that was inlined becomes a frame for each function there.
 */
#include "base/cleanup.h"
#include "profile/finish.h"

#include <errno.h>

#define UNKNOWN "[unknown]"

/* What a frame, or one of those inlined into it, is known by. */
struct naming {
    const char *symbol; /* NULL: nothing is known of it */
    uint32_t miss;      /* why that is no name, but perhaps a place: prog+0x1130 */
    const char *file;   /* NULL: unknown, or not wanted */
    uint32_t line;
    const char *declared_file; /* NULL: unknown */
    uint32_t declared_line;
};

/* The frame of that name in a module. */
static int64_t frame_add(struct finish *f, const struct naming *naming, const struct rk_module *module,
                         uint32_t frame, uint32_t flags)
{
    struct maker *m = &f->maker;
    struct profile_place at = finish_at(f, frame);
    int64_t path = maker_text(m, module->path), name = maker_text(m, module->name);
    int64_t symbol = maker_text(m, naming->symbol ? naming->symbol : UNKNOWN);
    int64_t file = naming->file ? maker_text(m, naming->file) : 0;

    if (path < 0 || name < 0 || symbol < 0 || file < 0)
        return -ENOMEM;
    if (module->kind == RK_MODULE_KERNEL || module->kind == RK_MODULE_KERNEL_MODULE ||
        module->kind == RK_MODULE_KERNEL_CODE)
        flags |= RK_FRAME_KERNEL;
    return maker_frame(m, &(struct maker_frame){
                              .symbol = (uint32_t)symbol,
                              .module = (uint32_t)name,
                              .path = (uint32_t)path,
                              .file = (uint32_t)file,
                              .line = naming->file ? naming->line : 0,
                              .miss = naming->miss,
                              .flags = flags,
                              .image = at.image,
                              .address = at.address,
                          });
}

/* One more function of the frame that is being named, inside of those before. */
static int inline_add(struct finish *f, uint32_t frame, const struct naming *naming,
                      const struct rk_module *module)
{
    int64_t number = frame_add(f, naming, module, frame, f->functions_of[frame].n ? RK_FRAME_INLINE : 0);
    const char *path = naming->declared_file, *slash = path ? strrchr(path, '/') : NULL;
    int64_t file = path ? maker_text(&f->maker, slash ? slash + 1 : path) : 0;
    uint32_t *row = number < 0 || file < 0 ? NULL : vector_push(&f->inlines);
    struct declared *declared = row ? vector_push(&f->declared) : NULL;

    if (!declared)
        return number < 0 ? (int)number : -ENOMEM;
    *declared = (struct declared){(uint32_t)file, naming->declared_line};
    *row = (uint32_t)number;
    f->functions_of[frame].n++;
    return 0;
}

/* The frames of a module that were asked for, and what came back. */
struct asked {
    const uint32_t *frames;
    const struct rk_symbol *symbols;
    const struct rk_sources *sources; /* NULL: not asked for */
};

/* One frame: its functions, outermost first. Inlined ones whose name is not known are left out. */
static int name_frame(struct finish *f, const struct asked *a, size_t i, const struct rk_module *module)
{
    uint32_t flags = f->builder->options.flags;
    bool no_inline = flags & RK_PROFILE_NO_INLINE, no_lines = flags & RK_PROFILE_NO_LINES;
    const struct rk_sources *s = a->sources;
    uint32_t frame = a->frames[i];
    struct naming outermost = {a->symbols[i].name, a->symbols[i].miss, NULL, 0, NULL, 0};

    f->functions_of[frame] = (struct frame_functions){.first = f->inlines.n};
    if (!s)
        return inline_add(f, frame, &outermost, module);
    for (uint32_t at = s->first[i + 1]; at-- > s->first[i];) {
        bool last = at + 1 == s->first[i + 1];
        struct naming naming = last ? outermost : (struct naming){.symbol = s->function[at]};
        uint32_t line_at = no_inline ? s->first[i] : at; /* where the address itself is */
        if (last && s->function[at] && s->function[at] != outermost.symbol)
            naming = (struct naming){.symbol = s->function[at]}; /* it is the debug information's */
        if (!last && (no_inline || !naming.symbol))
            continue;
        naming.declared_file = s->declared_file[at];
        naming.declared_line = s->declared_line[at];
        if (!no_lines) {
            naming.file = s->file[line_at];
            naming.line = s->line[line_at];
        }
        int rc = inline_add(f, frame, &naming, module);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Whether lines and inlined functions are wanted of a module, and may be known. */
static bool has_lines(const struct finish *f, const struct rk_module *module)
{
    uint32_t neither = RK_PROFILE_NO_INLINE | RK_PROFILE_NO_LINES;

    return (f->builder->options.flags & neither) != neither &&
           (module->kind == RK_MODULE_FILE || module->kind == RK_MODULE_KERNEL ||
            module->kind == RK_MODULE_VDSO);
}

/* Names frames of one module; `placed` is false for those that lie in none. */
static int name_frames(struct finish *f, const struct rk_module *module, bool placed, const uint32_t *frames,
                       size_t n)
{
    struct rk_sources_options how = {.size = sizeof how, .threads = f->builder->options.threads};
    bool lined = placed && has_lines(f, module); /* then the sources have the symbols too */
    _cleanup_free_ uint64_t *offsets = zeroed(n, sizeof *offsets);
    _cleanup_free_ struct rk_symbol *symbols = lined ? NULL : zeroed(n, sizeof *symbols);
    struct rk_sources *sources = NULL;
    int rc = offsets && (lined || symbols) ? 0 : -ENOMEM;

    for (size_t i = 0; rc == 0 && i < n; i++)
        offsets[i] = f->builder->frames.items[frames[i]].offset;
    for (size_t i = 0; rc == 0 && !placed && i < n; i++)
        symbols[i].miss = RK_MISS_NO_MODULE;
    if (rc == 0 && lined)
        rc = rk_symbolizer_sources(f->symbolizer, module, offsets, n, &how, &sources, NULL);
    else if (rc == 0 && placed)
        rc = rk_symbolizer_resolve(f->symbolizer, module, offsets, n, symbols);
    struct asked asked = {frames, sources ? sources->symbol : symbols, sources};
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = name_frame(f, &asked, i, module);
    rk_sources_free(sources);
    return rc;
}

/* Frames in the order of their modules (those without one last), and where each module's begin. */
static int by_module(const struct rk_profile_builder *builder, uint32_t **ret_order, size_t **ret_begin)
{
    size_t modules = builder->frame_of.n;
    _cleanup_free_ uint32_t *order = zeroed(builder->frames.n, sizeof *order);
    _cleanup_free_ size_t *begin = zeroed(modules + 3, sizeof *begin);

    if (!order || !begin)
        return -ENOMEM;
    for (size_t i = 0; i < builder->frames.n; i++) {
        uint32_t module = builder->frames.items[i].module;
        begin[(module == RK_NO_MODULE ? modules : module) + 2]++;
    }
    for (size_t i = 2; i < modules + 3; i++)
        begin[i] += begin[i - 1];
    for (size_t i = 0; i < builder->frames.n; i++) {
        uint32_t module = builder->frames.items[i].module;
        order[begin[(module == RK_NO_MODULE ? modules : module) + 1]++] = (uint32_t)i;
    }
    *ret_order = TAKE_PTR(order);
    *ret_begin = TAKE_PTR(begin);
    return 0;
}

int finish_name(struct finish *f)
{
    _cleanup_free_ uint32_t *order = NULL;
    _cleanup_free_ size_t *begin = NULL;
    size_t modules = f->builder->frame_of.n;

    f->functions_of = zeroed(f->builder->frames.n, sizeof *f->functions_of);
    if (!f->functions_of)
        return -ENOMEM;
    int rc = by_module(f->builder, &order, &begin);
    for (size_t m = 0; rc >= 0 && m <= modules; m++) {
        struct rk_module module = {
            .size = sizeof module, .kind = RK_MODULE_ANONYMOUS, .name = UNKNOWN, .path = UNKNOWN};
        if (begin[m] == begin[m + 1])
            continue;
        if (m < modules && (rc = rk_image_module_get(f->builder->image, (uint32_t)m, &module)) >= 0)
            rc = finish_image(f, m, &module);
        for (size_t i = begin[m], n; rc >= 0 && i < begin[m + 1]; i += n) {
            n = begin[m + 1] - i < NAME_SLICE ? begin[m + 1] - i : NAME_SLICE;
            rc = name_frames(f, &module, m < modules, order + i, n);
        }
    }
    return rc < 0 ? rc : 0;
}

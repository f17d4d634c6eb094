/*
 * Frames → functions. Frames are taken module by module, so that the symbolizer is asked for many offsets of
 * one file at a time.
 */
#include "base/cleanup.h"
#include "profile/finish.h"

#include <errno.h>

#define BATCH 256
#define UNKNOWN "[unknown]"

/* The row of a frame in a module with that answer. */
static int64_t function_add(struct finish *f, const char *symbol, uint32_t miss, const char *module,
                            const char *path)
{
    struct intern *texts = &f->profile->texts;
    const char *shown = symbol ? symbol : UNKNOWN;
    int64_t path_text = intern_add(texts, path, strlen(path));
    int64_t symbol_text = path_text < 0 ? path_text : intern_add(texts, shown, strlen(shown));
    if (symbol_text < 0)
        return symbol_text;

    uint32_t key = symbol ? (uint32_t)symbol_text : ~miss;
    int64_t function = pairs_add(&f->functions, key, (uint32_t)path_text);
    if (function < 0 || (size_t)function < f->profile->functions.n)
        return function;
    int64_t module_text = intern_add(texts, module, strlen(module));
    struct function *row = module_text < 0 ? NULL : vector_push(&f->profile->functions);
    if (!row)
        return -ENOMEM;
    *row = (struct function){
        .symbol = (uint32_t)symbol_text,
        .module = (uint32_t)module_text,
        .path = (uint32_t)path_text,
        .miss = symbol ? RK_MISS_NONE : miss,
    };
    return function;
}

/* Names n frames of one module; `placed` is false for those that lie in none. */
static int name_frames(struct finish *f, const struct rk_module *module, bool placed, const uint32_t *frames,
                       size_t n)
{
    uint64_t offsets[BATCH] = {0};
    struct rk_symbol symbols[BATCH] = {{0}};

    for (size_t i = 0; i < n; i++) {
        offsets[i] = f->builder->frames.items[frames[i]].offset;
        symbols[i].miss = RK_MISS_NO_MODULE;
    }
    if (placed) {
        int rc = rk_symbolizer_resolve(f->symbolizer, module, offsets, n, symbols);
        if (rc < 0)
            return rc;
    }
    for (size_t i = 0; i < n; i++) {
        int64_t function = function_add(f, symbols[i].name, symbols[i].miss, module->name, module->path);
        if (function < 0)
            return (int)function;
        f->function_of[frames[i]] = (uint32_t)function;
    }
    return 0;
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

    f->function_of = zeroed(f->builder->frames.n, sizeof *f->function_of);
    if (!f->function_of)
        return -ENOMEM;
    int rc = by_module(f->builder, &order, &begin);
    for (size_t m = 0; rc >= 0 && m <= modules; m++) {
        struct rk_module module = {.size = sizeof module, .name = UNKNOWN, .path = UNKNOWN};
        if (m < modules && begin[m] < begin[m + 1])
            rc = rk_image_module(f->builder->image, (uint32_t)m, &module);
        for (size_t i = begin[m]; rc >= 0 && i < begin[m + 1]; i += BATCH) {
            size_t n = begin[m + 1] - i < BATCH ? begin[m + 1] - i : BATCH;
            rc = name_frames(f, &module, m < modules, order + i, n);
        }
    }
    return rc < 0 ? rc : 0;
}

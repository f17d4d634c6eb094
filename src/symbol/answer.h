/*
 * The block behind a struct rk_sources: columns, then texts. What else lives as long as it: the symbolizer, which has the
 * symbols' names; the image, which has the modules'; the answers for single modules that it was put together from.
 *
 *     answer │ function │ file │ declared_file │ module │ offset │ symbol │ modules │ first │ miss │ line … │ texts
 */
#ifndef SYMBOL_ANSWER_H
#define SYMBOL_ANSWER_H

#include "symbol/symbolizer.h"

struct answer {
    struct rk_sources shown; /* first: what the caller has */
    struct rk_symbolizer *symbolizer;
    struct rk_image *image;    /* NULL: none */
    struct rk_sources **parts; /* NULL: none */
    size_t part_n;

    /* The columns of `shown`, to be written. */
    const char **function, **file, **declared_file;
    const struct rk_module **module;
    uint64_t *offset;
    struct rk_symbol *symbol;
    uint32_t *first, *miss, *line, *column, *declared_line;

    struct rk_module *modules; /* as many as were asked for */
    size_t module_n;           /* taken so far */
    char *texts;               /* where the next one goes */
};

/* Returns 0 or -ENOMEM. rk_sources_free() frees it. */
int answer_make(size_t n, size_t frame_n, size_t module_n, size_t text_bytes, struct answer **ret);

/* Copies a text of n bytes to where the next one goes. */
const char *answer_text(struct answer *answer, const char *text, size_t n);

/* Copies a module with its texts. */
struct rk_module *answer_module(struct answer *answer, const struct rk_module *module);

/* A frame of which nothing is known. */
void answer_no_frame(struct answer *answer, size_t at);

/* Takes a caller's options. Returns 0 or -errno with the error filled. */
int sources_options(struct rk_sources_options *ret, const struct rk_sources_options *options,
                    struct rk_error *e);

#endif

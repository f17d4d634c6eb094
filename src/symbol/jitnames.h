/*
 * Names and lines of places in jitdump files (jitdump.h), each file read once and again where it has grown.
 */
#ifndef SYMBOL_JITNAMES_H
#define SYMBOL_JITNAMES_H

#include "symbol/jitdump.h"

#include <reckon/symbol.h>

struct rk_symbolizer;
struct found;

struct jitfile {
    const char *path; /* the symbolizer's */
    uint64_t inode;
    struct jitdump dump;
};

/* Names of n places. 0 or -ENOMEM. */
int jitnames_resolve(struct rk_symbolizer *symbolizer, const struct rk_module *module,
                     const uint64_t *offsets, size_t n, struct rk_symbol *ret);

/* Their lines, each place an answer of `ret`, where there are any. The lock is held. 0 or -ENOMEM. */
int jitnames_lines(struct rk_symbolizer *symbolizer, const struct rk_module *module, const uint64_t *offsets,
                   size_t n, struct found *ret);

#endif

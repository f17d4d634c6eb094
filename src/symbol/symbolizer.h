/*
 * The symbolizer's insides.
 */
#ifndef SYMBOL_SYMBOLIZER_H
#define SYMBOL_SYMBOLIZER_H

#include "base/arena.h"
#include "base/intern.h"
#include "base/table.h"
#include "base/vector.h"
#include "symbol/kallsyms.h"
#include "symbol/module.h"
#include "symbol/perfmap.h"

#include <reckon/symbol.h>

#include <pthread.h>

struct cached {
    uint32_t kind, deleted;
    int32_t pid;
    struct build_id id;
    uint64_t inode;
    const char *path;
    uint32_t next; /* of the same hash: index + 1, 0: none */
    struct module module;
};

struct rk_symbolizer {
    int root;
    uint32_t flags;
    pthread_mutex_t lock; /* held to load and to demangle */
    struct arena texts;   /* paths, and names demangled */
    VECTOR(struct cached *) modules;
    struct table table; /* hash → index of the newest in modules */

    bool kernel_asked, kernel_loaded;
    struct build_id kernel_build_id; /* the running one's, once asked; 0 bytes: unknown */
    uint32_t kernel_miss;            /* once loaded: why there are no kernel names */
    struct kallsyms kallsyms;

    VECTOR(struct perfmap) maps;
    struct table map_of;     /* pid → index in maps */
    struct intern map_names; /* of all */
};

/* The module, loaded now if it is new; the lock is held. 0 or -errno. */
int symbolizer_module(struct rk_symbolizer *symbolizer, const struct rk_module *wanted, struct cached **ret);

#endif

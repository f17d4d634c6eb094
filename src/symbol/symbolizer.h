/*
 * The symbolizer's insides.
 */
#ifndef SYMBOL_SYMBOLIZER_H
#define SYMBOL_SYMBOLIZER_H

#include "base/arena.h"
#include "base/intern.h"
#include "base/table.h"
#include "base/vector.h"
#include "symbol/jitnames.h"
#include "symbol/kallsyms.h"
#include "symbol/module.h"
#include "symbol/origin.h"
#include "symbol/perfmap.h"
#include "symbol/shelf.h"
#include "symbol/stored.h"
#include "symbol/vmlinux.h"

#include <reckon/symbol.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

struct cached {
    uint32_t kind, deleted;
    int32_t pid;
    struct build_id id;
    uint64_t inode;
    const char *path;
    uint32_t next; /* of the same hash: index + 1, 0: none */
    struct budget budget;
    struct module module;
};

/* The names that perf kept of a kernel that does not run here; `kallsyms` is empty where it kept none. */
struct cached_kernel {
    struct build_id id;
    struct kallsyms kallsyms;
};

struct rk_symbolizer {
    atomic_uint users; /* the caller, and answers */
    int root;
    int files; /* below it modules' files are looked up: the root, or rk_symbolizer_options.symfs */
    struct provenance origin;      /* whose addresses they are */
    char *vmlinux, *kallsyms_path; /* as given; NULL: they were not */
    int kept; /* the file of the module that is asked about next; -1: none was kept. The caller's */
    uint32_t flags;
    struct depot depot;          /* what is found by build-id alone */
    pthread_mutex_t lock;        /* held to load and to demangle */
    struct budget budget;        /* of all modules' files */
    struct budget kernel_budget; /* of the kernel's and its modules' */
    struct arena texts;          /* paths, and names demangled */
    VECTOR(struct cached *) modules;
    struct table table; /* hash → index of the newest in modules */

    bool kernel_asked, kernel_loaded;
    struct build_id kernel_build_id; /* the running one's, once asked; 0 bytes: unknown */
    uint32_t kernel_miss;            /* once loaded: why there are no kernel names */
    struct kallsyms kallsyms;
    VECTOR(struct cached_kernel *) others; /* each that was asked for */
    struct vmlinux *given;                 /* the one that was named, once opened; among these */
    VECTOR(struct vmlinux *) kernels;      /* whose lines were asked for, and modules of theirs */

    struct shelved *shelf; /* what is open of all these */
    uint64_t lines_bytes;

    VECTOR(struct perfmap) maps;
    struct table map_of;     /* pid → index in maps */
    struct intern map_names; /* of all, and of jitdump files */
    VECTOR(struct jitfile *) jits;

    struct stored *stored; /* what a recording knows; NULL: nothing */
};

/* Where the files of the module that is asked about are looked for, and what pays for them. */
static inline struct module_search symbolizer_search(struct rk_symbolizer *symbolizer, struct budget *budget)
{
    bool given = symbolizer->files != symbolizer->root;
    return (struct module_search){
        .root = symbolizer->files,
        .kept = symbolizer->kept,
        .depot = &symbolizer->depot,
        .budget = budget,
        .origin = given ? (struct provenance){ORIGIN_HERE, symbolizer->origin.kernel} : symbolizer->origin,
    };
}

/* One more user: rk_symbolizer_free() takes one away. */
static inline struct rk_symbolizer *symbolizer_share(struct rk_symbolizer *symbolizer)
{
    atomic_fetch_add_explicit(&symbolizer->users, 1, memory_order_relaxed);
    return symbolizer;
}

/* The module, loaded now if it is new; the lock is held. 0 or -errno. */
int symbolizer_module(struct rk_symbolizer *symbolizer, const struct rk_module *wanted, struct cached **ret);

/* The entry's name as people wrote it, demangled when first asked for. The lock is not held. NULL: out of memory. */
const char *symbolizer_demangled(struct rk_symbolizer *symbolizer, const struct index *index,
                                 const char *name, const struct index_entry *entry);

/* One answer: the entry of that index; NULL: that miss. 0 or -ENOMEM. Inline, since it is most of what is left of a
 * lookup. */
static inline int symbolizer_answer(struct rk_symbolizer *symbolizer, const struct index *index,
                                    const struct index_entry *entry, const char *names, uint64_t address,
                                    uint32_t miss, struct rk_symbol *ret)
{
    if (!entry) {
        *ret = (struct rk_symbol){.miss = miss};
        return 0;
    }
    const char *mangled = names + (entry->name & ~NAME_MANGLED), *name = mangled;
    if (entry->name & NAME_MANGLED && !(symbolizer->flags & RK_SYMBOLIZER_MANGLED))
        name = symbolizer_demangled(symbolizer, index, mangled, entry);
    *ret = (struct rk_symbol){
        .name = name, .mangled = mangled, .distance = address - entry->start, .bytes = entry->bytes};
    return name ? 0 : -ENOMEM;
}

/* The same miss for all. */
void symbolizer_miss(uint32_t miss, size_t n, struct rk_symbol *ret);

/* Names and lines by the files alone, whatever is stored. As the public calls. */
int symbolizer_resolve_files(struct rk_symbolizer *symbolizer, const struct rk_module *wanted,
                             const uint64_t *offsets, size_t n, struct rk_symbol *ret);
int symbolizer_source_files(struct rk_symbolizer *symbolizer, const struct rk_module *wanted,
                            const uint64_t *offsets, size_t n, const struct rk_sources_options *how,
                            struct rk_sources **ret);

/* The same by what is stored, and by the files where that says less than they may. */
int symbolizer_resolve_stored(struct rk_symbolizer *symbolizer, const struct stored_module *stored,
                              const struct rk_module *wanted, const uint64_t *offsets, size_t n,
                              struct rk_symbol *ret);
int symbolizer_source_stored(struct rk_symbolizer *symbolizer, const struct stored_module *stored,
                             const struct rk_module *wanted, const uint64_t *offsets, size_t n,
                             const struct rk_sources_options *how, struct rk_sources **ret);

/* Names of the kernel and its modules. 0 or -errno. */
int symbolizer_resolve_kernel(struct rk_symbolizer *symbolizer, const struct rk_module *wanted,
                              const uint64_t *addresses, size_t n, struct rk_symbol *ret);

/* The kernel's lines, and how far its addresses are from those asked about: address - *ret_shift is the
 * file's. NULL, and why, where there are none. The lock is held. 0 or -errno. */
int symbolizer_vmlinux(struct rk_symbolizer *symbolizer, const struct rk_module *wanted, struct shelved **ret,
                       uint64_t *ret_shift, uint32_t *ret_miss);

/* The same of a module of the kernel. */
int symbolizer_ko(struct rk_symbolizer *symbolizer, const struct rk_module *wanted, struct shelved **ret,
                  uint64_t *ret_shift, uint32_t *ret_miss);

#endif

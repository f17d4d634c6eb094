/*
 * The public face: modules loaded once, found again by kind, path and build-id; the kernel's names read at the first
 * kernel address.
 *
 * One lock keeps what is loaded and demangled for the first time; looking up what is there takes none.
 */
#include "symbol/symbolizer.h"

#include "base/error.h"
#include "base/unset.h"
#include "symbol/demangle.h"
#include "sys/file.h"
#include "sys/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The path from the root on: the caller may change its directory before the file is read. 0 or -errno. */
static int whole_path(const char *path, char **ret)
{
    int rc = 0;
    _cleanup_free_ char *directory = path[0] == '/' ? strdup("") : sys_directory(&rc);
    size_t n = directory ? strlen(directory) + 1 + strlen(path) + 1 : 0;
    char *whole = directory ? malloc(n) : NULL;

    if (!whole)
        return rc < 0 ? rc : -ENOMEM;
    snprintf(whole, n, "%s%s%s", directory, path[0] == '/' ? "" : "/", path);
    *ret = whole;
    return 0;
}

/* What the caller named: a file that is not there is said at once. */
static int open_given(struct rk_symbolizer *symbolizer, const struct rk_symbolizer_options *o,
                      struct rk_error *e)
{
    const char *const paths[] = {o->vmlinux, o->kallsyms};
    char **const kept[] = {&symbolizer->vmlinux, &symbolizer->kallsyms_path};
    int rc = o->symfs ? sys_root_open(o->symfs) : symbolizer->root;

    if (rc < 0)
        return fail(e, rc, RK_STAGE_SYMBOL, RK_CAUSE_NO_FILE, NULL, "%s: %s", o->symfs, strerror(-rc));
    symbolizer->files = rc;
    for (size_t i = 0; i < 2; i++) {
        if (!paths[i])
            continue;
        _cleanup_close_ int fd = sys_open(paths[i], O_RDONLY, 0);
        if (fd < 0)
            return fail(e, fd, RK_STAGE_SYMBOL, RK_CAUSE_NO_FILE, NULL, "%s: %s", paths[i], strerror(-fd));
        rc = whole_path(paths[i], kept[i]);
        if (rc < 0)
            return fail(e, rc, RK_STAGE_SYMBOL, RK_CAUSE_NO_FILE, NULL, "%s: %s", paths[i], strerror(-rc));
    }
    return 0;
}

int rk_symbolizer_open(const struct rk_symbolizer_options *options, struct rk_symbolizer **ret,
                       struct rk_error *e)
{
    struct rk_symbolizer_options o;

    if (!ret)
        return fail_null(e, RK_STAGE_SYMBOL, "rk_symbolizer_open", "ret");
    int rc = options_check(&o, sizeof o, options, "rk_symbolizer_options", RK_STAGE_SYMBOL, e);
    if (rc < 0)
        return rc;
    uint32_t unknown =
        o.flags & ~(uint32_t)(RK_SYMBOLIZER_MANGLED | RK_SYMBOLIZER_ADDRESSES | RK_SYMBOLIZER_NO_FETCH);
    if (unknown)
        return fail(e, -EINVAL, RK_STAGE_SYMBOL, RK_CAUSE_ARGUMENT, NULL,
                    "rk_symbolizer_options: unknown flags %#x", unknown);
    struct rk_symbolizer *symbolizer = calloc(1, sizeof *symbolizer);
    if (!symbolizer)
        return fail_memory(e, RK_STAGE_SYMBOL);
    symbolizer->users = 1;
    symbolizer->flags = o.flags;
    symbolizer->lines_bytes = o.lines_bytes ? o.lines_bytes : SHELF_BYTES;
    symbolizer->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    symbolizer->kept = -1;
    budget_session(&symbolizer->budget, 0);
    budget_module(&symbolizer->kernel_budget, &symbolizer->budget);
    symbolizer->root = sys_root_open(o.root);
    if (symbolizer->root < 0) {
        rc = symbolizer->root;
        free(symbolizer);
        return fail(e, rc, RK_STAGE_SYMBOL, RK_CAUSE_NO_FILE, NULL, "%s: %s", o.root ? o.root : "/",
                    strerror(-rc));
    }
    symbolizer->depot = depot_open(!(o.flags & RK_SYMBOLIZER_NO_FETCH));
    symbolizer->files = symbolizer->root;
    symbolizer->origin = provenance_find(symbolizer->root, o.host, o.kernel);
    rc = open_given(symbolizer, &o, e);
    if (rc < 0)
        rk_symbolizer_free(symbolizer);
    else
        *ret = symbolizer;
    return rc;
}

struct rk_symbolizer *rk_symbolizer_free(struct rk_symbolizer *symbolizer)
{
    if (symbolizer && atomic_fetch_sub_explicit(&symbolizer->users, 1, memory_order_acq_rel) == 1) {
        for (size_t i = 0; i < symbolizer->modules.n; i++) {
            module_free(&symbolizer->modules.items[i]->module);
            free(symbolizer->modules.items[i]);
        }
        vector_free(&symbolizer->modules);
        table_free(&symbolizer->table);
        arena_free(&symbolizer->texts);
        kallsyms_free(&symbolizer->kallsyms);
        for (size_t i = 0; i < symbolizer->others.n; i++) {
            kallsyms_free(&symbolizer->others.items[i]->kallsyms);
            free(symbolizer->others.items[i]);
        }
        vector_free(&symbolizer->others);
        for (size_t i = 0; i < symbolizer->kernels.n; i++) {
            vmlinux_close(symbolizer->kernels.items[i]);
            free(symbolizer->kernels.items[i]);
        }
        vector_free(&symbolizer->kernels);
        for (size_t i = 0; i < symbolizer->maps.n; i++)
            perfmap_free(&symbolizer->maps.items[i]);
        vector_free(&symbolizer->maps);
        table_free(&symbolizer->map_of);
        intern_free(&symbolizer->map_names);
        stored_close(symbolizer->stored);
        for (size_t i = 0; i < symbolizer->jits.n; i++) {
            jitdump_free(&symbolizer->jits.items[i]->dump);
            free(symbolizer->jits.items[i]);
        }
        vector_free(&symbolizer->jits);
        pthread_mutex_destroy(&symbolizer->lock);
        free(symbolizer->vmlinux);
        free(symbolizer->kallsyms_path);
        if (symbolizer->files != symbolizer->root)
            sys_close(symbolizer->files);
        sys_close(symbolizer->root);
        depot_close(&symbolizer->depot);
        free(symbolizer);
    }
    return NULL;
}

int rk_symbolizer_demangles(void)
{
    return demangle_available();
}

const char *rk_miss_text(uint32_t miss)
{
    static const char *const texts[] = {
        [RK_MISS_NONE] = "it has a name",
        [RK_MISS_NO_FILE] = "its file is gone or unreadable",
        [RK_MISS_BAD_FILE] = "its file is no ELF file, or damaged",
        [RK_MISS_CHANGED] = "its file has changed since: the build-id differs",
        [RK_MISS_STRIPPED] = "its file is stripped of names, and no debug file is installed",
        [RK_MISS_NO_SYMBOL] = "no symbol covers the address",
        [RK_MISS_KERNEL_HIDDEN] = "kernel symbols are hidden from this user (kernel.kptr_restrict)",
        [RK_MISS_OTHER_KERNEL] = "recorded under another kernel than the one that runs",
        [RK_MISS_ANONYMOUS] = "code without a file, and no /tmp/perf-PID.map names it",
        [RK_MISS_NOT_YOURS] = "code without a file, and its /tmp/perf-PID.map belongs to another user",
        [RK_MISS_NO_MODULE] = "the address is in no known mapping",
        [RK_MISS_UNSUPPORTED] = "its file is a 32-bit or big-endian program, which is not read",
        [RK_MISS_NO_LINES] = "no debug information is installed for it",
        [RK_MISS_NO_UNIT] = "its debug information does not cover the address",
        [RK_MISS_NO_LIBRARY] = "its debug information is compressed: install libdeflate and libzstd",
        [RK_MISS_ELSEWHERE] =
            "perhaps recorded on another machine, and no build-id shows that the file here is the same",
        [RK_MISS_NO_KALLSYMS] = "the kernel's list of names is unreadable: /proc/kallsyms",
        [RK_MISS_BUDGET] = "reading the file takes more than its budget: RECKON_BUDGET (in MB) raises it",
    };

    return miss < sizeof texts / sizeof *texts ? texts[miss] : "unknown reason";
}

static bool same_module(const struct cached *cached, const struct rk_module *wanted,
                        const struct build_id *id)
{
    return cached->kind == wanted->kind && cached->deleted == wanted->deleted &&
           cached->id.bytes == id->bytes && build_id_same(&cached->id, id) &&
           (id->bytes || (cached->inode == wanted->inode && (wanted->inode || cached->pid == wanted->pid))) &&
           strcmp(cached->path, wanted->path) == 0;
}

/* The module, loaded now if it is new. Nothing is kept where that failed. */
int symbolizer_module(struct rk_symbolizer *symbolizer, const struct rk_module *wanted, struct cached **ret)
{
    struct build_id id = object_build_id(wanted);
    size_t path_bytes = strlen(wanted->path);
    uint64_t hash = hash_bytes(wanted->path, path_bytes) ^ hash_bytes(id.id, sizeof id.id);
    uint32_t first = table_get(&symbolizer->table, hash);

    for (uint32_t i = first == TABLE_NONE ? 0 : first + 1; i;) {
        struct cached *cached = symbolizer->modules.items[i - 1];
        if (same_module(cached, wanted, &id)) {
            *ret = cached;
            return 0;
        }
        i = cached->next;
    }

    struct cached *cached = calloc(1, sizeof *cached);
    if (!cached)
        return -ENOMEM;
    cached->kind = wanted->kind;
    cached->deleted = wanted->deleted;
    cached->pid = wanted->pid;
    cached->inode = wanted->inode;
    cached->id = id;
    cached->next = first == TABLE_NONE ? 0 : first + 1;
    cached->path = arena_text(&symbolizer->texts, wanted->path, path_bytes);
    bool by_address = symbolizer->flags & RK_SYMBOLIZER_ADDRESSES;
    budget_module(&cached->budget, &symbolizer->budget);
    struct module_search search = symbolizer_search(symbolizer, &cached->budget);
    int rc = cached->path ? module_load(&search, wanted, by_address, &cached->module) : -ENOMEM;
    if (rc == 0)
        rc = vector_reserve(&symbolizer->modules, 1);
    if (rc == 0)
        rc = table_put(&symbolizer->table, hash, (uint32_t)symbolizer->modules.n);
    if (rc < 0) {
        module_free(&cached->module);
        free(cached);
        return rc;
    }
    symbolizer->modules.items[symbolizer->modules.n++] = cached;
    *ret = cached;
    return 0;
}

/* The entry's name as people wrote it, demangled when first asked for. The lock is held. NULL: out of memory. */
static const char *demangled(struct rk_symbolizer *symbolizer, const struct index *index, const char *name,
                             const struct index_entry *entry)
{
    const char *_Atomic *slot = &index->plain[entry - index->entries];
    const char *plain = atomic_load_explicit(slot, memory_order_relaxed);

    if (!plain) {
        plain = demangle(name, &symbolizer->texts);
        atomic_store_explicit(slot, plain, memory_order_release);
    }
    return plain;
}

const char *symbolizer_demangled(struct rk_symbolizer *symbolizer, const struct index *index,
                                 const char *name, const struct index_entry *entry)
{
    const char *plain = atomic_load_explicit(&index->plain[entry - index->entries], memory_order_acquire);

    if (!plain) {
        pthread_mutex_lock(&symbolizer->lock);
        plain = demangled(symbolizer, index, name, entry);
        pthread_mutex_unlock(&symbolizer->lock);
    }
    return plain;
}

void symbolizer_miss(uint32_t miss, size_t n, struct rk_symbol *ret)
{
    for (size_t i = 0; i < n; i++)
        ret[i] = (struct rk_symbol){.miss = miss};
}

/* At most INDEX_BATCH of them: the tables in turn, each for those that have no name yet. */
static int resolve_some(struct rk_symbolizer *symbolizer, const struct module *module, struct load *last,
                        const uint64_t *offsets, size_t n, struct rk_symbol *ret)
{
    UNSET uint64_t addresses[INDEX_BATCH];
    UNSET const struct index_entry *entries[INDEX_BATCH];
    const struct functions *first = &module->tables[0];
    struct load load = *last; /* a copy: the answers can't alias it */
    int rc = 0;

    if (n == 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (!module_address(module, offsets[i], &load, &addresses[i]))
            addresses[i] = UINT64_MAX; /* where nothing can be */
    *last = load;
    index_find_all(&first->index, addresses, n, entries);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const struct functions *table = first;
        for (uint32_t j = 1; !entries[i] && j < module->table_n; j++) {
            table = &module->tables[j];
            if (addresses[i] - table->index.base < table->index.span)
                entries[i] = index_find(&table->index, addresses[i]);
        }
        rc = symbolizer_answer(symbolizer, &table->index, entries[i], table->names, addresses[i],
                               module->elsewhere, &ret[i]);
    }
    return rc;
}

/* What has no name is called by where it lies, as its file's unwind tables have it: prog+0x1130. The lock is held. */
static int call_by_place(struct rk_symbolizer *symbolizer, const struct rk_module *wanted,
                         struct cached *cached, uint64_t address, struct rk_symbol *ret)
{
    struct module_search search = symbolizer_search(symbolizer, &cached->budget);
    const char *slash = strrchr(wanted->path, '/'), *base = slash && slash[1] ? slash + 1 : wanted->path;
    char text[280];
    uint64_t start, end;
    int rc = module_describe(&search, wanted, &cached->module, address, &start, &end);

    if (budget_spent(&cached->budget) && rc < 0)
        ret->miss = RK_MISS_BUDGET;
    if (rc < 0)
        return rc == -ENOENT || rc == -EDQUOT ? 0 : rc;
    int n = snprintf(text, sizeof text, "%.255s+0x%" PRIx64, base, start);
    int64_t number = intern_add(&symbolizer->map_names, text, (size_t)n);
    if (number < 0)
        return -ENOMEM;
    ret->name = intern_text(&symbolizer->map_names, (uint32_t)number);
    ret->distance = address - start;
    ret->bytes = end - start < UINT32_MAX ? (uint32_t)(end - start) : UINT32_MAX;
    return 0;
}

/* The same of all that have no name. */
static int call_the_rest(struct rk_symbolizer *symbolizer, const struct rk_module *wanted,
                         struct cached *cached, const uint64_t *offsets, size_t n, struct rk_symbol *ret)
{
    struct load load = {0};
    uint64_t address;
    bool locked = false;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n; i++) {
        if (ret[i].name || !module_address(&cached->module, offsets[i], &load, &address))
            continue;
        if (!locked)
            pthread_mutex_lock(&symbolizer->lock);
        locked = true;
        rc = call_by_place(symbolizer, wanted, cached, address, &ret[i]);
    }
    if (locked)
        pthread_mutex_unlock(&symbolizer->lock);
    return rc;
}

static int resolve_file(struct rk_symbolizer *symbolizer, const struct rk_module *wanted,
                        const uint64_t *offsets, size_t n, struct rk_symbol *ret)
{
    struct cached *cached;

    pthread_mutex_lock(&symbolizer->lock);
    int rc = symbolizer_module(symbolizer, wanted, &cached);
    pthread_mutex_unlock(&symbolizer->lock);
    if (rc < 0)
        return rc;
    const struct module *module = &cached->module;
    if (module->miss) {
        symbolizer_miss(module->miss, n, ret);
        return module->miss == RK_MISS_STRIPPED ? call_the_rest(symbolizer, wanted, cached, offsets, n, ret)
                                                : 0;
    }
    struct load last = module->load_n ? module->loads[0] : (struct load){0};
    for (size_t i = 0, some; rc == 0 && i < n; i += some) {
        some = n - i < INDEX_BATCH ? n - i : INDEX_BATCH;
        rc = resolve_some(symbolizer, module, &last, offsets + i, some, ret + i);
    }
    return rc < 0 ? rc : call_the_rest(symbolizer, wanted, cached, offsets, n, ret);
}

/* The process's map, a new one if need be. Valid until the next call. NULL: out of memory. */
static struct perfmap *find_map(struct rk_symbolizer *symbolizer, int32_t pid)
{
    uint32_t i = table_get(&symbolizer->map_of, (uint32_t)pid);

    if (i != TABLE_NONE)
        return &symbolizer->maps.items[i];
    struct perfmap *map = vector_push(&symbolizer->maps);
    if (map && table_put(&symbolizer->map_of, (uint32_t)pid, (uint32_t)(symbolizer->maps.n - 1)) < 0) {
        symbolizer->maps.n--;
        return NULL;
    }
    if (map)
        map->pid = pid;
    return map;
}

/* A map may grow, and another thread's call take that in: all under the lock. */
static int resolve_map(struct rk_symbolizer *symbolizer, int32_t pid, const uint64_t *addresses, size_t n,
                       struct rk_symbol *ret)
{
    pthread_mutex_lock(&symbolizer->lock);
    struct perfmap *map = find_map(symbolizer, pid);
    int rc = map ? perfmap_update(map, symbolizer->root, &symbolizer->map_names) : -ENOMEM;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const struct index_entry *entry = index_find(&map->index, addresses[i]);
        ret[i] = (struct rk_symbol){.miss = map->miss};
        if (!entry)
            continue;
        const char *mangled = intern_text(&symbolizer->map_names, entry->name & ~NAME_MANGLED),
                   *name = mangled;
        if (entry->name & NAME_MANGLED && !(symbolizer->flags & RK_SYMBOLIZER_MANGLED))
            name = demangled(symbolizer, &map->index, mangled, entry);
        ret[i] = (struct rk_symbol){
            .name = name, .mangled = mangled, .distance = addresses[i] - entry->start, .bytes = entry->bytes};
        rc = name ? 0 : -ENOMEM;
    }
    pthread_mutex_unlock(&symbolizer->lock);
    return rc;
}

/* The module is the function. */
static int resolve_code(struct rk_symbolizer *symbolizer, const struct rk_module *wanted,
                        const uint64_t *addresses, size_t n, struct rk_symbol *ret)
{
    pthread_mutex_lock(&symbolizer->lock);
    int64_t number = intern_add(&symbolizer->map_names, wanted->path, strlen(wanted->path));
    const char *name = number < 0 ? NULL : intern_text(&symbolizer->map_names, (uint32_t)number);
    pthread_mutex_unlock(&symbolizer->lock);
    if (!name)
        return -ENOMEM;
    uint64_t bytes = wanted->end > wanted->start ? wanted->end - wanted->start : 0;
    bytes = bytes < UINT32_MAX ? bytes : UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        bool inside = addresses[i] >= wanted->start && (!wanted->end || addresses[i] < wanted->end);
        ret[i] = inside ? (struct rk_symbol){.name = name,
                                             .mangled = name,
                                             .distance = addresses[i] - wanted->start,
                                             .bytes = (uint32_t)bytes}
                        : (struct rk_symbol){.miss = RK_MISS_NO_SYMBOL};
    }
    return 0;
}

int symbolizer_resolve_files(struct rk_symbolizer *symbolizer, const struct rk_module *wanted,
                             const uint64_t *offsets, size_t n, struct rk_symbol *ret)
{
    switch (wanted->kind) {
    case RK_MODULE_FILE:
        return jitdump_is_path(wanted->path) ? jitnames_resolve(symbolizer, wanted, offsets, n, ret)
                                             : resolve_file(symbolizer, wanted, offsets, n, ret);
    case RK_MODULE_VDSO:
        return resolve_file(symbolizer, wanted, offsets, n, ret);
    case RK_MODULE_KERNEL:
    case RK_MODULE_KERNEL_MODULE:
        return symbolizer_resolve_kernel(symbolizer, wanted, offsets, n, ret);
    case RK_MODULE_KERNEL_CODE:
        return resolve_code(symbolizer, wanted, offsets, n, ret);
    case RK_MODULE_ANONYMOUS:
        if (symbolizer->origin.machine == ORIGIN_HERE && wanted->pid > 0)
            return resolve_map(symbolizer, wanted->pid, offsets, n, ret);
        symbolizer_miss(RK_MISS_ANONYMOUS, n, ret);
        return 0;
    default:
        return -EINVAL;
    }
}

int rk_symbolizer_resolve(struct rk_symbolizer *symbolizer, const struct rk_module *module,
                          const uint64_t *offsets, size_t n, struct rk_symbol *ret)
{
    struct rk_module wanted;

    if (!symbolizer || !module || (n && (!offsets || !ret)) ||
        options_take(&wanted, sizeof wanted, module) < 0 || !wanted.path)
        return -EINVAL;
    const struct stored_module *stored = symbolizer->stored ? stored_find(symbolizer->stored, &wanted) : NULL;
    return stored ? symbolizer_resolve_stored(symbolizer, stored, &wanted, offsets, n, ret)
                  : symbolizer_resolve_files(symbolizer, &wanted, offsets, n, ret);
}

int rk_symbolizer_names(struct rk_symbolizer *symbolizer, const void *names, size_t bytes, struct rk_error *e)
{
    struct stored *stored = NULL;

    if (!symbolizer || (bytes && !names))
        return fail_null(e, RK_STAGE_SYMBOL, "rk_symbolizer_names", symbolizer ? "names" : "symbolizer");
    if (symbolizer->flags & RK_SYMBOLIZER_ADDRESSES)
        return fail_argument(e, RK_STAGE_SYMBOL,
                             "RK_SYMBOLIZER_ADDRESSES is for files: stored names are of a recording");
    if (symbolizer->stored || symbolizer->modules.n || symbolizer->maps.n)
        return fail(e, -EBUSY, RK_STAGE_SYMBOL, RK_CAUSE_ARGUMENT, "give it the names first",
                    "this symbolizer was asked or has stored names already");
    int rc = stored_open(names, bytes, &stored);
    if (rc == -ENOMEM)
        return fail_memory(e, RK_STAGE_SYMBOL);
    if (rc < 0)
        return fail(e, rc, RK_STAGE_SYMBOL, rc == -EOPNOTSUPP ? RK_CAUSE_UNSUPPORTED : RK_CAUSE_BAD_FILE,
                    NULL, "stored names: %s",
                    rc == -EOPNOTSUPP
                        ? "of another version of reckon, or packed by a library that is not installed"
                        : "damaged");
    symbolizer->stored = stored;
    return 0;
}

/*
 * The kernel's part of the symbolizer: names by /proc/kallsyms, read at the first kernel address, those of another kernel
 * by the copy in perf's cache; lines by vmlinux.
 * Both say where a kernel lies by its _text, which a boot moves (KASLR).
 */
#include "symbol/ko.h"
#include "symbol/symbolizer.h"
#include "sys/file.h"

#include <errno.h>
#include <string.h>

static int load_kernel(struct rk_symbolizer *symbolizer)
{
    if (symbolizer->kernel_loaded)
        return 0;
    _cleanup_close_ int slash = symbolizer->kallsyms_path ? sys_root_open(NULL) : -1;
    int rc = symbolizer->kallsyms_path
                 ? kallsyms_load(slash, symbolizer->kallsyms_path, &symbolizer->kallsyms)
                 : kallsyms_load(symbolizer->root, "proc/kallsyms", &symbolizer->kallsyms);
    if (rc == -ENOMEM || rc == -EMFILE || rc == -ENFILE)
        return rc;
    symbolizer->kernel_miss = rc == 0         ? RK_MISS_NONE
                              : rc == -EACCES ? RK_MISS_KERNEL_HIDDEN
                                              : RK_MISS_NO_KALLSYMS;
    symbolizer->kernel_loaded = true;
    return 0;
}

static int ask_kernel(struct rk_symbolizer *symbolizer)
{
    if (symbolizer->kernel_asked)
        return 0;
    int rc = kernel_build_id(symbolizer->root, &symbolizer->kernel_build_id);
    if (rc == -ENOMEM || rc == -EMFILE || rc == -ENFILE)
        return rc;
    symbolizer->kernel_asked = true;
    return 0;
}

/*
 * How far the running kernel lies from where it lay when the addresses were taken. A boot moves it (KASLR): if the
 * build-ids say that it is the same kernel, its own addresses can be moved as well; modules are loaded anywhere.
 */
static uint32_t kernel_shift(const struct kallsyms *k, const struct rk_module *wanted, bool same,
                             uint64_t *ret)
{
    if (wanted->kind != RK_MODULE_KERNEL || !wanted->start || (!k->text && !k->stext))
        return RK_MISS_NONE;
    if (wanted->start == k->text || wanted->start == k->stext)
        return RK_MISS_NONE;
    *ret = (k->text ? k->text : k->stext) - wanted->start;
    return same ? RK_MISS_NONE : RK_MISS_OTHER_KERNEL;
}

/* Whether a name is that module's: another boot may have put another one there. */
static bool is_of_module(const char *name, const struct rk_module *wanted)
{
    return !wanted->name || wanted->name[0] != '[' || strcmp(kallsyms_module(name), wanted->name) == 0;
}

/* Whether the running kernel is the one that the addresses are of, by the build-id of it or of its module, else by what
 * the recording says of its machine. The lock is held. */
static int judge_kernel(struct rk_symbolizer *symbolizer, const struct rk_module *wanted, uint32_t *ret_miss)
{
    struct build_id asked = object_build_id(wanted), own = {0};
    enum origin_is origin = symbolizer->origin.kernel;
    int rc = 0;

    if (symbolizer->kallsyms_path) /* they are said to be its names */
        return 0;
    if (asked.bytes && wanted->kind == RK_MODULE_KERNEL) {
        rc = ask_kernel(symbolizer);
        own = symbolizer->kernel_build_id;
    } else if (asked.bytes && origin != ORIGIN_HERE) {
        rc = kernel_module_build_id(symbolizer->root, wanted->name ? wanted->name : wanted->path, &own);
        rc = rc == -ENOMEM || rc == -EMFILE || rc == -ENFILE ? rc : 0;
    }
    bool same = asked.bytes && own.bytes && build_id_same(&asked, &own);
    if (same || (origin == ORIGIN_HERE && !(asked.bytes && own.bytes)))
        return rc;
    *ret_miss = origin == ORIGIN_UNKNOWN && !own.bytes ? RK_MISS_ELSEWHERE : RK_MISS_OTHER_KERNEL;
    return rc;
}

/* The names that perf's cache has of that kernel; *ret stays NULL where it has none. The lock is held. 0 or -errno. */
static int cached_names(struct rk_symbolizer *symbolizer, const struct build_id *id, struct kallsyms **ret)
{
    char path[DEPOT_NAME_BYTES];
    struct cached_kernel *kernel = NULL;

    for (size_t i = 0; i < symbolizer->others.n && !kernel; i++)
        if (build_id_same(&symbolizer->others.items[i]->id, id))
            kernel = symbolizer->others.items[i];
    if (!kernel) {
        kernel = calloc(1, sizeof *kernel);
        if (!kernel || vector_reserve(&symbolizer->others, 1) < 0) {
            free(kernel);
            return -ENOMEM;
        }
        kernel->id = *id;
        depot_kallsyms(id, path);
        int rc = kallsyms_load(symbolizer->depot.cache, path, &kernel->kallsyms);
        if (rc == -ENOMEM || rc == -EMFILE || rc == -ENFILE) {
            free(kernel);
            return rc;
        }
        symbolizer->others.items[symbolizer->others.n++] = kernel;
    }
    if (kernel->kallsyms.names)
        *ret = &kernel->kallsyms;
    return 0;
}

/* The vmlinux that the caller named, opened at the first question. The lock is held. */
static int given_vmlinux(struct rk_symbolizer *symbolizer, struct vmlinux **ret)
{
    if (!symbolizer->given) {
        struct vmlinux *v = calloc(1, sizeof *v);
        int rc = v && vector_reserve(&symbolizer->kernels, 1) == 0
                     ? vmlinux_open_path(symbolizer->vmlinux, &symbolizer->kernel_budget, v)
                     : -ENOMEM;
        if (rc < 0) {
            free(v);
            return rc;
        }
        symbolizer->given = symbolizer->kernels.items[symbolizer->kernels.n++] = v;
    }
    *ret = symbolizer->given;
    return 0;
}

/* Where that vmlinux has the addresses of a recorded kernel: they are so far off. */
static uint32_t given_shift(const struct rk_symbolizer *symbolizer, const struct vmlinux *v,
                            const struct rk_module *wanted, uint64_t *ret)
{
    struct build_id asked = object_build_id(wanted);
    uint64_t text = v->text ? v->text : v->stext;

    if (asked.bytes && v->id.bytes && !build_id_same(&asked, &v->id))
        return RK_MISS_CHANGED;
    if (symbolizer->flags & RK_SYMBOLIZER_ADDRESSES) /* as that file has them */
        return RK_MISS_NONE;
    *ret = wanted->start && text ? wanted->start - text : 0;
    return wanted->start || !text ? RK_MISS_NONE : RK_MISS_KERNEL_HIDDEN;
}

/* The kernel's names by it. */
static int resolve_given(struct rk_symbolizer *symbolizer, const struct rk_module *wanted,
                         const uint64_t *addresses, size_t n, struct rk_symbol *ret)
{
    struct vmlinux *v = NULL;
    uint64_t shift = 0;

    pthread_mutex_lock(&symbolizer->lock);
    int rc = given_vmlinux(symbolizer, &v);
    pthread_mutex_unlock(&symbolizer->lock);
    if (rc < 0)
        return rc;
    uint32_t miss = v->miss ? v->miss : given_shift(symbolizer, v, wanted, &shift);
    if (miss != RK_MISS_NONE) {
        symbolizer_miss(miss, n, ret);
        return 0;
    }
    struct functions functions = v->functions; /* a copy: the answers can't alias it */
    for (size_t i = 0; rc == 0 && i < n; i++) {
        uint64_t address = addresses[i] - shift;
        const struct index_entry *entry = index_find(&functions.index, address);
        rc = symbolizer_answer(symbolizer, &functions.index, entry, functions.names, address,
                               RK_MISS_NO_SYMBOL, &ret[i]);
    }
    return rc;
}

int symbolizer_resolve_kernel(struct rk_symbolizer *symbolizer, const struct rk_module *wanted,
                              const uint64_t *addresses, size_t n, struct rk_symbol *ret)
{
    struct build_id asked = object_build_id(wanted);
    const struct build_id *own = &symbolizer->kernel_build_id;
    bool proper = wanted->kind == RK_MODULE_KERNEL, given = symbolizer->kallsyms_path;
    struct kallsyms *names = &symbolizer->kallsyms;
    uint32_t miss = RK_MISS_NONE;
    uint64_t shift = 0;

    if (proper && symbolizer->vmlinux)
        return resolve_given(symbolizer, wanted, addresses, n, ret);
    pthread_mutex_lock(&symbolizer->lock);
    int rc = judge_kernel(symbolizer, wanted, &miss);
    if (rc == 0 && miss == RK_MISS_NONE) {
        rc = load_kernel(symbolizer);
        miss = symbolizer->kernel_miss;
    } else if (rc == 0 && proper && asked.bytes >= 2 && symbolizer->depot.cache >= 0) {
        struct kallsyms *cached = NULL;
        rc = cached_names(symbolizer, &asked, &cached);
        if (cached)
            names = cached, miss = RK_MISS_NONE;
    }
    pthread_mutex_unlock(&symbolizer->lock);
    if (rc < 0)
        return rc;
    if (miss == RK_MISS_NONE) {
        bool same = given || names != &symbolizer->kallsyms || (asked.bytes && own->bytes);
        miss = kernel_shift(names, wanted, same, &shift);
    }
    if (miss != RK_MISS_NONE) {
        symbolizer_miss(miss, n, ret);
        return 0;
    }
    struct kallsyms k = *names; /* a copy: the answers can't alias it */
    for (size_t i = 0; i < n; i++) {
        uint64_t address = addresses[i] + shift;
        const struct index *index = &k.kernel;
        const struct index_entry *entry = kallsyms_find(&k, address, &index);
        miss = RK_MISS_NO_SYMBOL;
        if (!proper && entry && !is_of_module(k.names + (entry->name & ~NAME_MANGLED), wanted)) {
            entry = NULL;
            miss = RK_MISS_OTHER_KERNEL;
        }
        rc = symbolizer_answer(symbolizer, index, entry, k.names, address, miss, &ret[i]);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* `module`: its name; NULL: the kernel proper. */
static int find_vmlinux(struct rk_symbolizer *symbolizer, const struct build_id *id, const char *module,
                        struct vmlinux **ret)
{
    struct vmlinux *known = NULL;

    for (size_t i = 0; i < symbolizer->kernels.n && !known; i++)
        if (build_id_same(&symbolizer->kernels.items[i]->id, id))
            known = symbolizer->kernels.items[i];
    if (!known && vector_reserve(&symbolizer->kernels, 1) == 0) {
        known = calloc(1, sizeof *known);
        if (known)
            symbolizer->kernels.items[symbolizer->kernels.n++] = known;
    }
    if (!known)
        return -ENOMEM;
    known->id = *id;
    *ret = known;
    return known->lines.asked ? 0
           : module           ? ko_open(symbolizer->files, module, id, &symbolizer->kernel_budget, known)
                              : vmlinux_open(symbolizer->files, id, &symbolizer->kernel_budget, known);
}

/* Where the kernel lay that the addresses are of, against where its file says: by the recording's _text; else, if it is
 * the one that runs, by the names of that. */
static uint32_t vmlinux_shift(const struct vmlinux *v, const struct kallsyms *running, uint64_t start,
                              uint64_t *ret)
{
    if (running && (!start || start == running->text || start == running->stext)) {
        bool text = running->text && v->text;
        if (!text && !(running->stext && v->stext))
            return RK_MISS_NO_KALLSYMS;
        *ret = text ? running->text - v->text : running->stext - v->stext;
        return RK_MISS_NONE;
    }
    *ret = start - (v->text ? v->text : v->stext);
    return start ? RK_MISS_NONE : RK_MISS_KERNEL_HIDDEN;
}

int symbolizer_vmlinux(struct rk_symbolizer *symbolizer, const struct rk_module *wanted, struct shelved **ret,
                       uint64_t *ret_shift, uint32_t *ret_miss)
{
    struct build_id id = object_build_id(wanted);
    const struct build_id *own = &symbolizer->kernel_build_id;
    const struct kallsyms *k = &symbolizer->kallsyms;
    struct vmlinux *vmlinux = NULL;
    bool told = id.bytes;
    int rc = ask_kernel(symbolizer);

    if (symbolizer->vmlinux) {
        rc = given_vmlinux(symbolizer, &vmlinux);
        if (rc < 0)
            return rc;
        *ret_miss =
            vmlinux->lines.miss ? vmlinux->lines.miss : given_shift(symbolizer, vmlinux, wanted, ret_shift);
        *ret = *ret_miss ? NULL : &vmlinux->lines;
        return 0;
    }
    if (rc == 0 && !told && symbolizer->origin.kernel != ORIGIN_HERE) {
        *ret_miss = symbolizer->origin.kernel == ORIGIN_UNKNOWN ? RK_MISS_ELSEWHERE : RK_MISS_OTHER_KERNEL;
        return 0;
    }

    if (rc == 0 && !told)
        id = *own;
    bool runs = id.bytes && own->bytes && build_id_same(&id, own);
    if (rc == 0 && runs)
        rc = load_kernel(symbolizer);
    if (rc == 0)
        rc = find_vmlinux(symbolizer, &id, NULL, &vmlinux);
    if (rc != 0)
        return rc;
    runs = runs && symbolizer->kernel_miss == RK_MISS_NONE;
    *ret_miss = vmlinux->lines.miss;
    if (!*ret_miss && !told && wanted->start &&
        !(runs && (wanted->start == k->text || wanted->start == k->stext)))
        *ret_miss = RK_MISS_OTHER_KERNEL; /* perhaps: it lay elsewhere, and does not say which it was */
    if (!*ret_miss)
        *ret_miss = vmlinux_shift(vmlinux, runs ? k : NULL, wanted->start, ret_shift);
    *ret = *ret_miss ? NULL : &vmlinux->lines;
    return 0;
}

int symbolizer_ko(struct rk_symbolizer *symbolizer, const struct rk_module *wanted, struct shelved **ret,
                  uint64_t *ret_shift, uint32_t *ret_miss)
{
    struct build_id id = object_build_id(wanted);
    struct vmlinux *module = NULL;
    const char *name = wanted->name ? wanted->name : wanted->path;
    int rc = 0;

    if (!id.bytes && symbolizer->origin.kernel == ORIGIN_HERE)
        rc = kernel_module_build_id(symbolizer->root, name, &id);
    if (rc == -ENOMEM || rc == -EMFILE || rc == -ENFILE)
        return rc;
    rc = find_vmlinux(symbolizer, &id, name, &module);
    if (rc < 0)
        return rc;
    *ret_miss = module->lines.miss ? module->lines.miss
                : wanted->start    ? RK_MISS_NONE
                                   : RK_MISS_KERNEL_HIDDEN;
    *ret_shift = wanted->start;
    *ret = *ret_miss ? NULL : &module->lines;
    return 0;
}

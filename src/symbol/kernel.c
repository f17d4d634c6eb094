/*
 * The kernel's part of the symbolizer: names by /proc/kallsyms, read at the first kernel address; lines by vmlinux.
 * Both say where a kernel lies by its _text, which a boot moves (KASLR).
 */
#include "symbol/ko.h"
#include "symbol/symbolizer.h"

#include <errno.h>
#include <string.h>

static int load_kernel(struct rk_symbolizer *symbolizer)
{
    if (symbolizer->kernel_loaded)
        return 0;
    int rc = kallsyms_load(symbolizer->root, &symbolizer->kallsyms);
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

int symbolizer_resolve_kernel(struct rk_symbolizer *symbolizer, const struct rk_module *wanted,
                              const uint64_t *addresses, size_t n, struct rk_symbol *ret)
{
    struct build_id asked = object_build_id(wanted);
    const struct build_id *own = &symbolizer->kernel_build_id;
    bool proper = wanted->kind == RK_MODULE_KERNEL; /* a module's build-id is not among the kernel's notes */
    uint32_t miss = RK_MISS_NONE;
    uint64_t shift = 0;

    pthread_mutex_lock(&symbolizer->lock);
    int rc = proper && asked.bytes ? ask_kernel(symbolizer) : 0;
    if (rc == 0 && proper && asked.bytes && own->bytes && !build_id_same(&asked, own))
        miss = RK_MISS_OTHER_KERNEL;
    if (rc == 0 && miss == RK_MISS_NONE) {
        rc = load_kernel(symbolizer);
        miss = symbolizer->kernel_miss;
    }
    pthread_mutex_unlock(&symbolizer->lock);
    if (rc < 0)
        return rc;
    if (miss == RK_MISS_NONE)
        miss = kernel_shift(&symbolizer->kallsyms, wanted, asked.bytes && own->bytes, &shift);
    if (miss != RK_MISS_NONE) {
        symbolizer_miss(miss, n, ret);
        return 0;
    }
    struct kallsyms k = symbolizer->kallsyms; /* a copy: the answers can't alias it */
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
           : module           ? ko_open(symbolizer->root, module, id, &symbolizer->kernel_budget, known)
                              : vmlinux_open(symbolizer->root, id, &symbolizer->kernel_budget, known);
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
    int rc = id.bytes ? 0 : kernel_module_build_id(symbolizer->root, name, &id);

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

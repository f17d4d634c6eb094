#include "image/modules.h"

#include <errno.h>
#include <string.h>

#define KSYMBOL_BPF 1

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* The path's length without the " (deleted)" that the kernel adds to an unlinked file's. */
static size_t path_length(const char *path, bool *ret_deleted)
{
    static const char mark[] = " (deleted)";
    size_t n = strlen(path);

    *ret_deleted = n > sizeof mark - 1 && memcmp(path + n - (sizeof mark - 1), mark, sizeof mark - 1) == 0;
    return *ret_deleted ? n - (sizeof mark - 1) : n;
}

/* "[kernel.kallsyms]_text"; or the file that perf took for it: /usr/lib/debug/boot/vmlinux-4.10. */
bool modules_is_kernel(const char *path)
{
    const char *slash = strrchr(path, '/');

    return begins(path, "[kernel") || (slash && begins(slash + 1, "vmlinux"));
}

static uint32_t kind_of(const char *path, int32_t pid)
{
    static const char *const anonymous[] = {"//",        "/memfd:",        "/SYSV",
                                            "/dev/zero", "/anon_hugepage", "/[aio]"};

    if (pid == -1)
        return modules_is_kernel(path) ? RK_MODULE_KERNEL : RK_MODULE_KERNEL_MODULE;
    if (begins(path, "[vdso"))
        return RK_MODULE_VDSO;
    if (path[0] != '/')
        return RK_MODULE_ANONYMOUS;
    for (size_t i = 0; i < sizeof anonymous / sizeof *anonymous; i++)
        if (begins(path, anonymous[i]))
            return RK_MODULE_ANONYMOUS;
    return RK_MODULE_FILE;
}

/* "/lib/modules/6.1/kernel/drivers/snd-hda.ko.xz" → "[snd_hda]", as /proc/kallsyms calls it. */
static int64_t kernel_module_name(struct modules *modules, const char *path)
{
    char name[64];
    const char *last = strrchr(path, '/');
    const char *end = last ? strstr(last, ".ko") : NULL;

    if (!end || (size_t)(end - last) + 2 > sizeof name)
        return intern_add(&modules->texts, last ? last + 1 : path, strlen(last ? last + 1 : path));
    size_t n = 0;
    name[n++] = '[';
    for (const char *at = last + 1; at < end; at++)
        name[n++] = *at == '-' ? '_' : *at;
    name[n++] = ']';
    return intern_add(&modules->texts, name, n);
}

/* Appends a module with a path, a name and nothing else. -ENOMEM, or its number. */
static int64_t append(struct modules *modules, uint32_t kind, uint32_t path)
{
    const char *text = intern_text(&modules->texts, path);
    const char *name = strrchr(text, '/');
    int64_t number = kind == RK_MODULE_KERNEL_MODULE ? kernel_module_name(modules, text) : -1;

    if (kind == RK_MODULE_KERNEL_MODULE && number < 0)
        return number;
    struct image_module *m = vector_push(&modules->items);
    if (!m)
        return -ENOMEM;
    m->path = path;
    m->module.size = sizeof m->module;
    m->module.kind = kind;
    m->module.path = text;
    m->module.name = number >= 0                         ? intern_text(&modules->texts, (uint32_t)number)
                     : kind == RK_MODULE_FILE && name[1] ? name + 1
                                                         : text;
    return (int64_t)modules->items.n - 1;
}

int modules_init(struct modules *modules)
{
    int64_t path = intern_add(&modules->texts, "[kernel]", 8);
    int64_t kernel = path < 0 ? path : append(modules, RK_MODULE_KERNEL, (uint32_t)path);

    return kernel < 0 ? (int)kernel : 0;
}

void modules_free(struct modules *modules)
{
    intern_free(&modules->texts);
    vector_free(&modules->items);
    table_free(&modules->table);
    vector_free(&modules->told);
    table_free(&modules->told_of);
}

static void set_id(struct rk_module *module, const unsigned char *id, uint32_t bytes)
{
    module->build_id_bytes = bytes < sizeof module->build_id ? bytes : sizeof module->build_id;
    memset(module->build_id, 0, sizeof module->build_id);
    memcpy(module->build_id, id, module->build_id_bytes);
}

static bool same(const struct image_module *m, const struct image_module *wanted)
{
    return m->path == wanted->path && m->module.kind == wanted->module.kind && m->device == wanted->device &&
           m->module.inode == wanted->module.inode && m->owner == wanted->owner &&
           m->recorded_id == wanted->recorded_id &&
           (!wanted->recorded_id || memcmp(m->module.build_id, wanted->module.build_id, 20) == 0);
}

/* What tells the mapping's module apart, without its texts. */
static void identify(struct image_module *wanted, const struct rk_mapping *mapping, uint64_t mounts)
{
    if (wanted->module.kind == RK_MODULE_ANONYMOUS)
        wanted->owner = mapping->pid;
    if (wanted->module.kind == RK_MODULE_FILE) {
        wanted->device = mapping->inode ? (uint64_t)mapping->major << 32 | mapping->minor : mounts;
        wanted->module.inode = mapping->inode;
    }
    if (mapping->build_id_bytes && wanted->module.kind != RK_MODULE_ANONYMOUS) {
        set_id(&wanted->module, mapping->build_id, mapping->build_id_bytes);
        wanted->recorded_id = 1;
    }
}

static void place_in_kernel(struct rk_module *module, const struct rk_mapping *mapping)
{
    /* perf stores the address of _text as the kernel's file offset. */
    bool text = module->kind == RK_MODULE_KERNEL && mapping->file_offset;

    module->start = module->offset = text ? mapping->file_offset : mapping->start;
    module->end =
        mapping->length < UINT64_MAX - mapping->start ? mapping->start + mapping->length : UINT64_MAX;
}

/* Appends the wanted module, or gives the one that is there. */
static int64_t find_or_append(struct modules *modules, const struct image_module *wanted)
{
    uint64_t hash = hash_mix(
        wanted->path ^ hash_mix(wanted->device ^ hash_mix(wanted->module.inode ^ (uint32_t)wanted->owner)));
    if (wanted->recorded_id)
        hash ^= hash_bytes(wanted->module.build_id, sizeof wanted->module.build_id);
    uint32_t first = table_get(&modules->table, hash);

    for (uint32_t i = first == TABLE_NONE ? 0 : first + 1; i; i = modules->items.items[i - 1].next)
        if (same(&modules->items.items[i - 1], wanted))
            return i - 1;
    int64_t number = append(modules, wanted->module.kind, wanted->path);
    if (number < 0)
        return number;
    if (table_put(&modules->table, hash, (uint32_t)number) < 0) {
        modules->items.n--;
        return -ENOMEM;
    }
    struct image_module *m = &modules->items.items[number];
    m->device = wanted->device;
    m->module.inode = wanted->module.inode;
    m->owner = m->module.pid = wanted->owner;
    m->recorded_id = wanted->recorded_id;
    m->next = first == TABLE_NONE ? 0 : first + 1;
    uint32_t told = table_get(&modules->told_of, m->path);
    if (wanted->recorded_id)
        set_id(&m->module, wanted->module.build_id, wanted->module.build_id_bytes);
    else if (told != TABLE_NONE)
        set_id(&m->module, modules->told.items[told].id, modules->told.items[told].bytes);
    return number;
}

/* Where the newest process has it: the one that is most likely to be there still, when the file is opened. */
static void place_in_process(struct rk_module *module, const struct rk_mapping *mapping)
{
    module->pid = mapping->pid;
    module->start = mapping->start;
    module->end = mapping->start + mapping->length;
    module->offset = mapping->file_offset;
}

int64_t modules_add(struct modules *modules, const struct rk_mapping *mapping, uint64_t mounts)
{
    struct image_module wanted = {.module.kind = kind_of(mapping->path, mapping->pid)};
    bool deleted;
    size_t n = path_length(mapping->path, &deleted);
    int64_t number = MODULE_KERNEL;

    if (begins(mapping->path, "[guest"))
        return -ENOENT;
    if (wanted.module.kind != RK_MODULE_KERNEL) {
        int64_t path = intern_add(&modules->texts, mapping->path, n);
        if (path < 0)
            return path;
        wanted.path = (uint32_t)path;
        identify(&wanted, mapping, mounts);
        number = find_or_append(modules, &wanted);
        if (number < 0)
            return number;
    } else if (mapping->build_id_bytes) {
        set_id(&modules->items.items[number].module, mapping->build_id, mapping->build_id_bytes);
        modules->items.items[number].recorded_id = 1;
    }
    struct rk_module *module = &modules->items.items[number].module;
    if (mapping->pid == -1)
        place_in_kernel(module, mapping);
    else if (module->kind == RK_MODULE_FILE)
        place_in_process(module, mapping);
    if (deleted && module->kind == RK_MODULE_FILE)
        module->deleted = 1;
    return number;
}

int64_t modules_add_code(struct modules *modules, const struct rk_ksymbol *symbol)
{
    struct image_module wanted = {.module.kind = RK_MODULE_KERNEL_CODE, .device = symbol->address};
    int64_t path = intern_add(&modules->texts, symbol->name, strlen(symbol->name));

    if (path < 0)
        return path;
    wanted.path = (uint32_t)path;
    int64_t number = find_or_append(modules, &wanted);
    if (number < 0)
        return number;
    struct rk_module *module = &modules->items.items[number].module;
    module->name = symbol->kind == KSYMBOL_BPF ? "[bpf]" : "[kernel]";
    module->start = module->offset = symbol->address;
    module->end = symbol->address + symbol->length;
    return number;
}

int modules_tell(struct modules *modules, const char *path, const unsigned char *id, uint32_t bytes)
{
    bool deleted;
    size_t n = path_length(path, &deleted);

    if (modules_is_kernel(path)) {
        struct image_module *kernel = &modules->items.items[MODULE_KERNEL];
        if (!kernel->recorded_id)
            set_id(&kernel->module, id, bytes);
        return 0;
    }
    int64_t number = intern_add(&modules->texts, path, n);
    if (number < 0)
        return (int)number;
    struct told_id *told = vector_push(&modules->told);
    if (!told)
        return -ENOMEM;
    told->bytes = bytes < sizeof told->id ? bytes : sizeof told->id;
    memcpy(told->id, id, told->bytes);
    if (table_put(&modules->told_of, (uint64_t)number, (uint32_t)(modules->told.n - 1)) < 0) {
        modules->told.n--;
        return -ENOMEM;
    }
    for (size_t i = 0; i < modules->items.n; i++) {
        struct image_module *m = &modules->items.items[i];
        if (m->path == number && !m->recorded_id && m->module.kind != RK_MODULE_ANONYMOUS)
            set_id(&m->module, id, bytes);
    }
    return 0;
}

#include "capture/hits.h"

#include "base/table.h"
#include "elf/object.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#define MODE_KERNEL 1
#define MODE_USER 2

void hits_close(struct hits *hits)
{
    vector_free(&hits->modules);
    vector_free(&hits->places);
    table_free(&hits->place_of);
    keep_close(&hits->keep);
}

void hits_moved(struct hits *hits)
{
    hits->generation++;
}

static int hit_module(struct hits *hits, const struct rk_image *image, int root, uint32_t number)
{
    struct rk_module module = {.size = sizeof module};

    while (hits->modules.n <= number)
        if (!vector_push(&hits->modules))
            return -ENOMEM;
    if (hits->modules.items[number])
        return 0;
    hits->modules.items[number] = true;
    return hits->named && rk_image_module_get(image, number, &module) == 0
               ? keep_file(&hits->keep, root, number, &module)
               : 0;
}

static int hit_place(struct hits *hits, const struct rk_place *place)
{
    uint64_t hash = hash_mix(place->offset ^ hash_mix(place->module + UINT64_C(1)));

    if (table_get(&hits->place_of, hash) != TABLE_NONE)
        return 0;
    if (hits->places.n >= HITS_PLACES_MAX) {
        hits->beyond++;
        return 0;
    }
    if (vector_reserve(&hits->places, 1) < 0 ||
        table_put(&hits->place_of, hash, (uint32_t)hits->places.n) < 0)
        return -ENOMEM;
    hits->places.items[hits->places.n++] = (struct hit){place->offset, place->module};
    return 0;
}

/* What all addresses of a sample have in common. */
struct fall {
    struct hits *hits;
    const struct rk_image *image;
    int root;
    int32_t pid;
    uint64_t salt; /* of the process, and of what the image was */
    unsigned shift, mask;
};

static int hit_new(const struct fall *f, uint64_t address)
{
    struct rk_place place;

    if (rk_image_find(f->image, f->pid, &address, 1, &place) < 0 || place.module == RK_NO_MODULE)
        return 0;
    int r = hit_module(f->hits, f->image, f->root, place.module);
    return r == 0 && f->hits->named ? hit_place(f->hits, &place) : r;
}

static inline int hit(const struct fall *f, uint64_t address)
{
    uint64_t key = hash_mix((address >> f->shift) ^ f->salt) | 1;
    uint64_t *seen = &f->hits->seen[key >> 32 & f->mask];

    if (__builtin_expect(*seen == key, 1))
        return 0;
    *seen = key;
    return hit_new(f, address);
}

/* As readers look a chain up: all but the first of a mode are return addresses, unless it was unwound. */
static int hit_chain(const struct fall *f, const struct rk_sample *sample, bool unwound)
{
    bool first = true, user = false;
    int r = 0;

    for (uint64_t i = 0; i < sample->chain_n && r == 0; i++) {
        uint64_t at = sample->chain[i];
        if (at >= RK_CHAIN_MAX) {
            user = at == RK_CHAIN_USER;
            first = true;
            i += at == RK_CHAIN_USER_DEFERRED;
        } else if (at) {
            r = hit(f, at - !(first || (unwound && user)));
            first = false;
        }
    }
    return r;
}

int hits_sample(struct hits *hits, const struct rk_image *image, int root, const struct rk_sample *sample,
                bool unwound)
{
    const struct fall f = {.hits = hits,
                           .image = image,
                           .root = root,
                           .pid = sample->pid,
                           .salt = hash_mix((uint64_t)(uint32_t)sample->pid << 32 ^ hits->generation),
                           .shift = hits->named ? 0 : 12,
                           .mask = (hits->named ? HITS_SEEN_NAMED : HITS_SEEN) - 1};
    int r = sample->present & RK_SAMPLE_IP ? hit(&f, sample->ip) : 0;

    if (r == 0)
        r = hit_chain(&f, sample, unwound);
    if (!hits->named || !(sample->present & RK_SAMPLE_BRANCH_STACK) || !sample->branches)
        return r;
    for (uint64_t i = 0; i < sample->branch_n && r == 0; i++) {
        r = hit(&f, sample->branches[i].from);
        if (r == 0)
            r = hit(&f, sample->branches[i].to);
    }
    return r;
}

/* The file's that was kept open. -ENOENT: none was. */
static int kept_build_id(const struct hits *hits, uint32_t number, struct build_id *ret)
{
    _cleanup_elf_ struct elf *elf = NULL;
    int fd = keep_find(&hits->keep, number);

    fd = fd < 0 ? -ENOENT : sys_duplicate(fd);
    int rc = fd < 0 ? fd : elf_open_fd(fd, "a module", &elf, NULL);
    return rc < 0 ? rc : elf_build_id(elf, ret);
}

static int module_build_id(const struct hits *hits, int root, uint32_t number, const struct rk_module *module,
                           struct build_id *ret)
{
    if (module->kind == RK_MODULE_FILE) {
        int rc = module->build_id_bytes ? -ENOENT : kept_build_id(hits, number, ret);
        return rc == 0 || rc == -ENODATA || rc == -ENOMEM ? rc : object_find_build_id(root, module, ret);
    }
    *ret = object_build_id(module);
    if (ret->bytes)
        return 0;
    return module->kind == RK_MODULE_KERNEL          ? kernel_build_id(root, ret)
           : module->kind == RK_MODULE_KERNEL_MODULE ? kernel_module_build_id(root, module->name, ret)
                                                     : -ENOENT;
}

int hits_write(const struct hits *hits, const struct rk_image *image, int root,
               struct perfdata_writer *writer)
{
    for (uint32_t i = 0; i < hits->modules.n; i++) {
        struct rk_module module = {.size = sizeof module};
        struct build_id id;

        if (!hits->modules.items[i] || rk_image_module_get(image, i, &module) < 0)
            continue;
        int r = module_build_id(hits, root, i, &module, &id);
        if (r == -ENOMEM)
            return r;
        if (r < 0)
            continue; /* it has none, or its file is gone */
        bool kernel = module.kind == RK_MODULE_KERNEL || module.kind == RK_MODULE_KERNEL_MODULE;
        r = perfdata_writer_build_id(writer, -1, kernel ? MODE_KERNEL : MODE_USER, id.id, id.bytes,
                                     module.kind == RK_MODULE_KERNEL ? "[kernel.kallsyms]" : module.path);
        if (r < 0)
            return r;
    }
    return 0;
}

void hits_forget(struct hits *hits)
{
    hits_moved(hits);
    hits->places.n = 0;
    hits->beyond = 0;
    table_free(&hits->place_of);
    if (hits->modules.n)
        memset(hits->modules.items, 0, hits->modules.n * sizeof *hits->modules.items);
}

int hits_code_maps(const struct hits *hits, const struct rk_image *image, int root,
                   struct perfdata_writer *writer, uint64_t *ret)
{
    int32_t last = 0;
    char path[64], line[96];

    *ret = 0;
    for (uint32_t i = 0; i < hits->modules.n; i++) {
        struct rk_module module = {.size = sizeof module};

        if (!hits->modules.items[i] || rk_image_module_get(image, i, &module) < 0 ||
            module.kind != RK_MODULE_ANONYMOUS || module.pid <= 0 || module.pid == last)
            continue;
        last = module.pid;
        snprintf(path, sizeof path, "tmp/perf-%d.map", (int)module.pid);
        _cleanup_close_ int fd = sys_open_at(root, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY, 0);
        if (fd < 0)
            continue;
        snprintf(line, sizeof line, "%d /%s", (int)module.pid, path);
        int r = perfdata_writer_ledger(writer, "code-map", line);
        if (r < 0)
            return r;
        ++*ret;
    }
    return 0;
}

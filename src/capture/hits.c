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
}

void hits_moved(struct hits *hits)
{
    memset(hits->seen, 0, sizeof hits->seen);
}

static int hit(struct hits *hits, const struct rk_image *image, int32_t pid, uint64_t address)
{
    uint64_t key = hash_mix((address >> 12) ^ (uint64_t)(uint32_t)pid << 52) | 1;
    uint64_t *seen = &hits->seen[key >> 32 & (HITS_SEEN - 1)];
    struct rk_place place;

    if (*seen == key)
        return 0;
    *seen = key;
    if (rk_image_find(image, pid, &address, 1, &place) < 0 || place.module == RK_NO_MODULE)
        return 0;
    while (hits->modules.n <= place.module)
        if (!vector_push(&hits->modules))
            return -ENOMEM;
    hits->modules.items[place.module] = true;
    return 0;
}

int hits_sample(struct hits *hits, const struct rk_image *image, const struct rk_sample *sample)
{
    int r = sample->present & RK_SAMPLE_IP ? hit(hits, image, sample->pid, sample->ip) : 0;

    for (uint64_t i = 0; i < sample->chain_n && r == 0; i++)
        if (sample->chain[i] < RK_CHAIN_MAX)
            r = hit(hits, image, sample->pid, sample->chain[i]);
    return r;
}

static int module_build_id(int root, const struct rk_module *module, struct build_id *ret)
{
    if (module->kind == RK_MODULE_FILE)
        return object_find_build_id(root, module, ret);
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
        int r = module_build_id(root, &module, &id);
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

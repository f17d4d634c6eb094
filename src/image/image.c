/*
 * Processes and their mappings; addresses → modules. A lookup reads the pid's slot, then searches its mappings, and
 * takes the last one again where the next address lies in it too, as most of a callchain does.
 */
#include "base/error.h"
#include "image/process.h"

#include <errno.h>
#include <string.h>

/* A lower one is no kernel of 32 bits. */
#define LOWEST_KERNEL UINT64_C(0x40000000)

int rk_image_open(struct rk_image **ret, struct rk_error *e)
{
    if (!ret)
        return fail_null(e, RK_STAGE_IMAGE, "rk_image_open", "ret");
    struct rk_image *image = calloc(1, sizeof *image);
    atomic_uint *users = image ? malloc(sizeof *users) : NULL;
    if (users) {
        atomic_init(users, 1);
        image->users = users;
        image->kernel_from = KERNEL_HALF;
    }
    if (!users || modules_init(&image->modules) < 0) {
        rk_image_free(image);
        return fail_memory(e, RK_STAGE_IMAGE);
    }
    *ret = image;
    return 0;
}

struct rk_image *rk_image_free(struct rk_image *image)
{
    if (image && (!image->users || atomic_fetch_sub_explicit(image->users, 1, memory_order_acq_rel) == 1)) {
        for (size_t i = 0; i < image->processes.n; i++)
            space_drop(image->processes.items[i].space);
        space_drop(image->kernel);
        free(image->ended);
        vector_free(&image->processes);
        table_free(&image->by_pid);
        table_free(&image->comms);
        table_free(&image->cgroups);
        modules_free(&image->modules);
        free(image->users);
        free(image);
    }
    return NULL;
}

struct process *image_find_process(const struct rk_image *image, int32_t pid)
{
    uint32_t i = table_get(&image->by_pid, (uint32_t)pid);

    return i == TABLE_NONE ? NULL : &image->processes.items[i];
}

struct process *image_process(struct rk_image *image, int32_t pid)
{
    struct process *process = image_find_process(image, pid);

    if (process)
        return process;
    process = vector_push(&image->processes);
    if (process && table_put(&image->by_pid, (uint32_t)pid, (uint32_t)(image->processes.n - 1)) < 0) {
        image->processes.n--;
        return NULL;
    }
    if (process)
        process->pid = pid;
    return process;
}

static uint64_t thread_key(int32_t pid, int32_t tid)
{
    return (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid;
}

int image_set_comm(struct rk_image *image, int32_t pid, int32_t tid, const char *name)
{
    int64_t number = intern_add(&image->modules.texts, name, strlen(name));

    return number < 0 ? (int)number : table_put(&image->comms, thread_key(pid, tid), (uint32_t)number);
}

const char *rk_image_comm(const struct rk_image *image, int32_t pid, int32_t tid)
{
    uint32_t number = image ? table_get(&image->comms, thread_key(pid, tid)) : TABLE_NONE;

    if (number == TABLE_NONE)
        return image && pid == 0 && tid == 0 ? "swapper" : "";
    return intern_text(&image->modules.texts, number);
}

/*
 * Where the kernel begins, by where it and its modules lie. That of a 32-bit machine has the upper part of 4 GiB, from a
 * multiple of 256 MiB on (VMSPLIT: 0xc0000000, 0xb0000000, 0x80000000, 0x40000000); modules of arm lie a bit lower.
 */
static void learn_kernel(struct rk_image *image, const struct rk_mapping *mapping)
{
    bool proper = modules_is_kernel(mapping->path);
    uint64_t at = proper && mapping->file_offset ? mapping->file_offset : mapping->start;

    if (at >= KERNEL_HALF) {
        image->kernel_from = KERNEL_HALF;
        image->wide = true;
    } else if (!image->wide && at >= LOWEST_KERNEL && at <= UINT32_MAX) {
        at &= proper ? ~UINT64_C(0xfffffff) : ~UINT64_C(0xffffff);
        image->kernel_from = at < image->kernel_from ? at : image->kernel_from;
    }
}

int image_map(struct rk_image *image, struct space **space, const struct rk_mapping *mapping, uint64_t mounts)
{
    bool kernel = mapping->pid == -1;

    if (kernel)
        learn_kernel(image, mapping);
    /* perf writes the kernel's own with a start of 0 for users who may not see its address. */
    if (mapping->length == 0 ||
        ((mapping->start >= image->kernel_from) != kernel && !(kernel && modules_is_kernel(mapping->path))))
        return 0;
    int64_t module = modules_add(&image->modules, mapping, mounts);
    if (module < 0)
        return module == -ENOENT ? 0 : (int)module;
    if (module == MODULE_KERNEL)
        return 1;
    struct mapping m = {
        .start = mapping->start,
        .end = mapping->length < UINT64_MAX - mapping->start ? mapping->start + mapping->length : UINT64_MAX,
        .offset = mapping->file_offset,
        .module = (uint32_t)module,
    };
    uint32_t kind = image->modules.items.items[module].module.kind;
    if (kind == RK_MODULE_ANONYMOUS || kind == RK_MODULE_KERNEL_MODULE)
        m.offset = m.start; /* the address itself */
    else if (kind == RK_MODULE_VDSO)
        m.offset = 0; /* old kernels tell an address there */
    int rc = space_insert(space, &m);
    return rc < 0 ? rc : 1;
}

int rk_image_feed_build_id(struct rk_image *image, const char *path, const unsigned char *id, uint32_t bytes)
{
    if (!image || !path || !id || bytes == 0)
        return -EINVAL;
    return modules_tell(&image->modules, path, id, bytes);
}

static struct rk_place place_of(const struct rk_image *image, const struct mapping *mapping, uint64_t address)
{
    bool anonymous = image->modules.items.items[mapping->module].module.kind == RK_MODULE_ANONYMOUS;

    return (struct rk_place){
        .module = mapping->module,
        .status = anonymous ? RK_PLACE_ANONYMOUS : RK_PLACE_FOUND,
        .offset = mapping->offset + (address - mapping->start),
    };
}

int rk_image_find(const struct rk_image *image, int32_t pid, const uint64_t *addresses, size_t n,
                  struct rk_place *ret)
{
    if (!image)
        return -EINVAL;
    const struct process *process = image_find_process(image, pid);
    const struct space *space = process ? process->space : NULL;
    uint32_t none = process && process->known ? RK_PLACE_NO_MAPPING : RK_PLACE_NO_PROCESS;
    const struct mapping *last = NULL;

    for (size_t i = 0; i < n; i++) {
        uint64_t address = addresses[i];
        if (!last || address - last->start >= last->end - last->start) {
            const struct mapping *found =
                space_find(address >= image->kernel_from ? image->kernel : space, address);
            if (!found) {
                ret[i] = address >= image->kernel_from
                             ? (struct rk_place){.module = MODULE_KERNEL, .offset = address}
                             : (struct rk_place){.module = RK_NO_MODULE, .status = none};
                continue;
            }
            last = found;
        }
        ret[i] = place_of(image, last, address);
    }
    return 0;
}

size_t rk_image_module_count(const struct rk_image *image)
{
    return image ? image->modules.items.n : 0;
}

int rk_image_module_get(const struct rk_image *image, uint32_t module, struct rk_module *ret)
{
    if (!image)
        return -EINVAL;
    if (module >= image->modules.items.n)
        return -ERANGE;
    return result_give(ret, &image->modules.items.items[module].module, sizeof *ret);
}

const char *rk_image_cgroup(const struct rk_image *image, uint64_t id)
{
    uint32_t number = image ? table_get(&image->cgroups, id) : TABLE_NONE;

    return number == TABLE_NONE ? "" : intern_text(&image->modules.texts, number);
}

int rk_image_process(const struct rk_image *image, int32_t pid, struct rk_process *ret)
{
    const struct process *process = image ? image_find_process(image, pid) : NULL;

    if (!process)
        return image ? -ESRCH : -EINVAL;
    struct rk_process ours = {
        .size = sizeof ours,
        .pid = pid,
        .parent = process->parent,
        .known = process->known,
        .ended = process->ended,
        .mappings = process->space ? process->space->mapping_n : 0,
        .mount_namespace = process->mounts,
        .pid_namespace = process->pids,
    };
    return result_give(ret, &ours, sizeof ours);
}

/*
 * Records → processes and their mappings, one function for each kind of record.
 */
#include "image/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* header.misc of a FORK that a tool made up for a process it found: it has mappings of its own. */
#define MISC_FORK_EXEC (1u << 13)

enum { KSYMBOL_REMOVED = 1, NAMESPACE_PID = 3, NAMESPACE_MOUNT = 5 };

static int feed_mapping(struct rk_image *image, const struct rk_record *record)
{
    struct rk_mapping mapping = {.size = sizeof mapping};
    int rc = rk_record_mapping(record, &mapping);

    if (rc < 0)
        return rc;
    if ((record->misc & RK_MISC_MODE) >= 4) /* a guest's */
        return 0;
    if (mapping.pid == -1)
        return image_map(image, &image->kernel, &mapping, 0);
    struct process *process = image_process(image, mapping.pid);
    if (!process)
        return -ENOMEM;
    rc = image_map(image, &process->space, &mapping, process->mounts);
    if (rc > 0)
        process->known = true;
    return rc;
}

static int feed_comm(struct rk_image *image, const struct rk_record *record)
{
    struct rk_comm comm = {.size = sizeof comm};
    int rc = rk_record_comm(record, &comm);

    if (rc == 0)
        rc = image_set_comm(image, comm.pid, comm.tid, comm.name);
    if (rc < 0 || !(record->misc & RK_MISC_COMM_EXEC))
        return rc < 0 ? rc : 1;
    struct process *process = image_process(image, comm.pid);
    if (!process)
        return -ENOMEM;
    process->space = space_drop(process->space);
    process->known = true;
    return 1;
}

/* A thread starts with its parent's name, a process with its mappings too; one that had the pid before is gone. */
static int feed_fork(struct rk_image *image, const struct rk_record *record)
{
    struct rk_task task = {.size = sizeof task};
    int rc = rk_record_task(record, &task);

    if (rc < 0)
        return rc;
    rc = image_set_comm(image, task.pid, task.tid, rk_image_comm(image, task.parent_pid, task.parent_tid));
    if (rc < 0)
        return rc;
    if (task.pid == task.parent_pid)
        return 1;
    struct process *process = image_process(image, task.pid);
    if (!process)
        return -ENOMEM;
    const struct process *parent = image_find_process(image, task.parent_pid);
    process->mounts = parent ? parent->mounts : 0;
    process->pids = parent ? parent->pids : 0;
    if (record->misc & MISC_FORK_EXEC)
        parent = NULL;
    struct space *space = parent ? space_share(parent->space) : NULL;
    space_drop(process->space);
    process->space = space;
    process->known = parent && parent->known;
    process->parent = task.parent_pid;
    process->ended = false;
    return 1;
}

/* Notes that a process ended; the one that ended so many before it loses its mappings. */
static int end_process(struct rk_image *image, struct process *process)
{
    if (process->ended)
        return 1;
    if (!image->ended && !(image->ended = calloc(IMAGE_ENDED, sizeof *image->ended)))
        return -ENOMEM;
    int32_t *place = &image->ended[image->ended_n++ % IMAGE_ENDED];
    struct process *old = image->ended_n > IMAGE_ENDED ? image_find_process(image, *place) : NULL;
    if (old && old->ended)
        old->space = space_drop(old->space);
    *place = process->pid;
    process->ended = true;
    return 1;
}

static int feed_exit(struct rk_image *image, const struct rk_record *record)
{
    struct rk_task task = {.size = sizeof task};
    int rc = rk_record_task(record, &task);
    struct process *process = rc == 0 ? image_find_process(image, task.pid) : NULL;

    if (process && task.pid == task.tid)
        return end_process(image, process);
    return rc < 0 ? rc : 1;
}

static int feed_ksymbol(struct rk_image *image, const struct rk_record *record)
{
    struct rk_ksymbol symbol = {.size = sizeof symbol};
    int rc = rk_record_ksymbol(record, &symbol);

    if (rc < 0)
        return rc;
    if (symbol.length == 0 || !is_kernel_address(symbol.address) ||
        symbol.length > UINT64_MAX - symbol.address)
        return 0;
    if (symbol.flags & KSYMBOL_REMOVED) {
        const struct mapping *old = space_find(image->kernel, symbol.address);
        if (!old || image->modules.items.items[old->module].module.kind != RK_MODULE_KERNEL_CODE)
            return 0;
        rc = space_remove(&image->kernel, symbol.address, symbol.address + symbol.length);
        return rc < 0 ? rc : 1;
    }
    int64_t module = modules_add_code(&image->modules, &symbol);
    if (module < 0)
        return (int)module;
    struct mapping m = {
        .start = symbol.address,
        .end = symbol.address + symbol.length,
        .offset = symbol.address,
        .module = (uint32_t)module,
    };
    rc = space_insert(&image->kernel, &m);
    return rc < 0 ? rc : 1;
}

static int feed_namespaces(struct rk_image *image, const struct rk_record *record)
{
    struct rk_namespaces namespaces = {.size = sizeof namespaces};
    int rc = rk_record_namespaces(record, &namespaces);

    if (rc < 0)
        return rc;
    struct process *process = image_process(image, namespaces.pid);
    if (!process)
        return -ENOMEM;
    if (namespaces.n > NAMESPACE_PID)
        process->pids = namespaces.list[NAMESPACE_PID].inode;
    if (namespaces.n > NAMESPACE_MOUNT)
        process->mounts = namespaces.list[NAMESPACE_MOUNT].inode;
    return 1;
}

static int feed_cgroup(struct rk_image *image, const struct rk_record *record)
{
    struct rk_cgroup cgroup = {.size = sizeof cgroup};
    int rc = rk_record_cgroup(record, &cgroup);

    if (rc < 0)
        return rc;
    int64_t path = intern_add(&image->modules.texts, cgroup.path, strlen(cgroup.path));
    if (path >= 0)
        rc = table_put(&image->cgroups, cgroup.id, (uint32_t)path);
    return path < 0 ? (int)path : rc < 0 ? rc : 1;
}

int rk_image_feed(struct rk_image *image, const struct rk_record *record)
{
    if (!image || !record)
        return -EINVAL;
    switch (record->type) {
    case RK_RECORD_MMAP:
    case RK_RECORD_MMAP2:
        return feed_mapping(image, record);
    case RK_RECORD_COMM:
        return feed_comm(image, record);
    case RK_RECORD_FORK:
        return feed_fork(image, record);
    case RK_RECORD_EXIT:
        return feed_exit(image, record);
    case RK_RECORD_KSYMBOL:
        return feed_ksymbol(image, record);
    case RK_RECORD_NAMESPACES:
        return feed_namespaces(image, record);
    case RK_RECORD_CGROUP:
        return feed_cgroup(image, record);
    default: /* TEXT_POKE among them: code that changes keeps its name */
        return 0;
    }
}

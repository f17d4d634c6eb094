/*
 * What ran before the recording, or before a file of it, as records: see world.h. A command is all new: its exec and what
 * follows are recorded, unless the set was enabled later; then it is a process like any other, whose children are
 * measured too.
 */
#include "capture/capture.h"
#include "sys/process.h"
#include "world/world.h"

#include <errno.h>

static int put_synthetic(void *context, const struct perf_header *header)
{
    struct rk_capture *c = context;
    struct rk_record record;

    stream_identify(c->stream, header, 0, &record);
    int r = capture_follow(c, &record);
    return r < 0 ? r : capture_append(c, header, header->size);
}

static int put_target(const struct rk_capture *c, struct world *world, bool late)
{
    const struct rk_target *target = c->target;
    bool tree = target->kind == TARGET_TREE || (late && target->kind != TARGET_THREAD);
    size_t n = target->n_several ? target->n_several : 1;
    int r = 0;

    if (target_by_cpu(target->kind))
        return world_all(world);
    if (target->kind == TARGET_SELF)
        return world_task(world, sys_process_id());
    if (target->kind == TARGET_COMMAND && !late)
        return 0;
    for (size_t i = 0; i < n && r == 0; i++) {
        int32_t id = target->n_several ? target->several[i] : target->pid;
        r = tree ? world_tree(world, id) : world_task(world, id);
    }
    return r;
}

static bool sees_kernel(const struct rk_set *set)
{
    for (uint32_t i = 0; i < set->n_events; i++)
        if (!set->events[i].absent && !(set->events[i].attr.flags & ATTR_EXCLUDE_KERNEL))
            return true;
    return false;
}

int capture_before(struct rk_capture *c, bool late)
{
    struct world *world = malloc(sizeof *world);
    int r;

    if (!world)
        return -ENOMEM;
    *world = (struct world){.root = c->host->root,
                            .layout = &c->stream->events.items[c->file_events[0]].layout,
                            .data_maps = (c->set->options.records & RK_RECORDS_DATA_MAPS) != 0,
                            .put = put_synthetic,
                            .context = c};
    r = world_kernel(world);
    if (r == 0 && sees_kernel(c->set))
        r = world_bpf(world);
    if (r == 0 && c->target && (c->set->options.records & RK_RECORDS_PROFILE))
        r = put_target(c, world, late);
    free(world);
    return r;
}

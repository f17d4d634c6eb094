/*
 * What runs already, in front of a live stream's records.
 *
 *     made    when the set is enabled: in rk_stream_live(), or in rk_set_enable(), which calls what the stream has left in
 *             the set. Before that the kernel writes no record of a mapping; one made in between would be in neither.
 *             A mapping made while the world is made may be in both, which says the same twice.
 *     kept    one record behind the other (live_world)
 *     given   by `straight`, before anything else; with the last one the stream's own ways are back
 *
 * A machine of 10,000 processes takes seconds. The rings are emptied meanwhile, into the queue (live_collect).
 *
 * A set that begins at an exec measures nothing that runs now: it gets the kernel's part alone. If rk_set_enable() enables it
 * all the same, the processes follow.
 */
#include "world/world.h"
#include "base/error.h"
#include "host/host.h"
#include "set/set.h"
#include "stream/live.h"
#include "sys/limit.h"
#include "sys/process.h"

#include <errno.h>

#define EMPTY_NS \
    UINT64_C(1000000)  /* a ring for 1024 stacks takes as long to fill at a million samples a second */
#define LOOK_EVERY 16u /* records: the clock costs as much as a record otherwise */

int live_world_explain(int code, struct rk_error *ret)
{
    bool descriptors = code == -EMFILE || code == -ENFILE;

    if (code == -ENOMEM)
        return fail_memory(ret, RK_STAGE_STREAM);
    return fail(ret, code, RK_STAGE_STREAM, descriptors ? RK_CAUSE_DESCRIPTORS : RK_CAUSE_UNKNOWN,
                descriptors ? sys_limit_more_descriptors() : NULL,
                "cannot read from /proc which processes run already: %s", strerror(-code));
}

/* The next record. */
static int world_give(struct rk_stream *st, struct rk_record *ret)
{
    struct live_world *world = &st->live->world;
    int r = world->error;

    world->error = 0;
    if (r == 0) {
        const struct perf_header *header = (const void *)(world->bytes.items + world->at);
        stream_identify(st, header, 0, ret);
        ret->present |= RK_PRESENT_SYNTHESISED;
        world->at += header->size;
        r = 1;
    }
    if (world->at == world->bytes.n)
        live_ways(st);
    return r;
}

void live_world_first(struct rk_stream *st)
{
    const struct live_world *world = &st->live->world;

    if (world->at == world->bytes.n && !world->error)
        return;
    st->straight = world_give;
    st->views = NULL;
    st->ring = NULL;
}

void live_world_drop(struct rk_stream *st)
{
    st->live->world.at = st->live->world.bytes.n;
    live_ways(st);
}

void live_world_done(struct stream_live *live)
{
    if (__builtin_expect(live->world.bytes.items && live->world.at == live->world.bytes.n, 0)) {
        vector_free(&live->world.bytes);
        live->world.at = 0;
    }
}

static int world_keep(void *context, const struct perf_header *record)
{
    struct rk_stream *st = context;
    struct live_world *world = &st->live->world;

    if (vector_reserve(&world->bytes, record->size) < 0)
        return -ENOMEM;
    memcpy(world->bytes.items + world->bytes.n, record, record->size);
    world->bytes.n += record->size;
    if (++world->since < LOOK_EVERY)
        return 0;
    world->since = 0;
    uint64_t now = sys_clock_ns();
    if (now - world->emptied_ns < EMPTY_NS)
        return 0;
    int r = live_collect(st);
    if (r < 0)
        world->error = r; /* a ring's, which next() reports; the fault is noted */
    world->emptied_ns = now;
    return 0;
}

/* Processes that inherit counters from the target's, if some were created since it was opened, are measured too. */
static bool world_has_tree(const struct rk_set *set)
{
    switch (set_whom(set)->kind) {
    case TARGET_TREE:
    case TARGET_COMMAND:
        return true;
    case TARGET_PROCESS:
        return set_has_heirs(set);
    default:
        return false;
    }
}

static int world_tasks(const struct rk_set *set, struct world *world)
{
    const struct set_whom *whom = set_whom(set);
    int r = 0;

    if (target_by_cpu(whom->kind))
        return world_all(world);
    if (whom->kind == TARGET_SELF)
        return world_task(world, sys_process_id());
    bool tree = world_has_tree(set);
    for (size_t i = 0; i < whom->n && r == 0; i++)
        r = tree ? world_tree(world, whom->ids[i]) : world_task(world, whom->ids[i]);
    return r;
}

static bool sees_kernel(const struct rk_set *set)
{
    for (uint32_t i = 0; i < set_n_events(set); i++)
        if (!set_absent(set, i) && !(set_attr(set, i)->flags & ATTR_EXCLUDE_KERNEL))
            return true;
    return false;
}

static const struct layout *first_layout(const struct rk_stream *st)
{
    const struct rk_set *set = st->live->set;
    uint32_t i = 0;

    while (i + 1 < set_n_events(set) && set_absent(set, i))
        i++;
    return &st->events.items[i].layout;
}

/* The cgroups that samples may be in. */
static int world_hierarchy(const struct rk_set *set, struct world *world)
{
    const char *mount = NULL;
    int r = rk_host_mount(set_host(set), RK_MOUNT_CGROUP1, &mount);

    if (r == -ENOENT)
        r = rk_host_mount(set_host(set), RK_MOUNT_CGROUP2, &mount);
    return r < 0 ? world_unless_hidden(r) : world_cgroups(world, mount);
}

int live_cgroups(struct rk_stream *st, int (*put)(void *context, const struct perf_header *record),
                 void *context)
{
    const struct rk_set *set = st->live->set;
    struct world *world;

    if (!(set_options(set)->records & RK_RECORDS_CGROUPS) || !live_world_wanted(set))
        return 0;
    if (!(world = malloc(sizeof *world)))
        return -ENOMEM;
    *world = (struct world){
        .root = set_host(set)->root, .layout = first_layout(st), .put = put, .context = context};
    int r = world_hierarchy(set, world);
    free(world);
    return r;
}

int live_world(struct rk_stream *st, uint32_t parts)
{
    struct live_world *at = &st->live->world;
    const struct rk_set *set = st->live->set;
    struct world *world = malloc(sizeof *world);
    int r = 0;

    if (!world)
        return -ENOMEM;
    *world = (struct world){.root = set_host(set)->root,
                            .layout = first_layout(st),
                            .data_maps = (set_options(set)->records & RK_RECORDS_DATA_MAPS) != 0,
                            .put = world_keep,
                            .context = st};
    live_world_done(st->live); /* else it goes behind what is still to be given */
    at->emptied_ns = sys_clock_ns();
    if (parts & WORLD_KERNEL) {
        r = world_kernel(world);
        if (r == 0 && (set_options(set)->records & RK_RECORDS_CODE) && sees_kernel(set))
            r = world_bpf(world);
        if (r == 0 && (set_options(set)->records & RK_RECORDS_CGROUPS))
            r = world_hierarchy(set, world);
    }
    if (r == 0 && (parts & WORLD_TASKS))
        r = world_tasks(set, world);
    free(world);
    if (r == 0 && st->live->held)
        r = order_drain(&st->order);
    if (r == 0)
        at->made |= parts;
    live_ways(st);
    return r;
}

bool live_world_wanted(const struct rk_set *set)
{
    const struct rk_set_options *options = set_options(set);

    return (options->records & RK_RECORDS_PROFILE) == RK_RECORDS_PROFILE &&
           !(options->flags & RK_SET_NO_WORLD);
}

/* rk_set_enable() has enabled the set. */
static void world_enabled(void *context)
{
    struct rk_stream *st = context;
    struct live_world *world = &st->live->world;
    uint32_t parts = (WORLD_KERNEL | WORLD_TASKS) & ~world->made;

    if (parts == 0)
        return;
    int r = live_world(st, parts);
    if (r < 0) {
        world->error = stream_fail(st, (struct stream_fault){.code = r, .where = STREAM_FAULT_WORLD});
        live_world_first(st);
    }
}

int live_world_begin(struct rk_stream *st)
{
    struct rk_set *set = st->live->set;
    bool at_exec = set_options(set)->flags & RK_SET_ENABLE_ON_EXEC || set_whom(set)->kind == TARGET_COMMAND;

    if (!live_world_wanted(set))
        return 0;
    set_stream_enabled(set, world_enabled, st);
    return set_enabled(set) ? live_world(st, WORLD_KERNEL | WORLD_TASKS)
           : at_exec        ? live_world(st, WORLD_KERNEL)
                            : 0;
}

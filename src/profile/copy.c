#include "profile/copy.h"

#include <errno.h>

int copy_begin(struct copy *copy, const struct rk_profile *from, struct maker *to)
{
    const struct rk_profile_columns *c = &from->columns;

    *copy = (struct copy){
        .from = from,
        .to = to,
        .slice_ns = from->summary.slice_ns,
        .frames = zeroed(c->frame_n, sizeof *copy->frames),
        .threads = zeroed(c->thread_n, sizeof *copy->threads),
        .events = zeroed(c->event_n, sizeof *copy->events),
        .cgroups = zeroed(c->cgroup_n, sizeof *copy->cgroups),
        .nodes = zeroed(c->node_n, sizeof *copy->nodes),
    };
    return copy->frames && copy->threads && copy->events && copy->cgroups && copy->nodes ? 0 : -ENOMEM;
}

void copy_free(struct copy *copy)
{
    free(copy->frames);
    free(copy->threads);
    free(copy->events);
    free(copy->cgroups);
    free(copy->nodes);
}

/* Remembers where a row has gone. */
static int64_t gone(uint32_t *row, int64_t number)
{
    if (number >= 0)
        *row = (uint32_t)number + 1;
    return number;
}

int64_t copy_frame(struct copy *copy, uint32_t frame)
{
    const struct rk_profile_columns *c = &copy->from->columns;
    bool lines = !(copy->flags & RK_SELECT_NO_LINES);

    if (copy->frames[frame])
        return copy->frames[frame] - 1;
    int64_t symbol = maker_text(copy->to, c->text[c->frame_symbol[frame]]);
    int64_t module = maker_text(copy->to, c->text[c->frame_module[frame]]);
    int64_t path = maker_text(copy->to, c->text[c->frame_path[frame]]);
    int64_t file = lines ? maker_text(copy->to, c->text[c->frame_file[frame]]) : 0;
    if (symbol < 0 || module < 0 || path < 0 || file < 0)
        return -ENOMEM;
    return gone(&copy->frames[frame], maker_frame(copy->to, &(struct maker_frame){
                                                                .symbol = (uint32_t)symbol,
                                                                .module = (uint32_t)module,
                                                                .path = (uint32_t)path,
                                                                .file = (uint32_t)file,
                                                                .line = lines ? c->frame_line[frame] : 0,
                                                                .miss = c->frame_miss[frame],
                                                                .flags = c->frame_flags[frame],
                                                            }));
}

int64_t copy_event(struct copy *copy, uint32_t event)
{
    const struct rk_profile_columns *c = &copy->from->columns;

    if (copy->events[event])
        return copy->events[event] - 1;
    return gone(&copy->events[event],
                maker_event(copy->to, c->text[c->event_name[event]], c->text[c->event_unit[event]],
                            &copy->from->event_loss[event]));
}

static int64_t copy_thread(struct copy *copy, uint32_t thread)
{
    const struct rk_profile_columns *c = &copy->from->columns;

    if (copy->threads[thread])
        return copy->threads[thread] - 1;
    const char *name = copy->label ? copy->label : c->text[c->source_name[c->thread_source[thread]]];
    int64_t source = maker_source(copy->to, name);
    if (source < 0)
        return source;
    return gone(&copy->threads[thread], maker_thread(copy->to, (uint32_t)source, c->thread_pid[thread],
                                                     c->thread_tid[thread], c->text[c->thread_name[thread]]));
}

static int64_t copy_cgroup(struct copy *copy, uint32_t cgroup)
{
    const struct rk_profile_columns *c = &copy->from->columns;

    if (copy->cgroups[cgroup])
        return copy->cgroups[cgroup] - 1;
    return gone(&copy->cgroups[cgroup],
                maker_cgroup(copy->to, c->cgroup_id[cgroup], c->text[c->cgroup_path[cgroup]]));
}

int copy_nodes(struct copy *copy)
{
    const struct rk_profile_columns *c = &copy->from->columns;

    for (size_t i = 0; i < c->node_n; i++) {
        int64_t frame = copy_frame(copy, c->node_frame[i]);
        uint32_t outer = c->node_parent[i] == RK_NO_NODE ? RK_NO_NODE : copy->nodes[c->node_parent[i]] - 1;
        int64_t node = frame < 0 ? frame : maker_node(copy->to, outer, (uint32_t)frame);
        if (gone(&copy->nodes[i], node) < 0)
            return (int)node;
    }
    return 0;
}

int copy_sample(struct copy *copy, size_t i, uint32_t node)
{
    const struct rk_profile_columns *c = &copy->from->columns;
    int64_t thread = copy_thread(copy, c->sample_thread[i]);
    int64_t event = thread < 0 ? thread : copy_event(copy, c->sample_event[i]);
    int64_t cgroup = event < 0 ? event : copy_cgroup(copy, c->sample_cgroup[i]);

    if (cgroup < 0)
        return (int)cgroup;
    return maker_sample(copy->to,
                        &(struct maker_sample){
                            .node = node,
                            .thread = (uint32_t)thread,
                            .event = (uint32_t)event,
                            .cpu = c->sample_cpu[i],
                            .cgroup = (uint32_t)cgroup,
                            .time = copy->slice_ns ? c->sample_time[i] / copy->slice_ns * copy->slice_ns : 0,
                            .amount = {c->sample_weight[i], c->sample_count[i]},
                        });
}

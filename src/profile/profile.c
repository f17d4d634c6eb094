#include "profile/profile.h"

#include "base/error.h"

#include <errno.h>

struct rk_profile *rk_profile_free(struct rk_profile *profile)
{
    if (!profile)
        return NULL;
    const struct rk_profile_columns *c = &profile->columns;
    const void *const owned[] = {
        c->text,        c->frame_symbol,  c->frame_module, c->frame_path,     c->frame_file,
        c->frame_line,  c->frame_miss,    c->frame_flags,  c->frame_function, c->node_parent,
        c->node_frame,  c->thread_pid,    c->thread_tid,   c->thread_name,    c->thread_source,
        c->source_name, c->event_name,    c->event_unit,   c->event_samples,  c->event_weight,
        c->event_lost,  c->event_skipped, c->event_known,  c->cgroup_id,      c->cgroup_path,
        c->sample_node, c->sample_thread, c->sample_event, c->sample_cgroup,  c->sample_cpu,
        c->sample_time, c->sample_weight, c->sample_count,
    };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free((void *)(uintptr_t)owned[i]); /* they are shown as const */
    intern_free(&profile->texts);
    free(profile->event_loss);
    vector_free(&profile->unnamed);
    vector_free(&profile->images);
    vector_free(&profile->places);
    free(profile->frame_image);
    free(profile->frame_address);
    free(profile);
    return NULL;
}

int rk_profile_summary(const struct rk_profile *profile, struct rk_profile_summary *ret)
{
    return profile ? result_give(ret, &profile->summary, sizeof profile->summary) : -EINVAL;
}

int rk_profile_columns(const struct rk_profile *profile, struct rk_profile_columns *ret)
{
    return profile ? result_give(ret, &profile->columns, sizeof profile->columns) : -EINVAL;
}

int64_t rk_profile_path(const struct rk_profile *profile, uint32_t node, uint32_t *ret, size_t max)
{
    if (!profile || (!ret && max))
        return -EINVAL;
    const struct rk_profile_columns *c = &profile->columns;
    if (node >= c->node_n)
        return -ERANGE;
    size_t n = 0;
    for (uint32_t at = node; at != RK_NO_NODE; at = c->node_parent[at])
        n++;
    size_t i = n;
    for (uint32_t at = node; at != RK_NO_NODE; at = c->node_parent[at])
        if (--i < max)
            ret[i] = c->node_frame[at];
    return (int64_t)n;
}

size_t rk_profile_unnamed_count(const struct rk_profile *profile)
{
    return profile ? profile->unnamed.n : 0;
}

int rk_profile_unnamed_get(const struct rk_profile *profile, size_t index, struct rk_unnamed *ret)
{
    if (!profile)
        return -EINVAL;
    if (index >= profile->unnamed.n)
        return -ERANGE;
    const struct unnamed *u = &profile->unnamed.items[index];
    struct rk_unnamed ours = {
        .size = sizeof ours,
        .miss = u->miss,
        .module = intern_text(&profile->texts, u->module),
        .samples = u->samples,
    };
    return result_give(ret, &ours, sizeof ours);
}

#include "profile/profile.h"

#include "base/error.h"

#include <errno.h>

struct rk_profile *rk_profile_free(struct rk_profile *profile)
{
    if (!profile)
        return NULL;
    intern_free(&profile->texts);
    vector_free(&profile->functions);
    vector_free(&profile->owners);
    vector_free(&profile->stacks);
    vector_free(&profile->frames);
    vector_free(&profile->unnamed);
    free(profile);
    return NULL;
}

int rk_profile_summary(const struct rk_profile *profile, struct rk_profile_summary *ret)
{
    return profile ? result_give(ret, &profile->summary, sizeof profile->summary) : -EINVAL;
}

size_t rk_profile_functions(const struct rk_profile *profile)
{
    return profile ? profile->functions.n : 0;
}

int rk_profile_function(const struct rk_profile *profile, size_t index, struct rk_function *ret)
{
    if (!profile)
        return -EINVAL;
    if (index >= profile->functions.n)
        return -ERANGE;
    const struct function *f = &profile->functions.items[index];
    struct rk_function ours = {
        .size = sizeof ours,
        .miss = f->miss,
        .symbol = intern_text(&profile->texts, f->symbol),
        .module = intern_text(&profile->texts, f->module),
        .path = intern_text(&profile->texts, f->path),
        .self = f->self,
        .total = f->total,
        .self_samples = f->self_samples,
        .total_samples = f->total_samples,
        .file = f->file ? intern_text(&profile->texts, f->file - 1) : NULL,
        .line = f->line,
    };
    return result_give(ret, &ours, sizeof ours);
}

size_t rk_profile_unnamed_count(const struct rk_profile *profile)
{
    return profile ? profile->unnamed.n : 0;
}

int rk_profile_unnamed(const struct rk_profile *profile, size_t index, struct rk_unnamed *ret)
{
    if (!profile)
        return -EINVAL;
    if (index >= profile->unnamed.n)
        return -ERANGE;
    const struct function *f = &profile->functions.items[profile->unnamed.items[index]];
    struct rk_unnamed ours = {
        .size = sizeof ours,
        .miss = f->miss,
        .module = intern_text(&profile->texts, f->module),
        .samples = f->self_samples,
    };
    return result_give(ret, &ours, sizeof ours);
}

size_t rk_profile_stacks(const struct rk_profile *profile)
{
    return profile ? profile->stacks.n : 0;
}

int rk_profile_stack(const struct rk_profile *profile, size_t index, struct rk_stack *ret)
{
    if (!profile)
        return -EINVAL;
    if (index >= profile->stacks.n)
        return -ERANGE;
    const struct stack *s = &profile->stacks.items[index];
    const struct owner *o = &profile->owners.items[s->owner];
    struct rk_stack ours = {
        .size = sizeof ours,
        .frame_n = s->frame_n,
        .frames = profile->frames.items + s->first,
        .comm = intern_text(&profile->texts, o->comm),
        .pid = o->pid,
        .tid = o->tid,
        .event = o->event,
        .weight = s->weight,
        .samples = s->samples,
    };
    return result_give(ret, &ours, sizeof ours);
}

/*
 * A finished profile: immutable, names and all its own. What it holds is what rk_profile_columns() shows; the arrays here
 * are the same ones, owned.
 */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include "base/intern.h"
#include "base/vector.h"

#include <reckon/profile.h>

struct unnamed {
    uint32_t module, miss; /* text */
    uint64_t samples;
};

struct rk_profile {
    struct rk_profile_summary summary;
    struct intern texts;
    struct rk_profile_columns columns;
    struct rk_loss *event_loss; /* by event */
    VECTOR(struct unnamed) unnamed;
};

/* What a frame without a name is shown as: where its function lies (prog+0x1130), or NULL: that is unknown too. */
static inline const char *profile_place(const struct rk_profile_columns *c, uint32_t frame)
{
    const char *symbol = c->text[c->frame_symbol[frame]];

    return c->frame_miss[frame] && *symbol && symbol[0] != '[' ? symbol : NULL;
}

/* What `before` is multiplied with; `how` is an enum rk_normalise. */
double profile_scale(const struct rk_profile_summary *before, const struct rk_profile_summary *after,
                     uint32_t how);

/* Both as one, labelled "before" and "after"; functions and modules are one as rk_profile_diff() has them. */
int profile_pair(const struct rk_profile *before, const struct rk_profile *after, struct rk_profile **ret,
                 struct rk_error *e);

/* calloc() of n items, never of none, so that NULL means what it says. */
static inline void *zeroed(size_t n, size_t size)
{
    return calloc(n ? n : 1, size);
}

#endif

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

/* A file or a kernel that locations lie in, where the process that mapped it last has it. */
struct profile_image {
    uint32_t path, build_id;     /* texts; a build-id is hexadecimal, 0: unknown */
    uint64_t start, end, offset; /* offset: in the file, of `start`; all 0: unknown */
};

/* Where a function's code was met first, or that of a function inlined into another place. A frame without a name is of
 * one address alone, so that it may be named later. */
struct profile_place {
    uint32_t outer, frame; /* outer: a place before this one; UINT32_MAX: none */
    uint32_t image;        /* number + 1 */
    uint64_t address;
};

struct rk_profile {
    struct rk_profile_summary summary;
    struct intern texts;
    struct rk_profile_columns columns;
    struct rk_loss *event_loss; /* by event */
    VECTOR(struct unnamed) unnamed;
    VECTOR(struct profile_image) images;
    VECTOR(struct profile_place) places;
    uint32_t *frame_image;   /* of frames without a name: number + 1; 0: unknown, or it has a name */
    uint64_t *frame_address; /* … and their address there */
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

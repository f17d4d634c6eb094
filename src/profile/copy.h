/*
 * Rows of a finished profile into another that is being made: what rk_profile_select() and rk_profile_merge() do. Names,
 * frames, threads, events, cgroups go over when they are first needed, each once.
 */
#ifndef PROFILE_COPY_H
#define PROFILE_COPY_H

#include "profile/maker.h"

struct copy {
    const struct rk_profile *from;
    struct maker *to;
    const char *label; /* what all threads come from; NULL: what they say */
    uint32_t flags;    /* RK_SELECT_NO_LINES */
    uint64_t slice_ns; /* times go down to a multiple of it; 0: they go */
    uint32_t *frames, *threads, *events, *cgroups, *nodes; /* number + 1 there; 0: not yet */
};

/* 0 or -ENOMEM; free it in either case. */
int copy_begin(struct copy *copy, const struct rk_profile *from, struct maker *to);
void copy_free(struct copy *copy);

/* The row's number there, or -errno. */
int64_t copy_frame(struct copy *copy, uint32_t frame);
int64_t copy_event(struct copy *copy, uint32_t event);

/* All nodes as they are, into copy->nodes: 0 or -errno. */
int copy_nodes(struct copy *copy);

/* The i-th sample, in that node of the new profile: 0 or -errno. */
int copy_sample(struct copy *copy, size_t i, uint32_t node);

#endif

/*
 * Rows of a finished profile into another that is being made: what rk_profile_select() and rk_profile_merge() do. Names,
 * frames, events, cgroups go over when they are first needed, each once; threads in their order.
 */
#ifndef PROFILE_COPY_H
#define PROFILE_COPY_H

#include "profile/maker.h"

/* Modules of one name are one, wherever they lie; functions are called as those of another profile that they are. */
struct like {
    const struct rk_profile *profile;
    const uint32_t *of; /* by frame, as struct match has it; NULL: none are */
};

struct copy {
    const struct rk_profile *from;
    struct maker *to;
    const char *label;       /* what all threads come from; NULL: what they say */
    uint32_t flags;          /* RK_SELECT_NO_LINES, …_NO_INLINE, …_REVERSE, …_COUNTS */
    const struct like *like; /* NULL: frames are called what they are */
    uint64_t slice_ns;       /* times go down to a multiple of it; 0: they go */
    uint32_t *images;        /* number + 1 there; 0: not yet */
    const uint8_t *begins; /* by frame, not 0: stacks begin at the outermost of these; NULL: where they do */
    uint32_t *frames, *threads, *events, *cgroups; /* number + 1 there; 0: not yet */
    uint32_t *stacks;                              /* … by node */
    struct stacks_words path;                      /* scratch */
};

/* 0 or -ENOMEM; free it in either case. */
int copy_begin(struct copy *copy, const struct rk_profile *from, struct maker *to);
void copy_free(struct copy *copy);

/* The row's number there, or -errno. */
int64_t copy_frame(struct copy *copy, uint32_t frame);
int64_t copy_event(struct copy *copy, uint32_t event);

/* The threads of these rows (by sample, not 0; NULL: of all) in their order, so that a thread's last name stays its last: 0 or
 * -errno. */
int copy_threads(struct copy *copy, const uint8_t *rows);

/* The i-th sample, its stack ending in that node: 0 or -errno. One that has no frame left is left out. */
int copy_sample(struct copy *copy, size_t i, uint32_t node);

/* After all samples: where the frames lie that went over. 0 or -errno. */
int copy_places(struct copy *copy);

#endif

/*
 * Groups of frames or threads, and what samples sum to in each.
 */
#ifndef PROFILE_AGGREGATE_H
#define PROFILE_AGGREGATE_H

#include "profile/maker.h"

#include <stdbool.h>

struct groups {
    uint32_t *of;           /* by frame, or thread: its group */
    VECTOR(uint32_t) first; /* by group: the frame or thread that stands for it, or a number */
};

struct sums {
    struct amount self, total;
};

/* 0 or -errno; free the groups in either case. */
int groups_frames(const struct rk_profile *profile, uint32_t per, struct groups *ret);
int groups_threads(const struct rk_profile *profile, uint32_t per, struct groups *ret);
void groups_free(struct groups *groups);

/* Self and total by group of frames; `ret` is zeroed, one for each. */
int sums_frames(const struct rk_profile *profile, const struct groups *groups, struct sums *ret);

/* What a group that `key` stands for is called; of a CPU, in `number`. */
const char *group_name(const struct rk_profile *profile, uint32_t per, uint32_t key, char number[16]);

#endif

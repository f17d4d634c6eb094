/*
 * Which functions of one profile are which of another: two builds have other folders, other file names, and compilers
 * that make other clones of a function.
 */
#ifndef PROFILE_MATCH_H
#define PROFILE_MATCH_H

#include "profile/profile.h"

struct match {
    uint32_t *of; /* by frame of `before`: a frame of the same function in `after`, or MATCH_NONE */
};

#define MATCH_NONE UINT32_MAX

/* 0 or -ENOMEM; match_free() takes a half-built one. */
int match_make(const struct rk_profile *before, const struct rk_profile *after, struct match *ret);
void match_free(struct match *match);

#endif

/*
 * Profiles that others wrote: the readers of rk_profile_file(). All take bytes that are no one's, and count what is damaged
 * instead of giving up.
 */
#ifndef PROFILE_FILE_H
#define PROFILE_FILE_H

#include "profile/maker.h"

#include <stdbool.h>

/* Whether the bytes look like folded stacks: their first line does. */
bool folded_is(const char *bytes, size_t n);

/* Whether the bytes are a whole message of the fields that profile.proto has, whichever stands first. */
bool pprof_is(const void *bytes, size_t n);

/* Sample types that a difference of two profiles has below 0: left out, since weights are no less than that. */
struct pprof_left {
    size_t n;
    char first[64]; /* its name */
};

/* Reads bytes into a profile: 0, how many lines or samples were damaged in *ret_damaged; -EBADMSG: there is nothing to show;
 * -EDOM: all types are left out;
 * -ENOMEM. */
int folded_read(const char *bytes, size_t n, struct rk_profile **ret, uint64_t *ret_damaged);
int pprof_read(const void *bytes, size_t n, struct rk_profile **ret, uint64_t *ret_damaged,
               struct pprof_left *ret_left);

#endif

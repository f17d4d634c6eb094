/*
 * Where a recording goes: a new file of mode 0600 under a passing name, which takes its path when it has a header;
 * what stood at the path becomes PATH.old. Until then nothing has changed, whatever fails.
 *
 * Nothing that is there is ever written to. A link, a directory, a device or another user's file at the path is
 * refused: a recording made by root in a directory that others write to must not go where they say.
 */
#ifndef PERFDATA_PLACE_H
#define PERFDATA_PLACE_H

#include <reckon/error.h>

struct place {
    int fd;
    char *path, *passing, *old; /* passing: the name until place_take(); then NULL */
};

/* 0, or -errno and nothing to free. */
int place_make(struct place *place, const char *path, struct rk_error *e);

/* Renames what stands at the path, then the new file to it. */
int place_take(struct place *place, struct rk_error *e);

/* The file that has taken its path is called `to` from now on, and closed; what stood there is replaced, by the same rules
 * as above. */
int place_move(struct place *place, const char *to, struct rk_error *e);

/* Closes; a file that has not taken its path is removed. */
void place_close(struct place *place);

#endif

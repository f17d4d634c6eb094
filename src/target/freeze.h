/*
 * A process or tree that stands still.
 */
#ifndef TARGET_FREEZE_H
#define TARGET_FREEZE_H

#include "target/target.h"

struct freeze;

/*
 * Stops every thread of the target, until none is found that runs: none is born then. 0 and *ret; -EPERM with *e where
 * it may not be stopped or a debugger holds it, -ETIMEDOUT where one does not stop (it waits for a disk, say), -errno:
 * all go on then.
 */
int freeze_target(const struct rk_target *target, struct freeze **ret, struct rk_error *e);

/* Lets all of them go on. By the thread that stopped them. Takes NULL. */
void freeze_end(struct freeze *freeze);

#endif

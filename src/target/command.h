/*
 * Commands, from inside the room.
 */
#ifndef TARGET_COMMAND_H
#define TARGET_COMMAND_H

#include "target/target.h"

/* Of a command that is freed: a child that still waits is killed and reaped; any other is left alone. */
void command_end(struct rk_target *target);

/* rk_target_wait() of a command. */
int command_wait(struct rk_target *target, int timeout_ms, struct rk_exit *ret);

/*
 * The file that `name` means: itself where it has a '/', else the first executable of that name in PATH. 0 and
 * *ret, to be freed; -ENOENT, -EACCES … with *e filled. With `absolute` the result does not depend on the
 * working directory.
 */
int command_search(const char *name, bool absolute, char **ret, struct rk_error *e);

#endif

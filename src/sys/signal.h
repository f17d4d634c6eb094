/*
 * SIGPIPE kept off while a library writes: between hold and release a write(2) to a pipe without a reader is -EPIPE and
 * nothing else. A signal that was pending before, or is meant for the whole process, stays what it is.
 */
#ifndef SYS_SIGNAL_H
#define SYS_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

struct sys_hold {
    sigset_t before; /* the thread's mask */
    bool pending;    /* one waited already */
    bool held;
};

void sys_pipe_hold(struct sys_hold *ret);
void sys_pipe_release(const struct sys_hold *hold);

#endif

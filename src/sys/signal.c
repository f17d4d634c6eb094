#include "sys/signal.h"

#include <errno.h>
#include <time.h>

void sys_pipe_hold(struct sys_hold *ret)
{
    sigset_t pipe, waiting;

    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&waiting);
    ret->pending = sigismember(&waiting, SIGPIPE) == 1;
    ret->held = pthread_sigmask(SIG_BLOCK, &pipe, &ret->before) == 0;
}

void sys_pipe_release(const struct sys_hold *hold)
{
    const struct timespec at_once = {0, 0};
    sigset_t pipe;

    if (!hold->held)
        return;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    if (!hold->pending)
        while (sigtimedwait(&pipe, NULL, &at_once) < 0 && errno == EINTR)
            ;
    pthread_sigmask(SIG_SETMASK, &hold->before, NULL);
}

#include "sys/thread.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

int sys_thread_start(void *(*run)(void *context), void *context, pthread_t *ret)
{
    sigset_t all, was;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &was); /* a new thread has its maker's mask */
    int r = pthread_create(ret, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    return -r;
}

void sys_thread_join(pthread_t thread)
{
    pthread_join(thread, NULL);
}

int sys_event_open(void)
{
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

    return fd < 0 ? -errno : fd;
}

void sys_event_set(int fd)
{
    uint64_t one = 1;

    while (write(fd, &one, sizeof one) < 0 && errno == EINTR) /* EAGAIN: it is set, and how */
        ;
}

void sys_event_clear(int fd)
{
    uint64_t count;

    while (read(fd, &count, sizeof count) < 0 && errno == EINTR)
        ;
}

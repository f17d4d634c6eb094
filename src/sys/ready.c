#include "sys/ready.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>

int sys_epoll_open(void)
{
    int fd = epoll_create1(EPOLL_CLOEXEC);
    if (fd < 0)
        return -errno;
    return fd;
}

int sys_epoll_add(int epoll, int fd, uint64_t tag)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = tag};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

int sys_epoll_remove(int epoll, int fd)
{
    struct epoll_event event = {0};
    return epoll_ctl(epoll, EPOLL_CTL_DEL, fd, &event) < 0 ? -errno : 0;
}

int sys_epoll_wait(int epoll, struct sys_ready *ret, size_t n, int timeout_ms)
{
    struct epoll_event events[SYS_READY_MAX];

    int got = epoll_wait(epoll, events, n < SYS_READY_MAX ? (int)n : SYS_READY_MAX, timeout_ms);
    if (got < 0)
        return -errno;
    for (int i = 0; i < got; i++)
        ret[i] = (struct sys_ready){events[i].data.u64, (events[i].events & EPOLLIN) != 0,
                                    (events[i].events & (EPOLLHUP | EPOLLERR)) != 0};
    return got;
}

int sys_poll_two(int a, int b, int timeout_ms)
{
    struct pollfd fds[2] = {{.fd = a, .events = POLLIN}, {.fd = b, .events = POLLIN}};

    if (poll(fds, 2, timeout_ms) < 0)
        return -errno;
    return (fds[0].revents != 0) | (fds[1].revents != 0) << 1;
}

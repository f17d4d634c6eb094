/*
 * Waiting for descriptors: thin, -errno. An interruption is not retried but told (-EINTR), so that a caller
 * whose signal handler has set a flag gets to look at it.
 */
#ifndef SYS_READY_H
#define SYS_READY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* epoll_create1(2), close-on-exec: a descriptor or -errno. */
int sys_epoll_open(void);

/* Watches fd for reading (its end and errors come by themselves), told by `tag`. 0 or -errno. */
int sys_epoll_add(int epoll, int fd, uint64_t tag);
int sys_epoll_remove(int epoll, int fd);

struct sys_ready {
    uint64_t tag;
    bool readable;
    bool ended; /* HUP or ERR: there will be no more */
};

/* Up to n (≤ SYS_READY_MAX) of the descriptors that are ready, waiting up to timeout_ms (-1: for ever): how many. */
#define SYS_READY_MAX 64
int sys_epoll_wait(int epoll, struct sys_ready *ret, size_t n, int timeout_ms);

/* poll(2) of up to two descriptors, either -1: bit i of the result is set where fd i is readable or ended; 0: neither, in
 * timeout_ms; -errno. */
int sys_poll_two(int a, int b, int timeout_ms);

#endif

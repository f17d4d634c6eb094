/*
 * Whether this is the process that it was: one word that a fork wipes (sys/perf.h), for all who hold it. A page and two
 * system calls each would cost more than opening a counter does.
 */
#ifndef SYS_FORK_H
#define SYS_FORK_H

#include <stdbool.h>
#include <stdint.h>

struct sys_fork {
    uint32_t *word; /* 1 here, 0 in a forked child */
    uint32_t holders;
};

/* Held once: 0 and *ret, which is NULL where there can be none (a kernel before 4.14); or -ENOMEM. */
int sys_fork_new(struct sys_fork **ret);

/* Held once more; those that hold it may drop it in any order, and in any thread. NULL is fine. */
struct sys_fork *sys_fork_hold(struct sys_fork *fork);
void sys_fork_drop(struct sys_fork *fork);

#endif

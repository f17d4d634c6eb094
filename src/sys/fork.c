#include "sys/fork.h"

#include "sys/perf.h"

#include <errno.h>
#include <stdlib.h>

int sys_fork_new(struct sys_fork **ret)
{
    struct sys_fork *fork = malloc(sizeof *fork);

    if (!fork)
        return -ENOMEM;
    *fork = (struct sys_fork){.word = sys_fork_word(), .holders = 1};
    *ret = fork->word ? fork : NULL;
    if (!fork->word)
        free(fork);
    return 0;
}

struct sys_fork *sys_fork_hold(struct sys_fork *fork)
{
    if (fork)
        __atomic_add_fetch(&fork->holders, 1, __ATOMIC_RELAXED);
    return fork;
}

void sys_fork_drop(struct sys_fork *fork)
{
    if (!fork || __atomic_sub_fetch(&fork->holders, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    sys_fork_word_free(fork->word);
    free(fork);
}

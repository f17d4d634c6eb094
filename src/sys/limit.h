/*
 * The process's own limits, getrlimit(2) and setrlimit(2).
 */
#ifndef SYS_LIMIT_H
#define SYS_LIMIT_H

#include <stdint.h>

enum sys_limit { SYS_LIMIT_NOFILE, SYS_LIMIT_MEMLOCK };

/* Soft and hard, INT64_MAX for unlimited; either may be NULL. 0 or -errno. */
int sys_limit_get(enum sys_limit limit, int64_t *ret_soft, int64_t *ret_hard);

/* Sets the soft limit, the hard one kept. 0 or -errno. */
int sys_limit_set(enum sys_limit limit, int64_t soft);

/* A command that gives this shell's programs more descriptors: within the hard limit where there is room. */
const char *sys_limit_more_descriptors(void);

#endif

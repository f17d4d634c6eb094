/*
 * Threads of the library's own, and the events by which they wake one another: thin, -errno.
 */
#ifndef SYS_THREAD_H
#define SYS_THREAD_H

#include <pthread.h>

/* Starts a thread with every signal blocked: handlers are the program's, and run in its threads. 0 or -errno. */
int sys_thread_start(void *(*run)(void *context), void *context, pthread_t *ret);
void sys_thread_join(pthread_t thread);

/* An event that can be polled: a descriptor (close-on-exec) or -errno. */
int sys_event_open(void);
/* Makes it readable; … no longer so. */
void sys_event_set(int fd);
void sys_event_clear(int fd);

#endif

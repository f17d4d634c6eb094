/*
 * Holding other threads still: ptrace(2), thin, -errno, no policy. Whatever is held goes on by itself should the caller
 * die. Only the thread that holds a thread can let it go.
 */
#ifndef SYS_TRACE_H
#define SYS_TRACE_H

#include <stdbool.h>
#include <stdint.h>

/* Asks the thread to stop: 0, -ESRCH (gone), -EPERM (not allowed, or held by a debugger), -errno. It is held from now
 * on, whether it has stopped or not. */
int sys_trace_stop(int32_t tid);

/* Whether a held thread has stopped: 1 and in *ret_signal the signal that was about to be delivered to it (0: none);
 * 0 not yet; -ECHILD: it is gone; -errno. */
int sys_trace_stopped(int32_t tid, int *ret_signal);

/* Lets a stopped thread go, delivering the signal (0: none). */
int sys_trace_go(int32_t tid, int signal);

/* Takes the end of a held thread that dies, so that nothing of it stays: without that its process never ends. True, or
 * false: not dead yet. Not for the caller's own children. */
bool sys_trace_forget(int32_t tid);

#endif

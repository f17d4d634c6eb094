#include "sys/trace.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#define EVENT_STOP 128 /* PTRACE_EVENT_STOP: by PTRACE_INTERRUPT, or a group's stop */

int sys_trace_stop(int32_t tid)
{
    if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0)
        return -errno;
    if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0 && errno != ESRCH) {
        int rc = -errno;
        ptrace(PTRACE_DETACH, tid, NULL, NULL);
        return rc;
    }
    return 0; /* ESRCH: it dies, and is ours to forget */
}

/* Without WEXITED: the end of a child stays for whom it belongs to. */
int sys_trace_stopped(int32_t tid, int *ret_signal)
{
    siginfo_t info = {0};
    int rc;

    do
        rc = waitid(P_PID, (id_t)tid, &info, WSTOPPED | WNOHANG | __WALL);
    while (rc < 0 && errno == EINTR);
    if (rc < 0)
        return -errno;
    if (info.si_pid == 0)
        return 0;
    /* si_status: the signal, and above it the event that stopped it. */
    *ret_signal = info.si_status >> 8 == EVENT_STOP ? 0 : info.si_status & 0x7f;
    return 1;
}

int sys_trace_go(int32_t tid, int signal)
{
    return ptrace(PTRACE_DETACH, tid, NULL, (void *)(intptr_t)signal) < 0 ? -errno : 0;
}

bool sys_trace_forget(int32_t tid)
{
    return waitpid(tid, NULL, WNOHANG | __WALL) != 0;
}

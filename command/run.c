#include "run.h"

#include "command.h"
#include "print.h"

#include <errno.h>
#include <signal.h>
#include <sys/types.h>

/* Signal handlers have no context: these are theirs. */
static volatile sig_atomic_t signals;
static volatile sig_atomic_t last_signal;
static volatile sig_atomic_t command_pid;

static void count_signal(int signal)
{
    last_signal = signal;
    signals++;
}

static void pass_on(int signal)
{
    int saved = errno;

    last_signal = signal;
    signals++;
    if (command_pid > 0)
        kill((pid_t)command_pid, signal);
    errno = saved;
}

static void nothing(int signal)
{
    (void)signal;
}

/* What is ignored already (nohup, a background job) stays ignored. */
static void handle(int signal, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler}, old;

    if (sigaction(signal, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(signal, &action, NULL);
}

void run_shield(int32_t pid)
{
    command_pid = pid;
    handle(SIGINT, count_signal);
    handle(SIGQUIT, count_signal);
    handle(SIGTERM, pass_on);
    handle(SIGHUP, pass_on);
    /* A file that grows too large is an error of write(2), told like a full disk. Not ignored: that, a command that is
     * started later would inherit. */
    handle(SIGXFSZ, nothing);
}

int run_signals(void)
{
    return signals;
}

int run_last_signal(void)
{
    return last_signal;
}

int run_failed(const char *verb, const struct rk_error *e)
{
    print_error(verb, e);
    if (e->cause != RK_CAUSE_NO_COMMAND)
        return STATUS_FAILED;
    return e->code == -ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
}
